package sanitize

import (
	"testing"
)

// kindTexts10 are kinds that a fourteenth blind attack found, with variations of each.
var kindTexts10 = map[string][]string{
	"values in braces": {
		"jdbc:sqlserver://db:1433;user=sa;password={§W};encrypt=true", "PWD={§V};", "UID=sa;PWD={§V};Encrypt=yes", "Driver={ODBC Driver 18 for SQL Server};Server=db;UID=sa;PWD={§V}", "password={§W}", "password: {§W}", "password = {§W}", "api_token={§V8 xyz}", "api_token={§k}", "db_password={a!§W}", "\"password\": {§V}", "password={§W §W}", "passwd: {§W}",
		"msg=\"connect with jdbc:sqlserver://h;password={§W};x=y\"", "{\"url\":\"jdbc:sqlserver://h;user=sa;password={§W};encrypt=true\"}", "url: \"jdbc:sqlserver://h;password={§W}\"", "2026-11-30T10:00:00Z db.go:7] PWD={§V};UID=sa", "ADMIN_PASSWORD={§W}", "Nov 30 12:00:01 m0 app[7]: password={§W}", "password={§V}}x}", "password={§V;=§V}", "password={ §W }", "password: {\"§W\"}", "passwords={'§W', '§W'}",
		"conn: {driver: odbc, cs: 'UID=sa;PWD={§V};'}", "accessToken={§k}", "client_secret={§k}", "clientSecret: {§k}", "psk={§W}", "adminPassword: '{§W}'", "{\\\"cs\\\":\\\"UID=sa;PWD={§V};\\\"}", "connectionString=Driver={x};Pwd={§V};", "<add connectionString=\"UID=sa;PWD={§V};\"/>", "password=>{§W}", "signing_key={§b}", "key={§b}", "Password={§W},User=sa", "password={1§V}", "password={§V==}",
	},
	"objects below a name": {
		"password:\n  value: §W", "^spec:\n  bmc:\n    password:\n      value: §W\n    user: x", "adminPassword:\n  value: \"§W\"", "password:\n  plain: '§W'", "password:\n  current: §W", "apiToken:\n  value: §k", "bmc_password:\n  - value: §W", "password:\n  text: §W\n  encrypted: false", "adminPassword:\n  type: string\n  value: §W",
		"password:\n\n  # of the BMC\n  value: §W", "password:\n  foo: §T", "password:\n  value: §W §W", "passwords:\n- value: §W\n- value: §W", "clientSecret:\n  plainText: §k", "db:\n  password:\n    data: §W\n  host: h", "password:\n  spec:\n    value: §W", "password: # x\n  value: §W", "\"password\":\n  \"value\": \"§W\"", "'password':\n  'value': '§W'", "password:\n    cleartext: &a §W", "password:\n  value: !unsafe §W",
		"2026-11-30T10:00:00.123456789Z stdout F password:\n2026-11-30T10:00:00.123456789Z stdout F   value: §W", "Nov 30 12:00:01 m0 x[7]: password:\nNov 30 12:00:01 m0 x[7]:   plain: §W", "password:\n  value: |\n    §W\n  x: y", "password:\n  value: >-\n    §V", "^\"manifest\": \"password:\\n  value: §W\\n\"", "^{\"y\":\"bmc:\\n  password:\\n    plain: §W\\n\"}", "passphrase:\n  default: §W", "psk:\n  value: §W",
		"password:\n  secretRef:\n    name: x\n  value: §W", "password:\n  user: root\n  value: §W", "\"password\": {\n  \"plain\": \"§W\"\n}", "\"password\": {\n  \"type\": \"x\",\n  \"value\": \"§W\"\n}", "password = {\n  value = \"§W\"\n}", "credentials:\n  value: §T", "authToken:\n  text: §k", "  rootPassword:\n    string: §W", "- password:\n    value: §W", "password:\n  old: §W\n  new: §W", "^items:\n- adminPassword:\n    value: §W\n- user: x", "password:\n  plaintext: \"§W\" # x",
		"key:\n  value: §b", "accessKey:\n  value: §k", "token:\n  value: §k",
	},
	"names with an s and digits": {
		"passwords.1 = §W", "passwords1 = §W", "passwords_2: §W", "{\"passwords1\":\"§W\"}", "admin_passwords2=§W", "passphrases.0: §W", "apiTokens1: §k", "secret_keys1=§k", "db_pwds1: §V", "DB_PASSWORDS_3=§W", "<passwords1>§W</passwords1>", "password1s=§W", "--passwords1 §W", "msg=\"passwords1=§W\"", "psks1: §W", "passwords.10.value = §W", "passwords1_old=§W", "access_tokens2: \"§k\"",
	},
	"Go's prints of any": {
		"\"password\":interface {}(\"§W\")", "map[string]interface {}{\"password\":interface {}(\"§W\"), \"user\":interface {}(\"root\")}", "Password:(*string)(\"§W\")", "Password:(*string)(0xc000010)(\"§W\")", "\"password\":(interface {}) (string) \"§W\"", "map[string]any{\"password\":any(\"§W\")}", "password: (\"§W\")", "msg=\"x \\\"password\\\":interface {}(\\\"§W\\\")\"", "{\"m\":\"\\\"apiToken\\\":interface {}(\\\"§k\\\")\"}", "\"clientSecret\":interface{}(\"§k\")",
	},
	"elements with comments": {
		"<password><!-- x -->§W</password>", "<password> <!-- of the BMC --> §W</password>", "<password><!--a--><!--b-->§W</password>", "<password><!-- x --><value>§W</value></password>", "^<password>\n<!-- x -->\n§W</password>", "msg=\"<adminPassword><!-- x -->§W</adminPassword>\"",
	},
	"switches": {
		"snmp-server community §V RO", "2026-11-30T10:00:00Z sw1: cmd: snmp-server community §V RW", "Nov 30 12:00:01 sw1 cfg[7]: snmp-server community §V RO", "msg=\"snmp-server community §V view all RO\"", "line: 'snmp-server community §S RO'", "tacacs server T\n key 7 §7", "sw1# show run | i key: tacacs-server key 7 §7", "enable password 7 §7", "username a password 7 §7", "key-string 7 §7", "msg=\"radius-server key 7 §7\"", "radius-server host 192.0.2.1 key 7 §7", "{\"line\":\" key 7 §7\"}", "neighbor 192.0.2.1 password 7 §7",
	},
	"variables of fish and csh": {
		"set -gx BMC_PASSWORD §W", "set -Ux DB_PASS §W", "set -x ADMIN_PASSWD '§W'", "set --export DB_PASSWORD \"§W\"", "set -g -x root_password §W", "setenv BMC_PASSWORD §W", "setenv WIFI_PSK \"§W\"", "msg=\"set -gx BMC_PASSWORD §W\"", "> set -gx BMC_PASSWORD §W", "{\"cmd\":\"set -gx BMC_PASSWORD §W\"}", "$ set -gx LDAP_PW §W",
	},
	"commands over lines": {
		"ipmitool -I lanplus -H 192.0.2.4 -U root \\\n  -P §W power status", "ipmitool -I lanplus \\\n  -H 192.0.2.4 -U root \\\n  -P §W \\\n  power status", "curl -k \\\n  -u root:§W \\\n  https://h", "curl -sk \\\n -uroot:§W https://h", "ipmitool -H h -P \\\n  §W chassis", "Nov 30 12:00:01 m0 x[7]: ipmitool -H h \\\nNov 30 12:00:01 m0 x[7]:   -P §W power", "$ mysql -h db \\\n   -p§V x", "sshpass \\\n  -p §W ssh h", "sshpass \\\n  -p '§W' ssh h", "/usr/bin/ipmitool -v \\\n  -P \"§W\"", "ldapsearch -x \\\n  -D cn=a \\\n  -w §W",
		"command:\n- curl\n- -u\n- root:§W", "command:\n  - curl\n  - -k\n  - -u\n  - root:§W\n  - https://h", "args:\n- ipmitool\n- -H\n- 192.0.2.4\n- -P\n- §W", "- \"curl\"\n- \"-u\"\n- \"root:§W\"", "[\n  \"curl\",\n  \"-u\",\n  \"root:§W\"\n]", "- /usr/bin/curl\n- -uroot:§W", "- sshpass\n- -p\n- §W", "- redis-cli\n- -a\n- §W\n- ping", "- ldapsearch\n- -w\n- '§W'", "2026-11-30T10:00:00.123456789Z stdout F - curl\n2026-11-30T10:00:00.123456789Z stdout F - -u\n2026-11-30T10:00:00.123456789Z stdout F - root:§W",
		"SMCIPMITool 192.0.2.61 ADMIN §W ipmi power status", "java -jar SMCIPMITool.jar 192.0.2.61 ADMIN §W ipmi power",
	},
	"keys in dumps": {
		"wg0\t§w\txTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg=\t51820\toff", "§w\txTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg=\t51820\t0xca6c", "wg0\txTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg=\t§w\t192.0.2.1:51820\t10.0.0.0/24\t0\t0\t0\t25", "xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg=\t§w\t[fd00::1]:51820\t10.0.0.0/24\t0\t0\t0\toff",
		"{\"out\":\"wg0\\t§w\\txTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg=\\t51820\\toff\\n\"}", "Nov 30 12:00:01 m0 wg[7]: wg0#011§w#011xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg=#01151820#011off", "Private-MAC: §N", "Private-MAC: §U", "Private-Hash: §U", "Nov 30 12:00:01 m0 x[7]: Private-MAC: §N", "{\"k\":\"Private-Lines: 1\\r\\nPrivate-MAC: §N\\r\\n\"}",
		"https://discord.com/api/webhooks/112233445566778899/§A§A", "url: https://discord.com/api/webhooks/112233445566778899/§A§A", "POST https://discordapp.com/api/webhooks/112233445566778899/§A§A?wait=true", "{\"url\":\"https:\\/\\/discord.com\\/api\\/webhooks\\/112233445566778899\\/§A§A\"}", "https://ptb.discord.com/api/v10/webhooks/112233445566778899/§A§A",
	},
}

// keptTexts10 look like the kinds of kindTexts10.
var keptTexts10 = []string{
	// Templates, placeholders, references and objects in braces.
	"password: {{ .Values.password }}", "password={{password}}", "password={{ lookup('env', 'PW') }}", "password=${DB_PASSWORD}", "password: ${VAR}", "password: {}", "password={}", "password: { }", "password={password}", "password={db_password}", "f\"password={self.password}\"", "password={0}", "password={pw!r}", "password={password:s}", "password={value}", "password: {% if x %}",
	"password: {name: bmc-m0, key: password}", "password={****}", "password={********}", "password: {hidden}", "password={redacted}", "password={nil}", "Password:{<nil>}", "password={null}", "password: {...}", "token: {audience: api, path: token}", "secret={bmc-secret}", "secret: {openshift-machine-api bmc-w3}", "secret={openshift-machine-api/bmc-w3-x7k2p}", "secret={Name:bmc-w3}", "key={node.kubernetes.io/unreachable}",
	"auth={basic}", "pwd={/home/core/rollcall}", "credentials={w3-bmc-secret}", "Driver={ODBC Driver 18 for SQL Server};Server=db", "token={}", "api_token={expired}", "token: {invalid signature}", "secretRef: {bmc-w3}", "map[password:{} user:{root}]", "{[password]}", "GET /v1/{password}/x", "key={zone}",
	// Objects without a value.
	"password:\n  valueFrom:\n    secretKeyRef: {name: bmc-secret, key: password}", "password:\n  valueFrom:\n    secretKeyRef:\n      name: bmc-secret2024x\n      key: password\n", "password:\n  policy: strict\n  minLength: 12\n  rotation: weekly", "password:\n  type: string\n  description: the password of the BMC", "properties:\n  password:\n    description: the password\n    type: string\n    minLength: 8\n  user:\n    type: string", "password:\n  expires: 2026-11-30T10:00:00Z\n  age: 90d",
	"token:\n  audience: api\n  expirationSeconds: 3600\n  path: token", "secret:\n  secretName: router-certs-x7k2p\n  defaultMode: 420", "volumes:\n- name: a\n  secret:\n    secretName: bmc-w3-7x\n    items:\n    - key: tls.key\n      path: tls.key", "auth:\n  type: basic\n  realm: x", "password:\nvalue: 4", "password:\nuser: root\nvalue: worker", "tokens:\n  issued: 12\n  expired: 3", "password:\n  algorithm: sha256\n  required: true", "key:\n  value: zone\n  effect: NoSchedule",
	"checking the password:\nnode w1 value: 12", "credentials:\n  name: bmc-w3\n  namespace: openshift-machine-api", "authentication:\n  token:\n    ttl: 24h0m0s", "password:\n  text: must be changed", "password:\n  text: Enter the password of the user root",
	// Names and numbers.
	"passes1: 12", "bypass1=x", "keys1: zone", "compass2: north", "secrets2: 14", "tokens1: 400",
	"\"user\":interface {}(\"root\")", "\"password\":interface {}(nil)", "password: (not set)",
	"<password><!-- none --></password>", "<user><!-- x -->root</user>",
	"snmp-server community is missing", "no snmp-server community", "snmp-server location rack7", "key 7 of 12", "press key 7 twice", "password 7 days old", "secret 7 is missing", "key 7 20261130",
	"set -gx EDITOR vim", "set -e BMC_PASSWORD", "set -x", "setenv PATH /usr/bin", "set -gx BMC_PASSWORD (cat pw)", "set password policy",
	"ipmitool -I lanplus \\\n  -H 192.0.2.4 power status", "curl -sk \\\n  https://h/redfish/v1", "command:\n- curl\n- -k\n- https://h", "packages:\n- curl\n- openssl\n- zip\n- mysql", "- oc\n- get\n- nodes\n- -o\n- wide", "- ipmitool\n- -H\n- 192.0.2.4\n- power", "curl --retry 3 \\\n  -o out.json",
	"wg0\t(none)\t(none)\t0\toff", "xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg=\t(none)\t192.0.2.1:51820\t10.0.0.0/24\t0\t0\t0\toff", "https://discord.com/channels/112233445566778899/112233445566778899", "https://discord.com/api/webhooks/112233445566778899", "Public-Lines: 2", "SMCIPMITool 192.0.2.61",
}

// TestKept10: what looks like them stays.
func TestKept10(t *testing.T) {
	stays(t, keptTexts10...)
}
