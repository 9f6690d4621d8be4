package sanitize

import (
	"strings"
)

// Hashes of passwords: a weak password is found from its hash in minutes.
var hashMarks = append(hashDigits(), "$1$", "$5$", "$6$", "$7$", "$y$", "$gy$", "$2a$", "$2b$", "$2x$", "$2y$", "$apr1$", "$md5", "$sha1$",
	"$argon2", "$pbkdf2", "$scrypt$", "$bcrypt",
	"pbkdf2_", "pbkdf2:", "scrypt:", "grub.pbkdf2.", "{ssha", "{sha", "{smd5}", "{md5}", "{crypt}", "{pbkdf2", "{argon2", "{bcrypt}", "scram-sha-", "password",
	"rolpassword", "authentication_string", "identified", ":::")

// hashDigits are how the hashes begin that are only digits behind md5 or an asterisk.
func hashDigits() (marks []string) {
	const hexadecimal = "0123456789abcdef"
	for _, a := range hexadecimal {
		marks = append(marks, "md5"+string(a))
		for _, b := range hexadecimal {
			marks = append(marks, "*"+string(a)+string(b))
		}
	}
	return marks
}

// hashForms are the spellings of hashes, each with the programs that make it.
var hashForms = []form{
	// crypt(5): shadow, htpasswd, Ignition's passwordHash; argon2 and passlib.
	{"$", lazily(`(\$(?:1|5|6|7|y|gy|apr1|2[abxy]|sha1|md5,?[^$\s]*|argon2(?:id|i|d)|scrypt|bcrypt(?:-sha256)?|` +
		`pbkdf2(?:-[a-z0-9]+)?)\$[./A-Za-z0-9$=,+_-]{16,})`)},
	// Django, Werkzeug (of Quay and Ironic's tools).
	{"", lazily(`((?:pbkdf2_sha(?:1|256|512)\$|pbkdf2:sha(?:1|256|512):|scrypt:)\d+[$:][^\s"'\\]{16,})`)},
	{"grub.pbkdf2", lazily(`(grub\.pbkdf2\.sha512\.\d+\.[0-9A-Fa-f.]{16,})`)}, // grub2-mkpasswd-pbkdf2
	// userPassword of LDAP (RFC 2307) and htpasswd -s.
	{"{", lazily(`(?i)\{(?:s?sha(?:224|256|384|512)?|s?md5|crypt|pbkdf2[a-z0-9-]*|argon2[a-z]*|bcrypt)\}([./A-Za-z0-9$=,+_-]{8,})`)},
	{"SCRAM-SHA-", lazily(`(SCRAM-SHA-(?:1|224|256|384|512)\$\d+:[^\s"'\\]{16,})`)}, // PostgreSQL, Kafka
	{"md5", lazily(`\b(md5[0-9a-f]{32})\b`)}, // PostgreSQL before 14, PgBouncer
	// MySQL.
	{"*", lazily(`(?:^|[^*\w])(\*[0-9A-F]{40})\b|` +
		`(?i:password|authentication_string|identified)[^\r\n]{0,40}['"](\*[0-9A-Fa-f]{40})['"]`)},
	{":", lazily(`(?m)^[ \t]*[a-z_][a-z0-9_.-]{0,31}:!?([./A-Za-z0-9$=,+]{13,}):\d{0,6}:\d*:\d*:\d*:\d*:\d*:\d*`)}, // shadow(5) with DES
}

// hashes returns where the hashes of passwords are.
func hashes(v string) (found []span) {
	for _, f := range hashForms {
		for _, m := range f.findAll(v) {
			from, to := lastGroup(m)
			to = from + len(strings.TrimRight(v[from:to], ",."))
			found = append(found, span{from, to})
		}
	}
	return found
}
