// Package manifests pins the module whose BareMetalHost definition the lab
// creates. Nothing of it runs: the import keeps the version and its checksum in
// go.mod and go.sum, and the lab's build copies the manifest out of the module.
package manifests

import _ "github.com/metal3-io/baremetal-operator/pkg/version" // pins metal3-io/baremetal-operator:config/base/crds/bases
