package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/fleet"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/suggest"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/kube/kubeconfig"
	"github.com/rollcall-project/rollcall/internal/session"
)

// named is what the flags name.
type named struct {
	contexts    []string
	kubeconfigs string // directory
	from        []string
	archives    string // directory
}

// maxClusters bounds a fleet. Beyond it the hub of a management of many clusters is the place to ask.
const maxClusters = 20000

// clusters are those of the flags and arguments that belong to the part of this process.
func (a *app) clusters(args []string) ([]fleet.Cluster, error) {
	if a.within <= 0 {
		return nil, session.Usagef("--within %s: write a time such as 2m", a.within)
	}
	if a.source.Kube.Context != "" || a.source.Kube.APIServer != "" {
		return nil, session.Usagef("--context and --server name one cluster: name several with --contexts, or ask this one with `%s status`", a.Name)
	}
	part, err := fleet.ParsePart(a.part)
	if err != nil {
		return nil, &session.UsageError{Err: err}
	}
	live, err := a.live()
	if err != nil {
		return nil, err
	}
	read, err := a.read(slices.Concat(a.named.from, args))
	if err != nil {
		return nil, err
	}
	list := slices.Concat(live, read)
	switch {
	case len(list) == 0 && a.named.archives == "" && a.named.kubeconfigs == "":
		return nil, session.Usagef("name the clusters with --contexts or --kubeconfigs, or archives as arguments or with --archives")
	case len(list) == 0:
		return nil, fmt.Errorf("there is nothing in %s", strings.TrimSpace(a.named.kubeconfigs+" "+a.named.archives))
	case len(list) > maxClusters:
		return nil, fmt.Errorf("%d clusters are more than the %d of one call; name a part of them", len(list), maxClusters)
	case a.results != "" && len(read) == 0:
		return nil, session.Usagef("--results keeps results of archives: a live cluster is asked each time")
	}
	return slices.DeleteFunc(list, func(c fleet.Cluster) bool { return !part.Has(c.Name) }), nil
}

// live are the clusters of contexts and kubeconfigs.
func (a *app) live() (list []fleet.Cluster, err error) {
	names := a.named.contexts
	if len(names) > 0 {
		known, err := a.source.Kube.Contexts()
		if err != nil {
			return nil, fmt.Errorf("read the kubeconfig: %w; name another with --kubeconfig FILE", err)
		}
		if slices.Contains(names, "all") {
			names = known
		}
		for _, n := range names {
			if !slices.Contains(known, n) {
				return nil, session.Usagef("--contexts: the kubeconfig has no context %q%s", n, suggest.DidYouMean(n, known))
			}
		}
		if len(names) == 0 {
			return nil, errors.New("the kubeconfig has no context; name another with --kubeconfig FILE")
		}
	}
	for _, n := range slices.Compact(slices.Sorted(slices.Values(names))) {
		o := a.source
		o.Kube.Context = n
		list = append(list, a.cluster(n, "", o))
	}
	if a.named.kubeconfigs == "" {
		return list, nil
	}
	files, err := entries("--kubeconfigs", a.named.kubeconfigs, false)
	for _, path := range files {
		o := a.source
		o.Kube = ownKubeconfig(a.source.Kube, path)
		list = append(list, a.cluster(filepath.Base(path), "", o))
	}
	return list, err
}

// ownKubeconfig are connection flags with another file.
func ownKubeconfig(k kubeconfig.Flags, path string) kubeconfig.Flags {
	k.KubeConfig = path
	k.Reload()
	return k
}

// read are the archives.
func (a *app) read(paths []string) (list []fleet.Cluster, err error) {
	if paths, err = spread(paths); err != nil {
		return nil, err
	}
	dir := a.named.archives
	if at, err := os.Stat(dir); err == nil && !at.IsDir() { // it can only be an archive
		paths, dir = append(paths, dir), ""
	}
	named := len(paths)
	if dir != "" {
		more, err := entries("--archives", dir, true)
		if err != nil {
			return nil, err
		}
		paths = append(paths, more...)
	}
	seen := map[string]bool{}
	for i, path := range paths {
		if path == "-" {
			return nil, session.Usagef("standard input is one archive: read it with `%s diagnose --from -`", a.Name)
		}
		key, err := fleet.KeyOf(path)
		if err != nil { // it has a row that says so, and stops no other; without a key no result of it is kept
			key = ""
		}
		if seen[cmp.Or(key, path)] {
			continue
		}
		seen[cmp.Or(key, path)] = true
		o := a.source
		o.Kube, o.From = cmdutil.Options().Kube, []string{path}
		name := path
		if i >= named {
			name = filepath.Base(path) // of one directory
		}
		list = append(list, a.cluster(name, key, o))
	}
	return list, nil
}

// spread puts what a pattern matches in its place, where a shell left it in quotes, and the archives that lie in a directory.
func spread(paths []string) (list []string, err error) {
	for _, path := range paths {
		found := []string{path}
		if _, missing := os.Stat(path); missing != nil && strings.ContainsAny(path, "*?[") {
			if found, err = filepath.Glob(path); err != nil {
				return nil, session.Usagef("%s is no pattern of files: %v", path, err)
			}
			if len(found) == 0 {
				return nil, fmt.Errorf("read the archives: nothing is like %s", path)
			}
		}
		for _, p := range found {
			if packed := session.ArchivesIn(p); len(packed) > 1 {
				list = append(list, packed...)
				continue
			}
			list = append(list, p)
		}
	}
	return list, nil
}

// entries are the visible files that are not about the others, and with dirs the directories, in a directory that a flag names.
func entries(flag, dir string, dirs bool) (paths []string, err error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	for _, e := range list {
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path) // a link counts as what it leads to
		if err != nil || strings.HasPrefix(e.Name(), ".") || session.IsAboutFiles(e.Name()) || !info.Mode().IsRegular() && (!dirs || !info.IsDir()) {
			continue
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// cluster is one that options name.
func (a *app) cluster(name, key string, o session.Options) fleet.Cluster {
	ses := a.Quieter().Session(o)
	name, call := a.WithoutSecrets(name), a.WithoutSecrets(o.Again())
	return fleet.Cluster{Name: name, Key: key, Call: call, Ask: func(ctx context.Context) (d *diagnosis.Diagnosis, err error) {
		ctx = kube.WithPatience(ctx) // of this cluster alone
		r, err := ses.Open(ctx)
		if err != nil {
			return nil, withoutPath(err, o.From)
		}
		defer func() { err = errors.Join(err, r.Close()) }()
		return r.Diagnose(ctx)
	}}
}

// withoutPath is an error without the flag and the path that its row already names.
func withoutPath(err error, from []string) error {
	if len(from) == 0 {
		return err
	}
	return errors.New(strings.TrimPrefix(err.Error(), "--from "+from[0]+": "))
}
