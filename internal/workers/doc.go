// Package workers makes the machines of a hosted cluster's NodePool of platform None, lets
// them join, and takes away what it made. On that platform HyperShift makes no machines and
// no controller approves their requests
// (openshift/hypershift:hypershift-operator/controllers/nodepool/nodepool_controller.go
// isAutomatedMachineManagement, 4.12 to 4.22).
//
// Invariants:
//   - The journal has a record before each act: a run that was killed at any point knows what
//     may have been made.
//   - What is taken away is what the journal of the run has, found by the provider's marks of
//     that run, never by a pattern of names.
//   - User-data is a secret: it goes from the API to the provider and nowhere else. Journals,
//     logs, arguments of programs and errors have its digest at most.
//   - User-data is read again for each machine, of the config that the NodePool gives to new
//     machines now. A copy is good for hours only: its token is rotated.
//   - Only requests of the run's machines are approved, by their names and addresses, within
//     the run's time window.
package workers
