// Package sanitize removes secrets from texts, lines and the content of objects.
//
// Certificates stay. Private keys, tokens, passwords and file contents become
// salted digests with their sizes.
//
// Invariants:
//   - Equal values of one run have equal digests, so they can be compared.
//   - What was sanitized already passes unchanged, so a recorded run can be replayed.
//   - The salt lives in memory only.
//   - It knows no evidence and no fault: who wants to know what is hidden reads this room alone.
package sanitize
