package onhost

import (
	"context"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/excerpt"
	"github.com/rollcall-project/rollcall/internal/facts/obfuscation"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// config is the fact host-config-files.
type config struct {
	Open         facts.Field[bool]      `cel:"open"`      // the first boot's unit still has its input
	OpenSince    facts.Field[time.Time] `cel:"openSince"` // when Ignition wrote it
	Finished     facts.Field[bool]      `cel:"finished"`  // the first boot's unit put its input aside
	Served       facts.Field[string]    `cel:"served"`    // the config that the machine config server gave
	Current      facts.Field[string]    `cel:"current"`   // the config that the daemon applied last
	FirstRun     facts.Field[bool]      `cel:"firstRun"`  // the daemon's first run has not finished
	Damaged      facts.Field[string]    `cel:"damaged"`   // what of these files cannot be read as what it is
	Staged       facts.Field[bool]      `cel:"staged"`    // a deployment waits for the next boot
	StagedSince  facts.Field[time.Time] `cel:"stagedSince"`
	Wanted       facts.Field[string]    `cel:"wanted"` // image of the applied config
	BootedOther  facts.Field[bool]      `cel:"bootedOther"`
	CurrentSince facts.Field[time.Time] `cel:"currentSince"`
}

var configFact = facts.Define("host-config-files", fault.Host,
	"what Ignition and the machine-config-daemon left on the machine's disk, and the image that it booted",
	needs(evidence.HostConfigs), readConfig)

func readConfig(ctx context.Context, w *facts.World, s fault.Subject) (config, error) {
	var f config
	c, loc, err := readPart[onhost.Config](ctx, w, evidence.HostConfigs, s)
	if err != nil {
		return f, err
	}
	file(loc, c.Encapsulated, &f.Open, &f.OpenSince)
	file(loc, c.EncapsulatedBak, &f.Finished, nil)
	file(loc, c.Annotations, &f.FirstRun, nil)
	file(loc, c.Staged, &f.Staged, &f.StagedSince)
	f.configs(&c, loc)
	f.image(&c, loc)
	return f, nil
}

// file sets whether a file is there, and since when.
func file(loc evidence.Locator, x onhost.File, there *facts.Field[bool], since *facts.Field[time.Time]) {
	item := shows(loc, x.Path, "there is no such file", time.Time{})
	if x.Exists {
		item = shows(loc, x.Path, "the file is there, written "+excerpt.Time(x.Modified), x.Modified)
	}
	there.Set(x.Exists, item)
	if since != nil {
		since.Set(x.Modified, item)
	}
	if x.Error == "" {
		return
	}
	unread(evidence.HostConfigs, x.Path, x.Error, there)
	if since != nil {
		unread(evidence.HostConfigs, x.Path, x.Error, since)
	}
}

// configs sets what the files of the machine-config-daemon say.
func (f *config) configs(c *onhost.Config, loc evidence.Locator) {
	damaged := ""
	for _, m := range []struct {
		onhost.MachineConfig
		name *facts.Field[string]
	}{{c.Served, &f.Served}, {c.Current, &f.Current}} {
		said := "MachineConfig " + m.Name
		switch {
		case m.Problem != "":
			said = m.Problem
		case m.Name == "":
			said = "there is no such file"
		}
		item := shows(loc, m.Path, said, m.Modified)
		m.name.Set(m.Name, item)
		f.Damaged.Prove(item)
		if m.Problem != "" && damaged == "" {
			damaged = m.Path + ": " + m.Problem
		}
	}
	f.Damaged.Set(damaged)
	f.CurrentSince.Set(c.Current.Modified, f.Current.Proof()...)
	wanted := c.Current.OSImageURL
	if c.CurrentImage != "" {
		wanted = c.CurrentImage
	}
	f.Wanted.Set(wanted, f.Current.Proof()...)
	for _, m := range []onhost.MachineConfig{c.Served, c.Current} {
		if m.Error != "" {
			unread(evidence.HostConfigs, m.Path, m.Error, &f.Served, &f.Current, &f.Wanted)
			if damaged == "" {
				unread(evidence.HostConfigs, m.Path, m.Error, &f.Damaged)
			}
		}
	}
}

// image sets which image the machine booted.
func (f *config) image(c *onhost.Config, loc evidence.Locator) {
	if c.Booted == "" {
		_ = facts.Miss(&evidence.Unavailable{
			Need:   evidence.Objects(evidence.HostConfigs, ""),
			Why:    evidence.NotCollected,
			Detail: c.BootedProblem,
		}, &f.BootedOther)
		return
	}
	wanted, err := f.Wanted.Get()
	item := shows(loc, c.BootedFrom, "booted "+c.Booted+"; applied "+wanted, time.Time{})
	if err != nil {
		f.BootedOther.Miss(err)
		return
	}
	f.Wanted.Prove(item)
	f.BootedOther.Set(wanted != "" && digest(wanted) != digest(c.Booted), item)
	if obfuscation.Found(digest(wanted)) || obfuscation.Found(digest(c.Booted)) {
		f.BootedOther.Miss(obfuscation.Unavailable(evidence.Objects(evidence.HostConfigs, ""), "the image's name"))
	}
}

// digest is what tells images apart: mirrors give one image several names.
func digest(image string) string {
	if _, sum, ok := strings.Cut(image, "@"); ok {
		return sum
	}
	return image
}
