package sanitize

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// maxConfigs bounds how deep configs and data are in each other.
const maxConfigs = 6

// AddUserData takes in the secrets of user-data, by its structure: of an Ignition config the values of
// HTTP headers, hashes of passwords, passwords in addresses, and the secrets in files and units, also
// compressed and in configs inside; of other texts what a name tells. Certificates are public.
func (k *Known) AddUserData(s *Sanitizer, raw []byte) { k.addData(s, raw, maxConfigs) }

func (k *Known) addData(s *Sanitizer, raw []byte, deep int) {
	if deep == 0 || len(raw) == 0 {
		return
	}
	if bytes.HasPrefix(raw, []byte{0x1f, 0x8b}) {
		if z, err := gzip.NewReader(bytes.NewReader(raw)); err == nil {
			raw, _ = io.ReadAll(io.LimitReader(z, maxKnown)) // what could be read of it
		}
	}
	var config any
	if json.Unmarshal(raw, &config) == nil {
		k.addValue(s, "", config, deep)
		return
	}
	text := string(raw[:min(len(raw), maxKnown)])
	for _, at := range s.decode(text, readable(text)) {
		k.Add(strings.Trim(text[at.from:at.to], "\"'"))
	}
	for rest := text; ; {
		_, behind, ok := strings.Cut(rest, "PRIVATE KEY-----")
		if !ok {
			return
		}
		body, after, _ := strings.Cut(behind, "-----END")
		k.Add(body)
		rest = strings.TrimPrefix(after, " ")
		if _, next, ok := strings.Cut(rest, "-----BEGIN"); ok {
			rest = next
		} else {
			return
		}
	}
}

// addValue takes in the secrets of a value of JSON that has a name.
func (k *Known) addValue(s *Sanitizer, name string, v any, deep int) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			k.addValue(s, name, e, deep)
		}
	case map[string]any:
		for key, e := range v {
			if key == "value" && (name == "httpHeaders" || name == "headers") {
				if text, ok := e.(string); ok {
					k.addHeader(text)
					continue
				}
			}
			k.addValue(s, key, e, deep)
		}
	case string:
		switch {
		case name == "passwordHash", name == "auth", kindOfKey(name) >= secretKey:
			k.addHeader(v)
		case strings.HasPrefix(v, "data:"):
			k.addURL(s, v, deep)
		case strings.Contains(v, "://") && !strings.Contains(v, "\n"):
			if u, err := url.Parse(v); err == nil {
				password, _ := u.User.Password()
				k.Add(password)
				for key, values := range u.Query() {
					if kindOfKey(key) >= maybeKey {
						k.Add(slices.Concat(values, []string{""})[0])
					}
				}
			}
		case slices.Contains([]string{"contents", "inline"}, name):
			k.addData(s, []byte(v), deep-1)
		}
	}
}

// addHeader takes in the value of a header, and what follows the name of its scheme.
func (k *Known) addHeader(v string) {
	k.Add(v)
	if _, credential, ok := strings.Cut(strings.TrimSpace(v), " "); ok {
		k.Add(credential)
	}
}

// addURL takes in the secrets of a URL of data.
func (k *Known) addURL(s *Sanitizer, v string, deep int) {
	kind, data, _ := strings.Cut(v, ",")
	text, err := url.PathUnescape(data)
	if err != nil {
		text = data
	}
	raw := []byte(text)
	if strings.HasSuffix(kind, ";base64") {
		if raw, err = base64.StdEncoding.DecodeString(text); err != nil {
			k.Add(text)
			return
		}
	}
	k.addData(s, raw, deep-1)
}
