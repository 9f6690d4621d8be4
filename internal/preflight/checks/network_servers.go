package checks

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/preflight/check"
	"github.com/rollcall-project/rollcall/internal/source/probe"
)

// netTimeArea is the area plan-network-time: what the time servers of the plan answer.
type netTimeArea struct {
	AllSilent problems // time servers, where not one answers
	Silent    problems // time servers that do not answer while others do
	Wrong     problems // time servers that are not synchronized themselves
	Differ    problems // time servers of which one is ahead of another
	Here      problems // machines that asked and whose clock is off
}

var netTimeChecks = check.Area("plan-network-time", networkNeeds, readNetTime, check.Fields[netTimeArea]{
	"plan-time-servers-silent": func(f *netTimeArea) *problems { return &f.AllSilent },
	"plan-time-server-silent":  func(f *netTimeArea) *problems { return &f.Silent },
	"plan-time-server-wrong":   func(f *netTimeArea) *problems { return &f.Wrong },
	"plan-time-servers-differ": func(f *netTimeArea) *problems { return &f.Differ },
	"plan-clock-here-off":      func(f *netTimeArea) *problems { return &f.Here },
})

// The bounds of differences. etcd warns from one second on (etcd-io/etcd:
// server/etcdserver/api/rafthttp/probing_status.go monitorProbingStatus). The certificates
// of an installation are valid from the time of the machine on that runs openshift-install.
const (
	maxDiffer = time.Second
	maxHere   = time.Minute
)

func readNetTime(ctx context.Context, w *facts.World) (netTimeArea, error) {
	var f netTimeArea
	l, err := readAnswers(ctx, w)
	if err != nil {
		return f, err
	}
	list := l.nearest(probe.NetTime)
	if len(list) == 0 {
		return f, check.NotApplicable("the plan names no time server")
	}
	var silent []probe.NetAnswer
	open, answered := "", map[string]bool{}
	for _, a := range list {
		switch {
		case a.NotRun != "":
			open = a.NotRun
		case a.TimeError != "":
			answered[a.Target] = true
			f.Wrong.Add(a.Target, hold(l.timeServer(a.Target), a, "time server %s answers with a time that hosts do not take: %s (stratum %d); choose "+
				"another one, or repair it", a.Target, a.TimeError, a.Stratum))
		case a.Synchronized:
			answered[a.Target] = true
		default:
			silent = append(silent, a)
		}
	}
	for _, a := range silent {
		to := &f.AllSilent
		if len(answered) > 0 {
			to = &f.Silent
		}
		switch {
		case answered[a.Target]: // another machine got an answer
		case l.inside[a.Vantage]:
			to.Add(a.Target, hold(l.timeServer(a.Target), a, "time server %s: %s; correct the name, or open UDP 123 for the hosts", a.Target, why(a)))
		default:
			open = outside(a, "time server "+a.Target)
		}
	}
	good := slices.DeleteFunc(l.of(probe.NetTime), func(a probe.NetAnswer) bool { return !a.Synchronized })
	f.compare(&l, good) // of machines elsewhere, too: one of them may run openshift-install
	if len(answered) == 0 {
		unproven(&f.AllSilent, open)
	}
	unproven(&f.Silent, open)
	if len(good) == 0 {
		unproven(&f.Wrong, open)
	}
	if open != "" || len(good) < 2 && len(silent) > 0 {
		unproven(&f.Differ, open)
	}
	if len(good) == 0 {
		unproven(&f.Here, open)
	}
	return f, nil
}

// timeServer is where the plan names a time server.
func (l *answers) timeServer(name string) node {
	for _, n := range slices.Concat(l.agent.get("additionalNTPSources").items(), l.install.get("platform", "baremetal", "additionalNTPServers").items()) {
		if n.text() == name {
			return n
		}
	}
	return l.install.get("platform")
}

// compare holds the servers against one another, as one machine sees them, and its clock
// against them.
func (f *netTimeArea) compare(l *answers, good []probe.NetAnswer) {
	for i, a := range good {
		for _, b := range good[:i] {
			if d := apart(a.Offset, b.Offset); a.Vantage == b.Vantage && d > maxDiffer {
				f.Differ.Add(a.Target, hold(l.timeServer(a.Target), a, "time servers %s and %s are %s apart; find out which "+
					"one is wrong", b.Target, a.Target, round(d)))
			}
		}
		alone := !slices.ContainsFunc(good, func(b probe.NetAnswer) bool { return b.Vantage == a.Vantage && apart(a.Offset, b.Offset) > maxDiffer })
		if d := apart(a.Offset, 0); d > maxHere && alone {
			ahead := "behind"
			if a.Offset < 0 {
				ahead = "ahead of"
			}
			f.Here.Add(a.Vantage, hold(l.timeServer(a.Target), a, "the clock of %s is %s %s time server %s; correct it before openshift-install runs "+
				"here: certificates of the installation are valid from its time on", a.Vantage, round(d), ahead, a.Target))
		}
	}
}

func apart(a, b float64) time.Duration {
	return time.Duration(math.Min(math.Abs(a-b), 1e9) * float64(time.Second))
}

func round(d time.Duration) string {
	if d > 10*time.Second {
		return d.Round(time.Second).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

// netRegistriesArea is the area plan-network-registries: what the registries of the plan answer, and their certificates.
type netRegistriesArea struct {
	Unreachable problems // registries that cannot be connected to
	Untrusted   problems // registries whose certificate hosts will not trust
	// UntrustedHere is the same, seen from where a proxy may be on the way.
	UntrustedHere problems
	Odd           problems // what answers and is no registry
}

var netRegistriesChecks = check.Area("plan-network-registries", networkNeeds, readNetRegistries, check.Fields[netRegistriesArea]{
	"plan-registry-unreachable":    func(f *netRegistriesArea) *problems { return &f.Unreachable },
	"plan-registry-untrusted":      func(f *netRegistriesArea) *problems { return &f.Untrusted },
	"plan-registry-untrusted-here": func(f *netRegistriesArea) *problems { return &f.UntrustedHere },
	"plan-registry-odd":            func(f *netRegistriesArea) *problems { return &f.Odd },
})

func readNetRegistries(ctx context.Context, w *facts.World) (netRegistriesArea, error) {
	var f netRegistriesArea
	l, err := readAnswers(ctx, w)
	if err != nil {
		return f, err
	}
	open, seen := "", ""
	for _, a := range l.nearest(probe.NetRegistry) {
		at := l.registry(a.Target)
		switch {
		case a.NotRun != "":
			open = a.NotRun
		case a.Stage == probe.StageNone && !l.inside[a.Vantage]:
			open = outside(a, "registry "+a.Target)
		case a.Stage == probe.StageNone:
			f.Unreachable.Add(a.Target, hold(at, a, "registry %s%s: %s; correct the name, or open the port for the hosts", a.Target, through(a), why(a)))
		case a.Trust != "" && a.Trust != probe.TrustVerified:
			to := &f.Untrusted
			if !l.inside[a.Vantage] {
				to, seen = &f.UntrustedHere, a.Vantage+" is in no network of the hosts: a proxy on the way may show another certificate"
			}
			to.Add(a.Target, hold(at, a, "the certificate of %s is not verified by %s: %s; %s", a.Target, a.VerifiedBy, a.TrustError, toTrust(a)))
		case a.Status != 200 && a.Status != 401:
			f.Odd.Add(a.Target, hold(at, a, "%s; a registry answers with 200 or 401", oddAnswer(a)))
		}
	}
	unproven(&f.Unreachable, open)
	unproven(&f.Untrusted, cmp.Or(seen, open))
	unproven(&f.UntrustedHere, open)
	unproven(&f.Odd, open)
	return f, nil
}

func through(a probe.NetAnswer) string {
	if a.Proxy == "" {
		return ""
	}
	return " through the proxy " + a.Proxy
}

// oddAnswer describes what is not the answer of a registry.
func oddAnswer(a probe.NetAnswer) string {
	if a.Status != 0 {
		return fmt.Sprintf("%s%s answers https://%s/v2/ with HTTP %d", a.Target, through(a), a.Target, a.Status)
	}
	return fmt.Sprintf("%s%s accepts connections, and then there is no answer to https://%s/v2/: %s", a.Target, through(a), a.Target, why(a))
}

// toTrust is what makes hosts trust a certificate. A CA more does not help against a wrong
// name or time.
func toTrust(a probe.NetAnswer) string {
	switch a.Trust {
	case probe.TrustExpired:
		return "renew the certificate"
	case probe.TrustNotYetValid:
		return "compare the clock of " + a.Vantage + " with that of the registry, or have the certificate issued again"
	case probe.TrustWrongName:
		return "have a certificate issued for this name, or write a name of the certificate into the plan"
	}
	return "add the CA that signed it to additionalTrustBundle, or correct the certificate"
}

// registry is where the plan names a registry first; that of releases is named nowhere.
func (l *answers) registry(name string) node {
	for _, key := range []string{"imageDigestSources", "imageContentSources"} {
		for _, source := range l.install.get(key).items() {
			for _, m := range source.get("mirrors").items() {
				if host, _, _ := strings.Cut(m.text(), "/"); host == name {
					return m
				}
			}
		}
	}
	return l.install.get("pullSecret")
}
