// Package console reads what a person saw on a host's console: a capture of
// Serial-over-LAN, of a virtual machine's serial port, a hypervisor's log, or
// lines typed off a screen. It is an evidence.Source for --console HOST=FILE.
//
// Invariants:
//   - The bytes are foreign. Escape sequences and control characters never reach
//     the output, and their state is bounded.
//   - A line is what was in one line of the screen: a carriage return or a move
//     of the cursor begins a new one. In a capture without those, a locator's line
//     is the file's line.
package console

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/journal"
	"github.com/rollcall-project/rollcall/internal/source/infile"
)

// Spec is one value of --console.
type Spec struct {
	Host string // as the host calls itself, or as the cluster calls it
	File string
	Text []byte // not nil: what the file would hold; nothing is read from the disk
}

// Parse reads a HOST=FILE. The host ends at the first equals sign.
func Parse(value string) (Spec, error) {
	host, file, ok := strings.Cut(value, "=")
	bad := func(what string) (Spec, error) {
		return Spec{}, fmt.Errorf("--console %q: %s; expected HOST=FILE, such as control2=sol.log", value, what)
	}
	switch {
	case !ok:
		return bad("there is no =")
	case host == "":
		return bad("the host is missing")
	case file == "":
		return bad("the file is missing")
	case len(host) > maxHost:
		return bad(fmt.Sprintf("a host name has at most %d characters", maxHost))
	case strings.ContainsFunc(host, func(r rune) bool { return r == '/' || unicode.IsSpace(r) || !unicode.IsPrint(r) }):
		return bad("the host's name has a character that no host name has")
	}
	return Spec{Host: host, File: file}, nil
}

// maxHost is the longest DNS name (RFC 1035, 2.3.4).
const maxHost = 253

// Source is one or more consoles.
type Source struct {
	specs []text
	clock time.Time // of whoever reads, where the consoles are all there is
	once  sync.Once
	now   time.Time
	dated bool // a line gives now
}

var _ evidence.Source = (*Source)(nil)

// Open checks that the files can be read.
func Open(specs ...Spec) (*Source, error) {
	var texts []text
	for _, s := range specs {
		f, err := s.check()
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("--console %s=%s: there is no such file for the console of %s", s.Host, s.File, s.Host)
			}
			return nil, fmt.Errorf("open the console of %s: %w", s.Host, err)
		}
		head := make([]byte, maxHead)
		n, err := io.ReadFull(clean(f), head)
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			err = nil
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, fmt.Errorf("open the console of %s: %w", s.Host, err)
		}
		texts = append(texts, text{s, journal.IsPrinted(bytes.TrimLeft(head[:n], "\n"))})
	}
	slices.SortStableFunc(texts, func(a, b text) int { return strings.Compare(path(a.Spec), path(b.Spec)) })
	return &Source{specs: texts}, nil
}

// check opens what is to be read once, so that a mistake shows at once.
func (s Spec) check() (io.ReadCloser, error) {
	if s.Text != nil {
		return s.raw()
	}
	info, err := os.Stat(s.File)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory; an archive goes with --from", s.File)
	case info.Size() == 0 && info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is empty", s.File)
	}
	return s.raw()
}

// raw opens the bytes.
func (s Spec) raw() (io.ReadCloser, error) {
	if s.Text != nil {
		return io.NopCloser(bytes.NewReader(s.Text)), nil
	}
	return infile.Regular(s.File)
}

// maxHead is how much of a file tells what wrote it.
const maxHead = 4096

// text is a console, and whether it is what journalctl printed on the host.
type text struct {
	Spec
	journal bool
}

// Alone says that nothing else is read, and what time it is. "Now" is then the newest
// time that a line begins with, and without one the clock: beside a cluster or an archive
// a console gives none.
func (s *Source) Alone(clock time.Time) { s.clock = clock }

// Describe implements evidence.Source.
func (s *Source) Describe(context.Context) (evidence.Description, error) {
	var hosts []string
	for _, spec := range s.specs {
		if !slices.Contains(hosts, spec.Host) {
			hosts = append(hosts, spec.Host)
		}
	}
	d := evidence.Description{Kind: "console", Name: "console:" + strings.Join(hosts, ",")}
	if s.clock.IsZero() {
		return d, nil
	}
	s.once.Do(s.newest)
	if d.Now = s.now; !s.dated {
		d.Notes = []evidence.Coverage{{Need: "time of the screens", State: evidence.Partial,
			Reason: "their lines carry no date; the clock of this computer is taken for the present", Supply: evidence.Supply{Kind: evidence.SupplyNow}}}
	}
	return d, nil
}

const (
	maxStamp = 40       // bytes of a line in which its time is
	maxDated = 64 << 20 // bytes of a file that are searched for the newest time
)

// newest finds the newest time that a line begins with and that is not ahead of the
// clock. A file that cannot be read says so where its text is read.
func (s *Source) newest() {
	s.now = s.clock
	var newest time.Time
	for _, spec := range s.specs {
		in, err := open(spec.Spec)
		if err != nil {
			continue
		}
		lines := bufio.NewScanner(io.LimitReader(in, maxDated))
		lines.Buffer(nil, maxLine+utf8.UTFMax+1)
		for lines.Scan() {
			line := lines.Text()
			t, ok := evidence.LineTime(line[:min(len(line), maxStamp)], s.clock)
			if ok && t.After(newest) && !t.After(s.clock.Add(24*time.Hour)) {
				newest = t
			}
		}
		_ = in.Close()
	}
	if !newest.IsZero() {
		s.now, s.dated = newest, true
	}
}

// List implements evidence.Source: a console holds no objects.
func (s *Source) List(_ context.Context, r evidence.Resource, namespace string) ([]evidence.Object, error) {
	return nil, &evidence.Unavailable{Need: evidence.Objects(r, namespace), Why: evidence.NotCollected, Detail: "a console holds no objects",
		Supply: evidence.Supply{Kind: evidence.SupplyArchiveOrAPI}}
}

// Texts implements evidence.Source.
func (s *Source) Texts(_ context.Context, q evidence.TextQuery) ([]evidence.Text, error) {
	var texts []evidence.Text
	for _, spec := range s.specs {
		if q.Host != "" && q.Host != spec.Host || q.Namespace != "" || q.Container != "" {
			continue
		}
		t := evidence.Text{Host: spec.Host, Path: path(spec.Spec)}
		if (q.Kind == "" || q.Kind == evidence.Console) && q.Unit == "" {
			t.Kind = evidence.Console
			t.Open = func(context.Context) (io.ReadCloser, error) { return open(spec.Spec) }
			texts = append(texts, t)
		}
		if spec.journal && q.Kind == evidence.Journal {
			t.Kind, t.Unit = evidence.Journal, q.Unit
			t.Open = func(context.Context) (io.ReadCloser, error) { return openUnit(spec.Spec, q.Unit) }
			texts = append(texts, t)
		}
	}
	if len(texts) > 0 {
		return texts, nil
	}
	u := &evidence.Unavailable{Need: evidence.Texts(q), Why: evidence.NotCollected, Detail: "a console has no such lines"}
	if q.Kind == evidence.Console {
		u.Detail = "no such console was given"
		u.Supply = evidence.Supply{Kind: evidence.SupplyConsole, Host: q.Host}
	}
	return nil, u
}

// path is the base of the lines' locators.
func path(s Spec) string { return "console:" + s.Host + "/" + filepath.Base(s.File) }

func open(s Spec) (io.ReadCloser, error) {
	f, err := s.raw()
	if err != nil {
		var p *os.PathError // the path is in the text's name
		if errors.As(err, &p) {
			err = p.Err
		}
		return nil, err
	}
	return readCloser{clean(f), f}, nil
}

// openUnit opens a journal of all units as the lines of one.
func openUnit(s Spec, unit string) (io.ReadCloser, error) {
	in, err := open(s)
	if err != nil || unit == "" {
		return in, err
	}
	return readCloser{journal.UnitLines(in, unit), in}, nil
}

type readCloser struct {
	io.Reader
	io.Closer
}
