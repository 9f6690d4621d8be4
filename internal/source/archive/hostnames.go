package archive

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/namedhost"
)

// maxNamed bounds the hosts that one journal names.
const maxNamed = 1000

// bootstrapUnits are programs that run on the bootstrap host only
// (openshift/installer:data/data/bootstrap/files/usr/local/bin).
var bootstrapUnits = []string{"bootkube.sh", "kubelet.sh", "release-image-download.sh", "approve-csr.sh", "crio-configure.sh"}

// listNamed lists the hosts that journals name, where a journal lies by itself in no
// layout, and the bootstrap host of a log bundle. Journals of other layouts are of hosts
// that the cluster's objects, or the directories, name.
func (s *Source) listNamed(ctx context.Context) ([]evidence.Object, error) {
	var list []evidence.Object
	seen := map[string]bool{}
	add := func(h namedhost.Host, loc evidence.Locator) error {
		if seen[strings.ToLower(h.Name)] {
			return nil
		}
		seen[strings.ToLower(h.Name)] = true
		o, err := namedhost.Object(h, loc)
		list = append(list, o)
		return err
	}
	for _, e := range s.texts {
		loc := evidence.Locator{Source: s.base, Path: e.file.path}
		var hosts []namedhost.Host
		switch {
		case e.of.layout == LogBundle && bootstrapDir(e.file.path):
			hosts = []namedhost.Host{{Name: namedhost.Bootstrap, Role: namedhost.Bootstrap, By: namedhost.Bundle}}
		case e.free && e.text.Kind == evidence.Journal:
			var err error
			if hosts, err = s.hostsOfJournal(ctx, e); err != nil {
				return nil, err
			}
		}
		for _, h := range hosts {
			if err := add(h, loc); err != nil {
				return nil, err
			}
		}
	}
	if len(list) == 0 {
		return nil, s.notCollected(evidence.Objects(evidence.NamedHosts, ""))
	}
	return list, nil
}

// bootstrapDir reports whether a file of a log bundle lies in bootstrap/<directory>.
func bootstrapDir(path string) bool {
	parts := strings.Split(path, "/")
	return len(parts) > 2 && parts[len(parts)-3] == "bootstrap"
}

// hostsOfJournal are the hosts whose lines a journal has. The bootstrap host changes its
// name while it runs: what is logged there names one host. A journal in which a host has
// no name but localhost names none.
func (s *Source) hostsOfJournal(ctx context.Context, e entry) ([]namedhost.Host, error) {
	in, err := s.openEntry(ctx, e, "")
	if err != nil {
		return nil, ctx.Err() // reading the text says why
	}
	defer func() { _ = in.Close() }()
	var names []string
	lines := bufio.NewReaderSize(&whileAlive{ctx, io.LimitReader(in, maxLineNow)}, 64<<10)
	for len(names) < maxNamed {
		line, prefix, err := lines.ReadLine()
		if err != nil {
			break // where it breaks off the text itself says so
		}
		if host, id, ok := evidence.JournalHead(line); ok {
			if slices.Contains(bootstrapUnits, string(id)) {
				return []namedhost.Host{{Name: namedhost.Bootstrap, Role: namedhost.Bootstrap, By: namedhost.Journal}}, ctx.Err()
			}
			if name := string(bytes.ToLower(host)); ownName(host) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		for prefix && err == nil {
			_, prefix, err = lines.ReadLine()
		}
	}
	hosts := make([]namedhost.Host, len(names))
	for i, n := range names {
		hosts[i] = namedhost.Host{Name: n, By: namedhost.Journal}
	}
	return hosts, ctx.Err()
}
