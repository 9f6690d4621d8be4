package archive

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/evidence"
)

// A collection may come from anybody, and what would supply a need is printed as
// advice. Only what Rollcall itself says is taken from it.

// ownSupplies are the forms of advice that Rollcall's sources give. ARG stands for one
// word that no shell takes for anything else.
var ownSupplies = ownForms(
	"--now TIME", "--expect NAME", "--probe", "--journals", "--install-dir ARG", "--rendezvous ARG", "--console ARG=FILE", "--from ARG", "--from ARCHIVE, or a kubeconfig",
	"--hosted-kubeconfig FILE", "--hosted ARG", "--hosted ARG with the kubeconfig of the management cluster",
	"--kubeconfig FILE, or --master HOST=IP", "a kubeconfig, once the API answers", "valid credentials: log in again",
	"a role that may VERB ARG", "a role that may VERB ARG in namespace ARG", "a way to ARG, or --install-dir DIR with its token",
	"rollcall --probe from another machine, or rollcall-host on the node itself",
	"run rollcall with access to the cluster: a probe cannot be made afterwards",
	"run rollcall-host as root", "rollcall-host without --no-network", "rollcall-host on ARG",
	"rollcall-host in a container that was started with --net=host",
	"rollcall-host --collect FILE    # on the machine, then --from FILE beside the others",
	"oc adm inspect ARG", "oc adm inspect -n ARG ARG", "oc adm node-logs ARG", "oc adm node-logs ARG -u ARG",
	"oc adm must-gather", "oc adm must-gather    # where the API answers", "oc get apiservices",
	"openshift-install gather bootstrap --dir DIR    # then: --from FILE",
	"openshift-install gather bootstrap --bootstrap ADDRESS --master ARG", "agent-gather on ARG", "agent-gather on the host",
	"sosreport on ARG", "sosreport on the host",
	"hypershift dump cluster --namespace ARG --name ARG --artifact-dir DIR --dump-guest-cluster",
	"sudo journalctl -b -u node-image-pull.service -u release-image.service -u bootkube.service    # on the bootstrap host",
)

func ownForms(forms ...string) *regexp.Regexp {
	for i, f := range forms {
		f = strings.ReplaceAll(regexp.QuoteMeta(f), "ARG", `[A-Za-z0-9_./][A-Za-z0-9_.:@/-]*`)
		forms[i] = strings.ReplaceAll(f, "VERB", "(?:get|list|watch|create|update|patch|delete|impersonate)")
	}
	return regexp.MustCompile(`^(?:` + strings.Join(forms, "|") + `)$`)
}

// ownSupply returns what a recorded run said would supply a need, where it is what a
// run says, and else what this one would say.
func ownSupply(n evidence.Need, recorded string) string {
	if recorded == "" || ownSupplies.MatchString(recorded) {
		return recorded
	}
	if u, ok := evidence.OnRequest(n.Resource); ok {
		return u.Supply
	}
	if slices.Contains(evidence.OnHost(), n.Resource) {
		return evidence.NotOnHost(n).Supply
	}
	return supply(n)
}

// ownWhy returns a recorded reason that there is, and else that the record is damaged.
func ownWhy(recorded string) evidence.Why {
	switch why := evidence.Why(recorded); why {
	case evidence.NotCollected, evidence.NotServed, evidence.Forbidden, evidence.Unreachable, evidence.Damaged, evidence.NotAsked:
		return why
	}
	return evidence.Damaged
}

// ownNotes returns the notes of a recorded run without states and advice that no run
// gives.
func ownNotes(recorded []evidence.Coverage) []evidence.Coverage {
	notes := slices.Clone(recorded)
	for i := range notes {
		n := &notes[i]
		if !slices.Contains([]evidence.State{evidence.Read, evidence.Empty, evidence.Partial, evidence.Missing}, n.State) {
			n.State, n.Reason = evidence.Missing, cmp.Or(n.Reason, string(evidence.Damaged))
		}
		if !ownSupplies.MatchString(n.Supply) {
			n.Supply = ""
		}
	}
	return notes
}
