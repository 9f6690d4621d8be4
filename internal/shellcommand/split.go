package shellcommand

import "strings"

// maxPrompt bounds what may stand before a comment: each # of a line is looked at with all that is before it.
const maxPrompt = 400

// statements cuts a text of a shell into its command lines, with their pipes: at ends of
// lines, semicolons and && that no quotes hold. Comments and words of control are left out.
func statements(text string) []string {
	text = strings.Trim(strings.TrimSpace(text), "`")
	var list []string
	var line strings.Builder
	end := func() {
		if s := withoutControl(prompt.ReplaceAllString(line.String(), "")); s != "" {
			list = append(list, s)
		}
		line.Reset()
	}
	var quote byte // that is open, 0 for none
	depth := 0     // of $( and (
	for i := 0; i < len(text); i++ {
		c := text[i]
		next := byte(0)
		if i+1 < len(text) {
			next = text[i+1]
		}
		switch {
		case c == '\\' && next == '\n':
			line.WriteByte(' ')
			i++
			continue
		case c == '\\' && quote != '\'' && next != 0:
			line.WriteByte(c)
			line.WriteByte(next)
			i++
			continue
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' && opensQuote(line.String()):
			quote = c
		case c == '(' && strings.HasSuffix(line.String(), "$"):
			depth++
		case c == ')' && depth > 0:
			depth--
		case depth > 0 && c != '\n':
		case c == '\n', c == ';', c == '&' && next == '&':
			if c == '&' {
				i++
			}
			depth = 0
			end()
			continue
		case c == '#' && line.Len() <= maxPrompt && strings.TrimSpace(prompt.ReplaceAllString(line.String(), "")) == "":
			for i < len(text) && text[i] != '\n' {
				i++
			}
			line.Reset()
			continue
		}
		line.WriteByte(c)
	}
	end()
	return list
}

// opensQuote reports whether a single quote after these bytes opens one: within a word it is
// an apostrophe.
func opensQuote(before string) bool {
	if before == "" {
		return true
	}
	c := before[len(before)-1]
	return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z')
}

// withoutControl takes the words of loops and conditions off a line.
func withoutControl(line string) string {
	for {
		line = strings.TrimSpace(line)
		word, rest, more := strings.Cut(line, " ")
		switch word {
		case "do", "then", "else":
			if line = rest; more {
				continue
			}
			return ""
		case "done", "fi", "esac", "{", "}":
			return strings.TrimSpace(strings.TrimLeft(rest, ">&|"))
		}
		return line
	}
}
