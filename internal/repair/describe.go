package repair

import (
	"fmt"
	"strings"

	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// described returns the step with everything that is there for people - title,
// risk, the same by hand, how it is undone - as its action and arguments
// make it. The planner takes it from here, and a plan that says something else
// is refused: what a person reads and what is done are the same.
func described(s Step, root fault.Key) Step {
	waits := func(subject string) {
		s.Subject, s.Risk, s.Proof, s.Inverse = subject, fault.RiskNone, ProvedInLab, "nothing is changed"
	}
	s.Subject, s.Title, s.Risk, s.RiskText, s.Proof, s.OC, s.PreImage, s.Inverse, s.Expect.Text = "", "", "", "", "", "", "", "", ""
	switch a := s.Args; s.Action {
	case AdoptSpecConfig:
		describeAdopt(&s)
	case ApproveCSR:
		describeApproval(&s)
	case RecreateRender:
		describeRecreate(&s)
	case AlignAnnotations:
		describeAlign(&s)
	case ChangeFields:
		describeChange(&s)
	case PutContent:
		describePut(&s)
	case RestartServer:
		describeRestart(&s)
	case TouchSecret:
		describeTouch(&s)
	case ReplacePod:
		describeReplace(&s)
	case RemoveMember:
		describeRemoval(&s)
	case WaitNode:
		waits("host/" + a.Host)
		s.Title = "wait until Node " + a.Host + " is registered and Ready"
		s.OC = fmt.Sprintf("oc wait --for=condition=Ready node/%s --timeout=30m", a.Host)
		s.Expect.Text = "Node " + a.Host + " is Ready"
	case WaitEtcd:
		waits("operator/etcd")
		s.Title = fmt.Sprintf("wait until etcd has %d members, all healthy; before that no other master is touched", a.Members)
		s.OC = `oc get etcd cluster -o jsonpath='{.status.conditions[?(@.type=="EtcdMembersAvailable")].message}'`
		s.Expect.Text = fmt.Sprintf("%d members are available", a.Members)
	case WaitPool:
		waits("pool/" + a.Pool)
		s.Title = "wait until every machine of pool " + a.Pool + " runs its target; the controller takes one at a time"
		s.RiskText = "the reboots are those of the step before"
		s.OC = fmt.Sprintf("oc wait --for=condition=Updated mcp/%s --timeout=120m", a.Pool)
		s.Expect.Text = "updated machines are all machines"
	case Verify:
		waits(root.Subject.String())
		s.Title, s.OC = "evaluate the faults again: they must be absent", "rollcall diagnose"
		s.Expect.Text = "the faults are absent"
	}
	return s
}

func describeAdopt(s *Step) {
	pool, config := s.Args.Pool, s.Args.Config
	s.Subject, s.Risk, s.Proof = "pool/"+pool, fault.RiskReversible, ProvedInLab
	s.Title = fmt.Sprintf("fill status.configuration of pool %s from its spec (%s), name and source", pool, config)
	s.RiskText = "the next host that asks is given this config; no machine that runs is touched"
	s.OC = fmt.Sprintf(`oc patch mcp %[1]s --subresource=status --type=merge -p "{\"status\":{\"configuration\":$(oc get mcp %[1]s -o jsonpath='{.spec.configuration}')}}"`, pool)
	s.PreImage = "status.configuration of the pool"
	s.Inverse = "write status.configuration back as it was, until a host has fetched the config or a machine is updated"
	s.Expect.Text = "status.configuration.name stays " + config
}

func describeApproval(s *Step) {
	host, kind := s.Args.Host, s.Args.Signer
	s.Subject, s.Risk, s.Proof = "host/"+host, fault.RiskIdentity, ProvedInLab
	s.Title = fmt.Sprintf("approve exactly the %s request of %s, by its UID, when it has come", kind, host)
	s.RiskText = "whoever holds the key of the request gets the identity of a node, and keeps it until the certificate expires; " + csr.NotProvenYet
	s.OC = fmt.Sprintf("oc get csr; oc describe csr NAME; oc adm certificate approve NAME   # the only pending %s request of %s, after you have checked it", kind, host)
	s.PreImage = "none: the request was pending"
	s.Inverse = "none: an approval cannot be withdrawn; the certificate expires by itself (30 days at most)"
	s.Expect.Text = "the certificate is issued"
}

// stuckNodes are the nodes that a re-creation was planned for: it reads them.
func stuckNodes(s Step) []string {
	var list []string
	for _, rd := range s.Reads {
		if rd.Object.Resource == "nodes" {
			list = append(list, rd.Object.Name)
		}
	}
	return list
}

func describeRecreate(s *Step) {
	nodes, config := strings.Join(stuckNodes(*s), " and "), s.Args.Config
	source, _, _ := strings.Cut(s.Args.From, ":")
	s.Subject, s.Risk, s.Proof = "pool/"+s.Args.Pool, fault.RiskReboot, Simulated
	s.Title = fmt.Sprintf("re-create %s, which %s run and the cluster does not have, from what %s holds", config, nodes, source)
	s.RiskText = "the daemons continue, and the controller rolls each machine to the pool's target with drain and reboot, one at a time"
	s.OC = fmt.Sprintf("oc create -f FILE   # FILE is %s without resourceVersion, uid, creationTimestamp, managedFields and ownerReferences; it holds the pull secret", s.Args.From)
	s.PreImage, s.Inverse = "the object does not exist", "delete it by its UID, until a daemon works with it"
	s.Expect.Text = "the daemons of " + nodes + " are no longer Degraded for want of it"
}

func describeAlign(s *Step) {
	host, config := s.Args.Host, s.Args.Config
	s.Subject, s.Risk, s.Proof = "host/"+host, fault.RiskReboot, Advice
	s.Title = fmt.Sprintf("name %s on node %s, whose held config applies the same; state is left to the daemon", config, host)
	s.RiskText = "the daemon validates the host; if the booted OS is another than the config's it reboots without drain"
	s.OC = fmt.Sprintf(`oc annotate node %s --overwrite machineconfiguration.openshift.io/currentConfig=%s machineconfiguration.openshift.io/desiredConfig=%s`,
		host, config, config)
	s.PreImage, s.Inverse = "the two annotations", "write the two annotations back, until the daemon has taken them"
	s.Expect.Text = "the daemon of " + host + " reports Done"
}
