package csr

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// API is what an approval needs of the cluster.
type API interface {
	Lister
	// GetRequest reads one request again.
	GetRequest(ctx context.Context, name string) (map[string]any, error)
	// PatchApproval applies a JSON patch to the approval subresource.
	PatchApproval(ctx context.Context, name string, patch []byte, dryRun bool) (map[string]any, error)
}

// SpecDigest identifies the content of a request: its API object's spec.
func SpecDigest(content map[string]any) (string, error) {
	raw, err := json.Marshal(content["spec"])
	if err != nil {
		return "", fmt.Errorf("digest request: %w", err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}

// Message is the record in the request: who approved it, why, on which evidence,
// and what was not proven.
func (d Decision) Message(who string) (string, error) {
	raw, err := json.Marshal(struct {
		UID    string
		Key    string
		Checks []Check
	}{d.Request.UID, d.Request.KeyDigest, d.Checks})
	if err != nil {
		return "", fmt.Errorf("digest evidence: %w", err)
	}
	sum := sha256.Sum256(raw)
	return fmt.Sprintf("Approved with rollcall by %s: %s. Evidence sha256:%s; key sha256:%s. %s.",
		who, d.Why, hex.EncodeToString(sum[:])[:16], d.Request.KeyDigest, upper(d.NotProven)), nil
}

func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// condition is the Approved condition that is added.
func condition(message string) map[string]any {
	return map[string]any{"type": "Approved", "status": "True", "reason": Reason, "message": message}
}

// Patch is the JSON patch of an approval. It holds only for exactly the request
// that was judged, in the version that was read.
func Patch(content map[string]any, message string) ([]byte, error) {
	type op struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}
	ops := []op{
		{"test", "/metadata/uid", evidence.String(content, "metadata", "uid")},
		{"test", "/metadata/resourceVersion", evidence.String(content, "metadata", "resourceVersion")},
		{"test", "/spec/request", evidence.String(content, "spec", "request")},
		{"test", "/spec/username", evidence.String(content, "spec", "username")},
	}
	conditions, _ := evidence.Field(content, "status", "conditions").([]any)
	switch {
	case len(conditions) > 0:
		ops = append(ops, op{"add", "/status/conditions/-", condition(message)})
	case evidence.Field(content, "status") != nil:
		ops = append(ops, op{"add", "/status/conditions", []any{condition(message)}})
	default:
		ops = append(ops, op{"add", "/status", map[string]any{"conditions": []any{condition(message)}}})
	}
	raw, err := json.Marshal(ops)
	if err != nil {
		return nil, fmt.Errorf("encode approval: %w", err)
	}
	return raw, nil
}

// Approve approves one request after reading it, and what it is judged by, again.
// uid and spec are those of the request that was shown to a person; a difference refuses. With
// dryRun the server checks everything and stores nothing.
func Approve(ctx context.Context, api API, name, uid, spec string, e *Expectation, who string, now func() time.Time, dryRun bool) (Decision, error) {
	content, err := api.GetRequest(ctx, name)
	if err != nil {
		return Decision{}, fmt.Errorf("read request %s again: %w", name, err)
	}
	have, err := SpecDigest(content)
	if err != nil {
		return Decision{}, err
	}
	if got := evidence.String(content, "metadata", "uid"); got != uid {
		return Decision{}, fmt.Errorf("approve request %s: the request was replaced since it was checked (uid %s, was %s)", name, got, uid)
	}
	if have != spec {
		return Decision{}, fmt.Errorf("approve request %s: its content was changed since it was checked", name)
	}
	snapshot, err := Gather(ctx, api, now())
	if err != nil {
		return Decision{}, err
	}
	return write(ctx, api, content, e, snapshot, who, dryRun, true)
}

// ApproveIn approves one request that is judged by a snapshot gathered before, with which others
// are judged, too: r is the request as it is in the snapshot. The request itself is read again,
// and must be the same.
//
// An older snapshot is safe also where several approvers race: of two requests for one host,
// the newer is only judged by a snapshot that has both, and then neither is approved (rule
// "alone"); the older one alone is approved as if the newer had been made later.
func ApproveIn(ctx context.Context, api API, r csrs.Request, e *Expectation, p Snapshot, who string, dryRun bool) (Decision, error) {
	content, err := api.GetRequest(ctx, r.Name)
	if err != nil {
		return Decision{}, fmt.Errorf("read request %s again: %w", r.Name, err)
	}
	now, err := Parse(content)
	if err != nil {
		return Decision{}, err
	}
	if now.UID != r.UID || !now.SameContent(r) {
		return Decision{}, fmt.Errorf("approve request %s: the request was replaced since it was judged: %s", r.Name, replaced(now, r))
	}
	return write(ctx, api, content, e, p, who, dryRun, dryRun)
}

// replaced says what a request has that the one of before did not.
func replaced(now, was csrs.Request) string {
	switch {
	case now.UID != was.UID:
		return fmt.Sprintf("uid %s, was %s", now.UID, was.UID)
	case now.KeyDigest != was.KeyDigest:
		return "it has another key"
	case now.Requester != was.Requester:
		return "it has another requester"
	}
	return "its content is another one"
}

// write judges the request as it was read last and approves it. With try the server first
// checks the write in a dry run.
func write(ctx context.Context, api API, content map[string]any, e *Expectation, p Snapshot, who string, dryRun, try bool) (Decision, error) {
	name := evidence.String(content, "metadata", "name")
	r, err := Parse(content)
	if err != nil {
		return Decision{}, err
	}
	d := Judge(r, e, p)
	if !d.Approve {
		return d, fmt.Errorf("request %s is not approved: %s", name, d.Why)
	}
	message, err := d.Message(who)
	if err != nil {
		return d, err
	}
	patch, err := Patch(content, message)
	if err != nil {
		return d, err
	}
	if try {
		if _, err := api.PatchApproval(ctx, name, patch, true); err != nil {
			return d, fmt.Errorf("approve request %s (tried without keeping it): %w", name, err)
		}
	}
	if dryRun {
		return d, nil
	}
	if _, err := api.PatchApproval(ctx, name, patch, false); err != nil {
		return d, fmt.Errorf("approve request %s: %w", name, err)
	}
	return d, nil
}
