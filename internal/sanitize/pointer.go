package sanitize

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
)

// PointerKey is the one key of what stands instead of a pointer Ignition config
// in a Secret: what it leads to, with its token as a digest.
const PointerKey = "rollcall.dev/pointer"

// The keys of a token Secret that say how the generation of its payload went
// (openshift/hypershift:ignition-server/controllers/tokensecret_controller.go).
var tokenStatusKeys = []string{"reason", "message", "release-version"}

// pointerDataKey holds the pointer in a bootstrap Secret of the Cluster API
// (openshift/hypershift:hypershift-operator/controllers/nodepool/token.go
// reconcileUserDataSecret).
const pointerDataKey = "value"

const maxPointer = 64 << 10

// pointerConfig is what is looked at of a pointer; whatever else it holds is dropped.
type pointerConfig struct {
	Ignition struct {
		Version string `json:"version"`
		Config  struct {
			Merge []struct {
				Source  string `json:"source"`
				Headers []struct {
					Name  string `json:"name"`
					Value string `json:"value"`
				} `json:"httpHeaders"`
			} `json:"merge"`
		} `json:"config"`
		Security struct {
			TLS struct {
				Authorities []struct {
					Source string `json:"source"`
				} `json:"certificateAuthorities"`
			} `json:"tls"`
		} `json:"security"`
		Proxy map[string]any `json:"proxy"`
	} `json:"ignition"`
}

var (
	pointerVersion  = lazily(`^\d{1,2}\.\d{1,2}\.\d{1,2}$`)
	pointerNodePool = lazily(`^[a-z0-9.-]{1,253}/[a-z0-9.-]{1,253}$`)
	pointerHash     = lazily(`^[0-9a-f]{1,64}$`)
	uuid            = lazily(`^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
)

// pointer returns what may be known of a pointer Ignition config in a Secret. What is
// such a summary already (in a collection) is read again field by field: nothing that
// does not have the form of one stays.
func (s *Sanitizer) pointer(key string, v any) (map[string]any, bool) {
	if key != pointerDataKey {
		return nil, false
	}
	switch v := v.(type) {
	case map[string]any:
		have, ok := v[PointerKey].(map[string]any)
		if !ok || len(v) != 1 {
			return nil, false
		}
		return s.summary(have), true
	case string:
		raw, err := base64.StdEncoding.DecodeString(v)
		var c pointerConfig
		if err != nil || len(raw) > maxPointer || json.Unmarshal(raw, &c) != nil || len(c.Ignition.Config.Merge) == 0 {
			return nil, false
		}
		return s.summary(s.readPointer(c)), true
	}
	return nil, false
}

func (s *Sanitizer) readPointer(c pointerConfig) map[string]any {
	merge := c.Ignition.Config.Merge[0]
	out := map[string]any{
		"version": c.Ignition.Version, "source": merge.Source,
		"several": len(c.Ignition.Config.Merge) > 1, "proxy": len(c.Ignition.Proxy) > 0,
	}
	for _, h := range merge.Headers {
		switch strings.ToLower(h.Name) {
		case "nodepool":
			out["nodePool"] = h.Value
		case "targetconfigversionhash":
			out["hash"] = h.Value
		case "authorization":
			out["token"], out["encoding"] = s.bearer(h.Value)
		}
	}
	if a := c.Ignition.Security.TLS.Authorities; len(a) > 0 {
		_, encoded, _ := strings.Cut(a[0].Source, ";base64,")
		if pem, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			out["ca"] = string(pem)
		}
	}
	return out
}

// bearer returns the digest of a token and how it is encoded. The ignition server
// takes "Bearer " and the standard base64 of the token, once
// (openshift/hypershift:ignition-server/cmd/start.go).
func (s *Sanitizer) bearer(value string) (digest, encoding string) {
	encoded, ok := strings.CutPrefix(value, "Bearer ")
	if !ok {
		return s.digest(value), "no-bearer"
	}
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return s.digest(encoded), "no-base64"
	}
	if inner, err := base64.StdEncoding.DecodeString(string(raw)); err == nil && uuid.get().Match(inner) {
		return s.digest(string(inner)), "base64-twice"
	}
	return s.digest(string(raw)), "base64"
}

// summary keeps the fields of a pointer that have the form that they must have.
func (s *Sanitizer) summary(in map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range in {
		text, _ := v.(string)
		yes, _ := v.(bool)
		switch {
		case k == "version" && pointerVersion.get().MatchString(text),
			k == "nodePool" && pointerNodePool.get().MatchString(text),
			k == "hash" && pointerHash.get().MatchString(text),
			k == "token" && Redacted(text),
			k == "encoding" && (text == "base64" || text == "base64-twice" || text == "no-base64" || text == "no-bearer"),
			k == "ca" && onlyCertificates(text) && s.patterns(text) == text:
			out[k] = text
		case k == "source":
			if u, err := url.Parse(text); err == nil && u.User == nil {
				out[k] = (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
			}
		case k == "several", k == "proxy":
			out[k] = yes
		}
	}
	return map[string]any{PointerKey: out}
}

// plainBase64 reports whether a value is text in which nothing looks like a secret.
func (s *Sanitizer) plainBase64(encoded string) bool {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	return err == nil && s.Text(string(raw)) == string(raw)
}
