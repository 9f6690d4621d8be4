// Package csrs reads certificate signing requests and says why they wait.
//
// A machine joins with two requests: its kubelet first asks for a client
// certificate as the node bootstrapper, then, as the node that it has become,
// for a serving certificate. On OpenShift the cluster machine approver answers
// both (openshift/cluster-machine-approver:pkg/controller), the controller
// manager signs (kubernetes/kubernetes:pkg/controller/certificates/signer).
//
// Judge is the approver's decision as a table of named checks. It is pure: facts,
// `rollcall csr explain` and the repair all use it.
//
// Invariants:
//   - The common name of a request is a claim. Whoever holds the bootstrap
//     credential chooses it, so a request alone never makes a host expected.
//   - A check that could not be made is Unknown, and so is then the decision.
//   - Nothing here approves anything.
package csrs
