// Package sanitize removes secrets from what a source has read.
//
// Certificates stay. Private keys, tokens, passwords and file contents become
// salted digests with their sizes.
//
// Invariants:
//   - Equal values of one run have equal digests, so they can be compared.
//   - What was sanitized already passes unchanged, so a recorded run can be replayed.
//   - The salt lives in memory only.
package sanitize
