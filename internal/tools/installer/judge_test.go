package installer

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/openshift/installer/pkg/asset"
	"github.com/openshift/installer/pkg/asset/agent/agentconfig"
	"github.com/openshift/installer/pkg/asset/agent/image"
	"github.com/openshift/installer/pkg/asset/agent/manifests"
	"github.com/openshift/installer/pkg/asset/installconfig"
	assetstore "github.com/openshift/installer/pkg/asset/store"
	metal "github.com/openshift/installer/pkg/types/baremetal/validation"
	"github.com/openshift/installer/pkg/types/validation"
)

// releaseImage is what the installer is told to install: without it, it would ask a registry.
const releaseImage = "registry.example.com/ocp/release:4.19.0-x86_64"

// nmstatectl accepts each document: nmstate is a program of its own, whose rules preflight
// leaves to it.
const nmstatectl = `#!/bin/sh
printf -- '---\nNetworkManager:\n- - eno1.nmconnection\n  - "[connection]"\n'
`

// prepare makes the surroundings of the installer's code.
func prepare(t *testing.T) {
	t.Helper()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "nmstatectl"), []byte(nmstatectl), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE", releaseImage)
	logrus.SetOutput(io.Discard)
}

// plan are the files of a directory.
type plan map[string]string

func (p plan) write(dir string) error {
	for name, text := range p {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (p plan) agentBased() bool {
	for name := range p {
		if name == "agent-config.yaml" || strings.HasPrefix(name, "cluster-manifests/") {
			return true
		}
	}
	return false
}

// part reports whether a plan has hosts and no cluster: the installer needs both, and preflight
// checks a file alone, too.
func (p plan) part() bool {
	_, install := p["install-config.yaml"]
	_, objects := p["cluster-manifests/agent-cluster-install.yaml"]
	return !install && !objects
}

// installerSays is why openshift-install refuses a plan; "" where it accepts it.
func installerSays(p plan) (refusal string, err error) {
	dir, err := os.MkdirTemp("", "plan")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a directory for temporary files
	if err := p.write(dir); err != nil {
		return "", err
	}
	defer func() { // a panic of the installer is a refusal, too: it stops
		if r := recover(); r != nil {
			refusal = fmt.Sprint("panic: ", r)
		}
	}()
	if p.agentBased() {
		err = agentBased(dir)
	} else {
		err = installerProvisioned(dir)
	}
	if err != nil {
		return err.Error(), nil
	}
	return "", nil
}

// files reads a directory as the installer's own fetcher does, which is not exported.
type files string

func (d files) FetchByName(name string) (*asset.File, error) {
	raw, err := os.ReadFile(filepath.Join(string(d), name))
	return &asset.File{Filename: name, Data: raw}, err
}

func (d files) FetchByPattern(string) ([]*asset.File, error) { return nil, nil }

// installerProvisioned: what `openshift-install create manifests` checks of the file, without
// what it asks platforms.
func installerProvisioned(dir string) error {
	base := &installconfig.AssetBase{}
	if _, err := base.LoadFromFile(files(dir)); err != nil {
		return err
	}
	list := validation.ValidateInstallConfig(base.Config, false)
	if p := base.Config.Platform.BareMetal; p != nil {
		for _, err := range metal.ValidateProvisioning(p, base.Config.Networking, field.NewPath("platform", "baremetal")) {
			if err.Type != field.ErrorTypeInternal { // it asks the host that provisions
				list = append(list, err)
			}
		}
	}
	return list.ToAggregate()
}

// agentBased: what `openshift-install agent create image` checks before it makes the image.
func agentBased(dir string) error {
	store, err := assetstore.NewStore(dir)
	if err != nil {
		return err
	}
	ctx := context.Background()
	made, config, hosts := &manifests.AgentManifests{}, &agentconfig.AgentConfig{}, &agentconfig.AgentHosts{}
	for _, a := range []asset.Asset{made, config, hosts} {
		if err := store.Fetch(ctx, a); err != nil {
			return err
		}
	}
	_, err = image.RetrieveRendezvousIP(config.Config, hosts.Hosts, made.NMStateConfigs)
	return err
}
