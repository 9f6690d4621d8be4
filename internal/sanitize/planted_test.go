package sanitize

import (
	"fmt"
	"slices"
	"strings"
)

// planted is a text that carries a secret in one of the forms in which the programs of a
// cluster, and the people who run it, print one. @ stands for the secret.
type planted struct {
	text   string
	secret string // "" stands for one that is made up for the place
}

// madeUp is a secret that occurs once: letters and digits, as a person or a program
// would choose it.
func madeUp(i int) string {
	switch i % 4 {
	case 0:
		return fmt.Sprintf("Wq7zK%03dmPx4Rt", i)
	case 1:
		return fmt.Sprintf("winter%03dKestrel", i)
	case 2:
		return fmt.Sprintf("Tr0ub4dor%03d-x9", i)
	}
	return fmt.Sprintf("k%03dHv8sQ2nLw5yB", i)
}

// plantedTexts lists texts of one or more lines by the form in which the secret is.
var plantedTexts = map[string][]planted{
	"XML and SOAP": {
		{text: `<wsse:Password Type="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-username-token-profile-1.0#PasswordText">@</wsse:Password>`},
		{text: `<password>@</password>`}, {text: `<Password xsi:type="xsd:string">@</Password>`}, {text: `<vim25:password>@</vim25:password>`},
		{text: `<user name="root" password="@"/>`}, {text: `<bean><property name="password" value="@"/></bean>`},
		{text: `<credential><secret>@</secret></credential>`}, {text: `<secret ephemeral='no'><value>@</value></secret>`},
		{text: `<graphics type='vnc' port='5900' passwd='@'/>`}, {text: `<wsse:BinarySecurityToken EncodingType="x">@</wsse:BinarySecurityToken>`},
		{text: `&lt;password&gt;@&lt;/password&gt;`}, {text: "<password>\n  @\n</password>"}, {text: `<ns1:passWord><![CDATA[@]]></ns1:passWord>`},
		{text: `<ADMIN_PASSWORD>@</ADMIN_PASSWORD>`},
	},
	"INI and keyfiles": {
		{text: "[wifi-security]\nkey-mgmt=wpa-psk\npsk=@"}, {text: "[802-1x]\nidentity=host\npassword=@"}, {text: "[802-1x]\nprivate-key-password = @"},
		{text: "wep-key0=@"}, {text: "password = @ with blanks", secret: "correct horse battery staple"}, {text: "[Global]\nsecret-name = \"creds\"\npassword = \"@\""},
		{text: "rabbit_password=@"}, {text: "[keystone_authtoken]\npassword: @"}, {text: "admin_password = @"}, {text: "connection = mysql+pymysql://ironic:@@192.0.2.1/ironic", secret: "Sq1Secret99"},
		{text: "[DEFAULT]\nhttp_basic_password=@"}, {text: "requirepass @"}, {text: "bindpw @"}, {text: "ldap_default_authtok = @"}, {text: "secret=@"},
		{text: "preshared-key = @"}, {text: "[wireguard-peer]\npreshared-key=@"}, {text: "private_key = @"},
	},
	"netrc and the like": {
		{text: "machine registry.example.com login puller password @"}, {text: "machine mirror.example.com\n  login puller\n  password @"}, {text: "default login anonymous password @"},
		{text: "wpa_passphrase=@"}, {text: "1 SHA1 HEX:@", secret: "A1B2C3D4E5F60718293A4B5C6D7E8F9012345678"}, {text: "10 MD5 ASCII:@"}, {text: "db.example.com:5432:app:dbuser:@ # pgpass", secret: "pgSecret77x"},
		{text: "authenticator password @"}, {text: "enable secret @"}, {text: "snmp-server community @ RO", secret: "c0mmun1tyX9"},
	},
	"command lines": {
		{text: "ipmitool -I lanplus -H 192.0.2.40 -U admin -P @ power status"}, {text: "ipmitool -I lanplus -H 192.0.2.40 -U admin -P '@' chassis"}, {text: "ipmitool -Ilanplus -H10.0.0.1 -Uadmin -P@ mc info"},
		{text: "Running command: ['ipmitool', '-I', 'lanplus', '-U', 'admin', '-P', '@', 'power', 'on']"}, {text: `exec.Command args=["ipmitool","-U","root","-P","@"]`},
		{text: `command: []string{"ipmitool", "-U", "root", "-P", "@"}`}, {text: "sshpass -p @ ssh core@192.0.2.1"}, {text: "sshpass -p'@' ssh core@192.0.2.1"}, {text: `sshpass -p "@ two" ssh x`, secret: "blank Secret91"},
		{text: "curl -k -u admin:@ https://192.0.2.40/redfish/v1"}, {text: "curl -sku 'admin:@' https://bmc.example.com/redfish/v1/Systems"}, {text: "curl --user=admin:@ https://x.example.com"}, {text: `curl -H "X-Auth-Token: @" https://192.0.2.40/redfish/v1`},
		{text: "podman login -u puller -p @ registry.example.com"}, {text: "podman login --username puller --password @ registry.example.com"}, {text: "docker login -p=@ -u x quay.example.com"}, {text: "oc login --token=@ --server=https://api.example.com:6443", secret: "sha256~Zk9dQ0w3uX2LrN8tYb5cVh1mEp7sGj4fAo6iKqRt0"},
		{text: "oc login -u kubeadmin -p @ https://api.example.com:6443"}, {text: "skopeo copy --src-creds puller:@ docker://a docker://b"}, {text: "skopeo inspect --creds=puller:@ docker://a"}, {text: "skopeo copy --dest-creds 'puller:@' a b"},
		{text: "mysql -uroot -p@ ironic"}, {text: "mysqldump --password=@ ironic"}, {text: "htpasswd -bB /tmp/users admin @"}, {text: "ldapsearch -x -D cn=admin -w @ -b dc=example"}, {text: "wget --http-password=@ https://x.example.com"},
		{text: "racadm -r 192.0.2.40 -u root -p @ get BIOS"}, {text: "hponcfg -u admin -p @"}, {text: "sudo -S <<< @ ; password: @"}, {text: "psql postgresql://app:@@db.example.com/app", secret: "PgUri88secret"}, {text: "PGPASSWORD=@ psql -h db"},
		{text: "echo @ | passwd --stdin core"}, {text: `virsh secret-set-value u --base64 @`, secret: "QVFCZXJ0eTEyMzQ1Njc4OTA="}, {text: "openssl pkcs12 -in a -passin pass:@"}, {text: "kubeadm join 192.0.2.1:6443 --token @", secret: "abc123.0123456789abcdef"},
		{text: "subscription-manager register --username a --password @ --auto-attach"}, {text: "argocd login --password @ x"}, {text: "az login --service-principal -u app -p @ --tenant t"},
	},
	"containers' environments": {
		{text: `EnvVar{Name:DB_PASSWORD,Value:@,ValueFrom:nil,}`}, {text: `&Container{Name:ironic,Env:[]EnvVar{EnvVar{Name:IRONIC_HTTP_PASSWORD,Value:@,ValueFrom:nil,},EnvVar{Name:A,Value:b,}}}`}, {text: `EnvVar{Name:API_TOKEN,Value:@ and more,ValueFrom:nil,}`, secret: "tok3n with blanks"},
		{text: "      DB_PASSWORD:  @"}, {text: "    Environment:\n      IPMI_PASSWORD:     @\n      PORT:  8080"}, {text: "DB_PASS=@"}, {text: "export AWS_SECRET_ACCESS_KEY=@", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzKEY"}, {text: `{"name":"ADMIN_PASSWORD","value":"@"}`},
		{text: "- name: ADMIN_PASSWORD\n  value: @"}, {text: "- name: SECRET_TOKEN\n  value: \"@\""}, {text: `{"value":"@","name":"BMC_PASSWORD"}`}, {text: "GITHUB_TOKEN=@", secret: "ghp_abcdEFGH0123456789abcdEFGH0123456789"}, {text: "env: [HTTP_PROXY=http://u:@@proxy.example.com:3128]", secret: "Prx88pass"},
		{text: "OS_PASSWORD=@"}, {text: `Env:[PASSWORD=@ HOME=/root]`}, {text: `{Name:KEYSTONE_PASSWORD Value:@ ValueFrom:nil}`},
	},
	"addresses and headers": {
		{text: "HTTP_PROXY=puller:@@proxy.example.com:3128", secret: "Nosch3me77"}, {text: "proxy=puller:@@192.0.2.9:8080", secret: "Nosch3me78"}, {text: "https://admin:@@192.0.2.40/redfish/v1", secret: "p4ss/w0rdX"}, {text: "redfish+https://root:@@192.0.2.40/x", secret: "Calvin!2x"},
		{text: "GET /login?user=a&password=@&x=1"}, {text: "GET /cb?access_token=@ HTTP/1.1"}, {text: "password=&x=y&client_secret=@"}, {text: "j_username=admin&j_password=@"}, {text: "Authorization: Basic @", secret: "YWRtaW46czNjcjN0UGFzcw=="},
		{text: "authorization: Bearer @", secret: "sha256~Ab9dQ0w3uX2LrN8tYb5cVh1mEp7sGj4fAo6iKqRt0"}, {text: "X-Auth-Token: @"}, {text: "Cookie: sessionKey=@; path=/"}, {text: "Set-Cookie: SESSION=@; HttpOnly"}, {text: `"X-Auth-Token":["@"]`},
		{text: "X-Amz-Security-Token=@&x=1"}, {text: "https://blob.example.com/x?sv=1&sig=@", secret: "a1B2c3D4e5F6g7H8%2Bi9J0%3D"}, {text: "password%3D@%26x%3D1"}, {text: "x-api-key: @"}, {text: `headers: map[Authorization:[Basic @]]`, secret: "YWRtaW46eDlzM2NyM3RQYXNz"},
		{text: "Proxy-Authorization: Basic @", secret: "cHg6czNjcjN0UHJveHk5OQ=="}, {text: `{"UserName":"root","Password":"@"}`}, {text: `body: {\"UserName\":\"root\",\"Password\":\"@\"}`}, {text: "api.key=@"},
	},
	"password hashes": {
		{text: `passwordHash: @`, secret: "$6$rounds=4096$saltsalt$Q9b1xYzkWJ3mN5pR7tV9xB1dF3hJ5lN7pR9tV1xZ3bD5fH7jL9nP1rT3vX5zB7dF"}, {text: "core:@:19000:0:99999:7:::", secret: "$y$j9T$F5Jx5fExrKuPp53xLKQ..1$X3DX6M94c7o.9agCG9G317fhZg9SqC.5i5rd.RhAtQ7"},
		{text: "admin:@", secret: "$2y$05$abcdefghijklmnopqrstuuJ8s1xYzkWJ3mN5pR7tV9xB1dF3hJ5lN7"}, {text: "admin:@", secret: "$apr1$x9s8d7f6$Ab3dEf5hIj7lMn9pQr1tU."}, {text: "userPassword: @", secret: "{SSHA}5en6G6MezRroT3XKqkdPOmY/BfQx9s8d"},
		{text: "kubeadmin: @", secret: "$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy"}, {text: "grub.pbkdf2.sha512.10000.@", secret: "0123456789ABCDEF0123456789ABCDEF.FEDCBA9876543210FEDCBA9876543210"}, {text: "htpasswd: admin:@", secret: "{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g="},
		{text: "$argon2id$v=19$m=65536,t=3,p=4$@", secret: "c29tZXNhbHQx$RdescudvJCsgt3ub9b5dWRWJTmaaJObG"}, {text: "password_hash = pbkdf2:sha256:260000$@", secret: "x9s8d7f6$0123456789abcdef0123456789abcdef"},
	},
	"lists and structures": {
		{text: `args: ["--user", "admin", "--password", "@"]`}, {text: "args:\n- --password\n- @"}, {text: "command:\n- podman\n- login\n- -p\n- @"}, {text: `{"username":"a","password":"@"}`}, {text: `{\"auths\":{\"quay.io\":{\"auth\":\"@\"}}}`, secret: b64("puller:s3cr3tQuay99")},
		{text: `"auth": "@"`, secret: b64("puller:s3cr3tQuay98")}, {text: `password: "@ with blanks"`, secret: "Blank Value 77x"}, {text: `password: '@'`, secret: "it''s 77 Secret"}, {text: "password: |\n  @"}, {text: "password: >-\n  @"},
		{text: "bmcPassword=@"}, {text: "map[password:@ username:admin]"}, {text: "{Username:admin Password:@}"}, {text: `&{User:admin Password:@ Host:x}`}, {text: `Credentials{Username: "admin", Password: "@"}`},
		{text: "(string) (len=8) \"password\": (string) (len=16) \"@\""}, {text: "password => @"}, {text: `"password" => "@"`}, {text: "'password': u'@'"}, {text: "password:\n- @"},
		{text: "passwords: [\"@\", \"b\"]"}, {text: `{"secret_key":"@"}`}, {text: `clientSecret: @`}, {text: "bindPassword: {value: @}"}, {text: `"password":["@"]`}, {text: "Password ........ : @"}, {text: "BMC password | @"}, {text: "| password | @ |"},
		{text: "admin password is @"}, {text: "The password for kubeadmin: @", secret: "dJ4Kt-9xPqL-bR7vN-sW2mZ"}, {text: "Login to the console with user: \"kubeadmin\", and password: \"@\"", secret: "aB3dE-fG5hJ-kL7mN-pQ9rS"}, {text: "token: @", secret: "eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.eyJpc3MiOiJrdWJlcm5ldGVzIn0.c2lnbmF0dXJlc2lnbmF0dXJl"},
	},
	"keys over lines": {
		{text: "-----BEGIN RSA PRIVATE KEY-----\n@\n-----END RSA PRIVATE KEY-----", secret: "MIIEowIBAAKCAQEAx9s8d7f6Ab3dEf5hIj7lMn9pQr1tUvWxYz0123456789abcd"},
		{text: "Nov 23 01:02:03 m0 cloud-init[99]: -----BEGIN OPENSSH PRIVATE KEY-----\nNov 23 01:02:03 m0 cloud-init[99]: @\nNov 23 01:02:03 m0 cloud-init[99]: -----END OPENSSH PRIVATE KEY-----", secret: "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtz"},
		{text: "2026-11-23T01:02:03.000000000Z -----BEGIN EC PRIVATE KEY-----\n2026-11-23T01:02:03.000000000Z @\n2026-11-23T01:02:03.000000000Z -----END EC PRIVATE KEY-----", secret: "MHcCAQEEIIx9s8d7f6Ab3dEf5hIj7lMn9pQr1tUvWxYz0123456789abcdoAoGCC"},
		{text: `"key": "-----BEGIN PRIVATE KEY-----\n@\n-----END PRIVATE KEY-----\n"`, secret: "MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQDx9s8d7f6Ab3dE"},
		{text: "tls.key: |\n  -----BEGIN PRIVATE KEY-----\n  @\n  -----END PRIVATE KEY-----", secret: "MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQDz0123456789ab"},
		{text: "client-key-data: @", secret: b64("-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAy1y2y3")},
		{text: "token:\n  eyJhbGciOiJSUzI1NiJ9.\n  @", secret: "eyJpc3MiOiJrdWJlcm5ldGVzL3NlcnZpY2VhY2NvdW50In0.c2ln"},
		{text: "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\ndata:\n  anything: @", secret: b64("plain words here 77")}, {text: "kind: Secret\nstringData:\n  note: @", secret: "JustAWord"},
		{text: "apiVersion: v1\ndata:\n  user: @\nkind: Secret", secret: b64("admin-of-things")},
		{text: "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n@\n-----END PGP PRIVATE KEY BLOCK-----", secret: "lQOYBFx9s8dBCADx9s8d7f6Ab3dEf5hIj7lMn9pQr1tUvWxYz0123456789abcde"},
		{text: "AGE-SECRET-KEY-1@", secret: "QQPQZRQ9X8GF2TVDW0S3JN54KHCE6MUA7LQQPQZRQ9X8GF2TVDW0S3JN54"},
	},
	"as programs print them": {
		{text: "driver_info: {'redfish_address': 'https://192.0.2.40', 'redfish_username': 'root', 'redfish_password': '@'}"}, {text: "ansible_ssh_pass=@ ansible_user=core"}, {text: "javax.net.ssl.keyStorePassword=@"}, {text: "-Djavax.net.ssl.trustStorePassword=@ -Xmx1g"},
		{text: `variable "vsphere_password" { default = "@" }`}, {text: "TF_VAR_vsphere_password=@"}, {text: `"private_key": "-----BEGIN PRIVATE KEY-----\n@\n-----END PRIVATE KEY-----\n"`, secret: "MIIEvAIBADANBgkqhkiG9w0BAQEFAASCBKYwggSiAgEAAoIBAQC7VJTUt9Us8cKj"},
		{text: "aws_secret_access_key = @", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEK01"}, {text: "AWS_SESSION_TOKEN=@", secret: "FwoGZXIvYXdzEBYaDHhBTEs5WjJ5c0Q3MTIzNDU2Nzg5MDEyMzQ1Njc4OTA="}, {text: "password for user root: @", secret: "Vsph3re!Pass77"}, {text: "govc -u 'administrator@vsphere.local:@@192.0.2.3' ls", secret: "Vsph3rePass78"},
		{text: "GOVC_URL=https://admin:@@vcenter.example.com/sdk", secret: "Vsph3rePass79"}, {text: `level=info msg="Access the console" password=@`}, {text: `msg="login" user=admin password="@"`}, {text: "2026-11-23 01:02:03.456 1 DEBUG ironic [-] Node info: {'ipmi_password': '@', 'ipmi_username': 'x'}"},
		{text: "net use x: /user:admin password=@"}, {text: "spec: {bmc: {address: ipmi://192.0.2.1, password: @}}"}, {text: `oc create secret generic x --from-literal=password=@`}, {text: `oc create secret docker-registry x --docker-password=@ --docker-username=a`}, {text: `oc set env deploy/x DB_PASSWORD=@`},
		{text: "https://hooks.slack.com/services/@", secret: "T01234567/B01234567/abcdEFGHijklMNOPqrstUVWX"}, {text: "glpat: @", secret: "glpat-abcdEFGH01234567wxyz"}, {text: "npm_token=@", secret: "npm_abcdEFGH0123456789abcdEFGH0123456789"}, {text: "export KUBEADMIN_PASSWORD='@'", secret: "aB3dE-fG5hJ-kL7mN-pQ9rT"},
		{text: "kubeadmin-password: @", secret: "cD3dE-fG5hJ-kL7mN-pQ9rU"}, {text: "user=admin&passwd=@&submit=1"}, {text: "vncpassword=@"}, {text: "<domain><devices><graphics passwd=\"@\"/></devices></domain>"}, {text: "ipmi_pass: @"}, {text: "ADMIN_PASS='@'"}, {text: "root:@:0:0:root:/root:/bin/bash", secret: "$6$saltsalt$abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz"},
		{text: "network={ssid=x psk=\"@\"}"}, {text: "openssl enc -aes-256-cbc -k @ -in a"}, {text: "zabbix_sender -k x ; api_token: @", secret: "0424bd59b807674191e7d77572075f33"}, {text: "cloud-init: chpasswd: list: core:@", secret: "$6$rounds=4096$aa$bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"},
	},
	"encodings": {
		{text: "source: data:;base64,@", secret: b64("password=Nested77secret and more text")}, {text: "source: data:text/plain;charset=utf-8;base64,@", secret: b64("machine x login y password Nested78")}, {text: "value: @", secret: b64(`{"auths":{"quay.io":{"auth":"` + b64("a:nested79") + `"}}}`)},
		{text: "blob " + "@" + " end", secret: b64(b64(`{"auths":{"quay.io":{"auth":"` + b64("a:nestednested80") + `"}}}`))}, {text: "user-data: @", secret: b64("#cloud-config\npassword: Nested81secret\nchpasswd: {expire: false}\n")},
		{text: "data:,password%3D@%0A"}, {text: "contents: source: data:,%7B%22auth%22%3A%22@%22%7D", secret: "cHVsbGVyOnMzY3IzdFF1YXk5Nw"}, {text: `{"config":"@"}`, secret: b64("apiVersion: v1\nkind: Config\nusers:\n- user: {token: x9s8d7f6Ab3dEf5hIj7l}\n")},
	},
}

// secrets lists every planted text with its secret in it.
func secrets() (list []planted, names []string) {
	var kinds []string
	for kind := range plantedTexts {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	for _, kind := range kinds {
		for i, p := range plantedTexts[kind] {
			if p.secret == "" {
				p.secret = madeUp(len(list))
			}
			text := p.text
			if strings.Contains(text, "@@") {
				text = strings.Replace(text, "@@", p.secret+"\x00", 1)
				text = strings.ReplaceAll(text, "\x00", "@")
			} else if n := strings.LastIndex(text, "core@"); n >= 0 || strings.Contains(text, "core@") {
				text = strings.Replace(text, "@", p.secret, 1)
			} else {
				text = strings.ReplaceAll(text, "@", p.secret)
			}
			p.text = text
			list = append(list, p)
			names = append(names, fmt.Sprintf("%s %d", kind, i))
		}
	}
	return list, names
}
