package message

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/text/octable"
)

// operatorOrder are ClusterOperators that others need, the ones that are needed most first:
// every pod needs the network, a route needs a router, and the login server and the console
// need a route that a router has admitted (openshift/library-go:pkg/route/routeapihelpers/routeapihelpers.go IngressURI).
var operatorOrder = []string{"etcd", openshift.APIServer, "network", "dns", "ingress", "authentication", "console", "image-registry", "monitoring"}

// operatorRank is the place of an operator in operatorOrder, and behind it for all others.
func operatorRank(name string) int {
	if i := slices.Index(operatorOrder, name); i >= 0 {
		return i
	}
	return len(operatorOrder)
}

// ofOperator is the ClusterOperator that a failure is of, "" for all others.
func (m Match) ofOperator() string {
	if m.Fault != "operator-degraded" && !strings.HasPrefix(m.Failure, "ClusterOperator ") {
		return ""
	}
	return m.Names["operator"]
}

// neededFirst orders ClusterOperators that are not well: one that others need goes before
// them. The places that they have among the rest of the list stay.
func neededFirst(list []Match) {
	var places []int
	for i, m := range list {
		if operatorRank(m.ofOperator()) < len(operatorOrder) {
			places = append(places, i)
		}
	}
	ordered := make([]Match, 0, len(places))
	for _, i := range places {
		ordered = append(ordered, list[i])
	}
	slices.SortStableFunc(ordered, func(a, b Match) int { return cmp.Compare(operatorRank(a.ofOperator()), operatorRank(b.ofOperator())) })
	for j, i := range places {
		list[i] = ordered[j]
	}
}

// seenNeededFirst orders faults of operators likewise, and leaves all others behind them as they are.
func seenNeededFirst(list []Seen) []Seen {
	rank := func(s Seen) int {
		if kind, name, _ := strings.Cut(s.Subject, "/"); fault.Kind(kind) == fault.Operator {
			return operatorRank(name)
		}
		return len(operatorOrder)
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Seen) int { return cmp.Compare(rank(a), rank(b)) })
	return list
}

// operatorList is a list of ClusterOperators, as the version operator and openshift-install
// write it (openshift/cluster-version-operator:pkg/cvo/sync_worker.go newClusterOperatorsNotAvailable).
var operatorList = regexp.MustCompile(`(?i:\bcluster operators (?:are [a-z ]+: )?)([a-z][a-z0-9-]+(?:, (?:and )?[a-z][a-z0-9-]+)+)`)

// neededOf is the operator of a list that the others of it need, "" where the text has no list.
func neededOf(text string) string {
	m := operatorList.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	names := strings.Split(strings.ReplaceAll(m[1], "and ", ""), ", ")
	return slices.MinFunc(names, func(a, b string) int { return cmp.Compare(operatorRank(a), operatorRank(b)) })
}

// operator gives a ClusterOperator the sentence that its cells make, where it is not well.
func (t *table) operator(s *state, get func(string) string) {
	available, since := get("AVAILABLE"), get("SINCE")
	old, aged := octable.Age(since)
	s.old, s.hasSince = old, aged
	switch {
	case available == "" && get("PROGRESSING") == "" && get("DEGRADED") == "" && since == "" && get("VERSION") == "":
		s.says, s.blank = "has never reported its conditions", true
		s.next = "oc get co " + s.name + " -o jsonpath='{.status.relatedObjects}' has its namespaces; " +
			"oc get pods -n NAMESPACE: the pod of the operator is missing or does not run"
		return
	case !aged && available == "Unknown" && get("PROGRESSING") == "Unknown" && get("DEGRADED") == "Unknown": // omc and omg write it for none
		s.says, s.unreported = "has never reported its conditions", true
		s.next = "oc get co " + s.name + " -o jsonpath='{.status.relatedObjects}' has its namespaces; " +
			"oc get pods -n NAMESPACE -o wide: the pod of the operator is missing, waits for the network, or does not run"
		return
	case !aged:
		return
	case available == "False" || available == "Unknown":
		s.says = "is not Available"
	case get("DEGRADED") == "True":
		s.says = "is Degraded"
	default:
		return
	}
	s.next = "oc get co " + s.name + " -o yaml, and paste its conditions: they have the reason"
}

// operatorRows are how long the ClusterOperators of a table are as they are.
type operatorRows struct {
	aged  bool
	since time.Duration // the longest time
}

// beginsFor is how long an installation may go on before an operator has to have reported at all.
const beginsFor = 20 * time.Minute

func (o *operatorRows) see(row *state) {
	if row.hasSince {
		o.aged, o.since = true, max(o.since, row.old)
	}
}

// judge makes operators that have never reported wait where all others are young, too: the installation has just begun.
func (o *operatorRows) judge(list []state) []state {
	if !o.aged || o.since >= beginsFor {
		return list
	}
	for i := range list {
		list[i].waits = list[i].waits || list[i].unreported
	}
	return list
}

// reportedOperators leaves out operators whose cells are empty where no row of the text has
// cells: then its columns were lost.
func reportedOperators(list []state, rows map[int]rowObject) []state {
	blank := 0
	for _, s := range list {
		if s.blank {
			blank++
		}
	}
	operators := 0
	for _, row := range rows {
		if row.kind == "clusteroperator" || row.kind == "co" {
			operators++
		}
	}
	if blank == 0 || 2*blank < operators {
		return list
	}
	return slices.DeleteFunc(list, func(s state) bool { return s.blank })
}

// ofOperator reports whether the lines of a rule are each about one ClusterOperator.
func (r *rule) ofOperator() bool { return strings.Contains(r.Failure, "ClusterOperator {operator}") }

// neededFirst puts the line that was added last first where it is a row of an operator that is
// needed by that of the first one: the sentence of a match names the operator of its first
// line. Of lists the last one counts, as they become shorter.
func (t *ruleMatches) neededFirst(line Line) {
	if neededOf(line.Text) != "" {
		t.first = []Line{line}
		return
	}
	if t.count > 1 && line.row.name != "" && operatorRank(line.row.name) < operatorRank(t.first[0].row.name) {
		t.first = append([]Line{line}, t.first[:keptLines-1]...)
	}
}
