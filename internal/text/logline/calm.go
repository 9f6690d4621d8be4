package logline

import "bytes"

// calmHead is how far from its beginning the level of a line is looked for.
const calmHead = 160

// Calm reports whether the header of a line says at once that it is no error: klog's I and
// W, and level=info. It is a quick look at the forms of which a log has most; a line that is
// not calm is one for Parse.
func Calm(line []byte) bool {
	m := line
	if len(m) > 16 && m[3] == ' ' && m[6] == ' ' && m[9] == ':' && m[12] == ':' {
		end := bytes.IndexByte(m[:min(len(m), calmHead)], ']')
		if end < 0 || end+3 >= len(m) || m[end+1] != ':' || m[end+2] != ' ' {
			return false
		}
		m = m[end+3:]
	}
	if len(m) < minHeader {
		return false
	}
	switch m[0] {
	case 'I', 'W':
		return digit(m[1]) && digit(m[2]) && digit(m[3]) && digit(m[4]) && m[5] == ' ' && m[8] == ':'
	case 't':
		if !bytes.HasPrefix(m, []byte(`time="`)) {
			return false
		}
		i := bytes.Index(m[:min(len(m), calmHead)], []byte(" level="))
		return i > 0 && i+len(" level=")+1 < len(m) && calmWord(m[i+len(" level="):])
	case '{':
		return bytes.HasPrefix(m, []byte(`{"level":"`)) && calmWord(m[len(`{"level":"`):])
	}
	return false
}

var calmWords = [][]byte{[]byte("info"), []byte("debug"), []byte("warn"), []byte("trace")}

// calmWord reports whether a level is one below error, by its beginning.
func calmWord(m []byte) bool {
	for _, word := range calmWords {
		if bytes.HasPrefix(m, word) {
			return true
		}
	}
	return false
}
