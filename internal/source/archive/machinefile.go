package archive

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// machineFile is a file of a sosreport or of a log bundle in which one machine tells of
// itself, and what lies next to it. Such files become the objects that rollcall-host
// writes, with what they do not hold marked as not read.
type machineFile struct {
	address  string // of a log bundle's directory control-plane/<address>
	journal  bool   // the file is a journal: its lines name the machine
	hostname file   // of a sosreport
	sources  file   // of a sosreport: what chronyc lists
}

// The files of a sosreport (sosreport/sos:sos/report/plugins/{host,chrony}.py, before
// 3.6 general.py) below sos_commands.
var (
	sosHostnames = []string{"host/hostname", "general/hostname"}
	sosTracking  = "chrony/chronyc_tracking"
	sosSources   = []string{"chrony/chronyc_-n_sources", "chrony/chronyc_sources"}
)

// sosMachine finds out whether a file of a sosreport tells of the machine.
func sosMachine(e *entry, rest []string) bool {
	switch p := strings.Join(rest, "/"); {
	case slices.Contains(sosHostnames, p):
		e.class, e.resource = object, evidence.HostIdentities
	case p == sosTracking:
		e.class, e.resource = object, evidence.HostClocks
	case slices.Contains(sosSources, p):
		e.class = detail
	default:
		return false
	}
	e.machine = &machineFile{}
	return true
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
	hostnames, sources := map[of]file{}, map[of]file{}
	for _, e := range b.s.objects[evidence.HostIdentities] {
		if e.machine != nil && e.of.layout == SOSReport {
			hostnames[e.of] = e.file
		}
	}
	for _, e := range b.small {
		if e.machine != nil {
			sources[e.of] = e.file
		}
	}
	for _, e := range b.s.objects[evidence.HostClocks] {
		if e.machine != nil {
			e.machine.hostname, e.machine.sources = hostnames[e.of], sources[e.of]
		}
	}
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
	if e.resource == evidence.HostClocks {
		if part, err = s.machineClock(ctx, e); err != nil {
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
	if e.resource == evidence.HostClocks {
		if f = e.machine.hostname; f.path == "" {
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

// machineClock reads what chronyc printed for people.
func (s *Source) machineClock(ctx context.Context, e entry) (onhost.Clock, error) {
	raw, err := s.read(ctx, e.file, maxSmallFile)
	if err != nil {
		return onhost.Clock{}, err
	}
	c, err := parseTracking(string(raw))
	if err != nil {
		return c, err
	}
	if e.machine.sources.path == "" {
		c.SourcesError = "the sosreport has no list of chrony's sources"
		return c, nil
	}
	raw, err = s.read(ctx, e.machine.sources, maxSmallFile)
	if err == nil {
		c.Sources, err = parseSources(string(raw))
	}
	if err != nil {
		c.SourcesError = err.Error()
	}
	return c, nil
}

// parseTracking reads `chronyc tracking` (chrony: client.c process_cmd_tracking).
func parseTracking(text string) (onhost.Clock, error) {
	c := onhost.Clock{Sources: []onhost.TimeSource{}}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(key) {
		case "Reference ID":
			if _, name, ok := strings.Cut(value, "("); ok {
				c.Reference = strings.TrimSuffix(name, ")")
			}
		case "Stratum":
			c.Stratum, _ = strconv.Atoi(value)
		case "System time":
			seconds, _, _ := strings.Cut(value, " ")
			offset, err := strconv.ParseFloat(seconds, 64)
			if err != nil {
				return c, fmt.Errorf("%.80q is not a time", value)
			}
			c.Offset = math.Abs(offset)
		case "Leap status":
			c.Leap = value
		}
	}
	if c.Leap == "" {
		return c, fmt.Errorf("chronyc printed %.80q", strings.TrimSpace(text))
	}
	c.Synchronised = c.Leap != "Not synchronised"
	return c, nil
}

// parseSources reads `chronyc sources`: a table of one server a line, which begins with
// its mode and state; the fifth column says in octal which of the last eight questions
// were answered (chrony: client.c process_cmd_sources).
func parseSources(text string) ([]onhost.TimeSource, error) {
	list, table := []onhost.TimeSource{}, false
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "MS Name/IP"), strings.Contains(line, "Number of sources"):
			table = true
		case len(f) < 5 || len(f[0]) != 2 || !strings.Contains("^=#", f[0][:1]):
		default:
			reach, err := strconv.ParseInt(f[4], 8, 32)
			if err != nil {
				return nil, fmt.Errorf("%.80q is not a line of chronyc", strings.TrimSpace(line))
			}
			list = append(list, onhost.TimeSource{Name: f[1], State: f[0][1:], Reach: int(reach)})
		}
	}
	if !table {
		return nil, errors.New("chronyc printed no table of sources")
	}
	return list, nil
}
