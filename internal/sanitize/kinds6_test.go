package sanitize

import (
	"strings"
	"testing"
)

// kindTexts6 are kinds that a fourth blind attack found, with variations of each.
var kindTexts6 = map[string][]string{
	"flags in lines of their own": {
		"    Args:\n      --api-token\n      §K\n      --root-password\n      §V", "--password\n§V", "Command:\n  tool\n  --bmc-password\n  §W\n  --port\n  443", "\"Cmd\": [\n  \"--password\",\n  \"§V\"\n],",
		"I1120 12:00:00.123456       1 flags.go:1]     --password\nI1120 12:00:00.123456       1 flags.go:1]     §V", "\t--token\n\t§K",
		"2026-11-20T13:55:46.800001Z \"Cmd\": [\n2026-11-20T13:55:46.800002Z   \"--password\",\n2026-11-20T13:55:46.800003Z   \"§V\"\n2026-11-20T13:55:46.800004Z ],",
	},
	"empty cells": {
		" usename |    passwd      | valuntil \n---------+----------------+----------\n app     | §V | \n", "| user | password | note |\n|---|---|---|\n| a | §V |  |\n", " user | password | a | b \n------+----+---+---\n x | §V | 1 | \n",
	},
	"values that are objects": {
		"{\"key\":\"db.password\",\"value\":{\"stringValue\":\"§V\"}}", "- key: db.password\n  value:\n    stringValue: §V", "{\n  \"key\": \"db.password\",\n  \"value\": {\n    \"stringValue\": \"§V\"\n  }\n}",
		"{\"name\": \"API_TOKEN\", \"value\": {\"string\": \"§K\"}}", "- name: BMC_PASSWORD\n  value:\n    literal: §W",
	},
	"strings that a terminal obeys": {
		"\x1b]8;;https://u:§V@h.example.com/\x07click\x1b]8;;\x07", "\x1b]0;password=§V\x07done", "\x1bPpassword=§V\x1b\\done", "a \x1b]2;token: §K\x1b\\ b", "\x1b_password: §V\x1b\\",
	},
	"lists with colons": {
		"file=rbd:vms/disk1:id=libvirt:key=§B:mon_host=192.0.2.40", "rbd:pool/img:key=§B:auth_supported=cephx", "-drive file=rbd:a/b:id=x:key=§B:mon_host=h1",
	},
	"elements with a name": {
		"<key>Password</key>\n<string>§V</string>", "  <name>dfs.admin.password</name>\n  <value>§V</value>", "<key>apiToken</key>\n\t<string>§K</string>",
	},
	"arguments with zeros": {
		"proctitle=69706D69746F6F6C002D5500726F6F74002D5000§Y00706F776572", "proctitle=6375726C002D750061646D696E3A§Y", "ipmitool\x00-U\x00root\x00-P\x00§V\x00power", "tool\x00--password\x00§V\x00run",
	},
	"hexadecimal with a prefix": {
		"data = 0x70617373776f72643d§Y", "\\x70617373776f72643d§Y",
	},
	"lists of numbers": {
		"[112, 97, 115, 115, 119, 111, 114, 100, 61, §C]", "[]byte{0x70, 0x61, 0x73, 0x73, 0x77, 0x6f, 0x72, 0x64, 0x3d, §H}",
	},
	"types between": {
		"api_key: str = '§K'", "let password: string = '§V';", "val password: String = \"§V\"", "let password: &str = \"§V\";", "pub static API_KEY: &'static str = \"§K\";", "def f(password: str = \"§V\"):",
		"var apiToken: String? = \"§K\"",
	},
	"users that are tokens": {"https://§K:x-oauth-basic@github.com/o/r.git"},
	"variables of Terraform": {
		"variable \"bmc_password\" {\n  default = \"§V\"\n}", "variable \"api_token\" {\n  type    = string\n  default = \"§K\"\n}",
	},
	"values in quotes over lines": {
		"^password: \"aaaaaaaaaaaa\n  §V\"\nuser: x", "^password: 'aaaaaaaaaaaa\n  §V'\nuser: x", "^{\"password\":\"aaaaaaaaaaaa\n§V\"}", "^PASSWORD=\"aaaaaaaaaaaa\n§V\"\nUSER=x", "^client_secret: \"Zq4aKaaaaaa8\n  §K\"\n",
	},
	"flags in clusters": {"curl -kuadmin:§V https://h", "curl -kfsSLuadmin:§V https://h", "curl -suadmin:§V -X GET https://h"},
	"tokens that go on": {
		"token: §T§T§K\n§T\nend: x", "API_TOKEN=§T§T§K\n§T", "aws_session_token = §T§T§T§T\n§T§T§T§T\n§T",
	},
	"names that go on": {
		"DB_PASSWORD=\\\n§V", "DB_PASSWORD: \\\n  §V", "db.password = \\\n    §V", "token \\\n§K", "export BMC_PASSWORD=\\\n§V", "ENV API_TOKEN \\\n    §K",
	},
	"encoded fields": {
		"u=a&%70assword=zogido%23§V&s=a", "x?%70%61ssword=ab%26§V", "a=b&passw%6Frd=x%22§V&c=d", "password=zogido%23§V&s=a",
	},
	"base64 that begins as a path": {
		"secret \"/§T§K\"", "err: Unseal Key 1: §B", "msg=\"Unseal Key 1: §B\"", "Unseal Key 2: §B",
	},
}

// keptTexts6 look like the kinds of kindTexts6.
var keptTexts6 = []string{
	"password: \"\nuser: \"root\"\nhost: \"h1\"", "curl -kubernetes https://h1:6443", "def f(password: str, host: str = \"h1.example.com\"):", "key: value\nlong: text that goes on\nhere",
	"Flags:\n  --token\n      the token to use for this\n  --password\n      password of the user", "--password\n--user", "    --kubeconfig\n    /etc/kubernetes/kubeconfig", "  --token-ttl\n  24h0m0s",
	"key=value:other=thing", "key: value: more", " name | key | x \n------+-----+---\n a | b | \n", "- key: example.com/node\n  value:\n    stringValue: worker-0", "\x1b]0;root@control0:~\x07$ ls", "token \\\n  --ttl 0",
	"a=b&%6eame=x%23y&c=d", "path \"/etc/kubernetes/static-pod-resources/kube-apiserver-certs\"", "uid: 9de91a7d-acfe-427f-8220-427532f5b20c", "secret /var/lib/kubelet/pods/9de91a7d-acfe-427f-8220-427532f5b20c",
}

// TestBlindAttack8: what only looks like these kinds stays, and so does what stands behind a value that was hidden.
func TestBlindAttack8(t *testing.T) {
	s := sanitizer(t, "a")
	ways := sanitizedWays(s)
	for _, text := range keptTexts6 {
		for _, how := range []string{"text", "lines"} {
			if got := ways[how](text); got != text {
				t.Errorf("%s: %q\nbecame %q", how, text, got)
			}
		}
	}
	for _, c := range []struct{ text, kept, gone string }{
		{"file=rbd:a/b:key=AQDz2fDidwoWfol5f3qgCvdk9Z4Lf3M7Z4w0YQ==:mon_host=192.0.2.40", ":mon_host=192.0.2.40", "AQDz2f"},
		{"--password\nTern83Wq9xKp\n--host\nbmc1.example.com", "--host\nbmc1.example.com", "Tern83"},
		{"a=b&%70assword=zo%23Tern83Wq9xKp&c=d", "&c=d", "Tern83"},
		{"//npm.example.com/:_authToken=9de91a7d-acfe-427f-8220-427532f5b20c", "//npm.example.com/", "427532f5b20c"},
		{"| user | password |\n|---|---|\n| a | 9de91a7d-acfe-427f-8220-427532f5b20c |", "| a |", "427532f5b20c"},
		{"{\"accessToken\":\"9de91a7d-acfe-427f-8220-427532f5b20c\"}", "accessToken", "427532f5b20c"},
		{"DB_PASSWORD=\\\nTern83Wq9xKp\nDB_HOST=db1.example.com", "DB_HOST=db1.example.com", "Tern83"},
		{"Unseal Key 1: /Gd1VjOJU07hfTdutcbuLx1kNIqOaHHwkj/Qld+OM6//", "Unseal Key 1:", "VjOJU07h"},
		{"  secret \"/TNXfNVCu7W5wepgPPgXlPYKQkyWf7r6SrYpL9S6oI=\";", "secret", "fNVCu7W5"},
	} {
		for _, how := range []string{"text", "lines"} {
			if got := ways[how](c.text); !strings.Contains(got, c.kept) || strings.Contains(got, c.gone) {
				t.Errorf("%s: %q became %q", how, c.text, got)
			}
		}
	}
}
