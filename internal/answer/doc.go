// Package answer renders a diagnosis. Its functions are pure: they compute nothing
// about a cluster and read neither clock nor environment.
//
// Invariants:
//   - Names, commands and locators are wrapped or stand on a line of their own; they
//     are never shortened. Only excerpts of what was read are, and -o wide, json
//     and yaml have them whole.
//   - Color is never the only sign; ASCII output carries the same signs.
//   - What was read from a cluster or an archive is foreign: control characters
//     never reach the terminal.
//   - The same diagnosis gives the same bytes.
package answer
