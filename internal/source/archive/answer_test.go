package archive

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestDecodeAnswer: IDs of 64 bits stay what they are, and what cannot be read is an error.
func TestDecodeAnswer(t *testing.T) {
	v, err := decodeAnswer([]byte(`{"a":[12438974592719204410,961661703505595398,1.5],"b":true}` + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(v)
	if want := `{"a":["12438974592719204410",961661703505595398,1.5],"b":true}`; err != nil || string(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
	for name, raw := range map[string]string{
		"empty": " \n", "cut off": `{"members":[{"ID":1`, "text": "Error: context deadline exceeded", "deep": strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
		"no number": "1e999",
	} {
		if v, err := decodeAnswer([]byte(raw)); err == nil {
			t.Errorf("%s: %v", name, v)
		}
	}
}

func FuzzDecodeAnswer(f *testing.F) {
	f.Add([]byte(`{"members":[{"ID":12438974592719204410,"name":"m0"}]}`))
	f.Add([]byte(`[{"endpoint":"https://192.0.2.10:2379","health":true}]`))
	f.Add([]byte(`-1e400`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := decodeAnswer(raw)
		if err != nil {
			return
		}
		if _, err := json.Marshal(v); err != nil {
			t.Errorf("%q: %v", raw, err)
		}
	})
}
