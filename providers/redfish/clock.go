package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/statedir"
)

// The clock of a BMC is set in two steps that a person reads in between: a plan, which changes
// nothing, and apply. Undo gives the clock the difference that it had.

const clockUsage = `Sets the clock of the BMC of one server, over Redfish.

  clock plan --hosts FILE --host NAME [--to PLAN]   look, and write a plan; nothing is changed
  clock apply PLAN                                  set the clock as planned
  clock undo ID                                     give it the difference back that it had

FILE is that of the provider: {"NAME": {"bmc": "https://ADDRESS/redfish/v1/Systems/ID",
"uuid": UUID of the system, "credentials": FILE of mode 0600, "ca": FILE}}.

This is not the clock of the server: a host whose Ignition refuses certificates because of its
time needs its hardware clock set in the firmware setup (UTC).
`

// Limits of a plan.
const (
	clockVersion = "rollcall.dev/bmc-clock/v1alpha1"
	planValid    = time.Hour
	// nearEnough is what a BMC may be off and need no setting: ironic compares by one second
	// (openstack/ironic:ironic/drivers/modules/redfish/management.py verify_bmc_clock), and
	// BMCs write whole seconds.
	nearEnough = 2 * time.Second
	// drift is by how much a difference may change and still be the one of the plan.
	drift = 5 * time.Second
)

// clockPlan is what is to be done, for a person to read.
type clockPlan struct {
	APIVersion string      `json:"apiVersion"`
	Kind       string      `json:"kind"`
	ID         string      `json:"id"`
	Made       time.Time   `json:"made"`
	Hosts      string      `json:"hosts"` // file with the server's entry
	Host       string      `json:"host"`  // its entry
	BMC        string      `json:"bmc"`
	UUID       string      `json:"uuid"`    // of the system
	Manager    string      `json:"manager"` // path of the resource that is changed
	Before     clockBefore `json:"before"`  // backup: undo writes this difference again
	ThisClock  string      `json:"thisClock"`
	Steps      []string    `json:"steps"` // words only
	Notes      []string    `json:"notes"` // words only
}

// clockBefore is what the clock was.
type clockBefore struct {
	DateTime string  `json:"dateTime"`    // as the BMC wrote it
	Offset   string  `json:"localOffset"` // the same
	OffBy    float64 `json:"offBySeconds"`
	NTP      string  `json:"ntp"` // on, off, not shown
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func (b clockBefore) offBy() time.Duration { return seconds(b.OffBy) }

// clocks is a run of one of the three commands.
type clocks struct {
	out       io.Writer
	state     string
	now       func() time.Time
	thisClock func() string // synchronized, not synchronized, not known
	trust     bool          // this machine's clock, although it is not known to be right
	// at, where set, is called around each write; tests end the process there.
	at func(point string)
	// full, where set, is asked before each record of the journal.
	full func() error
}

// runClock is the program with the word clock.
func runClock(ctx context.Context, args []string, out io.Writer, env func(string) string) error {
	c := &clocks{out: out, now: time.Now, thisClock: thisClock}
	flags := flag.NewFlagSet("clock", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	var hosts, host, to, state string
	flags.StringVar(&hosts, "hosts", "", "")
	flags.StringVar(&host, "host", "", "")
	flags.StringVar(&to, "to", "", "")
	flags.StringVar(&state, "state-dir", "", "")
	flags.BoolVar(&c.trust, "trust-this-clock", false, "")
	words, err := parsed(flags, args)
	if errors.Is(err, flag.ErrHelp) || len(words) == 0 && err == nil {
		fmt.Fprint(out, clockUsage)
		return nil
	}
	if err != nil {
		return err
	}
	if c.state, err = statedir.Path(state, env); err != nil {
		return err
	}
	switch verb := words[0]; {
	case verb == "plan" && len(words) == 1 && hosts != "" && host != "":
		return c.plan(ctx, hosts, host, to)
	case verb == "apply" && len(words) == 2:
		return c.apply(ctx, words[1])
	case verb == "undo" && len(words) == 2:
		return c.undo(ctx, words[1])
	}
	return fmt.Errorf("clock %s: want plan --hosts FILE --host NAME, apply PLAN, or undo ID", strings.Join(words, " "))
}

// parsed lets flags stand before and after the words.
func parsed(flags *flag.FlagSet, args []string) (words []string, err error) {
	for {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		if flags.NArg() == 0 {
			return words, nil
		}
		words, args = append(words, flags.Arg(0)), flags.Args()[1:]
	}
}

// serverOf is the entry of one host, named exactly.
func serverOf(path, host string) (server, error) {
	var hosts map[string]server
	raw, err := readFile(path)
	if err == nil {
		err = json.Unmarshal(raw, &hosts)
	}
	if err != nil {
		return server{}, fmt.Errorf("read --hosts %s: %w", path, err)
	}
	s, ok := hosts[host]
	if !ok {
		return s, fmt.Errorf("%s has no entry %.100q: name the host exactly", path, host)
	}
	return s, s.check(host)
}

func (c *clocks) plan(ctx context.Context, hosts, host, to string) error {
	hosts, err := filepath.Abs(hosts)
	if err != nil {
		return err
	}
	s, err := serverOf(hosts, host)
	if err != nil {
		return err
	}
	m, err := openClock(ctx, s)
	if err != nil {
		return err
	}
	defer m.Close()
	r, err := m.look(c.now)
	if err != nil {
		return err
	}
	p := clockPlan{
		APIVersion: clockVersion, Kind: "BMCClockPlan", ID: "bmc-clock-" + c.now().UTC().Format("20060102-150405"), Made: c.now().UTC().Truncate(time.Second),
		Hosts: hosts, Host: host, BMC: s.BMC, UUID: s.UUID, Manager: m.path, ThisClock: c.thisClock(),
		Before: clockBefore{DateTime: r.text, Offset: r.offset, OffBy: math.Round(r.offBy.Seconds()*10) / 10, NTP: r.ntp},
	}
	if err := c.allowed(r); err != nil {
		return err
	}
	if near(r.offBy, 0, r.doubt) {
		return fmt.Errorf("the clock of BMC %s is %s: there is nothing to set", host, words(r.offBy))
	}
	p.describe()
	if to == "" {
		to = p.ID + ".json"
	}
	raw, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("save the plan: %w", err)
	}
	_, err = f.Write(append(raw, '\n'))
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("save the plan: %w", err)
	}
	for _, line := range append(p.Steps, p.Notes...) {
		fmt.Fprintln(c.out, line)
	}
	fmt.Fprintf(c.out, "saved as %s; valid until %s\napply it: rollcall-provider-redfish clock apply %s\n", to, p.Made.Add(planValid).Format(time.RFC3339), to)
	return nil
}

// describe writes the words of a plan.
func (p *clockPlan) describe() {
	p.Steps = []string{
		fmt.Sprintf("BMC of %s (%s): its clock shows %s, which is %s", p.Host, p.BMC, p.Before.DateTime, words(p.Before.offBy())),
		fmt.Sprintf("step: PATCH %s {\"DateTime\": the time of this machine}", p.Manager),
		"risk: reversible; the server is not touched and stays as it is",
		fmt.Sprintf("backup: the difference of %s and the offset %q are in this plan and in the journal", p.Before.offBy().Round(time.Second), p.Before.Offset),
		fmt.Sprintf("verify: the clock is read again until it is less than %s off, for 30s; else the old difference is written back", nearEnough),
		"undo: rollcall-provider-redfish clock undo " + p.ID + ", as long as nobody else has set the clock",
		"clock of this machine: " + p.ThisClock,
		"NTP on the BMC: " + p.Before.NTP,
	}
	p.Notes = []string{
		"note: a clock that is wrong again after a power loss needs NTP on the BMC, or a battery",
		"note: this is not the clock of the server. At a first boot Ignition judges certificates by the server's hardware clock, " +
			"before any time server is asked; set that one in the firmware setup, in UTC, or start the server's own time service first",
	}
}

// allowed refuses what would not last, or would be set by a wrong clock.
func (c *clocks) allowed(r clockReading) error {
	if r.ntp == "on" {
		return fmt.Errorf("the BMC takes its time from time servers (NTP is on) and would not keep another: correct the "+
			"servers there (%s)", strings.Join(r.servers, ", "))
	}
	if is := c.thisClock(); is != "synchronized" && !c.trust {
		return fmt.Errorf("the clock of this machine is %s: compare it with another one, then name --trust-this-clock", is)
	}
	return nil
}

// near reports whether two differences are the same, as far as the reading shows.
func near(a, b, doubt time.Duration) bool { return (a - b).Abs() <= nearEnough+doubt }

// words is a difference as people say it.
func words(off time.Duration) string {
	switch off = off.Round(time.Second); {
	case off > 0:
		return off.String() + " ahead of this machine"
	case off < 0:
		return (-off).String() + " behind this machine"
	}
	return "that of this machine"
}

var clockID = regexp.MustCompile(`^bmc-clock-[0-9]{8}-[0-9]{6}$`)

// readPlan takes a plan as plan wrote it.
func readPlan(path string) (p clockPlan, err error) {
	raw, err := readFile(path)
	if err != nil {
		return p, fmt.Errorf("read the plan: %w", err)
	}
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return p, fmt.Errorf("read the plan %s: %w", path, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return p, fmt.Errorf("read the plan %s: something follows it", path)
	}
	again := p
	again.describe()
	switch {
	case p.APIVersion != clockVersion || p.Kind != "BMCClockPlan" || !clockID.MatchString(p.ID):
		return p, fmt.Errorf("%s is no plan for the clock of a BMC", path)
	case strings.Join(again.Steps, "\n")+strings.Join(again.Notes, "\n") != strings.Join(p.Steps, "\n")+strings.Join(p.Notes, "\n"):
		return p, fmt.Errorf("%s: its words are not those of what it would do; make a new plan", path)
	}
	return p, nil
}
