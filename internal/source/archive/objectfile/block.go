package objectfile

import "bytes"

// A blockReader reads one object of YAML in the style in which every program prints objects: a key or a
// dash begins a line, and texts are plain, in quotes, or literal below a "|". That takes a fifth of what
// the decoder of YAML takes, which makes an event of each character's meaning, a tree of the events and
// JSON of the tree.
//
// It understands less than YAML and never differently: at whatever else it stops, and the decoder reads
// the whole object. The rules are those of that decoder (go.yaml.in/yaml/v2: scannerc.go, resolve.go), and
// a test compares both. It is not for concurrent use.
type blockReader struct {
	known map[string]any // short texts, each once: the same keys and names come again and again

	doc   []byte
	line  int    // where the line begins that is read
	at    int    // what is read next; len(doc): nothing
	depth int    // how deep it nests
	text  []byte // room for a text of several lines
}

const (
	// maxBlock bounds the text that is read so. As JSON it has then less than the limit of decode, however
	// many of its characters JSON spells with six.
	maxBlock = MaxObject / 4
	// maxBlockDepth is less than maxDepth: what comes near it is left to the decoder, which counts in another way.
	maxBlockDepth = maxDepth / 2
	// Longer texts than longestKnown do not come again; of shorter ones mostKnown are kept.
	longestKnown, mostKnown = 64, 1 << 14
	// maxKey is less than the characters after which a key ends (scannerc.go yaml_simple_key_is_valid).
	maxKey = 1000
)

// object reads an object. False means that the decoder has to read it.
func (b *blockReader) object(doc []byte) (map[string]any, bool) {
	if len(doc) > maxBlock || len(doc) == 0 || doc[len(doc)-1] != '\n' || !printable(doc) {
		return nil, false
	}
	if b.known == nil {
		b.known = map[string]any{}
	}
	b.doc, b.line, b.at, b.depth = bytes.TrimPrefix(doc, []byte("---\n")), 0, 0, 0
	defer func() { b.doc = nil }()
	if !b.seek() || b.end() || b.dash(b.at) {
		return nil, false
	}
	m, ok := b.mapping(b.column())
	return m, ok && b.end()
}

// end reports whether nothing follows.
func (b *blockReader) end() bool { return b.at >= len(b.doc) }

// column is that of what is read next; -1 at the end.
func (b *blockReader) column() int {
	if b.end() {
		return -1
	}
	return b.at - b.line
}

// seek moves to the first sign at or behind the beginning of a line, over empty lines. False for comments and the
// signs between documents.
func (b *blockReader) seek() bool {
	b.line = b.at
	for ; b.at < len(b.doc); b.at++ {
		switch b.doc[b.at] {
		case ' ':
		case '\n':
			b.line = b.at + 1
		case '#', '\t':
			return false
		default:
			return b.at > b.line || !betweenDocuments(b.doc[b.at:])
		}
	}
	return true
}

func betweenDocuments(line []byte) bool {
	return bytes.HasPrefix(line, []byte("---")) || bytes.HasPrefix(line, []byte("..."))
}

// spaces passes over the spaces behind a colon or a dash, and reports whether the line ends there.
func (b *blockReader) spaces() (ends bool) {
	for b.doc[b.at] == ' ' {
		b.at++
	}
	return b.doc[b.at] == '\n'
}

// blank reports whether a sign ends a word.
func blank(c byte) bool { return c == ' ' || c == '\n' }

// dash reports whether an item of a list begins at a place.
func (b *blockReader) dash(at int) bool { return b.doc[at] == '-' && blank(b.doc[at+1]) }

// deeper counts how deep a value nests. Who calls it subtracts one behind the value.
func (b *blockReader) deeper() bool {
	b.depth++
	return b.depth <= maxBlockDepth
}

// mapping reads the keys at a column with their values.
func (b *blockReader) mapping(column int) (map[string]any, bool) {
	if !b.deeper() {
		return nil, false
	}
	m := map[string]any{}
	for {
		key, ok := b.key()
		if _, twice := m[key]; !ok || twice {
			return nil, false
		}
		v, ok := b.valueOf(column)
		if !ok {
			return nil, false
		}
		m[key] = v
		switch next := b.column(); {
		case next < column:
			b.depth--
			return m, true
		case next > column || b.dash(b.at):
			return nil, false
		}
	}
}

// valueOf reads what belongs to the key at a column, whose colon has been read.
func (b *blockReader) valueOf(column int) (any, bool) {
	if !b.spaces() {
		return b.scalar(column)
	}
	if b.at++; !b.seek() {
		return nil, false
	}
	switch next := b.column(); {
	case next > column:
		return b.node(next)
	case next == column && b.dash(b.at):
		return b.list(column, true)
	}
	return nil, true
}

// node reads the mapping or the list that begins at a column.
func (b *blockReader) node(column int) (any, bool) {
	if b.dash(b.at) {
		return b.list(column, false)
	}
	return b.mapping(column)
}

// list reads the items whose dashes are at a column. The dashes of the list of a key may stand below the key:
// the next key then ends it.
func (b *blockReader) list(column int, belowKey bool) (any, bool) {
	if !b.deeper() {
		return nil, false
	}
	list := []any{}
	for {
		b.at++
		v, ok := b.item(column)
		if !ok {
			return nil, false
		}
		list = append(list, v)
		next := b.column()
		if next == column && b.dash(b.at) {
			continue
		}
		if next > column || next == column && !belowKey {
			return nil, false
		}
		b.depth--
		return list, true
	}
}

// item reads what follows a dash at a column.
func (b *blockReader) item(column int) (any, bool) {
	if !b.spaces() {
		if b.dash(b.at) || b.atKey() {
			return b.node(b.column())
		}
		return b.scalar(column)
	}
	if b.at++; !b.seek() {
		return nil, false
	}
	if next := b.column(); next > column {
		return b.node(next)
	}
	return nil, true
}

// atKey reports whether a key without quotes begins here.
func (b *blockReader) atKey() bool {
	if c := b.doc[b.at]; indicator(c) {
		return false
	}
	return keyEnd(b.restOfLine()) >= 0
}

func (b *blockReader) restOfLine() []byte {
	return b.doc[b.at : b.at+bytes.IndexByte(b.doc[b.at:], '\n')+1]
}

// keyEnd is where a key ends: at a colon before a space or the end of the line. -1 if there is none.
func keyEnd(line []byte) int {
	for from := 0; ; {
		i := bytes.IndexByte(line[from:], ':')
		if i < 0 {
			return -1
		}
		if from += i + 1; blank(line[from]) {
			return from - 1
		}
	}
}

// key reads a key and its colon.
func (b *blockReader) key() (string, bool) {
	line := b.restOfLine()
	if c := line[0]; c == '"' || c == '\'' {
		end := bytes.IndexByte(line[1:], c) + 1
		if end == 0 || end > maxKey || line[end+1] != ':' || !blank(line[end+2]) || bytes.IndexByte(line[:end], '\\') >= 0 {
			return "", false
		}
		b.at += end + 2
		name, _ := b.once(line[1:end]).(string)
		return name, true
	}
	end := keyEnd(line)
	if end <= 0 || end > maxKey || indicator(line[0]) || line[end-1] == ' ' || odd(line[:end]) || string(line[:end]) == "<<" {
		return "", false
	}
	v, _ := b.plain(line[:end])
	name, text := v.(string) // the decoder has texts of its own for numbers and booleans
	b.at += end + 1
	return name, text
}
