package hosted

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/hosts"
	"github.com/rollcall-project/rollcall/internal/fault"
	"github.com/rollcall-project/rollcall/internal/sanitize"
)

// Token is the fact nodepool-token: whether what a new machine gets as user-data is
// what the ignition server knows. Tokens are compared by digest.
type Token struct {
	Config      string    `cel:"config"`      // hash of the config that the NodePool gives to new machines
	TokenThere  bool      `cel:"tokenThere"`  // the token Secret of that hash exists
	UserData    bool      `cel:"userData"`    // the user-data Secret of that hash exists
	Generated   time.Time `cel:"generated"`   // when the token was made or rotated
	Expired     bool      `cel:"expired"`     // marked as outdated, and that time is over
	Expires     time.Time `cel:"expires"`     // zero for the current one
	Fetched     bool      `cel:"fetched"`     // somebody got the payload
	Stage       string    `cel:"stage"`       // reason of the token Secret; "" while the payload is not built
	Message     string    `cel:"message"`     // of the token Secret
	Matches     string    `cel:"matches"`     // the token in user-data is: current, old, other, none
	Encoding    string    `cel:"encoding"`    // base64; else how the Authorization header is broken
	Source      string    `cel:"source"`      // the URL in user-data
	WrongSource bool      `cel:"wrongSource"` // it is not the HostedCluster's endpoint
	WrongPool   bool      `cel:"wrongPool"`   // the headers name another NodePool or config
}

// The annotations of a token Secret
// (openshift/hypershift:ignition-server/controllers/tokensecret_controller.go).
const (
	noteGenerated = "hypershift.openshift.io/last-token-generation-time"
	noteReached   = "hypershift.openshift.io/ignition-reached"
	noteExpires   = "hypershift.openshift.io/ignition-token-expiration-timestamp"
	noteConfig    = "hypershift.openshift.io/nodePoolCurrentConfigVersion" // of the NodePool
)

func tokenFact() facts.Fact {
	return facts.DefinePlain("nodepool-token", fault.NodePool, "the token and user-data Secrets of a NodePool, held against each other", []evidence.Need{
		evidence.Objects(evidence.NodePools, evidence.HostedNamespace),
		evidence.Objects(evidence.HostedClusters, evidence.HostedNamespace),
		evidence.Objects(evidence.HostedSecrets, evidence.ControlPlaneNamespace),
	}, readToken)
}

func readToken(ctx context.Context, w *facts.World, s fault.Subject) (Token, facts.Proof, error) {
	var f Token
	var p facts.Proof
	n, err := findPool(ctx, w, s)
	if err != nil {
		return f, p, err
	}
	secrets, err := w.List(ctx, evidence.HostedSecrets, evidence.ControlPlaneNamespace)
	if err != nil {
		return f, p, err
	}
	f.Config = n.Object.Annotation(noteConfig)
	if f.Config == "" {
		return f, p, facts.NotApplicable("the NodePool has given no config to machines yet")
	}
	find := func(prefix string) (evidence.Object, bool) {
		for _, o := range secrets {
			if o.Name == prefix+"-"+n.Name+"-"+f.Config {
				return o, true
			}
		}
		return evidence.Object{}, false
	}
	token, there := find("token")
	data, dataThere := find("user-data")
	f.TokenThere, f.UserData = there, dataThere
	p.Add(n.Object.Loc.At("metadata.annotations["+noteConfig+"]"), "new machines get config "+f.Config, time.Time{}, "config", "tokenThere", "userData")
	if there {
		f.token(w.Now, token, &p)
	}
	if dataThere {
		err = f.pointer(ctx, w, n, token, data, &p)
	}
	return f, p, err
}

func (f *Token) token(now time.Time, o evidence.Object, p *facts.Proof) {
	f.Generated, _ = time.Parse(time.RFC3339Nano, o.Annotation(noteGenerated))
	f.Fetched = o.Annotation(noteReached) == "True"
	p.Add(o.Loc.At("metadata.annotations"), "token generated "+o.Annotation(noteGenerated), f.Generated, "generated", "fetched")
	if note := o.Annotation(noteExpires); note != "" {
		at, err := time.Parse(time.RFC3339, note)
		f.Expires, f.Expired = at, err != nil || now.After(at) // what cannot be parsed counts as expired there, too
		p.Add(o.Loc.At("metadata.annotations"), "outdated, ends "+note, at, "expires", "expired")
	}
	read := func(key string) string {
		raw, err := base64.StdEncoding.DecodeString(evidence.String(o.Content, "data", key))
		if err != nil {
			return ""
		}
		return string(raw)
	}
	if !contents(o) {
		p.Miss("stage", notRead)
		p.Miss("message", notRead)
		return
	}
	if f.Stage, f.Message = read("reason"), read("message"); f.Stage != "" {
		p.Add(o.Loc.At("data.message"), f.Stage+": "+f.Message, time.Time{}, "stage", "message")
	}
}

// contents reports whether a Secret was read with its data.
func contents(o evidence.Object) bool {
	data, ok := o.Content["data"].(map[string]any)
	for _, v := range data {
		if text, is := v.(string); is && strings.HasPrefix(text, "[redacted by the collector") {
			return false
		}
	}
	return ok && len(data) > 0
}

var notRead = &evidence.Unavailable{
	Need: evidence.Objects(evidence.HostedSecrets, evidence.ControlPlaneNamespace), Why: evidence.NotAsked,
	Detail: "the contents of the token and user-data Secrets were not read",
	Supply: "--read-secrets with the namespace of the control plane (tokens are compared by digest and never shown)",
}

func (f *Token) pointer(ctx context.Context, w *facts.World, n hosts.NodePool, token, data evidence.Object, p *facts.Proof) error {
	pointer, ok := evidence.Field(data.Content, "data", "value", sanitize.PointerKey).(map[string]any)
	if !ok {
		for _, field := range []string{"matches", "encoding", "source", "wrongSource", "wrongPool"} {
			p.Miss(field, notRead)
		}
		return nil
	}
	loc := data.Loc.At("data.value")
	f.Encoding, f.Source = evidence.String(pointer, "encoding"), evidence.String(pointer, "source")
	f.match(evidence.String(pointer, "token"), token, loc, p)
	wantPool, wantHash := n.Namespace+"/"+n.Name, f.Config
	havePool, haveHash := evidence.String(pointer, "nodePool"), evidence.String(pointer, "hash")
	f.WrongPool = havePool != wantPool || haveHash != wantHash
	p.Add(loc, fmt.Sprintf("headers NodePool %q, TargetConfigVersionHash %q", havePool, haveHash), time.Time{}, "wrongPool")
	cluster, err := hostedCluster(ctx, w)
	if err != nil {
		return miss(p, err, "wrongSource")
	}
	endpoint := evidence.String(cluster.Content, "status", "ignitionEndpoint")
	f.WrongSource = endpoint != "" && f.Source != "https://"+endpoint+"/ignition"
	p.Add(loc, "source "+f.Source, time.Time{}, "source", "wrongSource", "encoding")
	return nil
}

// match holds the digest of user-data's token against those of the token Secret. The
// old token stays valid until the next rotation.
func (f *Token) match(digest string, token evidence.Object, loc evidence.Locator, p *facts.Proof) {
	current, old := evidence.String(token.Content, "data", "token"), evidence.String(token.Content, "data", "old_token")
	switch {
	case token.Name == "":
		f.Matches = "none"
	case !contents(token) || !sanitize.Redacted(current):
		p.Miss("matches", notRead)
		return
	case digest == current:
		f.Matches = "current"
	case digest == old && old != "":
		f.Matches = "old"
	default:
		f.Matches = "other"
	}
	p.Add(loc, "its token is "+map[string]string{
		"current": "the current one", "old": "the one before the last rotation", "other": "not one of the token Secret", "none": "of no token Secret",
	}[f.Matches], time.Time{}, "matches")
}
