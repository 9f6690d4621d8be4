package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestWorkerCreate makes workers of a hosted cluster of platform None: the tool writes the
// user-data, the test boots the machines as a person would, the tool approves their requests
// and no other, and all become Ready.
func TestWorkerCreate(t *testing.T) {
	w := up(t, "hosted", true)
	boot := filepath.Join(w.dir, "boot")
	names := []string{"guest5", "guest6", "guest7"}
	args := []string{"worker", "create", "--hosted", "clusters/guest", "--dir", boot, "--window", "6m", "--yes"}
	for i, n := range names {
		args = append(args, "--host", fmt.Sprintf("%s=%s", n, w.guestAddress(t, 5+i)))
	}

	plan := w.live(append(args, "--plan")...)
	if plan.code != 0 || !strings.Contains(plan.out, "passed") || strings.Contains(plan.out, "failed ") {
		t.Fatalf("the plan: %s", plan)
	}
	if _, err := os.Stat(boot); err == nil {
		t.Error("--plan wrote something")
	}

	// guest7 boots without being asked for by the tool: a stranger with the same user-data.
	// It has no part in the run, so that nothing of it is approved.
	done := make(chan result, 1)
	go func() { done <- w.live(args[:len(args)-2]...) }()
	eventually(t, time.Minute, func() string {
		for _, n := range names[:2] {
			if _, err := os.Stat(filepath.Join(boot, n+".ign")); err != nil {
				return err.Error()
			}
		}
		return ""
	})
	config, err := os.ReadFile(filepath.Join(boot, "guest5.ign"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(boot, "guest7.ign"), config, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if r := w.lab("outside", "boot-guest", n); r.code != 0 {
			t.Fatal(r)
		}
	}
	r := <-done
	if r.code != 0 || !strings.Contains(r.out, "2 of 2 workers are Ready") {
		t.Fatalf("worker create: %s", r)
	}
	for _, n := range names[:2] {
		if _, err := os.Stat(filepath.Join(boot, n+".ign")); err == nil {
			t.Errorf("the user-data of %s is still there", n)
		}
	}
	if strings.Contains(r.out+r.err, "Bearer") || strings.Contains(r.out, "guest7") {
		t.Errorf("worker create shows what it should not: %s", r)
	}
	w.strangersRequest(t, "guest7")
	list := w.rollcall("worker", "list")
	if strings.Count(list.out, "joined") != 2 {
		t.Errorf("worker list: %s", list)
	}
	d := parse(t, w.live("diagnose", "--hosted", "clusters/guest", "-o", "json"))
	for _, n := range names[:2] {
		if !strings.Contains(d.hosts(), n+":config-done:not-applicable") {
			t.Errorf("%s has not joined: %s", n, d.hosts())
		}
	}
	if strings.Contains(d.hosts(), "guest7:config-done") {
		t.Errorf("guest7 has joined: %s", d.hosts())
	}

	// A run for a host that never boots ends in time, and leaves nothing when it is rolled back.
	late := w.live("worker", "create", "--hosted", "clusters/guest", "--dir", boot, "--window", "10s", "--yes", "--host", "guest9="+w.guestAddress(t, 9))
	if late.code != 3 || !strings.Contains(late.out, "0 of 1 workers are Ready") {
		t.Fatalf("a host that never boots: %s", late)
	}
	_, run, _ := strings.Cut(late.out, "Run ")
	run, _, _ = strings.Cut(run, ".")
	if r := w.live("worker", "rollback", run); r.code != 0 {
		t.Fatal(r)
	}
	if _, err := os.Stat(filepath.Join(boot, "guest9.ign")); err == nil {
		t.Error("the user-data of guest9 is still there")
	}
	if _, err := os.Stat(filepath.Join(boot, "guest7.ign")); err != nil {
		t.Error("a file of somebody else was removed")
	}
	// A name that is taken is refused before anything is made.
	if taken := w.live("worker", "create", "--hosted", "clusters/guest", "--dir", boot, "--yes", "--host", "guest5="+w.guestAddress(t, 5)); taken.code != 2 || !strings.Contains(taken.out, "has a host guest5 already") {
		t.Errorf("a name that is taken: %s", taken)
	}
}

// TestWorkerReplace replaces a worker by a new one and deletes that one: the old Node goes
// only when the new one is Ready.
func TestWorkerReplace(t *testing.T) {
	if os.Getenv("ROLLCALL_LAB_FULL") == "" {
		t.Skip("ROLLCALL_LAB_FULL")
	}
	w := up(t, "hosted", true)
	boot := filepath.Join(w.dir, "boot")
	booted := func(name string, args ...string) result {
		done := make(chan result, 1)
		go func() {
			done <- w.live(append(args, "--hosted", "clusters/guest", "--dir", boot, "--window", "6m", "--yes")...)
		}()
		eventually(t, time.Minute, func() string {
			if _, err := os.Stat(filepath.Join(boot, name+".ign")); err != nil {
				return err.Error()
			}
			return ""
		})
		if r := w.lab("outside", "boot-guest", name); r.code != 0 {
			t.Fatal(r)
		}
		return <-done
	}
	if r := booted("guest5", "worker", "create", "--host", "guest5="+w.guestAddress(t, 5)); r.code != 0 {
		t.Fatal(r)
	}
	if list := w.live("worker", "list", "--hosted", "clusters/guest"); list.code != 0 || strings.Contains(list.out, "outdated") {
		t.Errorf("worker list: %s", list)
	}
	if r := booted("guest6", "worker", "replace", "guest5", "--host", "guest6="+w.guestAddress(t, 6), "--force", "--delete-emptydir-data"); r.code != 0 || !strings.Contains(r.out, "guest5: drained, and its Node is deleted; its machine still runs") {
		t.Fatal(r)
	}
	d := parse(t, w.live("diagnose", "--hosted", "clusters/guest", "-o", "json"))
	// That it once joined is still in its requests; its Node is gone.
	if strings.Contains(d.hosts(), "guest5:config-done") || !strings.Contains(d.hosts(), "guest6:config-done:not-applicable") {
		t.Errorf("after replace: %s", d.hosts())
	}
	if r := w.live("worker", "delete", "guest5", "--hosted", "clusters/guest", "--yes"); r.code != 1 || !strings.Contains(r.err, "no run of this machine made a worker guest5") {
		t.Errorf("deleted twice: %s", r)
	}
	if r := w.live("worker", "delete", "guest6", "--hosted", "clusters/guest", "--yes", "--keep-at-least", "2"); r.code != 1 || !strings.Contains(r.err, "at least 2 must be left") {
		t.Errorf("the floor: %s", r)
	}
}

// strangersRequest: the requests of the hosted cluster are listed and explained from its
// management cluster, and are not among those of that one. One that no one expects is approved
// by its name and address alone.
func (w *world) strangersRequest(t *testing.T, host string) {
	t.Helper()
	ofGuest := []string{"--hosted", "clusters/guest"}
	list := w.must(t, 0, append([]string{"csr", "list", "--node", host}, ofGuest...)...)
	names := strings.Fields(w.must(t, 0, append([]string{"csr", "list", "--node", host, "-o", "name"}, ofGuest...)...).out)
	if len(names) == 0 || !strings.Contains(list.out, "client") || !strings.Contains(list.out, "pending") {
		t.Fatalf("no request of %s waits: %s", host, list)
	}
	_, name, _ := strings.Cut(names[0], "/")
	explained := w.must(t, 0, append([]string{"csr", "explain", name}, ofGuest...)...)
	if !strings.Contains(explained.out, "It would not be approved") || !strings.Contains(explained.out, "system:node:"+host) && !strings.Contains(explained.out, "for "+host) {
		t.Errorf("explained: %s", explained)
	}
	if r := w.must(t, 0, "csr", "list", "--all"); strings.Contains(r.out, host) {
		t.Errorf("the management cluster has the hosted cluster's requests: %s", r)
	}
	if r := w.live("csr", "explain", name); r.code != 1 || !strings.Contains(r.err, "there is no request") {
		t.Errorf("asked without --hosted: %s", r)
	}
	if r := w.live("csr", "list", "--hosted", "clusters/other"); r.code != 1 || !strings.Contains(r.err, "clusters/other") {
		t.Errorf("of a hosted cluster that is not there: %s", r)
	}
	expect := []string{"csr", "explain", name, "--expect", host + "=" + w.guestAddress(t, 7), "--booted-after", "20m"}
	if r := w.must(t, 0, append(expect, ofGuest...)...); !strings.Contains(r.out, "It would be approved") {
		t.Errorf("named by a person: %s", r)
	}
}

// guestAddress is the address of a worker of the hosted cluster.
func (w *world) guestAddress(t *testing.T, n int) string {
	t.Helper()
	status := w.lab("status", "-o", "json")
	_, rest, ok := strings.Cut(status.out, `"guest0": "`)
	first, _, _ := strings.Cut(rest, `"`)
	at := strings.LastIndexByte(first, '.')
	var last int
	if _, err := fmt.Sscan(first[at+1:], &last); !ok || err != nil {
		t.Fatalf("no address of guest0: %s", status)
	}
	return fmt.Sprintf("%s.%d", first[:at], last+n)
}
