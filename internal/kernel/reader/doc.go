// Package reader reads sources once, sanitizes what they return, remembers what
// could not be read, and hands all of it to a recorder.
//
// Invariants:
//   - Nothing behind the Reader sees a secret.
//   - A list or a text that could not be read is an *evidence.Unavailable and never
//     an empty result.
//   - The coverage counts each object list and each text.
package reader
