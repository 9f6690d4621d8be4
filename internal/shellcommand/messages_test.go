package shellcommand

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// TestCommandsOfMessages: what a message tells to look at is a command that this tool has,
// it changes nothing, and it prints no Secret, which somebody would paste.
func TestCommandsOfMessages(t *testing.T) {
	c, err := fault.Load(catalog.FS)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range c.Messages {
		texts := map[string]string{}
		for _, m := range file.Messages {
			texts[m.Text] = m.Next
		}
		for _, e := range file.Endpoints {
			texts[e.ID] = e.Next
		}
		for _, list := range file.Reported {
			for _, r := range list {
				texts[r.Match] = r.Next
			}
		}
		for text, next := range texts {
			for _, command := range commandsIn(next) {
				found++
				for _, err := range checkScript(command) {
					t.Errorf("%s, %q: %v\n\t%s", file.Program, text, err, command)
				}
				if cmd, ok := Parse(command); ok && cmd.Effect == Changes && !elsewhere.MatchString(command) {
					t.Errorf("%s, %q: %s\n\t%s", file.Program, text, cmd.Does, command)
				}
				if printsSecret.MatchString(command) {
					t.Errorf("%s, %q: prints a Secret\n\t%s", file.Program, text, command)
				}
			}
		}
	}
	if found < 300 {
		t.Errorf("%d commands found: they are no longer read", found)
	}
}

// printsSecret matches a command that prints what is in a Secret; describe prints its size.
var printsSecret = regexp.MustCompile(`\b(get|extract) secrets?\b.*(-o ?(yaml|json)|--to=-)`)

// prose are words that end a command within a sentence.
var prose = strings.Fields("and or of on in for from with then has have shows names is are decides decide against where what which " +
	"whether below by behind to there does writes past twice some")

// wordsToo are programs that are also words of a sentence: commands with an option or a path.
var wordsToo = strings.Fields("host find install set sort touch cut test stat head tail watch")

// commandsIn are the commands within a sentence: from the name of a program to the end of a
// clause or a word of prose, outside of quotes.
func commandsIn(text string) (list []string) {
	words := strings.Fields(text)
	for i := 0; i < len(words); i++ {
		name := strings.TrimLeft(words[i], "(`")
		if name == "sudo" && i+1 < len(words) {
			name = words[i+1]
		}
		if _, ok := programs[name]; !ok || slices.Contains(wordsToo, name) && (i+1 == len(words) || !strings.ContainsAny(words[i+1][:1], "-/")) {
			continue
		}
		command, end := "", false
		for start := i; i < len(words) && !end; i++ {
			word := strings.TrimLeft(words[i], "`")
			if i == start {
				word = strings.TrimLeft(word, "(")
			}
			if !quoted(command) && i > start && (slices.Contains(prose, strings.TrimRight(word, ",;:.")) || word[0] == '(') {
				i--
				break
			}
			command = strings.TrimSpace(command + " " + word)
			if cut := strings.TrimRight(command, "`,;:."); cut != command && !quoted(cut) {
				command, end = cut, true
			}
			if strings.Count(command, ")") > strings.Count(command, "(") && !quoted(command) {
				command, end = strings.TrimRight(command, ")"), true
			}
			if end {
				break
			}
		}
		if strings.Contains(strings.TrimPrefix(command, "sudo "), " ") {
			list = append(list, command)
		}
	}
	return list
}

// quoted reports whether a text ends within quotes.
func quoted(text string) bool {
	open := rune(0)
	for _, c := range text {
		switch {
		case open == 0 && (c == '\'' || c == '"'):
			open = c
		case open == c:
			open = 0
		}
	}
	return open != 0
}

func TestCommandsIn(t *testing.T) {
	text := "on the host: sudo journalctl -b -u x -n 5, and dig @SERVER +short NAME for each. Refused, 'cannot find file': ping (ICMP); else oc get co, then " +
		"`oc describe pod POD` (its events); sudo crictl logs \"$(sudo crictl ps -q --name '^a, b$' | head -n1)\" 2>&1 | grep -E 'x: y|z': the host answers"
	want := []string{"sudo journalctl -b -u x -n 5", "dig @SERVER +short NAME", "oc get co", "oc describe pod POD",
		"sudo crictl logs \"$(sudo crictl ps -q --name '^a, b$' | head -n1)\" 2>&1 | grep -E 'x: y|z'"}
	if got := commandsIn(text); !slices.Equal(got, want) {
		t.Errorf("commands %q, want %q", got, want)
	}
}
