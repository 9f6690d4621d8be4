package accept

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// book knows three faults, two of them under one more name.
type book struct{}

func (book) Named(name string) []*fault.Fault {
	var list []*fault.Fault
	for _, f := range []*fault.Fault{
		{ID: "pool-paused", For: fault.Pool, Aliases: []string{"paused"}},
		{ID: "bmh-paused", For: fault.Host, Aliases: []string{"paused", "bmh-off"}},
		{ID: "etcd-no-quorum", For: fault.Cluster},
	} {
		if f.ID == name {
			return []*fault.Fault{f}
		}
		for _, a := range f.Aliases {
			if a == name {
				list = append(list, f)
			}
		}
	}
	return list
}

func near(word string) string {
	if word == "pool-pause" {
		return " (did you mean pool-paused?)"
	}
	return ""
}

func parse(t *testing.T, text string) *List {
	t.Helper()
	l, err := Parse("accept.yaml", []byte(text), book{}, near)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

const rest = "  reason: known\n  owner: sre\n  until: 2026-06-30\n"

func TestParseRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no list":        {"fault: pool-paused\n", "accept.yaml:1: want a list of entries, each with fault, subject, reason, owner and until"},
		"no YAML":        {"- fault: x\n  subject: [\n", "accept.yaml:2: "},
		"a tab":          {"- fault: x\n\tsubject: y\n", "accept.yaml:2: "},
		"two documents":  {"[]\n---\n[]\n", "accept.yaml: it holds more than one YAML document"},
		"a word":         {"- pool-paused\n", "accept.yaml:1: want an entry with fault, subject, reason, owner, until"},
		"no reason":      {"- fault: pool-paused\n  subject: pool/worker\n  owner: sre\n  until: 2026-06-30\n", "accept.yaml:1: the entry has no reason"},
		"an empty owner": {"# ours\n- fault: pool-paused\n  subject: pool/worker\n  reason: known\n  owner: \" \"\n  until: 2026-06-30\n", "accept.yaml:2: the entry has no owner"},
		"no date":        {"- fault: pool-paused\n  subject: pool/worker\n  reason: known\n  owner: sre\n  until: ~\n", "accept.yaml:1: the entry has no until"},
		"another date":   {"- fault: pool-paused\n  subject: pool/worker\n  reason: known\n  owner: sre\n  until: 30.06.2026\n", `accept.yaml:5: until "30.06.2026" is no date; write it as 2026-12-31`},
		"an odd date":    {"- fault: pool-paused\n  subject: pool/worker\n  reason: known\n  owner: sre\n  until: 2026-02-30\n", `accept.yaml:5: until "2026-02-30" is no date`},
		"a list":         {"- fault: pool-paused\n  subject: [pool/worker]\n" + rest, "accept.yaml:2: subject is not a text"},
		"an alias":       {"- fault: &f pool-paused\n  subject: *f\n" + rest, "accept.yaml:2: subject is not a text"},
		"another field":  {"- fault: pool-paused\n  subjekt: pool/worker\n" + rest, `accept.yaml:2: "subjekt" is no field of an entry; there are fault, subject, reason, owner, until, cluster`},
		"twice":          {"- fault: pool-paused\n  subject: pool/a\n  subject: pool/b\n" + rest, "accept.yaml:3: subject is there twice"},
		"no such fault":  {"- fault: pool-pause\n  subject: pool/worker\n" + rest, `accept.yaml:1: there is no fault "pool-pause" (did you mean pool-paused?)`},
		"several faults": {"- fault: paused\n  subject: pool/worker\n" + rest, `accept.yaml:1: "paused" is another name of several faults; name one of pool-paused, bmh-paused`},
		"no subject":     {"- fault: pool-paused\n  subject: worker\n" + rest, `accept.yaml:2: "worker" is no subject`},
		"empty cluster":  {"- fault: pool-paused\n  cluster: \"\"\n" + rest, "accept.yaml:2: cluster is empty"},
		"a named one":    {"- fault: etcd-no-quorum\n  subject: cluster/other\n" + rest, `accept.yaml:2: subject "cluster/other": write cluster, and the cluster's id in the field cluster`},
		"no such kind":   {"- fault: pool-paused\n  subject: pod/worker\n" + rest, `accept.yaml:2: "pod/worker" is no subject`},
		"another kind":   {"- fault: pool-paused\n  subject: node/w1\n" + rest, `accept.yaml:2: pool-paused is a fault of a pool, and "node/w1" is a host`},
		"no glob":        {"- fault: pool-paused\n  subject: \"pool/[a\"\n" + rest, `accept.yaml:2: subject "pool/[a": it is no valid glob`},
		"too long":       {strings.Repeat("#", MaxSize+1), "accept.yaml: longer than 1048576 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := Parse("accept.yaml", []byte(c.text), book{}, near)
			if err == nil {
				t.Fatalf("it is taken: %+v", l.entries)
			}
			if !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%q, want %q", err, c.want)
			}
		})
	}
}

// TestParseReportsAll: one run says everything that is wrong with a file.
func TestParseReportsAll(t *testing.T) {
	_, err := Parse("f", []byte("- fault: nothing\n  subject: pool/a\n  owner: sre\n  until: soon\n- {}\n"), book{}, near)
	if err == nil {
		t.Fatal("it is taken")
	}
	want := []string{"f:1: the entry has no reason", `f:1: there is no fault "nothing"`, `f:4: until "soon" is no date; write it as 2026-12-31`,
		"f:5: the entry has no fault", "f:5: the entry has no subject", "f:5: the entry has no reason", "f:5: the entry has no owner", "f:5: the entry has no until"}
	if diff := cmp.Diff(want, strings.Split(err.Error(), "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseNothing(t *testing.T) {
	for _, text := range []string{"", "# nothing is accepted\n", "[]\n", "~\n"} {
		if l := parse(t, text); len(l.entries) > 0 {
			t.Errorf("%q: %+v", text, l.entries)
		}
	}
}

func TestAccepted(t *testing.T) {
	now := time.Date(2026, 6, 30, 23, 59, 0, 0, time.UTC)
	worker := fault.Subject{Kind: fault.Pool, Name: "worker"}
	host := func(name string) fault.Subject { return fault.Subject{Kind: fault.Host, Name: name} }
	for name, c := range map[string]struct {
		entry   string
		key     fault.Key
		cluster string
		now     time.Time
		want    bool
	}{
		"by its id":             {"fault: pool-paused, subject: pool/worker", fault.Key{Fault: "pool-paused", Subject: worker}, "", now, true},
		"as oc writes it":       {"fault: pool-paused, subject: mcp/worker", fault.Key{Fault: "pool-paused", Subject: worker}, "", now, true},
		"by an alias":           {"fault: bmh-off, subject: node/w1", fault.Key{Fault: "bmh-paused", Subject: host("w1")}, "", now, true},
		"another subject":       {"fault: pool-paused, subject: pool/master", fault.Key{Fault: "pool-paused", Subject: worker}, "", now, false},
		"another fault":         {"fault: bmh-paused, subject: node/worker", fault.Key{Fault: "pool-paused", Subject: worker}, "", now, false},
		"another kind":          {"fault: bmh-paused, subject: node/worker", fault.Key{Fault: "bmh-paused", Subject: worker}, "", now, false},
		"a glob":                {"fault: bmh-paused, subject: node/w*", fault.Key{Fault: "bmh-paused", Subject: host("w17")}, "", now, true},
		"a glob that does not":  {"fault: bmh-paused, subject: node/w*", fault.Key{Fault: "bmh-paused", Subject: host("m0")}, "", now, false},
		"a name is no part":     {"fault: bmh-paused, subject: node/w1", fault.Key{Fault: "bmh-paused", Subject: host("w17")}, "", now, false},
		"any":                   {`fault: bmh-paused, subject: "*"`, fault.Key{Fault: "bmh-paused", Subject: host("m0")}, "", now, true},
		"the cluster":           {"fault: etcd-no-quorum, subject: cluster", fault.Key{Fault: "etcd-no-quorum", Subject: fault.Subject{Kind: fault.Cluster}}, "", now, true},
		"the cluster with name": {"fault: etcd-no-quorum, subject: cluster", fault.Key{Fault: "etcd-no-quorum", Subject: fault.Subject{Kind: fault.Cluster, Name: "x"}}, "", now, true},
		"this cluster":          {"fault: pool-paused, subject: pool/*, cluster: c1", fault.Key{Fault: "pool-paused", Subject: worker}, "c1", now, true},
		"another cluster":       {"fault: pool-paused, subject: pool/*, cluster: c1", fault.Key{Fault: "pool-paused", Subject: worker}, "c2", now, false},
		"no one knows which":    {"fault: pool-paused, subject: pool/*, cluster: c1", fault.Key{Fault: "pool-paused", Subject: worker}, "", now, false},
		"a minute later":        {"fault: pool-paused, subject: pool/*", fault.Key{Fault: "pool-paused", Subject: worker}, "", now.Add(time.Minute), false},
	} {
		t.Run(name, func(t *testing.T) {
			l := parse(t, "- {"+c.entry+", reason: known, owner: sre, until: 2026-06-30}\n")
			a, got := l.Accepted(c.cluster, c.key, c.now)
			if got != c.want {
				t.Fatalf("accepted: %v, want %v", got, c.want)
			}
			want := diagnosis.Acceptance{Reason: "known", Owner: "sre", Until: "2026-06-30", Entry: "accept.yaml:1"}
			if diff := cmp.Diff(want, a); got && diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestLongest: of two entries about one finding it is that which counts longer.
func TestLongest(t *testing.T) {
	l := parse(t, "- {fault: pool-paused, subject: pool/*, reason: a, owner: x, until: 2026-05-01}\n"+
		"- {fault: pool-paused, subject: pool/w*, reason: b, owner: y, until: 2026-07-01}\n"+
		"- {fault: pool-paused, subject: pool/worker, reason: c, owner: z, until: 2026-06-01}\n")
	k := fault.Key{Fault: "pool-paused", Subject: fault.Subject{Kind: fault.Pool, Name: "worker"}}
	if a, ok := l.Accepted("", k, time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)); !ok || a.Entry != "accept.yaml:2" {
		t.Errorf("%v %+v", ok, a)
	}
}

func TestNotes(t *testing.T) {
	finding := func(id string, kind fault.Kind, name string, o fault.Outcome) diagnosis.Finding {
		return diagnosis.Finding{Fault: id, Subject: fault.Subject{Kind: kind, Name: name}, Outcome: o}
	}
	settles := finding("bmh-paused", fault.Host, "w1", fault.Absent)
	settles.Until = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		entry, cluster string
		findings       []diagnosis.Finding
		want           []Note
	}{
		"used": {"subject: node/w*, until: 2026-06-30", "", []diagnosis.Finding{finding("bmh-paused", fault.Host, "w1", fault.Present)}, nil},
		"expired": {"subject: node/w*, until: 2026-04-27", "", []diagnosis.Finding{finding("bmh-paused", fault.Host, "w1", fault.Present)},
			[]Note{{true, "f:1: bmh-paused host/w* (owner sre) expired 2d12h ago, with the end of 2026-04-27: it no longer counts"}}},
		"more than a year": {"subject: node/w*, until: 2027-05-01", "", []diagnosis.Finding{finding("bmh-paused", fault.Host, "w1", fault.Present)},
			[]Note{{true, "f:1: bmh-paused host/w* (owner sre) counts until 2027-05-01, which is more than a year ahead"}}},
		"a year": {"subject: node/w*, until: 2027-04-30", "", []diagnosis.Finding{finding("bmh-paused", fault.Host, "w1", fault.Present)}, nil},
		"absent": {"subject: node/w1, until: 2026-06-30", "", []diagnosis.Finding{finding("bmh-paused", fault.Host, "w1", fault.Absent), finding("bmh-paused", fault.Host, "w2", fault.Present)},
			[]Note{{false, "f:1: bmh-paused host/w1 (owner sre) accepts nothing here: no such fault is present"}}},
		"no such subject": {"subject: node/w9, until: 2026-06-30", "", []diagnosis.Finding{finding("bmh-paused", fault.Host, "w1", fault.Unknown)},
			[]Note{{false, "f:1: bmh-paused host/w9 (owner sre) accepts nothing here: no such fault is present"}}},
		"unknown": {"subject: node/w1, until: 2026-06-30", "", []diagnosis.Finding{finding("bmh-paused", fault.Host, "w1", fault.Unknown)},
			[]Note{{false, "f:1: bmh-paused host/w1 (owner sre) accepts nothing here: whether this fault is present is unknown"}}},
		"no list of hosts": {"subject: node/w1, until: 2026-06-30", "", []diagnosis.Finding{finding("bmh-paused", fault.Host, "?", fault.Unknown)},
			[]Note{{false, "f:1: bmh-paused host/w1 (owner sre) accepts nothing here: whether this fault is present is unknown"}}},
		"normal so far": {"subject: node/w1, until: 2026-06-30", "", []diagnosis.Finding{settles},
			[]Note{{false, "f:1: bmh-paused host/w1 (owner sre) accepts nothing here: this fault is not present yet, what is there is normal so far"}}},
		"left out": {"subject: node/w1, until: 2026-06-30", "", []diagnosis.Finding{finding("pool-paused", fault.Pool, "worker", fault.Present)},
			[]Note{{false, "f:1: bmh-paused host/w1 (owner sre) accepts nothing here: this fault was not checked"}}},
		"another cluster": {"subject: node/w1, until: 2026-06-30, cluster: c1", "c2", nil,
			[]Note{{false, "entries for other clusters than c2, which do not count here: 1"}}},
		"some cluster": {"subject: node/w1, until: 2026-06-30, cluster: c1", "", nil,
			[]Note{{false, "f:1: bmh-paused host/w1 (owner sre) accepts nothing here: it is for cluster c1, and which cluster this is could not be read"}}},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := Parse("f", []byte("- {fault: bmh-paused, reason: known, owner: sre, "+c.entry+"}\n"), book{}, near)
			if err != nil {
				t.Fatal(err)
			}
			d := &diagnosis.Diagnosis{Now: time.Date(2026, 4, 30, 12, 0, 0, 0, time.UTC), Cluster: diagnosis.ClusterInfo{ID: c.cluster}, Findings: c.findings}
			if diff := cmp.Diff(c.want, l.Notes(d)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
