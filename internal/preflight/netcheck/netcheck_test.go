package netcheck

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/apipath"
	"github.com/rollcall-project/rollcall/internal/source/probe"
)

// TestNames: the name server of the plan is asked itself, over TCP where an answer is cut.
func TestNames(t *testing.T) {
	for _, big := range []bool{false, true} {
		records := map[string]string{"api.prod.example.com.": "192.0.2.5", "11.2.0.192.in-addr.arpa.": "m0.prod.example.com."}
		port, asked := nameServer(t, records, big)
		c := checkerOf(t, install(map[string]any{"baseDomain": "example.com", "metadata": map[string]any{"name": "prod"}}), ports{dns: port})
		c.want.servers = []string{"127.0.0.1"}
		c.want.hosts = []question{{"host m0", "192.0.2.11"}}
		tasks := slices.DeleteFunc(c.nameTasks(), func(t task) bool { return t.answer.Server == "" })
		if err := c.all(t.Context(), tasks); err != nil {
			t.Fatal(err)
		}
		if a := answerOf(t, c, probe.NetName, probe.NetAPI); !slices.Equal(a.Addresses, []string{"192.0.2.5"}) || a.Server != "127.0.0.1" {
			t.Errorf("big %v: %+v", big, a)
		}
		if a := answerOf(t, c, probe.NetName, probe.NetAPIInt); a.DNS != probe.DNSNoSuchName {
			t.Errorf("big %v: %+v", big, a)
		}
		if a := answerOf(t, c, probe.NetReverse, "host m0"); !slices.Equal(a.Names, []string{"m0.prod.example.com."}) {
			t.Errorf("big %v: %+v", big, a)
		}
		if names := asked(); !slices.Contains(names, "validateNoWildcardDNS.prod.example.com.") {
			t.Errorf("asked %q", names)
		}
	}
}

// TestSilentNameServer: a server that is not there is no name that is not there.
func TestSilentNameServer(t *testing.T) {
	port, _ := nameServer(t, nil, false)
	c := checkerOf(t, nil, ports{dns: port + 1})
	c.Step = 300 * time.Millisecond
	ctx, cancel := context.WithTimeout(t.Context(), c.Step)
	defer cancel()
	a := probe.NetAnswer{Host: "api.prod.example.com", Server: "127.0.0.1"}
	c.lookup(ctx, &a)
	if a.DNS != probe.DNSNoAnswer || a.Error == "" {
		t.Errorf("%+v", a)
	}
}

// TestPorts: who listens is connected to, its certificate is looked at, and nothing of ours
// is sent but the question.
func TestPorts(t *testing.T) {
	var got http.Header
	s := quiet(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Clone()
		w.WriteHeader(http.StatusUnauthorized)
	})
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	c := checkerOf(t, nil, ports{api: portOf(t, s), mcs: closed.Addr().(*net.TCPAddr).Port})
	open := probe.NetAnswer{Host: "127.0.0.1", Port: c.api}
	c.port(t.Context(), "api.prod.example.com", &open)
	if open.Status != http.StatusUnauthorized || open.Stage != probe.StageAnswered || len(open.Chain) == 0 {
		t.Errorf("%+v", open)
	}
	if got.Get("Authorization") != "" || got.Get("User-Agent") != "rollcall" {
		t.Errorf("sent %v", got)
	}
	refused := probe.NetAnswer{Host: "127.0.0.1", Port: c.mcs}
	c.port(t.Context(), "", &refused)
	if refused.ErrorClass != probe.ErrRefused || refused.Stage != probe.StageNone {
		t.Errorf("%+v", refused)
	}
}

// TestBalancer: where the cluster has no VIPs, what the names resolve to is asked.
func TestBalancer(t *testing.T) {
	plan := install(map[string]any{"baseDomain": "example.com", "metadata": map[string]any{"name": "prod"}, "platform": map[string]any{"none": map[string]any{}}})
	c := checkerOf(t, plan, ports{api: 6443, mcs: 22623, https: 443})
	c.out = []probe.NetAnswer{
		{Kind: probe.NetName, Target: probe.NetAPI, Addresses: []string{"192.0.2.9"}},
		{Kind: probe.NetName, Target: probe.NetAPIInt, Server: "192.0.2.2", Addresses: []string{"192.0.2.8"}},
	}
	var got []string
	for _, task := range c.portTasks() {
		got = append(got, task.answer.Target+" "+net.JoinHostPort(task.answer.Host, strconv.Itoa(task.answer.Port)))
	}
	if want := []string{"api 192.0.2.9:6443", "api-int 192.0.2.8:6443", "api-int 192.0.2.8:22623"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	plan[0].Content["config"].(map[string]any)["controlPlane"] = map[string]any{"replicas": int64(1)}
	if tasks := checkerOf(t, plan, c.ports).portTasks(); len(tasks) != 0 {
		t.Errorf("one host needs no load balancer: %v", tasks)
	}
}

// TestRegistry: its certificate is verified with the trust bundle of the plan.
func TestRegistry(t *testing.T) {
	s := quiet(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v2/" || r.Header.Get("Authorization") != "" {
			t.Errorf("asked for %s with %v", r.URL.Path, r.Header)
		}
		w.WriteHeader(http.StatusUnauthorized)
	})
	for _, trusted := range []bool{false, true} {
		o := Options{Vantage: "here", Step: 2 * time.Second}
		if trusted {
			o.Bundle = [][]byte{s.Certificate().Raw}
		}
		c, err := newChecker(nil, o)
		if err != nil {
			t.Fatal(err)
		}
		a := probe.NetAnswer{Kind: probe.NetRegistry, Host: "127.0.0.1", Port: portOf(t, s), At: time.Now()}
		c.registry(t.Context(), &a)
		want := probe.TrustUnknownCA
		if trusted {
			want = probe.TrustVerified
		}
		if a.Status != http.StatusUnauthorized || a.Trust != want {
			t.Errorf("trusted %v: %+v", trusted, a)
		}
	}
}

// TestRegistryThroughProxy: hosts go through the proxy of the plan, and no credential is
// sent to it.
func TestRegistryThroughProxy(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Header.Get("Proxy-Authorization") != "" {
			t.Errorf("%s %v", r.Method, r.Header)
		}
		w.WriteHeader(http.StatusProxyAuthRequired)
	}))
	defer proxy.Close()
	c := checkerOf(t, nil, ports{})
	c.want.proxy, c.want.noProxy = proxy.URL, []string{".example.org"}
	a := probe.NetAnswer{Kind: probe.NetRegistry, Host: "quay.example.com", Port: 443, At: time.Now()}
	c.registry(t.Context(), &a)
	if !strings.Contains(a.NotRun, "credential") || a.Proxy == "" {
		t.Errorf("%+v", a)
	}
	c.want.noProxy = []string{"quay.example.com"}
	a = probe.NetAnswer{Kind: probe.NetRegistry, Host: "quay.example.com", Port: 443, At: time.Now()}
	limited, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	c.registry(limited, &a)
	if a.Proxy != "" || a.ErrorClass == "" {
		t.Errorf("exempt: %+v", a)
	}
}

func TestClock(t *testing.T) {
	c := checkerOf(t, nil, ports{})
	for name, s := range map[string]struct {
		stratum byte
		ahead   time.Duration
		good    bool
	}{"right": {2, 0, true}, "an hour ahead": {2, time.Hour, true}, "not synchronized": {16, 0, false}, "kiss of death": {0, 0, false}} {
		a := probe.NetAnswer{Host: "127.0.0.1", Port: timeServer(t, s.stratum, s.ahead)}
		c.clock(t.Context(), &a)
		if off := a.Offset - s.ahead.Seconds(); a.Synchronized != s.good || s.good && (off > 0.5 || off < -0.5) || !s.good && a.TimeError == "" {
			t.Errorf("%s: %+v", name, a)
		}
	}
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	c.Step = 200 * time.Millisecond
	a := probe.NetAnswer{Host: "127.0.0.1", Port: silent.LocalAddr().(*net.UDPAddr).Port}
	c.clock(t.Context(), &a)
	if a.ErrorClass != probe.ErrTimeout || a.Stage != probe.StageNone {
		t.Errorf("%+v", a)
	}
}

// TestFromNode: from a node there are its own names and connections, and nothing else.
func TestFromNode(t *testing.T) {
	notRun := errors.New("no exec")
	from := &apipath.From{Name: "node/m0", NotRun: func(err error) bool { return errors.Is(err, notRun) },
		Lookup: func(_ context.Context, host string) ([]string, error) {
			if strings.HasPrefix(host, "api.") {
				return []string{"192.0.2.5"}, nil
			}
			return nil, notRun
		},
		Dial: func(context.Context, string, string) (net.Conn, error) { return nil, notRun }}
	plan := install(map[string]any{"baseDomain": "example.com", "metadata": map[string]any{"name": "prod"}, "platform": map[string]any{"baremetal": map[string]any{
		"apiVIPs": []any{"192.0.2.5"}, "additionalNTPServers": []any{"192.0.2.3"}}}})
	list, err := Ask(t.Context(), plan, Options{From: from})
	if err != nil {
		t.Fatal(err)
	}
	run := 0
	for _, o := range list {
		a, err := evidence.Decode[probe.NetAnswer](o)
		if err != nil {
			t.Fatal(err)
		}
		if a.Vantage != "node/m0" {
			t.Errorf("vantage %q", a.Vantage)
		}
		if a.NotRun == "" {
			run++
			if a.Target != probe.NetAPI || len(a.Addresses) != 1 {
				t.Errorf("%+v", a)
			}
		}
	}
	if run != 1 {
		t.Errorf("%d of %d answers", run, len(list))
	}
}

// TestWriteRead: what another machine wrote is read as it was.
func TestWriteRead(t *testing.T) {
	want, err := objects([]probe.NetAnswer{{Kind: probe.NetTime, Host: "192.0.2.3", Vantage: "iso", At: time.Unix(1, 0).UTC(), Offset: 1.5}, {Kind: probe.NetVantage, Vantage: "iso", Networks: []string{"192.0.2.0/24"}}})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := Write(&file, want); err != nil {
		t.Fatal(err)
	}
	got, err := Read(&file)
	if err != nil || len(got) != len(want) || got[0].Name != want[0].Name {
		t.Fatalf("%v %v", got, err)
	}
	for text, wrong := range map[string]string{"kind: Pod\n": "kind", "a: 1\n": "unknown field", "[": "neither", "kind: NetworkAnswers\nanswers: {a: {colour: red}}\n": "unknown field"} {
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestWanted(t *testing.T) {
	plans := append(install(map[string]any{"BaseDomain": "example.com", "metadata": map[string]any{"name": "prod"},
		"platform":           map[string]any{"BareMetal": map[string]any{"apiVips": []any{"192.0.2.5"}, "ingressVIP": "192.0.2.6"}},
		"imageDigestSources": []any{map[string]any{"source": "quay.io/a", "mirrors": []any{"mirror.example.com:8443/a", "mirror.example.com:8443/b"}}},
	}), evidence.Object{Content: map[string]any{"type": "AgentConfig", "config": map[string]any{
		"additionalNTPSources": []any{"ntp.example.com"},
		"hosts": []any{map[string]any{"hostname": "m0", "networkConfig": map[string]any{
			"dns-resolver": map[string]any{"config": map[string]any{"server": []any{"192.0.2.2", "nonsense"}}},
			"routes":       map[string]any{"config": []any{map[string]any{"next-hop-address": "192.0.2.1"}, map[string]any{"next-hop-address": "fe80::1"}}},
			"interfaces":   []any{map[string]any{"ipv4": map[string]any{"address": []any{map[string]any{"ip": "192.0.2.11"}}}}},
		}}},
	}}})
	w := wanted(plans)
	for what, ok := range map[string]bool{
		"api": slices.Equal(w.api, []string{"192.0.2.5"}), "ingress": slices.Equal(w.ingress, []string{"192.0.2.6"}),
		"registries": slices.Equal(w.registries, []string{"mirror.example.com:8443"}), "times": slices.Equal(w.times, []string{"ntp.example.com"}),
		"servers": slices.Equal(w.servers, []string{"192.0.2.2"}), "gateways": slices.Equal(w.gateways, []string{"192.0.2.1"}),
		"hosts": slices.Equal(w.hosts, []question{{"host m0", "192.0.2.11"}}), "names": len(w.names) == 4 && w.names[0].host == "api.prod.example.com",
	} {
		if !ok {
			t.Errorf("%s: %+v", what, w)
		}
	}
}

// TestHostileServer: what a server sends endlessly is read to a bound, in time.
func TestHostileServer(t *testing.T) {
	s := quiet(t, func(w http.ResponseWriter, r *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	})
	c := checkerOf(t, nil, ports{})
	a := probe.NetAnswer{Kind: probe.NetRegistry, Host: "127.0.0.1", Port: portOf(t, s), At: time.Now()}
	c.registry(t.Context(), &a)
	if a.Status != http.StatusOK {
		t.Errorf("%+v", a)
	}
	// A server that accepts and is silent costs one step.
	silent, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: s.TLS.Certificates})
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	limited, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	a = probe.NetAnswer{Kind: probe.NetRegistry, Host: "127.0.0.1", Port: silent.Addr().(*net.TCPAddr).Port, At: time.Now()}
	c.registry(limited, &a)
	if a.ErrorClass != probe.ErrTimeout {
		t.Errorf("%+v", a)
	}
}

func TestFailureOfNameServer(t *testing.T) {
	port, _ := nameServer(t, map[string]string{"api.prod.example.com.": "SERVFAIL"}, false)
	c := &checker{ports: ports{dns: port}}
	a := probe.NetAnswer{Kind: probe.NetName, Host: "api.prod.example.com", Server: "127.0.0.1"}
	c.lookup(t.Context(), &a)
	if a.DNS != probe.DNSFailure || a.Error != "the name server answers with SERVFAIL" {
		t.Errorf("%q, %q", a.DNS, a.Error)
	}
}

func TestMachinesOfOneName(t *testing.T) {
	list := func(error string) []evidence.Object {
		all, err := objects([]probe.NetAnswer{
			{Kind: probe.NetVantage, Vantage: "localhost"}, {Kind: probe.NetTime, Host: "ntp", Vantage: "localhost", Error: error},
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	var m Machines
	seen := map[string]string{}
	for _, error := range []string{"", "timeout", "refused"} {
		all, err := m.Named(list(error))
		if err != nil || len(all) != 2 {
			t.Fatal(all, err)
		}
		for _, o := range all {
			a, err := evidence.Decode[probe.NetAnswer](o)
			if err != nil {
				t.Fatal(err)
			}
			seen[a.Vantage] += string(a.Kind) + a.Error + " "
		}
	}
	for name, want := range map[string]string{"localhost": "", "localhost (2)": "timeout", "localhost (3)": "refused"} {
		if !strings.Contains(seen[name], string(probe.NetTime)+want) || !strings.Contains(seen[name], string(probe.NetVantage)) {
			t.Errorf("%s: %q", name, seen[name])
		}
	}
}
