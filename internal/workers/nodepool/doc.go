// Package nodepool declares, reads and describes a NodePool of platform None: its manifest, what its
// conditions mean there, and what goes and what stays when it is deleted.
//
// Invariants:
//   - It reads objects that it is handed, and asks no cluster.
//   - A NodePool is only created, never applied over one that exists: what others own stays theirs.
//   - What a condition means on platform None is said with its source; a condition that is not known
//     here is shown as the server has it.
//
// Sources are those of openshift/hypershift, release-4.14 to release-4.22 where no other is named.
package nodepool
