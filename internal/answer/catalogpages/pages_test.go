package catalogpages

import (
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/facts/all"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

const tree = "../../../docs/catalog"

func load(t *testing.T) *fault.Catalog {
	t.Helper()
	c, err := fault.Load(catalog.FS)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSameBytes(t *testing.T) {
	c := load(t)
	if first := All(c, all.All()); !maps.Equal(first, All(c, all.All())) {
		t.Error("two runs differ")
	}
}

var (
	codeBlock = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	codeSpan  = regexp.MustCompile("`[^`\n]*`")
	target    = regexp.MustCompile(`\]\(([^)]+)\)`)
	heading   = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// TestLinks follows every relative link, with its anchor.
func TestLinks(t *testing.T) {
	c := load(t)
	checkLinks(t, All(c, all.All()))
	checkLinks(t, Indexes(c, all.All()))
}

func checkLinks(t *testing.T, files map[string]string) {
	t.Helper()
	anchors := map[string][]string{}
	for name, text := range files {
		for _, m := range heading.FindAllStringSubmatch(codeBlock.ReplaceAllString(text, ""), -1) {
			anchors[name] = append(anchors[name], Slug(m[1]))
		}
	}
	for name, text := range files {
		text = codeSpan.ReplaceAllString(codeBlock.ReplaceAllString(text, ""), "code")
		for _, m := range target.FindAllStringSubmatch(text, -1) {
			to, anchor, _ := strings.Cut(m[1], "#")
			if strings.HasPrefix(to, "https://") {
				continue
			}
			if strings.HasPrefix(to, "../") && !strings.Contains(name, "/") { // another page of docs
				if _, err := os.Stat(path.Join(tree, to)); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			page := name
			if to != "" {
				page = path.Join(path.Dir(name), to)
			}
			if _, ok := files[page]; !ok {
				t.Errorf("%s: %s: no such page", name, m[1])
			} else if anchor != "" && !slices.Contains(anchors[page], anchor) {
				t.Errorf("%s: %s: no such heading", name, m[1])
			}
		}
	}
}

// TestTables holds that every row of a table has as many cells as its head.
func TestTables(t *testing.T) {
	bare := regexp.MustCompile(`(^|[^\\])\|`)
	for name, text := range All(load(t), all.All()) {
		cells := 0
		for line := range strings.SplitSeq(codeBlock.ReplaceAllString(text, ""), "\n") {
			if !strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "|---") && !strings.HasPrefix(line, "| ---") {
				cells = 0
				continue
			}
			n := len(bare.FindAllString(line, -1))
			if cells == 0 {
				cells = n
			}
			if n != cells {
				t.Errorf("%s: %d cells, want %d: %s", name, n-1, cells-1, line)
			}
		}
	}
}

// TestLooks holds that every stage of the join path has a look, in order.
func TestLooks(t *testing.T) {
	var have []fault.Stage
	for _, l := range looks() {
		have = append(have, l.stage)
	}
	if !slices.Equal(have, fault.Stages()) {
		t.Errorf("stages %v, want %v", have, fault.Stages())
	}
}

// TestOrder holds that a cause is before its effect, also where faults cause one another.
func TestOrder(t *testing.T) {
	edges := func(ids ...string) []fault.Edge {
		var list []fault.Edge
		for _, id := range ids {
			list = append(list, fault.Edge{Fault: id, On: fault.Same, Strength: fault.Certain})
		}
		return list
	}
	b := &book{Catalog: &fault.Catalog{}, effects: map[string][]neighbor{}}
	byName := map[string]*fault.Fault{}
	for id, effects := range map[string][]fault.Edge{
		"a-last": nil, "b-ring": edges("c-ring", "a-last"), "c-ring": edges("b-ring"), "d-root": edges("between"), "between": edges("c-ring"), "alone": nil,
	} {
		byName[id] = &fault.Fault{ID: id, Severity: fault.Error, Explains: effects, Blocks: fault.Ready}
	}
	byName["between"].Blocks = fault.Imaged
	for _, id := range slices.Sorted(maps.Keys(byName)) {
		b.Faults = append(b.Faults, byName[id])
		for _, e := range byName[id].Explains {
			b.effects[id] = append(b.effects[id], neighbor{byName[e.Fault], e})
		}
	}
	var got []string
	for _, f := range b.blocking(fault.Ready) {
		got = append(got, f.ID)
	}
	if want := []string{"d-root", "alone", "b-ring", "c-ring", "a-last"}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}

func TestCommands(t *testing.T) {
	for text, want := range map[string][]string{
		"oc adm certificate approve NAME":                                       {"oc adm certificate approve"},
		"oc -n openshift-etcd get pod etcd-0 -o jsonpath='{.a|b}' | head -1":    {"oc get pods", "head"},
		"oc debug node/W0 -- chroot /host sudo systemctl restart kubelet":       {"oc debug nodes", "systemctl restart"},
		"oc -n x exec POD -c etcdctl -- etcdctl member list -w table":           {"oc exec", "etcdctl member list"},
		"sudo /usr/bin/crictl ps -a 2>&1 && echo done":                          {"crictl ps", "echo"},
		"for n in A B; do\n  oc get node $n\ndone":                              {"oc get nodes"},
		"N=$(oc get nodes -o name)\noc describe $N":                             {"oc get nodes", "oc describe"},
		"cat <<'EOF' > file\nrm -rf /\nEOF\noc apply -f file":                   {"cat", "oc apply"},
		"KUBECONFIG=/tmp/k oc \\\n  get co,mcp":                                 {"oc get clusteroperators"},
		"rollcall csr approve CSR_NAME --expect HOST=IP --yes":                  {"rollcall csr approve"},
		"oc patch etcd cluster --type=merge -p '{\"spec\": {\"a\": \"b; c\"}}'": {"oc patch etcd"},
		"": nil,
	} {
		var got []string
		for _, c := range commandsOf(text) {
			got = append(got, c.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestMarkdown(t *testing.T) {
	for text, want := range map[string]string{
		"a <HOST> of *any* [kind]":       `a \<HOST\> of \*any\* \[kind\]`,
		"`oc get mc` lists <NAME>":       "`oc get mc` lists \\<NAME\\>",
		"one ` alone":                    "one \\` alone",
		"snake_case, _this_ and $a $b":   `snake_case, \_this\_ and \$a \$b`,
		"# of hosts":                     `\# of hosts`,
		"1. first":                       `1\. first`,
		"a &amp; b & c":                  `a &amp;amp; b & c`,
		"folded\n  text":                 "folded text",
		`C:\path`:                        `C:\\path`,
		"- not an item - of a list":      `\- not an item - of a list`,
		"openshift-etcd is not a - list": "openshift-etcd is not a - list",
	} {
		if got := prose(text); got != want {
			t.Errorf("prose(%q) = %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{"a": "`a`", "a`b": "``a`b``", "`a": "`` `a ``", "": ""} {
		if got := code(text); got != want {
			t.Errorf("code(%q) = %q, want %q", text, got, want)
		}
	}
	if got, want := label(`a "b" <c> #1`), `"a #quot;b#quot; #lt;c#gt; #35;1"`; got != want {
		t.Errorf("label: %s, want %s", got, want)
	}
}
