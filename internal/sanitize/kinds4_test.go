package sanitize

import (
	"fmt"
	"strings"
	"testing"
)

// kindTexts4 are kinds that a blind attack found, with variations of each.
var kindTexts4 = map[string][]string{
	"underlined names": {
		"Data\n====\npassword:\n----\n§V\n\nurl:\n----\nhttp://svc:8080\n", "token:\n----\n§V77\n", "Nov 28 10:12:01 m0 x[1]: admin_password:\nNov 28 10:12:01 m0 x[1]: ----\nNov 28 10:12:01 m0 x[1]: §V\n",
		"db.password:\n----------\n\n§V\n", "password =\n=====\n§V\n", "{\"msg\": \"password:\\n----\\n§V\\n\"}",
	},
	"lists": {
		"passwords: [§V, \"§V\"]\nhosts: [w1.example.com]", "passwords: [§V,'§V']", "passwords: [\"§V\", §V]", "passwords: [\"§V\", §V, '§V', §V, \"§V\"]", "passwords: [ §V , \"§V\" ]", `{"msg":"passwords: [§V, \"§V\"]"}`,
		"bmc: {passwords: [§V, \"§V\", §V], hosts: [a]}", "Passwords=[§V, '§V']", "passwords: [\"§V\", \"§V\"]", "passwords: [§V, §V]",
	},
	"dumps of PHP": {
		"array(2) {\n  [\"user\"]=>\n  string(4) \"root\"\n  [\"password\"]=>\n  string(12) \"§V\"\n}\n", "[\"api_key\"]=>\n  string(20) \"§V9x8\"\n", "[\"password\"]=>  string(12) \"§V\"", "  [\"bmc_passwd\"] =>\n    string(9) \"§V\"",
		"  'password' =>\n  string(12) \"§V\"", "object(Config)#3 (1) {\n  [\"password\":protected]=>\n  string(12) \"§V\"\n}", "  [\"password\":\"Config\":private]=>\n  string(12) \"§V\"", "[\"password\"]=>\n  string(21) \"§V §V\"\n",
	},
	"cells in quotes": {
		"host;bmc_user;bmc_password;mac\nw0;root;\"§V;x §V\";52:54:00:aa:bb:cc\nw1;root;§V;52:54:00:aa:bb:cd", "host,password\nw0,\"§V, 9 §V\"", "host\tpassword\tnote\nw0\t\"§V §V 7\"\tok", "\"host\",\"password\"\n\"w0\",\"#1 §V\"",
	},
	"net use": {
		"PS C:\\> net use Z: \\\\fs01\\iso §V /user:LAB\\svc", "net use \\\\fs01\\iso §V /user:x", "net use * \\\\fs01\\iso$ §V /persistent:no", "net use Z: \"\\\\fs01\\my share\" \"§V\" /user:x", "C:\\>NET USE z: \\\\192.0.2.4\\iso §V",
		"{\"cmd\": \"net use Z: \\\\\\\\fs01\\\\iso §V /user:x\"}", "net use Z: \\\\fs01\\iso /user:x §V",
	},
	"flags of keys": {
		"kubeadm join 192.0.2.5:6443 --certificate-key §N", "kubeadm init --upload-certs --certificate-key=§N", "tool --data-key \"§N\" run", "args: [\"--certificate-key\", \"§N\"]", "kubeadm join x \\\n  --certificate-key \\\n  §N\n",
		"args:\n- --certificate-key\n- §N\n",
	},
	"bytes with sequences": {
		"{\"MESSAGE\":[27,91,51,49,109,112,97,115,115,119,111,114,100,61,§G,27,91,48,109,32,114]}", "[27 91 49 109 112 97 115 115 119 111 114 100 58 32 §I 27 91 48 109]", "dump 1b5b33316d70617373776f72643d§Y1b5b306d",
	},
	"hashes": {
		"\"ops\" \"md5§M\"", "md5§M", "userlist: 'md5§M'", "*§U", "| root | *§U |", "\"*§U\"", "CREATE USER a IDENTIFIED BY PASSWORD '*§U'", "{\"rolpassword\":\"md5§M\"}",
	},
	"texts of many lines": {
		"passphrase = \"\"\"\nfour plain words here\n\"\"\"\nregistry.user = 'x'", "passphrase = '''\nfour plain words here\nand one more\n'''", "password = \"\"\"four plain words here\"\"\"", "password = \"\"\"\nfour plain words here\"\"\"\n[[users]]",
		"password = \"\"\"four plain words here\nand §V\"\"\"", "Nov 28 10:12:01 m0 x[1]: password = \"\"\"\nNov 28 10:12:01 m0 x[1]: four plain words here\nNov 28 10:12:01 m0 x[1]: \"\"\"",
	},
}

// keptTexts4 look like the kinds of kindTexts4.
var keptTexts4 = []string{
	"password:\n---\nkind: ConfigMap", "Passwords\n----\nchanged", "hosts: [a1.example.com, \"b2.example.com\"]", "[\"user\"]=>\n  string(4) \"root4242\"", "host;password\nw0;\"not set yet\"\nw1;\"changed 3 days ago\"",
	"net use failed with system error 53", "net use Z: /delete", "net use \\\\fs01\\iso returned error 53", "--sort-key metadata.creationTimestamp", "--key /etc/kubernetes/pki/apiserver.key --certificate-key-file x",
	"gpg --recv-keys 567E347AD0044ADE55BA8A5F199E2F91FD431D51", "{\"MESSAGE\":[27,91,51,49,109,104,101,108,108,111,32,119,111,114,108,100,27,91,48,109]}", "md5sum: 9e107d9d372bb6826bd81d3542a419d6",
	"md5:9e107d9d372bb6826bd81d3542a419d6", "9E107D9D372BB6826BD81D3542A419D6AABBCCDD *file.iso", "* 3b18e512dba79e4c8300dd08aeb37f8e728b8dad fix", "help = \"\"\"\nfour plain words here\n\"\"\"",
}

// TestBlindAttack: what stands behind a value that was hidden is still there to be read.
func TestBlindAttack(t *testing.T) {
	s := sanitizer(t, "a")
	ways := sanitizedWays(s)
	for _, text := range keptTexts4 {
		for _, how := range []string{"text", "lines"} {
			if got := ways[how](text); got != text {
				t.Errorf("%s: %q\nbecame %q", how, text, got)
			}
		}
	}
	for _, c := range []struct{ text, kept, gone string }{
		{"password:\n----\nTern83Wq9xKp\n\nurl:\n----\nhttp://svc:8080", "url:\n----\nhttp://svc:8080", "Tern83"},
		{"passwords: [Tern83Wq9xKp, \"plovernest\"]\nhosts: [w1.example.com]", "hosts: [w1.example.com]", "plovernest"},
		{"[\"password\"]=>\n  string(12) \"Tern83Wq9xKp\"\n", "string(12) \"[redacted", "Tern83"},
		{"net use Z: \\\\fs01\\iso Tern83Wq9xKp /user:LAB\\svc", "/user:LAB\\svc", "Tern83"},
		{"passphrase = \"\"\"\nfour plain words here\n\"\"\"\nregistry = \"quay.io\"", "\"\"\"\nregistry = \"quay.io\"", "four plain"},
		{"password = '''\none\ntwo words'''\nuser = \"root\"", "user = \"root\"", "two words"},
	} {
		for _, how := range []string{"text", "lines"} {
			if got := ways[how](c.text); !strings.Contains(got, c.kept) || strings.Contains(got, c.gone) {
				t.Errorf("%s: %q became %q", how, c.text, got)
			}
		}
	}
}

// numbersOf prints the bytes of a value.
func numbersOf(v, sign string) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint([]byte(v)), " ", sign), "[]")
}
