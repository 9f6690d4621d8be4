package collect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"sigs.k8s.io/yaml"
)

// encode returns an object as YAML, as oc prints it.
func encode(content map[string]any) ([]byte, error) {
	text, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	out, err := yaml.JSONToYAML(escape(text))
	if err != nil {
		return nil, err
	}
	return append([]byte("---\n"), out...), nil
}

// escape writes the characters that JSON allows in a string and YAML does not
// (YAML 1.2, 5.1 Character Set) as \u escapes, which both read.
func escape(text []byte) []byte {
	if bytes.IndexFunc(text, unprintable) < 0 {
		return text
	}
	var b bytes.Buffer
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if unprintable(r) {
			fmt.Fprintf(&b, "\\u%04x", r)
		} else {
			b.Write(text[:n])
		}
		text = text[n:]
	}
	return b.Bytes()
}

func unprintable(r rune) bool {
	return r >= 0x7f && r < 0xa0 || r == 0xfeff || r == 0xfffe || r == 0xffff
}
