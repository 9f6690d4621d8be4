package catalogpages

import (
	"fmt"
	"regexp"
	"strings"
)

// doc is a Markdown page that is being written.
type doc struct{ b strings.Builder }

const generated = "<!-- Generated from catalog/ by internal/tools/catalogdocs. Do not edit. -->\n"

func newDoc(title string) *doc {
	d := &doc{}
	d.b.WriteString(generated + "\n# " + title + "\n")
	return d
}

func (d *doc) String() string { return d.b.String() }

// head begins a section.
func (d *doc) head(level int, title string) {
	d.b.WriteString("\n" + strings.Repeat("#", level) + " " + title + "\n")
}

// para writes a paragraph of Markdown.
func (d *doc) para(text string) {
	if text != "" {
		d.b.WriteString("\n" + text + "\n")
	}
}

// list writes items, each a line of Markdown.
func (d *doc) list(items []string) {
	if len(items) == 0 {
		return
	}
	d.b.WriteByte('\n')
	for _, i := range items {
		d.b.WriteString("- " + i + "\n")
	}
}

// section writes a heading and a list, where there is something to list.
func (d *doc) section(title string, items []string) {
	if len(items) > 0 {
		d.head(2, title)
		d.list(items)
	}
}

// block writes lines that are copied as they are, indented under a list item.
func (d *doc) block(indent int, language, text string) {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	before := strings.Repeat(" ", indent)
	d.b.WriteString("\n" + before + fence + language + "\n")
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		d.b.WriteString(strings.TrimRight(before+line, " ") + "\n")
	}
	d.b.WriteString(before + fence + "\n")
}

// table writes rows of Markdown. A pipe in a cell does not end it.
func (d *doc) table(head []string, rows [][]string) {
	d.b.WriteString("\n| " + strings.Join(head, " | ") + " |\n|" + strings.Repeat(" --- |", len(head)) + "\n")
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = strings.ReplaceAll(strings.Join(strings.Fields(cell), " "), "|", `\|`)
		}
		d.b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
}

// graph writes a Mermaid flow chart.
func (d *doc) graph(direction string, lines []string) {
	d.block(0, "mermaid", "flowchart "+direction+"\n  "+strings.Join(lines, "\n  "))
}

// label quotes a text of a flow chart: inside quotes, only quotes and # mean something.
func label(text string) string {
	return `"` + strings.NewReplacer("#", "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;").Replace(text) + `"`
}

func link(text, to string) string { return "[" + text + "](" + to + ")" }

// code is a code span of one line. A span may begin or end with a backtick, or hold some.
func code(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return ""
	}
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return fence + text + fence
}

var (
	special  = regexp.MustCompile("[\\\\*<>\\[\\]$`~]")
	edgeLine = regexp.MustCompile(`(^|[^A-Za-z0-9])_|_([^A-Za-z0-9]|$)`)
	entity   = regexp.MustCompile(`&(#?\w+;)`)
	opening  = regexp.MustCompile(`^([-+#]|\d+[.)])(\s|$)`)
)

// prose renders a sentence of the catalog: what has a meaning in Markdown is escaped,
// and pairs of backticks stay code. Pipes are left to tables.
func prose(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	parts := strings.Split(text, "`")
	if len(parts)%2 == 0 || strings.Contains(text, "``") {
		return escape(text)
	}
	var b strings.Builder
	for i, part := range parts {
		if i%2 == 1 {
			b.WriteString(code(part))
		} else {
			b.WriteString(escapeInside(part, i == 0))
		}
	}
	return b.String()
}

func escape(text string) string { return escapeInside(text, true) }

func escapeInside(text string, first bool) string {
	text = special.ReplaceAllString(text, `\$0`)
	text = edgeLine.ReplaceAllStringFunc(text, func(s string) string { return strings.ReplaceAll(s, "_", `\_`) })
	text = entity.ReplaceAllString(text, "&amp;$1")
	if first && opening.MatchString(text) {
		at := strings.IndexAny(text, "-+#.)")
		text = text[:at] + `\` + text[at:]
	}
	return text
}

// upper writes the first letter of an imperative large.
func upper(text string) string {
	if text == "" || text[0] < 'a' || text[0] > 'z' {
		return text
	}
	return fmt.Sprintf("%c%s", text[0]-'a'+'A', text[1:])
}
