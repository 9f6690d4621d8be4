package csr

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"
)

// fakeAPI serves one request and counts what is kept.
type fakeAPI struct {
	content map[string]any
	tried   int
	kept    int
	patch   string
	refuse  error
}

func (f *fakeAPI) List(_ context.Context, _, _, resource, _ string) ([]map[string]any, error) {
	if resource == "certificatesigningrequests" {
		return []map[string]any{f.content}, nil
	}
	return nil, nil
}

func (f *fakeAPI) GetRequest(context.Context, string) (map[string]any, error) { return f.content, nil }

func (f *fakeAPI) PatchApproval(_ context.Context, _ string, patch []byte, dryRun bool) (map[string]any, error) {
	f.tried++
	if !dryRun {
		f.kept++
	}
	f.patch = string(patch)
	return f.content, f.refuse
}

// pending is a request whose PKCS #10 part cannot be read: every judgment of it
// refuses, which is what most of these tests need no more than.
func pending() map[string]any {
	return map[string]any{
		"metadata": map[string]any{"name": "csr-a", "uid": "a", "resourceVersion": "7", "creationTimestamp": "2026-05-01T11:59:00Z"},
		"spec":     map[string]any{"request": base64.StdEncoding.EncodeToString([]byte("x")), "username": "who", "signerName": "s"},
		"status":   map[string]any{},
	}
}

// TestApproveReadsAgain: what was checked must be what is approved.
func TestApproveReadsAgain(t *testing.T) {
	now := func() time.Time { return noon }
	spec, err := SpecDigest(pending())
	if err != nil {
		t.Fatal(err)
	}
	e := &Expectation{Name: "control0", Explicit: true}
	tests := []struct{ name, uid, spec, want string }{
		{"replaced", "b", spec, "was replaced since"},
		{"other content", "a", "00", "content was changed since"},
		{"refused by a rule", "a", spec, "is not approved"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			api := &fakeAPI{content: pending()}
			_, err := Approve(t.Context(), api, "csr-a", tt.uid, tt.spec, e, "me", now, false)
			if err == nil || !strings.Contains(err.Error(), tt.want) || api.tried > 0 {
				t.Errorf("Approve: %v, tried %d times; want %q and no write", err, api.tried, tt.want)
			}
		})
	}
}

func TestPatchTestsWhatWasRead(t *testing.T) {
	patch, err := Patch(pending(), "because")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"test","path":"/metadata/uid","value":"a"`, `"test","path":"/metadata/resourceVersion","value":"7"`,
		`"test","path":"/spec/request"`, `"path":"/status/conditions"`, `"reason":"RollcallApprove"`} {
		if !strings.Contains(string(patch), want) {
			t.Errorf("the patch lacks %s: %s", want, patch)
		}
	}
}

func TestMessageTellsWhatIsNotProven(t *testing.T) {
	d := Judge(clientRequest(), &Expectation{Name: "control0", Explicit: true, Source: "--expect", NotBefore: noon.Add(-time.Hour), Boot: "it booted"},
		Snapshot{Now: noon})
	d.NotProven = NotProvenYet
	first, err := d.Message("me")
	second, err2 := d.Message("me")
	if errors.Join(err, err2) != nil || first != second {
		t.Fatalf("the message changes: %q, %q, %v", first, second, errors.Join(err, err2))
	}
	if !strings.Contains(first, "by me") || !strings.Contains(first, "Not proven") || len(first) > 1024 {
		t.Errorf("message: %s", first)
	}
}
