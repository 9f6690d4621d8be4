// Package machine reads one machine from inside: the evidence.Source of rollcall-host.
// It runs on the machine as root, in a container that sees its root directory, or
// over a copy of its files.
//
// Invariants:
//   - It only reads. Of the machine nothing is run but the programs in commands.go,
//     each by its absolute path, with bounds of time and output, inside the machine's
//     own root directory.
//   - Links are followed as inside a chroot and never lead out of the root directory.
//     Only regular files are opened, and of each at most maxFile bytes are read.
//   - Private keys, tokens and contents of configurations do not leave this package:
//     see the types of package onhost.
//   - What runs (units, containers, clock, names, disks) is read only where the root
//     directory is that of the running machine. Of a copy it is unknown, and never
//     what the machine that reads reports.
package machine
