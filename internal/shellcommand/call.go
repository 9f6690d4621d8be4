package shellcommand

import (
	"regexp"
	"slices"
	"strings"
)

// Call is one call of one program, without what is wrapped around it (sudo, ssh, a debug pod).
type Call struct {
	Text    string              // the command line that it is from
	Part    string              // of that line: the call itself, with what only shapes its output; "" where that is the whole line
	Program string              // "oc" also for kubectl
	Args    []string            // what is no flag, in its order: the verb comes first
	Flags   map[string][]string // "--replicas": "1"; a flag without a value has ""
	Host    string              // on which it runs; "" where it runs here, or where that is not known
	OnHost  bool                // it runs on a host and not here
	Pod     string              // in which it runs
	Open    bool                // one of its words is made by a shell: which ones is not in the text
	Of      *Call               // the list that xargs, a loop or $(…) takes its words from; nil: not known
	Effect  Effect
}

// Flag returns the last value of a flag under any of its names, and whether it is there.
func (c *Call) Flag(names ...string) (string, bool) {
	for _, n := range names {
		if v := c.Flags[n]; len(v) > 0 {
			return v[len(v)-1], true
		}
	}
	return "", false
}

// Value is the last value of a flag under any of its names, "" where it is not there.
func (c *Call) Value(names ...string) string {
	v, _ := c.Flag(names...)
	return v
}

// Is reports whether the call is of a program with these first arguments.
func (c *Call) Is(program string, args ...string) bool {
	return c.Program == program && len(c.Args) >= len(args) && slices.Equal(c.Args[:len(args)], args)
}

// maxCalls bounds what a text is taken apart to: a loop in a loop.
const maxCalls = 200

// Calls returns the calls of a text, in their order. ok is false where the text has none that can
// be read as one.
func Calls(text string) (list []Call, ok bool) {
	vars := map[string]loopOf{}
	for _, line := range statements(text) {
		if m := loopHead.FindStringSubmatch(line); m != nil {
			vars[m[1]] = loopValues(m[2])
			continue
		}
		for _, one := range expand(line, vars) {
			list = append(list, callsOf(one.line, one.of)...)
			if len(list) > maxCalls {
				return list[:maxCalls], true
			}
		}
	}
	return list, len(list) > 0
}

var loopHead = regexp.MustCompile(`^for (\w+) in (.+)$`)

// loopOf is what a variable of a loop stands for.
type loopOf struct {
	values []string
	of     *Call // the list that the values come from
}

func loopValues(text string) (l loopOf) {
	for _, w := range words(text) {
		if w.open {
			return loopOf{of: substituted(w.text)}
		}
		l.values = append(l.values, w.text)
	}
	return l
}

// substituted is the call whose output a shell puts in the place of $(…), nil where it is not
// one call.
func substituted(text string) *Call {
	inside, ok := strings.CutPrefix(text, "$(")
	if !ok {
		return nil
	}
	return listing(callsWithin(strings.TrimSuffix(inside, ")"), nil, true))
}

// listing is the call that prints names, where nothing behind it picks among them.
func listing(calls []Call) *Call {
	if len(calls) != 1 || calls[0].Program != "oc" || len(calls[0].Args) == 0 || calls[0].Args[0] != "get" || calls[0].Open {
		return nil
	}
	return &calls[0]
}

type expanded struct {
	line string
	of   *Call
}

// expand puts the values of loops in the place of their variables.
func expand(line string, vars map[string]loopOf) []expanded {
	list := []expanded{{line: line}}
	for name, l := range vars {
		variable := regexp.MustCompile(`\$\{?` + name + `\b\}?`)
		if !variable.MatchString(line) {
			continue
		}
		if len(l.values) == 0 {
			for i := range list {
				list[i].of = l.of
			}
			continue
		}
		var next []expanded
		for _, e := range list {
			for _, v := range l.values {
				next = append(next, expanded{variable.ReplaceAllLiteralString(e.line, v), e.of})
			}
		}
		list = next[:min(len(next), maxCalls)]
	}
	return list
}

// callsOf are the calls of one command line with its pipes. What only shapes the output of another
// one is left out, and then the output is no list of names any more.
func callsOf(line string, of *Call) []Call { return callsWithin(line, of, false) }

// callsWithin is callsOf. Within $(…) it does not look where the words of a call come from: a call with a $(…) is no
// listing, whatever stands in it, and each level would read all the levels below it again.
func callsWithin(line string, of *Call, inner bool) (list []Call) {
	effect := Unknown
	if c, ok := parseOne(line); ok {
		effect = c.Effect
	}
	var before []Call
	var begins [][]word // the words of each call
	filtered := false
	for _, part := range unquoted(pipes(words(line))) {
		if len(part) == 0 {
			continue
		}
		name := part[0].text
		if len(list) > 0 && slices.Contains(filters, name) && name != "xargs" {
			filtered = filtered || !slices.Contains([]string{"sort", "uniq", "tr", "tee"}, name)
			continue
		}
		c := call(part)
		c.Text = line
		if c.Open = c.Open || name == "xargs"; name == "xargs" && !filtered {
			c.Of = listing(before)
		}
		if of != nil {
			c.Of = of
		}
		for _, w := range part {
			if w.open && c.Of == nil && !inner {
				c.Of = substituted(w.text)
			}
		}
		before = []Call{c}
		list, begins = append(list, c), append(begins, part)
	}
	partition(list, line, begins)
	for i := range list {
		if list[i].Effect = effectOf(list[i]); len(list) == 1 && list[i].Effect == Unknown {
			list[i].Effect = effect
		}
	}
	return list
}

// effectOf is what a call does by itself.
func effectOf(c Call) Effect {
	p, ok := programs[c.Program]
	if !ok {
		return Unknown
	}
	all := slices.Clone(c.Args)
	for name, values := range c.Flags {
		for _, v := range values {
			if all = append(all, name); v != "" {
				all[len(all)-1] += "=" + v
			}
		}
	}
	effect, _ := p.judge(all)
	return effect
}

// pipes cuts words at pipes and drops redirections.
func pipes(list []word) [][]word {
	var parts [][]word
	var part []word
	for i := 0; i < len(list); i++ {
		w := list[i]
		switch {
		case !w.operator:
			part = append(part, w)
		case w.text == "|" || w.text == "&":
			parts, part = append(parts, part), nil
		case w.text == ">" || w.text == "<":
			if n := len(part); n > 0 && (part[n-1].text == "2" || part[n-1].text == "1") {
				part = part[:n-1]
			}
			for i+1 < len(list) && list[i+1].operator && list[i+1].text != "|" {
				i++
			}
			i++ // the file
		}
	}
	return append(parts, part)
}

// unquoted takes the commands out of the quotes of ssh and of a shell: each runs where that runs.
func unquoted(parts [][]word) (all [][]word) {
	for _, part := range parts {
		i := slices.IndexFunc(part, func(w word) bool { return !w.operator && strings.ContainsAny(w.text, ";|&\n") })
		if i < 1 {
			all = append(all, part)
			continue
		}
		before := part[:i]
		shell := slices.IndexFunc(before, func(w word) bool { return baseName(w.text) == "bash" || baseName(w.text) == "sh" })
		remote := slices.ContainsFunc(before, func(w word) bool { return w.text == "ssh" })
		switch {
		case shell >= 0:
			before = before[:shell]
		case !remote:
			all = append(all, part)
			continue
		}
		for _, s := range statements(part[i].text) {
			for _, p := range pipes(words(s)) {
				all = append(all, inside(slices.Concat(before, p)))
			}
		}
	}
	return all
}

// inside marks words whose places are not those of the whole line.
func inside(list []word) []word {
	for i := range list {
		list[i].inside = true
	}
	return list
}

// partition fills in of which part of the line each call is: up to where the next one begins. Of calls in quotes it is their
// words.
func partition(list []Call, line string, begins [][]word) {
	if len(list) == 1 {
		return
	}
	for i := range list {
		first := begins[i]
		if first[0].inside {
			var texts []string
			for _, w := range first {
				texts = append(texts, w.text)
			}
			list[i].Part = strings.Join(texts, " ")
			continue
		}
		end := len(line)
		if i+1 < len(list) && !begins[i+1][0].inside && begins[i+1][0].at > first[0].at {
			end = begins[i+1][0].at
		}
		list[i].Part = strings.TrimRight(line[first[0].at:end], " \t\n|&;")
	}
}

// wrappers run another command as it is: with how many words that are no flags before it.
var wrappers = map[string]int{"sudo": 0, "nohup": 0, "time": 0, "watch": 0, "xargs": 0, "env": 0, "exec": 0, "then": 0, "else": 0, "!": 0,
	"timeout": 1, "chroot": 1, "nsenter": 0}

// wrapperValues are flags of wrappers that take the next word.
var wrapperValues = []string{"-u", "-g", "-I", "-n", "-L", "-P", "-i", "-p", "-l", "-o", "-F", "-J", "-t"}

// call reads one call, and takes off what is wrapped around it.
func call(list []word) Call {
	var c Call
	for range 20 { // wrappers in wrappers
		for len(list) > 0 && assignment.MatchString(list[0].text) {
			list = list[1:]
		}
		if len(list) == 0 {
			return c
		}
		for _, w := range list {
			c.Open = c.Open || w.open
		}
		inner, ok := c.unwrap(list)
		if !ok {
			break
		}
		list = inner
	}
	if len(list) == 0 {
		return c
	}
	c.Program = baseName(list[0].text)
	if p, ok := programs[c.Program]; ok {
		c.Program = p.name
	}
	c.read(list[1:])
	return c
}

func baseName(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// unwrap returns the command that another one runs.
func (c *Call) unwrap(list []word) ([]word, bool) {
	name := baseName(list[0].text)
	if skip, ok := wrappers[name]; ok {
		return afterFlags(list[1:], skip), true
	}
	switch name {
	case "ssh":
		rest := afterFlags(list[1:], 0)
		if len(rest) == 0 {
			return nil, false
		}
		c.Host, c.OnHost = rest[0].text[strings.LastIndexByte(rest[0].text, '@')+1:], true
		if rest = rest[1:]; len(rest) == 1 { // in quotes
			rest = words(rest[0].text)
		}
		return rest, len(rest) > 0
	case "bash", "sh":
		for i, w := range list {
			if strings.HasPrefix(w.text, "-") && strings.HasSuffix(w.text, "c") && i+1 < len(list) {
				return words(list[i+1].text), true
			}
		}
	case "oc", "kubectl":
		return c.inPod(list)
	}
	return nil, false
}

// inPod returns the command that oc debug, exec or rsh runs.
func (c *Call) inPod(list []word) ([]word, bool) {
	var outer Call
	outer.Program = "oc"
	end := slices.IndexFunc(list, func(w word) bool { return w.text == "--" })
	before := list[1:]
	if end >= 0 {
		before = list[1:end]
	}
	outer.read(before)
	if len(outer.Args) < 2 {
		return nil, false
	}
	switch verb := outer.Args[0]; verb {
	case "debug":
		node, ok := strings.CutPrefix(strings.TrimPrefix(outer.Args[1], "no/"), "node/")
		if !ok || end < 0 || end+1 >= len(list) {
			return nil, false
		}
		c.Host, c.OnHost = node, true
		return list[end+1:], true
	case "exec", "rsh":
		c.Pod = strings.TrimPrefix(outer.Args[1], "pod/")
		if end >= 0 && end+1 < len(list) {
			return list[end+1:], true
		}
		at := slices.IndexFunc(list, func(w word) bool { return w.text == outer.Args[1] })
		if verb == "rsh" && at >= 0 && at+1 < len(list) {
			return list[at+1:], true
		}
	}
	return nil, false
}

// afterFlags drops flags, and n words behind them.
func afterFlags(list []word, n int) []word {
	for len(list) > 0 {
		switch w := list[0].text; {
		case w == "--":
			return list[1:]
		case strings.HasPrefix(w, "-"):
			if list = list[1:]; slices.Contains(wrapperValues, w) && len(list) > 0 {
				list = list[1:]
			}
		case assignment.MatchString(w):
			list = list[1:]
		case n > 0:
			n--
			list = list[1:]
		default:
			return list
		}
	}
	return nil
}

// valued are flags that take the next word, by program; "" has those of any program.
var valued = map[string][]string{
	"oc": {"-n", "--namespace", "-l", "--selector", "-o", "--output", "-f", "--filename", "-p", "--patch", "--type", "--replicas", "--context",
		"--kubeconfig", "-c", "--container", "--to", "--to-image", "--timeout", "--created-before", "--as", "--field-selector", "--subresource",
		"-k", "--kustomize", "--server", "-s", "--token", "--user", "--pod-selector", "--patch-file", "--template", "--current-replicas", "--image"},
	"ipmitool":          {"-H", "-U", "-P", "-I", "-L", "-p", "-f", "-C"},
	"etcdctl":           {"-w", "--write-out", "--endpoints", "--cert", "--key", "--cacert", "--peer-urls", "--command-timeout"},
	"openshift-install": {"--dir", "--log-level"},
	"virsh":             {"-c", "--connect", "--mode"},
	"hypershift":        {"--name", "--namespace", "--infra-id"},
	"hcp":               {"--name", "--namespace", "--infra-id"},
	"shutdown":          {},
	"journalctl":        {"-u", "-n", "--since", "--until", "-p"},
	"curl":              {"-X", "--request", "-d", "--data", "-u", "--user", "-H", "--header", "-T", "-o", "-F"},
}

// read takes arguments and flags apart.
func (c *Call) read(list []word) {
	if c.Flags == nil {
		c.Flags = map[string][]string{}
	}
	for i := 0; i < len(list); i++ {
		w := list[i].text
		name, value, has := strings.Cut(w, "=")
		switch {
		case !strings.HasPrefix(w, "-") || w == "-":
			c.Args = append(c.Args, w)
		case w == "--":
		case has:
			c.Flags[name] = append(c.Flags[name], value)
		case slices.Contains(valued[c.Program], w) && i+1 < len(list):
			i++
			c.Flags[w] = append(c.Flags[w], list[i].text)
		default:
			c.Flags[w] = append(c.Flags[w], "")
		}
	}
}
