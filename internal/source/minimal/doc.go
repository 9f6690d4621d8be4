// Package minimal keeps of what a run read only what facts read: it stands between the reader and
// the writer of a collection (internal/source/collect) and is for collections that leave the house.
//
// It is a list of what may stay, not of what must go. A new kind, a new field and a line of a log
// that no message knows are left out until somebody adds them to fields.go.
//
// Invariants:
//   - An object keeps its name and namespace, and of all else only the paths of its kind.
//   - A log keeps the lines that a message matches, and of their words those of a public vocabulary, what has a
//     form (numbers, times, addresses), names of objects and what a message reads. Each other line is empty, so
//     that the numbers of lines stay.
//   - It gets what was sanitized, and adds nothing.
package minimal
