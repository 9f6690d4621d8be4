// Package pointers computes facts about pointer configs: the small Ignition configs
// that hosts boot with, which say from where the rest is fetched and which CA
// is trusted for that.
//
// Invariants:
//   - Only pointers in Secrets are read, and only where Secrets are. A pointer in an
//     ISO, on a web server or on a host cannot be seen from here: that those in the
//     cluster are right does not mean that a given host's is.
//   - A Secret that exists and was not read leaves its contents unknown, never well.
//   - A CA fits when it leads to the certificate that the machine config
//     server shows; its name does not matter.
package pointers

import "github.com/rollcall-project/rollcall/internal/kernel/facts"

// Facts lists the facts of this package.
func Facts() []facts.Fact { return []facts.Fact{fact()} }
