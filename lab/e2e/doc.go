// Package e2e holds the end-to-end tests: the tool, as a process, against the
// real servers of the lab in their real failures.
//
// Nothing here is built into the tool for the tests. Where a test must kill the
// tool in the middle of a repair, it puts a reverse proxy between the tool and the
// API server: the proxy sees a write arrive and kills the process before it
// forwards the request, or after it forwarded it and before the tool gets the
// answer. That is what a crash, a lost shell or an evicted pod looks like.
package e2e
