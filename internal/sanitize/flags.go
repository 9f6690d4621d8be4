package sanitize

import "strings"

// flagUse is what the value of a flag is.
type flagUse int

const (
	noSecret    flagUse = iota
	keyOnly             // the value must be a random key
	wholeSecret         // the value is the secret
	likelyOnly          // the flag is also in sentences: the value must look like a secret
	userColon           // user:password
	userPercent         // user%password
	afterPrefix         // pass:password of openssl; env: and file: are references
	afterEqual          // key=value of a literal
)

// programFlags are the short flags that carry a secret in one program and something
// else in the next. A flag with "…" has its value attached and nowhere else.
var programFlags = map[string]map[string]flagUse{
	"hponcfg": {"-p": wholeSecret}, "onecli": {"-p": wholeSecret}, "sqlcmd": {"-P": wholeSecret}, "govc": {"-u": userColon}, "htpasswd": {},
	"sshpass":   {"-p": wholeSecret},
	"ipmitool":  {"-P": wholeSecret, "-k": wholeSecret, "-y": wholeSecret},
	"ipmipower": {"-p": wholeSecret, "-k": wholeSecret}, "ipmiconsole": {"-p": wholeSecret, "-k": wholeSecret}, // FreeIPMI
	"bmc-info": {"-p": wholeSecret, "-k": wholeSecret}, "ipmi-": {"-p": wholeSecret, "-k": wholeSecret},
	"fence_": {"-p": wholeSecret}, // ClusterLabs/fence-agents
	"racadm": {"-p": wholeSecret}, "ilorest": {"-p": wholeSecret}, "redfishtool": {"-p": wholeSecret},
	"curl":  {"-u": userColon, "-U": userColon, "--user": userColon, "--proxy-user": userColon, "--oauth2-bearer": wholeSecret},
	"mysql": {"-p…": wholeSecret}, "mysqldump": {"-p…": wholeSecret}, "mysqladmin": {"-p…": wholeSecret}, "mariadb": {"-p…": wholeSecret},
	"mongo": {"-p": wholeSecret}, "mongosh": {"-p": wholeSecret}, "mongodump": {"-p": wholeSecret},
	"redis-cli":  {"-a": wholeSecret},
	"ldapsearch": {"-w": wholeSecret}, "ldapmodify": {"-w": wholeSecret}, "ldapadd": {"-w": wholeSecret}, "ldapwhoami": {"-w": wholeSecret},
	"smbclient": {"-U": userPercent}, "rpcclient": {"-U": userPercent},
	"snmpget": {"-c": wholeSecret, "-A": wholeSecret, "-X": wholeSecret}, "snmpwalk": {"-c": wholeSecret, "-A": wholeSecret, "-X": wholeSecret},
	"useradd": {"-p": wholeSecret}, "usermod": {"-p": wholeSecret},
	"zip": {"-P": wholeSecret}, "unzip": {"-P": wholeSecret}, "7z": {"-p…": wholeSecret},
	"ssh-keygen": {"-N": wholeSecret, "-P": wholeSecret},
	"etcdctl":    {"--user": userColon},
	"openssl":    {"-passin": afterPrefix, "-passout": afterPrefix, "-pass": afterPrefix, "-k": wholeSecret},
	"oc":         {"--from-literal": afterEqual, "--token": wholeSecret, "login -p": wholeSecret},
	"kubectl":    {"--from-literal": afterEqual, "--token": wholeSecret},
	"kubeadm":    {"--token": wholeSecret},
	"podman":     {"login -p": wholeSecret}, "docker": {"login -p": wholeSecret}, "buildah": {"login -p": wholeSecret}, "skopeo": {"login -p": wholeSecret},
	"helm": {"login -p": wholeSecret}, "oras": {"login -p": wholeSecret}, "az": {"login -p": wholeSecret}, "rosa": {"login -t": wholeSecret},
	"iscsiadm": {"password -v": wholeSecret, "password --value": wholeSecret},
	"roxctl":   {"-p": wholeSecret}, // stackrox/stackrox
	"gh":       {"secret -b": wholeSecret, "secret --body": wholeSecret},
	"virsh":    {"secret-set-value --base64": wholeSecret},
}

// anyFlags are secrets of whatever program, besides those whose name tells.
var anyFlags = map[string]flagUse{
	"--creds": userColon, "--src-creds": userColon, "--dest-creds": userColon, // containers/image, cri-tools
	"-storepass": wholeSecret, "-keypass": wholeSecret, "-srcstorepass": wholeSecret, "-deststorepass": wholeSecret, // keytool
	"--registry-token": wholeSecret, "--activation-key": wholeSecret, "--activationkey": wholeSecret, // containers/skopeo, subscription-manager
}

// switches are the short flags without a value, of the programs that take several short flags in one word.
var switches = map[string]string{
	"curl": "sSkLvfiIgnN0123456OJRaGjlpq", "docker": "v", "podman": "v", "skopeo": "v", "buildah": "v", "oc": "v", "sshpass": "vV", "ipmitool": "vcV",
	"mysql": "fvtsBNHEXnqrbCcGLUA", "mariadb": "fvtsBNHEXnqrbCcGLUA", "mysqldump": "AaBCcdefFKlnqQrtVvXYy", "mysqladmin": "bCfisv",
	"ldapsearch": "xLZnvcACMNWtTu", "ldapmodify": "xZnvcCMNWa", "ldapadd": "xZnvcCMNW", "ldapwhoami": "xZnvCNW",
	"useradd": "mMNrloDU", "usermod": "alLmoUZ", "zip": "0123456789rejqmuTDXyvodfFgoklA", "unzip": "aABCDfjKLMnopqtTuUvVWXz", "smbclient": "NgkPEeV",
	"rpcclient": "NgkPEeV", "snmpget": "", "snmpwalk": "", "fence_": "vV", "htpasswd": "",
}

// maxCluster bounds how many short flags are looked for in one word.
const maxCluster = 12

// isSwitch reports whether a letter is a short flag without a value.
func (c *command) isSwitch(letter byte) bool {
	return strings.IndexByte(switches[c.program], letter) >= 0
}

// switches reports whether letters are short flags without a value.
func (c *command) switches(letters string) bool {
	for i := range len(letters) {
		if !c.isSwitch(letters[i]) {
			return false
		}
	}
	return true
}

// own returns what the value of a short flag of this program is, with its subcommand.
func (c *command) own(flag string) flagUse {
	if u := programFlags[c.program][flag]; u != noSecret || c.sub == "" {
		return u
	}
	return programFlags[c.program][c.sub+" "+flag]
}

// subcommands change what the flags of their program carry.
var subcommands = map[string]bool{"login": true, "secret-set-value": true, "password": true, "secret": true}

// command is what is known of the command line at one place of a text.
type command struct {
	program, sub string
	words        int     // that stand before a secret without a flag, and the secret
	secret       keyKind // what the value of --name says
	value        span    // of --value
}

// word takes in a word that is no flag.
func (c *command) word(w string) {
	if i := strings.LastIndexByte(w, '/'); i >= 0 {
		w = w[i+1:]
	}
	switch {
	case programFlags[w] != nil && (w != c.program || c.sub == ""): // or the user is called like the program
		*c = command{program: w}
	case strings.HasPrefix(w, "fence_"):
		*c = command{program: "fence_"}
	case strings.HasPrefix(w, "ipmi-"):
		*c = command{program: "ipmi-"}
	case subcommands[w]:
		c.sub = w
	case strings.HasSuffix(w, ".password"): // node.session.auth.password of iscsiadm
		c.sub = "password"
	}
}

// use returns what the value of a flag is.
func (c *command) use(flag string) flagUse {
	own := programFlags[c.program]
	if c.program == "htpasswd" && flag[1] != '-' && strings.Contains(flag, "b") { // -b FILE USER PASSWORD
		c.words = 3
		if strings.Contains(flag, "n") {
			c.words = 2
		}
	}
	if u := own[flag]; u != noSecret {
		return u
	}
	if c.sub != "" {
		if u := own[c.sub+" "+flag]; u != noSecret {
			return u
		}
	}
	if u := anyFlags[flag]; u != noSecret {
		return u
	}
	if c.sub == "login" && flag == "-p" {
		return wholeSecret
	}
	if n := len(flag); n > 2 && n < 8 && own["-"+flag[n-1:]] == userColon && c.switches(flag[1:n-1]) { // -sku
		return userColon
	}
	name := strings.TrimLeft(flag, "-")
	if len(flag) < 5 && !strings.EqualFold(name, "pw") {
		return noSecret
	}
	switch kind := kindOfKey(name); {
	case kind == plainKey:
		return noSecret
	case kind == weakKey:
		return keyOnly
	case kind == loginKey, kind == userKey:
		return userColon
	case kind == deepKey, strings.HasSuffix(name, "pass"), strings.HasSuffix(name, "pwd"):
		return wholeSecret
	}
	return likelyOnly
}

// isKey reports whether the value of a flag is a key and no path.
func isKey(value string) bool { return randomKey(value) && value[0] != '/' }

// secretOf returns where the secret is in the value of a flag.
func (u flagUse) secretOf(value string) (from, to int) {
	after := func(sign string) (int, int) {
		if i := strings.Index(value, sign); i >= 0 && i+1 < len(value) && !reference(value[i+1:]) {
			return i + 1, len(value)
		}
		return 0, 0
	}
	switch u {
	case keyOnly:
		if isKey(value) {
			return 0, len(value)
		}
	case wholeSecret:
		if noFlag(value) && !strings.HasPrefix(value, "/dev/") {
			return 0, len(value)
		}
	case likelyOnly:
		if longSecret(value) && !nameOfObject(value) && !isReference(value) && !lowPath.get().MatchString(value) {
			return 0, len(value)
		}
	case userColon:
		if strings.Contains(value, "://") {
			return 0, 0
		}
		return after(":")
	case userPercent:
		return after("%")
	case afterEqual:
		return after("=")
	case afterPrefix:
		if strings.HasPrefix(value, "pass:") {
			return len("pass:"), len(value)
		}
	}
	return 0, 0
}
