package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rollcall-project/rollcall/lab/internal/seed"
)

// extraManifests reads the manifests of the directory of an installation as the bootstrap
// host has them: in one directory, where a file of openshift replaces one of manifests
// (openshift/installer:data/data/bootstrap/files/usr/local/bin/bootkube.sh.template).
func (l *Lab) extraManifests() (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, sub := range []string{"manifests", "openshift"} {
		if l.opts.InstallDir == "" {
			break
		}
		entries, err := os.ReadDir(filepath.Join(l.opts.InstallDir, sub))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(e.Name())) {
				continue
			}
			data, err := os.ReadFile(filepath.Join(l.opts.InstallDir, sub, e.Name()))
			if err != nil {
				return nil, err
			}
			files[e.Name()] = data
		}
	}
	return files, nil
}

// createExtraManifests creates them in the cluster as cluster-bootstrap does: of each file
// the first document, in the order of the names, and none that exists
// (openshift/library-go:pkg/assets/create/creater.go load, create).
func (l *Lab) createExtraManifests(ctx context.Context) error {
	files, err := l.extraManifests()
	if err != nil {
		return fmt.Errorf("read the extra manifests: %w", err)
	}
	for _, name := range slices.SortedFunc(maps.Keys(files), func(a, b string) int { return cmp.Compare(a, b) }) {
		objs, err := seed.Parse(files[name])
		if err != nil || len(objs) == 0 {
			return fmt.Errorf("%s holds no object: %w", name, err)
		}
		if strings.HasSuffix(objs[0].GetKind(), "List") {
			return fmt.Errorf("%s holds a list", name)
		}
		if err := l.applier.Apply(ctx, []*unstructured.Unstructured{objs[0]}); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
