// Package shellcommand reads a shell command that somebody was advised to run: whether it is
// advice that is refused, and else whether it only reads.
//
// Invariants:
//   - Nothing is run.
//   - A command that this package does not know is never said to be safe.
package shellcommand

import (
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
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
	Typed   string // the same with its quotes, as it can be run
	Program string // "oc" also for kubectl
	Effect  Effect
	Does    string    // what it does, in words; "" where that is not known
	Steps   []Command // the commands of a text of several; nil for one
}

var (
	prompt       = regexp.MustCompile(`^\s*(?:[-*>]\s+)*(?:\[[ x]?\]\s+)?(?:\[?[\w.-]+@[\w.-]+[^\]$#]*\]?[$#]\s+|[$#]\s+|sh-[\d.]+[$#]\s+)?`)
	continuation = regexp.MustCompile(`\\\s*\n\s*`)
	blanks       = regexp.MustCompile(`\s+`)
	assignment   = regexp.MustCompile(`^\w+=\S*$`)
)

// Parse reads the commands of a text: what the worst of them does is what the text does. ok
// is false where the text begins with none.
func Parse(text string) (Command, bool) {
	lines := statements(text)
	var steps []Command
	for _, line := range lines {
		if c, ok := parseOne(line); ok {
			steps = append(steps, c)
		} else if len(steps) == 0 && !loop.MatchString(line) {
			return Command{}, false
		}
	}
	if len(steps) == 0 {
		return Command{}, false
	}
	all := steps[0]
	if len(steps) == 1 {
		return all, true
	}
	all.Text, all.Steps = clean(prompt.ReplaceAllString(continuation.ReplaceAllString(strings.Trim(text, "` \n"), " "), "")), steps
	for _, c := range steps[1:] {
		if worse(all.Effect, c.Effect) != all.Effect || all.Effect == Reads { // of those that read, the last one is meant
			all.Effect, all.Does = c.Effect, c.Does
		}
	}
	return all, true
}

// left are the programs that people leave out, by the first word of what they type.
var left = map[string]string{
	"delete": "oc", "patch": "oc", "edit": "oc", "scale": "oc", "drain": "oc adm", "upgrade": "oc adm",
	"restart": "systemctl", "stop": "systemctl",
}

// WithProgram is a text with the program in front that was left out of it: "delete node w1".
// What begins with a word that is also one of a sentence ("drain is blocked") has a flag.
func WithProgram(text string) (string, bool) {
	first, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	program, ok := left[first]
	if !ok || rest == "" || program == "oc adm" && !strings.Contains(rest, "--") {
		return "", false
	}
	return program + " " + first + " " + rest, true
}

// loop is the head of a loop: its commands follow.
var loop = regexp.MustCompile(`^(?:for \w+ in |while read)`)

// fragment is a line of a script that does nothing by itself.
var fragment = regexp.MustCompile(`^(?:for \w+ in [^|]*|while read[^|]*|cd(?: \S+)?)$`)

// Fragment reports whether a text is only the head of a loop, or a change of directory: what
// it leads to is in the lines behind it.
func Fragment(text string) bool {
	lines := statements(text)
	return len(lines) > 0 && !slices.ContainsFunc(lines, func(l string) bool { return !fragment.MatchString(l) })
}

// parseOne reads one command line with its pipes.
func parseOne(text string) (Command, bool) {
	line, typed := clean(text), strings.TrimSpace(text)
	c := Command{Text: line, Typed: typed, Effect: Reads}
	if script.MatchString(strings.TrimPrefix(line, "sudo ")) {
		return Command{Text: line, Typed: typed, Program: "script", Effect: Unknown, Does: "runs a script"}, true
	}
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
		if !found && sentence(words) {
			return Command{}, false
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

// plainWords are programs whose names also begin a sentence.
var plainWords = []string{"host", "find", "mount", "date", "free", "kill", "touch", "reboot", "head", "tail"}

// sentence reports whether words are those of a person and no command: "host stuck
// provisioning". An argument of a command has more than letters in it.
func sentence(words []string) bool {
	return len(words) > 1 && slices.Contains(plainWords, words[0]) && !strings.ContainsAny(strings.Join(words[1:], ""), "./-:=$~*+0123456789")
}

// script is a call of a script: what it does is in its file.
var script = regexp.MustCompile(`^(?:(?:python3?|perl|bash|sh) )?(?:\./\S+|[\w./-]+\.(?:sh|py|pl|yml))(?: -\S+| [\w.-]+)*$`)

// clean takes quotes and runs of blanks out of a command.
func clean(text string) string {
	text = strings.NewReplacer(`"`, "", `'`, "", "`", "", `\`, "").Replace(text)
	return strings.TrimSpace(blanks.ReplaceAllString(text, " "))
}

// parts splits a line at what ends a command in a shell.
func parts(line string) []string {
	return regexp.MustCompile(`\|\||&&|[|;]|\$\(|\bdo\b|\bin\b`).Split(line, -1)
}

// leading drops what precedes a program: sudo, watch, time, variables.
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
	texts := forms(text)
	type hit struct {
		r     *fault.RefusedRemedy
		parts int
	}
	var hits []hit
	for _, r := range known {
		for _, p := range r.Commands {
			if slices.ContainsFunc(texts, func(t string) bool { return matches(p, t) }) {
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

// forms are what patterns are tried on: the whole text, and each of its commands.
func forms(text string) []string {
	list := []string{strings.ToLower(clean(continuation.ReplaceAllString(text, " ")))}
	if lines := statements(text); len(lines) > 1 {
		for _, l := range lines {
			list = append(list, strings.ToLower(clean(l)))
		}
	}
	return list
}

// Notes returns what is known of the commands of a text, besides what they do.
func Notes(text string, known []*fault.CommandNotes) []fault.CommandNote {
	texts := forms(text)
	var list []fault.CommandNote
	for _, file := range known {
		for _, n := range file.Notes {
			if slices.ContainsFunc(n.Commands, func(p fault.CommandPattern) bool {
				return slices.ContainsFunc(texts, func(t string) bool { return matches(p, t) })
			}) {
				list = append(list, n)
			}
		}
	}
	return list
}

func matches(p fault.CommandPattern, text string) bool {
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
