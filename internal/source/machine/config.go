package machine

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// The files of the machine-config-daemon
// (openshift/machine-config-operator:pkg/daemon/constants/constants.go).
const (
	encapsulated    = "/etc/ignition-machine-config-encapsulated.json"
	encapsulatedBak = encapsulated + ".bak"
	served          = "/etc/mcs-machine-config-content.json"
	currentConfig   = "/etc/machine-config-daemon/currentconfig"
	currentImage    = "/etc/machine-config-daemon/currentimage"
	annotations     = "/etc/machine-config-daemon/node-annotations.json"
	annotationsBak  = "/etc/machine-config-daemon/node-annotation.json.bak"
	forceFile       = "/run/machine-config-daemon-force"
	bootstrapDiff   = "/etc/machine-config-daemon/bootstrapconfigdiff"
	stagedFile      = "/run/ostree/staged-deployment"
)

// config reads what Ignition and the machine-config-daemon left. The contents of the
// configs, which hold the pull secret, stay on the machine.
func (s *Source) config(ctx context.Context) (part, error) {
	c := onhost.Config{
		Encapsulated: s.tree.stat(encapsulated), EncapsulatedBak: s.tree.stat(encapsulatedBak),
		Served: s.machineConfig(served), Current: s.machineConfig(currentConfig),
		Annotations: s.tree.stat(annotations), AnnotationsBak: s.tree.stat(annotationsBak),
		BootstrapDiff: s.tree.stat(bootstrapDiff), Force: s.tree.stat(forceFile), Staged: s.tree.stat(stagedFile),
		CurrentImage: imageOnly(s.tree.text(currentImage)), At: s.now(),
	}
	c.Booted, c.BootedFrom, c.BootedProblem = s.booted()
	return part{c, "/etc/machine-config-daemon"}, ctx.Err()
}

// imageOnly is a pull specification, or nothing if the text is not one.
func imageOnly(text string) string {
	if len(text) > 1024 || strings.ContainsAny(text, " \t\n{}\"") {
		return ""
	}
	return text
}

// machineConfig reads the name and the image of a MachineConfig, and skips the rest
// of it unread.
func (s *Source) machineConfig(name string) onhost.MachineConfig {
	m := onhost.MachineConfig{File: s.tree.stat(name)}
	if !m.Exists || m.Error != "" {
		return m
	}
	f, _, err := s.tree.open(name)
	if err != nil {
		m.Error = plain(err)
		return m
	}
	defer f.Close()
	var v struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
		Spec struct {
			OSImageURL string `json:"osImageURL"`
		} `json:"spec"`
	}
	err = json.NewDecoder(io.LimitReader(f, maxConfig)).Decode(&v)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		m.Problem = "it is empty or cut off"
	case err != nil:
		m.Problem = "it is not a MachineConfig in JSON" // the decoder's words may quote it
	default:
		m.Name, m.OSImageURL = imageOnly(v.Metadata.Name), imageOnly(v.Spec.OSImageURL)
	}
	return m
}

// booted finds the image of the booted deployment: the kernel's command line names
// the deployment, and the file next to it its origin
// (ostreedev/ostree:src/libostree/ostree-sysroot.c parse_bootlink,
// coreos/rpm-ostree: container-image-reference in the origin).
func (s *Source) booted() (image, from, problem string) {
	if !s.live {
		return "", "", "only a running machine shows which deployment it booted"
	}
	link := ""
	for word := range strings.FieldsSeq(s.tree.text("/proc/cmdline")) {
		if v, ok := strings.CutPrefix(word, "ostree="); ok {
			link = v
		}
	}
	if link == "" {
		return "", "", "the kernel's command line names no deployment"
	}
	for _, base := range []string{"/sysroot", ""} {
		at, err := s.tree.resolve(path.Join(base, link))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", "", plain(err)
		}
		from = "/" + at + ".origin"
		for line := range strings.Lines(s.tree.text(from)) {
			if v, ok := strings.CutPrefix(strings.TrimSpace(line), "container-image-reference="); ok {
				return imageOnly(trimTransport(v)), from, ""
			}
		}
		return "", from, "the booted deployment does not come from a container image"
	}
	return "", "", "the booted deployment cannot be found"
}

// trimTransport is the image of an ostree container reference, as
// "ostree-unverified-registry:quay.io/...@sha256:..." or
// "ostree-image-signed:docker://...".
func trimTransport(ref string) string {
	for _, prefix := range []string{"ostree-unverified-registry:", "ostree-unverified-image:", "ostree-image-signed:", "docker://", "registry:"} {
		ref = strings.TrimPrefix(ref, prefix)
	}
	return ref
}
