package command

import (
	"fmt"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/page"
	"github.com/rollcall-project/rollcall/internal/repair"
)

// printRecords prints plans as Markdown for a ticket: what they were for, each step with
// its change, what was done when, and how it ended. It holds no secret, as the plan and the
// journal hold none.
func (a *app) printRecords(list []repair.History) error {
	var b strings.Builder
	for _, h := range list {
		a.recordOf(&b, h)
	}
	if len(list) == 0 {
		b.WriteString("No plan was begun here.\n")
	}
	_, err := a.IO.Out.Write([]byte(b.String()))
	return err
}

func (a *app) recordOf(b *strings.Builder, h repair.History) {
	text := func(s string) string { return markdownText(a.CleanText(s)) }
	fmt.Fprintf(b, "# Repair %s\n\n", text(h.ID))
	if h.Broken != nil {
		fmt.Fprintf(b, "The record cannot be read: %s\n\n", text(h.Broken.Error()))
	}
	if len(h.Records) > 0 {
		fmt.Fprintf(b, "State: %s\n\n", text(stateText(h)))
	}
	if p := h.Plan; p != nil {
		fmt.Fprintf(b, "- for: %s at %s: %s\n- cluster: %s\n\n", p.Root.Fault, text(p.Root.Subject.String()), text(p.Title), text(clusterText(p)))
		for _, s := range p.Steps {
			fmt.Fprintf(b, "## %s\n\n%s\n\n- risk: %s\n- undo: %s\n", text(s.ID), text(s.Title), s.Risk, text(s.Inverse))
			if s.Diff != "" {
				fmt.Fprintf(b, "\n%s", fenced("diff", s.Diff))
			}
			b.WriteByte('\n')
		}
	}
	if len(h.Records) == 0 {
		b.WriteString("Nothing was begun.\n\n")
		return
	}
	b.WriteString("## What was done\n\n| time | what | object |\n| --- | --- | --- |\n")
	for _, r := range h.Records {
		object := ""
		if r.Write != nil {
			object = r.Write.Target.String()
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", r.Time.UTC().Format(time.RFC3339), text(recordText(r)), text(object))
	}
	b.WriteByte('\n')
}

// markdownText keeps what comes from a cluster from being markup.
func markdownText(s string) string { return page.Markdown(strings.Join(strings.Fields(s), " ")) }

// fenced is a block of text whose fence is longer than any in it.
func fenced(kind, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + kind + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence + "\n"
}
