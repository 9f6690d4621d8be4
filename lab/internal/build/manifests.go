package build

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// crdDirs lists where openshift/api keeps its definitions, those of the payload
// and those that the cluster-version and machine-api operators bring.
var crdDirs = []string{
	"payload-manifests/crds",
	"config/v1/zz_generated.crd-manifests",
	"operator/v1/zz_generated.crd-manifests",
	"operator/v1alpha1/zz_generated.crd-manifests",
	"machine/v1beta1/zz_generated.crd-manifests",
	"machineconfiguration/v1/zz_generated.crd-manifests",
}

// crdNames lists the definitions that the lab creates: what the informers of
// machine-config-controller and -server wait for
// (openshift/machine-config-operator:pkg/controller/common/controller_context.go
// CreateControllerContext) and what a diagnosis of an install reads. A name is
// the part of the file name between the group's prefix and the variant.
var crdNames = []string{
	"apiservers", "clusteroperators", "clusterversions", "dnses", "etcds",
	"featuregates", "imagecontentsourcepolicies", "imagedigestmirrorsets",
	"images", "imagetagmirrorsets", "infrastructures", "ingresses",
	"kubeapiservers", "kubecontrollermanagers", "machineconfigurations", "machines", "machinesets",
	"machinehealthchecks", "containerruntimeconfigs", "controllerconfigs",
	"kubeletconfigs", "machineconfignodes", "machineconfigpools",
	"machineconfigs", "machineosbuilds", "machineosconfigs", "networks",
	"nodes", "oauths", "pinnedimagesets", "proxies", "schedulers",
}

// metal3CRDs are what the baremetal-operator watches or makes besides hosts.
var metal3CRDs = []string{
	"metal3.io_bmceventsubscriptions.yaml", "metal3.io_dataimages.yaml", "metal3.io_firmwareschemas.yaml",
	"metal3.io_hardwaredata.yaml", "metal3.io_hostfirmwarecomponents.yaml", "metal3.io_hostfirmwaresettings.yaml",
	"metal3.io_hostupdatepolicies.yaml", "metal3.io_preprovisioningimages.yaml",
}

// hypershiftCRDs are what a management cluster has and a diagnosis of a hosted
// cluster reads, in openshift/hypershift:cmd/install/assets.
var hypershiftCRDs = []string{
	"hypershift-operator/hypershift.openshift.io_hostedclusters.yaml",
	"hypershift-operator/hypershift.openshift.io_hostedcontrolplanes.yaml",
	"hypershift-operator/hypershift.openshift.io_nodepools.yaml",
	"cluster-api/cluster.x-k8s.io_machines.yaml",
}

// notHosted are the parts of the definitions' names that a hosted cluster has
// not: the Machine API and the machine config operator do not run in it
// (openshift/hypershift:control-plane-operator/controllers/hostedcontrolplane/cvo/reconcile.go
// ResourcesToRemove).
var notHosted = []string{"_machine-api_", "_machine-config_", "metal3.io_"}

func (b Builder) manifests(ctx context.Context) (string, error) {
	keys := make([]string, 0, 3)
	for _, module := range []string{"mco420", "bmo", "hypershift"} {
		key, err := digest(filepath.Join(b.Source, module))
		if err != nil {
			return "", err
		}
		keys = append(keys, key)
	}
	keys = append(keys, fmt.Sprint(crdDirs, crdNames, metal3CRDs, hypershiftCRDs, notHosted))
	key, err := digest(filepath.Join(b.Source, "bmo"), keys...)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(b.Cache, "manifests-"+key)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	fmt.Fprintln(b.Progress, "copying the product's manifests and templates")
	tmp := fmt.Sprintf("%s.%d.tmp", dir, os.Getpid())
	defer os.RemoveAll(tmp)
	if err := b.copyManifests(ctx, tmp); err != nil {
		return "", err
	}
	if err := os.Rename(tmp, dir); err != nil && !os.IsExist(err) {
		return "", err
	}
	return dir, nil
}

func (b Builder) copyManifests(ctx context.Context, to string) error {
	api, err := b.moduleDir(ctx, "mco420", "github.com/openshift/api")
	if err != nil {
		return err
	}
	mco, err := b.moduleDir(ctx, "mco420", "github.com/openshift/machine-config-operator")
	if err != nil {
		return err
	}
	metal3, err := b.moduleDir(ctx, "bmo", "github.com/metal3-io/baremetal-operator")
	if err != nil {
		return err
	}
	if err := os.CopyFS(filepath.Join(to, "templates"), os.DirFS(filepath.Join(mco, "templates"))); err != nil {
		return fmt.Errorf("copy templates: %w", err)
	}
	crds := filepath.Join(to, "crds")
	if err := os.MkdirAll(crds, 0o755); err != nil {
		return err
	}
	for _, dir := range crdDirs {
		if err := copyCRDs(filepath.Join(api, dir), crds); err != nil {
			return err
		}
	}
	if err := copyFile(filepath.Join(metal3, "config/base/crds/bases/metal3.io_baremetalhosts.yaml"),
		filepath.Join(crds, "metal3.io_baremetalhosts.yaml")); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(to, "metal3-crds"), 0o755); err != nil {
		return err
	}
	for _, name := range metal3CRDs {
		if err := copyFile(filepath.Join(metal3, "config/base/crds/bases", name), filepath.Join(to, "metal3-crds", name)); err != nil {
			return err
		}
	}
	if err := b.copyHostedCRDs(ctx, to); err != nil {
		return err
	}
	return copyFile(filepath.Join(api, "payload-manifests/featuregates/featureGate-SelfManagedHA-Default.yaml"), filepath.Join(to, "featuregate.yaml"))
}

// copyHostedCRDs copies the definitions of a management cluster, and those of
// CRDs that a hosted cluster has as well.
func (b Builder) copyHostedCRDs(ctx context.Context, to string) error {
	hypershift, err := b.moduleDir(ctx, "hypershift", "github.com/openshift/hypershift")
	if err != nil {
		return err
	}
	for _, dir := range []string{"hypershift-crds", "hosted-crds"} {
		if err := os.MkdirAll(filepath.Join(to, dir), 0o755); err != nil {
			return err
		}
	}
	for _, name := range hypershiftCRDs {
		if err := copyFile(filepath.Join(hypershift, "cmd/install/assets", name), filepath.Join(to, "hypershift-crds", filepath.Base(name))); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(filepath.Join(to, "crds"))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if slices.ContainsFunc(notHosted, func(part string) bool { return strings.Contains(e.Name(), part) }) {
			continue
		}
		if err := copyFile(filepath.Join(to, "crds", e.Name()), filepath.Join(to, "hosted-crds", e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// copyCRDs takes from one directory the wanted definitions in the variant that
// an ordinary cluster has (no feature set, self-managed).
func copyCRDs(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		base, ok := strings.CutSuffix(e.Name(), ".crd.yaml")
		if !ok {
			continue
		}
		resource, variant, _ := strings.Cut(base[strings.LastIndex(base, "_")+1:], "-")
		if !wanted(resource) || (variant != "" && variant != "Default") {
			continue
		}
		if err := copyFile(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func wanted(resource string) bool {
	for _, name := range crdNames {
		if name == resource {
			return true
		}
	}
	return false
}

// copyFile copies with fresh permissions: files of the module cache are
// read-only.
func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}
