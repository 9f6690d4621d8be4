package bmc

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestOneLoginForEachAccount: several hosts at one BMC are one attempt, whatever their passwords are.
func TestOneLoginForEachAccount(t *testing.T) {
	for name, c := range map[string]struct {
		pass    func(i int) string
		refused int
		read    int // hosts whose machine is read
	}{
		"all wrong":         {func(int) string { return "planted-wrong" }, 1, 0},
		"all wrong, others": {func(i int) string { return fmt.Sprintf("planted-wrong-%d", i) }, 1, 0},
		"one wrong":         {func(i int) string { return map[bool]string{true: "planted-wrong", false: goodPass}[i == 3] }, 1, -1},
		"all right":         {func(int) string { return goodPass }, 0, 5},
	} {
		t.Run(name, func(t *testing.T) {
			e := emulate(t, nil)
			o := Options{Roots: e.roots()}
			for i := range 5 {
				target := e.target(fmt.Sprintf("m%d", i))
				o.Targets = append(o.Targets, target)
				o.Credentials.usePlan(target, goodUser, c.pass(i))
			}
			read := 0
			for _, a := range answers(t, o) {
				if a.System != nil {
					read++
				} else if a.Failure != Refused && a.Failure != HeldBack {
					t.Errorf("%s: %s %s", a.Host, a.Failure, a.Error)
				}
			}
			if _, refused, _, _ := e.counts(); refused > c.refused || c.read >= 0 && read != c.read {
				t.Errorf("%d refused, %d read", refused, read)
			}
		})
	}
}

// TestOneLoginForEachMachine: one BMC under two names is one attempt.
func TestOneLoginForEachMachine(t *testing.T) {
	e := emulate(t, nil)
	o := Options{}
	for i, host := range []string{"127.0.0.1", "localhost", "LOCALHOST"} {
		target := e.target(fmt.Sprintf("m%d", i))
		target.Address = strings.Replace(target.Address, "127.0.0.1", host, 1)
		target.Off = true // the certificate has one of the names only
		o.Targets = append(o.Targets, target)
		o.Credentials.usePlan(target, goodUser, fmt.Sprintf("planted-wrong-%d", i))
	}
	failures := map[Failure]int{}
	for _, a := range answers(t, o) {
		failures[a.Failure]++
	}
	if _, refused, _, _ := e.counts(); refused != 1 || failures[Refused] != 1 || failures[HeldBack] != 2 {
		t.Errorf("%d attempts, %v", refused, failures)
	}
}

// TestHangingLogin: a BMC that takes the credential and hangs delays the others for a moment
// only, and is no refusal of theirs.
func TestHangingLogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g gates
		gate := g.of(Credential{user: "u", pass: "p"})
		first, err := gate.enter(t.Context())
		if err != nil || first == nil {
			t.Fatal(err)
		}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if again, err := gate.enter(short); err == nil || again != nil {
			t.Error("two try a credential that no BMC has accepted")
		}
		began := time.Now()
		second, err := gate.enter(t.Context())
		if err != nil || second == nil || time.Since(began) > patience {
			t.Fatalf("the second waited %s: %v", time.Since(began), err)
		}
		if third, err := gate.enter(short); err == nil || third != nil {
			t.Error("three try it")
		}
		second.leave(LoginAccepted, "p")
		first.leave("", "p")
		more, err := gate.enter(t.Context())
		if err != nil || more == nil || gate.refusals() != 0 || gate.slow != 0 {
			t.Errorf("after one was accepted: %v, %d refusals, %d slow", err, gate.refusals(), gate.slow)
		}
		more.leave(LoginAccepted, "p")
	})
}

// TestWaitingIsNotSlow: who waits for the answer of another BMC to the same credential is not
// called slow, and has its whole time afterwards.
func TestWaitingIsNotSlow(t *testing.T) {
	hangs := emulate(t, func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Authorization") != "" {
			<-r.Context().Done()
			panic(http.ErrAbortHandler) // no answer also to who is just leaving: its connection is open until it has said so
		}
		return false
	})
	good := emulate(t, nil)
	roots := hangs.roots()
	roots.AddCert(good.Certificate())
	list := answers(t, Options{Roots: roots, Targets: []Target{hangs.target("m0"), good.target("m1")}, Credentials: given(goodUser, goodPass), Limit: time.Second})
	if list[0].Failure != Timeout {
		t.Errorf("m0: %s %s", list[0].Failure, list[0].Error)
	}
	if a := list[1]; a.Failure != "" && a.Failure != HeldBack {
		t.Errorf("m1: %s %s", a.Failure, a.Error)
	}
}
