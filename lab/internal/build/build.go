// Package build makes the lab's programs from the nested modules below
// lab/servers, once: what it makes lies in a cache directory under a name that
// holds a digest of the module's go.mod, go.sum and sources, of the Go version
// and of the flags. A second build of the same thing is a look-up.
package build

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Artifacts says where everything is that a lab needs to run.
type Artifacts struct {
	// Bin maps the name of a program (see targets) to its file.
	Bin map[string]string
	// Templates is the template directory of the machine-config-controller
	// (openshift/machine-config-operator:templates).
	Templates string
	// CRDs holds the custom resource definitions of openshift/api and metal3.
	CRDs string
	// Metal3CRDs holds those that only the baremetal-operator needs.
	Metal3CRDs string
	// HyperShiftCRDs holds those of HyperShift, for a management cluster.
	HyperShiftCRDs string
	// HostedCRDs holds those of CRDs that a hosted cluster has.
	HostedCRDs string
	// FeatureGate is the default FeatureGate object of openshift/api, without
	// a version (openshift/api:payload-manifests/featuregates).
	FeatureGate string
}

// Builder builds from Source, the directory that holds lab/servers' modules,
// into Cache and says on Progress what takes time.
type Builder struct {
	Source   string
	Cache    string
	Progress io.Writer
}

// All builds every target that is not in the cache, one after the other (each
// alone fills the machine), and copies the manifests. What the machine lacks for that
// is said before anything is built.
func (b Builder) All(ctx context.Context) (Artifacts, error) {
	if err := b.Check(ctx); err != nil {
		return Artifacts{}, err
	}
	art := Artifacts{Bin: map[string]string{}}
	ctx, stop := context.WithCancel(ctx)
	var ahead sync.WaitGroup
	ahead.Go(func() { b.fetch(ctx) })
	defer ahead.Wait()
	defer stop()
	for _, t := range targets {
		file, err := b.target(ctx, t)
		if err != nil {
			return Artifacts{}, fmt.Errorf("build %s: %w", t.Name, err)
		}
		art.Bin[t.Name] = file
	}
	dir, err := b.manifests(ctx)
	if err != nil {
		return Artifacts{}, fmt.Errorf("copy manifests: %w", err)
	}
	art.Templates = filepath.Join(dir, "templates")
	art.CRDs = filepath.Join(dir, "crds")
	art.Metal3CRDs = filepath.Join(dir, "metal3-crds")
	art.HyperShiftCRDs = filepath.Join(dir, "hypershift-crds")
	art.HostedCRDs = filepath.Join(dir, "hosted-crds")
	art.FeatureGate = filepath.Join(dir, "featuregate.yaml")
	return art, nil
}

// How programs are compiled. Debugging data is left out, and a seventh of a build's
// time with it: no one debugs them. The modules kube, etcd and bmo, and the lab itself,
// have the same versions of what they share, above all of Kubernetes' libraries, and
// the same flags, so that it is compiled once for all. Inlining is a sixth of what
// remains, which the others, each with a Kubernetes of its own, go without, but for the
// standard library.
var (
	compileShared = []string{"-gcflags=all=-dwarf=false"}
	compileApart  = []string{"-gcflags=all=-dwarf=false -l", "-gcflags=std=-dwarf=false"}
)

// fetch downloads what the targets are built from, ahead of the builds: a build alone
// downloads everything before it compiles anything. What fails here fails again in the
// build, which says so.
func (b Builder) fetch(ctx context.Context) {
	for _, t := range targets {
		file, err := b.file(t)
		if err != nil {
			return
		}
		if _, err := os.Stat(file); err == nil {
			continue
		}
		if _, err := b.command(ctx, t, "list", "-deps").CombinedOutput(); ctx.Err() != nil || err != nil {
			return
		}
	}
}

// command runs the go command for a target's package.
func (b Builder) command(ctx context.Context, t Target, args ...string) *exec.Cmd {
	if t.Tags != "" {
		args = append(args, "-tags", t.Tags)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, t.Package)...)
	cmd.Dir = filepath.Join(b.Source, t.Module)
	cgo := "0"
	if t.CGO {
		cgo = "1"
	}
	cmd.Env = append(os.Environ(), "CGO_ENABLED="+cgo, "GOWORK=off", "GOFLAGS=")
	return cmd
}

func (t Target) compile() []string {
	if t.Apart {
		return compileApart
	}
	return compileShared
}

// file is where a target's program lies once it is built.
func (b Builder) file(t Target) (string, error) {
	key, err := digest(filepath.Join(b.Source, t.Module), fmt.Sprintf("%+v %s", t, t.compile()))
	if err != nil {
		return "", err
	}
	return filepath.Join(b.Cache, "bin", t.Module+"-"+key, t.Name), nil
}

func (b Builder) target(ctx context.Context, t Target) (string, error) {
	file, err := b.file(t)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return "", err
	}
	fmt.Fprintf(b.Progress, "building %s (once, 1 to 4 minutes)\n", t.Name)
	begin := time.Now()
	// Built in addition to its place and renamed, so that a build that was killed
	// leaves nothing that looks finished.
	tmp := fmt.Sprintf("%s.%d.tmp", file, os.Getpid())
	defer os.Remove(tmp)
	cmd := b.command(ctx, t, slices.Concat([]string{"build", "-buildvcs=false", "-o", tmp, "-ldflags", t.LDFlags}, t.compile())...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	if err := os.Rename(tmp, file); err != nil {
		return "", err
	}
	fmt.Fprintf(b.Progress, "built %s in %s\n", t.Name, time.Since(begin).Round(time.Second))
	return file, nil
}

// digest names a build: all files of the module (they are few and small) and
// everything else that decides about the result.
func digest(module string, extra ...string) (string, error) {
	sum := sha256.New()
	err := filepath.WalkDir(module, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(module, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(sum, "%s %d\n", rel, len(data))
		sum.Write(data)
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("digest %s: %w", module, err)
	}
	fmt.Fprintln(sum, runtime.Version(), runtime.GOOS, runtime.GOARCH, extra)
	return hex.EncodeToString(sum.Sum(nil))[:12], nil
}

// FindSource returns the lab/servers directory: of the tree that start lies in,
// else of the tree that this program was compiled from.
func FindSource(start string) (string, error) {
	dirs := []string{start}
	if _, file, _, ok := runtime.Caller(0); ok {
		dirs = append(dirs, filepath.Dir(file))
	}
	for _, dir := range dirs {
		for {
			servers := filepath.Join(dir, "lab", "servers")
			if _, err := os.Stat(filepath.Join(servers, "kube", "go.mod")); err == nil {
				return servers, nil
			}
			up := filepath.Dir(dir)
			if up == dir {
				break
			}
			dir = up
		}
	}
	return "", errors.New("find lab/servers: run inside a clone of the project, or name it with --source")
}

// moduleDir returns the directory in which Go keeps the source of one module
// that the nested module pins, downloading it where needed.
func (b Builder) moduleDir(ctx context.Context, nested, path string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-json", path)
	cmd.Dir = filepath.Join(b.Source, nested)
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go list -m %s in %s: %w", path, nested, err)
	}
	var mod struct {
		Dir, Path, Version string
		Replace            *struct{ Dir, Path, Version string }
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		return "", fmt.Errorf("read go list -m %s: %w", path, err)
	}
	if mod.Replace != nil {
		mod.Dir, mod.Path, mod.Version = mod.Replace.Dir, mod.Replace.Path, mod.Replace.Version
	}
	if mod.Dir != "" {
		return mod.Dir, nil
	}
	cmd = exec.CommandContext(ctx, "go", "mod", "download", "-json", mod.Path+"@"+mod.Version)
	cmd.Dir = filepath.Join(b.Source, nested)
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if out, err = cmd.Output(); err != nil {
		return "", fmt.Errorf("go mod download %s@%s: %w", mod.Path, mod.Version, err)
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		return "", fmt.Errorf("read go mod download %s: %w", mod.Path, err)
	}
	return mod.Dir, nil
}
