package checks

import (
	"net/netip"
	"regexp"
	"slices"
	"testing"
)

// The checks are proved by the cases of internal/preflight. Here is what many of them use.

func TestEndpoint(t *testing.T) {
	same := []string{"redfish://10.1.1.2/redfish/v1/Systems/1", "REDFISH://10.1.1.2:443/redfish/v1/Systems/1/", "redfish+https://10.1.1.2/redfish/v1/Systems/1"}
	for _, a := range same[1:] {
		if endpoint(a) != endpoint(same[0]) {
			t.Errorf("%s is %s, %s is %s", a, endpoint(a), same[0], endpoint(same[0]))
		}
	}
	for _, other := range []string{"redfish://10.1.1.3/redfish/v1/Systems/1", "redfish://10.1.1.2/redfish/v1/Systems/2", "redfish+http://10.1.1.2/redfish/v1/Systems/1", "ipmi://10.1.1.2", "10.1.1.2"} {
		if endpoint(other) == endpoint(same[0]) {
			t.Errorf("%s is taken for %s", other, same[0])
		}
	}
	if endpoint("10.1.1.2") != endpoint("ipmi://10.1.1.2:623") {
		t.Error("an address without a scheme is not IPMI's")
	}
}

// TestBMCURL: addresses that the bare metal operator reads, and what to write instead of others.
func TestBMCURL(t *testing.T) {
	for address, want := range map[string]string{
		"10.1.1.2": "ipmi", "10.1.1.2:623": "ipmi", "bmc-1.example.com": "ipmi", "ipmi://BMC1:6230": "ipmi", "redfish:10.1.1.2": "redfish",
		"REDFISH+http://10.1.1.2:8000/redfish/v1/Systems/1": "redfish+http", "redfish://[fd00:99::10]/redfish/v1/Systems/1": "redfish", "redfish://[fd00:99::10]:443/x": "redfish",
	} {
		if scheme, problem := bmcURL(address); scheme != want || problem != "" {
			t.Errorf("%s: %q, %q", address, scheme, problem)
		}
	}
	for address, want := range map[string]string{
		"redfish://fd00:99::10/redfish/v1/Systems/1": "an IPv6 address needs brackets; write [fd00:99::10], and a port behind the bracket",
		"redfish://fd00:99::11:8000/redfish/v1":      "an IPv6 address needs brackets; write [fd00:99::11:8000], and a port behind the bracket",
		"redfish://fd00:99::a1/redfish/v1/Systems/1": "an IPv6 address needs brackets; write [fd00:99::a1], and a port behind the bracket",
		"fd00:99::a1":                        "an IPv6 address needs brackets; write [fd00:99::a1], and a port behind the bracket",
		"redfish://10.1.1.2:port/redfish/v1": "the port \"port\" is no number; write 10.1.1.2 or 10.1.1.2:443",
		"redfish://10.1.1.2 /redfish/v1":     "\"10.1.1.2 \" has a blank; remove it",
		"bmc 1":                              "\"bmc 1\" has a blank; remove it",
		"redfish://bmc_m1.example.com:443/redfish/v1": "bmc_m1.example.com has a _, which is refused; write another name or the IP address",
		"bmc_m1":                                "bmc_m1 has a _, which is refused; write another name or the IP address",
		"redfish://bmc.example.com./redfish/v1": "\"redfish://bmc.example.com./redfish/v1\" cannot be read; write SCHEME://HOST:PORT/PATH, and % in it as %25",
		"redfish://10.1.1.2/redfish/%v1":        "\"redfish://10.1.1.2/redfish/%v1\" cannot be read; write SCHEME://HOST:PORT/PATH, and % in it as %25",
	} {
		if scheme, problem := bmcURL(address); problem != want {
			t.Errorf("%s: %q, %q, want %q", address, scheme, problem, want)
		}
	}
}

func TestExempt(t *testing.T) {
	names := []string{"10.1.1.0/24", ".example.com", "host.example.org", ""}
	for host, want := range map[string]bool{
		"10.1.1.7": true, "10.1.2.7": false, "a.example.com": true, "example.com": false, "host.example.org": true, "a.host.example.org": true, "example.org": false, "notexample.com": false,
	} {
		if got := exempt(names, host); got != want {
			t.Errorf("%s: %v, want %v", host, got, want)
		}
	}
}

func TestEdge(t *testing.T) {
	for text, want := range map[string]bool{"10.0.0.0": true, "10.0.0.255": true, "10.0.0.1": false, "10.0.0.254": false} {
		if got := edge(netip.MustParsePrefix("10.0.0.0/24"), netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	if edge(netip.MustParsePrefix("10.0.0.0/31"), netip.MustParseAddr("10.0.0.0")) {
		t.Error("both addresses of a /31 are of hosts")
	}
}

func TestMinorOf(t *testing.T) {
	for text, want := range map[string]int{"4.18": 18, "4.9.1": 9, "4.21.0-rc.1": 21} {
		if got, ok := minorOf(text); !ok || got != want {
			t.Errorf("%s: %d, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "5.1", "4", "x"} {
		if n, ok := minorOf(text); ok {
			t.Errorf("%q: %d", text, n)
		}
	}
}

func TestUnknownKeys(t *testing.T) {
	known := parseKeys(": a b c+\nb.*: d\n")
	root := node{&document{}, "", map[string]any{"A": 1, "b": []any{map[string]any{"d": 1, "e": 2}}, "c": map[string]any{"any": 1}, "x": 1}}
	var got []string
	known.unknown(root, func(n node, _ []string) { got = append(got, n.path) })
	if want := []string{"b[0].e", "x"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestMoreLines: a later line of a block adds fields, and replaces those that are there.
func TestMoreLines(t *testing.T) {
	k := parseKeys(": a b\na+: c\nb: d\na: e#\n: b{}\nx.y: z\n")
	a, b := k.fields["a"], k.fields["b"]
	if !a.open || a.fields["c"] == nil || a.fields["e"].form != intForm {
		t.Errorf("a: %+v", a)
	}
	if !b.open || b.form != blockForm || len(b.fields) != 0 {
		t.Errorf("b: %+v", b)
	}
	if x := k.fields["x"]; x.form != blockForm || x.open || x.fields["y"].fields["z"] == nil {
		t.Errorf("x: %+v", x)
	}
}

// TestMoreForms: times, durations, blocks of texts, and blocks that have other fields, too.
func TestMoreForms(t *testing.T) {
	known := parseKeys(": t@ d~ m{text} n# o\no+: p?\n")
	for _, c := range []struct {
		value map[string]any
		want  []string
	}{
		{map[string]any{"t": "2026-01-02T15:04:05Z", "d": "8h", "m": map[string]any{"a.b/c": "x", "d": int64(1)}, "n": 7.0, "o": map[string]any{"p": true, "q": []any{}}}, nil},
		{map[string]any{"t": "2026-01-02", "d": int64(8), "m": map[string]any{"a.b/c": []any{}}, "n": 7.5, "o": map[string]any{"p": "x"}}, []string{"d", "m.a.b/c", "n", "o.p", "t"}},
	} {
		var got, unknown []string
		root := node{&document{}, "", c.value}
		known.wrong(root, func(n node, _ form) { got = append(got, n.path) })
		known.unknown(root, func(n node, _ []string) { unknown = append(unknown, n.path) })
		slices.Sort(got)
		if !slices.Equal(got, c.want) || unknown != nil {
			t.Errorf("%v: %v, want %v; unknown %v", c.value, got, c.want, unknown)
		}
	}
	if k := parseKeys(": a b#\n").onlyWords(); k.fields["a"].form != strictString || k.fields["b"].form != intForm {
		t.Errorf("%+v", k)
	}
}

func TestWrongForm(t *testing.T) {
	known := parseKeys(": a! b c# d? e[] f{} g+\nh.*: i#\n")
	for _, c := range []struct {
		value map[string]any
		want  []string
	}{
		{map[string]any{"a": "x", "b": int64(1), "c": int64(1), "d": true, "e": []any{"x", int64(1)}, "f": map[string]any{"x": []any{}}, "g": 1.5, "h": []any{map[string]any{"i": int64(1)}}}, nil},
		{map[string]any{"a": int64(1), "b": []any{}, "c": "1", "d": "yes", "e": "x", "f": "x", "h": []any{"x"}}, []string{"a", "b", "c", "d", "e", "f", "h[0]"}},
		{map[string]any{"a": []any{}, "b": map[string]any{}, "c": 1.5, "d": int64(1), "e": []any{[]any{}}, "f": []any{}, "h": map[string]any{}}, []string{"a", "b", "c", "d", "e[0]", "f", "h"}},
		{map[string]any{"a": nil, "b": nil, "c": nil, "e": nil, "E": "x", "h": nil}, []string{"E"}},
	} {
		var got []string
		known.wrong(node{&document{}, "", c.value}, func(n node, _ form) { got = append(got, n.path) })
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.value, got, c.want)
		}
	}
}

// TestReplicas: of a number in quotes is said only that it has quotes.
func TestReplicas(t *testing.T) {
	for value, want := range map[any][]string{"3": nil, int64(3): nil, int64(0): {"controlPlane.replicas"}, int64(-1): {"controlPlane.replicas"}} {
		var f fileArea
		control := map[string]any{"replicas": value}
		f.pools(plans{install: node{&document{}, "", map[string]any{"controlPlane": control}}})
		if got := f.Unsupported.Names(); !slices.Equal(got, want) {
			t.Errorf("%#v: %v, want %v", value, got, want)
		}
	}
}

// TestGrammar: no text of a plan counts "1 hosts".
func TestGrammar(t *testing.T) {
	p := plans{install: node{&document{}, "", map[string]any{"controlPlane": map[string]any{"replicas": int64(1)},
		"compute": []any{map[string]any{"name": "worker", "replicas": int64(1)}}}}}
	var f hostArea
	list := []host{{}}
	f.count(p, list)
	f.roles(p.install, list, map[string]int64{"master": 1, "worker": 1})
	p.agent = p.install
	f.count(p, list)
	for _, item := range slices.Concat(f.Count.Evidence(), f.Fewer.Evidence()) {
		if one := regexp.MustCompile(`\b1 (hosts|masters|workers|were|are)\b`).FindString(item.Excerpt); one != "" {
			t.Errorf("%q says %q", item.Excerpt, one)
		}
	}
}
