package message

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/text/logline"
)

// shown follows the tables, events and objects that lines are part of, and gathers what they
// say of trouble.
type shown struct {
	table  *table
	object object
	above  [2][]byte // the last lines that are not blank and no rows
	states []state
	events []event
	course course
	nodes  nodeList
	rows   map[int]rowObject // the objects of rows, by their line
	view   hostView
	node   nodeBlock
	page   pageReader

	addresses  hostAddresses
	made       []state // Machines whose host was made and that have no Node
	listsNodes bool    // a table of nodes is in the text
	nodeNames  []string

	operators operatorRows
	lastLine  int // the last line with words

	describes []byte // the last command "oc describe" that was typed
}

// rowObject is an object by its names, "" where not known.
type rowObject struct {
	kind, name, namespace string
	container             string // of a pod
	logged                bool   // a line of a log names it
}

// see reads one line.
func (s *shown) see(number int, line []byte) {
	s.view.see(number, line)
	s.addresses.see(number, line)
	if text := bytes.TrimSpace(line); len(text) > 0 && !bytes.HasPrefix(text, []byte("```")) {
		s.lastLine = number
	}
	if name := s.node.see(line); name != "" {
		if s.rows == nil {
			s.rows = map[int]rowObject{}
		}
		s.rows[number] = rowObject{kind: "node", name: name}
	}
	if isPiped(line) {
		s.piped(number, line)
	}
	switch c := line[0]; {
	case c == '\n' || c == '\r':
		s.table = nil
		s.object.see(number, line)
		return
	case s.table != nil || c >= 'A' && c <= 'Z' || c == ' ':
		if beginsTable(line) {
			s.states = append(s.states, s.nodes.close()...)
			s.table = newTable(line, s.command())
			s.nodes = newNodeList(s.table, s.command())
			return
		}
		if s.table != nil {
			whole := !s.table.skip
			if s.row(number, line); whole {
				return
			}
		}
		if (c == ' ' || c == 'W' || c == 'N') && beginsEvent(line) {
			if e, ok := describedRow(line); ok {
				e.object, e.namespace = described(s.describes)
				s.object.of(&e)
				s.addEvent(number, line, e)
				return
			}
		}
	}
	s.podRow(number, line)
	s.object.see(number, line)
	s.typed(line)
	s.above[0], s.above[1] = s.above[1], line
}

// typed keeps a command that describes an object: its events stand far below it.
func (s *shown) typed(line []byte) {
	if bytes.Contains(line, []byte(" describe ")) {
		if m := getCommand.Find(line); m != nil {
			s.describes = m
		}
	}
}

// podRow reads a row of pods whose heading was not pasted, as behind grep.
func (s *shown) podRow(number int, line []byte) {
	if s.table != nil || len(line) < minPodRow || line[0] < '0' || !bytes.Contains(line, []byte("  ")) || !barePod.Match(line) {
		return
	}
	head, cells := "NAME READY STATUS RESTARTS AGE", restarted.ReplaceAll(line, nil)
	if len(bytes.Fields(cells)) > len(strings.Fields(head)) {
		head = "NAMESPACE " + head
	}
	if row := newTable([]byte(head), s.command()).row(cells); row != nil && row.says != "" {
		row.line, row.kind, row.text = number, "pod", string(bytes.TrimRight(line, "\r\n"))
		row.next = row.describe()
		s.states = append(s.states, *row)
	}
}

const minPodRow = 20 // bytes of the shortest row

var (
	barePod   = regexp.MustCompile(`^(?:[a-z0-9-]+\s+)?[a-z0-9][a-z0-9.-]*\s+\d+/\d+\s+[A-Z][A-Za-z]*\s+\d+(?: \(\w+ ago\))?\s+\d+[smhdy]\w*\s*$`)
	restarted = regexp.MustCompile(` \(\w+ ago\)`)
)

// command is the command above a table, with the prompt before it.
func (s *shown) command() []byte {
	for _, line := range [][]byte{s.above[1], s.above[0]} {
		if m := getCommand.Find(line); m != nil {
			return m
		}
	}
	return nil
}

var getCommand = regexp.MustCompile(`\b(?:oc|kubectl|omc|omg)\b[^|;]*? (?:get|describe) [^|;]*`)

// rowName is the name of an object in a row.
var rowName = regexp.MustCompile(`^[a-z0-9][a-z0-9._:/-]*$`)

func (s *shown) row(number int, line []byte) {
	if _, ok := logline.Command(line); ok || bytes.Contains(line, []byte(" get ")) && getCommand.Match(line) {
		s.table = nil
		s.typed(line)
		s.above[0], s.above[1] = s.above[1], line
		return
	}
	if s.table.events {
		if e, ok := s.table.event(line); ok {
			s.addEvent(number, line, e)
		}
		return
	}
	row := s.table.row(line)
	if row == nil {
		return
	}
	s.nodes.see(number, row)
	s.unjoined(number, row, line)
	if row.kind == "node" && len(s.nodeNames) < maxForms {
		s.nodeNames = append(s.nodeNames, row.name)
	}
	if s.rows == nil {
		s.rows = map[int]rowObject{}
	}
	if row.kind == "clusteroperator" || row.kind == "co" {
		s.view.operator(row.name)
		s.operators.see(row)
	}
	s.rows[number] = rowObject{kind: row.kind, name: row.name, namespace: row.namespace}
	if row.says != "" {
		row.line = number
		row.bare = row.blank && bytes.Equal(bytes.TrimRight(line, "\r\n"), bytes.TrimSpace(line))
		s.states = append(s.states, *row)
	}
}

func (s *shown) addEvent(number int, line []byte, e event) {
	e.line, e.text = number, line
	s.events = append(s.events, e)
}

// finish puts what was gathered into what a block shows. Lines that a message knows are not
// said again, and messages of conditions that are well are no trouble.
func (s *shown) finish(x *Index, f *found) {
	s.object.flush()
	f.facts = append(s.page.close(), s.object.proxy.close()...)
	s.endCourse()
	s.states = append(s.states, s.nodes.close()...)
	s.states = append(append(s.states, s.withoutNodes()...), s.addresses.twice...)
	for i := range f.hits {
		if row, ok := s.rows[f.hits[i].line]; ok && !f.hits[i].from.row.isReporting() {
			f.hits[i].from.row = row
		}
	}
	// A row of nothing but a name, with which a text ends, was cut off where it was pasted.
	s.states = slices.DeleteFunc(s.states, func(one state) bool { return one.bare && one.line == s.lastLine })
	s.states = append(s.operators.judge(reportedOperators(s.states, s.rows)), s.object.states...)
	if well := s.object.well; len(well) > 0 {
		f.hits = slices.DeleteFunc(f.hits, func(h hit) bool {
			r := &x.rules[h.rule]
			return r.Normal == "" && slices.ContainsFunc(well, func(at [2]int) bool { return at[0] <= h.line && h.line <= at[1] })
		})
	}
	if len(s.states) == 0 && len(s.events) == 0 {
		return
	}
	s.spareReplicas()
	f.dropEnded(x, s.events)
	known := map[int]bool{}
	for _, h := range f.hits {
		known[h.line] = true
	}
	for _, one := range s.states {
		if !known[one.line] {
			f.states = append(f.states, one)
		}
	}
	waiting := s.waitingPods()
	for i := range s.events {
		if e := &s.events[i]; e.namespace == "" {
			e.namespace = waiting[strings.TrimPrefix(e.object, "pod/")]
		}
	}
	f.addEvents(s.events, known, s.object.ready, waiting)
}

// waitingPods are the namespaces of pods, by name, that rows show to wait for longer than a start takes.
func (s *shown) waitingPods() map[string]string {
	waiting := map[string]string{}
	for _, one := range s.states {
		if one.kind == "pod" && !one.waits && strings.Contains(one.says, "Pending") {
			waiting[one.name] = one.namespace
		}
	}
	return waiting
}

// activating adds a unit that systemd has been starting for too long.
func (s *shown) activating(number int, unit string, line []byte) {
	m := startingUnit.FindSubmatch(line)
	if m == nil {
		return
	}
	if string(m[1]) == "start" && !bytes.ContainsAny(m[2], "hdwMy") && !bytes.Contains(m[2], []byte("month")) {
		return // minutes and seconds
	}
	says := "starts and stops again (auto-restart)"
	if string(m[1]) == "start" {
		says = "has been activating (start) for " + string(m[2])
	}
	s.states = append(s.states, state{line: number, text: string(bytes.TrimRight(line, "\r\n")), kind: "unit", name: unit, says: says,
		next: "journalctl -b -u " + unit + " shows what it waits for; its last line names the step"})
}

// alwaysRun are units that a node of a cluster does not stop by itself, except to restart them at once.
var alwaysRun = set("kubelet", "crio", "NetworkManager")

// inactive adds a unit that was stopped and not started again.
func (s *shown) inactive(number int, unit string, line []byte) {
	active, ok := bytes.CutPrefix(bytes.TrimLeft(line, " \t>"), []byte("Active: "))
	if !ok || !alwaysRun[unit] {
		return
	}
	host := s.view.host
	s.states = slices.DeleteFunc(s.states, func(one state) bool { return one.stopped && one.name == unit && one.namespace == host })
	m := stoppedUnit.FindSubmatch(active)
	if m == nil {
		s.neverStarted(number, unit, line, active)
		return
	}
	says := "it is stopped, inactive (dead) since " + string(m[1])
	if host != "" {
		says = "it is stopped on " + host + ", inactive (dead) since " + string(m[1])
	}
	s.states = append(s.states, state{line: number, text: string(bytes.TrimRight(line, "\r\n")), kind: "unit", name: unit, namespace: host, says: says,
		why: true, stopped: true, next: "on that host: sudo journalctl -u " + unit + " -n 50: who stopped it, and when. If no maintenance needs it down: " +
			"sudo systemctl start " + unit + "; it fails again: its first error is the reason"})
}

// neverStarted adds a unit without which a host is no node, and which systemd has not started in this boot: then no time is behind
// its state (systemd src/systemctl/systemctl-show.c). Who asked for the state of the unit missed it.
func (s *shown) neverStarted(number int, unit string, line, active []byte) {
	if strings.TrimSpace(string(active)) != "inactive (dead)" {
		return
	}
	says, where := "it does not run: inactive (dead), not started in this boot", "on that host: "
	if host := s.view.host; host != "" {
		says = "it does not run on " + host + ": inactive (dead), not started in this boot"
	}
	if unit == "crio" {
		says += "; the kubelet needs it"
	}
	s.states = append(s.states, state{line: number, text: string(bytes.TrimRight(line, "\r\n")), kind: "unit", name: unit, namespace: s.view.host,
		says: says, stopped: true, next: where + "systemctl list-jobs and systemctl --failed: a unit that it waits for, or that failed before it; " +
			"sudo journalctl -b -u " + unit + " --no-pager -n 50. In the first boot machine-config-daemon-firstboot comes before it"})
}

// stoppedUnit is the state of a unit that ran and was stopped, with its time (systemd src/systemctl/systemctl-show.c).
var stoppedUnit = regexp.MustCompile(`^inactive \(dead\) since ([^;\r\n]+)`)

var startingUnit = regexp.MustCompile(`Active: activating \((start|auto-restart)\).*; (.+?) ago`)

// addStates gathers what rows and conditions of a block show, which begins behind some lines.
func (c *collector) addStates(f found) {
	for _, s := range f.states {
		s.line += c.lines
		c.states = append(c.states, s)
	}
}

// statesTo puts what rows and conditions show into the report, one match for those that are
// alike.
func (c *collector) statesTo(r *Report, failures map[string]*Match) {
	type group struct {
		first state
		t     *ruleMatches
		lines []int

		objects []rowObject
	}
	groups := map[string]*group{}
	var keys []string
	for _, s := range c.states {
		line := Line{Number: s.line, Text: s.text, origin: origin{form: logline.State}}
		if s.kind == "clusteroperator" || s.kind == "co" {
			line.row = rowObject{kind: s.kind, name: s.name}
		}
		if s.waits {
			if len(r.Normal) < maxNormal {
				r.Normal = append(r.Normal, Note{Words: c.clean(s.title(0)), Line: line})
			}
			continue
		}
		key := s.kind + "\x00" + s.says + s.detail
		if s.kind == "clusteroperator" || s.kind == "co" {
			key += "\x00" + s.name
		}
		if i := slices.IndexFunc(keys, func(k string) bool { return k == key }); i < 0 && len(keys) < maxForms {
			keys = append(keys, key)
			groups[key] = &group{first: s, t: &ruleMatches{}}
		}
		g := groups[key]
		if g == nil {
			c.moreErrors++
			continue
		}
		if g.t.count++; len(g.t.first) < keptLines {
			g.t.first = append(g.t.first, line)
		}
		g.t.last, g.lines = line, append(g.lines, s.line)
		g.objects = append(g.objects, s.object())
	}
	for _, key := range keys {
		g := groups[key]
		g.t.print(c.clean)
		words := c.clean(g.first.title(len(g.lines) - 1))
		words = strings.TrimRight(words, ". ")
		c.match(failures, words, fault.ShowsPossible, g.t)
		m := failures[words]
		m.objects = g.objects
		m.rows, m.Reason, m.effect = g.lines, g.first.why, g.first.effect
		c.next[words] = cmp.Or(c.next[words], g.first.next)
		// Nothing of a node goes without its runtime, whatever else the text shows.
		c.steps[words] = c.steps[words] || !g.first.why && !(g.first.stopped && g.first.name == "crio")
	}
}
