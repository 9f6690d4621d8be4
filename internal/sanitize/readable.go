package sanitize

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A text is read as a terminal shows it: without what a terminal obeys, without characters that
// have no width and the zeros of UTF-16, and with one form of each letter. A terminal can show
// more than one text: a cursor that moves may leave a blank, and a backspace that nothing follows
// takes nothing away. Each is read, until one has a secret.

// moves are the sequences after which a terminal writes elsewhere (ECMA-48: CUU to CUP, HVP).
var moves = lazily(`(?:\x1b\[|\x{9b})[0-9;]*[A-Hdf]`)

// commandStrings are titles, links and other strings that a terminal obeys (ECMA-48: OSC, DCS, APC, PM, SOS): one that
// does not know them shows them.
var commandStrings = lazily(`(?:\x1b[\]PX^_]|[\x{9d}\x{90}\x{98}\x{9e}\x{9f}])([^\x07\x1b\x{9c}]*)(?:\x07|\x1b\\|\x{9c})?`)

// readings returns what a terminal may show of a text; nothing where that is the text itself.
func readings(v string) []string {
	if !covered(v) {
		return nil
	}
	zeros := v
	v = strings.ReplaceAll(v, "\x00", "")
	list := []string{folded(overprinted(stripped(v, "")))}
	if strings.ContainsAny(v, "\b\r") {
		list = append(list, folded(strings.NewReplacer("\r\n", "\n", "\b", "", "\r", "").Replace(stripped(v, ""))))
	}
	if moves.get().MatchString(v) {
		list = append(list, folded(overprinted(stripped(v, " "))))
	}
	if n := len(zeros) - len(v); n > 0 && n < len(v)/2 { // between arguments, not of UTF-16
		list = append(list, folded(overprinted(stripped(strings.ReplaceAll(zeros, "\x00", " "), ""))))
	}
	if inside := commandStrings.get().ReplaceAllString(v, " $1 "); inside != v {
		list = append(list, folded(overprinted(stripped(inside, ""))))
	}
	return list
}

// asShown returns decoded text as a terminal shows it, and bytes that are none as they are.
func asShown(raw string) string {
	if strings.HasPrefix(raw, "\xff\xfe") || strings.HasPrefix(raw, "\xfe\xff") { // the mark of UTF-16
		raw = raw[2:]
	}
	if !covered(raw) || !utf8.ValidString(raw) {
		return raw
	}
	return readings(raw)[0]
}

// covered reports whether a text has what no reader sees as it is written.
func covered[T string | []byte](v T) bool {
	for i := 0; i < len(v); {
		if i+8 <= len(v) && plainEight(v, i) {
			i += 8
			continue
		}
		for end := min(i+8, len(v)); i < end; i++ {
			if c := v[i]; c < ' ' && c != '\n' && c != '\t' && (c != '\r' || i+1 == len(v) || v[i+1] != '\n') || c >= 0x7f {
				return true
			}
		}
	}
	return false
}

// plainEight reports whether eight characters are ASCII that can be seen. It looks at all of them
// at once: a log is passed through here byte by byte.
func plainEight[T string | []byte](v T, i int) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	x := uint64(v[i]) | uint64(v[i+1])<<8 | uint64(v[i+2])<<16 | uint64(v[i+3])<<24 |
		uint64(v[i+4])<<32 | uint64(v[i+5])<<40 | uint64(v[i+6])<<48 | uint64(v[i+7])<<56
	del := x ^ 0x7f*ones
	return (x|(x-' '*ones)&^x|(del-ones)&^del)&tops == 0
}

// stripped takes away what a terminal obeys; move stands for a cursor that went elsewhere.
func stripped(v, move string) string {
	if !strings.ContainsAny(v, "\x1b\u009b\u009d\u0090\u0098\u009e\u009f") {
		return v
	}
	if move != "" {
		v = moves.get().ReplaceAllString(v, move)
	}
	return sequences.get().ReplaceAllString(v, "")
}

// overprinted returns what is left where a backspace takes the character in front of it.
func overprinted(v string) string {
	if strings.IndexByte(v, '\b') < 0 {
		return v
	}
	out := make([]rune, 0, len(v))
	for _, r := range v {
		switch {
		case r != '\b':
			out = append(out, r)
		case len(out) > 0 && out[len(out)-1] != '\n':
			out = out[:len(out)-1]
		}
	}
	return string(out)
}

// folded returns a text with one form of each letter. A carriage return begins a line.
func folded(v string) string {
	ascii := true
	v = strings.Map(func(r rune) rune {
		switch {
		case r == '\r' || r == '\u0085':
			return '\n'
		case r == '\v' || r == '\f' || r == '\u2028':
			return ' '
		case r != '\n' && r != '\t' && unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		}
		ascii = ascii && r < utf8.RuneSelf
		return r
	}, strings.ReplaceAll(v, "\r\n", "\n"))
	if ascii {
		return v
	}
	return strings.Map(func(r rune) rune {
		if to, ok := sameLetters[r]; ok {
			return to
		}
		if unicode.Is(unicode.Mn, r) { // an accent that stands apart
			return -1
		}
		return r
	}, norm.NFKD.String(v))
}

// sameLetters are letters of other alphabets that are drawn as those that names are written with.
var sameLetters = map[rune]rune{
	'а': 'a', 'с': 'c', 'е': 'e', 'о': 'o', 'р': 'p', 'ѕ': 's', 'к': 'k', 'у': 'y', 'т': 't', 'ԁ': 'd', 'ѡ': 'w', 'һ': 'h', 'і': 'i', // Cyrillic
	'А': 'A', 'С': 'C', 'Е': 'E', 'О': 'O', 'Р': 'P', 'Ѕ': 'S', 'К': 'K', 'У': 'Y', 'Т': 'T', 'Н': 'H', 'І': 'I',
	'α': 'a', 'ο': 'o', 'ρ': 'p', 'κ': 'k', 'Α': 'A', 'Ε': 'E', 'Κ': 'K', 'Ο': 'O', 'Ρ': 'P', 'Τ': 'T', 'Υ': 'Y', // Greek
}
