package sanitize

import (
	"testing"
)

// kindTexts9 are kinds that a thirteenth blind attack found, with variations of each.
var kindTexts9 = map[string][]string{
	"tokens in paths": {
		"GET /v1/hf_§A/x", "https://h/v1/ghp_§A8", "repo=https://gitlab.example.com/glpat-§a/x.git", "Post \"https://chat.example.com/api/xoxp-§A/post\": EOF", "/v1/hvs.§a/x", "/o/AKIA§E/x", "https://h/x/ya29.§A?alt=json", "/v1/sk-ant-§A§A", "https://h/dapi§M/x",
		"https://h/v2/dop_v1_§N", "/mail/SG.§A§A/send", "https://h/glsa_§A_0a1b2c3d", "https://r/npm_§A/-/x.tgz", "/admin/shpat_§M.json", "whsec/whsec_§A", "/PMAK-§A", "msg=\"GET /v1/hf_§A/x 404\"", "{\"url\":\"https:\\/\\/h\\/v1\\/ghp_§A\"}", "https://h/%2Fv1/hf_§A", "a/b/glrt-§a",
		"/bot/xoxb-2444333222111-2444333222111-§a", "path: /AIza§A", "https://h/LTAI§a", "/r8_§A", "/squ_§U", "GET /api/objects/AKIA§E 403", "/pul-§U", "https://h/dckr_pat_§A",
	},
	"changes of objects": {
		`{"before":{"password":"§W"},"after":{"password":"§W"}}`, `{"a":{"password":"§W"},"b":{"password":"§W"}}`, `{"old":{"passphrase":"§V"},"new":{"passphrase":"§V"}}`, `{"from":{"clientSecret":"§V8x"},"to":{"clientSecret":"§V8x"}}`, `{"current":{"bmcPassword":"§W"},"desired":{"bmcPassword":"§W"}}`,
		`{'before': {'password': '§W'}, 'after': {'password': '§W'}}`, `{"change":{"before":{"admin_password":"§W"},"after":{"admin_password":"§W","name":"x"}}}`, `{"diff": {"before": {"password": "§W"}, "after": {"password": "§W"}}}`, `POST https://h/a?u=1&password=§V&b={"password":"§V9"}`,
		`{"old":{"user":"a","password":"§W"},"new":{"user":"a","password":"§W"}}`, `{"left":{"password":"§W"},"right":{"password":"§W"}}`, `msg="{\"before\":{\"password\":\"§W\"},\"after\":{\"password\":\"§W\"}}"`, "map[after:map[password:§V] before:map[password:§V]]", "{before:{password:§V}, after:{password:§V}}", `[{"old":{"psk":"§W"}},{"new":{"psk":"§W"}}]`,
		"^before:\n  password: §W\nafter:\n  password: §W", `{"previous": {"admin": {"password": "§W"}}, "current": {"admin": {"password": "§W"}}}`, `{"before":[{"password":"§W"}],"after":[{"password":"§W"}]}`, `{:before=>{:password=>"§W"}, :after=>{:password=>"§W"}}`, `{"want":{"password":"§W"},"got":{"password":"§W"}}`,
		`"password": {"old": {"value": "§V"}, "new": {"value": "§V"}}`,
	},
	"SecureString in parentheses": {
		"Set-ADAccountPassword -Identity svc -NewPassword (ConvertTo-SecureString -AsPlainText \"§W\" -Force)", "-Password (ConvertTo-SecureString \"§W\" -AsPlainText -Force)", "New-LocalUser x -Password (ConvertTo-SecureString -String '§V' -AsPlainText -Force)", "-AdminPassword (ConvertTo-SecureString '§W' -AsPlainText)", "-Password $(ConvertTo-SecureString \"§W\" -AsPlainText -Force)",
		"Set-LocalUser -Name a -Password ( ConvertTo-SecureString \"§W\" -AsPlainText -Force )", "-Credential (New-Object PSCredential(\"u\", (ConvertTo-SecureString \"§W\" -AsPlainText -Force)))", "-NewPassword:(ConvertTo-SecureString \"§W\" -AsPlainText -Force)", "-OldPassword (ConvertTo-SecureString '§W' -AsPlainText -Force) -NewPassword (ConvertTo-SecureString '§W' -AsPlainText -Force)",
		"msg=\"run -Password (ConvertTo-SecureString '§W' -AsPlainText -Force)\"", "-Password ((ConvertTo-SecureString \"§W\" -AsPlainText -Force))", "-Password (convertto-securestring §V -asplaintext -force)", "{\"cmd\":\"-Password (ConvertTo-SecureString \\\"§W\\\" -AsPlainText -Force)\"}",
	},
	"names of two letters": {
		"kadmin.local -q \"addprinc -pw §W host/w0.example.com\"", "foo --pw §W", "foo --ldap-pw §W", "foo --ldap-pw=§W", "plink -ssh -pw §V root@h", "addprinc -pw §W x", "pscp -pw §W a b", "{\"smtpPw\":\"§W\"}", "{\"pw\":\"§W\"}", "'root_pw': '§W'", "<AdminPw>§W</AdminPw>", "<Param name=\"pw\" value=\"§W\"/>", "[pw] => §V", "^- name: pw\n  value: §W", "pw: §W", "pw=§W", "rootPW: §W",
		"{\\\"pw\\\":\\\"§W\\\"}", "msg=\"{\\\"adminPw\\\":\\\"§W\\\"}\"", "{'pw': '§W', 'user': 'a'}", "<pw>§W</pw>", "<config pw=\"§W\"/>", "[\"pw\"]=> string(9) \"§W\"", "map[pw:§V user:a]", "{name: pw, value: §W}", "{\"name\":\"pw\",\"value\":\"§W\"}", "args: [\"--pw\", \"§W\"]", "^- --pw\n- §V", "\"pw\" => \"§W\"", ":pw => \"§W\"", "pw => '§W'", "pw : §W", "bind_pw \"§W\"", "user,pw\na,§V", "| user | pw |\n|---|---|\n| a | §V |",
		"<name>pw</name><value>§W</value>", "export LDAP_PW=§W", "ldapPw = \"§W\"", "-pw \"§W §W\"", "--admin-pw '§W'", "^--pw\n§V", "--pw \\\n  §W",
	},
	"numbers of any name": {
		"dump 0x§q", "§q", "hex §q", "\\x§q", "payload=§q", "{\"raw\":\"§q\"}", "[§i]", "bytes [§i]", "{\"raw\":[§g]}", "§h", "data §q end", "2026-11-20T13:55:46Z x.go:1] raw=§q",
	},
	"keys in the next line": {
		"key: |\n  §b", "^key: &k >-\n  §b", "key:\n  §b", "key =\n  §b", "key: !!binary |\n  §b", "aescbc-key = \\\n  §b", "aescbc_key: |\n  §b", "aescbcKey: >-\n  §b", "key=\\\n§b", "\"key\":\n  \"§b\"", "key: >\n  §N", "hostkey: x\nkey: |\n  §b", "keys:\n- name: key1\n  key: |\n    §b", "I1120 12:00:00.123456       1 x.go:1] key: |\nI1120 12:00:00.123456       1 x.go:1]   §b", "aescbc-key:\n  §M",
		"^? key\n: §b", "KEY = \\\n  §b", "data_key: | # of etcd\n  §b", "key = \"\"\"\n§b\n\"\"\"", "key |\n  §b", "key >\n  §b", "key=>\n  §b", "<key>\n  §b\n</key>", "--key \\\n  §b",
	},
	"headers by name and value": {
		`{"name":"Authorization","value":"Negotiate §b"}`, `{"name":"Authorization","value":"Digest username=\"a\", response=\"§M\""}`, `{"name":"Authorization","value":"Splunk §k"}`, `{"name":"authorization","value":"NTLM §b"}`, `{"name":"Set-Cookie","value":"session=§k; Path=/"}`, `{"name":"Cookie","value":"lang=de; sid=§k; a=b"}`, `{"value":"Negotiate §b","name":"Authorization"}`, `{"name": "Proxy-Authorization", "value": "Negotiate §b"}`,
		`{"name":"Cookie","value":"a=§k; b=§k"}`, `{'name': 'Authorization', 'value': 'Splunk §k'}`, "^- name: Authorization\n  value: Negotiate §b", "- name: Set-Cookie\n  value: session=§k; Path=/", `{\"name\":\"Authorization\",\"value\":\"Negotiate §b\"}`, `<header name="Authorization" value="Negotiate §b"/>`, "<name>Authorization</name><value>Splunk §k</value>", "{name: Authorization, value: \"Splunk §k\"}", `{"key":"Authorization","value":"Splunk §k","type":"text"}`,
		`{"headers":[{"name":"Accept","value":"*/*"},{"name":"Authorization","value":"Hawk id=\"a\", mac=\"§b\""},{"name":"Host","value":"h"}]}`, `{"name":"Authorization","value":"Custom §k"}`, `{"name":"Authorization","value":"AWS4-HMAC-SHA256 Credential=AK/1, SignedHeaders=host, Signature=§N"}`,
	},
	"passwords by whose they are": {
		"default_pass = §W", "guest_pass = §W", "defaultPass: §W", "test_pass=§W", "lan_pass: §W", "{\"default_pass\":\"§W\"}", "RABBITMQ_DEFAULT_PASS=§W", "guest-pass: §W", "rabbitmq_pass = §W", "wifiPass: \"§W\"", "repl_pass=§W", "default_pwd: §W", "wlan.pass=§W", "<guestPass>§W</guestPass>", "--default-pass §W", "remote_pass = §W", "default.pass: §W",
	},
	"backslashes without a sign": {
		"truststore.password \\\n= §W", "password \\\n  §W", "  password \\\n  §V", "password \\\n = §W", "keystore.password \\\n  : §W", "I1120 12:00:00.123456       1 x.go:1] password \\\nI1120 12:00:00.123456       1 x.go:1]   §W", "admin password \\\n  §V", "set password \\\n  §W", "passphrase\\\n  §V", "password \\\n  \"§W\"", "nmcli x password \\\n §W",
	},
	"doubtful ones": {
		"Nov 30 12:00:01 m0 Keepalived_vrrp[9]: (/etc/keepalived/keepalived.conf: Line 17)         auth_pass §W", "auth_pass §W", "auth_type PASS\n    auth_pass §V\n}", "PASSWORD ==> §V", "password ==> \"§W\"", "Password............: §W", "Password . . . . : §W", "Password......... §A", "(password . \"§W\")", "((user . \"a\") (password . \"§W\"))",
		"{\"type\":\"password\",\"value\":\"§W\"}", "\"credentials\":[{\"type\":\"password\",\"value\":\"§W\",\"temporary\":false}]", "{\"value\":\"§W\",\"type\":\"password\"}", "<input type=\"password\" value=\"§W\">", "^type: password\nvalue: §W", "aws ssm put-parameter --name /ocp/db-password --value §W --type SecureString", "aws ssm put-parameter --name \"/ocp/db-password\" --value \"§W\"", "aws ssm put-parameter --name=/a/db-password --value=§W",
		"aws secretsmanager create-secret --name x/api-token --secret-string §V8xyz", "aws ssm put-parameter --type SecureString --value §V --name /ocp/db-password", "gh secret set BMC_PASSWORD --body §W", "gh secret set X -b §W", "gh secret set X -b\"§W\"", "gh secret set --body=§W X", "#cloud-config\nchpasswd:\n  expire: false\n  list: |\n    root:§V\n    core:§V\nssh_pwauth: true\n", "chpasswd:\n  list: |\n    root:§W\n    core:§V\n", "chpasswd:\n  list:\n    - root:§V\n    - core:§W\n",
		"<tls-auth>\n-----BEGIN OpenVPN Static key V1-----\n§M\n§M\n§M\n-----END OpenVPN Static key V1-----\n</tls-auth>", "-----BEGIN OpenVPN Static key V1-----\n§M\n§M", "x: -----BEGIN OpenVPN Static key V1-----\\n§M\\n§M\\n-----END OpenVPN Static key V1-----\\n", "password = \"§W\" + \"§W\"", "password = '§V' + '§V'", "^password = \"§W\" +\n  \"§W\"", "password = \"§W\" . \"§W\";",
	},
}

// keptTexts9 look like the kinds of kindTexts9.
var keptTexts9 = []string{
	"/usr/share/doc/API-Reference-2024-11-guide.html", "https://docs.example.com/v1.0-beta/install/guides/control-plane/2024/11/etcd-backup-and-restore-of-one", "/var/lib/containers/storage/overlay/4b1d415e56a6d8d2b8576c59d08a7c57a7d081fa59e7dc3cd8782ed7bcd6080c", "sha256:4b1d415e56a6d8d2b8576c59d08a7c57a7d081fa59e7dc3cd8782ed7bcd6080c", "/opt/npm_package_config_of_the_web_console_2024_11_20", "/sl.example.com/a", "s3://bucket/API-Docs-1.23-of-openshift", "/xai-models/llama", "/etc/sk-config/keys.d",
	`{"before":{"user":"alice"},"after":{"user":"bob"}}`, `{"old":{"replicas":3},"new":{"replicas":5}}`, "foo --pwd-file /etc/x --page 12", "--show-pw", "httpw: on", "sleepw 12", "a.pw", "{\"pw\":\"\"}", "pwd: /home/core", "<pw/>",
	"raw 62757368657320616e64207472656573206f662074686520666f7265737420", "[98 117 115 104 101 115 32 97 110 100 32 116 114 101 101 115]", "sizes [100 101 102 103 104 105 106 107 108 109 110]", "id 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	"key:\n  node.kubernetes.io/unreachable", "key: |\n  tls.key", "key =\n  worker", "publicKey: |\n  MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=", "- key: zone\n  operator: In", "key:\n  name: x\n  value: y",
	`{"name":"Authorization","value":"required"}`, `{"name":"Cookie","value":"lang=de; theme=dark"}`, `{"name":"Set-Cookie","value":"lang=en-US; Path=/; Max-Age=3600"}`, `{"name":"Accept","value":"application/json"}`, `{"name":"Content-Type","value":"text/html"}`,
	"bypass: 10.0.0.1", "firstPass: done", "pass: 12", "test_pass: true", "default_pass: \"\"", "compass: north",
	"enter the password \\\n  for the user", "passwordFile \\\n  = /etc/x", "-NewPassword (Get-Credential).Password", "-Password (Read-Host -AsSecureString)",
	// Errors and messages.
	"Events: FailedToRetrieveImagePullSecret: Unable to retrieve some image pull secrets (builder-dockercfg-9xk2p)", "FailedToRetrieveImagePullSecret: Unable to retrieve some image pull secrets (builder-dockercfg-9xk2p, deployer-dockercfg-2kd9x); attempting to pull the image may not succeed.", "iDRAC.Users.2.Password=******** (write-only)",
	"InvalidClientSecret: AADSTS7000215: Invalid client secret provided (app 1234)", "WrongPassword: login of user root was refused (attempt 3)", "InvalidPassword: BMC refused (401 Unauthorized)", "BadPassword: at least 12 characters (8 given)", "ResetPassword: Succeeded in 12s (job 7)", "Reset Admin Password: done (2 of 3)", "reading password: timeout after 30s", "password: 12 characters minimum (policy)", "Password: (hidden)",
	"unable to get password: exit status 1 (ipmitool)", "failed to verify password: crypto/bcrypt: hashedPassword is not the hash of the given password",
	"failed to read password: context deadline exceeded", "could not get the password: permission denied", "reading password: open /etc/x: no such file or directory", "ExpiredPassword: the password of root expired 3 days ago", "MissingPassword: Secret bmc-m0 has no password (key password)", "password: ********", "Password: ****** (unchanged)", "password: (unset)", "password: [hidden]", "password: <hidden>", "passphrase: (not set)",
	"InvalidToken: the token of node m0 has expired (kid 7)", "decrypt secret: cipher: message authentication failed", "fetch token: Get \"https://h/x\": EOF", "verify password: unexpected EOF", "WeakPassword: too short, 8 of 12 characters", "set password: exit status 2 (ipmitool)", "password: too short (8 of 12)", "checking password: HTTP 503 from the BMC (retry in 5s)", "reading password from the BMC: 401 Unauthorized (attempt 2)", "get secret: permission denied", "password: at least 8 characters",
}

// TestKept9: what looks like them stays.
func TestKept9(t *testing.T) {
	stays(t, keptTexts9...)
}
