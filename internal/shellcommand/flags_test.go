package shellcommand

import (
	"fmt"
	"regexp"
	"strings"
)

// parsed is a command line as its program reads it.
type parsed struct {
	verb  string
	flags map[string]string
	rest  []string // what is neither verb nor flag
}

// flag returns the value of the first of these flags that is set.
func (p parsed) flag(names ...string) string {
	for _, n := range names {
		if v, ok := p.flags[n]; ok {
			return v
		}
	}
	return ""
}

type flagKind int

const (
	noFlag flagKind = iota
	withoutValue
	mayHaveValue
	withValue
)

// flagsOf reads lines of the table. A flag that differs between verbs is taken with its value.
func flagsOf(table string) map[string]flagKind {
	m := map[string]flagKind{}
	for _, names := range strings.Fields(table) {
		kind := withoutValue
		if s, ok := strings.CutSuffix(names, "?="); ok {
			names, kind = s, mayHaveValue
		} else if s, ok := strings.CutSuffix(names, "="); ok {
			names, kind = s, withValue
		}
		for _, n := range strings.Split(names, "|") {
			m[n] = max(m[n], kind)
		}
	}
	return m
}

// parse reads the verb and the flags of a command line. The verb is the longest of the
// table that its first words are.
func (k tool) parse(name string, args []string) (parsed, error) {
	verb, until := "", 0
	switch name {
	case "ssh":
		until = 1
	case "podman", "crictl":
		until = 2
	}
	if k.verbs != nil {
		all := k.flags
		for _, flags := range k.verbs {
			all += " " + flags
		}
		loose, err := k.split(flagsOf(all), args, until)
		if err != nil {
			return parsed{}, err
		}
		n := min(len(loose.rest), 4)
		for ; n >= 0; n-- {
			verb = strings.Join(loose.rest[:n], " ")
			if _, ok := k.verbs[verb]; ok && (n > 0 || len(loose.rest) == 0) {
				break
			}
		}
		if n < 0 {
			return parsed{}, fmt.Errorf("%q is no verb of the table", strings.Join(loose.rest, " "))
		}
	}
	words := len(strings.Fields(verb))
	p, err := k.split(flagsOf(k.flags+" "+k.verbs[verb]), args, until)
	p.verb = verb
	if err == nil {
		p.rest = p.rest[words:]
	}
	return p, err
}

var count = regexp.MustCompile(`^-\d+$`)

// split separates flags from words. What comes after "--" is words; so is everything after
// the first words where until is set: a flag there belongs to another program.
func (k tool) split(known map[string]flagKind, args []string, until int) (parsed, error) {
	p := parsed{flags: map[string]string{}}
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch {
		case w == "--" || until > 0 && len(p.rest) == until:
			if w == "--" {
				i++
			}
			p.rest = append(p.rest, args[i:]...)
			return p, nil
		case k.plus && strings.HasPrefix(w, "+"):
			name, value, has := strings.Cut(w[1:], "=")
			if kind := known[name]; kind == noFlag || has && kind == withoutValue {
				return p, fmt.Errorf("no option %s", w)
			}
			p.flags[name] = value
		case len(w) < 2 || w[0] != '-' || known["n"] == withValue && count.MatchString(w):
			p.rest = append(p.rest, w)
		case strings.HasPrefix(w, "--") || k.dash:
			name, value, has := strings.Cut(strings.TrimLeft(w, "-"), "=")
			if k.dash {
				name, value, has = w[1:], "", false
			}
			switch kind := known[name]; {
			case kind == noFlag:
				return p, fmt.Errorf("no flag %s", w)
			case kind == withoutValue && has && value != "true" && value != "false":
				return p, fmt.Errorf("%s takes no value", w)
			case kind == withValue && !has:
				if i++; i == len(args) {
					return p, fmt.Errorf("%s without a value", w)
				}
				value = args[i]
			}
			p.flags[name] = value
		default:
			used, err := p.short(known, w[1:], args[i+1:])
			if err != nil {
				return p, err
			}
			i += used
		}
	}
	return p, nil
}

// short reads flags of one letter, and returns how many words after them are their value.
func (p *parsed) short(known map[string]flagKind, letters string, next []string) (int, error) {
	for i, c := range letters {
		switch kind := known[string(c)]; kind {
		case noFlag:
			return 0, fmt.Errorf("no flag -%c", c)
		case withoutValue:
			p.flags[string(c)] = ""
		case mayHaveValue:
			// journalctl -b -1: what looks like a number is its value.
			if len(next) > 0 && count.MatchString(next[0]) && i == len(letters)-1 {
				p.flags[string(c)] = next[0]
				return 1, nil
			}
			p.flags[string(c)] = letters[i+1:]
			return 0, nil
		default:
			if v := strings.TrimPrefix(letters[i+1:], "="); v != "" {
				p.flags[string(c)] = v
				return 0, nil
			}
			if len(next) == 0 {
				return 0, fmt.Errorf("-%c without a value", c)
			}
			p.flags[string(c)] = next[0]
			return 1, nil
		}
	}
	return 0, nil
}
