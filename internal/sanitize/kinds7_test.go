package sanitize

import (
	"math/rand/v2"
	"strings"
	"testing"
)

const smallAlnum = "abcdefghijklmnopqrstuvwxyz0123456789"

// kindTexts7 are kinds that a fifth blind attack found, with variations of each.
var kindTexts7 = map[string][]string{
	"tokens of kubeadm": {
		"bootstrap §O used", "join with §O", "\"§O\"", "§O", "x=§O", "{\"a\":\"§O\"}", "- §O", "discovery (§O) failed.", "used §O, then §O.", "level=info msg=\"joined by §O\"", "a: '§O'", "<a>§O</a>", "W1120 12:00:00.123456       1 x.go:1] §O: expired",
		"`§O`", "[§O §O]", "user system:bootstrap with §O;", "msg=\"{\\\"a\\\":\\\"§O\\\"}\"",
	},
	"Secrets by their type": {
		`{"type":"kubernetes.io/basic-auth","data":{"zz":"§B"}}`, `{"data":{"zz":"§B"},"type":"kubernetes.io/basic-auth"}`, `{"metadata": {"name": "x"}, "type": "kubernetes.io/service-account-token", "data": {"zz": "§B", "y": "§B"}}`,
		`{"type": "kubernetes.io/dockerconfigjson", "data": {"x": "§B"}}`, `{"type": "kubernetes.io/dockercfg", "stringData": {"x": "§V"}}`, `{"type":"kubernetes.io/ssh-auth","data":{"x":"§B"}}`, `{"type":"bootstrap.kubernetes.io/token","data":{"x":"§B"}}`,
		"^metadata:\n  name: x\ntype: kubernetes.io/basic-auth\nstringData:\n  zz: §V\n", "metadata:\n  name: x\ntype: kubernetes.io/basic-auth\ndata:\n  zz: §B\n", "type: kubernetes.io/ssh-auth\nstringData:\n  zz: §V\n  y: §V\n", "type: \"bootstrap.kubernetes.io/token\"\ndata:\n  zz: §V\n",
		"^data:\n  zz: §V\ntype: kubernetes.io/dockerconfigjson\n", "data:\n  zz: §B\ntype: kubernetes.io/service-account-token\n", "{type: kubernetes.io/basic-auth, stringData: {zz: §V}}", "{'type': 'kubernetes.io/basic-auth', 'data': {'zz': '§V'}}", "map[data:map[zz:§V] type:kubernetes.io/basic-auth]",
		"{\n  \"type\": \"kubernetes.io/basic-auth\",\n  \"data\": {\n    \"zz\": \"§V\"\n  }\n}", "msg=\"{\\\"type\\\":\\\"kubernetes.io/basic-auth\\\",\\\"data\\\":{\\\"zz\\\":\\\"§B\\\"}}\"", "2026-11-20T13:55:46.800001Z type: kubernetes.io/ssh-auth\n2026-11-20T13:55:46.800002Z data:\n2026-11-20T13:55:46.800003Z   zz: §V",
		"type: Opaque\nstringData:\n  zz: §V\n", "^type: kubernetes.io/basic-auth # of git\ndata:\n  zz: §V\n", "{\"items\":[{\"type\":\"bootstrap.kubernetes.io/token\",\"data\":{\"zz\":\"§B\"}}]}",
	},
	"schemes of Authorization": {
		"Authorization: SharedKey acct:§K", "authorization: SharedKeyLite acct:§B", "Authorization: Signature keyId=\"k\",algorithm=\"rsa-sha256\",signature=\"§K\"", "Authorization: Signature keyId=\"k\", signature=\"§B\"", "> Authorization: AWS4-HMAC-SHA256 Credential=AK/20260101, SignedHeaders=host, Signature=§M",
		"Authorization: AWS4-HMAC-SHA256 Credential=AK/20260101,SignedHeaders=host;x-amz-date,Signature=§N", "curl -H 'Authorization: AWS4-HMAC-SHA256 Credential=AK/20260101, SignedHeaders=host, Signature=§N' https://h/x", "{\"Authorization\":\"SharedKey acct:§K\"}", "map[Authorization:[SharedKey acct:§K]]", "Authorization: AWS AK:§K",
		"Authorization: GOOG4-RSA-SHA256 Credential=a@b/20260101, SignedHeaders=host, Signature=§N", "Proxy-Authorization: Signature signature=\"§K\"", "{'Authorization': 'Signature keyId=\"k\",signature=\"§K\"'}", "{\"Authorization\":\"Signature keyId=\\\"k\\\",signature=\\\"§K\\\"\"}", "Authorization: PVEAPIToken=root@pam!x=§K",
		"Authorization: GenieKey §K", "Authorization: DPoP §K", "Authorization: EG1-HMAC-SHA256 client_token=a;access_token=b;signature=§K", "-H \"Authorization: SSWS §K\"", "Authorization: OAuth oauth_consumer_key=\"c\", oauth_token=\"t\", oauth_signature=\"§K\"", "Authorization=Custom a=b, c=§K",
	},
	"addresses in JSON": {
		`"url":"https:\/\/u:§V@h\/x"`, `{"url":"https:\/\/u:§V@h"}`, `{"a":"postgres:\/\/u:§V@db:5432\/x?y=z"}`, `msg="{\"url\":\"https:\\\/\\\/u:§V@h\\\/x\"}"`, `"image":"https:\/\/§K@h.example.com\/x"`, `["https:\/\/h\/x","http:\/\/u:§V@h\/x"]`,
		`https:\u002f\u002fu:§V@h\u002fx`, `\"https:\/\/u:§V@h\/\"`,
	},
	"heads of blocks": {
		"password: !vault |\n  §V", "password: !!binary |\n  §B", "password: &p |\n  §V", "password: | # rotate\n  §V", "password: >- # rotate\n  §V\n  §V", "a:\n  bmcPassword: !vault |\n    §V\n    §V", "password: !!str >-\n  §V", "password: &p !!str |\n  §V", "password: !vault | # of ansible\n  §V",
		"apiToken: !Sub |\n  §K", "client_secret: |2 # x\n   §V", "password: !secret >\n  §V", "- password: &a |-\n    §V", "password: !!str &p |+\n  §V", "\"password\": !vault |\n  §V",
		"I1120 12:00:00.123456       1 x.go:1] password: !vault |\nI1120 12:00:00.123456       1 x.go:1]   §V", "2026-11-20T13:55:46.800001Z password: &p |\n2026-11-20T13:55:46.800002Z   §V", "password: !<tag:yaml.org,2002:str> |\n  §V",
	},
	"keys of YAML on their own": {"? password\n: §V", "  ? bmcPassword\n  : §V", "? \"password\"\n: \"§V\"", "? password\n: |\n  §V", "2026-11-20T13:55:46.800001Z ? password\n2026-11-20T13:55:46.800002Z : §V", "? client_secret\n: '§V'"},
	"users in quotes":           {"curl -u'root:§V'", "curl -u'root:§V' https://h", "curl -u\"root:§V\" https://h", "curl -sku'root:§V' https://h", "curl -k -u'root:§V' https://h/x"},
	"tuples":                    {"{password, \"§V\"}", "[{user, \"a\"}, {password, \"§V\"}]", "{password,\"§V\"}", "{api_key, <<\"§K\">>}", "{default_password, <<\"§V\">>}", "(password, \"§V\")"},
	"names in brackets": {
		"passwords[\"w1\"] = \"§V\"", "passwords['w1'] = '§V'", "passwords[\"worker-0.example.com\"] = \"§V\"", "bmc_passwords[host] = \"§V\"", "passwords[\"w1\"]=\"§V\"", "tokens[\"a\"] = \"§K\"", "passwords[:w1] = \"§V\"",
	},
	"addresses of Oracle": {"jdbc:oracle:thin:scott/§V@//h:1521/x", "jdbc:oracle:oci:scott/§V@h:1521:x", "url=jdbc:oracle:thin:app_user/§V@h:1521:ORCL", "{\"url\":\"jdbc:oracle:thin:scott/§V@tcps://h:1521/x\"}", "jdbc:oracle:thin:scott/\"§V\"@h:1521:x"},
	"keys of JWK": {
		`{"kty":"EC","crv":"P-256","x":"a","d":"§K"}`, `{"d":"§K","kty":"EC"}`, `{"kty":"RSA","n":"a","e":"AQAB","d":"§K","p":"§K","q":"§K","dp":"§K","dq":"§K","qi":"§K"}`, `{"kty":"oct","k":"§K"}`, "^{\n  \"kty\": \"OKP\",\n  \"crv\": \"Ed25519\",\n  \"d\": \"§K\"\n}", `msg="{\"kty\":\"EC\",\"d\":\"§K\"}"`,
		`{"keys":[{"kty":"EC","d":"§K"}]}`, `{'kty': 'EC', 'd': '§K'}`,
	},
}

// keptTexts7 look like the kinds of kindTexts7.
var keptTexts7 = []string{
	"abcdef.example0example0", "worker.examplecluster01", "host01.examplecluster01", "node01.controlplane0001.example.com", "master.17a3b4c5d6e7f809", "etcd-0.17a3b4c5d6e7f809", "serial.5000c500a1b2c3d4", "events.k8s.io/v1beta1", "kernel.printkratelimit", "api.v1.x61nnk7piod5fep2.example.com",
	"/tmp/abcdef.controlplane0001", "192.168.100.100:6443", "python3.importlibmetadat", "ignition.platform.id=metal", "host42.x61nnk7piod5fep2.example.com", "libssl.so.1.1", "metal3.provisioning0001", "123456.1234567890123456", "1.23456.1234567890123456", "system.containermetrics1",
	"{\"type\":\"kubernetes.io/host\",\"data\":{\"zz\":\"worker\"}}", "type: kubernetes.io/os\ndata:\n  zz: linux", "kubernetes.io/os: linux\nnode.kubernetes.io/instance-type: m5.xlarge", "type: Ready\ndata:\n  zz: linux", "type: RollingUpdate\nname: x",
	"{\"reason\":\"x\",\"type\":\"bootstrap.kubernetes.io/tokens-are-gone\"}", "failed to find Secret of type kubernetes.io/basic-auth",
	"Authorization: header is missing", "Authorization failed: token is missing", "authorization: mode Webhook is on", "Proxy-Authorization: required", "authorization: RBAC denied the request", "Authorization: scheme Signature is not known",
	`"url":"https:\/\/h:8443\/x"`, `"image":"https:\/\/quay.io\/a\/b@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"`, `"a":"http:\/\/192.0.2.1:22623\/config\/worker"`, `C:\\/x`,
	"script: !vault |\n  systemctl restart kubelet", "description: | # of the host\n  worker of rack 2", "note: !!str |\n  rack 2", "passwordFile: &p /etc/x\nuser: &q root", "password: | # nothing\nuser: root",
	"? name\n: worker-0", "curl -u'root' https://h", "curl -k'https://h'", "{port, \"6443\"}", "{key, \"worker\"}", "labels[\"token\"] = \"x\"", "hosts[\"w1\"] = \"worker-0.example.com\"", "jdbc:oracle:thin:@//h:1521/x", "jdbc:oracle:thin:@h:1521:x",
	`{"kty":"RSA","kid":"a","use":"sig","alg":"RS256","n":"sXchDaQebHnPiGvyDOAT4saGEUetSyo9MKLOoWFsueri","e":"AQAB"}`, `{"kty":"EC","crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}`, `{"d":"sXchDaQebHnPiGvyDOAT4saGEUetSyo9"}`,
}

// TestBlindAttack11: what only looks like these kinds stays, and so does what stands behind a value that was hidden.
func TestBlindAttack11(t *testing.T) {
	s := sanitizer(t, "a")
	ways := sanitizedWays(s)
	for _, text := range keptTexts7 {
		for _, how := range []string{"text", "lines"} {
			if got := ways[how](text); got != text {
				t.Errorf("%s: %q\nbecame %q", how, text, got)
			}
		}
	}
	for _, c := range []struct{ text, kept, gone string }{
		{"curl -H 'Authorization: SharedKey acct:Tern83Wq9xKpTern83' https://h/x", "https://h/x", "Tern83"},
		{"curl -H 'Authorization: AWS4-HMAC-SHA256 Credential=AK/1, Signature=82223c4d077dbbc4' https://h/x", "https://h/x", "82223c4d"},
		{"{\"Authorization\":\"SharedKey acct:Tern83Wq9xKpTern83\",\"Host\":\"h.example.com\"}", "h.example.com", "Tern83"},
		{`"url":"https:\/\/u:Tern83Wq9xKp@h.example.com\/x"`, `@h.example.com\/x`, "Tern83"},
		{"password: !vault |\n  Tern83Wq9xKp\nhost: h1", "host: h1", "Tern83"},
		{"password: | # rotate\n  Tern83Wq9xKp\nhost: h1", "host: h1", "Tern83"},
		{"? password\n: Tern83Wq9xKp\nhost: h1", "host: h1", "Tern83"},
		{"jdbc:oracle:thin:scott/Tern83Wq9xKp@//h1:1521/x", "scott", "Tern83"},
		{"jdbc:oracle:thin:scott/Tern83Wq9xKp@//h1:1521/x", "@//h1:1521/x", "Tern83"},
		{`{"kty":"EC","crv":"P-256","x":"MKBCTNIcKUSDii11","d":"r4gDjboCn8nSRRXYWD6YCJrE0azq2koe"}`, "MKBCTNIcKUSDii11", "r4gDjboC"},
		{"type: kubernetes.io/basic-auth\ndata:\n  zz: Tern83Wq9xKp\nmetadata:\n  name: git", "name: git", "Tern83"},
		{"bootstrap y8gu5d.x61nnk7piod5fep2 used by worker-0.example.com", "used by worker-0.example.com", "x61nnk7p"},
	} {
		for _, how := range []string{"text", "lines"} {
			if got := ways[how](c.text); !strings.Contains(got, c.kept) || strings.Contains(got, c.gone) {
				t.Errorf("%s: %q became %q", how, c.text, got)
			}
		}
	}
}

// TestKubeadmTokens: of random tokens next to nothing is left, and of names of hosts with numbers none is hidden.
func TestKubeadmTokens(t *testing.T) {
	const of = 20_000
	s := sanitizer(t, "a")
	r := rand.New(rand.NewPCG(1, 2))
	left := 0
	for range of {
		token := drawn(r, 6, smallAlnum) + "." + drawn(r, 16, smallAlnum)
		if strings.Contains(s.Text("bootstrap "+token+" used"), token) {
			left++
		}
	}
	t.Logf("%d of %d left", left, of)
	if left*100 > of {
		t.Errorf("%d of %d random tokens are left", left, of)
	}
	words := []string{"master", "worker", "node", "rack", "cluster", "example", "control", "plane", "infra", "host", "site", "prod", "test", "east", "west", "storage", "lark"}
	for range of {
		var name string
		for len(name) < 16 {
			name += words[r.IntN(len(words))]
			if r.IntN(2) == 0 {
				name += drawn(r, 1+r.IntN(2), "0123456789")
			}
		}
		text := words[r.IntN(2)] + "." + name[:16]
		if got := s.Text(text + " is up"); got != text+" is up" {
			t.Fatalf("%q became %q", text, got)
		}
	}
}
