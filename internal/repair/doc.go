// Package repair carries out plans: ordered, typed steps that were written to a
// file, reviewed by a person, and are applied as they were saved.
//
// Invariants:
//   - Nothing is written to the cluster before the guards of the step hold, the
//     fields that the plan was made from still have the digest of the plan, the
//     fault is still present, and the intent is in the journal (fsync).
//   - Every write is a JSON patch with `test` operations on the values and the
//     resourceVersion just read, or the creation of an object of our own. Objects
//     of others are never applied server-side: their controllers own the fields
//     and the API answers 409.
//   - After a kill at any point the journal and the cluster together show how far
//     the plan came: an intent without a result is settled by reading the
//     content of its target, never by doing it again blindly.
//   - A guard that cannot read refuses. Unknown is never fine.
//   - Contents of a MachineConfig carry the pull secret. They are only in the
//     store (0600, named by their digest); plan, journal, logs and errors hold
//     digests, sizes and names.
//   - state: Done on a Node is never written: only the machine-config-daemon can
//     know it.
package repair
