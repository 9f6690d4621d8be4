package plan

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/url"
	"slices"
	"strings"

	"crypto/x509"

	"go.yaml.in/yaml/v3"

	"github.com/rollcall-project/rollcall/internal/openshift"
)

// hidden stands for a value that is there and is not shown.
const hidden = "(hidden)"

// secretKeys are the last parts of fields whose values are credentials, in lower case
// (openshift/installer: pkg/types/baremetal/platform.go BMC, pkg/types/vsphere/platform.go
// VCenter, pkg/types/nutanix, pkg/types/ovirt; nmstate: 802.1x, OVS and WireGuard keys).
var secretKeys = []string{
	"password", "passwd", "passphrase", "username", "user", "token", "secret", "private-key", "privatekey", "private-key-password",
	"preshared-key", "psk", "client-secret", "secretaccesskey", "accesskey", "credentials", "apikey",
}

// secret returns what stands for a value that must not leave the file, and whether it is
// one. What can be said of the form of it goes into the notes.
func (t *tree) secret(key, path string, n *yaml.Node) (any, bool) {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	scalar := n.Kind == yaml.ScalarNode
	if t.manifest {
		if inner, is := t.manifestSecret(path, n); is {
			return formOf(n), true
		} else if inner != "" {
			path = inner
		}
	}
	written := path
	switch path = strings.ToLower(path); { // the installer does not mind the case of letters
	case path == "pullsecret":
		if scalar {
			t.notes["pulls"] = pulls(n.Value)
		}
	case path == "sshkey" || path == "sshpublickey":
		if scalar {
			t.notes["ssh"] = sshKeys(n.Value)
		}
	case path == "additionaltrustbundle":
		if scalar {
			t.notes["bundle"] = bundle(n.Value)
			t.authorities = authorities(n.Value)
		}
	case path == fencingList && isBlocks(n): // its values are judged one by one
		return nil, false
	case slices.Contains(secretKeys, strings.ToLower(key)):
	case strings.HasPrefix(path, fencingList+"[") && !(scalar && slices.Contains(fencingShown, strings.ToLower(key))):
	case scalar && strings.Contains(n.Value, "@") && (strings.Contains(n.Value, "://") || slices.Contains(urlKeys, strings.ToLower(key))):
		bare := withoutUser(n.Value)
		if breaksURL(n.Value, bare) {
			list, _ := t.notes["users"].([]any)
			t.notes["users"] = append(list, written)
		}
		return bare, true
	default:
		return nil, false
	}
	return formOf(n), true
}

// fencingList has a credential for each of two control-plane hosts: blocks whose fields other than
// fencingShown are hidden (openshift/installer: pkg/types/machinepools.go Credential).
const fencingList = "controlplane.fencing.credentials"

var fencingShown = []string{"hostname", "address", "certificateverification"}

// isBlocks reports whether a value is a list of blocks of fields.
func isBlocks(n *yaml.Node) bool {
	return n.Kind == yaml.SequenceNode && !slices.ContainsFunc(n.Content, func(child *yaml.Node) bool {
		for child.Kind == yaml.AliasNode {
			child = child.Alias
		}
		return child.Kind != yaml.MappingNode
	})
}

// formOf is what a hidden value is: the installer takes no list as a password.
func formOf(n *yaml.Node) any {
	switch {
	case n.Kind == yaml.MappingNode:
		return map[string]any{}
	case n.Kind != yaml.ScalarNode:
		return []any{}
	case n.Value == "" || n.Tag == "!!null":
		return ""
	}
	return hidden
}

// manifestSecret is secret for the objects of cluster-manifests. What install-config has under
// a name of its own is given that name.
func (t *tree) manifestSecret(path string, n *yaml.Node) (as string, is bool) {
	if i := strings.Index(path, "]."); strings.HasPrefix(path, "documents[") && i > 0 {
		path = path[i+2:]
	}
	switch lower := strings.ToLower(path); {
	case lower == "stringdata..dockerconfigjson":
		return "pullsecret", false
	case lower == "spec.sshpublickey":
		return "sshkey", false
	case lower == "spec.additionaltrustbundle":
		return "additionaltrustbundle", false
	case path == "metadata.annotations."+openshift.InstallConfigOverridesAnnotation:
		t.readOverrides(n.Value)
		return "", true
	case strings.HasPrefix(lower, "data."):
		if !isBase64(n) {
			bad, _ := t.notes["data"].([]any)
			t.notes["data"] = append(bad, path)
		}
		return "", true
	case strings.HasPrefix(lower, "stringdata."), strings.HasPrefix(lower, "metadata.annotations."),
		lower == "spec.sshauthorizedkey", lower == "spec.ignitionconfigoverride":
		return "", true
	}
	return "", false
}

// isBase64 reports whether a value of a Secret's data can be decoded.
func isBase64(n *yaml.Node) bool {
	_, err := base64.StdEncoding.DecodeString(n.Value)
	return n.Tag == "!!null" || n.Kind == yaml.ScalarNode && n.Tag == "!!str" && err == nil
}

// readOverrides reads the settings of install-config that an annotation holds as JSON.
func (t *tree) readOverrides(text string) {
	inner := newTree(t.file)
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err == nil && json.Valid([]byte(text)) {
		t.overrides = inner.value(&doc, "", 0)
	}
	if _, ok := t.overrides.(map[string]any); !ok || inner.wrong != nil {
		t.overrides, t.notes["overrides"] = nil, "unreadable"
	}
}

// urlKeys are fields that may hold a user and a password also without a scheme, in lower case.
var urlKeys = []string{"httpproxy", "httpsproxy", "address"}

// withoutUser is a URL without what stands before the last @: a password may have one, and / # ?
// as well.
func withoutUser(text string) string {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || strings.Contains(scheme, "@") {
		return text[strings.LastIndexByte(text, '@')+1:]
	}
	return scheme + "://" + rest[strings.LastIndexByte(rest, '@')+1:]
}

// breaksURL reports whether a URL can only be read without its user and password, or leads to
// another host with them.
func breaksURL(text, bare string) bool {
	without, err := url.ParseRequestURI(bare)
	if err != nil {
		return false // it is wrong itself
	}
	with, err := url.ParseRequestURI(text)
	return err != nil || with.Host != without.Host
}

// pulls says of the pull secret whether it can be read, and of each registry the form of
// its credential: "ok", "not base64", "no user:password", "no credential".
func pulls(text string) map[string]any {
	var s struct {
		Auths map[string]map[string]any `json:"auths"`
	}
	if strings.TrimSpace(text) == "" {
		return map[string]any{"state": "empty"}
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return map[string]any{"state": "not JSON"}
	}
	registries := map[string]any{}
	for name, auth := range s.Auths {
		form := "ok"
		value, _ := auth["auth"].(string)
		raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(value))
		switch {
		case value == "" && auth["credsStore"] != nil:
		case value == "":
			form = "no credential"
		case err != nil:
			form = "not base64"
		case !strings.Contains(string(raw), ":"):
			form = "no user:password"
		}
		if len(name) <= 300 {
			registries[name] = form
		}
	}
	return map[string]any{"state": "read", "registries": registries}
}

// sshKeys says of each line of sshKey of which type it is: "ssh-ed25519", "private" for a
// key that must not be here, "unreadable" for what is none.
func sshKeys(text string) []any {
	var list []any
	if strings.Contains(text, "PRIVATE KEY") {
		return []any{"private"}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		list = append(list, sshType(line))
	}
	return list
}

// sshType reads an authorized key: [options] type base64 [comment]; the type is in the
// base64 part, too (RFC 4253, 6.6).
func sshType(line string) string {
	fields := strings.Fields(line)
	for i, f := range fields {
		if i+1 == len(fields) || !strings.HasPrefix(f, "ssh-") && !strings.HasPrefix(f, "ecdsa-") && !strings.HasPrefix(f, "sk-") {
			continue
		}
		raw, err := base64.StdEncoding.DecodeString(fields[i+1])
		if err != nil || len(raw) < 4+len(f) || string(raw[4:4+len(f)]) != f {
			return "unreadable"
		}
		return f
	}
	return "unreadable"
}

// authorities are the certificates of a trust bundle.
func authorities(text string) [][]byte {
	var list [][]byte
	for rest := []byte(text); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return list
		}
		if block.Type == "CERTIFICATE" {
			list = append(list, block.Bytes)
		}
	}
}

// bundle says of each block of a trust bundle what it is. Certificates are public.
func bundle(text string) []any {
	var list []any
	rest := []byte(text)
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			list = append(list, map[string]any{"state": "not a certificate: " + block.Type})
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			list = append(list, map[string]any{"state": "unreadable"})
			continue
		}
		state := "ok"
		if !c.IsCA {
			state = "not a CA"
		}
		list = append(list, map[string]any{"state": state, "subject": c.Subject.String(), "notAfter": c.NotAfter.UTC().Format("2006-01-02T15:04:05Z"),
			"notBefore": c.NotBefore.UTC().Format("2006-01-02T15:04:05Z")})
	}
	if len(list) == 0 || strings.TrimSpace(string(rest)) != "" && strings.Contains(string(rest), "-----BEGIN") {
		list = append(list, map[string]any{"state": "unreadable"})
	}
	return list
}
