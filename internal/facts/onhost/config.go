package onhost

import (
	"context"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/fault"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// Config is the fact host-config-files.
type Config struct {
	Open         bool      `cel:"open"`      // the first boot's unit still has its input
	OpenSince    time.Time `cel:"openSince"` // when Ignition wrote it
	Finished     bool      `cel:"finished"`  // the first boot's unit put its input aside
	Served       string    `cel:"served"`    // the config that the machine config server gave
	Current      string    `cel:"current"`   // the config that the daemon applied last
	FirstRun     bool      `cel:"firstRun"`  // the daemon's first run has not finished
	Damaged      string    `cel:"damaged"`   // what of these files cannot be read as what it is
	Staged       bool      `cel:"staged"`    // a deployment waits for the next boot
	StagedSince  time.Time `cel:"stagedSince"`
	Booted       string    `cel:"booted"` // image of the booted deployment
	Wanted       string    `cel:"wanted"` // image of the applied config
	BootedOther  bool      `cel:"bootedOther"`
	CurrentSince time.Time `cel:"currentSince"`
}

var configFact = facts.DefinePlain("host-config-files", fault.Host, "what Ignition and the machine-config-daemon left on the machine's disk, and the image that it booted",
	needs(evidence.HostConfigs), readConfig)

func readConfig(ctx context.Context, w *facts.World, s fault.Subject) (Config, facts.Proof, error) {
	var f Config
	var p facts.Proof
	c, loc, err := look[onhost.Config](ctx, w, evidence.HostConfigs, s)
	if err != nil {
		return f, p, err
	}
	file := func(x onhost.File, fields ...string) bool {
		switch {
		case x.Error != "":
			unread(&p, evidence.HostConfigs, x.Path, x.Error, fields...)
		case x.Exists:
			p.Add(at(loc, x.Path), "the file is there, written "+stamp(x.Modified), x.Modified, fields...)
		default:
			p.Add(at(loc, x.Path), "there is no such file", time.Time{}, fields...)
		}
		return x.Error == "" && x.Exists
	}
	f.Open, f.OpenSince = file(c.Encapsulated, "open", "openSince"), c.Encapsulated.Modified
	f.Finished = file(c.EncapsulatedBak, "finished")
	f.FirstRun = file(c.Annotations, "firstRun")
	f.Staged, f.StagedSince = file(c.Staged, "staged", "stagedSince"), c.Staged.Modified
	f.configs(&c, loc, &p)
	return f, p, nil
}

func (f *Config) configs(c *onhost.Config, loc evidence.Locator, p *facts.Proof) {
	f.Served, f.Current, f.CurrentSince = c.Served.Name, c.Current.Name, c.Current.Modified
	for _, m := range []onhost.MachineConfig{c.Served, c.Current} {
		if m.Error != "" {
			unread(p, evidence.HostConfigs, m.Path, m.Error, "served", "current", "damaged", "wanted", "bootedOther")
		}
		if m.Problem != "" && f.Damaged == "" {
			f.Damaged = m.Path + ": " + m.Problem
			p.Add(at(loc, m.Path), m.Problem, m.Modified, "damaged")
		}
		if m.Name != "" {
			p.Add(at(loc, m.Path), "MachineConfig "+m.Name, m.Modified, "served", "current", "currentSince")
		}
	}
	f.Booted, f.Wanted = c.Booted, c.Current.OSImageURL
	if c.CurrentImage != "" {
		f.Wanted = c.CurrentImage
	}
	if c.Booted == "" {
		for _, field := range []string{"booted", "bootedOther"} {
			p.Miss(field, &evidence.Unavailable{Need: evidence.Objects(evidence.HostConfigs, ""), Why: evidence.NotCollected, Detail: c.BootedProblem})
		}
		return
	}
	f.BootedOther = f.Wanted != "" && digest(f.Wanted) != digest(f.Booted)
	p.Add(at(loc, c.BootedFrom), "booted "+c.Booted+"; applied "+f.Wanted, time.Time{}, "booted", "wanted", "bootedOther")
}

// digest is what tells images apart: mirrors give one image several names.
func digest(image string) string {
	if _, sum, ok := strings.Cut(image, "@"); ok {
		return sum
	}
	return image
}
