package message

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// A pool, and the operator that waits for it, report in one line what each node reports: "Node A is reporting: "…", Node B is
// reporting: "…"" (openshift/machine-config-operator:pkg/controller/node/status.go calculateStatus). Each is a line of
// its own node.

// nodeReport is what one node reports.
type nodeReport struct {
	node string
	text []byte // from its name to the end of what it reports
}

var nodeReporting = regexp.MustCompile(`\bNode ([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?) is reporting: (\\*)["']`)

// nodeReports are what nodes report in a line.
func nodeReports(line []byte) (list []nodeReport) {
	if !bytes.Contains(line, []byte(" is reporting: ")) {
		return nil
	}
	found := nodeReporting.FindAllSubmatchIndex(line, -1)
	for i, at := range found {
		end := len(line)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		quote := line[at[4]:at[1]]
		if n := closing(line[at[1]:end], quote); n >= 0 {
			end = at[1] + n + len(quote)
		}
		list = append(list, nodeReport{node: string(line[at[2]:at[3]]), text: bytes.TrimRight(line[at[0]:end], " ,")})
	}
	return list
}

// closing is where the quote ends that begins before a text: the same quote, behind as many backslashes and not more.
// -1 where it does not end.
func closing(text, quote []byte) int {
	for from := 0; ; {
		i := bytes.Index(text[from:], quote)
		if i < 0 {
			return -1
		}
		if i += from; i == 0 || text[i-1] != '\\' {
			return i
		}
		from = i + len(quote)
	}
}

// addReports adds what a rule shows in what single nodes report. False where it shows nothing there.
func (f *found) addReports(r *rule, h hit, reports []nodeReport) (any bool) {
	for _, report := range reports {
		if !r.matches(plainLower(nil, report.text)) {
			continue
		}
		any = true
		h.text, h.from.row = string(report.text), rowObject{kind: "node", name: report.node, logged: true}
		f.hits = append(f.hits, h)
	}
	return any
}

// reportsOfNodes is how a pool names what its nodes report. It says nothing else, where another rule knows that.
const reportsOfNodes = "is reporting:"

// dropWrappers takes out that nodes report something where a rule knows what it is.
func (f *found) dropWrappers(x *Index) {
	type place struct {
		line int
		node string
	}
	of := func(h hit) place { return place{h.line, h.from.row.name} }
	isWrapper := func(h hit) bool { return string(x.rules[h.rule].parts[0]) == reportsOfNodes }
	known := map[place]bool{}
	for _, h := range f.hits {
		if h.from.row.isReporting() && !isWrapper(h) {
			known[of(h)] = true
		}
	}
	if len(known) > 0 {
		f.hits = slices.DeleteFunc(f.hits, func(h hit) bool { return h.from.row.isReporting() && isWrapper(h) && known[of(h)] })
	}
}

// isReporting reports whether a row is a node of which a line says what it reports.
func (o rowObject) isReporting() bool { return o.logged && o.kind == "node" }

// subject is the node or host that a line is about by its own words, "" where it names none.
func (l Line) subject() string {
	switch {
	case l.row.isReporting():
		return l.row.name
	case l.about:
		return l.host
	}
	return ""
}

// partKey is by what a line of a rule is told apart from others of it, "" where they are one.
func (x *Index) partKey(r *rule, l Line) string {
	if r.ReportedBy == "" {
		return r.of.key(l)
	}
	chain, last := r.reportedIn(l.Text)
	if one := findReported(x.reported[r.ReportedBy], chain); one != nil {
		last = one.Failure
	}
	return "reported " + strings.Map(withoutDigits, last[:min(len(last), longestKey)])
}

// longestKey is how much of an error tells it apart from others.
const longestKey = 60

// withoutDigits leaves digits out: they are what changes in lines of one form.
func withoutDigits(r rune) rune {
	if r >= '0' && r <= '9' {
		return -1
	}
	return r
}
