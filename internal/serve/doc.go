// Package serve reads a cluster again and again and answers from memory: metrics for Prometheus, and a page for
// people. It is `rollcall serve`.
//
// Invariants:
//   - It writes nothing to the cluster but its lease, and where it was asked to, Events and the records of incidents in one
//     namespace: new objects of its own, of which it keeps a bounded number. The answer is that of `rollcall diagnose`, from the same
//     session; nothing here judges.
//   - Only the replica that holds the lease reads the cluster and exports what it read. Two that export the same
//     would count every host twice.
//   - While the cluster cannot be read the last answer stays, with its age. It never turns into "nothing wrong".
//   - What is exported is bounded, however large or hostile the cluster is: labels have values of closed lists, or
//     of the first few by name, and the others are counted.
//   - It keeps no history: Prometheus does.
package serve
