// Package check answers whether a command is safe to run here and now: what it would change,
// which objects it hits, and what that does in the state that was read.
//
// Invariants:
//   - It only reads, and it runs nothing.
//   - A judgment is one value: the commands that it is about, what it reads, how it decides, and the
//     source of the claim. The list is visible (judgments.go), one file for each group of verbs.
//   - Unknown never becomes safe: a command that no judgment knows, an object that is not found, and
//     a read that failed each give "unknown", with what would decide.
//   - What cannot be undone stays so whatever could not be read.
//   - A selector is judged on the objects of the source, never on its text.
package check
