// Package report renders a diagnosis. Its functions are pure: they compute nothing
// about a cluster and read neither clock nor environment.
//
// Invariants:
//   - Every line fits the width; nothing is cut that a person would want to copy:
//     names, commands and locators are wrapped, never shortened.
//   - Colour is never the only sign; ASCII output carries the same signs.
//   - The same diagnosis gives the same bytes.
package report

// Style says how text may look.
type Style struct {
	Width   int    // columns; 0: 80
	Color   bool   // ANSI colours
	ASCII   bool   // no characters beyond ASCII
	Command string // how the user calls the tool, for commands to copy; "": rollcall
}

const (
	defaultWidth = 80
	minWidth     = 40
	maxWidth     = 160 // longer lines are hard to read
)

func (s Style) width() int {
	switch {
	case s.Width <= 0:
		return defaultWidth
	default:
		return min(max(s.Width, minWidth), maxWidth)
	}
}

func (s Style) command() string {
	if s.Command == "" {
		return "rollcall"
	}
	return s.Command
}
