package hosted

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/obfuscation"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/sanitize"
)

// token is the fact nodepool-token: whether what a new machine gets as user-data is
// what the ignition server knows. Tokens are compared by digest.
type token struct {
	Config      facts.Field[string]    `cel:"config"`      // hash of the config that the NodePool gives to new machines
	TokenThere  facts.Field[bool]      `cel:"tokenThere"`  // the token Secret of that hash exists
	UserData    facts.Field[bool]      `cel:"userData"`    // the user-data Secret of that hash exists
	Generated   facts.Field[time.Time] `cel:"generated"`   // when the token was made or rotated
	Expired     facts.Field[bool]      `cel:"expired"`     // marked as outdated, and that time is over
	Expires     facts.Field[time.Time] `cel:"expires"`     // zero for the current one
	Fetched     facts.Field[bool]      `cel:"fetched"`     // somebody got the payload
	Stage       facts.Field[string]    `cel:"stage"`       // reason of the token Secret; "" while the payload is not built
	Matches     facts.Field[string]    `cel:"matches"`     // the token in user-data is: current, old, other, none
	Encoding    facts.Field[string]    `cel:"encoding"`    // base64; else how the Authorization header is broken
	Source      facts.Field[string]    `cel:"source"`      // the URL in user-data
	WrongSource facts.Field[bool]      `cel:"wrongSource"` // it is not the HostedCluster's endpoint
	WrongPool   facts.Field[bool]      `cel:"wrongPool"`   // the headers name another NodePool or config
}

func tokenFact() facts.Fact {
	return facts.Define("nodepool-token", fault.NodePool, "the token and user-data Secrets of a NodePool, held against each other", []evidence.Need{
		evidence.Objects(evidence.NodePools, evidence.HostedNamespace),
		evidence.Objects(evidence.HostedClusters, evidence.HostedNamespace),
		evidence.Objects(evidence.HostedSecrets, evidence.ControlPlaneNamespace),
	}, readToken)
}

func readToken(ctx context.Context, w *facts.World, s fault.Subject) (token, error) {
	var f token
	n, err := findPool(ctx, w, s)
	if err != nil {
		return f, err
	}
	secrets, err := w.List(ctx, evidence.HostedSecrets, evidence.ControlPlaneNamespace)
	if err != nil {
		return f, err
	}
	config := n.Object.Annotation(openshift.NodePoolConfigAnnotation)
	if config == "" {
		return f, facts.NotApplicable("the NodePool has given no config to machines yet")
	}
	find := func(prefix string) (evidence.Object, bool) {
		for _, o := range secrets {
			if o.Name == prefix+"-"+n.Name+"-"+config {
				return o, true
			}
		}
		return evidence.Object{}, false
	}
	token, there := find("token")
	data, dataThere := find("user-data")
	item := n.Object.Shows("metadata.annotations["+openshift.NodePoolConfigAnnotation+"]", "new machines get config "+config, time.Time{})
	f.Config.Set(config, item)
	f.TokenThere.Set(there, item)
	f.UserData.Set(dataThere, item)
	if there {
		f.token(w.Now, token)
	}
	if dataThere {
		if err := f.pointer(ctx, w, n, token, data); err != nil {
			return f, err
		}
	}
	facts.Complete(&f)
	return f, nil
}

func (f *token) token(now time.Time, o evidence.Object) {
	generated, _ := time.Parse(time.RFC3339Nano, o.Annotation(openshift.TokenGeneratedAnnotation))
	item := o.Shows("metadata.annotations", "token generated "+o.Annotation(openshift.TokenGeneratedAnnotation), generated)
	f.Generated.Set(generated, item)
	f.Fetched.Set(o.Annotation(openshift.IgnitionReachedAnnotation) == "True", item)
	f.Expired.Set(false, item)
	if note := o.Annotation(openshift.TokenExpiresAnnotation); note != "" {
		at, err := time.Parse(time.RFC3339, note)
		item := o.Shows("metadata.annotations", "outdated, ends "+note, at)
		f.Expires.Set(at, item)
		f.Expired.Set(err != nil || now.After(at), item) // what cannot be parsed counts as expired there, too
	}
	if !contents(o) {
		_ = facts.Miss(notRead, &f.Stage)
		return
	}
	read := func(key string) string {
		raw, err := base64.StdEncoding.DecodeString(evidence.String(o.Content, "data", key))
		if err != nil {
			return ""
		}
		return string(raw)
	}
	built := o.Shows("data.message", read("reason")+": "+read("message"), time.Time{})
	f.Stage.Set(read("reason"), built)
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
	Supply: evidence.Supply{Kind: evidence.SupplySecrets},
}

func (f *token) pointer(ctx context.Context, w *facts.World, n inventory.NodePool, token, data evidence.Object) error {
	pointer, ok := evidence.Field(data.Content, "data", "value", sanitize.PointerKey).(map[string]any)
	if !ok {
		return facts.Miss(notRead, &f.Matches, &f.Encoding, &f.Source, &f.WrongSource, &f.WrongPool)
	}
	source, encoding := evidence.String(pointer, "source"), evidence.String(pointer, "encoding")
	f.match(evidence.String(pointer, "token"), token, data.Loc.At("data.value"))
	wantPool, wantHash := n.Namespace+"/"+n.Name, f.Config.Value()
	havePool, haveHash := evidence.String(pointer, "nodePool"), evidence.String(pointer, "hash")
	f.WrongPool.Set(havePool != wantPool || haveHash != wantHash,
		data.Shows("data.value", fmt.Sprintf("headers NodePool %q, TargetConfigVersionHash %q", havePool, haveHash), time.Time{}))
	item := data.Shows("data.value", "source "+source, time.Time{})
	f.Source.Set(source, item)
	f.Encoding.Set(encoding, item)
	cluster, err := hostedCluster(ctx, w)
	if err != nil {
		return facts.Miss(err, &f.WrongSource)
	}
	endpoint := evidence.String(cluster.Content, "status", "ignitionEndpoint")
	f.WrongSource.Set(endpoint != "" && source != "https://"+endpoint+"/ignition", item)
	if obfuscation.Found(endpoint) || obfuscation.Found(source) {
		f.WrongSource.Miss(obfuscation.Unavailable(evidence.Objects(evidence.HostedClusters, evidence.HostedNamespace), "the ignition endpoint"))
	}
	return nil
}

// match holds the digest of user-data's token against those of the token Secret. The
// old token stays valid until the next rotation.
func (f *token) match(digest string, token evidence.Object, loc evidence.Locator) {
	current, old := evidence.String(token.Content, "data", "token"), evidence.String(token.Content, "data", "old_token")
	state, said := "other", "not one of the token Secret"
	switch {
	case token.Name == "":
		state, said = "none", "of no token Secret"
	case !contents(token) || !sanitize.Redacted(current):
		f.Matches.Miss(notRead)
		return
	case digest == current:
		state, said = "current", "the current one"
	case digest == old && old != "":
		state, said = "old", "the one before the last rotation"
	}
	f.Matches.Set(state, evidence.Item{Locator: loc, Excerpt: "its token is " + said})
}
