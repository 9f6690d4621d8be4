package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/suggest"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
	"github.com/rollcall-project/rollcall/internal/source/console"
	"github.com/rollcall-project/rollcall/internal/source/namedhost"
	"github.com/rollcall-project/rollcall/internal/source/paste"
)

// addNamed adds what the user says of hosts behind the other sources: the texts of
// --console, and the names of --console and --expect.
func (ses *Session) addNamed(list []evidence.Source) ([]evidence.Source, error) {
	hosts, err := ses.expectedHosts()
	if err != nil {
		return nil, err
	}
	specs := slices.Clone(ses.Screens)
	for _, spec := range specs {
		hosts = append(hosts, namedhost.Host{Name: spec.Host, By: namedhost.Console, Console: true})
	}
	for _, value := range ses.Consoles {
		spec, err := console.Parse(value)
		if err != nil {
			return nil, &UsageError{err}
		}
		if spec.Text, err = screenText(spec.File); err != nil {
			return nil, fmt.Errorf("--console %s: %w", spec.Host, err)
		}
		specs = append(specs, spec)
		h := namedhost.Host{Name: spec.Host, By: namedhost.Console, Console: true}
		if namedhost.IsBootstrap(spec.Host) {
			h.Role = namedhost.Bootstrap
		}
		hosts = append(hosts, h)
	}
	if len(specs) > 0 {
		s, err := console.Open(specs...)
		if err != nil {
			return nil, err
		}
		if len(list) == 0 {
			s.Alone(ses.Clock())
		}
		list = append(list, s)
	}
	if len(hosts) > 0 {
		list = append(list, namedhost.New(hosts...))
	}
	return list, nil
}

// screenText returns what a short file of a console holds as text, nil where the source of consoles
// reads the file itself.
func screenText(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > paste.MaxBytes {
		return nil, nil // whoever reads it says what is wrong
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, nil
	}
	return textIn(raw, path)
}

// keepScreens remembers the texts of consoles, in which messages are sought as in any other text.
func (r *Run) keepScreens(ses *Session) error {
	specs := slices.Clone(ses.Screens)
	for _, value := range ses.Consoles {
		spec, err := console.Parse(value)
		if err != nil {
			return &UsageError{err}
		}
		if spec.Text, err = screenText(spec.File); err != nil {
			return fmt.Errorf("--console %s: %w", spec.Host, err)
		}
		specs = append(specs, spec)
	}
	for _, spec := range specs {
		if len(spec.Text) > 0 {
			text := console.Plain(spec.Text)
			r.Screens = append(r.Screens, Screen{Host: spec.Host, Text: paste.Read("console:"+spec.Host+"/"+filepath.Base(spec.File), text, ses.Clock())})
		}
	}
	return nil
}

// expectedHosts reads the values of --expect, as `csr approve` and `fix plan` read theirs.
func (ses *Session) expectedHosts() ([]namedhost.Host, error) {
	named, err := Expectations(ses.Expect)
	if err != nil {
		return nil, err
	}
	var list []namedhost.Host
	for _, e := range named {
		list = append(list, namedhost.Host{Name: e.Name, Addresses: e.IPs, By: namedhost.Expect})
	}
	return list, nil
}

// checkConsoles refuses a console of a host that nothing else names: a typing error would
// leave out what the screen shows, or put a host on the list that does not exist. Where
// the list of hosts may not be whole it warns, and takes the name. Where consoles are all
// there is, any name is taken; so it is for a hosted cluster: a NodePool of platform None has
// no object of its hosts.
func (r *Run) checkConsoles(ctx context.Context, now time.Time) error {
	ses := r.Session
	if len(ses.Consoles) == 0 {
		return nil
	}
	hosted, err := r.Reader.Hosted(ctx)
	if err != nil || hosted != nil {
		return err
	}
	roll, err := inventory.Read(ctx, facts.NewWorld(r.Reader, now))
	if _, unavailable := evidence.AsUnavailable(err); unavailable {
		return nil
	}
	if err != nil {
		return err
	}
	known, names := knownHosts(roll)
	if len(known) == 0 {
		return nil
	}
	whole := len(roll.Missing) == 0 && len(roll.Gaps) == 0
	var expected []string
	for _, value := range ses.Expect {
		name, _, _ := strings.Cut(value, "=")
		expected = append(expected, name)
	}
	for _, value := range ses.Consoles {
		spec, err := console.Parse(value)
		if err != nil {
			return &UsageError{err}
		}
		if slices.ContainsFunc(append(names, expected...), func(n string) bool { return sameHost(n, spec.Host) }) {
			continue
		}
		if !whole {
			ses.Warn("--console: no object names host %q%s; it is taken as one that is expected, as the list of hosts may not be whole. Known hosts are %s",
				spec.Host, suggest.DidYouMean(spec.Host, known), suggest.Few(known))
			continue
		}
		return Usagef("--console %q: no host %q is known%s; known hosts are %s. Use the name of its Node, Machine or BareMetalHost; "+
			"for a host that the cluster has no object of yet, add --expect %s", value, spec.Host, suggest.DidYouMean(spec.Host, known),
			suggest.Few(known), shellcommand.Quote(spec.Host))
	}
	return nil
}

// knownHosts are the hosts that something else than a console names, and all names
// under which they are known.
func knownHosts(roll *inventory.Inventory) (known, names []string) {
	for _, h := range roll.Hosts {
		if h.Node == nil && h.Machine == nil && h.BMH == nil && h.Assisted == nil && h.Planned == nil &&
			h.Hosted == nil && h.Provider == nil && h.Agent == nil && h.OnHost == "" && len(h.Claims) == 0 {
			continue
		}
		known = append(known, h.Name)
		names = append(append(names, h.Name), h.Aliases...)
	}
	return known, names
}

// sameHost reports whether two names are of one host: a host may be called by the first
// label of its name.
func sameHost(a, b string) bool {
	a, b = strings.TrimSuffix(strings.ToLower(a), "."), strings.TrimSuffix(strings.ToLower(b), ".")
	short := func(long, short string) bool {
		label, _, more := strings.Cut(long, ".")
		return more && label == short
	}
	return a == b || short(a, b) || short(b, a)
}

func Expectations(texts []string) ([]csr.Expectation, error) {
	var list []csr.Expectation
	for _, t := range texts {
		e, err := csr.ParseExpect(t)
		if err != nil {
			return nil, &UsageError{err}
		}
		list = append(list, e)
	}
	return list, nil
}
