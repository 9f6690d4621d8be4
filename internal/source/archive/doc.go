// Package archive reads what a collector left behind as an evidence.Source: a must-gather, any
// tree of one-object files in the same layout, Rollcall's own collection, an archive of another
// kind (layouts.go has the list), or plain files of objects or lines.
//
// # Rooms
//
//   - member reads the container (directory, tar, zip, single file; packed or not), with all
//     bounds on foreign bytes;
//   - layout and the packages below it know how each collector lays out its files; layouts.go
//     has the list;
//   - objectfile reads files of objects, journal reads journals;
//   - this package makes the index of an archive (index.go, lost.go, nested.go), answers
//     from it (list.go, texts.go, now.go, missing.go), replays a collection (manifest.go,
//     seal.go, replay.go) and joins several archives to one (join*.go).
//
// # Where things are
//
// A root is a directory that has cluster-scoped-resources/ or namespaces/ below
// it. It is found by that, never by its name: collectors, mirrors and support
// tools rename the directories above. A tree may have several roots (several
// must-gather images, `--all-images`, also an inspect tree); all of them are read as one.
// Roots of different clusters are an error, because their objects cannot be told apart
// afterwards.
//
// An object that is in several places counts once: the copy with the higher
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
//   - or the layout knows that the collector asked for it (layout.Layout.Absent);
//   - or, in Rollcall's own collection, the header says that the read was empty.
//
// Everything else is evidence.NotCollected: a resource directory that is not
// there (relatedObjects are written one file an object, so no object leaves no
// trace), a namespace that is not there, an empty directory, a List file that is
// missing although its siblings exist (inspect writes it even when it is empty, so it was
// not asked for or the request failed; openshift/oc:pkg/cli/admin/inspect).
//
// A file that is empty or cut off is Damaged: what is whole is returned together with an
// *evidence.Unavailable that names the file. The same holds where a file cannot be read at
// all (a link, an encrypted or sparse member, a directory without permission) or the end of
// the archive is missing, for every question about what may be there; other questions are
// answered as before. The current log of a container with no bytes does not show that the
// container logged nothing: on a host that cannot be reached the collector leaves the same
// file.
//
// # Now
//
// See Source.Describe.
package archive
