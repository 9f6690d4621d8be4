package answer

import (
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// preflight writes a check of the catalog as the user called it, over the same files, and
// with what the catalog's has more. What makes another check of it is left as it is: a
// list of one BMC, the answers of another machine, another file where a directory was named.
func (t *text) preflight(line string) string {
	words, own := strings.Fields(line), strings.Fields(t.o.Call)
	call, again := t.o.Call, ""
	add := func(words string, flags ...string) {
		if !slices.ContainsFunc(flags, func(f string) bool { return slices.Contains(own, f) }) {
			call += " " + words
		}
	}
	for i, word := range words {
		switch {
		case slices.Contains(otherCheck, word), strings.ContainsAny(word, ";>|"), word == "-f" && !slices.Contains(own, word):
			return t.o.know(strings.TrimPrefix(line, "rollcall "))
		case word == "-f" && i+1 < len(words):
			add("-f "+words[i+1], words[i+1])
		case word == "--bmc":
			add(word, "--bmc", "--bmc-list", "--bmc-from")
		case word == "--bmc-ca":
			add("--bmc-ca CA.pem", word)
		case word == "--network":
			add(word, word, "--network-answers")
			if slices.Contains(own, "--network-answers") {
				again = "    # first get new answers: rollcall-host preflight"
			}
		}
	}
	return call + again
}

// otherCheck are the flags that make another check of the catalog's.
var otherCheck = []string{"--bmc-list", "--network-answers", "--against"}

// planSupply says how to get what a check of a plan lacks, as the user called the first one.
func (t *text) planSupply(s evidence.Supply) string {
	how := t.o.supply(s)
	command, about, noted := strings.Cut(how, "    #")
	switch {
	case t.o.Call == "":
		return how
	case strings.HasPrefix(command, "--"):
		command = t.o.Call + " " + command
	case strings.HasPrefix(command, "rollcall preflight "):
		command = t.preflight(command)
	}
	switch {
	case noted && strings.Contains(command, "    #"):
		command += "," + about
	case noted:
		command += "    #" + about
	}
	return command
}
