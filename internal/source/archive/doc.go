// Package archive reads what a collector left behind as an evidence.Source:
// a must-gather, an `oc adm inspect` tree, any tree of one-object files in the
// same layout, Rollcall's own collection, an Insights archive, an installer's log
// bundle, an agent-gather, a sosreport, or plain files of objects or lines. It comes
// as a directory, a tar, a zip or a single file; a tar or a single file may be packed
// with gzip, xz, zstd or bzip2. That is known by its content, not by its name. Nothing
// is unpacked to disk; what can be read only once, as from a pipe, is kept as it comes
// in a temporary file.
//
// # Where things are
//
// A root is a directory that has cluster-scoped-resources/ or namespaces/ below
// it. It is found by that, never by its name: collectors, mirrors and support
// tools rename the directories above. A tree may have several roots (several
// must-gather images, `--all-images`, an inspect in addition to it); all of them are read
// as one. Roots of different clusters are an error, because their objects cannot
// be told apart afterwards.
//
// An object that lies in several places counts once: the copy with the higher
// resourceVersion of the same UID, or the younger UID; where that does not decide,
// the file that holds one object goes before the List.
//
// # Absent, or not collected
//
// List returns an empty list only where the archive proves that its collector
// looked and found nothing:
//   - a List file of the resource (namespaces/<ns>/<group>/<resource>.yaml or
//     cluster-scoped-resources/<group>/<resource>.yaml) exists, is whole, and has
//     no items. `oc adm inspect` writes it for everything that it asks for as a
//     List, also when the answer is empty;
//   - or, in Rollcall's own collection, the header says that the read was empty.
//
// Everything else is evidence.NotCollected: a resource directory that is not
// there (relatedObjects are written one file an object, so no object leaves no
// trace), a namespace that is not there, an empty directory, a List file that is
// missing in addition to its siblings (inspect writes it even when it is empty, so it was
// not asked for or the request failed; openshift/oc:pkg/cli/admin/inspect).
//
// A file that is empty or cut off is Damaged: what is whole is returned in addition to an
// *evidence.Unavailable that names the file. So it is where a file cannot be read at
// all (a link, an encrypted or sparse member, a directory without rights) or the end
// of the archive is missing, for whoever asks for what may lie there; what else lies
// in the archive is answered as before. The current log of a container with
// no bytes is no evidence of silence: on a host that cannot be reached the
// collector leaves the same file.
//
// # Now
//
// See Source.Describe.
package archive
