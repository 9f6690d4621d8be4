package sanitize

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
)

// A pointer config is the small Ignition config that a host boots with: from where
// it fetches the rest, and which CA it trusts for that. Both are public and
// decide whether the host can join; everything else in it is left out. Secrets hold
// it as the base64 of "userData"
// (openshift/machine-config-operator:manifests/userdata_secret.yaml).
const (
	userDataKey = "userData"
	maxUserData = 1 << 20 // a config that is longer is no pointer
)

var (
	ignitionVersion = lazily(`^\d+\.\d+\.\d+(?:-[a-z]+)?$`)
	configPath      = lazily(`^/config/[a-z0-9][a-z0-9.-]*$`)
)

// userData returns what may be known of a value of userData: of a pointer config
// its version, its URLs and its CAs, of anything else the digest. What it
// returns for a pointer it leaves as it is the next time.
func (s *Sanitizer) userData(encoded string) string {
	if encoded == "" || Redacted(encoded) {
		return encoded
	}
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return s.digest(encoded)
	}
	var config struct {
		Ignition *struct {
			Version any            `json:"version"`
			Config  map[string]any `json:"config"`
			TLS     struct {
				TLS struct {
					Authorities []map[string]any `json:"certificateAuthorities"`
				} `json:"tls"`
			} `json:"security"`
		} `json:"ignition"`
	}
	if len(raw) > maxUserData || json.Unmarshal(raw, &config) != nil || config.Ignition == nil {
		return s.secretValue(encoded)
	}
	kept := map[string]any{}
	if v, ok := config.Ignition.Version.(string); ok && ignitionVersion.get().MatchString(v) {
		kept["version"] = v
	}
	links := map[string]any{}
	for _, k := range []string{"merge", "append", "replace"} {
		if list := s.links(config.Ignition.Config[k]); len(list) > 0 {
			links[k] = list
		}
	}
	if len(links) > 0 {
		kept["config"] = links
	}
	var authorities []any
	for _, a := range config.Ignition.TLS.TLS.Authorities {
		source, _ := a["source"].(string)
		authorities = append(authorities, map[string]any{"source": s.authority(source)})
	}
	if len(authorities) > 0 {
		kept["security"] = map[string]any{"tls": map[string]any{"certificateAuthorities": authorities}}
	}
	text, err := json.Marshal(map[string]any{"ignition": kept})
	if err != nil {
		return s.digest(string(raw))
	}
	return base64.StdEncoding.EncodeToString(text)
}

// links keeps the addresses of other configs. "replace" holds one and not a list.
func (s *Sanitizer) links(v any) []any {
	list, ok := v.([]any)
	if !ok && v != nil {
		list = []any{v}
	}
	var kept []any
	for _, e := range list {
		m, _ := e.(map[string]any)
		if source, _ := m["source"].(string); source != "" {
			kept = append(kept, map[string]any{"source": s.address(source)})
		}
	}
	return kept
}

// address keeps scheme, host and port, and the path where it is one of the machine
// config server: a path or query elsewhere may be a credential.
func (s *Sanitizer) address(source string) string {
	u, err := url.Parse(source)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return s.digest(source)
	}
	if host := u.Hostname(); host == "" || s.Text(host) != host {
		return s.digest(source)
	}
	kept := u.Scheme + "://" + u.Host
	switch {
	case configPath.get().MatchString(u.Path):
		kept += u.Path
	case u.Path != "" && u.Path != "/":
		kept += "/" + s.digest(strings.TrimPrefix(u.Path, "/"))
	}
	return kept
}

// authority keeps certificates that are given as a data URL.
func (s *Sanitizer) authority(source string) string {
	rest, ok := strings.CutPrefix(source, "data:")
	if !ok {
		return s.address(source)
	}
	kind, data, ok := strings.Cut(rest, ",")
	if !ok {
		return s.digest(source)
	}
	encoded := data
	if !strings.HasSuffix(kind, ";base64") {
		text, err := url.PathUnescape(data)
		if err != nil {
			return s.digest(source)
		}
		encoded = base64.StdEncoding.EncodeToString([]byte(text))
	}
	if !s.publicPEM(encoded) {
		return s.digest(source)
	}
	return "data:text/plain;charset=utf-8;base64," + encoded
}
