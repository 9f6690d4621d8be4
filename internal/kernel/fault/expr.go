package fault

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/cel-go/cel"
	celast "github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// Compiler compiles the expressions of faults. Programs are made lazily and kept.
// It is safe for concurrent use, and compiles side by side.
type Compiler struct {
	facts map[string]FactType
	base  *cel.Env

	mu    sync.Mutex
	envs  map[string]func() (*cel.Env, error) // by the names and types of the variables: many faults are given the same
	progs map[[2]string]func() (*Program, error)
}

// NewCompiler returns a compiler that knows the facts.
func NewCompiler(facts []FactType) (*Compiler, error) {
	byName := map[string]FactType{}
	for _, f := range facts {
		if _, twice := byName[f.Name]; twice {
			return nil, fmt.Errorf("make compiler: fact %q is listed twice", f.Name)
		}
		byName[f.Name] = f
	}
	base, err := cel.NewEnv(
		cel.Variable("this", cel.ObjectType(thisType)),
		cel.Variable("effect", cel.ObjectType(effectType)),
	)
	if err == nil {
		base, err = withRecords(base, byName)
	}
	if err != nil {
		return nil, fmt.Errorf("make expression environment: %w", err)
	}
	return &Compiler{facts: byName, base: base, envs: map[string]func() (*cel.Env, error){}, progs: map[[2]string]func() (*Program, error){}}, nil
}

// env returns the environment of a fault's expressions.
func (c *Compiler) env(f *Fault) (*cel.Env, error) {
	names := slices.Sorted(maps.Keys(f.Given))
	vars := make([]cel.EnvOption, 0, len(names))
	var key strings.Builder
	for _, name := range names {
		given := f.Given[name]
		fact, ok := c.facts[given.Fact]
		if !ok {
			return nil, fmt.Errorf("fault %s: given %s: there is no fact %q", f.ID, name, given.Fact)
		}
		if fact.For != f.For && fact.For != Cluster && fact.For != Any {
			return nil, fmt.Errorf("fault %s: given %s: fact %q is about a %s, not a %s", f.ID, name, given.Fact, fact.For, f.For)
		}
		vars = append(vars, cel.Variable(name, cel.ObjectType(recordType(fact.Name))))
		key.WriteString(name + " " + fact.Name + "\n")
	}
	e, err := cached(c, c.envs, key.String(), func() (*cel.Env, error) { return c.base.Extend(vars...) })
	if err != nil {
		return nil, fmt.Errorf("fault %s: make expression environment: %w", f.ID, err)
	}
	return e, nil
}

// cached returns what was made under a key, and makes it when it is first asked for;
// who asks meanwhile waits, who asks for something else does not.
func cached[K comparable, V any](c *Compiler, all map[K]func() (V, error), key K, make func() (V, error)) (V, error) {
	c.mu.Lock()
	get, ok := all[key]
	if !ok {
		get = sync.OnceValues(make)
		all[key] = get
	}
	c.mu.Unlock()
	return get()
}

// Program is a compiled expression.
type Program struct {
	program cel.Program
	Selects map[string][]string // variable -> fields that the expression looks at
	// OfFields reports whether the result depends on nothing but these fields.
	OfFields bool
}

// Compile compiles an expression of a fault, once.
func (c *Compiler) Compile(f *Fault, expr string) (*Program, error) {
	return cached(c, c.progs, [2]string{f.ID, expr}, func() (*Program, error) { return c.compile(f, expr) })
}

func (c *Compiler) compile(f *Fault, expr string) (*Program, error) {
	env, err := c.env(f)
	if err != nil {
		return nil, err
	}
	tree, issues := env.Compile(expr)
	if issues.Err() != nil {
		return nil, fmt.Errorf("fault %s: compile %q: %w", f.ID, expr, issues.Err())
	}
	p, err := plan(env, tree)
	if err != nil {
		return nil, fmt.Errorf("fault %s: compile %q: %w", f.ID, expr, err)
	}
	return p, nil
}

// plan makes the program of a compiled expression.
func plan(env *cel.Env, tree *cel.Ast) (*Program, error) {
	// To count what an expression costs takes as much time as the expression.
	var limit []cel.ProgramOption
	if !plain(tree.NativeRep()) {
		limit = []cel.ProgramOption{cel.CostLimit(100_000)}
	}
	program, err := env.Program(tree, limit...)
	if err != nil {
		return nil, err
	}
	return &Program{program: program, Selects: selects(tree.NativeRep()), OfFields: ofFields(tree.NativeRep())}, nil
}

// ofFields reports whether an expression uses variables only to look at their fields.
func ofFields(tree *celast.AST) bool {
	names, fields := 0, 0
	celast.PostOrderVisit(tree.Expr(), celast.NewExprVisitor(func(e celast.Expr) {
		switch {
		case e.Kind() == celast.IdentKind:
			names++
		case e.Kind() == celast.SelectKind && e.AsSelect().Operand().Kind() == celast.IdentKind:
			fields++
		}
	}))
	return names == fields
}

// plain reports whether an expression can take no longer than it is long: it compares
// and combines, and neither goes over a list nor makes a text out of others, of which
// a few in each other can be endlessly.
func plain(tree *celast.AST) bool {
	simple := true
	celast.PostOrderVisit(tree.Expr(), celast.NewExprVisitor(func(e celast.Expr) {
		switch e.Kind() {
		case celast.ComprehensionKind:
			simple = false
		case celast.CallKind:
			_, operator := operators.FindReverse(e.AsCall().FunctionName())
			simple = simple && (operator || slices.Contains(plainCalls, e.AsCall().FunctionName()))
		}
	}))
	return simple
}

var plainCalls = []string{"size", "startsWith", "endsWith", "contains", "duration", "timestamp"}

// selects lists which fields of which variables an expression looks at.
func selects(tree *celast.AST) map[string][]string {
	found := map[string][]string{}
	celast.PostOrderVisit(tree.Expr(), celast.NewExprVisitor(func(e celast.Expr) {
		if e.Kind() != celast.SelectKind {
			return
		}
		operand := e.AsSelect().Operand()
		if operand.Kind() == celast.IdentKind {
			name := operand.AsIdent()
			if field := e.AsSelect().FieldName(); !slices.Contains(found[name], field) {
				found[name] = append(found[name], field)
			}
		}
	}))
	return found
}

// Result of an expression: a value, or unknown with the names that would decide.
type Result struct {
	Value   ref.Val
	Unknown []string
}

// True reports whether the result is known and true.
func (r Result) True() bool { b, ok := r.Value.(types.Bool); return ok && bool(b) }

// Known reports whether the expression has a value.
func (r Result) Known() bool { return len(r.Unknown) == 0 }

// Time returns the result as a time; zero if it is not one.
func (r Result) Time() time.Time {
	if t, ok := r.Value.(types.Timestamp); ok {
		return t.Time
	}
	return time.Time{}
}

// Eval evaluates the program with its variables: a Var for each fact, "this" and, on an
// edge, "effect". An error is a defect of the expression or of a fact, never an outcome.
func (p *Program) Eval(vars map[string]any) (Result, error) {
	out, _, err := p.program.Eval(vars)
	if err != nil {
		return Result{}, fmt.Errorf("evaluate: %w", err)
	}
	if u, ok := out.(*types.Unknown); ok {
		return Result{Value: out, Unknown: trails(u)}, nil
	}
	return Result{Value: out}, nil
}

func trails(u *types.Unknown) []string {
	var names []string
	for _, id := range u.IDs() {
		all, _ := u.GetAttributeTrails(id)
		for _, trail := range all {
			name := trail.Variable()
			for _, q := range trail.QualifierPath() {
				name += "." + fmt.Sprint(q)
			}
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}
