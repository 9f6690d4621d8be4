package message

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Prove tries the messages of a file on samples: lines with an outcome (the id of a fault,
// failure or normal), a tab, and a line as the program prints it. Lines that begin with #
// are comments. It returns what is wrong: a sample with another outcome, and messages that
// hold on no sample.
func (x *Index) Prove(file *fault.Messages, samples string) []string {
	var wrong []string
	tried := make([]bool, len(file.Messages))
	n := 0
	for line := range strings.Lines(samples) {
		n++
		want, sample, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "\t")
		switch {
		case strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "":
			continue
		case !ok:
			wrong = append(wrong, fmt.Sprintf("line %d: write OUTCOME, a tab, and the line", n))
			continue
		}
		got := x.outcomes(sample)
		if !slices.Contains(got, want) {
			wrong = append(wrong, fmt.Sprintf("line %d: it shows %s, want %s: %s", n, orNothing(got), want, short(sample)))
		}
		lower := plainLower(nil, []byte(sample))
		for i := range x.rules {
			if j := x.rules[i].inFile(file); j >= 0 && x.rules[i].matches(lower) {
				tried[j] = true
			}
		}
	}
	for i, m := range file.Messages {
		if !tried[i] {
			wrong = append(wrong, fmt.Sprintf("message %q holds on no sample", m.Text))
		}
	}
	return wrong
}

// inFile returns which message of a file a rule is, -1 where it is of another one.
func (r *rule) inFile(file *fault.Messages) int {
	if r.file != file {
		return -1
	}
	return r.index
}

// outcomes are what messages show of one line.
func (x *Index) outcomes(line string) []string {
	var list []string
	f := x.block([]byte(line))
	x.rewritten([]byte(line), &f)
	for _, h := range f.hits {
		switch r := &x.rules[h.rule]; {
		case r.Fault != "":
			list = append(list, r.Fault)
		case r.Failure != "":
			list = append(list, "failure")
		default:
			list = append(list, "normal")
		}
	}
	return list
}

func orNothing(list []string) string {
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, ", ")
}
