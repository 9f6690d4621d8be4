package sanitize

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"unicode/utf16"

	"github.com/klauspost/compress/gzip"
)

// This file is the grammar that secrets are planted with: values of 8 to 40 characters, names of
// every family, and the forms in which a program prints a name and its value.

// alphabets make values. Each returns n characters, or a few more where words end.
var alphabets = []struct {
	name string
	of   func(r *rand.Rand, n int) string
}{
	{"letters and digits", func(r *rand.Rand, n int) string { return drawn(r, n, alnum) }},
	{"lower case and digits", func(r *rand.Rand, n int) string { return drawn(r, n, "abcdefghijklmnopqrstuvwxyz0123456789") }},
	{"hexadecimal", func(r *rand.Rand, n int) string { return drawn(r, n, "0123456789abcdef") }},
	{"base64", func(r *rand.Rand, n int) string { return drawn(r, n, alnum+"+/") }},
	{"base64 of URLs", func(r *rand.Rand, n int) string { return drawn(r, n, alnum+"-_") }},
	{"letters, digits and signs", func(r *rand.Rand, n int) string { return drawn(r, n, alnum+"!^*+.~_") }},
	{"words and digits", func(r *rand.Rand, n int) string {
		return wordsOf(r, n-3, false) + drawn(r, 3, "0123456789")
	}},
	{"CamelCase and digits", func(r *rand.Rand, n int) string {
		return wordsOf(r, n/2, true) + drawn(r, 1, "0123456789") + wordsOf(r, n/2-2, true) + drawn(r, 1, "0123456789")
	}},
	{"CamelCase", func(r *rand.Rand, n int) string { return wordsOf(r, n, true) }},
	{"words", func(r *rand.Rand, n int) string { return wordsOf(r, n, false) }},
}

const alnum = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// drawn returns n characters of an alphabet of which the first two are a letter and a digit where
// it has both: what has no digit at all is CamelCase or a word.
func drawn(r *rand.Rand, n int, of string) string {
	for {
		b := make([]byte, n)
		for i := range b {
			b[i] = of[r.IntN(len(of))]
		}
		v := string(b)
		if n < 4 || strings.ContainsAny(v, "0123456789") && strings.ContainsAny(v[:1], alnum) && strings.ContainsAny(v[n-1:], alnum) &&
			strings.ContainsAny(strings.ToLower(v), "abcdefghijklmnopqrstuvwxyz") {
			return v
		}
	}
}

// wordsOf returns pronounceable words of n characters at least.
func wordsOf(r *rand.Rand, n int, camel bool) string {
	var b strings.Builder
	for b.Len() < n {
		for i := range 2 + r.IntN(2) {
			part := drawn(r, 1, "bdfgklmnprstvz") + drawn(r, 1, "aeiou")
			if camel && i == 0 {
				part = strings.ToUpper(part[:1]) + part[1:]
			}
			b.WriteString(part)
		}
	}
	return b.String()
}

// A family is a kind of names with the alphabets that a value beside one is drawn from.
var families = []struct {
	name  string
	names []string
	least int  // characters of a value
	sure  bool // the names leave no doubt
	words bool // also values that are words without a digit
}{
	{"password", []string{"password", "Password", "passwd", "bmcPassword", "DB_PASSWORD", "admin-password", "ipmi_pass", "dbPwd", "passphrase", "ssh-passphrase",
		"keystorePassword", "passcode", "password_in", "rootPassword2", "Passwort", "user.password"}, 8, true, true},
	{"secret", []string{"clientSecret", "client_secret", "webhookSecret", "CLIENT_SECRET", "oauth-secret", "shared_secret", "app.secret", "consumerSecret"}, 8, true, false},
	{"token", []string{"token", "accessToken", "refresh_token", "API_TOKEN", "bearer-token", "sessionToken", "registrationToken", "bot_token"}, 8, false, false},
	{"named key", []string{"apiKey", "api_key", "secretKey", "secret_access_key", "privateKey", "encryption_key", "signing_key", "hmacKey", "masterKey",
		"fernet_key", "vault_unseal_key", "ENCRYPTION_KEY", "presharedKey", "sharedKey", "luksKey", "mka-cak"}, 16, true, false},
	{"credential", []string{"credential", "credentials", "bmcCredential", "db_credentials", "authToken", "auth_key", "db-credential"}, 8, false, false},
}

// quotedIn writes a text as a JSON string, levels times.
func quotedIn(v string, levels int) string {
	for range levels {
		v = strings.ReplaceAll(strings.ReplaceAll(v, `\`, `\\`), `"`, `\"`)
		v = strings.ReplaceAll(v, "\n", `\n`)
	}
	return v
}

func packed(v string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(v))
	_ = z.Close()
	return b.String()
}

func base64Of(v string) string { return base64.StdEncoding.EncodeToString([]byte(v)) }

func utf16Of(v string) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(v)) {
		b.WriteByte(byte(u))
		b.WriteByte(byte(u >> 8))
	}
	return b.String()
}

// A plantedForm writes a name and its value. What must not survive is the value, or what the form
// returns instead: the value as it is written.
type plantedForm struct {
	kind  string
	texts []string // §N and §V stand for the name and the value; ^ says that no single line tells
	write func(name, value string) (text, secret string)
	sure  bool // only names that leave no doubt
	words bool // a word without a digit is told from prose
}

// wordless are texts in which a word without a digit cannot be told from the sentence.
func wordless(kind string, texts ...string) plantedForm { return plantedForm{kind: kind, texts: texts} }

func of(kind string, texts ...string) plantedForm {
	return plantedForm{kind: kind, texts: texts, words: true}
}

func written(kind string, write func(name, value string) (string, string)) plantedForm {
	return plantedForm{kind: kind, write: write, words: true}
}

// plantedForms are all that is measured. A form whose position tells has no §N.
var plantedForms = []plantedForm{
	of("JSON", `{"§N":"§V","user":"root"}`, "{\n  \"user\": \"root\",\n  \"§N\": \"§V\"\n}", `{"a":[{"§N":"§V"}]}`, `{"§N":["§V"]}`),
	written("JSON in a string", func(n, v string) (string, string) {
		return `{"msg":"` + quotedIn(`{"`+n+`":"`+v+`","user":"root"}`, 1) + `"}`, ""
	}),
	written("JSON in strings, four deep", func(n, v string) (string, string) {
		return `{"msg":"` + quotedIn(`{"user":"root","`+n+`":"`+v+`"}`, 4) + `"}`, ""
	}),
	written("JSON, name in escapes", func(n, v string) (string, string) {
		var b strings.Builder
		for i, c := range n {
			if i%2 == 1 {
				fmt.Fprintf(&b, `\u%04x`, c)
			} else {
				b.WriteRune(c)
			}
		}
		return `{"` + b.String() + `":"` + v + `"}`, v
	}),
	of("JSON, name next to value", `{"name":"§N","value":"§V"}`, `{"value":"§V","name":"§N"}`, `{"name":"§N","type":"string","value":"§V"}`,
		"^{\n  \"value\": \"§V\",\n  \"type\": \"x\",\n  \"key\": \"§N\"\n}", `{\"key\":\"§N\",\"value\":\"§V\"}`, `{"Key":"§N","Value":"§V"}`),
	of("YAML", "§N: §V", "a:\n  §N: §V\n  user: root", "§N: \"§V\"", "§N: '§V'", "- §N: §V", "a: {user: root, §N: §V}", "a: {§N: '§V'}", "§N: §V # note", "\"§N\": §V", "^? §N\n: §V", "§N:\n- §V", "§N: [§V]"),
	of("YAML, anchors and tags", "§N: &a §V", "§N: !!str §V", "§N: &a \"§V\"", "a: {§N: &x §V}", "§N: !vault §V"),
	of("YAML, block scalars", "§N: |\n  §V", "§N: >-\n  §V", "§N: |2\n    §V", "a:\n  §N: |\n    §V\n  b: c", "§N:\n  §V"),
	of("YAML, name next to value", "- name: §N\n  value: §V", "^- value: §V\n  name: §N", "- name: §N\n  description: x\n  value: §V", "- {name: §N, value: §V}", "- {value: §V, name: §N}", "- key: §N\n  value: '§V'",
		"- name: \"§N\"\n  value: \"§V\"", "^- value: §V\n  type: x\n  name: §N"),
	of("TOML", `§N = "§V"`, `§N = '§V'`, `§N = """§V"""`, "[a]\n§N = \"§V\"", `a = { §N = "§V", b = 1 }`, `a.§N = "§V"`, `§N = ["§V"]`),
	of("INI and properties", "§N = §V", "§N=§V", "[a]\nuser=root\n§N=§V", "a.b.§N=§V", "§N: §V", "x.§N = §V ; note", "//registry.npmjs.org/:_authToken=§V"),
	of("environment", "export §N=§V", "§N=§V cmd --x", "Environment=\"§N=§V\"", "Environment=§N=§V", "docker run -e §N=§V img", "podman run --env §N=§V img", "env: [§N=§V]", "§N='§V'", `["§N=§V","A=b"]`, "declare -x §N=\"§V\"", "set §N=§V",
		"$env:§N = '§V'", "-D§N=§V", "-p §N=§V", "--set a.§N=§V"),
	of("XML elements", "<§N>§V</§N>", "<ns:§N>§V</ns:§N>", "<§N type=\"x\">§V</§N>", "<§N>\n  §V\n</§N>", "<§N><![CDATA[§V]]></§N>", "&lt;§N&gt;§V&lt;/§N&gt;", `\u003c§N\u003e§V\u003c/§N\u003e`),
	of("XML attributes", `<a user="root" §N="§V"/>`, `<a §N='§V'>`, `<property name="§N" value="§V"/>`, `<property value="§V" name="§N"/>`, `<entry key="§N">§V</entry>`, `<add key="§N" value="§V" />`,
		`<property><name>§N</name><value>§V</value></property>`, "<string name=\"§N\">§V</string>", "<key>§N</key><string>§V</string>"),
	of("flags", "tool --§N=§V --verbose", "tool --§N §V --verbose", "tool --§N '§V' x", `tool --§N "§V"`, `["tool","--§N","§V"]`, `["--§N=§V"]`, "args:\n- --§N\n- §V", "args:\n- --§N=§V", "tool -§N §V", "tool \\\n  --§N \\\n  §V", "[tool --§N §V --x]"),
	of("standard input", "echo §V | podman login --password-stdin -u x quay.io", "echo -n '§V' | docker login -u x --password-stdin", "podman login -u x --password-stdin <<< §V", "podman login --password-stdin quay.io <<<'§V'",
		"printf '%s' '§V' | oc login --password-stdin", "printf §V | skopeo login --password-stdin x", "echo \"§V\" | sudo -S ls", "echo §V|cryptsetup luksOpen /dev/sda x", "cat <<< §V | passwd --stdin core",
		"echo §V | passwd core --stdin", "echo 'core:§V' | chpasswd", "chpasswd <<< 'core:§V'", "chpasswd <<EOF\ncore:§V\nEOF", "kinit admin <<< §V"),
	of("SQL", "CREATE USER 'x'@'%' IDENTIFIED BY '§V'", "ALTER USER x WITH PASSWORD '§V'", "alter role x password '§V';", "GRANT ALL ON a.* TO 'x'@'y' IDENTIFIED BY \"§V\"", "SET PASSWORD FOR 'x'@'y' = PASSWORD('§V')",
		"CREATE USER x IDENTIFIED WITH mysql_native_password BY '§V'", "CREATE USER x ENCRYPTED PASSWORD '§V'", "CREATE LOGIN x WITH PASSWORD = '§V'"),
	of("programs with positions", "ipmitool -I lanplus -H 192.0.2.1 user set password 2 §V", "ipmitool user set password 2 '§V' 20", "ipmitool -U root -P §V power on", "curl -u admin:§V https://192.0.2.1/", "curl --user 'admin:§V' x",
		"wget --user x --password §V y", "sshpass -p §V ssh x", "mysql -uroot -p§V db", "racadm set iDRAC.Users.2.Password §V", "htpasswd -bB users x §V", "openssl x -passin pass:§V", "oc login -u x -p §V https://y", "net user x §V /add",
		"ldapsearch -D cn=x -w §V", "snmpget -v2c -c §V host", "redis-cli -a §V ping", "smbclient -U 'x%§V' //a", "mount -o username=x,password=§V //a /b",
		"useradd -p '§V' x", "virsh secret-set-value u --base64 §V", "ssh-keygen -t rsa -N '§V' -f x", "az login -u x -p §V"),
	of("URLs", "https://root:§V@192.0.2.1/redfish/v1", "connection=mysql://u:§V@db/x", "HTTP_PROXY=u:§V@proxy:3128", "proxy: 'http://u:§V@p:1'", "u:§V@tcp(db:1)/x", "amqp://u:§V@h:5672//", "redis://:§V@h:6379/0"),
	{kind: "URLs, the user is a token", write: func(_, v string) (string, string) {
		v = strings.NewReplacer("/", "_", "+", "-").Replace(v)
		return "https://" + v + "@github.com/a/b", v
	}},
	of("query strings", "GET /x?§N=§V&y=z", "GET /x?y=z&§N=§V HTTP/1.1", "https://a/x?§N=§V", `https://a/x?y=z\u0026§N=§V`, "https://a/x?y=z&amp;§N=§V&amp;b=c", "§N=§V&user=root&b=c", "https://a/cb#§N=§V&x=y", "§N%3D§V%26x%3D1", "u=https%3A%2F%2Fa%2Fx%3F§N%3D§V"),
	of("HTTP headers", "X-§N: §V", "> X-§N: §V", "curl -H 'X-§N: §V' https://a", "X-§N:[§V]", "Authorization: Bearer §V", "Authorization: §V", "Proxy-Authorization: Bearer §V", "Cookie: §N=§V; path=/", "Set-Cookie: §N=§V; HttpOnly", "Authorization: Token token=\"§V\"",
		`{"X-§N":["§V"]}`),
	wordless("tables", "| §N | §V |", "| root | §N | §V |", "§N\t§V", "§N      §V", "§N | §V", "│ §N │ §V │", "§N,§V", "^user      §N\nroot      §V", "^| user | §N |\n|------|---|\n| root | §V |", "^user,§N\nroot,§V", "§N ........ §V", "§N : §V", "^USER\t§N\tROLE\nroot\t§V\tadmin"),
	of("Go, Python and others", "map[§N:§V user:root]", "{§N:§V user:root}", "&{Name:x §N:§V}", `Conf{§N: "§V", A: 1}`, `§N:(string) (len=9) "§V"`, "{'§N': '§V'}", "{u'§N': u'§V'}", "§N => §V", `"§N" => "§V"`, ":§N=>\"§V\"", "§N='§V', user='root'",
		"EnvVar{Name:§N,Value:§V,ValueFrom:nil,}", "{Name:§N Value:§V ValueFrom:<nil>}", "set_§N(\"§V\")", `variable "§N" { default = "§V" }`, "§N := \"§V\"", `os.Setenv("§N", "§V")`, `§N="§V" level=info`),
	of("logs", `level=info msg="login" §N=§V user=root`, `time="x" §N="§V"`, `2026-11-23T01:02:03.000000000Z stdout F §N: §V`, "Nov 23 01:02:03 m0 x[1]: §N=§V", `I1120 12:00:00.123456       1 x.go:1] "x" §N="§V"`, "INFO x §N: §V, user: root", "got §N=§V;", "failed (§N: §V)",
		"[§N=§V]", "Invalid §N: §V", "\"§N: §V\\nuser: x\\n\"", "msg=\"{\\\"§N\\\": \\\"§V\\\"}\""),
	of("kernel arguments", "BOOT_IMAGE=/vmlinuz root=x rd.§N=§V quiet", "kernelArguments:\n- §N=§V\n- quiet", `kernelArguments: ["a=b","§N=§V"]`, "systemd.setenv=§N=§V rw", "GRUB_CMDLINE_LINUX=\"a=b §N=§V\""),
	of("units of systemd", "Environment=A=b §N=§V", "Environment=\"A=b\" \"§N=§V\"", "ExecStart=/usr/bin/x --§N=§V --y", "ExecStart=/usr/bin/podman run -e §N=§V img"),
	of("changes", "§N: \"§V\" -> \"new\"", "§N: \"old\" -> \"§V\"", "~ §N = \"§V\" => \"x\"", "+§N: §V", "-  §N=§V", "+\t\"§N\": \"§V\",", `{"op":"replace","path":"/spec/§N","value":"§V"}`, `{"value":"§V","path":"/spec/§N"}`, `{"field":"§N","old":"§V","new":"y"}`, `{"§N":{"old":"x","new":"§V"}}`),
	of("shell words", "§N='§V'\"x\"", "export §N=\"x\"'§V'", "§N=$'§V'", "++ export '§N=§V'", "§N=$(echo §V)", "§N=${§N:-§V}", "declare -x §N='§V'", "read -s X <<< '§V'", "oc create secret generic x --from-literal=a=§V", "echo '§V' | tee x | sudo -S ls"),
	written("here-documents", func(_, v string) (string, string) { return "passwd --stdin core <<EOF\n" + v + "\nEOF", v }),
	written("other letters", func(n, v string) (string, string) {
		return strings.NewReplacer("a", "\u0430", "s", "\uff53", "o", "\u043e", "k", "\U0001d5f8").Replace(n) + "=" + v, v
	}),
	of("names in percent and entities", "%70§N=§V", "&#112;§N=§V", "x[§N]=§V", "x%5B§N%5D=§V", "\\x70§N: §V"),
	of("sequences of terminals", "§N: \x1b]0;t\x07§V", "§N\x1b[2K=§V", "§N:\x1b[1C§V", "\u009b1m§N: §V", "x\b§N: §V", "§N:\r§V", `\u001b[2K§N=§V`),
	written("Secret in a line of YAML", func(_, v string) (string, string) {
		return "{apiVersion: v1, kind: Secret, data: {x: " + base64Of(v) + "}}", base64Of(v)
	}),
	written("Secret in JSON in a string", func(_, v string) (string, string) {
		return `{"msg":"` + quotedIn(`{"kind":"Secret","stringData":{"x":"`+v+`"}}`, 2) + `"}`, v
	}),
	written("Secret as Go prints it", func(_, v string) (string, string) {
		return fmt.Sprintf(`&v1.Secret{Data:%#v, Type:"Opaque"}`, map[string][]byte{"x": []byte(v)}), strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%#v", []byte(v)), "[]byte{"), "}")
	}),
	written("Secret as Python prints it", func(_, v string) (string, string) { return "{'data': {'x': '" + v + "'}, 'kind': 'Secret'}", v }),
	of("colors", "\x1b[36m§N\x1b[0m=§V", "\x1b[31m§N:\x1b[0m\x1b[33m §V\x1b[0m", "\x1b[1m§N\x1b[0m: \x1b[32m\"§V\"\x1b[0m", "§N: \x1b[38;5;1m§V\x1b[m", `\x1b[36m§N\x1b[0m=§V`),
	written("zero-width characters", func(n, v string) (string, string) {
		return n[:2] + "\u200b" + n[2:] + ": " + v, v
	}),
	written("UTF-16", func(n, v string) (string, string) { return utf16Of(n + ": " + v), utf16Of(v) }),
	written("base64", func(n, v string) (string, string) {
		t := base64Of("user: root\n" + n + ": " + v + "\n")
		return "value: " + t, t
	}),
	written("base64 of base64", func(n, v string) (string, string) {
		t := base64Of("file: " + base64Of("user: root\n"+n+": "+v+"\n") + "\n")
		return "value: " + t, t
	}),
	written("gzip in base64", func(n, v string) (string, string) {
		t := base64Of(packed("user: root\n" + n + ": " + v + "\n"))
		return "value: " + t, t
	}),
	written("data URLs", func(n, v string) (string, string) { return "source: data:," + url.QueryEscape(n+"="+v), "" }),
	{kind: "two words", sure: true, texts: []string{"§N §V", "§N(§V)", "the §N \"§V\" is wrong", "setenv §N §V", "x: §N '§V' was refused", "vault login §V", "expect -c 'send \"§V\\r\"' # password", "nmcli dev wifi connect s §N §V"}},
	wordless("sentences, as an answer", "§N -> §V", "the §N of root was set to §V", "§N is §V", "§N: changed to §V", "§N for root: §V"),
	{kind: "sentences, in passing", texts: []string{"changed §N §V", "got the §N §V from Keystone", "using §N §V"}, sure: true},
}

// plant writes a name and a value in a text of a form.
func (f plantedForm) plant(i int, name, value string) (text, secret string) {
	if f.write != nil {
		text, secret = f.write(name, value)
	} else {
		text = strings.NewReplacer("§N", name, "§V", value).Replace(strings.TrimPrefix(f.texts[i], "^"))
	}
	if secret == "" {
		secret = value
	}
	return text, secret
}
