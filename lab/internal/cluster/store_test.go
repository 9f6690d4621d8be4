package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
)

// keys is an etcd of one process: the parts of its JSON API that Store speaks.
type keys struct {
	entries map[string]Entry
	ops     []int // of each transaction
}

func (k *keys) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Key      []byte `json:"key"`
		RangeEnd []byte `json:"range_end"`
		Compare  []struct {
			Key         []byte `json:"key"`
			ModRevision string `json:"mod_revision"`
		} `json:"compare"`
		Success []struct {
			RequestPut Entry `json:"requestPut"`
		} `json:"success"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	switch r.URL.Path {
	case "/v3/kv/range":
		var found []Entry
		for _, key := range slices.Sorted(maps.Keys(k.entries)) {
			if key == string(in.Key) || in.RangeEnd != nil && key >= string(in.Key) && key < string(in.RangeEnd) {
				found = append(found, k.entries[key])
			}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"kvs": found}) // the client has gone
	case "/v3/kv/txn":
		ok := true
		for _, c := range in.Compare {
			ok = ok && fmt.Sprint(k.entries[string(c.Key)].Revision) == c.ModRevision
		}
		k.ops = append(k.ops, len(in.Success))
		for _, s := range in.Success {
			if e := s.RequestPut; ok {
				k.entries[string(e.Key)] = Entry{Key: e.Key, Value: e.Value, Revision: k.entries[string(e.Key)].Revision + 1}
			}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"succeeded": ok})
	case "/v3/watch":
		k.watch(w)
	default:
		http.NotFound(w, r)
	}
}

func TestStore(t *testing.T) {
	etcd := &keys{entries: map[string]Entry{}}
	server := httptest.NewServer(etcd)
	defer server.Close()
	s := &Store{client: server.Client(), url: server.URL + "/v3/"}
	values := map[string][]byte{"/other": []byte("x")}
	for i := range 2*putAtOnce + 1 {
		values[fmt.Sprintf("/pods/%03d", i)] = []byte{byte(i)}
	}
	if err := s.Put(t.Context(), values); err != nil {
		t.Fatal(err)
	}
	if n := slices.Max(etcd.ops); n > putAtOnce {
		t.Errorf("%d values in one transaction", n)
	}
	list, err := s.Keys(t.Context(), "/pods/")
	if err != nil || len(list) != 2*putAtOnce+1 {
		t.Fatalf("%d keys, %v", len(list), err)
	}
	e, err := s.Get(t.Context(), "/pods/007")
	if err != nil || e == nil || string(e.Value) != "\a" {
		t.Fatalf("%+v, %v", e, err)
	}
	if none, err := s.Get(t.Context(), "/pods/none"); none != nil || err != nil {
		t.Errorf("a key that is not there: %v, %v", none, err)
	}
	if err := s.Replace(t.Context(), *e, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if err := s.Replace(t.Context(), *e, []byte("late")); !errors.Is(err, ErrChanged) {
		t.Errorf("a write over another's: %v", err)
	}
	if e, err = s.Get(t.Context(), "/pods/007"); err != nil || string(e.Value) != "new" {
		t.Errorf("%+v, %v", e, err)
	}
	s.url = server.URL + "/v2/"
	if _, err := s.Get(t.Context(), "/pods/007"); err == nil {
		t.Error("an etcd that does not know the question answered it")
	}
}

func TestKubeconfig(t *testing.T) {
	raw, err := Kubeconfig("https://127.0.0.5:6443", []byte("ca"), Credential{Token: "t"})
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := clientcmd.RESTConfigFromKubeConfig(raw)
	if err != nil || cfg.Host != "https://127.0.0.5:6443" || cfg.BearerToken != "t" || string(cfg.CAData) != "ca" || cfg.Insecure {
		t.Errorf("%+v, %v", cfg, err)
	}
	if strings.Contains(string(raw), "insecure-skip-tls-verify: true") {
		t.Error("TLS is not verified")
	}
}

// watch answers as etcd's gateway does: that the watch stands, then parts of a stream.
func (k *keys) watch(w http.ResponseWriter) {
	for _, part := range []string{
		`{"result":{"header":{"revision":"7"},"created":true}}`,
		`{"result":{"header":{"revision":"8"},"events":[{"kv":{"key":"L3BvZHMvYQ==","value":"eA=="}},{"type":"DELETE","kv":{"key":"L3BvZHMvYg=="}}]}}`,
		`{"result":{"canceled":true,"cancel_reason":"compacted"}}`,
	} {
		fmt.Fprintln(w, part)
	}
}

func TestWatch(t *testing.T) {
	server := httptest.NewServer(&keys{})
	defer server.Close()
	s := &Store{client: server.Client(), url: server.URL + "/v3/"}
	var seen []string
	err := s.Watch(t.Context(), "/pods/", func(key string) { seen = append(seen, key) })
	if want := []string{"/pods/a", "/pods/b"}; !slices.Equal(seen, want) {
		t.Errorf("saw %q, want %q", seen, want)
	}
	if err == nil || !strings.Contains(err.Error(), "etcd has ended it: compacted") {
		t.Errorf("the end of a watch: %v", err)
	}
}
