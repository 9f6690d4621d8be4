// Package openshift has the names of the product, each once: namespaces, API groups,
// annotations and labels, users, well-known objects and ports. Package apitypes below it has
// the types of the APIs.
//
// Invariants:
//   - It imports nothing of ours.
//   - A constant names its source: repository, path, symbol.
//   - No other package types a namespace, an annotation or another name that is here
//     (TestTypedOnce).
//   - A name that the Go package of an API has next to its types (the signers of
//     certificates.k8s.io, the annotations of metal3.io, the namespace of node leases) is in
//     apitypes, under the same name as there.
package openshift
