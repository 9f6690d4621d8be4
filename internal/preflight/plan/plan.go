// Package plan reads what somebody wants to install before anything is installed:
// install-config.yaml and agent-config.yaml, with the line and the column of each value, and
// what the extra manifests in addition to them are.
//
// Invariants:
//   - Secrets stay in the file: the pull secret, passwords, keys and what stands before the @
//     of a URL are replaced by what can be said of their form, before anything else sees them.
//   - A file is read as YAML and not as the types of one release: a field that a release
//     does not know, or that is there twice, is part of the evidence.
//   - Nothing is written, and what the file says is not run.
package plan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/yamlin"
)

// The kinds of plans: Content["type"] of an object of evidence.Plans.
const (
	InstallConfig = "InstallConfig"
	AgentConfig   = "AgentConfig"
)

// The names of the files that the installer looks for (openshift/installer:
// pkg/asset/installconfig/installconfigbase.go, pkg/asset/agent/agentconfig/agent_config.go).
const (
	installFile = "install-config.yaml"
	agentFile   = "agent-config.yaml"
)

// FileNames are the names of the files that FS reads.
func FileNames() []string { return []string{installFile, agentFile} }

// Kind is what Describe calls the source.
const Kind = "plan"

// maxFile bounds one file: an install-config of 500 hosts has some hundred KiB.
const maxFile = 4 << 20

// Source is the plan of one installation. It is an evidence.Source.
type Source struct {
	name    string
	now     time.Time
	objects []evidence.Object

	authorities [][]byte
}

var _ evidence.Source = (*Source)(nil)

// Release names the release that will be installed, "4.18" or "4.18.3"; "" where it is not
// known. It is part of each plan.
func (s *Source) Release(version string) {
	for _, o := range s.objects {
		if version != "" && !several(o) {
			o.Content["release"] = version
		}
	}
}

// Authorities are the certificates (DER) of additionalTrustBundle: what hosts trust besides
// the CAs of their system.
func (s *Source) Authorities() [][]byte { return s.authorities }

// Open reads files. now is when they are judged: a plan carries no time of its own.
func Open(paths []string, now time.Time) (*Source, error) {
	s := &Source{name: strings.Join(paths, ", "), now: now}
	for _, p := range paths {
		raw, err := read(func() (fs.FileInfo, error) { return os.Stat(p) }, func() (fs.File, error) { return os.Open(p) })
		if err != nil {
			return nil, fmt.Errorf("read the plan %s: %w", p, err)
		}
		if err := s.add(filepath.ToSlash(p), raw); err != nil {
			return nil, fmt.Errorf("read the plan %s: %w", p, err)
		}
	}
	return s, s.check()
}

// ErrNoPlan says that a directory holds no plan.
var ErrNoPlan = errors.New("it has neither " + installFile + " nor " + agentFile + ", and no " + manifestDir)

// ErrOtherManifests says that a directory holds manifests, and nothing that shows that they
// are those of an installation.
var ErrOtherManifests = fmt.Errorf("%w, and nothing shows that its manifests are of an installation (openshift-install writes %s there)", ErrNoPlan, stateFile)

// FS reads the plans of a directory. One with manifests alone may be that of any project.
func FS(fsys fs.FS, dir, name string, now time.Time) (*Source, error) {
	s, err := InstallDir(fsys, dir, name, now)
	if err == nil && !slices.ContainsFunc(s.objects, func(o evidence.Object) bool { return !isManifests(o) }) && !installed(fsys, dir) {
		return nil, fmt.Errorf("read the plan in %s: %w", name, ErrOtherManifests)
	}
	return s, err
}

// stateFile is what openshift-install writes into its directory
// (openshift/installer: pkg/asset/store/store.go stateFileName).
const stateFile = ".openshift_install_state.json"

// installed reports whether openshift-install has worked in a directory: its state, its log
// (cmd/openshift-install/main.go), or a manifest that it makes itself and nothing else does.
func installed(fsys fs.FS, dir string) bool {
	for _, file := range []string{stateFile, ".openshift_install.log", "manifests/cluster-config.yaml"} {
		if _, err := fs.Stat(fsys, path.Join(dir, file)); err == nil {
			return true
		}
	}
	return false
}

// InstallDir reads the plans of a directory that somebody names as the installer's.
func InstallDir(fsys fs.FS, dir, name string, now time.Time) (*Source, error) {
	s := &Source{name: name, now: now}
	for _, file := range FileNames() {
		raw, err := readIn(fsys, path.Join(dir, file))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = s.add(filepath.ToSlash(filepath.Join(name, file)), raw)
		}
		if err != nil {
			return nil, fmt.Errorf("read the plan %s: %w", filepath.ToSlash(filepath.Join(name, file)), err)
		}
	}
	if err := errors.Join(s.agentManifests(fsys, dir, name), s.manifests(fsys, dir, name)); err != nil {
		return nil, err
	}
	if len(s.objects) == 0 {
		return nil, fmt.Errorf("read the plan in %s: %w", name, ErrNoPlan)
	}
	return s, s.check()
}

func readIn(fsys fs.FS, name string) ([]byte, error) {
	return read(func() (fs.FileInfo, error) { return fs.Stat(fsys, name) }, func() (fs.File, error) { return fsys.Open(name) })
}

// read reads one regular file. It asks what it is first: to open a pipe would be to wait for
// who writes to it.
func read(stat func() (fs.FileInfo, error), open func() (fs.File, error)) ([]byte, error) {
	info, err := stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a file")
	}
	f, err := open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxFile {
		return nil, fmt.Errorf("it has more than %d MiB", maxFile>>20)
	}
	return raw, nil
}

// add reads one file: of several documents those that are plans.
func (s *Source) add(name string, raw []byte) error {
	if _, err := yamlin.ToJSON(raw, 2*maxFile); err != nil && !tolerable(err) {
		return fmt.Errorf("it is not YAML, and openshift-install does not read it either: %w", err)
	}
	known := 0
	for dec := yaml.NewDecoder(bytes.NewReader(raw)); ; {
		var doc yaml.Node
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("it is not YAML, and openshift-install does not read it either: %w", err)
		}
		t := newTree(name)
		config, _ := t.value(&doc, "", 0).(map[string]any)
		if t.wrong != nil {
			return t.wrong
		}
		kind := kindOf(name, config)
		if kind == "" {
			continue
		}
		known++
		s.objects = append(s.objects, t.object(kind, config))
		s.authorities = append(s.authorities, t.authorities...)
	}
	if known == 0 {
		return fmt.Errorf("it is neither an install-config nor an agent-config: it has no baseDomain, platform, rendezvousIP or hosts")
	}
	return nil
}

// tolerable: a key that is there twice is a finding of its own, and no reason not to read.
func tolerable(err error) bool {
	return strings.Contains(err.Error(), "already set in map") || strings.Contains(err.Error(), "already defined at line")
}

// kindOf tells plans apart by what they say, and then by what only one of them has: people
// name the files as they like, and an install-config has no kind.
func kindOf(name string, config map[string]any) string {
	switch config["kind"] {
	case AgentConfig:
		return AgentConfig
	case InstallConfig:
		return InstallConfig
	}
	for _, key := range []string{"baseDomain", "platform", "controlPlane", "networking"} {
		if has(config, key) {
			return InstallConfig
		}
	}
	for _, key := range []string{"rendezvousIP", "hosts", "additionalNTPSources"} {
		if has(config, key) {
			return AgentConfig
		}
	}
	switch strings.ToLower(path.Base(name)) {
	case installFile:
		return InstallConfig
	case agentFile:
		return AgentConfig
	}
	return ""
}

// has: the installer does not mind the case of letters.
func has(config map[string]any, key string) bool {
	for name := range config {
		if strings.EqualFold(name, key) {
			return true
		}
	}
	return false
}

// check refuses two plans of one kind: they are of two clusters.
func (s *Source) check() error {
	seen := map[any]string{}
	for _, o := range s.objects {
		if several(o) {
			continue
		}
		kind := o.Content["type"]
		if other, ok := seen[kind]; ok {
			return fmt.Errorf("%s and %s are both of kind %v: name the plan of one cluster", other, o.Loc.Path, kind)
		}
		seen[kind] = o.Loc.Path
	}
	return nil
}

// Describe implements evidence.Source.
func (s *Source) Describe(context.Context) (evidence.Description, error) {
	return evidence.Description{Kind: Kind, Name: s.name, Now: s.now}, nil
}

// List implements evidence.Source for evidence.Plans.
func (s *Source) List(_ context.Context, r evidence.Resource, namespace string) ([]evidence.Object, error) {
	if r == evidence.Plans {
		return s.objects, nil
	}
	if u, ok := evidence.OnRequest(r); ok {
		return nil, &u
	}
	return nil, &evidence.Unavailable{Need: evidence.Objects(r, namespace), Why: evidence.NotCollected, Detail: "a plan has no objects of the API"}
}

// Texts implements evidence.Source: a plan has no texts.
func (s *Source) Texts(_ context.Context, q evidence.TextQuery) ([]evidence.Text, error) {
	return nil, &evidence.Unavailable{Need: evidence.Texts(q), Why: evidence.NotCollected, Detail: "a plan has no texts"}
}
