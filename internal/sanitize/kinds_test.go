package sanitize

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// kindValues are what stands for §V, in turn.
var kindValues = []string{"Tern83Wq9xKp", "correcthorsebattery", "hunter2X", "osprey44wall", "Kf8Wq3Lm5Xz2RbV7", "plovernest"}

// kindTexts are the kinds in which attackers found secrets, with variations of each. Every §V is a
// secret, §W one that is a word, §S a short one, §B one in base64, §H, §D and §C its bytes as numbers.
// §J begins a token and §K continues it, §P is a group of the password of kubeadmin and §Q one without
// its first letter. §N, §M and §U are 64, 32 and 40 hexadecimal digits, §G and §I are a value as numbers,
// §Y in hexadecimal. §O is a token of kubeadm, §T is random, §X a text in hexadecimal.
// §w is a key of WireGuard, §7 a password as Cisco encodes it. §A, §a, §E and §k are parts of tokens, §b is a key in base64; §q, §h, §i and §g are named secrets as numbers. ^ says that no single line tells.
var kindTexts = map[string][]string{
	"bytes": nil,
	"kernel arguments": {
		"BOOT_IMAGE=(hd0,gpt3)/vmlinuz root=UUID=0242ac11-7c3d-4e8a-9f12-3b4c5d6e7f80 rd.iscsi.password=§V quiet", "Kernel command line: ip=dhcp rd.iscsi.in.password=§V rw",
		"cmdline: rd.neednet=1 inst.rdppassword=§V coreos.inst.install_dev=sda", "kernelArguments:\n- rd.luks.passphrase=§V\n- quiet", `kernelArguments: ["console=ttyS0","foo.secretKey=§V"]`,
		"kernelArguments: [console=ttyS0, rd.iscsi.password=§V]", "netroot=iscsi:chap:§V@192.0.2.1::3260::iqn.2004-01.com.example:disk", "coreos.inst.ignition_url=https://u:§V@192.0.2.1/m.ign",
		"systemd.set_credential=mypassword:§V", "rpm-ostree kargs --append=rd.iscsi.password=§V", "rpm-ostree kargs --append rd.iscsi.password=§V --delete quiet", "options root=/dev/sda4 bmc_password=§V ignition.platform.id=metal",
		"append initrd=x inst.vncpassword=§V inst.ks=http://192.0.2.1/ks", `linux /vmlinuz vault_token=s.§V8 rw`, "kargs: luks_passphrase=§V", "kernel: Command line: BOOT_IMAGE=/vmlinuz admin_pass=§V",
		"GRUB_CMDLINE_LINUX=\"rd.iscsi.password=§V quiet\"", "kernelParams: 'nofb nomodeset ipa-api-password=§V'", "/proc/cmdline: a=b agent_token=§V9x8 c=d",
	},
	"systemd": {
		"Environment=\"DB_PASSWORD=§V\" \"MODE=x\"", "Environment=MODE=x DB_PASSWORD=§V", "Environment='DB_PASSWORD=§V'", "Environment=\"A=b\" 'API_TOKEN=§V77'", "[Service]\nEnvironment=REGISTRY_PASSWORD=§V\nExecStart=/usr/bin/x",
		"ExecStart=/usr/bin/agent --url https://x --password §V --verbose", "ExecStart=/usr/bin/agent --password=§V", "ExecStart=/bin/sh -c 'exec agent --admin-password \"§V\"'", "ExecStartPre=-/usr/bin/podman login -u x -p §V quay.io",
		"ExecStart=/usr/bin/podman run -e DB_PASSWORD=§V img", "SetCredential=bmc-password:§V", "ExecStart=/usr/bin/curl -u admin:§V https://192.0.2.1/ \\\n  -k", "Environment: DB_PASSWORD=§V MODE=x", "Environment=DB_PASSWORD=\"§V\"",
		`"Environment=DB_PASSWORD=§V"`, "[Unit]\nDescription=x\n[Service]\nEnvironment=\"ADMIN_PASS=§V with blanks\"", "DefaultEnvironment=\"DB_PASSWORD=§V\"", "systemctl set-environment DB_PASSWORD=§V", "systemd-run --setenv=DB_PASSWORD=§V cmd", "systemd-run -E DB_PASSWORD=§V cmd",
	},
	"secret objects": {
		"{apiVersion: v1, kind: Secret, metadata: {name: x}, data: {x: §B}}", "{apiVersion: v1, data: {x: §B}, kind: Secret}", "applied {kind: Secret, stringData: {x: §V, y: §V}} to x", `{"kind":"Secret","apiVersion":"v1","data":{"x":"§B"}}`,
		`msg="{\"kind\":\"Secret\",\"apiVersion\":\"v1\",\"data\":{\"x\":\"§B\"}}" level=info`, `{"msg":"{\\\"kind\\\":\\\"Secret\\\",\\\"data\\\":{\\\"x\\\":\\\"§B\\\"}}"}`, `kubectl.kubernetes.io/last-applied-configuration: {"apiVersion":"v1","data":{"x":"§B"},"kind":"Secret","metadata":{"name":"x"}}`,
		"    kubectl.kubernetes.io/last-applied-configuration: |\n      {\"apiVersion\":\"v1\",\"data\":{\"x\":\"§B\"},\"kind\":\"Secret\"}", "map[apiVersion:v1 data:map[x:§B y:§B] kind:Secret metadata:map[name:x]]", "map[apiVersion:v1 kind:Secret stringData:map[x:§V]]",
		`&v1.Secret{TypeMeta:v1.TypeMeta{Kind:"", APIVersion:""}, Data:map[string][]uint8{"x":[]uint8{§H}}, Type:"Opaque"}`, `v1.Secret{ObjectMeta:v1.ObjectMeta{Name:"x"}, StringData:map[string]string{"x":"§V"}}`, `&corev1.Secret{Data: map[string][]byte{"x": []byte("§V")}}`,
		"&Secret{ObjectMeta:{x  y    0 0001-01-01 00:00:00 +0000 UTC},Data:map[string][]byte{x: [§D],},Type:Opaque,StringData:map[string]string{},Immutable:nil,}", "{TypeMeta:{Kind:Secret APIVersion:v1} ObjectMeta:{Name:x} Immutable:<nil> Data:map[x:[§D]] StringData:map[] Type:Opaque}",
		"{TypeMeta:{Kind: APIVersion:} ObjectMeta:{Name:x} Immutable:<nil> Data:map[x:[§D]] StringData:map[] Type:Opaque}", "{TypeMeta:{Kind: APIVersion:} ObjectMeta:{Name:x} Data:map[] StringData:map[x:§V] Type:Opaque}", "{'apiVersion': 'v1', 'kind': 'Secret', 'data': {'x': '§B'}}", "{'api_version': 'v1', 'data': {'x': '§B'}, 'kind': 'Secret', 'string_data': None}",
		"{'kind': 'Secret', 'string_data': {'x': '§V'}}", "{u'kind': u'Secret', u'data': {u'x': u'§B'}}", `{:kind=>"Secret", :data=>{:x=>"§B"}}`, `{"kind"=>"Secret", "stringData"=>{"x"=>"§V"}}`, `#<Kubeclient::Resource kind="Secret", data={:x=>"§B"}>`,
		`["kind"]=> string(6) "Secret" ["data"]=> array(1) { ["x"]=> string(16) "§B" }`, `[kind] => Secret [data] => Array ( [x] => §B )`, `'kind' => 'Secret', 'data' => array ( 'x' => '§B', )`, "class V1Secret { data: {x=§B} kind: Secret }", "Secret(apiVersion=v1, data={x=§B}, kind=Secret)",
		`Secret { data: Some({"x": ByteString([§C])}), string_data: None }`, "{ kind: 'Secret', data: { x: '§B' } }", "^kind: Secret\nmetadata:\n  name: x\nstringData:\n  x: §V\n  y: |\n    §V\n", "^apiVersion: v1\ndata:\n  x: §B\nkind: Secret\n", "^- apiVersion: v1\n  kind: Secret\n  data:\n    x: §B\n",
		"^E1127 10:00:00.000000       1 x.go:1] kind: Secret\nE1127 10:00:00.000000       1 x.go:1] data:\nE1127 10:00:00.000000       1 x.go:1]   x: §B\n", "apply failed: {\"kind\":\"SecretList\",\"items\":[{\"data\":{\"x\":\"§B\"}}]}", "{\"kind\":\"List\",\"items\":[{\"kind\":\"Secret\",\"data\":{\"x\":\"§B\"}}]}",
		`"manifest": "apiVersion: v1\nkind: Secret\ndata:\n  x: §B\n"`, `"manifest": "{apiVersion: v1, kind: Secret, stringData: {x: '§V', y: \"§V\"}}"`, `kind = "Secret" data = { x = "§B" }`, `resource "kubernetes_secret" "x" { data = { x = "§V" } }`, "^kind = \"Secret\"\n[stringData]\nx = \"§V\"\n",
		`{"kind": "Secret", "data": {"x": "§B", "y": "§B"`, "map[password:§V token:§V8 user:root]", "&{password:§V}", `kubectl create: error validating "STDIN": {"apiVersion":"v1","data":{"ca.key":"§B"},"kind":"Secret"}`, "<Secret><data><x>§B</x></data></Secret>",
		`{"object":{"kind":"Secret","stringData":{"a}b":"§V","c":"{§V"}}}`, `{"data":{"x":"§B"},"type":"Opaque"}`, `{"data":{"tls.key":"§B"},"type":"kubernetes.io/tls"}`, `data: {x: §B}, type: Opaque`,
	},
	"sequences": {
		"password: \x1b]0;t\x07§V", "pass\x1b]8;;http://x\x1b\\word: §V", "\x1b[2Kpassword=\x1b[1;1H§V", "password:\x1b[1C§V", "pass\x1bP1$r\x1b\\word: §V", "password\u009b31m: §V", "pass\u009d0;x\u009cword=§V", "p\bpa\bas\bss\bsw\bwo\bor\brd\bd: §V",
		"passx\bword: §V", "password:\r§V", "password\r: §V", "\x1b(Bpassword\x1b(B: §V", "\x1b7password\x1b8=§V", "\x1b[?25lpassword: §V\x1b[?25h", "{\"pass\x1b[0mword\":\"§V\"}", "export \x1b[1mPASSWORD\x1b[0m='§V'", "pass\x07word: §V", "password\x0b:\x0c§V", "\x1b[Kpassword: §V\x1b[K",
		`{"msg":"pass\u001b[2Kword: §V"}`, `"\u001b]0;x\u0007password: §V"`, `"pass\u0008word: §V"`, `"password:\r§V"`, `"pass\x1b[1Kword=§V"`, `"\033[Kpassword: §V"`,
	},
	"changes": {
		"password: §V -> §V", "password: \"§V\" -> \"§V\"", "password: '§V' => '§V'", "password = §V → §V", "~ password = \"§V\" -> \"§V\"", "password changed from §V8 to §V8", "password changed from '§V' to '§V'", "changed password from \"§V\" to \"§V\"", "the password was changed from §V4 to §V4",
		"-password: §V\n+password: §V", "- password: §V\n+ password: §V", "-  password: §V", "+    bmcPassword: \"§V\"", "- \"password\": \"§V\",", "+\tPassword: \"§V\",", "-\tPassword: string(\"§V\"),", "  Password: \"§V\" != \"§V\"", "@@ -1,2 +1,2 @@\n-password=§V\n+password=§V", "+export DB_PASSWORD=§V", "-DB_PASSWORD=§V with blanks",
		`[{"op":"replace","path":"/spec/password","value":"§V"}]`, `{"value":"§V","path":"/spec/password","op":"add"}`, `[{"op":"test","path":"/spec/bmc/password","value":"§V"},{"op":"replace","path":"/spec/bmc/password","value":"§V"}]`, "^- op: replace\n  path: /spec/password\n  value: §V", "{op: add, path: /spec/password, value: §V}",
		`{\"op\":\"replace\",\"path\":\"/spec/password\",\"value\":\"§V\"}`, "map[op:replace path:/spec/password value:§V]", `[{'op': 'add', 'path': '/spec/password', 'value': '§V'}]`, `{"spec":{"password":"§V"}}`, `{"field":"password","old":"§V","new":"§V"}`, `{"name":"password","oldValue":"§V","newValue":"§V"}`, `{"attribute":"password","from":"§V","to":"§V"}`,
		"spec.password: §V -> §V", "password: §V (was §V)", "password \"§V\" replaced by \"§V\"", "replaced password '§V' with '§V'", "set password from §V3 to §V3", "< password: §V\n---\n> password: §V", "! password: §V", "update password: old=§V new=§V", "updated password (old: §V, new: §V)", "^object.Spec.Password:\n  a: \"§V\"\n  b: \"§V\"",
		`"password": ["§V", "§V"]`, "password: {old: §V, new: §V}", `"password": {"old": "§V", "new": "§V"}`, "password: from=§V to=§V", `password: "§V" to "§V"`, "password: expected §V4, got §V4", "password mismatch: want \"§V\", got \"§V\"", "password: want '§V', have '§V'",
	},
	"shell": {
		"PASSWORD='§V'\"§V\"$'§V'", "export PASSWORD=\"§V\"'§V'", "PASSWORD=§V'§V'", "PASSWORD=$'§V\\x41'", "export PASSWORD=§V\\ §V\\ §V", "--password '§V §V §V'", "--password \"§V and §V\"", "--password=§V\\ §V", "--password='§V'\"'\"'§V'", "tool --password='§V §V' --x", "tool --admin-password \"§V\"'§V' x", "mysql -p'§V' db", "mysql -p\"§V\" db",
		"sshpass -p '§V §V' ssh x", "export PASSWORD='§V §V'", "export DB_PASSWORD=\"§V §V\"", "read -s PASSWORD <<< '§V'", "read -rs PW <<< §V", "^passwd --stdin core <<EOF\n§V\nEOF", "^oc login --password-stdin <<EOF\n§V\nEOF", "^cat <<EOF | podman login --password-stdin -u x quay.io\n§V\nEOF", "^PASSWORD=$(cat <<EOF\n§V\nEOF\n)",
		"cat <<EOF > x\npassword=§V\nEOF", "cat <<'EOF' > x\npassword: §V §V\nEOF", "+ PASSWORD=§V", "++ export 'PASSWORD=§V §V'", "+ export PASSWORD=§V", "declare -x PASSWORD=\"§V §V\"", "local password=§V", "readonly PASSWORD='§V'", "typeset -x PASSWORD=§V", "env PASSWORD=§V cmd", "sudo PASSWORD=§V cmd", "PASSWORD=§V; export PASSWORD", "set -x PASSWORD '§V'", "setenv PASSWORD '§V'",
		": \"${PASSWORD:=§V}\"", "${PASSWORD:-§V}", "PASSWORD=${PASSWORD:-§V}", "SET \"PASSWORD=§V\"", "set PASSWORD=§V §V", "$PASSWORD = '§V'", "$env:PASSWORD = \"§V §V\"", "bash -c \"export PASSWORD='§V'\"", "sh -c 'PASSWORD=§V cmd'", "sh -c \"tool --password '§V'\"", "ssh x \"PASSWORD=\\\"§V\\\" cmd\"", "export PASSWORD=`echo §V`", "export PASSWORD=$(echo §V)", "PASSWORD=$(echo '§V' | base64 -d)",
		"echo '§V §V' | passwd --stdin core", "echo \"§V §V\" | podman login --password-stdin -u x y", "printf '%s\\n' '§V §V' | sudo -S ls", "printf '%s\\n' \"§V\" | passwd --stdin x", "echo -e '§V\\n§V' | passwd core", "echo \"core:§V §V\" | chpasswd", "export A=b PASSWORD=§V C=d", "PASSWORD+='§V'", "PASSWORD[0]='§V'", "IPMI_PASSWORD='§V' ipmitool -E power status", "ipmitool -U root -P '§V §V' power on", "ipmitool -U root -P §V\\ §V power on",
		"curl -u 'admin:§V §V' https://x", "curl -u admin:\"§V\" https://x", "curl -uadmin:§V https://x", "curl --user=admin:§V https://x", "wget --password='§V §V' y", "curl -d password=§V x", "curl --data-urlencode 'password=§V' x", "curl -H \"X-Auth-Token: §V88\" x", "curl --json '{\"password\":\"§V\"}' x", "curl -F password=§V x", "http POST x password=§V", "^mysql --password \\\n  '§V §V' db",
	},
	"names": {
		"{\"\\u0070assword\":\"§V\"}", "{\"pass\\u0077ord\":\"§V\"}", "{\\\"\\\\u0070assword\\\":\\\"§V\\\"}", "pass\u200bword: §V", "pass\u2060word=§V", "\u202epassword: §V", "ｐａｓｓｗｏｒｄ: §V", "ｐａｓｓｗｏｒｄ＝§V", "%70assword=§V", "pass%77ord=§V", "?pass%77ord=§V&x=y", "user%5Bpassword%5D=§V", "user[password]=§V", "user[login][password]=§V&x=1", "a[password]=§V", "params['password'] = '§V'", "params[\"password\"]=\"§V\"",
		"passwords[0]=§V", "password[0]: §V", "PassWord: §V", "PASSWORD=§V", "pass-word: §V", "pass_word=§V", "passWord=§V", "user.pass.word=§V", "bmc.credentials.password: §V", "spec.bmc.password=§V", "newPassword: §V", "password_confirmation=§V", "passwordConfirm: §V", "confirm_password=§V", "oldPassword=§V", "password2: §V", "password-1: §V", "adminPasswordPlain: §V", "the.password.value=§V",
		"password/admin: §V", "&#112;assword: §V", "&#x70;assword=§V", "pa&shy;ssword: §V", "\\x70assword: §V", "\\160assword=§V", "рassword: §V", "pаssword=§V", "𝗽𝗮𝘀𝘀𝘄𝗼𝗿𝗱: §V", "password\u00a0: §V", "password :§V", "password\t=\t§V", "self.password = \"§V\"", "this.password=\"§V\";", "obj->password = \"§V\";", "$user->password='§V'", "user::password = \"§V\"", "@password = \"§V\"", "$password = \"§V\"",
		"password*: §V", "`password`: §V", "**password**: §V", "_password_: §V", "<b>password</b>: §V", "[password]: §V", "(password): §V", "{password}: §V", "password?: §V", "\"password\" : \"§V\"", "'password':'§V'", "password:=§V", "password~=§V", "password==§V", "password===\"§V\"", "password is: §V", "password was '§V'", "clientSecret: §V", "client-secret=§V", "CLIENT_SECRET=§V", "passphrase=§V", "passcode: §V", "bmcPassword=§V", "ilo.pwd: §V33",
		"PGPASSWORD=§V psql", "MYSQL_PWD=§V9 mysql", "SSHPASS=§V9 sshpass -e ssh x", "RESTIC_PASSWORD=§V", "VNC_PASSWD=§V", "sudo_pass: §V9", "ansible_ssh_pass=§V9", "ansible_become_pass=§V9 x", "ansible_password: §V",
	},
	"words": {
		"password: correcthorsebattery §W", "password: §W", "password=§W", "password = §W", "\"password\":\"§W\"", "password: '§W'", "Password: §W", "user: root, password: §W", "user=root password=§W host=x", "login with password=§W failed", "DB_PASSWORD=§W", "passphrase: §W", "psk=§W", "bmc password: §W", "<password>§W</password>", "password => §W", "{password: §W}", "[password=§W]",
		"password: §S", "password=§S", "\"password\":\"§S\"", "password: '§S'", "x password=§S y", "{password:§S user:root}", "passwd: §S", "passphrase=§S", "psk=§S", "BMC_PASSWORD=§S", "password: §V §V §V", "password: \"§V §V\"", "password='§V, §V'", "password=\"§V; §V\"", "  bmcPassword: my §W §S", "password: §V, §V", "PASSWORD=\"§W §W\"",
		"<password>§W §W</password>", "password: >-\n  §V §V", "^password: |\n  §V §V\n  §V", "{\"password\":\"§W §W\"}", "{'password': '§W §W'}", "Password: \"§W\"", "password: !§W", "password: §W!", "password=§W@§S", "password=#§W", "password=§W#§S", "password=a&§W", "password=§W%20§W", "password=§W/§W", "--password §W", "--password=§S", "ipmitool -P §S power", "sshpass -p §W ssh",
	},
}

// namedPairs are secrets with names of all families and cases.
var namedPairs = []string{"bindPassword: %s\nurl: ldaps://dc1\n", "Password: %s\n", "psk=%s", "{\"apiKey\":\"%s\"}", "{\"clientSecret\": \"%s\"}", "accessToken=%s",
	"secret_key=%s", "DB_PASSWORD=%s", "https://root:%s@bmc1/", "Authorization: Bearer %s", "PassPhrase = %s"}

// fill replaces the signs of a text by secrets and returns them.
func fill(r *rand.Rand, text string) (string, []string) {
	var secrets []string
	short := []string{"abcd", "kiwi", "qx7z", "lemons", "Zebra", "tiger9x", "marmoset"}
	words := []string{"correcthorsebattery", "sunshine", "plovernest", "trustnoone", "calvinist", "Wintergarden"}
	var b strings.Builder
	for {
		at := strings.Index(text, "§")
		if at < 0 {
			b.WriteString(text)
			return b.String(), secrets
		}
		sign := text[at+len("§")]
		b.WriteString(text[:at])
		text = text[at+len("§")+1:]
		v := kindValues[r.IntN(len(kindValues))]
		shown := v
		switch sign {
		case 'S':
			shown = short[r.IntN(len(short))]
		case 'W':
			shown = words[r.IntN(len(words))]
		case 'B':
			shown = base64.StdEncoding.EncodeToString([]byte(v + "qr" + v))
		case 'J':
			shown = "eyJhbGciOiJSUzI1NiIsImtpZCI6" + drawn(r, 40, alnum) + "." + drawn(r, 40, alnum)
		case 'K':
			shown = drawn(r, 30, alnum)
		case 'P', 'Q': // a group of the password of kubeadmin, or one of which the first letter is elsewhere
			shown = drawn(r, map[byte]int{'P': 5, 'Q': 4}[sign], "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789")
			if len(secrets) == 0 {
				shown = "bR7k9"[:len(shown)]
			}
		case 'T':
			shown = drawn(r, 28, alnum)
		case 'A', 'a', 'k': // the random part of a token
			shown = drawn(r, map[byte]int{'A': 34, 'a': 20, 'k': 32}[sign], alnum)
		case 'E':
			shown = drawn(r, 16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
		case 'b':
			shown = base64.StdEncoding.EncodeToString([]byte(drawn(r, 32, alnum)))
		case 'q', 'i', 'g', 'h': // a named secret in hexadecimal and as numbers
			named := fmt.Sprintf(namedPairs[r.IntN(len(namedPairs))], v+drawn(r, 8, alnum))
			shown = hex.EncodeToString([]byte(named))
			switch sign {
			case 'i', 'g':
				shown = numbersOf(named, map[byte]string{'g': ",", 'i': " "}[sign])
			case 'h':
				shown = strings.ToUpper(shown)
			}
		case 'O':
			shown = drawn(r, 6, smallAlnum) + "." + drawn(r, 16, smallAlnum)
		case 'w': // a key of WireGuard
			shown = drawn(r, 42, alnum) + "8="
		case '7': // as Cisco encodes a password
			shown = fmt.Sprintf("%02d", r.IntN(16)) + drawn(r, 18, "0123456789ABCDEF")
		case 'X':
			shown = hex.EncodeToString([]byte("password=" + v + drawn(r, 8, alnum)))
		case 'N':
			shown = drawn(r, 64, "0123456789abcdef")
		case 'M':
			shown = drawn(r, 32, "0123456789abcdef")
		case 'U':
			shown = drawn(r, 40, "0123456789ABCDEF")
		case 'G', 'I':
			shown = numbersOf(v, map[byte]string{'G': ",", 'I': " "}[sign])
		case 'Y':
			shown = hex.EncodeToString([]byte(v))
		case 'H', 'D', 'C':
			var parts []string
			for _, c := range []byte(v) {
				parts = append(parts, map[byte]string{'H': fmt.Sprintf("%#x", c), 'D': fmt.Sprint(c), 'C': fmt.Sprint(c)}[sign])
			}
			shown = strings.Join(parts, map[byte]string{'H': ", ", 'D': " ", 'C': ", "}[sign])
		}
		secrets = append(secrets, shown)
		b.WriteString(shown)
	}
}

func sanitizedWays(s *Sanitizer) map[string]func(string) string {
	return map[string]func(string) string{
		"text": s.Text, "message": s.Message,
		"lines": func(v string) string {
			stream := s.Lines()
			var out []string
			for line := range strings.SplitSeq(v, "\n") {
				out = append(out, stream.Line(line))
			}
			return strings.Join(out, "\n")
		},
		"object": func(v string) string {
			o := evidence.Object{Resource: evidence.ConfigMaps, Content: map[string]any{"data": map[string]any{"text": v}}}
			s.Object(o.Resource.Group, o.Resource.Name, o.Content)
			return evidence.String(o.Content, "data", "text")
		},
	}
}

// TestKinds holds the kinds that attackers found: no secret is left, and the second pass finds nothing new.
func TestKinds(t *testing.T) {
	s := sanitizer(t, "a")
	ways := sanitizedWays(s)
	kinds := maps.Clone(kindTexts)
	maps.Copy(kinds, kindTexts3)
	maps.Copy(kinds, kindTexts4)
	maps.Copy(kinds, kindTexts5)
	maps.Copy(kinds, kindTexts6)
	maps.Copy(kinds, kindTexts7)
	maps.Copy(kinds, kindTexts8)
	maps.Copy(kinds, kindTexts9)
	maps.Copy(kinds, kindTexts10)
	maps.Copy(kinds, kindTexts11)
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		texts := slices.Concat(kindTexts[kind], kindTexts2[kind], kindTexts3[kind], kindTexts4[kind], kindTexts5[kind], kindTexts6[kind], kindTexts7[kind], kindTexts8[kind],
			kindTexts9[kind], kindTexts10[kind], kindTexts11[kind])
		left, of := 0, 0
		for _, text := range texts {
			text, whole := strings.CutPrefix(text, "^")
			bad := map[string]string{}
			for n := range 6 {
				planted, secrets := fill(rand.New(rand.NewPCG(uint64(n), 7)), text)
				for how, clean := range ways {
					if how == "lines" && whole {
						continue
					}
					got := clean(planted)
					of++
					if again := clean(got); again != got {
						t.Errorf("%s, %s: not the same twice:\n%q\n%q", kind, how, got, again)
					}
					for _, secret := range secrets {
						if leaks(got, secret) != "" {
							bad[how] = got
							left++
							break
						}
					}
				}
			}
			if len(bad) > 0 {
				t.Errorf("%s: %q: %q", kind, text, bad)
			}
		}
		t.Logf("%s: %d of %d left", kind, left, of)
	}
}
