package workers

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Management reads one object of the management cluster. Secrets come in clear: nothing of
// them reaches anything but the provider.
type Management interface {
	Object(ctx context.Context, group, resource, namespace, name string) (map[string]any, error)
}

// UserData is the user-data of a machine that is made now.
type UserData struct {
	Raw      []byte // the pointer Ignition config: a secret
	Config   string // hash of the config
	Digest   string // of Raw
	Endpoint *url.URL
	CA       *x509.CertPool // that the machine trusts
	// Generated is when its token was; zero: the token Secret does not show it.
	Generated time.Time
	// Plain is what of it a machine asks without TLS, without user names and passwords: proxies.
	Plain []string
}

// TokenLife is for how long the ignition server accepts a token at least: it makes a new one after half of
// it, and drops the one before with the next (openshift/hypershift:
// ignition-server/controllers/tokensecret_controller.go ttl, rotateToken; 4.14 to 4.22).
const TokenLife = 11 * time.Hour

// The names of a NodePool's Secrets and what is in them
// (openshift/hypershift:hypershift-operator/controllers/nodepool/token.go; 4.14 to 4.22).
const (
	valueKey    = "value"
	tokenKey    = "token"
	maxUserData = 64 << 10
)

// CurrentConfig is the hash of the config that the plan's NodePool gives to new machines now.
func CurrentConfig(ctx context.Context, m Management, p Plan) (string, error) {
	namespace, _, _ := strings.Cut(p.Hosted, "/")
	pool, err := m.Object(ctx, openshift.HyperShiftGroup, "nodepools", namespace, p.NodePool)
	if err != nil {
		return "", fmt.Errorf("read NodePool %s/%s: %w", namespace, p.NodePool, err)
	}
	config := evidence.String(pool, "metadata", "annotations", openshift.NodePoolConfigAnnotation)
	if config == "" {
		return "", fmt.Errorf("NodePool %s/%s gives no config to machines yet: it has no "+
			"annotation %s", namespace, p.NodePool, openshift.NodePoolConfigAnnotation)
	}
	return config, nil
}

// Fresh reads the user-data of the config that the NodePool gives to new machines now, and
// refuses what could not lead a machine to its config. Errors quote nothing of it.
func Fresh(ctx context.Context, m Management, p Plan) (UserData, error) {
	config, err := CurrentConfig(ctx, m, p)
	if err != nil {
		return UserData{}, err
	}
	name := p.NodePool + "-" + config
	data, err := m.Object(ctx, "", "secrets", p.ControlPlane, "user-data-"+name)
	if err != nil {
		return UserData{}, fmt.Errorf("read the user-data of NodePool %s: %w", p.NodePool, err)
	}
	value, err := base64.StdEncoding.DecodeString(evidence.String(data, "data", valueKey))
	if err != nil {
		return UserData{}, fmt.Errorf("read Secret user-data-%s: its %s is not base64", name, valueKey)
	}
	generated, err := current(ctx, m, p, name, value)
	if err != nil {
		return UserData{}, fmt.Errorf("read Secret user-data-%s: %w", name, err)
	}
	namespace, _, _ := strings.Cut(p.Hosted, "/")
	u, err := parse(value, namespace+"/"+p.NodePool, config)
	if err != nil {
		return UserData{}, fmt.Errorf("read Secret user-data-%s: %w", name, err)
	}
	u.Generated = generated
	return u, nil
}

// current returns when the token was generated. It refuses user-data whose token is not the token Secret's present one: the one
// before it is dropped with the next rotation, which may be soon
// (openshift/hypershift:ignition-server/controllers/tokensecret_controller.go rotateToken).
func current(ctx context.Context, m Management, p Plan, name string, value []byte) (generated time.Time, err error) {
	secret, err := m.Object(ctx, "", "secrets", p.ControlPlane, "token-"+name)
	if err != nil {
		return generated, fmt.Errorf("read its token Secret: %w", err)
	}
	if end := evidence.String(secret, "metadata", "annotations", openshift.TokenExpiresAnnotation); end != "" {
		return generated, fmt.Errorf("its config is outdated and its token ends at %.40s: wait until the NodePool gives the new config", end)
	}
	token, err := base64.StdEncoding.DecodeString(evidence.String(secret, "data", tokenKey))
	if err != nil || len(token) == 0 {
		return generated, errors.New("its token Secret has no token yet: wait until the ignition server has made one")
	}
	doc, err := decode(value)
	if err != nil {
		return generated, err
	}
	if doc.header("Authorization") != "Bearer "+base64.StdEncoding.EncodeToString(token) {
		return generated, errors.New("its token is not the present one of the token Secret: the token was just rotated; try again in a minute")
	}
	if at, err := time.Parse(time.RFC3339Nano, evidence.String(secret, "metadata", "annotations", openshift.TokenGeneratedAnnotation)); err == nil {
		generated = at
	}
	return generated, nil
}

// pointer is what is looked at of a pointer Ignition config (coreos/ignition:
// config/v3_2/types/schema.go).
type pointer struct {
	Ignition struct {
		Version string `json:"version"`
		Config  struct {
			Merge []struct {
				Source  string `json:"source"`
				Headers []struct {
					Name  string  `json:"name"`
					Value *string `json:"value"`
				} `json:"httpHeaders"`
			} `json:"merge"`
		} `json:"config"`
		Proxy struct {
			HTTP  string `json:"httpProxy"`
			HTTPS string `json:"httpsProxy"`
		} `json:"proxy"`
		Security struct {
			TLS struct {
				Authorities []struct {
					Source string `json:"source"`
				} `json:"certificateAuthorities"`
			} `json:"tls"`
		} `json:"security"`
	} `json:"ignition"`
}

func decode(raw []byte) (pointer, error) {
	var doc pointer
	if len(raw) == 0 || len(raw) > maxUserData || json.Unmarshal(raw, &doc) != nil { // the error would quote it
		return doc, errors.New("it is not a pointer Ignition config")
	}
	if len(doc.Ignition.Config.Merge) != 1 {
		return doc, fmt.Errorf("it merges %d configs, want one", len(doc.Ignition.Config.Merge))
	}
	return doc, nil
}

func (d pointer) header(name string) string {
	for _, h := range d.Ignition.Config.Merge[0].Headers {
		if h.Name == name && h.Value != nil {
			return *h.Value
		}
	}
	return ""
}

// plain names the proxies that a machine asks without TLS. Their user names and passwords stay out.
func (d pointer) plain() []string {
	var list []string
	for _, p := range []struct{ field, value string }{{"httpProxy", d.Ignition.Proxy.HTTP}, {"httpsProxy", d.Ignition.Proxy.HTTPS}} {
		u, err := url.Parse(p.value)
		if err != nil || u.Scheme != "http" {
			continue
		}
		text := p.field + " http://" + u.Host
		if u.User != nil {
			text += " (with a user name and password)"
		}
		list = append(list, text)
	}
	return list
}

// parse reads a pointer and refuses one that leads nowhere.
func parse(raw []byte, pool, config string) (UserData, error) {
	u := UserData{Raw: raw, Config: config, Digest: digest(raw)}
	doc, err := decode(raw)
	if err != nil {
		return u, err
	}
	if !strings.HasPrefix(doc.Ignition.Version, "3.") {
		return u, fmt.Errorf("its version is %.20q: Ignition of RHCOS reads version 3", doc.Ignition.Version)
	}
	u.Endpoint, err = url.Parse(doc.Ignition.Config.Merge[0].Source)
	if err == nil && u.Endpoint.Scheme == "http" {
		return u, fmt.Errorf("its source is http://%.200s: a machine would send its token, and get the pull secret, without TLS", u.Endpoint.Host)
	}
	if err != nil || u.Endpoint.Scheme != "https" || u.Endpoint.Path != "/ignition" || u.Endpoint.User != nil || u.Endpoint.Host == "" {
		return u, errors.New("its source is not https://HOST/ignition")
	}
	if have := doc.header("NodePool"); have != pool {
		return u, fmt.Errorf("its header NodePool is %.80q, want %s", have, pool)
	}
	if have := doc.header("TargetConfigVersionHash"); have != config {
		return u, fmt.Errorf("its header TargetConfigVersionHash is %.40q, want %s", have, config)
	}
	u.Plain = doc.plain()
	// Ignition adds these to the system's (coreos/ignition:internal/resource/http.go).
	if u.CA, err = x509.SystemCertPool(); err != nil {
		u.CA = x509.NewCertPool()
	}
	for _, a := range doc.Ignition.Security.TLS.Authorities {
		_, text, _ := strings.Cut(a.Source, ";base64,")
		pem, err := base64.StdEncoding.DecodeString(text)
		if err != nil || !u.CA.AppendCertsFromPEM(pem) {
			return u, errors.New("its CA is not a certificate")
		}
	}
	return u, nil
}

func digest(raw []byte) string {
	sum := sha256.Sum256(raw)
	return "sha256:" + hex.EncodeToString(sum[:])
}
