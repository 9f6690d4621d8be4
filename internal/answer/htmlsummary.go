package answer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/page"
)

const (
	fewActors    = 3
	longReason   = 220     // characters
	summaryState = "State" // the first line where nothing is known to be wrong
)

// htmlSummary follows the verdict, for who only decides: who acts, and what is wrong.
func (t *text) htmlSummary() []pair {
	what, who := t.summaryWhat(), t.summaryWho()
	switch {
	case what.Text == "": // the only cause comes right below
		return []pair{who}
	case what.Term == summaryState:
		return []pair{what, who}
	}
	if len(t.d.Roots) == 1 && len(t.withoutCause()) == 0 {
		what = pair{"Hosts", strings.Replace(strings.Replace(what.Text, " hosts not done", " not done", 1), " host not done", " not done", 1)}
	}
	return []pair{who, what}
}

// notInSummary is the reason of the verdict without what the summary has.
func (t *text) notInSummary(reason string, summary []pair) string {
	if slices.ContainsFunc(summary, func(p pair) bool { return strings.Contains(p.Text, reason) }) {
		return ""
	}
	fix := strings.TrimSuffix(actorSentences[t.d.Verdict.Fix]+": "+t.d.Verdict.Where, ": ")
	if fix != "" && slices.ContainsFunc(summary, func(p pair) bool { return strings.Contains(p.Text, fix) }) {
		reason = strings.Replace(reason, ", "+fix, "", 1)
	}
	if len(t.d.Roots) == 1 {
		reason = strings.TrimPrefix(strings.TrimPrefix(reason, "1 cause"), "; ")
	}
	return reason
}

// summaryWhat names the first cause, how many others there are, the hosts and since when.
func (t *text) summaryWhat() pair {
	roots, open := t.d.Roots, t.withoutCause()
	reason, _ := t.htmlReason()
	var parts []string
	switch {
	case len(roots) == 1: // its title is the next heading
		if n := len(open); n > 0 {
			parts = append(parts, fmt.Sprintf("1 cause, and %d more without a known cause", n))
		}
	case len(roots) > 0:
		parts = append(parts, t.linkTitle(&link{keys: roots[0].Keys()}))
		if n := len(roots) - 1; n > 0 {
			parts = append(parts, "and "+page.Count(n, "other cause", "other causes"))
		}
		if n := len(open); n > 0 {
			parts = append(parts, fmt.Sprintf("%d more without a known cause", n))
		}
	case len(open) > 0:
		parts = append(parts, t.linkTitle(open[0].link))
		if n := len(open) - 1; n > 0 {
			parts = append(parts, fmt.Sprintf("and %d more", n))
		}
		parts = append(parts, "cause unknown")
	case t.o.Subject != nil:
		return pair{summaryState, t.o.Subject.String() + ": " + t.o.About.Says}
	case t.d.Verdict.Class == diagnosis.Settling:
		parts = append(parts, "in progress, expected until "+page.Clock(t.d.Verdict.Until))
		return pair{summaryState, strings.Join(t.withHosts(parts), "; ")}
	default:
		return pair{summaryState, strings.Join(t.withHosts([]string{reason}), "; ")}
	}
	parts = t.withHosts(parts)
	if s := t.firstSince(roots); s != "" {
		parts = append(parts, s)
	}
	return pair{"What is wrong", strings.Join(parts, "; ")}
}

// withHosts adds how many of the expected hosts are not done.
func (t *text) withHosts(parts []string) []string {
	open, expected := 0, 0
	for _, h := range t.d.Hosts {
		if h.Expected && !h.PerhapsNode {
			expected++
			if !h.Done() {
				open++
			}
		}
	}
	if open == 0 {
		return parts
	}
	return append(parts, notDone(t.d.Hosts, page.Count(expected, "host", "hosts")))
}

// firstSince says since when the oldest of the causes holds, or of what has none.
func (t *text) firstSince(roots []diagnosis.Root) string {
	var first diagnosis.Finding
	older := func(f diagnosis.Finding) {
		if !f.Since.IsZero() && (first.Since.IsZero() || f.Since.Before(first.Since)) {
			first = f
		}
	}
	for _, r := range roots {
		for _, c := range r.Cases {
			older(diagnosis.Finding{Since: c.Since})
		}
	}
	if len(roots) == 0 {
		for _, u := range t.d.Unexplained {
			older(t.finding[u.Key])
		}
	}
	return since(first.Since, t.d.Now)
}

// summaryWho says who acts on each cause and how long that usually takes.
func (t *text) summaryWho() pair {
	who := pair{Term: "Who acts"}
	var list []string
	for _, r := range t.d.Roots {
		words := "no remedy is known for " + r.Fault
		if rest := usable(r.Cases[0].Remedies); len(rest) > 0 {
			a := rest[0]
			if words = actorSentences[a.Actor()]; a.NeedsProof {
				words = "whoever can prove it; then: " + words
			}
			if a.Where != "" {
				words += ": " + a.Where
			}
			if a.Verify.Takes != "" {
				words += ", usually within " + a.Verify.Takes
			}
		}
		if !slices.Contains(list, words) {
			list = append(list, words)
		}
	}
	switch {
	case len(list) > fewActors:
		who.Text = fmt.Sprintf("%s; and %d more", strings.Join(list[:fewActors], "; "), len(list)-fewActors)
	case len(list) > 0:
		who.Text = strings.Join(list, "; ")
	case t.d.Verdict.Class == diagnosis.Healthy:
		who.Text = "no one has to act"
	case t.d.Verdict.Class == diagnosis.Settling:
		who.Text = "no one has to act before " + page.Clock(t.d.Verdict.Until) + "; ask again then"
	default:
		who.Text = "not known before more is read"
		for _, u := range t.d.Unexplained {
			if rest := usable(u.Remedies); len(rest) > 0 {
				who.Text += "; first steps: " + actorWords(rest[0].Actor(), rest[0].Where)
				break
			}
		}
	}
	return who
}

// htmlReason is the reason of the verdict: its first clauses, and the rest.
func (t *text) htmlReason() (first string, rest []string) {
	clauses := t.clauses()
	n, size := 0, 0
	for n < len(clauses) && (n == 0 || size+page.Length(clauses[n]) <= longReason) {
		size += page.Length(clauses[n])
		n++
	}
	return strings.Join(clauses[:n], "; "), clauses[n:]
}

// htmlTodo is a line of the list of what to do where there are several causes.
type htmlTodo struct{ ID, Title, Do, How string }

// htmlTodos has a line for each of several causes: what is first, and who does it.
func (t *text) htmlTodos(roots []htmlRoot) []htmlTodo {
	if len(roots) < 2 {
		return nil
	}
	return each(roots, func(r htmlRoot) htmlTodo {
		todo := htmlTodo{ID: r.ID, Title: r.Title, Do: "no remedy is known"}
		if a := r.Do.First; a != nil {
			todo.Do, todo.How = a.Title+" ("+a.Who+")", t.o.know("explain "+a.ID)
			if a.NeedsProof {
				todo.Do = "once it is proven: " + todo.Do
			}
			if a.NotNow {
				todo.Do = "not now: " + todo.Do
			}
		}
		return todo
	})
}
