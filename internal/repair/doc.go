// Package repair carries out plans: ordered, typed steps that were written to a
// file, reviewed by a person, and are applied as they were saved.
//
// Files by their prefix, in the order of a repair:
//
//	plan_      a plan as data, its file, and what it must contain to be applied
//	planner_   how a root and its remedies become a plan; draft is the plan in the making
//	actions.go the visible lists: actions, changes of fields, contents, guards
//	action_    one kind of step per file: how it is planned, checked, described, carried out, seen, undone
//	change_    one change of fields per file, for the action change-fields
//	content_   one Secret or ConfigMap per file, for the action put-content
//	guard_     what must hold before a write
//	write_     a write that is ready to be made: patch, deletion, and how a reader sees it
//	run_       apply, resume and undo, and the diagnosis afterwards
//	journal_   what was done, on disk and in the cluster, and the contents that are kept for it
//	kube_      the cluster: its API, the members of etcd, an archive in place of it
//
// A reader of an action needs its file and action.go. Actions, plan and run are one package: the tests
// carry out whole plans in an API server in memory, with every fault around every write, and name
// what only the actions know. The command is in internal/repair/command; what needs no plan is in
// packages of its own (chrony, hostscript).
//
// Invariants:
//   - Nothing is written to the cluster before the guards of the step hold, the
//     fields that the plan was made from still have the digest of the plan, the
//     fault is still present, and the intent is in the journal (fsync).
//   - Every write is a JSON patch with `test` operations on the values and the
//     resourceVersion just read, the creation of an object of our own, or the
//     deletion of one object by its uid and resourceVersion. Objects of others
//     are never applied server-side: their controllers own the fields and the
//     API answers 409.
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
