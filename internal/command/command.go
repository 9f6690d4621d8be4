// Package command reads a shell command that somebody was advised to run: whether it is
// advice that is refused, and else whether it only reads.
//
// Invariants:
//   - Nothing is run.
//   - A command that this package does not know is never said to be safe.
package command

import (
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/fault"
)

// Effect is what a command does.
type Effect string

// The effects.
const (
	Reads   Effect = "reads"
	Changes Effect = "changes"
	Unknown Effect = "unknown"
)

// Command is a command as it was pasted.
type Command struct {
	Text    string // on one line, without prompts, quotes and continuations
	Program string // "oc" also for kubectl
	Effect  Effect
	Does    string // what it does, in words; "" where that is not known
}

var (
	prompt       = regexp.MustCompile(`^\s*(?:[-*>]\s+)*(?:\[[ x]?\]\s+)?(?:\[?[\w.-]+@[\w.-]+[^\]$#]*\]?[$#]\s+|[$#]\s+|sh-[\d.]+[$#]\s+)?`)
	continuation = regexp.MustCompile(`\\\s*\n\s*`)
	blanks       = regexp.MustCompile(`\s+`)
	assignment   = regexp.MustCompile(`^\w+=\S*$`)
)

// Parse reads the first command of a text. ok is false where the text is none.
func Parse(text string) (Command, bool) {
	text = continuation.ReplaceAllString(strings.Trim(strings.TrimSpace(text), "`"), " ")
	first, _, _ := strings.Cut(text, "\n")
	line := clean(prompt.ReplaceAllString(first, ""))
	c := Command{Text: clean(prompt.ReplaceAllString(text, "")), Effect: Reads}
	found := false
	for _, part := range parts(line) {
		words := leading(strings.Fields(part))
		if len(words) == 0 {
			continue
		}
		k, ok := programs[words[0]]
		if !ok {
			if found && slices.Contains(filters, words[0]) {
				continue
			}
			if found {
				c.Effect = worse(c.Effect, Unknown)
			}
			continue
		}
		if !found {
			c.Program = k.name
		}
		found = true
		effect, does := k.judge(words[1:])
		if c.Does == "" || effect != Reads && c.Effect == Reads {
			c.Does = does
		}
		c.Effect = worse(c.Effect, effect)
	}
	if found && redirects(line) && c.Effect == Reads && strings.Contains(line, "> /etc") {
		c.Effect, c.Does = Changes, "writes a file of the host"
	}
	return c, found
}

// clean takes quotes and runs of blanks out of a command.
func clean(text string) string {
	text = strings.NewReplacer(`"`, "", `'`, "", "`", "", `\`, "").Replace(text)
	return strings.TrimSpace(blanks.ReplaceAllString(text, " "))
}

// parts splits a line at what ends a command in a shell.
func parts(line string) []string {
	return regexp.MustCompile(`\|\||&&|[|;]|\$\(|\bdo\b|\bin\b`).Split(line, -1)
}

// leading drops what stands before a program: sudo, watch, time, variables.
func leading(words []string) []string {
	for len(words) > 0 {
		switch w := words[0]; {
		case slices.Contains([]string{"sudo", "watch", "time", "nohup", "xargs", "then", "else", "!"}, w), assignment.MatchString(w):
			words = words[1:]
		case strings.HasPrefix(w, "-") && len(words) > 1:
			words = words[1:]
		default:
			if i := strings.LastIndexByte(w, '/'); i >= 0 && i < len(w)-1 {
				words = append([]string{w[i+1:]}, words[1:]...)
			}
			return words
		}
	}
	return nil
}

func redirects(line string) bool { return strings.Contains(line, ">") }

func worse(a, b Effect) Effect {
	rank := []Effect{Reads, Unknown, Changes}
	if slices.Index(rank, b) > slices.Index(rank, a) {
		return b
	}
	return a
}

// Refused returns the refused remedies whose commands a text contains, the most specific
// first. Names and the order of flags do not matter.
func Refused(text string, known []*fault.RefusedRemedy) []*fault.RefusedRemedy {
	text = strings.ToLower(clean(continuation.ReplaceAllString(text, " ")))
	type hit struct {
		r     *fault.RefusedRemedy
		parts int
	}
	var hits []hit
	for _, r := range known {
		for _, p := range r.Commands {
			if holds(p, text) {
				hits = append(hits, hit{r, len(p.Has)})
				break
			}
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return b.parts - a.parts })
	var list []*fault.RefusedRemedy
	for _, h := range hits {
		list = append(list, h.r)
	}
	return list
}

func holds(p fault.CommandPattern, text string) bool {
	for _, has := range p.Has {
		if ok, err := regexp.MatchString(`(?i)`+has, text); err != nil || !ok {
			return false
		}
	}
	for _, not := range p.Not {
		if ok, err := regexp.MatchString(`(?i)`+not, text); err != nil || ok {
			return false
		}
	}
	return true
}
