// Package browse shows the objects and the logs of an archive as `oc get` and `oc logs` print those
// of a cluster. It judges nothing.
//
// Invariants:
//   - What was not collected is said to be not collected. "No resources found" is printed only where
//     the archive proves that its collector looked.
//   - Ages are those at the archive's time.
//   - Every object and every line went through the sanitizer.
//   - Only the files of what is asked for are opened, and of a table only its fields are decoded.
package browse
