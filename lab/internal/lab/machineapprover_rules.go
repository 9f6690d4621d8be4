package lab

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/rollcall-project/rollcall/lab/internal/pki"
)

// The limits of openshift/cluster-machine-approver:pkg/controller/csr_check.go.
const (
	nodesGroup     = "system:nodes"
	nodeUserPrefix = "system:node:"

	pendingAge    = time.Hour        // maxPendingDelta
	approvedAge   = 30 * time.Second // maxApprovedDelta
	pendingExtra  = 100              // maxDiffBetweenPendingCSRsAndMachinesCount
	machineSkew   = 10 * time.Second // maxMachineClockSkew
	machineWindow = 2 * time.Hour    // maxMachineDelta

	approverMessage = "This CSR was approved by the Node CSR Approver (cluster-machine-approver)"
)

// approverMachine is what the machine approver looks at of a Machine
// (openshift/cluster-machine-approver:pkg/machinehandler/machinehandler.go).
type approverMachine struct {
	metav1.ObjectMeta `json:"metadata"`
	Status            struct {
		NodeRef   *corev1.ObjectReference `json:"nodeRef"`
		Addresses []corev1.NodeAddress    `json:"addresses"`
	} `json:"status"`
}

// approverRules decides on requests as the machine approver of 4.20 does
// (openshift/cluster-machine-approver@release-4.20:pkg/controller/csr_check.go
// authorizeCSR, node_client.go), and says so in its words and at its places of
// the source. Left out is what needs a kubelet CA in the cluster, which the lab
// has not: the renewal of a serving certificate by comparison with the present
// one. Egress addresses belong to a network that the lab does not have.
type approverRules struct {
	machines []approverMachine
	nodes    map[string]bool // names of all Nodes
	disabled bool            // nodeClientCert.disabled
	say      func(level byte, at, format string, args ...any)
}

// looksAt is controller.go pendingNodeCertFilter: requests of nodes that are
// not approved, or have just been by somebody else.
func looksAt(req *certificatesv1.CertificateSigningRequest, now time.Time) bool {
	if c := approval(req); c != nil {
		recent := within(now.Add(-approvedAge), now.Add(machineSkew), c.LastTransitionTime.Time)
		if !recent || c.Message == approverMessage {
			return false
		}
	}
	switch req.Spec.SignerName {
	case certificatesv1.KubeletServingSignerName:
		return slices.Contains(req.Spec.Groups, nodesGroup)
	case certificatesv1.KubeAPIServerClientKubeletSignerName:
		return req.Spec.Username == pki.Bootstrapper
	}
	return false
}

func approval(req *certificatesv1.CertificateSigningRequest) *certificatesv1.CertificateSigningRequestCondition {
	for i := range req.Status.Conditions {
		if c := &req.Status.Conditions[i]; c.Type == certificatesv1.CertificateApproved {
			return c
		}
	}
	return nil
}

// within is csr_check.go inTimeSpan: both ends excluded.
func within(start, end, t time.Time) bool { return t.After(start) && t.Before(end) }

// flooded is controller.go reconcileLimits.
func (r approverRules) flooded(name string, all []certificatesv1.CertificateSigningRequest, now time.Time) bool {
	limit, pending := max(len(r.machines), len(r.nodes))+pendingExtra, 0
	for i := range all {
		if within(now.Add(-pendingAge), now.Add(machineSkew), all[i].CreationTimestamp.Time) && looksAt(&all[i], now) {
			pending++
		}
	}
	if pending <= limit {
		return false
	}
	r.say('E', "controller.go:229", "%v: Pending CSRs: %d; Max pending allowed: %d. Difference between pending CSRs and machines > %v. Ignoring all "+
		"CSRs as too many recent pending CSRs seen",
		name, pending, limit, pendingExtra)
	return true
}

// authorize is controller.go reconcileCSR up to the approval. With an error the
// request is tried again, with false and none it is not.
func (r approverRules) authorize(req *certificatesv1.CertificateSigningRequest) (bool, error) {
	csr, err := parseRequest(req.Spec.Request)
	if err != nil {
		r.say('E', "controller.go:273", "%v: Failed to parse csr: %v", req.Name, err)
		return false, fmt.Errorf("error parsing request CSR: %w", err)
	}
	ok := false
	switch {
	case !isNodeClient(req, csr):
		r.say('I', "csr_check.go:173", "%v: CSR does not appear to be client csr", req.Name)
		ok, err = r.serving(req, csr)
	case r.disabled:
		r.say('E', "csr_check.go:167", "%v: CSR rejected as the flow is disabled", req.Name)
		err = fmt.Errorf("CSR %s for node client cert rejected as the flow is disabled", req.Name)
	default:
		ok, err = r.client(req, csr)
	}
	if !ok {
		r.say('I', "controller.go:286", "%s: CSR not authorized", req.Name)
	}
	return ok, err
}

func parseRequest(data []byte) (*x509.CertificateRequest, error) {
	block, _ := pem.Decode(data)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return nil, errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	return x509.ParseCertificateRequest(block.Bytes)
}

// isNodeClient is node_client.go isNodeClientCert. It does not look at URIs.
func isNodeClient(req *certificatesv1.CertificateSigningRequest, csr *x509.CertificateRequest) bool {
	return slices.Equal(csr.Subject.Organization, []string{nodesGroup}) &&
		len(csr.DNSNames)+len(csr.EmailAddresses)+len(csr.IPAddresses) == 0 &&
		(exactUsages(req, certificatesv1.UsageDigitalSignature, certificatesv1.UsageClientAuth) ||
			exactUsages(req, certificatesv1.UsageKeyEncipherment, certificatesv1.UsageDigitalSignature, certificatesv1.UsageClientAuth)) &&
		strings.HasPrefix(csr.Subject.CommonName, nodeUserPrefix)
}

func exactUsages(req *certificatesv1.CertificateSigningRequest, want ...certificatesv1.KeyUsage) bool {
	return len(req.Spec.Usages) == len(want) &&
		!slices.ContainsFunc(req.Spec.Usages, func(u certificatesv1.KeyUsage) bool { return !slices.Contains(want, u) })
}

// client is authorizeNodeClientCSR.
func (r approverRules) client(req *certificatesv1.CertificateSigningRequest, csr *x509.CertificateRequest) (bool, error) {
	const notValid = "%v: CSR does not appear to be a valid node bootstrapper client cert request"
	if !fromBootstrapper(req) {
		r.say('I', "csr_check.go:249", notValid, req.Name)
		return false, nil
	}
	node := strings.TrimPrefix(csr.Subject.CommonName, nodeUserPrefix)
	if node == "" {
		r.say('E', "csr_check.go:256", notValid, req.Name)
		return false, nil
	}
	if r.nodes[node] {
		r.say('E', "csr_check.go:266", "%v: node %s already exists, cannot approve", req.Name, node)
		return false, nil
	}
	i := slices.IndexFunc(r.machines, func(m approverMachine) bool { return m.hasInternalDNS(node) })
	if i < 0 {
		r.say('E', "csr_check.go:273", "%v: failed to find machine with InternalDNS matching %s, cannot approve", req.Name, node)
		return false, fmt.Errorf("failed to find machine for node %s", node)
	}
	machine := r.machines[i]
	if machine.Status.NodeRef != nil {
		r.say('E', "csr_check.go:279", "%v: machine for node %v already has node ref, cannot approve", req.Name, machine.Status.NodeRef)
		return false, nil
	}
	start, end := machine.CreationTimestamp.Add(-machineSkew), machine.CreationTimestamp.Add(machineWindow)
	if !within(start, end, req.CreationTimestamp.Time) {
		r.say('E', "csr_check.go:287", "%v: CSR creation time %s not in range (%s, %s)", req.Name, req.CreationTimestamp.Time, start, end)
		return false, nil
	}
	return true, nil
}

// fromBootstrapper is isReqFromNodeBootstrapper: the ServiceAccount and exactly
// its groups.
func fromBootstrapper(req *certificatesv1.CertificateSigningRequest) bool {
	want := []string{"system:authenticated", "system:serviceaccounts", "system:serviceaccounts:" + pki.BootstrapperNamespace}
	groups := slices.Clone(req.Spec.Groups)
	slices.Sort(groups)
	return req.Spec.Username == pki.Bootstrapper && slices.Equal(slices.Compact(groups), want)
}

// hasInternalDNS is FindMatchingMachineFromInternalDNS for one Machine.
func (m approverMachine) hasInternalDNS(node string) bool {
	return slices.ContainsFunc(m.Status.Addresses, func(a corev1.NodeAddress) bool {
		return a.Type == corev1.NodeInternalDNS && strings.EqualFold(strings.TrimSuffix(a.Address, "."), node)
	})
}

// serving is the second half of authorizeCSR, by the node's Machine alone.
func (r approverRules) serving(req *certificatesv1.CertificateSigningRequest, csr *x509.CertificateRequest) (bool, error) {
	node := strings.TrimPrefix(req.Spec.Username, nodeUserPrefix)
	if node == "" || node == req.Spec.Username {
		r.say('I', "csr_check.go:69", "%v: CSR does not appear to be a node serving cert", req.Name)
		return false, nil
	}
	if err := servingShape(req, csr); err != nil {
		r.say('E', "csr_check.go:180", "%v: Unrecoverable serving cert error, cannot approve: %v", req.Name, err)
		return false, nil
	}
	r.say('I', "csr_check.go:218", "Falling back to machine-api authorization for %s", node)
	err := r.servingByMachine(req, csr, node)
	if err == nil {
		return true, nil
	}
	r.say('I', "csr_check.go:221", "Could not use Machine for serving cert authorization: %v", err)
	return false, fmt.Errorf("could not authorize CSR: exhausted all authorization methods: %w", kerrors.NewAggregate([]error{err}))
}

// servingShape is validateCSRContents after the requester's name.
func servingShape(req *certificatesv1.CertificateSigningRequest, csr *x509.CertificateRequest) error {
	has := func(usage certificatesv1.KeyUsage) bool { return slices.Contains(req.Spec.Usages, usage) }
	groups := sets.New(req.Spec.Groups...)
	switch {
	case len(req.Spec.Groups) < 2:
		return errors.New("too few groups")
	case !groups.HasAll(nodesGroup, "system:authenticated"):
		return fmt.Errorf("%q not in %q and %q", groups, "system:authenticated", nodesGroup)
	case len(req.Spec.Usages) != 2 && len(req.Spec.Usages) != 3:
		return errors.New("too few usages")
	case !has(certificatesv1.UsageDigitalSignature) || !has(certificatesv1.UsageServerAuth):
		return fmt.Errorf("%q is missing usages", sets.New(req.Spec.Usages...))
	case csr.Subject.CommonName != req.Spec.Username:
		return fmt.Errorf("mismatched CommonName %s != %s", csr.Subject.CommonName, req.Spec.Username)
	case !slices.Contains(csr.Subject.Organization, nodesGroup):
		return fmt.Errorf("organization %v doesn't include %s", csr.Subject.Organization, nodesGroup)
	}
	return nil
}

// servingByMachine is authorizeServingCertWithMachine: every name and address
// that is asked for is one of the Machine that has the Node.
func (r approverRules) servingByMachine(req *certificatesv1.CertificateSigningRequest, csr *x509.CertificateRequest, node string) error {
	i := slices.IndexFunc(r.machines, func(m approverMachine) bool {
		return m.Status.NodeRef != nil && m.Status.NodeRef.Name == node
	})
	if i < 0 {
		r.say('E', "csr_check.go:376", "%v: Serving Cert: No target machine for node %q", req.Name, node)
		return errors.New("unable to find machine for node")
	}
	var names, addresses []string
	for _, a := range r.machines[i].Status.Addresses {
		switch a.Type {
		case corev1.NodeInternalDNS, corev1.NodeExternalDNS, corev1.NodeHostName:
			names = append(names, a.Address)
		case corev1.NodeInternalIP, corev1.NodeExternalIP:
			addresses = append(addresses, a.Address)
		}
	}
	for _, san := range csr.DNSNames {
		same := func(name string) bool { return strings.EqualFold(san, strings.TrimSuffix(name, ".")) }
		if san != "" && !slices.ContainsFunc(names, same) {
			err := fmt.Errorf("DNS name '%s' not in machine names: %s", san, strings.Join(names, " "))
			r.say('E', "csr_check.go:409", "%v: %v", req.Name, err)
			return err
		}
	}
	for _, san := range csr.IPAddresses {
		if len(san) > 0 && !slices.Contains(addresses, san.String()) {
			err := fmt.Errorf("IP address '%s' not in machine addresses: %s", san, strings.Join(addresses, " "))
			r.say('E', "csr_check.go:438", "%v: %v", req.Name, err)
			return err
		}
	}
	return nil
}
