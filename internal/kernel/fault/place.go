package fault

import (
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// position returns the line and column of a value of the file, or of the nearest one above it
// that is there. With an offset (from 1) it is that of a character of the value.
func (f *entryFile) position(at Where, offset int) (line, column int) {
	raw, err := readEntry(f.root, f.path)
	if err != nil {
		return 0, 0
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(raw, &doc); err != nil || len(doc.Content) == 0 {
		return 0, 0
	}
	n, mark := doc.Content[0], doc.Content[0]
	for i, step := range at {
		key, value := child(n, step)
		if value == nil {
			key, value = child(n, f.misspelled(at[:i+1]))
		}
		if value == nil {
			return mark.Line, mark.Column
		}
		n, mark = value, value
		if key != nil && (value.Kind != yaml.ScalarNode || value.Tag == "!!null") {
			mark = key // a mapping begins on the line below its key
		}
	}
	if offset > 0 && n.Kind == yaml.ScalarNode {
		return placeInText(strings.Split(string(raw), "\n"), n, offset)
	}
	return mark.Line, mark.Column
}

// misspelled returns how the file writes the last field of a way, where it does not write
// it as it should.
func (f *entryFile) misspelled(at Where) any {
	last := len(at) - 1
	for _, m := range f.wrong {
		if m.meant != "" && len(m.at) == len(at) && m.at[:last].below(at[:last]) && at[last] == any(m.meant) {
			return m.at[last]
		}
	}
	return nil
}

// child returns the value under a key or index, and the node of the key.
func child(n *yaml.Node, step any) (key, value *yaml.Node) {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch step := step.(type) {
	case int:
		if n.Kind == yaml.SequenceNode && step < len(n.Content) {
			return nil, n.Content[step]
		}
	case string:
		if n.Kind != yaml.MappingNode {
			return nil, nil
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == step {
				return n.Content[i], n.Content[i+1]
			}
		}
	}
	return nil, nil
}

// placeInText returns the place of a character of a scalar. YAML folds lines, so blanks are
// not counted: the characters between them are the same in the value and in the file.
func placeInText(lines []string, n *yaml.Node, offset int) (line, column int) {
	count := 0
	for i, r := range []rune(n.Value) {
		if i >= offset-1 {
			break
		}
		if !unicode.IsSpace(r) {
			count++
		}
	}
	line, column = n.Line, n.Column
	switch n.Style &^ yaml.TaggedStyle {
	case yaml.LiteralStyle, yaml.FoldedStyle:
		line, column = n.Line+1, 1 // behind the line of the indicator
	case yaml.SingleQuotedStyle, yaml.DoubleQuotedStyle:
		column++
	}
	for ; line <= len(lines); line, column = line+1, 1 {
		text := []rune(lines[line-1])
		for ; column <= len(text); column++ {
			r := text[column-1]
			if unicode.IsSpace(r) {
				continue
			}
			width, blank := 1, false
			if column < len(text) {
				width, blank = escape(n.Style, r, text[column])
			}
			if !blank {
				if count == 0 {
					return line, column
				}
				count--
			}
			column += width - 1
		}
	}
	return n.Line, n.Column
}

// escape returns how many characters of the file stand for one of the value, and whether
// that one is a blank.
func escape(style yaml.Style, r, next rune) (width int, blank bool) {
	switch {
	case style&yaml.SingleQuotedStyle != 0 && r == '\'' && next == '\'':
		return 2, false
	case style&yaml.DoubleQuotedStyle != 0 && r == '\\':
		switch next {
		case 'n', 't', 'r', ' ':
			return 2, true
		case 'x':
			return 4, false
		case 'u':
			return 6, false
		case 'U':
			return 10, false
		}
		return 2, false
	}
	return 1, false
}
