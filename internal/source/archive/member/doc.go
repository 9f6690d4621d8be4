// Package member reads containers of files: a directory, a tar, a zip, or a single file; a
// tar or a single file may be packed with gzip, xz, zstd or bzip2. Which of these it is shows
// in the content and never in the name.
//
// Reading a container is two steps. One pass hands each member to an Index, which says what
// the pass keeps of it; afterwards the Container opens the members that are wanted, in any
// order and by several goroutines at once.
//
// A container is foreign input. What holds on any bytes:
//   - nothing is unpacked to disk, and no link is followed: a link, a device, a sparse or an
//     encrypted member is lost (Index.Lose), never read;
//   - a name that leads out of the container is lost, too;
//   - a member has no more bytes than its header says, and fewer are an error;
//   - decompression is bounded by a size and a ratio (LimitError), in the container and in
//     its members;
//   - a container that is cut off keeps what came before: Container.Cut says so.
//
// The package knows nothing of clusters: which members matter is the index's.
package member
