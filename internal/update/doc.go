// Package update answers before an update or a reboot whether every host will come back: what
// will hold a drain, a rollout or a host, what to do about it now, and what was not looked at.
//
// A check is one value of the list in checks.go. It shows the faults of the catalog that belong to it,
// with their remedies, and what it looks at itself. What a diagnosis finds and no check names is shown
// by the last check: nothing that is present is passed over.
//
// Invariants:
//   - It only reads.
//   - A check is present, absent, unknown or not applicable. What could not be read is unknown, with
//     what would show it, and never absent.
//   - Each check that can hold an update leaves the answer undecided while it is unknown. So evidence that
//     is taken away never makes the answer better. What is read only when a user asks for it, and
//     was not asked for, is listed as that and leaves nothing undecided.
//   - What holds an update is an error; what disturbs it, or concerns new hosts only, is a warning.
package update
