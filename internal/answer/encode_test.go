package answer_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// TestHostileBytesAreEncoded writes every rune below U+3000, those at the ends of
// the planes, and bytes that are no UTF-8: both forms must be readable, say the
// same and hold nothing that a terminal obeys.
func TestHostileBytesAreEncoded(t *testing.T) {
	var all strings.Builder
	for r := rune(0); r < 0x3000; r++ {
		all.WriteRune(r)
	}
	all.WriteString("\ud7ff\ue000\ufdd0\ufeff\ufffd\ufffe\uffff\U0001f600\U0010ffff\xff\xfe\x9b31m\xc3 <&> \\u001b \\ \"")
	d := &diagnosis.Diagnosis{Findings: []diagnosis.Finding{{Evidence: []evidence.Item{{Excerpt: all.String()}, {Excerpt: "\x1b[31mgrün\tä\n\u202e"}}}}}
	var asJSON, asYAML bytes.Buffer
	if err := answer.JSON(&asJSON, d, answer.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := answer.YAML(&asYAML, d, answer.Options{}); err != nil {
		t.Fatal(err)
	}
	var a, b diagnosis.Diagnosis
	if err := json.Unmarshal(asJSON.Bytes(), &a); err != nil {
		t.Fatalf("read the JSON again: %v", err)
	}
	if err := yaml.Unmarshal(asYAML.Bytes(), &b); err != nil {
		t.Fatalf("read the YAML again: %v", err)
	}
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("YAML (+) says something else than JSON (-):\n%s", diff)
	}
	if got, want := a.Findings[0].Evidence[1].Excerpt, `\x1b[31mgrün`+"\tä\n"+`\u202e`; got != want {
		t.Errorf("excerpt %q, want %q", got, want)
	}
	if end := `<&> \u001b \ "`; !strings.HasSuffix(a.Findings[0].Evidence[0].Excerpt, end) {
		t.Errorf("text that looks like an escape changed, want the end %q", end)
	}
	for _, out := range []string{asJSON.String(), asYAML.String()} {
		for _, r := range out {
			if r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r == 0x202e || r == 0xfeff {
				t.Fatalf("the output holds %U", r)
			}
		}
	}
}
