package installer

import (
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/yaml"
)

// moduleDir is where the installer's module is.
func moduleDir(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/openshift/installer").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// values are what a field is set to: nothing, other types, other forms.
var values = []any{nil, "", "x", "a_b", -1, 0, 2, 6, 99, true, []any{}, []any{"x"}, map[string]any{}, "192.168.10.7", "192.168.11.7", "10.128.0.0/16", "192.168.10.0/23", "192.168.10.9/24", "fd00::/64", "fd00::1", "redfish://10.1.1.1", "ipmi://10.1.1.9", "http://a b", "Managed", "UEFISecureBoot", "master", "worker", "arm64"}

// mutation is one value of a plan that is another one.
type mutation struct {
	file, path string
	value      any
}

// walk calls f for each value below v, with a function that replaces it.
func walk(v any, path string, f func(path string, set func(any))) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			f(path+"."+k, func(to any) {
				if to == nil {
					delete(v, k)
				} else {
					v[k] = to
				}
			})
			walk(v[k], path+"."+k, f)
		}
	case []any:
		for i := range v {
			f(fmt.Sprintf("%s[%d]", path, i), func(to any) { v[i] = to })
			if i < 2 { // the third host has nothing new
				walk(v[i], fmt.Sprintf("%s[%d]", path, i), f)
			}
		}
	}
}

// mutations are the single changes of a plan, of which every n-th is taken.
func mutations(t *testing.T, p plan, n uint32) []mutation {
	t.Helper()
	var all []mutation
	for _, file := range slices.Sorted(maps.Keys(p)) {
		for i, doc := range documents(t, p[file]) {
			walk(doc, fmt.Sprintf("%d", i), func(path string, _ func(any)) {
				for _, v := range values {
					h := fnv.New32a()
					fmt.Fprint(h, file, path, v)
					if h.Sum32()%n == 0 {
						all = append(all, mutation{file, path, v})
					}
				}
			})
		}
	}
	return all
}

func documents(t *testing.T, text string) []any {
	t.Helper()
	var all []any
	for _, doc := range strings.Split(text, "\n---\n") {
		var v any
		if err := yaml.Unmarshal([]byte(doc), &v); err != nil {
			t.Fatal(err)
		}
		if v != nil {
			all = append(all, v)
		}
	}
	return all
}

func (m mutation) of(t *testing.T, p plan) plan {
	t.Helper()
	out := maps.Clone(p)
	docs := documents(t, p[m.file])
	var texts []string
	for i, doc := range docs {
		walk(doc, fmt.Sprintf("%d", i), func(path string, set func(any)) {
			if path == m.path {
				set(m.value)
			}
		})
		texts = append(texts, encode(t, doc))
	}
	out[m.file] = strings.Join(texts, "---\n")
	return out
}

// milder are changes that the installer refuses and that are no mistake here, by the file that is
// changed and a part of the installer's message, with the reason.
var milder = []struct{ file, says, why string }{
	{"cluster-manifests/cluster-image-set.yaml", "value must be equal to", "no plan names the release of openshift-install"},
	{"cluster-manifests/nmstateconfig.yaml", "unmarshal", "nmstate judges its documents"},
	{"install-config.yaml", "must specify at least one VIP", "the installer asks DNS for the VIPs that are not written, and no name resolves where it is tested"},
}

func excused(m mutation, says string) bool {
	return slices.ContainsFunc(milder, func(e struct{ file, says, why string }) bool {
		return m.file == e.file && strings.Contains(says, e.says)
	})
}

// TestMutations: plans without a mistake of which one value is another one. Where the
// installer's code refuses the plan, preflight finds a mistake. EVERY=1 takes all changes, and
// not every twelfth.
func TestMutations(t *testing.T) {
	prepare(t)
	program := rollcall(t)
	n := uint32(12)
	if testing.Short() {
		n = 120
	}
	if every, err := strconv.ParseUint(os.Getenv("EVERY"), 10, 32); err == nil && every > 0 {
		n = uint32(every)
	}
	for _, name := range []string{"ipi", "agent", "objects"} {
		t.Run(name, func(t *testing.T) {
			p := base(t, name)
			if says, err := installerSays(p); err != nil || says != "" {
				t.Fatalf("the plan without a mistake: %q, %v", says, err)
			}
			list := mutations(t, p, n)
			refused, stricter, softer := 0, 0, 0
			type result struct {
				says string
				a    answer
				err  error
			}
			results := make([]result, len(list))
			for i, m := range list { // one after the other: the installer's code has globals
				results[i].says, results[i].err = installerSays(m.of(t, p))
			}
			var group sync.WaitGroup
			limit := make(chan struct{}, 2)
			for i, m := range list {
				group.Add(1)
				limit <- struct{}{}
				q := m.of(t, p)
				go func() {
					defer func() { <-limit; group.Done() }()
					var err error
					if results[i].a, err = preflightSays(program, q); err != nil {
						results[i].err = err
					}
				}()
			}
			group.Wait()
			for i, r := range results {
				m := list[i]
				switch {
				case r.err != nil:
					t.Errorf("%s %s = %v: %v", m.file, m.path, m.value, r.err)
				case r.says != "":
					refused++
					if r.a.refuses() {
						continue
					}
					softer++
					if !excused(m, r.says) {
						t.Errorf("MILDER %s %s = %#v\n\t%s\n\there: %v", m.file, m.path, m.value, r.says, r.a.warnings)
					}
				case r.a.refuses():
					stricter++
					t.Logf("stricter: %s %s = %#v: %v %s", m.file, m.path, m.value, r.a.mistakes, r.a.failed)
				}
			}
			t.Logf("%d plans: the installer refuses %d, of which %d are no mistake here; %d are a mistake here alone", len(list), refused, softer, stricter)
		})
	}
}
