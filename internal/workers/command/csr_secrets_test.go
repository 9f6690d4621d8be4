package command

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/sanitize"
)

// TestDocumentHasNoSecret: what somebody wrote into a request is not passed on to whoever reads the list.
func TestDocumentHasNoSecret(t *testing.T) {
	const secret = "kestrel77Requester"
	clean, err := sanitize.New()
	if err != nil {
		t.Fatal(err)
	}
	r := csrs.Request{Name: "csr-a", UID: "a", State: csrs.Pending, CN: "password=" + secret, Requester: "https://u:" + secret + "@host/x"}
	j := &judged{snapshot: csr.Snapshot{Requests: []csrs.Request{r}}}
	whole, err := json.Marshal(j.document([]csrs.Request{r}, func(s string) string { return s }))
	if err != nil || !strings.Contains(string(whole), secret) {
		t.Fatalf("the test plants nothing: %s, %v", whole, err)
	}
	raw, err := json.Marshal(j.document([]csrs.Request{r}, clean.Message))
	if err != nil || strings.Contains(string(raw), secret) {
		t.Errorf("%s, %v", raw, err)
	}
	if !strings.Contains(string(raw), `"name":"csr-a"`) {
		t.Errorf("its name is gone: %s", raw)
	}
}
