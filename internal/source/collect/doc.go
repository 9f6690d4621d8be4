// Package collect writes what a run read, so that the run can be replayed.
//
// A collection has the layout of a must-gather, for other tools and for people:
//
//	rollcall.yaml                                          the header: collection.Manifest
//	rollcall.sha256                                        the SHA-256 of the header
//	cluster-scoped-resources/<group|core>/<resource>/<name>.yaml
//	namespaces/<ns>/<group|core>/<resource>/<name>.yaml
//	namespaces/<ns>/pods/<pod>/<pod>.yaml
//	namespaces/<ns>/pods/<pod>/<container>/<container>/logs/current.log, previous.log, rotated/...
//	host_service_logs/masters/<unit>_service.log           journals of several hosts in one
//	nodes/<host>/<host>_logs_<unit>                        the journal of one host
//	consoles/<host>.log
//	management/...                                         the same of a hosted cluster's management cluster
//	reads/<n>/...                                          what differed when it was read for the n-th time
//
// Answers of probes are objects of the group rollcall.dev. The header holds what
// the layout cannot: the run's clock, the outcome of every need, when each object
// was read, the locators of the run, and the size and SHA-256 of every file.
//
// Invariants:
//   - Only what an evidence.Reader hands out is written, so it is sanitized; no
//     file is readable for others (0600, directories 0700).
//   - Replaying a collection gives the lists, errors and clock of the run
//     (internal/source/archive).
//   - A changed byte or a missing file is found when the collection is read: the
//     header lists what there is. In a tar it comes first.
//   - The same reads give the same bytes: names are sorted, and the tar carries
//     the run's clock and no user.
//   - Names come from foreign systems and never lead out of the collection.
package collect
