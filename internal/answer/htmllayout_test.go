package answer

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/rollcall-project/rollcall/internal/answer/answertest"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnose"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

// pageOf parses the page of a diagnosis.
func pageOf(t *testing.T, d *diagnosis.Diagnosis) *html.Node {
	t.Helper()
	var out bytes.Buffer
	if err := HTML(&out, d, options(page.Style{})); err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(&out)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// elements are the elements of a name below a node, in the page's order.
func elements(n *html.Node, names ...string) []*html.Node {
	var list []*html.Node
	for e := range n.Descendants() {
		if e.Type == html.ElementNode && slices.Contains(names, e.Data) {
			list = append(list, e)
		}
	}
	return list
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for e := range n.Descendants() {
		if e.Type == html.TextNode {
			b.WriteString(e.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// inside reports whether a node is in an element with a name and, if asked, a class.
func inside(n *html.Node, name, class string) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		if p.Data == name && (class == "" || slices.Contains(strings.Fields(attribute(p, "class")), class)) {
			return true
		}
	}
	return false
}

func TestHTMLSummary(t *testing.T) {
	outside := answertest.DesyncProven()
	outside.Roots[0].Cases[0].Remedies = []fault.Advice{
		{ID: "a", Title: "not this", By: fault.ByCluster, Applies: fault.Absent},
		{ID: "b", Title: "this", By: fault.ByOutside, Where: "DNS", Applies: fault.Unknown, Verify: fault.Proof{Takes: "1h"}},
	}
	for _, c := range []struct {
		name      string
		d         *diagnosis.Diagnosis
		what, who string
	}{
		{"repairable", answertest.DesyncProven(), "Hosts: 3 of 3 not done; since 2026-05-01T10:48:00Z (1h12m)",
			"Who acts: Rollcall can repair it, usually within 2m"},
		{"outside", outside, "", "Who acts: fix it outside the cluster: DNS, usually within 1h"},
		{"two", answertest.TwoRoots(), "What is wrong: the machine-approver does not run; and 1 other cause; 12 of 15 hosts not done; since 2026-04-29T10:00:00Z (2d2h)",
			"Who acts: no remedy is known for approver-stopped; no remedy is known for kubelet-ca-expired"},
		{"healthy", answertest.Healthy(), "State: all 5 expected hosts answered, nothing in the catalogue is present", "Who acts: no one has to act"},
		{"settling", answertest.Settling(), "State: in progress, expected until 2026-05-01T12:26:00Z; 1 of 3 hosts not done", "Who acts: no one has to act before 2026-05-01T12:26:00Z; ask again then"},
		{"undecided", answertest.Undecided(), "What is wrong: host control2 asks for its Ignition config and gets HTTP 500; cause unknown; 1 of 3 hosts not done; since 2026-05-01T10:48:00Z (1h12m)",
			"Who acts: not known before more is read"},
		{"unreadable", answertest.Unreadable(), "State: no host was checked", "Who acts: not known before more is read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			head := elements(pageOf(t, c.d), "header")[0]
			var lines []string
			for _, e := range elements(head, "p", "h1") {
				if e.Data == "h1" || attribute(e.Parent, "class") == "summary" {
					lines = append(lines, textOf(e))
				}
			}
			if len(lines) != 3 || strings.Contains(lines[0], ": ") {
				t.Fatalf("want the verdict and 2 lines of summary: %q", lines)
			}
			for _, want := range []string{c.what, c.who} {
				if want != "" && !slices.Contains(lines[1:], want) {
					t.Errorf("no %q in %q", want, lines)
				}
			}
		})
	}
}

// TestHTMLOrder holds what a reader finds first: after the verdict the cause with its proof, then
// what to do and what not to do. Counts of checks are not at the top.
func TestHTMLOrder(t *testing.T) {
	order := func(d *diagnosis.Diagnosis) []string {
		var heads []string
		for _, e := range elements(pageOf(t, d), "h1", "h2", "h3") {
			heads = append(heads, e.Data+" "+textOf(e))
		}
		return heads
	}
	section := func(heads []string, name string) int {
		return slices.IndexFunc(heads, func(h string) bool { return strings.Contains(h, name) })
	}
	heads := order(answertest.DesyncProven())
	if len(heads) < 5 || heads[0] != "h1 ✗ BROKEN, CAUSE KNOWN" || !strings.HasPrefix(heads[1], "h2 ✗ Cause") || heads[2] != "h3 Proof" || heads[3] != "h3 What to do" ||
		heads[4] != "h3 Do not" {
		t.Errorf("%q", heads)
	}
	if p, h := section(heads, "Effects"), section(heads, "Hosts"); p < 5 || h < p {
		t.Errorf("%q", heads)
	}
	if heads := order(answertest.Undecided()); !strings.HasPrefix(heads[1], "h2 Next") {
		t.Errorf("what would decide is not first: %q", heads)
	}
	if heads := order(answertest.TwoRoots()); heads[1] != "h2 What to do" {
		t.Errorf("two causes begin without what to do: %q", heads)
	}
	head := textOf(elements(pageOf(t, answertest.DesyncProven()), "header")[0])
	for _, n := range []string{"absent", "unknown", "not applicable"} {
		if strings.Contains(head, n) {
			t.Errorf("the head counts checks: %q", head)
		}
	}
}

// TestHTMLAccessible: no heading level is left out, tables have headers and a box that
// scrolls and can be reached with the keyboard, pictures have a name.
func TestHTMLAccessible(t *testing.T) {
	for _, s := range samples {
		root := pageOf(t, s.make())
		level := 0
		for _, h := range elements(root, "h1", "h2", "h3", "h4") {
			n := int(h.Data[1] - '0')
			if n > level+1 {
				t.Errorf("%s: %s after h%d: %s", s.name, h.Data, level, textOf(h))
			}
			level = n
		}
		for _, table := range elements(root, "table") {
			if len(elements(table, "thead")) != 1 {
				t.Errorf("%s: a table without headers", s.name)
			}
			for _, th := range elements(table, "th") {
				if attribute(th, "scope") == "" {
					t.Errorf("%s: a header without scope: %s", s.name, textOf(th))
				}
			}
			wide := !slices.Contains(strings.Fields(attribute(table, "class")), "ruled")
			if wide && !inside(table, "div", "scroll") {
				t.Errorf("%s: a wide table without a box that scrolls", s.name)
			}
		}
		for _, box := range elements(root, "div", "figure") {
			if scrolls := box.Data == "figure" || attribute(box, "class") == "scroll"; scrolls && (attribute(box, "tabindex") != "0" || attribute(box, "aria-label") == "") {
				t.Errorf("%s: a box that scrolls cannot be reached or has no name", s.name)
			}
		}
		for _, d := range elements(root, "details") {
			if d.FirstChild == nil || d.FirstChild.Data != "summary" || textOf(d.FirstChild) == "" {
				t.Errorf("%s: details without a summary", s.name)
			}
			for _, a := range d.Attr {
				if a.Key == "open" {
					t.Errorf("%s: details are open, and would be in print", s.name)
				}
			}
		}
	}
}

// TestHTMLPrint: paper has what is folded away but for the lists of the whole catalog, which say
// so, and no picture and no line is cut.
func TestHTMLPrint(t *testing.T) {
	_, rules, ok := strings.Cut(htmlStyle, "@media print {")
	if !ok {
		t.Fatal("no rules for print")
	}
	for _, want := range []string{
		"@page", "svg.broad { display: block; }", "svg.narrow { display: none; }", ".chain > svg, .time > svg { max-width: 100%;",
		"figure, .scroll { overflow: visible; }", "figure { break-inside: avoid; }",
	} {
		if !strings.Contains(rules, want) {
			t.Errorf("print without %q", want)
		}
	}
	if !strings.Contains(rules, "details:not(.long)::details-content { content-visibility: visible;") {
		t.Error("print does not open what is folded away")
	}
	for _, hides := range []string{"line-clamp", "nth-child", "main:has"} {
		if strings.Contains(rules, hides) {
			t.Errorf("print hides something by %q", hides)
		}
	}
	if !strings.Contains(htmlStyle, "white-space: pre-wrap") {
		t.Error("lines of code are not broken, so paper would cut them")
	}
	root := pageOf(t, answertest.DesyncProven())
	for _, e := range elements(root, "table") {
		class := strings.Fields(attribute(e, "class"))
		if (slices.Contains(class, "checks") || slices.Contains(class, "ruled")) && !inside(e, "details", "long") {
			t.Errorf("the table %q is not in the details that stay closed on paper", class)
		}
	}
}

// crowd is a cluster in which n hosts stop at the same step for the same reason.
func crowd(n int) *diagnosis.Diagnosis {
	var hosts []diagnosis.HostState
	for i := range n {
		name := fmt.Sprintf("worker%03d", i)
		hosts = append(hosts, answertest.Stopped(name, "worker", fault.ClientCert, diagnosis.StageFailed,
			"the certificate request of "+name+" waits for approval since the approver stopped an hour ago"))
	}
	d := answertest.Base(hosts...)
	d.Verdict = diagnosis.Verdict{Class: diagnosis.Undetermined, Cause: diagnosis.CauseUnknown, Open: slices.Repeat([]diagnosis.Question{{Says: "a host waits for its certificate"}}, n)}
	diagnose.Group(d)
	return d
}

func TestHTMLManyHosts(t *testing.T) {
	const n = 240
	root := pageOf(t, crowd(n))
	rows, folded, same := 0, 0, 0
	for _, tr := range elements(root, "tr") {
		if inside(tr, "tbody", "") && inside(tr, "table", "roll") {
			rows++
			if inside(tr, "details", "") {
				folded++
			}
			if strings.HasSuffix(textOf(tr), "same as worker000") {
				same++
			}
		}
	}
	if rows != n || folded != n-shownHosts || same != n-1 {
		t.Errorf("%d rows, %d folded, %d refer to the first; want %d, %d, %d", rows, folded, same, n, n-shownHosts, n-1)
	}
	if head := elements(root, "header")[0]; len(textOf(elements(head, "h1")[0].NextSibling)) > 2*longReason {
		t.Error("a long reason is not folded")
	}
	said := 0
	for _, li := range elements(elements(root, "header")[0], "li") {
		if textOf(li) == "a host waits for its certificate" {
			said++
		}
	}
	if said == 0 || said >= n {
		t.Errorf("%d of %d clauses of the reason are folded", said, n)
	}
}

func TestHTMLManyDone(t *testing.T) {
	var hosts []diagnosis.HostState
	for i := range shownHosts + 1 {
		hosts = append(hosts, answertest.Answered(fmt.Sprintf("worker%03d", i), "worker"))
	}
	d := answertest.Base(hosts...)
	diagnose.Group(d)
	if table := elements(pageOf(t, d), "table")[0]; !inside(table, "details", "") {
		t.Error("a long list of hosts that are done is not folded")
	}
	if table := elements(pageOf(t, answertest.Healthy()), "table")[0]; inside(table, "details", "") {
		t.Error("a short list of hosts is folded")
	}
}

// TestHTMLRemedyOfSymptom: what helps against a symptom is there although its cause is
// not known.
func TestHTMLRemedyOfSymptom(t *testing.T) {
	d := answertest.Undecided()
	d.Unexplained[0].Remedies = []fault.Advice{answertest.Adopt()}
	root := pageOf(t, d)
	page := textOf(root)
	for _, want := range []string{"give the pool the config of its spec", "first steps: Rollcall can do it"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(page, "rollcall fix plan") {
		t.Error("a repair is offered for a symptom")
	}
}

func TestNotServedOnce(t *testing.T) {
	gaps := []diagnosis.Gap{
		{Reason: "not served: the API has no a", Needs: []string{"a"}}, {Reason: "not collected", Needs: []string{"b"}},
		{Reason: "not served: the API has no c", Needs: []string{"c"}},
		{Reason: "not served: but it can be had", Needs: []string{"d"}, Supply: []evidence.Supply{{Kind: evidence.SupplyMustGather}}},
	}
	got := notServedOnce(gaps)
	if len(got) != 3 || !slices.Equal(got[0].Needs, []string{"a", "c"}) || !slices.Equal(got[2].Needs, []string{"d"}) {
		t.Errorf("%+v", got)
	}
	if !slices.Equal(gaps[0].Needs, []string{"a"}) {
		t.Error("the diagnosis was changed")
	}
	if one := notServedOnce(gaps[:2]); one[0].Reason != gaps[0].Reason {
		t.Errorf("%+v", one)
	}
}

func TestProofOnce(t *testing.T) {
	d := answertest.DesyncProven()
	reason := answertest.Item("nodes/control0", "metadata.annotations.reason", "cannot be updated")
	other := reason
	other.Locator.Path = "nodes/control1"
	first := &d.Roots[0].Cases[0]
	first.Evidence = append(first.Evidence, reason, other)
	p, more := newText(d, options(page.Style{})).htmlProof(first.Evidence)
	all := slices.Concat(p, more)
	places := 0
	for _, p := range all {
		places += len(p.Places) + len(p.MorePlaces)
	}
	if len(all) != len(first.Evidence)-1 || places != len(first.Evidence) {
		t.Errorf("%d excerpts at %d places, want %d at %d", len(all), places, len(first.Evidence)-1, len(first.Evidence))
	}
	if p[0].Places[0].Where == "" || !strings.Contains(p[0].Text, "couldn't get config") {
		t.Errorf("the log line that shows the mechanism is not first: %+v", p[0])
	}
}

func TestCleanEllipsis(t *testing.T) {
	if got := (page.Style{ASCII: true}).Clean("… of h\tfails"); got != "... of h fails" {
		t.Errorf("%q", got)
	}
	if got := (page.Style{}).Clean("… of h\tfails"); got != "… of h fails" {
		t.Errorf("%q", got)
	}
}

// TestHTMLSuspects: the same suspect at many hosts is one line.
func TestHTMLSuspects(t *testing.T) {
	d := answertest.Undecided()
	crash := diagnosis.Suspect{Key: answertest.Key("crash", answertest.Host("worker00")), Title: "worker00 crash-loops"}
	for i := range 29 {
		crash.Others = append(crash.Others, answertest.Host(fmt.Sprintf("worker%02d", i+1)))
	}
	d.Unexplained[0].Suspects = append(d.Unexplained[0].Suspects, crash)
	root := pageOf(t, d)
	var lines []string
	for _, li := range elements(root, "li") {
		if attribute(li.Parent, "class") == "suspects" {
			lines = append(lines, textOf(li))
		}
	}
	if len(lines) != 3 || !strings.Contains(lines[2], "worker00 crash-loops") || !strings.Contains(lines[2], "29 more") || !strings.Contains(lines[2], "worker29") {
		t.Errorf("%q", lines)
	}
}
