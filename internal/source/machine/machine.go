package machine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/journal"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// Options say which machine is read and how.
type Options struct {
	Root    string        // its root directory; "" is "/"
	Name    string        // what the machine is called; "": what it says itself
	Since   time.Duration // how far back journals are read; 0 is 48 hours
	Network bool          // resolve names: the only thing that leaves the machine
	Now     func() time.Time
	Runner  Runner // nil: the machine's own programs
}

// Source is one machine. It is safe for concurrent use.
type Source struct {
	opts  Options
	tree  *tree
	live  bool // the root directory is that of the running machine
	name  string
	id    onhost.Identity
	parts map[evidence.Resource]func(context.Context) (part, error)

	mu   sync.Mutex
	kept map[evidence.Resource]kept
}

// part is one part of a machine and what a person looks at to see it again.
type part struct {
	value any
	where string
}

type kept struct {
	object evidence.Object
	err    error
}

var _ evidence.Source = (*Source)(nil)

// marks are what shows that a directory is the root of an OpenShift machine.
var marks = []string{"/etc/kubernetes", "/etc/machine-config-daemon", "/var/lib/kubelet", encapsulated, served}

// ErrNoMachine says that a directory is no root of an OpenShift machine.
var ErrNoMachine = errors.New("it is not a root directory of an OpenShift machine: none of " + strings.Join(marks, ", ") + " is there")

// Open opens a machine. It reads who the machine is and nothing else yet. Close
// releases it.
func Open(o Options) (*Source, error) {
	o.Root, o.Since = cmp.Or(o.Root, "/"), cmp.Or(o.Since, 48*time.Hour)
	if o.Now == nil {
		o.Now = time.Now
	}
	root, err := os.OpenRoot(o.Root)
	if err != nil {
		return nil, fmt.Errorf("open the root directory %s: %w", o.Root, err)
	}
	s := &Source{opts: o, tree: &tree{root, o.Root}, kept: map[evidence.Resource]kept{}}
	if !s.isMachine() {
		return nil, errors.Join(fmt.Errorf("read %s: %w", o.Root, ErrNoMachine), root.Close())
	}
	s.live = s.running()
	if s.opts.Runner == nil {
		s.opts.Runner = inside{filepath.Clean(o.Root)}
	}
	s.id = s.identity()
	if s.name = s.chooseName(); s.name == "" {
		return nil, errors.Join(fmt.Errorf("read %s: nothing in it has the name of the machine; give it with --name NAME", o.Root), root.Close())
	}
	s.parts = map[evidence.Resource]func(context.Context) (part, error){
		evidence.HostIdentities: func(context.Context) (part, error) { return part{s.id, "/var/lib/kubelet"}, nil },
		evidence.HostConfigs:    s.config, evidence.HostUnits: s.units, evidence.HostClocks: s.clock,
		evidence.HostResolutions: s.resolutions, evidence.HostContainers: s.containers, evidence.HostDisks: s.disks,
	}
	return s, nil
}

// Close releases what the machine holds open.
func (s *Source) Close() error { return s.tree.root.Close() }

func (s *Source) isMachine() bool {
	for _, m := range marks {
		if f := s.tree.stat(m); f.Exists || f.Error != "" {
			return true
		}
	}
	return false
}

// bootID is the kernel's, new at every boot.
const bootID = "/proc/sys/kernel/random/boot_id"

// running reports whether the tree is the root directory of the machine that this
// process runs on: its /proc is that of the same boot.
func (s *Source) running() bool {
	if filepath.Clean(s.opts.Root) == "/" {
		return true
	}
	here, err := os.ReadFile(bootID)
	return err == nil && len(here) > 0 && s.tree.text(bootID) == strings.TrimSpace(string(here))
}

// Name is what the machine is called in the answer.
func (s *Source) Name() string { return s.name }

// Live reports whether it is the running machine, and not a copy of its files.
func (s *Source) Live() bool { return s.live }

// Describe implements evidence.Source. The now of a running machine is its clock,
// that of a copy the newest time among the files that are read.
func (s *Source) Describe(context.Context) (evidence.Description, error) {
	d := evidence.Description{Kind: "host", Name: s.name, Now: s.now()}
	if s.live {
		d.Vantage = s.name
	} else {
		d.Notes = []evidence.Coverage{{
			Need: "what runs on " + s.name, State: evidence.Missing, Supply: evidence.Supply{Kind: evidence.SupplyOnHost, Host: s.name},
			Reason: s.opts.Root + " is a copy of files and not a running machine: units, containers, clock, names and disks are not in it",
		}}
		if why := s.id.Client.NotCopied; why != "" {
			d.Notes = append(d.Notes, evidence.Coverage{Need: "the kubelet's client certificate", State: evidence.Missing, Reason: clientPair + ": " + why,
				Supply: evidence.Supply{Kind: evidence.SupplyHostCopy, Host: s.name, Path: path.Dir(clientPair)}})
		}
	}
	return d, nil
}

func (s *Source) now() time.Time {
	if s.live {
		return s.opts.Now().UTC()
	}
	return s.tree.newest(kubeconfig, bootstrapKubeconfig, clientPair, servingPair, currentConfig, encapsulated, encapsulatedBak,
		annotations, annotationsBak, served, "/etc/resolv.conf", "/var/log/audit/audit.log", "/var/log/lastlog")
}

// notHere is said of what a machine cannot tell: objects of the API, screens, other
// machines' journals.
const notHere = "the machine itself does not have it"

// List implements evidence.Source.
func (s *Source) List(ctx context.Context, r evidence.Resource, namespace string) ([]evidence.Object, error) {
	read, ok := s.parts[r]
	if !ok {
		return nil, &evidence.Unavailable{Need: evidence.Objects(r, namespace), Why: evidence.NotCollected,
			Detail: notHere, Supply: evidence.Supply{Kind: evidence.SupplyMustGather}}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.kept[r]
	if !ok {
		k = s.read(ctx, r, read)
		if cause := ctx.Err(); cause != nil {
			return nil, fmt.Errorf("read %s: %w", r.Name, cause)
		}
		s.kept[r] = k
	}
	if k.err != nil {
		return nil, k.err
	}
	return []evidence.Object{k.object}, nil
}

func (s *Source) read(ctx context.Context, r evidence.Resource, read func(context.Context) (part, error)) kept {
	p, err := read(ctx)
	if err != nil {
		return kept{err: err}
	}
	o, err := onhost.Object(r, s.name, p.where, s.now(), p.value)
	return kept{o, err}
}

// copied is the answer to a question that only a running machine can answer.
func (s *Source) copied(r evidence.Resource) error {
	return &evidence.Unavailable{Need: evidence.Objects(r, ""), Why: evidence.NotCollected,
		Detail: s.opts.Root + " is a copy of files and not a running machine", Supply: evidence.Supply{Kind: evidence.SupplyOnHost, Host: s.name}}
}

// Texts implements evidence.Source for journals.
func (s *Source) Texts(_ context.Context, q evidence.TextQuery) ([]evidence.Text, error) {
	need := evidence.Texts(q)
	if q.Kind != "" && q.Kind != evidence.Journal || q.Host != "" && !strings.EqualFold(q.Host, s.name) {
		return nil, &evidence.Unavailable{Need: need, Why: evidence.NotCollected, Detail: notHere, Supply: evidence.Supply{Kind: evidence.SupplyMustGather}}
	}
	args := []string{"--no-pager", "--output=export", fmt.Sprintf("--since=@%d", s.now().Add(-s.opts.Since).Unix())}
	where := "journalctl"
	if !s.live {
		const dir = "/var/log/journal"
		at, err := s.tree.journal(dir)
		if err != nil {
			return nil, &evidence.Unavailable{
				Need:   need,
				Why:    evidence.NotCollected,
				Detail: s.opts.Root + " has no " + dir + " that can be read: " + plain(err),
				Supply: evidence.Supply{Kind: evidence.SupplyOnHost, Host: s.name},
			}
		}
		args = append(args, "--directory="+at)
	}
	if q.Unit != "" {
		args = append(args, "--unit="+q.Unit+".service")
		where += " -u " + q.Unit
	}
	return []evidence.Text{{
		Kind: evidence.Journal, Host: s.name, Unit: q.Unit, Path: where, Source: evidence.HostSource + s.name,
		Open: func(ctx context.Context) (io.ReadCloser, error) { return s.openJournal(ctx, args, q.Unit) },
	}}, nil
}

func (s *Source) openJournal(ctx context.Context, args []string, unit string) (io.ReadCloser, error) {
	ctx, cancel := context.WithTimeout(ctx, journalTime)
	runner := s.opts.Runner
	if r, ok := runner.(inside); ok && !s.live {
		runner, _ = inside{"/"}, r // journals of a copy are read with the program of this machine
	}
	out, err := runner.Start(ctx, journalctl, args...)
	if err != nil {
		cancel()
		return nil, unavailable(evidence.Texts(evidence.TextQuery{Kind: evidence.Journal, Unit: unit}), journalctl, err)
	}
	return &runningJournal{journal.ExportLines(out, unit), out, cancel}, nil
}

// runningJournal is a running journalctl whose entries are lines.
type runningJournal struct {
	io.Reader
	out    io.Closer
	cancel context.CancelFunc
}

func (j *runningJournal) Close() error {
	defer j.cancel()
	return j.out.Close()
}
