package sanitize

import (
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// hiddenTexts hold secrets; the last column must not survive.
var hiddenTexts = []struct{ name, text, secret string }{
	{"sshpass", "sshpass -p hunter2 ssh core@host", "hunter2"},
	{"sshpass attached", "sshpass -phunter2 ssh core@host", "hunter2"},
	{"ipmitool", "ipmitool -I lanplus -H 192.0.2.4 -U root -P calvin chassis status", "calvin"},
	{"ipmitool in a message", `level=info msg="running ipmitool -U root -P calvin power on" host=control1`, "calvin"},
	{"ipmitool in JSON", `{"cmd":["ipmitool","-U","root","-P","calvin"]}`, "calvin"},
	{"ipmitool in JSON in JSON", `{"m":"[\"ipmitool\",\"-U\",\"root\",\"-P\",\"calvin\"]"}`, "calvin"},
	{"ipmitool in Go", `exec []string{"ipmitool", "-P", "calvin"}`, "calvin"},
	{"ipmitool of Go's %v", "exec [ipmitool -U root -P calvin]", "calvin"},
	{"ipmitool in Python", "run ['ipmitool', '-P', 'calvin']", "calvin"},
	{"ipmitool in YAML", "command:\n- ipmitool\n- -U\n- root\n- -P\n- calvin\n", "calvin"},
	{"FreeIPMI", "ipmi-sensors -h 192.0.2.4 -u root -p calvin", "calvin"},
	{"fence agent", "fence_ipmilan -a 192.0.2.4 -l root -p calvin -o status", "calvin"},
	{"racadm", "racadm -r 192.0.2.4 -u root -p calvin getsysinfo", "calvin"},
	{"curl -u", "curl -sk -u root:calvin https://192.0.2.4/redfish/v1", "calvin"},
	{"curl -u attached", "curl -uroot:calvin https://192.0.2.4/redfish/v1", "calvin"},
	{"curl --user=", "curl --user=root:calvin https://192.0.2.4/", "calvin"},
	{"curl in JSON", `["/usr/bin/curl", "-u", "root:calvin"]`, "calvin"},
	{"podman login", "podman login -u admin -p hunter2 registry.example.com", "hunter2"},
	{"oc login", "oc login -u kubeadmin -p hunter2 https://api.example.com:6443", "hunter2"},
	{"oc login token", "oc login --token=hunter2 --server=https://api.example.com:6443", "hunter2"},
	{"crictl", "crictl pull --creds admin:hunter2 quay.io/a/b", "hunter2"},
	{"skopeo", "skopeo copy --src-creds=admin:hunter2 docker://a docker://b", "hunter2"},
	{"--password", "tool --password hunter2 --verbose", "hunter2"},
	{"--password=", "tool --password=hunter2 --verbose", "hunter2"},
	{"--password quoted", `tool --password "hunter 2 hunter" --verbose`, "hunter"},
	{"--db-pass", "tool --db-pass hunter2", "hunter2"},
	{"--password in YAML", "args:\n  - --password\n  - hunter2\n", "hunter2"},
	{"script", "tool \\\n  --password \\\n  hunter2", "hunter2"},
	{"mysql", "mysql -uroot -phunter2 db", "hunter2"},
	{"redis", "redis-cli -h a -a hunter2 ping", "hunter2"},
	{"ldap", "ldapsearch -x -D cn=admin -w hunter2 -b dc=example", "hunter2"},
	{"smb", "smbclient -U 'DOM\\admin%hunter2' //host/share", "hunter2"},
	{"openssl", "openssl rsa -in a.key -passin pass:hunter2 -out b", "hunter2"},
	{"keytool", "keytool -list -keystore a.jks -storepass hunter2", "hunter2"},
	{"from-literal", "oc create secret generic bmc --from-literal=username=root --from-literal=password=calvin", "calvin"},
	{"from-literal other", "kubectl create secret generic x --from-literal=word=calvin", "calvin"},
	{"kubeadm", "kubeadm join 192.0.2.1:6443 --token abcdef.0123456789abcdef --discovery-token-unsafe", "0123456789abcdef"},
	{"iscsiadm", "iscsiadm -m node -T iqn.x -o update -n node.session.auth.password -v hunter2", "hunter2"},
	{"etcdctl", "etcdctl --user root:hunter2 endpoint health", "hunter2"},
	{"kubelet's EnvVar", "&Container{Name:x,Env:[]EnvVar{EnvVar{Name:DB_PASSWORD,Value:two, hunter2,ValueFrom:nil,},EnvVar{Name:A,Value:b,ValueFrom:nil,},},}", "hunter2"},
	{"EnvVar of %+v", "[{Name:DB_PASSWORD Value:two hunter2 ValueFrom:<nil>} {Name:A Value:b ValueFrom:<nil>}]", "hunter2"},
	{"EnvVar of %v", "[{DB_PASSWORD two hunter2 nil} {A b nil}]", "hunter2"},
	{"env in JSON", `"env":[{"name":"DB_PASSWORD","value":"two hunter2"},{"name":"A","value":"b"}]`, "hunter2"},
	{"env in JSON in JSON", `{"m":"[{\"name\":\"DB_PASSWORD\",\"value\":\"hunter2\"}]"}`, "hunter2"},
	{"env in YAML", "env:\n- name: DB_PASSWORD\n  value: two hunter2\n- name: A\n  value: b\n", "hunter2"},
	{"header of Ignition", `{"name":"Authorization","value":"Bearer hunter2hunter2"}`, "hunter2"},
	{"oc describe", "    Environment:\n      DB_PASSWORD:  two hunter2\n      A:  b\n", "hunter2"},
	{"oc describe, one line", "      OS_TOKEN_SECRET_KEY:      hunter2", "hunter2"},
	{"INI", "[db]\npassword = two hunter2\n", "hunter2"},
	{"INI, last word", "admin_password = two words hunter2", "hunter2"},
	{"keyfile of NetworkManager", "[wifi-security]\nkey-mgmt=wpa-psk\npsk=two hunter2\n", "hunter2"},
	{"802.1x", "[802-1x]\nidentity=host\npassword=hunter2 and more\n", "and more"},
	{"wep", "[wifi-security]\nwep-key0=hunter2abc", "hunter2"},
	{"wpa_supplicant", "network={\n\tssid=\"x\"\n\tpsk=\"two hunter2\"\n}", "hunter2"},
	{"wpa_supplicant wep", "\twep_key0=\"hunter2\"", "hunter2"},
	{"netrc", "machine git.example.com login ci password hunter2", "hunter2"},
	{"netrc over lines", "machine git.example.com\n  login ci\n  password hunter2\n", "hunter2"},
	{"chrony keys", "1 SHA256 HEX:1DC764E0791B11FA67EFC7ECBC4B0D73F68A070C", "1DC764E0"},
	{"chrony keys, short", "10 MD5 ASCII:hunter2", "hunter2"},
	{"keepalived", "    authentication {\n        auth_type PASS\n        auth_pass hunter\n    }", "hunter"},
	{"redis.conf", "requirepass hunter", "hunter"},
	{"snmpd.conf", "rocommunity hunter 192.0.2.0/24", "hunter"},
	{"Kickstart", "rootpw --plaintext hunter", "hunter"},
	{"haproxy", "  stats auth admin:hunter", "hunter"},
	{"iscsid.conf", "node.session.auth.password = hunter two", "two"},
	{"sssd.conf", "ldap_default_authtok = hunter two", "hunter"},
	{"export", "export OS_PASSWORD=hunter", "hunter"},
	{"log of a container", "2026-11-20T12:00:00.1Z stdout F password = two hunter2", "hunter2"},
	{"SOAP", `<wsse:Password Type="http://docs.oasis-open.org/x#PasswordText">hunter</wsse:Password>`, "hunter"},
	{"XML", "<user><name>root</name><password>two hunter</password></user>", "hunter"},
	{"XML over lines", "<password>\n  hunter\n</password>", "hunter"},
	{"CDATA", "<password><![CDATA[hunter<2]]></password>", "hunter"},
	{"XML for HTML", "&lt;Password&gt;hunter&lt;/Password&gt;", "hunter"},
	{"XML in JSON", `"body":"\u003cPassword\u003ehunter\u003c/Password\u003e"`, "hunter"},
	{"XML attribute", `<user name="root" password="hunter"/>`, "hunter"},
	{"XML client secret", "<n:ClientSecret>hunter</n:ClientSecret>", "hunter"},
	{"XML token", "<SessionToken>hunter2hunter</SessionToken>", "hunter"},
	{"WS-Man", `<w:Selector Name="Password">x</w:Selector><p:Password>hunter</p:Password>`, "hunter"},
	{"query", "GET /x?token=hunter&y=z", "hunter"},
	{"query, later", "GET https://a/x?y=z&access_token=hunter HTTP/1.1", "hunter"},
	{"query in Go's JSON", `"https://a/x?y=z\u0026token=hunter\u0026b=c"`, "hunter"},
	{"query in HTML", "href=/x?y=z&amp;token=hunter&amp;b=c", "hunter"},
	{"query encoded", "redirect=https%3A%2F%2Fa%2Fx%3Ftoken%3Dhunter%26b%3Dc", "hunter"},
	{"empty password before", "a?password=&secret=hunter2hunter", "hunter"},
	{"empty password, next token", "password=&token=hunter", "hunter"},
	{"form", "body: grant_type=password&username=root&password=hunter", "hunter"},
	{"form's head", "token=hunter&token_type_hint=access_token", "hunter"},
	{"SAS", "https://a.blob.core.windows.net/x?sv=2020&sig=aGh1bnRlcjI%3D&se=1", "aGh1bnRlcjI"},
	{"S3", "https://b.s3/x?X-Amz-Signature=0123456789abcdef&X-Amz-Date=1", "0123456789abcdef"},
	{"OAuth code", "GET /oauth2callback/github?code=4f0c9a1b2c3d4e5f&state=x", "4f0c9a1b2c3d4e5f"},
	{"proxy without scheme", "HTTP_PROXY=user:hunter@proxy.example.com:3128", "hunter"},
	{"proxy of a config", "proxy = user:hunter@proxy.example.com:3128", "hunter"},
	{"proxy in JSON", `{"httpProxy":"user:hunter@proxy.example.com:3128"}`, "hunter"},
	{"proxy URL", "http_proxy=http://user:hunter@proxy.example.com:3128", "hunter"},
	{"data source", "dsn=root:hunter@tcp(db:3306)/ironic", "hunter"},
	{"SQLAlchemy", "connection=mysql+pymysql://ironic:hunter@localhost/ironic?charset=utf8", "hunter"},
	{"percent encoded", "https://user:hun%40ter%2F2@host/x", "hun%40ter"},
	{"URL in JSON", `{"url":"https:\/\/x","bmc":"redfish://root:hunter@192.0.2.4/redfish/v1"}`, "hunter"},
	{"Authorization", "> Authorization: Basic aHVudGVy", "aHVudGVy"},
	{"Authorization, short", "Authorization: Bearer hunter", "hunter"},
	{"Authorization token", "Authorization: token hunter", "hunter"},
	{"Proxy-Authorization", "Proxy-Authorization: Basic aHVudGVy", "aHVudGVy"},
	{"Digest", `Authorization: Digest username="root", realm="x", nonce="y", response="0123456789abcdef0123456789abcdef"`, "0123456789abcdef0123"},
	{"header in Go's map", "map[Authorization:[Bearer hunter] Accept:[*/*]]", "hunter"},
	{"header in Python", "{'X-Auth-Token': 'hunter2', 'Accept': '*/*'}", "hunter2"},
	{"header of curl", "curl -H 'X-Auth-Token: 9a7c6b5d' https://192.0.2.4/", "9a7c6b5d"},
	{"header of Redfish", "X-Auth-Token: 9a7c6b", "9a7c6b"},
	{"header of Vault", "X-Vault-Token: hvs.CAESIJ", "CAESIJ"},
	{"API key", "X-API-Key: 9a7c6b5d", "9a7c6b5d"},
	{"GitLab", "PRIVATE-TOKEN: glpat-9a7c6b", "9a7c6b"},
	{"Set-Cookie", "Set-Cookie: sessionKey=9a7c6b5d; Secure; HttpOnly", "9a7c6b5d"},
	{"Cookie in Go's map", "map[Cookie:[SID=9a7c6b5d]]", "9a7c6b5d"},
	{"websocket", "Sec-WebSocket-Protocol: base64url.bearer.authorization.k8s.io.aHVudGVyMg", "aHVudGVyMg"},
	{"shadow", "core:$6$salt$abcdefghijklmnop.qrstuv:19000:0:99999:7:::", "qrstuv"},
	{"shadow with DES", "core:ab1DfGh2JkLmN:19000:0:99999:7:::", "ab1DfGh2JkLmN"},
	{"yescrypt", "core:$y$j9T$F5Jx5fExrKuPp53xLKQ..1$tnSYvahCwPBHKZUspmcxMfb0.WiB9W.zEaKlOBL35rC", "tnSYvah"},
	{"bcrypt", "kubeadmin:$2a$10$abcdefghijklmnopqrstuuvwxyz0123456789ABCDEFGHIJKLMNOPQ", "wxyz0123"},
	{"bcrypt 2y", "admin:$2y$05$abcdefghijklmnopqrstuuvwxyz0123456789ABCDEFGHIJKLMNOPQ", "wxyz0123"},
	{"MD5", "root:$1$salt1234$abcdefghijklmnopqrstu.", "qrstu"},
	{"SHA-256", "hash $5$rounds=5000$salt$abcdefghijklmnopqrstuvwxyz0123456789", "qrstu"},
	{"htpasswd SHA", "admin:{SHA}0DPiKuNIrrVmD8IUCuw1hQxNqZc=", "0DPiKu"},
	{"SSHA", "userPassword: {SSHA}0DPiKuNIrrVmD8IUCuw1hQxNqZc4abcd", "0DPiKu"},
	{"grub", "password_pbkdf2 root grub.pbkdf2.sha512.10000.0123ABCD.0123ABCDEF012345", "ABCDEF012345"},
	{"Django", "pbkdf2_sha256$260000$abcdefgh$ABCDEFGHIJKLMNOP=", "ABCDEFGH"},
	{"Werkzeug", "pbkdf2:sha256:150000$abcdefgh$0123456789abcdef0123", "0123456789abcdef"},
	{"argon2", "$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$RdescudvJCsgt3ub", "Rdescud"},
	{"SCRAM", "SCRAM-SHA-256$4096:c2FsdA==$c3RvcmVk:c2VydmVyc2VydmVy", "c2VydmVy"},
	{"PostgreSQL", "ALTER ROLE quay PASSWORD 'md5a6343a68d964ca596d9752250d54bb8a'", "a6343a68"},
	{"MySQL", "IDENTIFIED BY PASSWORD '*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19'", "2470C0C0"},
	{"a cell of a table", "| root | password | Hunter2x | yes |", "Hunter2x"},
	{"an arrow", "password -> Hunter2x", "Hunter2x"},
	{"a tab", "password\tHunter2x", "Hunter2x"},
	{"next word", "changed password hunter2", "hunter2"},
	{"a sentence", "the password of root was set to Hunter2x!", "Hunter2x"},
	{"a token in a sentence", "got the access token 9aB8cD7eF6aB8cD7eF6a from Keystone", "9aB8cD7e"},
	{"after &&", "cd /tmp && podman login -u admin -p hunter2 registry", "hunter2"},
	{"data with a quote", "source: data:,echo%20'a%20hunter%20b'%20end", "hunter"},
	{"data in Python", "{'source': 'data:text/plain;base64,aHVudGVyMg==', 'x': 'y'}", "aHVudGVy"},
	{"useradd", "useradd -m -p hunter2 core", "hunter2"},
}

// keptTexts are what a person needs to read: unchanged.
var keptTexts = []string{
	"mkdir -p /etc/kubernetes/static-pod-resources", "ssh -p 2222 core@192.0.2.4", "scp -P 22 x core@h:", "docker run -p 8080:80 nginx", "podman run -u 1000:1000 image",
	"curl -u \"\" https://192.0.2.4/", "curl -sk https://192.0.2.4/healthz", "tool --password-file /etc/secret/pw --token-file /var/run/token", "the --password flag is required",
	"cp -p a b", "ipmitool -I lanplus -H 192.0.2.4 -U root -f /tmp/pw chassis status", "mysql -p db", "openssl x509 -passin file:/etc/pw -in tls.crt", "openssl s_client -connect api:6443",
	"oc login --username kubeadmin --server https://api:6443", "crictl pull quay.io/a/b@sha256:415e56a6d8d2b8576c59d08a7c57a7d081fa59e7dc3cd8782ed7bcd6080c7c12",
	"      DB_PASSWORD:  <set to the key 'password' in secret 'db'>  Optional: false", "env:\n- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: db\n      key: password\n",
	"EnvVar{Name:POD_NAME,Value:,ValueFrom:&EnvVarSource{FieldRef:&ObjectFieldSelector{APIVersion:v1,FieldPath:metadata.name,},},}", `{"name":"LOG_LEVEL","value":"debug"}`,
	"--password=$(DB_PASSWORD)", "key-mgmt=wpa-psk", "passwordAuthentication no", "PasswordAuthentication yes", "password authentication failed for user root", "secretName: foo", "auth_type PASS",
	"keyfile /etc/chrony.keys", "machine control1 is provisioned", "password expired", "wep-key-type=1", "psk-flags=1", "password-flags=0", "1 of 3 SHA256 sums", "secret: db-1", "token expired",
	"<name>root</name><enabled>true</enabled>", "<passwordExpired>false</passwordExpired>", "<secret type='ceph'><uuid>2ec115d7-3a88-3ceb-bc12-0ac909a6fd87</uuid></secret>",
	"GET /api/v1/nodes?limit=500&resourceVersion=123456&timeoutSeconds=345", "a?password=&user=root-12345", "GET /x?fieldSelector=metadata.name%3Dtoken-abc12345&watch=true", "exit code=2",
	"POST /apis/authentication.k8s.io/v1/tokenreviews?timeout=10s", "https://api.example.com/oauth/authorize?client_id=console&response_type=code", "HTTP_PROXY=http://proxy.example.com:3128",
	"NO_PROXY=.cluster.local,.svc,10.0.0.0/16,localhost", "proxy: docker.io/library/nginx:1.25@sha256:415e56a6d8d2b8576c59d08a7c57a7d081fa59e7dc3cd8782ed7bcd6080c7c12", "kube-rbac-proxy quay.io/a:tag@sha256:415e56a6",
	"authorization.k8s.io/v1", "authorization mode: Node", "x-kubernetes-list-map-keys: [name]", "WWW-Authenticate: Bearer realm=\"https://quay.io/v2/auth\",service=\"quay.io\"",
	"x-auth-token header is missing", "ps -p 1234 -o pid,cmd", "journalctl -u kubelet -p err", "tar -xpf a.tar", "oc get pods -A -o wide", "systemctl status -l crio", "--- PASS: TestA (0.00s)",
}

// TestFormats holds what every format hides, what no format may hide, and that the
// second time changes nothing.
func TestFormats(t *testing.T) {
	s := sanitizer(t, "a")
	for _, tt := range hiddenTexts {
		once := s.Text(tt.text)
		if strings.Contains(once, tt.secret) || !strings.Contains(once, redactedPrefix) {
			t.Errorf("%s: %q became %q", tt.name, tt.text, once)
		}
		if twice := sanitizer(t, "b").Text(once); twice != once {
			t.Errorf("%s: the second time %q becomes %q", tt.name, once, twice)
		}
	}
	for _, text := range keptTexts {
		if got := s.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestFormatsTogether holds that what stands next to a secret, or around it, does not
// keep it from being hidden in the same way the second time.
func TestFormatsTogether(t *testing.T) {
	a, b := sanitizer(t, "a"), sanitizer(t, "b")
	r := rand.New(rand.NewPCG(1, 2))
	n := 3000
	if testing.Short() {
		n = 300
	}
	for range n {
		one, two := hiddenTexts[r.IntN(len(hiddenTexts))], hiddenTexts[r.IntN(len(hiddenTexts))]
		glue := []string{" ", "\n", ", ", " | ", "; ", "&", " -- ", "\t"}[r.IntN(8)]
		text := one.text + glue + two.text
		switch r.IntN(4) {
		case 1:
			text = strconv.Quote(text)
		case 2:
			raw, err := json.Marshal(map[string]string{"msg": text})
			if err != nil {
				t.Fatal(err)
			}
			text = string(raw)
		case 3:
			text = keptTexts[r.IntN(len(keptTexts))] + glue + text
		}
		once := a.Text(text)
		if twice := b.Text(once); twice != once {
			t.Errorf("%s, %s: %q\nonce  %q\ntwice %q", one.name, two.name, text, once, twice)
		}
		for _, tt := range []string{one.secret, two.secret} {
			if strings.Contains(once, tt) && len(tt) > 6 && glue == "\n" {
				t.Errorf("%s, %s: left: %q in %q", one.name, two.name, tt, once)
			}
		}
	}
}
