package shellcommand

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/util/jsonpath"
	"mvdan.cc/sh/v3/syntax"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// TestCommandsOfRemedies: every command of a remedy is a command of a shell, of a known
// tool, with verbs and flags that this tool has; what is written in jsonpath, JSON and
// selectors can be parsed.
func TestCommandsOfRemedies(t *testing.T) {
	c, err := fault.LoadChecks(catalog.FS)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range c.Remedies() {
		for i, s := range append(slices.Clone(r.Steps), fault.Step{Run: r.Verify.Run}) {
			if s.Run == "" {
				continue
			}
			for _, err := range checkScript(s.Run) {
				t.Errorf("%s, step %d: %v\n\t%s", r.ID, i+1, err, s.Run)
			}
		}
	}
}

// elsewhere are commands that this package calls changes for what they could do; what they
// do in a remedy is looked at by TestCommandsOfRemedies, or changes no cluster.
var elsewhere = regexp.MustCompile(`\boc .*\b(exec|debug|login|config set-cluster)\b|crictl exec|podman (pull|login|run)|chronyc -n sources|^oc adm upgrade$|create manifests|^ssh core@[A-Z_]+ sudo tar -C \S+ -cz `)

// TestStepsThatChange: a step whose command changes something says so.
func TestStepsThatChange(t *testing.T) {
	c, err := fault.LoadChecks(catalog.FS)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range c.Remedies() {
		for i, s := range append(slices.Clone(r.Steps), fault.Step{Run: r.Verify.Run}) {
			for _, line := range strings.FieldsFunc(s.Run, func(c rune) bool { return c == '\n' || c == ';' }) {
				line = strings.TrimSpace(line)
				if cmd, ok := Parse(line); ok && cmd.Effect == Changes && !s.Changes && !elsewhere.MatchString(line) {
					t.Errorf("%s, step %d: not marked as a change: %s (%s)", r.ID, i+1, line, cmd.Does)
				}
			}
		}
	}
}

func TestCheckScriptFindsMistakes(t *testing.T) {
	for _, script := range []string{
		"oc gett nodes", "oc get nodes --selectr=a", "oc get", "oc adm certificates approve x", "oc get pods -o jsonpath='{.items[*}'",
		"oc get nodes -o custom-columns=NAME", "oc patch mcp x -p '{\"spec\":'", "oc patch mcp x --type=mergee -p '{}'", "oc get nodes 'x",
		"oc get pods --field-selector spec.nodeName", "oc get pods --field-selector spec.node=x", "oc get pods -l 'a in b'", "oc logs x --tail", "systemctl restat crio",
		"journalctl --unit", "ls --time-sort", "frobnicate x", "openssl x509 -nout", "oc debug node/x -- chroot /host ip -brr link", "oc get nodez",
		"ssh core@x sudo crictl pss", "openshift-install wait-for bootstrap --dir x", "oc extract secret/x --key=a", "oc get x -o jsonpathh=a", "oc get nodes --sort-by=.a[",
		"curl --maxtime 3 x", "curl -sk -u USER https://x", "echo $(oc get nodez)", "nmcli -f NAME,IP4.DNS device show",
		"oc get node x -o jsonpath='{.status.condition[0].type}'", "oc get mcp -o custom-columns='A:.spec.configuration.names'",
		"oc get node x -o jsonpath='{.status.conditions[?(@.typ==\"Ready\")].reason}'", "oc get nodes --sort-by=.metadata.creation",
		"oc get nodes -o jsonpath='{.items[0].statuss}'",
	} {
		if len(checkScript(script)) == 0 {
			t.Errorf("nothing found in: %s", script)
		}
	}
	for _, script := range []string{
		"oc -n a get pods -l b=c,d -o jsonpath='{.items[?(@.kind==\"Pod\")].spec}{\"\\n\"}'; echo", "oc get mc \"$(oc get mcp {pool} -o jsonpath='{.spec}')\"",
		"oc debug node/a -- chroot /host ip -br link", "for h in a b; do curl -sk https://$h; done", "sudo crictl ps -aq --name '^etcd$'",
	} {
		for _, err := range checkScript(script) {
			t.Errorf("%s: %v", script, err)
		}
	}
}

var placeholder = regexp.MustCompile(`\{[a-zA-Z][a-zA-Z0-9_.]*\}`)

// checkScript returns what is wrong with the commands of a step.
func checkScript(script string) []error {
	script = placeholder.ReplaceAllString(script, "name")
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
	if err != nil {
		return []error{err}
	}
	var wrong []error
	syntax.Walk(file, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			var words []string
			for _, w := range call.Args {
				words = append(words, literal(w.Parts))
			}
			if err := checkCommand(words); err != nil {
				wrong = append(wrong, err)
			}
		}
		return true
	})
	return wrong
}

// literal is a word as the program gets it; "null" stands for what only a run would show.
func literal(parts []syntax.WordPart) string {
	var b strings.Builder
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(regexp.MustCompile(`\\(.)`).ReplaceAllString(p.Value, "$1"))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			b.WriteString(literal(p.Parts))
		default:
			b.WriteString("null")
		}
	}
	return b.String()
}

// checkCommand checks one command, and the one that it runs.
func checkCommand(words []string) error {
	for len(words) > 0 && (words[0] == "sudo" || words[0] == "-E") {
		words = words[1:]
	}
	if len(words) == 0 {
		return fmt.Errorf("no command")
	}
	name := words[0][strings.LastIndexByte(words[0], '/')+1:]
	switch args := words[1:]; name {
	case "oc":
		return checkOC(args)
	case "sh", "bash":
		if len(args) != 2 || args[0] != "-c" {
			return fmt.Errorf("%s: only -c with one script is known", name)
		}
		return first(checkScript(args[1]))
	case "xargs": // of objects' names, with their kind
		return checkCommand(append(slices.Clone(args), "csr/name"))
	case "chroot":
		if len(args) < 2 {
			return fmt.Errorf("chroot: a directory and a command are needed")
		}
		return checkCommand(args[1:])
	default:
		return checkTool(name, args)
	}
}

func first(errs []error) error {
	if len(errs) > 0 {
		return errs[0]
	}
	return nil
}

// runsAnother are the verbs whose arguments are a command, and how many words come before it.
var runsAnother = map[string]int{"ssh": 1, "crictl exec": 1, "oc exec": 1, "oc debug": 1}

func checkTool(name string, args []string) error {
	k, ok := tools[name]
	if !ok {
		return fmt.Errorf("%s is no tool of the table", name)
	}
	if k.flags == "*" {
		return nil
	}
	in, err := k.parse(name, args)
	if err != nil {
		return fmt.Errorf("%s: %w", strings.TrimSpace(name+" "+in.verb), err)
	}
	if n := runsAnother[strings.TrimSpace(name+" "+in.verb)]; n > 0 && len(in.rest) > n {
		if name == "ssh" {
			return first(checkScript(strings.Join(in.rest[n:], " ")))
		}
		return checkCommand(in.rest[n:])
	}
	_, unverified := in.flags["k"]
	if _, user := in.flags["u"]; name == "curl" && unverified && user {
		return fmt.Errorf("curl -k -u: a password is never sent to a server whose certificate is not verified")
	}
	if name == "nmcli" && in.verb == "device show" {
		for _, f := range strings.Split(in.flag("f", "g"), ",") {
			if group, _, _ := strings.Cut(f, "."); !slices.Contains(deviceFields, group) {
				return fmt.Errorf("nmcli device show has no field %s", f)
			}
		}
	}
	return nil
}

// checkOC checks a command of oc, and what its flags hold.
func checkOC(args []string) error {
	in, err := tool{flags: ocFlags, verbs: ocCommands}.parse("oc", args)
	if err != nil {
		return fmt.Errorf("oc %s: %w", in.verb, err)
	}
	if n := runsAnother["oc "+in.verb]; n > 0 && len(in.rest) > n {
		return checkCommand(in.rest[n:])
	}
	if err := errors.Join(checkOutput(in), checkSelectors(in), checkPatch(in)); err != nil {
		return fmt.Errorf("oc %s: %w", in.verb, err)
	}
	if kinds, ok := kindsOf(in); ok {
		for _, kind := range strings.Split(kinds, ",") {
			if kind, _, _ = strings.Cut(kind, "/"); !slices.Contains(strings.Fields(ocKinds), kind) {
				return fmt.Errorf("oc %s: %q is no kind of the table", in.verb, kind)
			}
		}
	}
	return nil
}

// kindsOf returns the kinds that a command of oc names.
func kindsOf(in parsed) (string, bool) {
	switch in.verb {
	case "get", "describe", "patch", "delete", "edit", "annotate", "label", "scale", "adm inspect", "extract", "set data", "rollout restart":
	default:
		return "", false
	}
	if len(in.rest) == 0 {
		return "", in.flag("raw") == "" && in.flag("f", "filename") == ""
	}
	var kinds []string
	for i, w := range in.rest {
		if i == 0 || strings.Contains(w, "/") && !strings.Contains(w, "=") && !strings.HasSuffix(w, "-") {
			kinds = append(kinds, w)
		}
	}
	return strings.Join(kinds, ","), in.rest[0] != "KIND" && !strings.HasPrefix(in.rest[0], "OPERATOR.")
}

var relaxed = regexp.MustCompile(`^\{\.?([^{}]+)\}$|^\.?([^{}]+)$`)

// path is a path of custom-columns or sort-by as jsonpath.
func path(expr string) (string, error) {
	m := relaxed.FindStringSubmatch(expr)
	if m == nil {
		return "", fmt.Errorf("%q is no path", expr)
	}
	return "{." + m[1] + m[2] + "}", nil
}

func checkOutput(in parsed) error {
	var kinds []string
	if in.verb == "get" {
		for _, w := range in.rest {
			if len(kinds) == 0 || strings.Contains(w, "/") {
				kinds = append(kinds, strings.Split(w, ",")...)
			}
		}
	}
	var paths []string
	if by := in.flag("sort-by"); by != "" {
		p, err := path(by)
		if err != nil {
			return err
		}
		paths = append(paths, p)
	}
	format, arg, _ := strings.Cut(in.flag("o", "output"), "=")
	switch format {
	case "", "yaml", "json", "wide", "name":
	case "jsonpath":
		paths = append(paths, arg)
	case "custom-columns":
		for _, column := range strings.Split(arg, ",") {
			name, expr, _ := strings.Cut(column, ":")
			p, err := path(expr)
			if name == "" || err != nil {
				return fmt.Errorf("the column %q: a name, a colon and a path are needed", column)
			}
			paths = append(paths, p)
		}
	default:
		return fmt.Errorf("-o %s: not known", format)
	}
	for _, p := range paths {
		if err := jsonpath.New("").Parse(p); err != nil {
			return err
		}
	}
	return checkFields(kinds, paths...)
}

// fieldLabels are what the API server selects by, besides metadata.name and
// metadata.namespace: of pods and of events.
var fieldLabels = []string{"metadata.name", "metadata.namespace", "spec.nodeName", "status.phase", "involvedObject.name", "involvedObject.kind", "reason", "type"}

func checkSelectors(in parsed) error {
	if _, err := labels.Parse(in.flag("l", "selector")); err != nil {
		return err
	}
	s, err := fields.ParseSelector(in.flag("field-selector"))
	if err != nil {
		return err
	}
	for _, r := range s.Requirements() {
		if !slices.Contains(fieldLabels, r.Field) {
			return fmt.Errorf("the API server selects no objects by the field %s", r.Field)
		}
	}
	return nil
}

func checkPatch(in parsed) error {
	if in.verb != "patch" {
		return nil
	}
	var patch any
	if err := json.Unmarshal([]byte(in.flag("p", "patch")), &patch); err != nil {
		return fmt.Errorf("the patch: %w", err)
	}
	if kind := in.flag("type"); !slices.Contains([]string{"merge", "json"}, kind) {
		return fmt.Errorf("--type %q: kinds of custom resources take merge or json", kind)
	}
	return nil
}
