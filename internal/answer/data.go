package answer

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/page"
)

// Answer writes the whole answer in a format: name, json, yaml, sarif, junit, wide or
// text. HTML is not among them, so that a program without it does not carry it.
func Answer(w io.Writer, format string, d *diagnosis.Diagnosis, o Options) error {
	switch format {
	case "name":
		return renderNames(w, d)
	case "json":
		return JSON(w, d, o)
	case "yaml":
		return YAML(w, d, o)
	case "sarif":
		return renderSARIF(w, d, o)
	case "junit":
		return renderJUnit(w, d, o)
	case "markdown":
		return renderMarkdown(w, d, o)
	case "wide":
		o.Wide = true
	}
	return renderText(w, d, o)
}

// JSON writes the diagnosis as the published contract
// (docs/schema/diagnosis.v1alpha1.json).
func JSON(w io.Writer, d *diagnosis.Diagnosis, o Options) error {
	return encode(w, d, o)
}

// YAML writes the same contract as YAML.
func YAML(w io.Writer, d *diagnosis.Diagnosis, o Options) error {
	var doc bytes.Buffer
	if err := encode(&doc, d, o); err != nil {
		return err
	}
	raw, err := yaml.JSONToYAML(doc.Bytes())
	if err != nil {
		return fmt.Errorf("encode the answer as YAML: %w", err)
	}
	return page.Write(w, string(raw))
}

// renderNames writes the ids of the root faults that are not accepted, one a line: words for
// `rollcall explain`.
func renderNames(w io.Writer, d *diagnosis.Diagnosis) error {
	var b strings.Builder
	seen := map[string]bool{} // a fault that is in several deadlocks is several roots
	for _, r := range d.Roots {
		if !seen[r.Fault] {
			seen[r.Fault] = true
			b.WriteString(r.Fault + "\n")
		}
	}
	return page.Write(w, b.String())
}

// HostNames writes the hosts of the roll that are not done, as "host/control2";
// all of them if asked.
func HostNames(w io.Writer, d *diagnosis.Diagnosis, all bool) error {
	var b strings.Builder
	for _, h := range d.Hosts {
		if all || h.Expected && !h.Done() {
			b.WriteString("host/" + page.Style{}.Clean(h.Name) + "\n")
		}
	}
	return page.Write(w, b.String())
}

// WideRoll writes every column of the roll, one host a line however long, below the verdict; where no host is left to list it is Roll.
// Without headers it is the lines of hosts alone.
func WideRoll(w io.Writer, d *diagnosis.Diagnosis, o Options) error {
	head := []string{"HOST", "ROLE", "EXPECTED", "STAGE", "STATE", "SINCE", "BLOCKED-BY", "WHY"}
	rows := [][]string{}
	if !o.NoHeaders {
		rows = append(rows, head)
	}
	t := newText(d, o)
	accepted := acceptedKeys(d)
	for _, h := range d.Hosts {
		if !o.All && (h.Done() || !h.Expected && !h.Bootstrap()) {
			continue
		}
		var blocked []string
		for _, k := range h.BlockedBy {
			name := k.Fault + "@" + k.Subject.String()
			if accepted[k] {
				name += "(accepted)"
			}
			blocked = append(blocked, name)
		}
		rows = append(rows, []string{h.Name, h.Role, fmt.Sprint(h.Expected), string(h.Stage), string(h.State),
			until(h.Since), strings.Join(blocked, ","), t.why(h)})
	}
	if !o.NoHeaders {
		if len(rows) == 1 {
			return Roll(w, d, o)
		}
		t.verdict()
		t.source()
		t.Blank()
		if err := t.Flush(w); err != nil {
			return err
		}
	}
	width := make([]int, len(head))
	for _, row := range rows {
		for i := range row {
			if row[i] = o.Clean(row[i]); row[i] == "" {
				row[i] = "-"
			}
			width[i] = max(width[i], page.Length(row[i]))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		b.WriteString(strings.TrimRight(page.Columns(row, width), " ") + "\n")
	}
	return page.Write(w, b.String())
}
