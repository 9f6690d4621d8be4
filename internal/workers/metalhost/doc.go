// Package metalhost adds a worker to a stand-alone cluster with metal3: the Secret of its BMC, its
// BareMetalHost, and a place in a MachineSet. It replaces one, by the deletion of its Machine, and it plans
// how a control-plane host is replaced, without writing anything.
//
// Invariants:
//   - Nothing of others is changed but spec.replicas of the MachineSet, of the version that was read, and
//     an annotation of a Machine that this run has caused. Of others nothing is deleted but the Machine, and
//     the BareMetalHost, of the worker that a person has named to be replaced: by UID and version.
//   - Each write has a record in the journal before it and one after it. Objects are known again by the
//     UID that was recorded, and where no answer came by the annotation of the run: never by name.
//   - User and password of a BMC go into the Secret and nowhere else: no journal, no output, no error.
//   - It imports no cobra and prints nothing.
package metalhost
