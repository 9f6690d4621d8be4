// Package service is what the programs share that run in a cluster for months: the lease that one of several
// replicas holds, the listener with metrics and health, and who may read what is behind it.
//
// Invariants:
//   - Only /healthz and /readyz answer without a credential where an Access is set, and they say nothing
//     about the cluster but why the program does not work.
//   - A credential of a caller is sent to the API server for a review and to nowhere else. It is neither
//     kept nor logged: what was allowed is remembered under a digest.
//   - Every request has an end in time, and nothing that is sent is read beyond a bound.
//   - It knows no diagnosis and no kind of server.
package service
