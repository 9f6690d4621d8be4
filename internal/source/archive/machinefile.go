package archive

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// machineFile is a file of a sosreport or of a log bundle in which one machine tells of
// itself, and what lies next to it. Such files become the objects that rollcall-host
// writes, with what they do not hold marked as not read.
type machineFile struct {
	address string          // of a log bundle's directory control-plane/<address>
	journal bool            // the file is a journal: its lines name the machine
	path    string          // of a sosreport's file below its root
	report  map[string]file // all such files of the same sosreport, by path
}

// bundleMachine reads control-plane/<address>/network/hostname.txt
// (openshift/installer:data/data/bootstrap/files/usr/local/bin/installer-masters-gather.sh).
func bundleMachine(e *entry, rest []string) bool {
	if len(rest) != 3 || rest[1] != "network" || rest[2] != "hostname.txt" {
		return false
	}
	e.class, e.resource, e.machine = object, evidence.HostIdentities, &machineFile{address: rest[0]}
	return true
}

// machines puts together the files of each machine. In log bundles of older releases no
// file has its name, and its journals do.
func (b *builder) machines() {
	b.sosMachines()
	named := map[string]bool{}
	for _, e := range b.s.objects[evidence.HostIdentities] {
		if e.machine != nil && e.of.layout == LogBundle {
			named[e.of.root+"\n"+e.machine.address] = true
		}
	}
	for _, e := range b.s.texts {
		address, ok := controlPlaneOf(e)
		if !ok || e.text.Unit != "kubelet" || named[e.of.root+"\n"+address] {
			continue
		}
		named[e.of.root+"\n"+address] = true
		e.class, e.resource, e.machine = object, evidence.HostIdentities, &machineFile{address: address, journal: true}
		b.s.objects[e.resource] = append(b.s.objects[e.resource], e)
	}
}

// controlPlaneOf returns the address of the machine whose journal a text is.
func controlPlaneOf(e entry) (string, bool) {
	if e.of.layout != LogBundle || e.text.Kind != evidence.Journal {
		return "", false
	}
	parts := strings.Split(e.file.path, "/")
	n := len(parts)
	if n < 4 || parts[n-4] != "control-plane" || parts[n-2] != "journals" {
		return "", false
	}
	return parts[n-3], true
}

// readMachine makes an object of what a machine told of itself. Only a canceled context
// is an error.
func (s *Source) readMachine(ctx context.Context, e entry, c *listing) error {
	m := e.machine
	hostname, from, err := s.machineName(ctx, e)
	if err := ctx.Err(); err != nil {
		return err
	}
	if err != nil {
		c.damage(e.file.path, err)
		return nil
	}
	var part any = machineIdentity(hostname, from, m.address)
	if read := sosParts[e.resource]; m.report != nil && read != nil {
		if part, err = read(s, ctx, m.report, e.file); err != nil {
			c.damage(e.file.path, err)
			return nil
		}
	}
	name := strings.ToLower(hostname)
	if m.address != "" && (name == "" || strings.HasPrefix(name, "localhost")) {
		name = m.address
	}
	o, err := onhost.Object(e.resource, name, e.file.path, time.Time{}, part)
	if err != nil {
		c.damage(e.file.path, err)
		return nil
	}
	s.addObject(e, o.Content, false, c)
	return nil
}

// machineName returns the machine's name and what says it; "" where only its journal
// could say it and has another name than localhost nowhere: a machine is called
// localhost until it gets its name.
func (s *Source) machineName(ctx context.Context, e entry) (name, from string, err error) {
	if e.machine.journal {
		name, err = s.journalName(ctx, e.file)
		return name, "journal", err
	}
	f := e.file
	if e.resource != evidence.HostIdentities {
		if f = first(e.machine.report, sosHostnames); f.path == "" {
			return path.Base(e.of.root), "directory", nil
		}
	}
	raw, err := s.read(ctx, f, maxSmallFile)
	if err != nil {
		return "", "", err
	}
	name = strings.TrimSpace(string(raw))
	if !hostnameForm.MatchString(name) {
		return "", "", fmt.Errorf("%.80q is not a host name", name)
	}
	return name, "hostname", nil
}

var hostnameForm = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]{0,252}[A-Za-z0-9])?$`)

// journalName returns the last name that is not localhost in a journal.
func (s *Source) journalName(ctx context.Context, f file) (string, error) {
	r, err := s.open(ctx, f)
	if err != nil {
		return "", err
	}
	defer func() { _ = r.Close() }()
	name := ""
	lines := bufio.NewReaderSize(r, 64<<10)
	for {
		line, prefix, err := lines.ReadLine()
		if err != nil {
			return name, nil // where it breaks off the text itself says so
		}
		if host, _, ok := evidence.JournalHead(line); ok && ownName(host) {
			name = string(host)
		}
		for prefix && err == nil {
			_, prefix, err = lines.ReadLine()
		}
	}
}

// ownName reports whether a name in a journal is the host's own: it is called localhost
// until it has one.
func ownName(host []byte) bool {
	return !bytes.HasPrefix(bytes.ToLower(host), []byte("localhost")) && hostnameForm.Match(host)
}

// machineIdentity is what is known of a machine by its name alone.
func machineIdentity(hostname, from, address string) onhost.Identity {
	const why = "neither a sosreport nor a log bundle has it"
	absent := func(path string) onhost.File { return onhost.File{Path: path, Error: why} }
	id := onhost.Identity{
		Hostname: hostname, NameFrom: from,
		Runtime:   onhost.Kubeconfig{File: absent("/var/lib/kubelet/kubeconfig")},
		Bootstrap: onhost.Kubeconfig{File: absent("/etc/kubernetes/kubeconfig")},
		Client:    onhost.Pair{File: absent("/var/lib/kubelet/pki/kubelet-client-current.pem")},
		Serving:   onhost.Pair{File: absent("/var/lib/kubelet/pki/kubelet-server-current.pem")},
	}
	if a, err := netip.ParseAddr(address); err == nil {
		id.Addresses = []string{a.String()}
	}
	return id
}
