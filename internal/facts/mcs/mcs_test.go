package mcs

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/fixture"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
)

// hits searches a text for the package's signatures, as a Reader does.
func hits(t testing.TB, path, text string) []hit {
	t.Helper()
	set, err := fixture.Signatures()
	if err != nil {
		t.Fatal(err)
	}
	var list []hit
	for i, line := range strings.Split(text, "\n") {
		for _, h := range set.Find([]byte(line)) {
			if !strings.HasPrefix(h.ID, "mcs.") && !slices.Contains(ignitionMessages, h.ID) {
				continue
			}
			at, _ := evidence.LineTime(line, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
			list = append(list, hit{id: h.ID, Match: evidence.Match{
				Line: evidence.Line{Text: line, Time: at, Loc: evidence.Locator{Path: path, Line: i + 1}}, Text: evidence.Text{Path: path}, Groups: h.Groups,
			}})
		}
	}
	return list
}

const (
	accept = `Accept-Header: "application/vnd.coreos.ignition+json;version=3.4.0, */*;q=0.1"`
	agent  = `User-Agent:"Ignition/2.20.0"`
)

// TestPair: each error goes to its request, in the words of several releases.
func TestPair(t *testing.T) {
	tests := []struct {
		name, log string
		want      []string // pool, address, class, config
	}{
		{"served", `I0301 10:00:00.000001 1 api.go:120] Pool "worker" requested by address:"192.0.2.20:41234" ` + agent + ` ` + accept,
			[]string{"worker 192.0.2.20   true"}},
		{"an empty name, 4.14 without quotes", `I0301 10:00:00.000001 1 api.go:109] Pool master requested by address:"192.0.2.12:4" ` + agent + ` ` + accept + `
E0301 10:00:00.000002 1 api.go:183] couldn't get config for req: {master 0xc0001}, error: could not fetch config , err: machineconfig.machineconfiguration.openshift.io "" not found`,
			[]string{"master 192.0.2.12 empty-name  true"}},
		{"a missing config, IPv6", `I0301 10:00:00.000001 1 api.go:120] Pool "master" requested by address:"[fd00::12]:4" ` + agent + ` ` + accept + `
E0301 10:00:00.000002 1 api.go:183] couldn't get config for req: {machineConfigPool:master version:0xc00}, error: could not fetch config rendered-master-x, err: machineconfig.machineconfiguration.openshift.io "rendered-master-x" not found`,
			[]string{"master fd00::12 config-missing rendered-master-x true"}},
		{"a curl beside Ignition: conversion fails for the curl only", `I0301 10:00:00.000001 1 api.go:120] Pool "worker" requested by address:"198.51.100.7:1" User-Agent:"curl/8" Accept-Header: "*/*"
E0301 10:00:00.000002 1 api.go:195] couldn't convert config for req: {worker 0xc0}, error: unable to convert
I0301 10:00:01.000001 1 api.go:120] Pool "worker" requested by address:"192.0.2.20:2" ` + agent + ` ` + accept,
			[]string{"worker 198.51.100.7 unservable  false", "worker 192.0.2.20   true"}},
		{"a release that logs no Accept header", `I0705 19:25:31.368704 90 api.go:110] Pool master requested by address:"[::1]:33482" User-Agent:"Go-http-client/1.1"
I0705 19:25:32.368704 90 api.go:110] Pool master requested by address:"[::1]:33483" User-Agent:"Ignition/2.9.0"`,
			[]string{"master ::1   false", "master ::1   true"}},
		{"two pools at once", `I0301 10:00:00.000001 1 api.go:120] Pool "master" requested by address:"192.0.2.12:1" ` + agent + ` ` + accept + `
I0301 10:00:00.000002 1 api.go:120] Pool "worker" requested by address:"192.0.2.20:1" ` + agent + ` ` + accept + `
E0301 10:00:00.000003 1 api.go:183] couldn't get config for req: {master 0xc0}, error: could not get controllerconfig: x`,
			[]string{"master 192.0.2.12 controllerconfig-missing  true", "worker 192.0.2.20   true"}},
		{"a version that is refused names no pool", `I0301 10:00:00.000001 1 api.go:120] Pool "worker" requested by address:"192.0.2.20:1" ` + agent + ` Accept-Header: "application/vnd.coreos.ignition+json;version=3.6.0"
E0301 10:00:00.000002 1 api.go:131] unsupported Ignition version in Accept header: 3.6.0`,
			[]string{"worker 192.0.2.20 version-refused  true"}},
		{"an error without its request: the log was cut", `E0301 10:00:00.000002 1 api.go:183] couldn't get config for req: {master 0xc0}, error: could not fetch config , err: x`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, r := range pair(hits(t, "log", tt.log)) {
				got = append(got, fmt.Sprintf("%s %s %s %s %t", r.pool, r.address, r.class, r.config, r.ignition()))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestErrorClass(t *testing.T) {
	const get = `Get "https://api-int.x:22623/config/master": `
	tests := map[string]string{
		get + "dial tcp 192.168.1.214:22623: connect: no route to host":                                                             "no-route",
		get + "dial tcp: lookup api-int.x on 10.0.0.1:53: no such host":                                                             "dns",
		get + "dial tcp: lookup api-int.x on [::1]:53: read udp [::1]:60333->[::1]:53: read: connection refused":                    "dns",
		get + "dial tcp: lookup api-int.x on 10.0.0.1:53: i/o timeout":                                                              "dns",
		get + "dial tcp 10.0.0.5:22623: i/o timeout":                                                                                "timeout",
		get + "net/http: timeout awaiting response headers":                                                                         "slow",
		get + "net/http: TLS handshake timeout":                                                                                     "tls-timeout",
		get + "x509: certificate signed by unknown authority":                                                                       "tls-untrusted",
		get + "x509: certificate has expired or is not yet valid: current time 2020-01-01T00:00:00Z is before 2026-01-01T00:00:00Z": "tls-early",
		get + "x509: certificate has expired or is not yet valid: current time 2040-01-01T00:00:00Z is after 2036-01-01T00:00:00Z":  "tls-late",
		get + "x509: certificate is valid for a, not b":                                                                             "tls-name",
		get + "x509: cannot validate certificate for 10.0.0.5 because it doesn't contain any IP SANs":                               "tls-name",
		get + "dial tcp 10.0.0.5:22623: connect: connection refused":                                                                "refused",
		get + "dial tcp 10.0.0.5:22623: connect: network is unreachable":                                                            "no-network",
		get + "EOF": "closed",
		get + "read tcp 10.0.0.9:1->10.0.0.5:22623: read: connection reset by peer": "closed",
		get + "http: server gave HTTP response to HTTPS client":                     "plain-http",
		get + "something new": "other",
	}
	for text, want := range tests {
		if got := errorClass(text); got != want {
			t.Errorf("class of %q is %q, want %q", text, got, want)
		}
	}
}

func TestFollow(t *testing.T) {
	const url = "https://10.0.50.6:22623/config/master"
	tests := []struct {
		name, console string
		want          Ignition
	}{
		{"retrying", `[    9.1] ignition[482]: Adding "root-ca" to list of CAs
[  341.287329] ignition[482]: GET ` + url + `: attempt #47
[  360.287088] ignition[482]: GET error: Get "` + url + `": dial tcp 10.0.50.6:22623: connect: no route to host`,
			Ignition{URL: facts.Known(url), Pool: facts.Known("master"), Attempts: facts.Known[int64](47), ErrorClass: facts.Known("no-route"), CA: facts.Known("root-ca"), Looping: facts.Known(true),
				Error: facts.Known(`Get "` + url + `": dial tcp 10.0.50.6:22623: connect: no route to host`)}},
		{"the error of an attempt stands while the next one is under way", `[   10.0] ignition[1]: GET ` + url + `: attempt #1
[   10.1] ignition[1]: GET result: Internal Server Error
[   70.0] ignition[1]: GET ` + url + `: attempt #2`,
			Ignition{URL: facts.Known(url), Pool: facts.Known("master"), Attempts: facts.Known[int64](2), Status: facts.Known[int64](500), Looping: facts.Known(true), Seconds: facts.Known[int64](60)}},
		{"another way to fail than before", `ignition[1]: GET ` + url + `: attempt #1
ignition[1]: GET error: Get "x": dial tcp 10.0.50.6:22623: connect: connection refused
ignition[1]: GET ` + url + `: attempt #2
ignition[1]: GET result: Internal Server Error`,
			Ignition{URL: facts.Known(url), Pool: facts.Known("master"), Attempts: facts.Known[int64](2), Status: facts.Known[int64](500), Looping: facts.Known(true)}},
		{"served at last", `ignition[1]: GET ` + url + `: attempt #2
ignition[1]: GET result: OK
ignition[1]: Ignition finished successfully`,
			Ignition{URL: facts.Known(url), Pool: facts.Known("master"), Attempts: facts.Known[int64](2), Status: facts.Known[int64](200), Finished: facts.Known(true)}},
		{"a pointer over HTTP, then the server", `ignition[1]: GET http://10.0.0.9/master.ign: attempt #1
ignition[1]: GET result: OK
ignition[1]: GET ` + url + `: attempt #1`,
			Ignition{URL: facts.Known(url), Pool: facts.Known("master"), Attempts: facts.Known[int64](1), Looping: facts.Known(true)}},
		{"gave up", `ignition[1]: GET ` + url + `: attempt #1
ignition[1]: GET result: Bad Request
ignition[1]: Ignition failed: failed to fetch config: failed to fetch resource
Press Enter for emergency shell or wait 5 minutes for reboot.`,
			Ignition{URL: facts.Known(url), Pool: facts.Known("master"), Attempts: facts.Known[int64](1), Status: facts.Known[int64](400), Terminal: facts.Known(true)}},
		{"a disk is missing after the fetch", `ignition[1]: GET ` + url + `: attempt #1
ignition[1]: GET result: OK
ignition[1]: fetch: fetch passed
ignition[1]: Ignition finished successfully
ignition[2]: disks: createPartitions: op(1): [failed]   waiting for devices [/dev/sdb]: context deadline exceeded
ignition[2]: disks: create partitions failed: failed to wait on disks devs: device unit dev-sdb.device timeout
ignition[2]: Ignition failed: create partitions failed: failed to wait on disks devs: device unit dev-sdb.device timeout
Press Enter for emergency shell or wait 5 minutes for reboot.`,
			Ignition{URL: facts.Known(url), Pool: facts.Known("master"), Attempts: facts.Known[int64](1), Status: facts.Known[int64](200), Finished: facts.Known(true), Terminal: facts.Known(true),
				Stage: facts.Known("disks"), StageError: facts.Known("create partitions failed: failed to wait on disks devs: device unit dev-sdb.device timeout")}},
		{"the disks are done", `ignition[1]: GET ` + url + `: attempt #1
ignition[1]: GET result: OK
ignition[1]: Ignition finished successfully
ignition[2]: disks: op(1): [finished] waiting for devices [/dev/sda]
ignition[2]: disks: disks passed
ignition[2]: Ignition finished successfully`,
			Ignition{URL: facts.Known(url), Pool: facts.Known("master"), Attempts: facts.Known[int64](1), Status: facts.Known[int64](200), Finished: facts.Known(true)}},
		{"a console that begins after its attempt", `ignition[1]: GET error: Get "` + url + `": dial tcp 10.0.50.6:22623: connect: connection refused`,
			Ignition{URL: facts.Known(url), Pool: facts.Known("master"), ErrorClass: facts.Known("refused"), Looping: facts.Known(true),
				Error: facts.Known(`Get "` + url + `": dial tcp 10.0.50.6:22623: connect: connection refused`)}},
		{"without TLS to the port of TLS", `ignition[1]: GET http://10.0.50.6:22623/config/master: attempt #3
ignition[1]: GET result: Bad Request`,
			Ignition{URL: facts.Known("http://10.0.50.6:22623/config/master"), Pool: facts.Known("master"), Attempts: facts.Known[int64](3),
				ErrorClass: facts.Known("http-to-tls"), Error: facts.Known("HTTP 400 for a request without TLS"), Looping: facts.Known(true)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			facts.Complete(&tt.want)
			if diff := cmp.Diff(tt.want, follow(hits(t, "console", tt.console)).fields()); diff != "" {
				t.Errorf("ignition (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRow: a success ends the row, another pool's does not.
func TestRow(t *testing.T) {
	one := func(pool string, at int, err string) string {
		line := fmt.Sprintf("I0301 10:00:%02d.000001 1 api.go:120] Pool %q requested by address:\"192.0.2.9:1\" %s %s\n", at, pool, agent, accept)
		if err != "" {
			line += fmt.Sprintf("E0301 10:00:%02d.000002 1 api.go:183] couldn't get config for req: {%s 0xc0}, error: %s\n", at, pool, err)
		}
		return line
	}
	const empty = `could not fetch config , err: machineconfig.machineconfiguration.openshift.io "" not found`
	log := one("master", 1, empty) + one("master", 2, "") + one("master", 3, empty) + one("worker", 4, "") + one("master", 5, empty)
	var r Requests
	r.follow(slices.DeleteFunc(pair(hits(t, "log", log)), func(q request) bool { return q.pool != "master" }))
	want := Requests{Total: facts.Known[int64](4), Failures: facts.Known[int64](2), EmptyName: facts.Known[int64](2), Addresses: facts.Known([]string{"192.0.2.9"}),
		Since: facts.Known(time.Date(2026, 3, 1, 10, 0, 3, 2000, time.UTC)), Last: facts.Known(time.Date(2026, 3, 1, 10, 0, 5, 2000, time.UTC))}
	facts.Complete(&want)
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("the row (-want +got):\n%s", diff)
	}
}

// TestErrorProvesWhileRetrying: the newer attempt does not take the error out of the proof.
func TestErrorProvesWhileRetrying(t *testing.T) {
	const url = "https://10.0.50.6:22623/config/worker"
	f := follow(hits(t, "console", "ignition[1]: GET "+url+": attempt #1\nignition[1]: GET error: Get \""+url+"\": x509: certificate signed by unknown authority\nignition[1]: GET "+url+": attempt #2")).fields()
	if f.ErrorClass.Value() != "tls-untrusted" || !slices.ContainsFunc(f.Looping.Proof(), func(i evidence.Item) bool { return strings.Contains(i.Excerpt, "x509") }) {
		t.Errorf("%s, proven by %v", f.ErrorClass, f.Looping.Proof())
	}
}

// TestRejected: clients that refuse the server's certificate are counted over all its runs.
func TestRejected(t *testing.T) {
	var s serverLog
	s.self(hits(t, "server", "http: TLS handshake error from 192.0.2.7:40312: remote error: tls: bad certificate\n"+
		"http: TLS handshake error from 192.0.2.8:40312: remote error: tls: unknown certificate authority\nhttp: TLS handshake error from 192.0.2.9:1: EOF"))
	if s.Rejected.Value() != 2 || len(s.Rejected.Proof()) != 1 {
		t.Errorf("%v clients, shown by %v", s.Rejected, s.Rejected.Proof())
	}
}

// FuzzLines: no text of a server or a console breaks the readers.
func FuzzLines(f *testing.F) {
	f.Add(`Pool "x" requested by address:"" User-Agent:"" Accept-Header: ""` + "\n" + `couldn't get config for req: {x y}, error: `)
	f.Add("GET x: attempt #99999999999999999999\nGET result: \nGET error: EOF")
	f.Fuzz(func(t *testing.T, text string) {
		lines := hits(t, "f", text)
		for _, r := range pair(lines) {
			if r.class != served && r.failure.Text == "" {
				t.Error("a failure without its line")
			}
		}
		if g := follow(lines).fields(); g.Looping.Value() && (g.Finished.Value() || g.Terminal.Value()) {
			t.Error("it loops and has ended")
		}
	})
}
