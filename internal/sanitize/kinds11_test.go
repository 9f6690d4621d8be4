package sanitize

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
)

// kindTexts11 are kinds that a sixteenth blind attack found, with variations of each.
var kindTexts11 = map[string][]string{
	"tables behind a heading": {
		"User Password\n-------------\nfine\nNAME   PASSWORD\nroot   §V", "Password\n--------\nfine\n| user | password |\n|---|---|\n| a | §V |", "passphrase\n==========\nwords\nuser\tpassword\nroot\t§V", "Wifi PSK\n--------\nnone here\nNAME     PASSWORD\nroot     §V\ncore     §V",
		"db_password\n-----------\nfine\n user | password\n------+----------\n root | §V", "client secret\n-------------\nsome words\nfine\nUSER   PASSWORD   SHELL\nroot   §V   bash", "Password\n--------\n§V", "  Password\n  --------\n  fine\nNAME   PASSWORD\nroot   §V",
	},
	"lists with commas": {
		"user, password\nroot, §V", "user, password, shell\nroot, §V, bash\ncore, §V, bash", "  user,password\n  root,§V", "    name,token,age\n    ci,§k,4d", "user; password\nroot; §V", "data:\n  users.csv: |\n    user,password\n    root,§V", "name, token\nci, §k",
	},
	"Secrets with line ends of Windows": {
		"kind: Secret\r\nstringData:\r\n  motto: §W\r\n", "kind: Secret\r\ndata:\r\n  motto: §B\r\n", "type: Opaque\r\nstringData:\r\n  motto: §W\r\n  other: §W\r\n", "apiVersion: v1\r\nkind: Secret\r\nmetadata:\r\n  name: x\r\nstringData:\r\n  a: |\r\n    §W\r\n  b: §W\r\n",
		"kind: List\r\nitems:\r\n- kind: Secret\r\n  stringData:\r\n    motto: §W\r\n", "kind: Secret\r\nstringData: # x\r\n  motto: §W\r\n",
	},
	"Secrets with comments and tags": {
		"kind: Secret\nstringData: # plain\n  motto: §W", "kind: Secret\nstringData:\n# plain\n  motto: §W", "kind: Secret\nstringData: !!map\n  motto: §W", "kind: Secret\nstringData: &d\n  motto: §W", "kind: Secret\nstringData :\n  motto: §W", "kind: Secret\nstringData: &d !!map # x\n  motto: §W",
		"kind: Secret\nstringData:\n{{- if .x }}\n  motto: §W\n{{- end }}\n  other: §W", "kind: Secret # x\nstringData:\n  motto: §W", "kind: SecretList\nitems:\n- stringData:\n    motto: §W", "+kind: Secret\n+stringData:\n+  motto: §W\n+  other: §W", "-kind: Secret\n-stringData:\n-  motto: §W", "kind: Secret\n\"stringData\" :\n  motto: §W",
		"kind : Secret\nstringData:   # x\n  motto: §W", "kind: Secret\nstringData:\n  # of the BMC\n  motto: §W", "kind: Secret\nstringData:\n# a\n# b\n  motto: §W\n# c\n  other: §W", "^kind: Secret\nstringData: !!map {motto: §W}", "^kind: Secret\nstringData: &d {motto: §W}", "+kind: Secret\n+stringData: # x\n+# y\n+  motto: §W",
		"type: Opaque # x\nstringData: # y\n  motto: §W", "kind: Secret\ndata: # encoded\n  motto: §B", "kind: Secret\ndata: &d\n  motto: §B\n  more: §B",
	},
	"texts in strings of JSON": {
		"{\"x\":\"A_PASSWORD='§V'\\nB_PASSWORD=§W\\n\"}", "{\"x\":\"a_password: '§W'\\nb_password: \\\"§W\\\"\\n\"}", "{\"x\":\"A_TOKEN='§k'\\nB_PASSWORD=x\\n\"}", "{\"x\":\"{\\\"y\\\":\\\"A_PASSWORD='§V'\\\\nB_PASSWORD=§W\\\\n\\\"}\"}",
		"{\"x\":\"A_PASSWORD='§V'\\r\\nB_PASSWORD='§W'\\r\\n\"}", "{\"x\":\"password: |\\n  §W\\nuser: a\\n\"}", "{\"x\":\"password: >-\\n  §W\\nuser: a\\n\"}", "{\"x\":\"password:\\n  §W\\nuser: a\\n\"}", "{\"x\":\"password = \\\"\\\"\\\"§V\\\"\\\"\\\"\\n\"}", "{\"x\":\"db.password=\\\\\\n  §V\\n\"}",
		"{\"x\":\"chpasswd:\\n  list: |\\n    root:§V\\n    core:§W\\n\"}", "{\"x\":\"passwd --stdin root <<EOF\\n§V\\nEOF\\n\"}", "{\"x\":\"docker login --password-stdin <<EOF\\n§W\\nEOF\\nls\\n\"}", "msg=\"write a_password: '§W'\\nb: x\\n\"", "{\"x\":\"a: 1\\npassphrase: |2\\n  §W\\nb: 2\"}",
		"{\"y\":\"bmc:\\n  password:\\n    §W\\n  user: x\"}", "{\"x\":\"admin_password: |\\n  §W\",\"y\":\"x\"}", "{\"x\":\"user: a\\nSSH_PASS='§V'\\nDB_PASS='§V'\\nX_TOKEN='§k'\\n\"}",
	},
	"lists of chpasswd": {
		"chpasswd:\n  list: \"root:§V\\ncore:§W\"", "chpasswd:\n  list: root:§V", "chpasswd:\n  list: [root:§V]", "chpasswd:\n  list: [\"root:§W\", \"core:§V\"]", "chpasswd: # x\n  list: |\n    root:§W\n    core:§V", "chpasswd:\n  expire: false\n  list: 'root:§W'",
	},
	"statements in other spellings": {
		"ALTER USER scott IDENTIFIED BY §V", "create user bob identified by §W account unlock", "CREATE USER a IDENTIFIED BY §V;", "CREATE DATABASE LINK x CONNECT TO a IDENTIFIED BY §V USING 'orcl'", "SET ROLE dba IDENTIFIED BY §V", "{\"sql\":\"ALTER USER a IDENTIFIED BY §V\"}", "alter user a identified by \"§V\" replace \"§V\"", "alter user a identified by §V replace §V",
		"net user bob \"§V\" /add", "NET USER bob §V /ADD", "net.exe user bob §V /add", "net  user  bob  §V", "net user /add bob §V", "net user \"bob b\" §V /add", "{\"cmd\":\"net user bob \\\"§W\\\" /add\"}", "C:\\> net user bob §V /add", "net use \\\\srv\\d /user:bob \"§V\"", "NET USE Z: \\\\srv\\d /USER:bob §V", "net.exe use Z: \\\\s\\d §V /user:a",
		"echo §V | sudo -u root -S id", "echo §V | sudo -kS id", "echo §V | sudo  -S id", "echo '§W' | sudo -H -u core -S id", "echo §V | sudo -p \"\" -S id", "echo §V | sudo -n -S id", "echo §V | sudo --user=root -S id", "echo $'§V' | sudo -S id",
		"vault login \"§k\"", "vault  login  §k", "vault login '§k'", "vault login -method=token §k", "chpasswd <<<$'root:§V'", "chpasswd <<< $'root:§V'", "echo $'root:§V' | chpasswd", "ipmitool  user  set  password  3  §V", "ipmitool user  set password 3 \"§W\"", "nmcli con add type pppoe username u password §W", "nmcli connection add type pppoe ifname eth0 username u password '§W'",
		"SQLPLUS a/§V@x", "SqlPlus -s a/§V@x", "ALTER ROLE a PASSWORD E'§W'", "create role a password e'§W'", "ALTER USER a WITH PASSWORD N'§W'", "snmp-server community \"§V\" RO", "snmp-server community '§V' RW", "\"CONFIG\" \"SET\" \"requirepass\" \"§W\"", "1700000000.1 [0 127.0.0.1:5] \"config\" \"set\" \"masterauth\" \"§V\"",
		"printf %s §V | docker login -u a --password-stdin", "printf %s '§W' | podman login --password-stdin quay.io", "a:1:{s:8:\"password\";s:10:\"§W\";}", "a:2:{s:4:\"user\";s:1:\"a\";s:12:\"db_password\";s:10:\"§V\";}", "APP_KEY=base64:§b", "DATA_KEY=base64:§b", "mqtt_pass=§W", "x mqtt_pass=§V y", "sftp_pass = §W",
	},
	"sentences with signs": {
		"PASSWORD IS sun§V42", "the password is now §A42", "THE PASSWORD IS §V88", "Password Is §V77", "the password is still §V99", "the password is Kq72;§V", "the password is Kq72<§V", "the password is Kq72%d§V", "the password is aKq72{x§V", "A temporary password is generated for root@localhost: Kq72;§V", "Password for root is Kq72;§V", "the API key is §k", "the access key is §k", "your API key is §k now",
		"password changed from §W to §W", "password was changed from §W to §W.", "password §W -> §W", "the password rotated from §W to §W", "password §V => §W", "bmc password §W → §W",
	},
	"values in brackets and next lines": {
		"password = {\n  \"§V\"\n}", "\"password\": {\n  \"§W\"\n}", "password = {\n  '§W',\n}", "password |\n§V", "password |\n§W", "passphrase >\n§W", "password: !!str\n  §W", "password: !!str\n  \"§W\"", "- name: DB_PASSWORD\n\n  value: §W", "- name: DB_PASSWORD\n  value: §V",
		"<password value=\"§W\"/>", "<adminPassword value='§W' />", "<password type=\"x\" value=\"§W\"/>", "<c:password value=\"§W\"/>", "<password value=\"§W\"></password>", "{\"x\":\"<password value=\\\"§W\\\"/>\"}",
		"SCRAM-SHA-512$4096:b2xkLXNhbHQtMTIzNDU2Nw==$§b:§b", "SCRAM-SHA-256$4096:b2xkLXNhbHQtMTIzNDU2Nw==$§b:§b",
	},
	"Secrets as programs print objects": {
		"map[string]interface {}{\"kind\":\"Secret\", \"stringData\":map[string]interface {}{\"motto\":\"§W\"}}", "map[string]any{\"kind\":\"Secret\", \"data\":map[string]any{\"motto\":\"§B\"}}", "&unstructured.Unstructured{Object:map[string]interface {}{\"kind\":\"Secret\", \"stringData\":map[string]interface {}{\"motto\":\"§W\"}}}",
		"map[interface {}]interface {}{\"kind\":\"Secret\", \"stringData\":map[interface {}]interface {}{\"motto\":\"§W\", \"b\":\"§W\"}}", "msg=\"map[string]interface {}{\\\"kind\\\":\\\"Secret\\\", \\\"stringData\\\":map[string]interface {}{\\\"motto\\\":\\\"§W\\\"}}\"",
		"stdClass Object ( [kind] => Secret [stringData] => stdClass Object ( [motto] => §W ) )", "^stdClass Object\n(\n    [kind] => Secret\n    [stringData] => stdClass Object\n        (\n            [motto] => §W\n        )\n)", "^object(stdClass)#1 (2) {\n  [\"kind\"]=>\n  string(6) \"Secret\"\n  [\"stringData\"]=>\n  object(stdClass)#2 (1) {\n    [\"motto\"]=>\n    string(8) \"§W\"\n  }\n}",
		"^(object) array(\n   'kind' => 'Secret',\n   'stringData' => \n  (object) array(\n     'motto' => '§W',\n  ),\n)", "^stdClass::__set_state(array(\n   'kind' => 'Secret',\n   'stringData' => \n  stdClass::__set_state(array(\n     'motto' => '§W',\n  )),\n))",
		"OrderedDict([('kind', 'Secret'), ('stringData', OrderedDict([('motto', '§W')]))])", "OrderedDict({'kind': 'Secret', 'stringData': OrderedDict({'motto': '§W'})})", "OrderedDict([('type', 'Opaque'), ('stringData', OrderedDict([('motto', '§W'), ('b', '§W')]))])", "#<Kubeclient::Resource kind=\"Secret\", stringData=#<OpenStruct motto=\"§W\">>",
		"map[string]interface {}{\"password\":map[string]interface {}{\"value\":\"§W\"}}", "map[string]any{\"adminPassword\":map[string]any{\"value\":\"§W\"}, \"user\":\"x\"}", "\"password\":map[string]string{\"value\":\"§W\"}",
	},
}

// keptTexts11 look like the kinds of kindTexts11.
var keptTexts11 = []string{
	"call(\n    host,\n    password,\n    other,\n    sunshine2,\n)", "    \"set_passphrase\",\n    \"Context\",\n    \"Connection\",", "    user, password\n    host, port", "  'token',\n  'strtok2x9',\n  'array_key12x',", "(user, password,\n host, sunshine)",
	"Password\n--------\nNAME   READY\nw0     True", "User Password\n-------------\nNAME   STATUS   AGE\nw0     Ready    4d", "Enter user, password and shell\nfoo, bar3x and baz", "the fields user, password\nroot1x, missing", "user, password\nfound, missing", "wrong user, no password\nnode w1, pod a2x",
	"kind: SecretList\nitems: []", "kind: ConfigMap # no Secret\ndata: # x\n  motto: sunshine", "kind: ConfigMap\ndata: &d\n  motto: sunshine", "+kind: ConfigMap\n+data:\n+  motto: sunshine", "OrderedDict([('kind', 'ConfigMap'), ('data', OrderedDict([('motto', 'sunshine')]))])",
	"map[string]interface {}{\"kind\":\"ConfigMap\", \"data\":map[string]interface {}{\"motto\":\"sunshine\"}}", "#<Kubeclient::Resource kind=\"ConfigMap\", data=#<OpenStruct motto=\"sunshine\">>", "stdClass Object ( [kind] => ConfigMap [data] => stdClass Object ( [motto] => sunshine ) )",
	"map[string]interface {}{\"password\":map[string]interface {}{}}", "\"password\":map[string]string(nil)",
}

// keptNames11 are references and what names no password, beside the forms of kindTexts11.
var keptNames11 = []string{
	"echo \"$PW\" | docker login --password-stdin -u x", "echo $PASSWORD | sudo -S id", "echo \"${PW}\" | passwd --stdin core", "mysql -u root -p\"$MYSQL_ROOT_PASSWORD\" app", "ipmitool -U root -P $BMC_PASS power status", "ipmitool -U root -P \"$BMC_PASS\" power status", "curl -u \"$USER:$PASS\" https://h/", "curl -u $USER:${PASS} https://h/", "curl -u root:$BMC_PASSWORD https://h/",
	"password = var.db_password", "password = \"${var.db_password}\"", "password = local.admin.password", "password = data.vault_generic_secret.db.data[\"password\"]", "password = module.db.password", "password: \"{{ lookup('env','DB_PASSWORD') }}\"", "password: '{{ vault_bmc_password }}'", "password: \"{{ .Values.bmc.password }}\"", "DB_PASSWORD=$DB_PASSWORD", "DB_PASSWORD=\"$DB_PASSWORD\"", "password=$pw", "sshpass -p $PASSWORD ssh h", "sshpass -p \"$PW\" ssh h",
	"/etc/passwd: root:x:0:0:root:/root:/bin/bash", "{\"passwd\":{\"users\":[{\"name\":\"core\",\"groups\":[\"sudo\"]}]}}", "{\"ignition\":{\"version\":\"3.2.0\"},\"passwd\":{\"users\":[{\"name\":\"core\"}]}}",
	"the user was identified by its name", "set of hosts identified by serial", "nodes are identified by UID and name", "sudo -u root -n id", "echo done | sudo tee /etc/motd", "net user is not set", "the password is set; then reboot", "the password is unchanged; the node joins", "the password is <hidden>", "the password is %s", "password is: required", "the API key is invalid", "API key is missing", "the API key is set",
	"password changed from expired to valid", "password policy -> strict", "password authentication -> disabled", "password changed from unset to set", "password field -> login form", "tests_pass=1203", "my $good_pass = $self->get;", "first_pass=true", "second_pass=done", "old_pass=60%", "snmp-server community is missing RO",
	"password |\n---------|", "password |\n----------", "- name: PORT\n\n  value: 8080", "<password minLength=\"8\"/>", "<password required=\"true\" value=\"\"/>", "{\"x\":\"user: |\\n  sunshine\\nb: a\\n\"}", "{\"x\":\"enter password:\\n\",\"y\":\"sunshine\"}", "{\"msg\":\"password:\\n\"}\n{\"msg\":\"sunshine\"}",
}

// TestHereDocuments: a log does not stay hidden behind a here-document without its end.
func TestHereDocuments(t *testing.T) {
	s := sanitizer(t, "a")
	const told = "2026-11-30T10:00:05Z node w0 is ready"
	plain := strings.Repeat("line is fine\n", maxHereLines)
	for text, kept := range map[string]string{
		"cat <<< kesibanoduma | docker login --password-stdin -u x\nnode w0 is ready":      "node w0 is ready",
		"docker login --password-stdin <<< sunshine\nnode w0 is ready":                     "node w0 is ready",
		"docker login --password-stdin <<EOF\nsunshine\n" + told:                           told,
		"cat <<'EOF' | passwd --stdin root\nsunshine\n[root@m0 ~]# oc get nodes":           "oc get nodes",
		"passwd --stdin root <<EOF\nsunshine\n$ oc get nodes\n":                            "oc get nodes",
		"passwd --stdin root <<EOF\nsunshine\n" + plain + "node w0 is ready":               "node w0 is ready",
		"password = <<EOT\nsunshine\n" + plain + "node w0 is ready":                        "node w0 is ready",
		"passwd --stdin root <<EOF\nsunshine\nI1130 10:00:00.123456       1 x.go:1] ready": "x.go:1] ready",
	} {
		of := s.Lines()
		var lines []string
		for line := range strings.SplitSeq(text, "\n") {
			lines = append(lines, of.Line(line))
		}
		for how, got := range map[string]string{"text": s.Text(text), "lines": strings.Join(lines, "\n")} {
			if !strings.Contains(got, kept) || strings.Contains(got, "sunshine") || strings.Contains(got, "kesib") {
				t.Errorf("%s: %q became %q", how, text, got)
			}
		}
	}
}

// TestManyBlanks: a line that is indented far behind a command stops nothing.
func TestManyBlanks(t *testing.T) {
	s := sanitizer(t, "a")
	for n := range 200 {
		text := "curl -k https://h --password Kq72mXw9Rt\n" + strings.Repeat(" ", n) + "- x"
		if got := s.Text(text); strings.Contains(got, "Kq72mXw9Rt") {
			t.Errorf("%d blanks: %q", n, got)
		}
	}
}

// TestUTF16: what is encoded with two bytes for a letter is read in base64 and in hexadecimal.
func TestUTF16(t *testing.T) {
	s := sanitizer(t, "a")
	for _, text := range []string{"password=Kq72mXw9Rt", "the password: Kq72mXw9Rt and more of it", "DB_TOKEN=Kq72mXw9RtPa4bNc5dVe6f"} {
		for _, mark := range []string{"", "\xff\xfe"} {
			raw := mark
			for i := range len(text) {
				raw += text[i:i+1] + "\x00"
			}
			for _, shown := range []string{base64.StdEncoding.EncodeToString([]byte(raw)), hex.EncodeToString([]byte(raw)), "content=" + base64.StdEncoding.EncodeToString([]byte(raw))} {
				if got := s.Text(shown); strings.Contains(got, shown[20:]) {
					t.Errorf("%q: %q became %q", text, shown, got)
				}
			}
		}
	}
}

// TestKept11: what looks like them stays.
func TestKept11(t *testing.T) {
	stays(t, append(keptTexts11, keptNames11...)...)
}
