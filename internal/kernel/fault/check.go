package fault

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
)

// Check compiles every expression of every fault and reports all mistakes.
func (c *Compiler) Check(catalog *Catalog) Problems {
	var list Problems
	for _, f := range catalog.Faults {
		k := &checker{compiler: c, fault: f}
		k.open(f)
		for _, e := range f.expressions() {
			k.check(e)
		}
		if f.Next != "" {
			if _, ok := c.facts[f.Next]; !ok {
				k.wrong.add(Where{"next"}, meant(f.Next, c.factNames()), "there is no fact %q", f.Next)
			}
		}
		list = append(list, catalog.withoutFollowing(f, k.wrong)...)
		for i, id := range f.Remedies {
			if r, ok := catalog.Remedy(id); ok {
				list = append(list, c.checkRemedy(catalog, f, i, r)...)
			}
		}
	}
	return list.Sorted()
}

// checker checks the expressions of one entry.
type checker struct {
	compiler *Compiler
	fault    *Fault // whose facts the expressions see
	env      *cel.Env
	loose    bool // a fact is not known; its variable may be of any type
	wrong    mistakes
}

// open makes the environment of a fault's expressions. A variable whose fact is wrong has
// any type: the expressions have mistakes of their own.
func (k *checker) open(f *Fault) {
	known := &Fault{ID: f.ID, For: f.For, Given: map[string]FactRef{}}
	var anything []cel.EnvOption
	for _, name := range slices.Sorted(maps.Keys(f.Given)) {
		id := f.Given[name].Fact
		fact, ok := k.compiler.facts[id]
		at := Where{"given", name, "fact"}
		switch {
		case !ok:
			k.wrong.add(at, orList(meant(id, k.compiler.factNames()), "facts"), "there is no fact %q", id)
		case !slices.Contains(Kinds(), f.For): // that is reported, and no fact fits it
		case fact.For != f.For && fact.For != Cluster && fact.For != Any:
			k.wrong.add(at, fmt.Sprintf("use a fact about a %s or the cluster, or write for: %s", f.For, fact.For), "fact %q is about a %s, not a %s",
				id, fact.For, f.For)
		default:
			known.Given[name] = f.Given[name]
			continue
		}
		anything = append(anything, cel.Variable(name, cel.DynType))
	}
	env, err := k.compiler.env(known)
	if err == nil && len(anything) > 0 {
		k.loose = true
		env, err = env.Extend(anything...)
	}
	if err != nil {
		k.wrong.add(Where{"given"}, "", "%v", err)
		return
	}
	k.env = env
}

func orList(hint, kind string) string {
	if hint == "" {
		return "`rollcall list " + kind + "` has them all"
	}
	return hint
}

func (c *Compiler) factNames() []string { return slices.Sorted(maps.Keys(c.facts)) }

// check compiles one expression.
func (k *checker) check(e expression) {
	if k.env == nil {
		return
	}
	tree, issues := k.env.Compile(e.text)
	if issues.Err() != nil {
		for _, err := range firstOfEach(issues.Errors()) {
			text, hint := k.explain(e.text, err)
			k.wrong = append(k.wrong, mistake{at: e.at, text: text, hint: hint, offset: e.from + offsetOf(e.text, err.Location)})
		}
		return
	}
	if out := tree.OutputType(); e.want != nil && !out.IsExactType(e.want) && !(k.loose && out.IsExactType(cel.DynType)) {
		hint := "write a comparison, as x.count > 0"
		if e.want == cel.TimestampType {
			hint = "write a field that is a time"
		}
		k.wrong.add(e.at, hint, "%q is %s, not %s", e.text, typeInWords(out.String()), typeInWords(e.want.String()))
		return
	}
	if _, err := plan(k.env, tree); err != nil {
		k.wrong.add(e.at, "", "%v", err)
	}
}

// firstOfEach keeps the first error at each place: the others follow from it. The parser
// reports the rest of an expression that it lost track of, too.
func firstOfEach(list []*common.Error) []*common.Error {
	var kept []*common.Error
	for _, err := range list {
		syntax := strings.HasPrefix(err.Message, "Syntax error")
		if slices.ContainsFunc(kept, func(have *common.Error) bool {
			return syntax || have.Location.Line() == err.Location.Line() && have.Location.Column() == err.Location.Column()
		}) {
			continue
		}
		kept = append(kept, err)
	}
	return kept
}

// offsetOf is the place of a location in an expression, in characters from 1.
func offsetOf(text string, at common.Location) int {
	offset := at.Column() + 1
	for i, line := range strings.Split(text, "\n") {
		if i+1 >= at.Line() {
			break
		}
		offset += len([]rune(line)) + 1
	}
	return offset
}

var (
	undefinedField = regexp.MustCompile(`^undefined field '(.*)'`)
	undeclared     = regexp.MustCompile(`^undeclared reference to '(.*?)'`)
	noOverload     = regexp.MustCompile(`^found no matching overload for '(.*?)' applied to '(.*)'`)
	operator       = regexp.MustCompile(`^_?(\W+|_in_|in)_?$`)
	lastName       = regexp.MustCompile(`([A-Za-z_][A-Za-z0-9_]*)\s*\.?\s*$`)
)

// explain says what is wrong with an expression in the words of the catalog, and what to
// write instead.
func (k *checker) explain(text string, err *common.Error) (what, hint string) {
	m := err.Message
	if parts := undefinedField.FindStringSubmatch(m); parts != nil {
		return k.explainField(text, parts[1], offsetOf(text, err.Location))
	}
	if parts := undeclared.FindStringSubmatch(m); parts != nil {
		names := append(slices.Sorted(maps.Keys(k.fault.Given)), "this")
		near := meant(parts[1], names)
		if near == "" {
			near = "add it to given, as " + parts[1] + ": {fact: FACT}"
		}
		return fmt.Sprintf("undeclared reference to %q; the names here are %s", parts[1], strings.Join(names, ", ")), near
	}
	if parts := noOverload.FindStringSubmatch(m); parts != nil {
		name := parts[1]
		if sign := operator.FindStringSubmatch(name); sign != nil {
			name = strings.Trim(sign[1], "_")
		}
		return fmt.Sprintf("%s does not take %s", name, typeInWords(parts[2])),
			"compare values of one type; convert with int(), string(), duration() or timestamp()"
	}
	hint = "check brackets and quotes; and, or, not are && || !"
	if strings.Contains(m, "token recognition error at: '= ") || strings.Contains(m, "token recognition error at: '='") {
		hint = "compare with =="
	}
	if !strings.HasPrefix(m, "Syntax error") {
		hint = ""
	}
	return m, hint
}

// explainField explains a field that a fact, this or effect does not have.
func (k *checker) explainField(text, field string, offset int) (what, hint string) {
	before := string([]rune(text)[:min(offset-1, len([]rune(text)))])
	variable := ""
	if parts := lastName.FindStringSubmatch(before); parts != nil {
		variable = parts[1]
	}
	what = fmt.Sprintf("undefined field %q", field)
	var fields []FieldType
	switch {
	case k.fault.Given[variable].Fact != "":
		fact := k.compiler.facts[k.fault.Given[variable].Fact]
		what = fmt.Sprintf("undefined field %q of fact %s", field, fact.Name)
		fields = fact.Fields
	case variable == "this":
		fields = thisFields
	case variable == "effect":
		fields = effectFields
	}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	if hint = meant(field, names); hint == "" && len(names) > 0 {
		hint = "the fields are " + strings.Join(names, ", ")
	}
	return what, hint
}

// typeInWords renders types as `rollcall explain FACT` does.
func typeInWords(text string) string {
	return strings.NewReplacer("google.protobuf.Timestamp", "timestamp", "google.protobuf.Duration", "duration").Replace(text)
}

// checkRemedy compiles what a remedy says in the words of one of its faults. A mistake is
// the remedy's where both are of one directory, else the fault's: the other one is proven.
func (c *Compiler) checkRemedy(catalog *Catalog, f *Fault, index int, r *Remedy) Problems {
	both, err := r.Bind(f)
	if err != nil {
		return catalog.problems(f, mistakes{{at: Where{"remedies", index}, text: err.Error(), hint: "give the fact another name in given"}})
	}
	k := &checker{compiler: c, fault: both}
	k.open(both)
	k.wrong = slices.DeleteFunc(k.wrong, func(m mistake) bool { // the fault's are reported already
		return len(m.at) > 1 && m.at[0] == "given" && f.Given[fmt.Sprint(m.at[1])].Fact != ""
	})
	for _, p := range r.texts() {
		for _, e := range holesAt(both, p) {
			k.check(e)
		}
	}
	for i, q := range r.Requires {
		k.check(expression{text: q.That, want: cel.BoolType, at: Where{"requires", i, "that"}})
	}
	if catalog.sameRoot(f, r) {
		return catalog.withoutFollowing(r, k.wrong)
	}
	var list mistakes
	for _, m := range k.wrong {
		list.add(Where{"remedies", index}, "add what it needs to given, or name another remedy", "remedy %s: %s: %s", r.ID, m.at, m.text)
	}
	return catalog.problems(f, list)
}

func (c *Catalog) sameRoot(a, b any) bool {
	fileA, fileB := c.files[a], c.files[b]
	return fileA != nil && fileB != nil && fileA.rootIndex == fileB.rootIndex
}

// expression is one of an entry.
type expression struct {
	text string
	want *cel.Type // nil: any
	at   Where
	from int // in a text with placeholders: characters before it
}

func (f *Fault) expressions() []expression {
	var list []expression
	add := func(text string, want *cel.Type, at ...any) {
		if text != "" {
			list = append(list, expression{text: text, want: want, at: at})
		}
	}
	add(f.When, cel.BoolType, "when")
	add(f.Refute, cel.BoolType, "refute")
	add(f.Since, cel.TimestampType, "since")
	for i, s := range f.Support {
		add(s, cel.BoolType, "support", i)
	}
	if f.Settles != nil {
		add(f.Settles.Unless, cel.BoolType, "settles", "unless")
		add(f.Settles.Since, cel.TimestampType, "settles", "since")
		add(f.Settles.Earliest, cel.TimestampType, "settles", "earliest")
	}
	for i, e := range f.Explains {
		add(e.When, cel.BoolType, "explains", i, "when")
	}
	if Preflight(f) { // its title names what the check found
		return list
	}
	return append(list, holesAt(f, locatedText{Where{"title"}, f.Title})...)
}

// holesAt returns what a text names in braces, as expressions of any type.
func holesAt(f *Fault, p locatedText) []expression {
	var list []expression
	for _, h := range holes(f, p.text) {
		if !slices.Contains(Kinds(), f.For) && slices.Contains(Kinds(), Kind(h)) {
			continue // for is wrong: it may be the name of the subject
		}
		before, _, _ := strings.Cut(p.text, "{"+h+"}")
		list = append(list, expression{text: h, at: p.at, from: len([]rune(before)) + 1})
	}
	return list
}
