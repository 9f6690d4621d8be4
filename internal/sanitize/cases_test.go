package sanitize

import (
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// domainSecrets are values of programs of the domain: of none may eight characters in a row be left.
var domainSecrets = []struct{ text, secret string }{
	// Passwords that look like CamelCase.
	{"SessionService returned code 401 Unauthorized, password -> R7Xnu2Dw8Kp4Rt", "R7Xnu2Dw8Kp4Rt"}, {"the password of root was set to Zb4Jn7Qk2Mx9Tw", "Zb4Jn7Qk2Mx9Tw"},
	{"| root | password | Kf8Wq3Lm5Xz2Rb |", "Kf8Wq3Lm5Xz2Rb"}, {"got the access token Bg7Tn2Pq9Ks4Wj6Xc3Hf from Keystone", "Bg7Tn2Pq9Ks4Wj6Xc3Hf"},
	{"changed password Mb6Rk3Vt9Lp2Qw", "Mb6Rk3Vt9Lp2Qw"}, {"aws_secret_access_key\tMb6Rk3Vt9Lp2QwZz4Jn7Qk2Mx9TbKd8Wq3Lm5Xz2", "Mb6Rk3Vt9Lp2QwZz4"},
	// Colors, characters without width, escapes.
	{"\x1b[31mGET error: password:\x1b[0m\x1b[33m osprey44wall\x1b[0m x509: certificate has expired", "osprey44wall"},
	{"pass\u200bword: osprey44wall", "osprey44wall"}, {`{"p\u0061ssword":"osprey44wall"}`, "osprey44wall"}, {"pass\u00adword=osprey44wall", "osprey44wall"},
	// Names of the domain.
	{"mka-cak: 7a6eb744716cc4d7cf9e493806e70299", "7a6eb744716cc4d7"}, {"node.session.auth.password_in = teal77dk39", "teal77dk39"}, {"hmacKey: fJAX50Qp0s8ZeflHc7MhUORW8HC0sTDY", "fJAX50Qp0s8Z"},
	{"signing_key: Plm92nq6FArlo2EeLabMULLYfIf4uID2", "Plm92nq6FArlo2"}, {"vault_unseal_key: QsTu0HjZ07IEFFRCXkQIeknNPjiErt8pVfhFwfkOO5PJ", "QsTu0HjZ07"}, {"_auth: eTpQdVR4RXA0R1JsREN=", "eTpQdVR4RXA0"},
	{`proxy-user: "svc:harrier51wall"`, "harrier51wall"}, {"Passwort: harrier51wall", "harrier51wall"}, {"[client.admin]\n\tkey = AQuZT37wxtVeVWAHp4PVE4opJSp9yTOQK4oMtF==", "AQuZT37wxtVeVWAH"},
	{"#cloud-config\nchpasswd:\n  list: |\n    core:harrier51wall", "harrier51wall"}, {"\tauth-trunc hmac(sha256) 0xf2f4b61e8a083a5850646146a80cc1b3e2f4b61e8a083a59 128", "f2f4b61e8a083a58"},
	{"\taead rfc4106(gcm(aes)) 0x75e0688bfc69bec380a3dbb6cbb20ccc31a5ff02 128", "75e0688bfc69bec3"}, {"spec:\n  encryptionKey: 0b1f6dd0aa90c2f1b6c39f8a77c1d2e3", "0b1f6dd0aa90c2f1"},
	// Forms that tell without a name.
	{"error: user kubeadmin 5GI9C-EgcED-sV2fX-ph7Ae", "5GI9C-EgcED"}, // with an I, which the installer uses
	{`error: spec.bmc.password: Invalid value: "Kq7vXw2Lp9RtZm4c": too short`, "Kq7vXw2Lp9RtZm4c"},
	{`error: spec.tokens[0]: Duplicate value: "abcdef0123456789abcdef"`, "abcdef0123456789abcdef"},
	{"$ cat auth/kubeadmin-password\nbZ4dE-fG6hJ-kM7mN-pQ8rS", "bZ4dE-fG6hJ"}, {"INFO Login with kubeadmin / cZ4dE-fG6hJ-kM7mN-pQ8rS", "cZ4dE-fG6hJ"},
	{"b3BlbnNzaC1rZXktdjEAAAAABG5vbmVRamspoiWoPBCxj+MJymdPhsrqauzNGu8nC6JNnomMTLZU", "MJymdPhsrqauzNGu8"},
	{"Nov 27 10:00:01 m0 cloud-init[9]: UwtpAJPoRu+A8sp+5XYgqPtFOjoVXbFsUKEtUj1V44bwg+1qzv7mZC8zmVD+075F\nNov 27 10:00:01 m0 cloud-init[9]: -----END OPENSSH PRIVATE KEY-----", "A8sp+5XYgqPt"},
	{"UwtpAJPoRu+A8sp+5XYgqPt\n-----END EC PRIVATE KEY-----", "A8sp+5XYgqPt"},
	{"Location: https://console/auth/callback?x=1#sha256%7EELwivqv0DUM6AxL7trO8FYqOsPwaIWVWeYPXTEHbdt3", "ELwivqv0DUM6"}, {"token sha256&#126;ELwivqv0DUM6AxL7trO8FYqOsPwaIWVWeYPXTEHbdt3", "ELwivqv0DUM6"},
	{"Quay is available at https://mirror:8443 with credentials (init, cqUCsGub6wfHX4DSUdctUuY1PwMy2Opd)", "cqUCsGub6wfHX4DS"},
	// Forms that nobody had in mind when the decoder was written.
	{`"password" : { "value" : "Tern83Wq9xKp" }`, "Tern83Wq9xKp"}, {`[{"op":"replace","path":"/spec/bmc/password","value":"Tern83Wq9xKp"}]`, "Tern83Wq9xKp"}, {`[{"key":"password","val":"Tern83Wq9xKp"}]`, "Tern83Wq9xKp"},
	{`"user";"password";"Tern83Wq9xKp"`, "Tern83Wq9xKp"}, {`password <- "Tern83Wq9xKp"`, "Tern83Wq9xKp"}, {"user: a pw: Tern83Wq9xKp", "Tern83Wq9xKp"}, {"secret_id: Tern83Wq9xKp", "Tern83Wq9xKp"}, {"userPassword:: VGVybjgzV3E5eEtw", "VGVybjgzV3E5eEtw"},
	{`ConvertTo-SecureString "Tern83Wq9xKp" -AsPlainText -Force`, "Tern83Wq9xKp"}, {"**Password:** `Tern83Wq9xKp`", "Tern83Wq9xKp"}, {"- **Password**: Tern83Wq9xKp", "Tern83Wq9xKp"}, {"password\uff1aTern83Wq9xKp", "Tern83Wq9xKp"},
	{"password\u00a0=\u00a0Tern83Wq9xKp", "Tern83Wq9xKp"}, {"SECRET_KEY_BASE=Tern83Wq9xKp", "Tern83Wq9xKp"}, {"Server=db;User Id=sa;Password=Tern83Wq9xKp;Encrypt=true", "Tern83Wq9xKp"},
	{"wpa-psk Tern83Wq9xKp", "Tern83Wq9xKp"}, {"define('DB_PASSWORD', 'Tern83Wq9xKp');", "Tern83Wq9xKp"}, {"Password for 'root@host': Tern83Wq9xKp", "Tern83Wq9xKp"}, {`{"credentials":{"user":"a","pass":"Tern83Wq9xKp"}}`, "Tern83Wq9xKp"},
	{"curl -d 'user=a&password=Tern83Wq9xKp' x", "Tern83Wq9xKp"}, {`curl -d '{"password":"Tern83Wq9xKp"}' x`, "Tern83Wq9xKp"},
	{"default: &pw Tern83Wq9xKp\nbmc:\n  password: *pw", "Tern83Wq9xKp"},
}

// TestDomainSecrets: the forms that OpenShift and what runs around it have of their own.
func TestDomainSecrets(t *testing.T) {
	for _, c := range domainSecrets {
		s := sanitizer(t, "a")
		lines := s.Lines()
		var out []string
		for line := range strings.SplitSeq(c.text, "\n") {
			out = append(out, lines.Line(line))
		}
		for how, got := range map[string]string{"text": s.Text(c.text), "lines": strings.Join(out, "\n"), "message": s.Message(c.text)} {
			if how == "lines" && (strings.HasPrefix(c.text, "UwtpA") || strings.Contains(c.text, "&pw")) {
				continue // a line of a stream is read without those behind it
			}
			if leaks(got, c.secret) != "" {
				t.Errorf("%s: %q became %q", how, c.text, got)
			}
		}
	}
}

// TestNameInKey: a reader that needs a name finds it in the key, or in the field beside.
func TestNameInKey(t *testing.T) {
	const secret = "osprey44wall"
	o := evidence.Object{Resource: evidence.Pods, Content: map[string]any{
		"metadata": map[string]any{"name": "m", "annotations": map[string]any{"http_proxy": "u:" + secret + "@p:3128", "note": "HTTP_PROXY=u:" + secret + "@p:3128"}},
		"spec": map[string]any{"containers": []any{map[string]any{"env": []any{
			map[string]any{"name": "HTTPS_PROXY", "value": "u:" + secret + "@p:3128"}, map[string]any{"value": "kept", "name": "MODE"},
			map[string]any{"name": "SIGNING_KEY", "value": secret}, map[string]any{"name": "X", "value": "u:" + secret + "@tcp(db:1)/x"},
		}}}},
		"data": map[string]any{"httpProxy": "u:" + secret + "@p:3128", "noProxy": ".svc,10.0.0.0/16", "proxy": "proxy.example.com:3128", "key": "node-role.kubernetes.io/master"},
	}}
	sanitizer(t, "a").Object(o.Resource.Group, o.Resource.Name, o.Content)
	got := dump(o.Content)
	if strings.Contains(got, secret) {
		t.Errorf("left in %s", got)
	}
	for _, kept := range []string{"u:[redacted", "@p:3128", "kept", ".svc,10.0.0.0/16", "proxy.example.com:3128", "node-role.kubernetes.io/master"} {
		if !strings.Contains(got, kept) {
			t.Errorf("%q is gone from %s", kept, got)
		}
	}
}
