package fault

import "strings"

// kindWords are the words before the slash of a subject, as oc writes them, without an API
// group.
var kindWords = map[string]Kind{
	"host": Host, "hosts": Host, "node": Host, "nodes": Host, "no": Host,
	"bmh": Host, "baremetalhost": Host, "baremetalhosts": Host, "machine": Host, "machines": Host,
	"csr": CSR, "certificatesigningrequest": CSR, "certificatesigningrequests": CSR,
	"mcp": Pool, "pool": Pool, "machineconfigpool": Pool, "machineconfigpools": Pool,
	"nodepool": NodePool, "nodepools": NodePool, "np": NodePool,
	"co": Operator, "clusteroperator": Operator, "clusteroperators": Operator, "operator": Operator,
}

// KindOf returns the kind that a word is for: "node", "Nodes", "machine.machine.openshift.io".
func KindOf(word string) (Kind, bool) {
	word, _, _ = strings.Cut(strings.ToLower(word), ".")
	k, ok := kindWords[word]
	return k, ok
}

// CompareKeys orders by fault, then by the subject as it is written and its
// namespace. There are hundreds of thousands of findings on a large cluster, so the
// text is only made where the names do not decide.
func CompareKeys(a, b Key) int {
	if c := strings.Compare(a.Fault, b.Fault); c != 0 {
		return c
	}
	x, y := a.Subject, b.Subject
	if x.Kind == y.Kind {
		n := min(len(x.Name), len(y.Name))
		if c := strings.Compare(x.Name[:n], y.Name[:n]); c != 0 {
			return c
		}
	}
	return strings.Compare(x.String()+x.Namespace, y.String()+y.Namespace)
}
