// Package installer holds what rollcall preflight says of a plan against openshift-install's
// own code: pkg/types/validation, pkg/asset/installconfig and pkg/asset/agent of the module
// github.com/openshift/installer at v1.4.19-ec5 (release 4.19).
//
// Its package fields generates the fields that preflight knows from the installer's types.
//
// It is a module of its own: openshift-install brings the clients of every cloud along. Nothing
// of Rollcall imports it.
//
// Invariants:
//   - What openshift-install refuses is a mistake for preflight, too. Where it is not, the
//     exception is written down here with its reason.
//   - The installer's code runs as it is. Only nmstatectl, which is a program of its own, is
//     replaced by one that accepts all, and no cloud is asked.
package installer
