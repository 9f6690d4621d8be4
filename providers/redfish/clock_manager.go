package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stmcginnis/gofish/schemas"
)

// clockManager is the BMC of one server, as what has the clock.
type clockManager struct {
	*machine
	login   login
	path    string // of the manager
	network string // of its NetworkProtocol; empty: none
}

// clockReading is the clock at one moment.
type clockReading struct {
	text, offset string
	zone         *time.Location
	offBy        time.Duration // the BMC's time minus that of this machine
	doubt        time.Duration // it was read somewhere in the round trip, and in whole seconds
	ntp          string
	servers      []string
}

// How long a BMC may take to show the time that it was given, and the time between looks.
var clockTimeout, clockEvery = 30 * time.Second, time.Second

// openClock connects, with a verified certificate, and finds the one manager that is a BMC.
func openClock(ctx context.Context, s server) (*clockManager, error) {
	m, err := open(ctx, s)
	if err != nil {
		return nil, err
	}
	l, err := readLogin(s.Credentials)
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	list, err := m.system.ManagedBy()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("list the managers of the system: %w", hidden(err, l)), m.Close())
	}
	list = slices.DeleteFunc(list, func(x *schemas.Manager) bool { return x.ManagerType != "" && x.ManagerType != schemas.BMCManagerType })
	if len(list) != 1 {
		return nil, errors.Join(fmt.Errorf("the system has %d managers that are BMCs, want 1: set the clock at its web page", len(list)), m.Close())
	}
	var links struct {
		NetworkProtocol struct {
			ID string `json:"@odata.id"`
		}
	}
	if err := json.Unmarshal(list[0].RawData, &links); err != nil {
		return nil, errors.Join(fmt.Errorf("read the manager: %w", err), m.Close())
	}
	return &clockManager{machine: m, login: l, path: strings.TrimSuffix(list[0].ODataID, "/"), network: links.NetworkProtocol.ID}, nil
}

// look reads the clock, and where it takes its time from.
func (m *clockManager) look(now func() time.Time) (clockReading, error) {
	var r clockReading
	asked := now()
	x, err := schemas.GetManager(m.client, m.path)
	round := now().Sub(asked)
	if err != nil {
		return r, fmt.Errorf("read the manager: %w", hidden(err, m.login))
	}
	at, ok := parseClock(x.DateTime, x.DateTimeLocalOffset)
	if !ok {
		return r, fmt.Errorf("the BMC shows no time that can be read (DateTime %.40q, DateTimeLocalOffset %.10q)", x.DateTime, x.DateTimeLocalOffset)
	}
	r = clockReading{text: x.DateTime, offset: x.DateTimeLocalOffset, zone: at.Location(), doubt: round/2 + time.Second, ntp: "not shown"}
	r.offBy = at.Sub(asked.Add(round / 2))
	return r, m.readNTP(&r)
}

// parseClock reads a time with its offset, which some BMCs write apart from it.
func parseClock(text, offset string) (time.Time, bool) {
	for _, try := range []string{text, text + offset} {
		if at, err := time.Parse(time.RFC3339, try); err == nil && at.Year() >= 1970 && at.Year() <= 2200 {
			return at, true
		}
	}
	return time.Time{}, false
}

// readNTP reads whether the BMC takes its time from time servers. One that has no such
// property does not show it; one that does not answer is an error.
func (m *clockManager) readNTP(r *clockReading) error {
	if m.network == "" {
		return nil
	}
	resp, err := m.client.Get(m.network)
	if err != nil {
		return fmt.Errorf("read NetworkProtocol: %w", hidden(err, m.login))
	}
	defer resp.Body.Close()
	var x struct {
		NTP *struct {
			ProtocolEnabled *bool
			NTPServers      []string
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&x); err != nil {
		return fmt.Errorf("read NetworkProtocol: %w", hidden(err, m.login))
	}
	if x.NTP == nil || x.NTP.ProtocolEnabled == nil {
		return nil
	}
	r.ntp, r.servers = map[bool]string{true: "on", false: "off"}[*x.NTP.ProtocolEnabled], x.NTP.NTPServers
	return nil
}

// set writes a time, in the BMC's own offset from UTC: the time of this machine and the
// difference.
func (m *clockManager) set(now time.Time, off time.Duration, r clockReading) error {
	text := now.Add(off).Round(time.Second).In(r.zone).Format("2006-01-02T15:04:05-07:00")
	resp, err := m.client.Patch(m.path, map[string]any{"DateTime": text})
	if resp != nil {
		resp.Body.Close()
	}
	if err != nil {
		return fmt.Errorf("the BMC does not take a time: %w; iLOs take theirs from time servers or the host alone: set time "+
			"servers there", hidden(err, m.login))
	}
	return nil
}

// until reads the clock until it has a difference.
func (m *clockManager) until(ctx context.Context, now func() time.Time, want time.Duration) (clockReading, error) {
	deadline := now().Add(clockTimeout)
	for {
		r, err := m.look(now)
		if err == nil && near(r.offBy, want, r.doubt) {
			return r, nil
		}
		if now().After(deadline) {
			if err != nil {
				return r, fmt.Errorf("the clock was written and cannot be read: %w", err)
			}
			return r, fmt.Errorf("the BMC accepted the time and does not show it: it is %s", words(r.offBy))
		}
		select {
		case <-ctx.Done():
			return r, ctx.Err()
		case <-time.After(clockEvery):
		}
	}
}
