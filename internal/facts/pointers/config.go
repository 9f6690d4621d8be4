package pointers

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/facts/certs"
	"github.com/rollcall-project/rollcall/internal/sanitize"
)

// config is a pointer config, as far as it is kept.
type config struct {
	Host        string // from where the config is fetched, without port
	Pool        string // the last part of its path, "" where it is not of a machine config server
	Authorities []*x509.Certificate
	Names       []string // of the CAs
}

// ignition is what is kept of the config. Spec 2 spells merge "append"
// (coreos/ignition:config/v2_2/types/schema.go).
type ignition struct {
	Ignition struct {
		Config struct {
			Merge  []link `json:"merge"`
			Append []link `json:"append"`
		} `json:"config"`
		Security struct {
			TLS struct {
				Authorities []link `json:"certificateAuthorities"`
			} `json:"tls"`
		} `json:"security"`
	} `json:"ignition"`
}

type link struct {
	Source string `json:"source"`
}

var poolPath = regexp.MustCompile(`^/config/([^/]+)$`)

// parse reads the userData of a sanitized Secret.
func parse(userData string) (config, error) {
	var c config
	raw, err := base64.StdEncoding.DecodeString(userData)
	if err != nil {
		return c, fmt.Errorf("decode userData: %w", err)
	}
	var doc ignition
	if err := json.Unmarshal(raw, &doc); err != nil {
		return c, fmt.Errorf("read userData as Ignition: %w", err)
	}
	for _, l := range slices.Concat(doc.Ignition.Config.Merge, doc.Ignition.Config.Append) {
		if u, err := url.Parse(l.Source); err == nil && u.Hostname() != "" {
			c.Host = u.Hostname()
			if m := poolPath.FindStringSubmatch(u.Path); m != nil {
				c.Pool = m[1]
			}
		}
	}
	for _, l := range doc.Ignition.Security.TLS.Authorities {
		_, data, ok := strings.Cut(l.Source, ",")
		if !ok || sanitize.Redacted(l.Source) {
			continue
		}
		text, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			return c, fmt.Errorf("decode a CA: %w", err)
		}
		list, err := certs.ParseBundle(text)
		if err != nil {
			return c, fmt.Errorf("read a CA: %w", err)
		}
		c.Authorities = append(c.Authorities, list...)
	}
	for _, a := range c.Authorities {
		c.Names = append(c.Names, a.Subject.CommonName)
	}
	return c, nil
}
