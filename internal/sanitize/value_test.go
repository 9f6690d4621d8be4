package sanitize

import (
	"strings"
	"testing"
)

// TestValueEnds holds where a secret ends in the spellings that passwords come in, and
// that nothing of it stays. "#" stands for a digest.
func TestValueEnds(t *testing.T) {
	for in, want := range map[string]string{
		// Without quotes.
		"password: p&ssw0rd-hunter2":                     "password: #",
		"bmc:\n  password: p&ssw0rd-hunter2\n  user: x":  "bmc:\n  password: #\n  user: x",
		"x password: Sup3r&Secret9 next":                 "x password: # next",
		"password: Sup3r&Secret9 next":                   "password: #", // a line of one key: its value goes to the end
		"password: it's-hunter2":                         "password: #",
		"password: x\"y-hunter2":                         "password: #",
		`password: DOM\hunter2`:                          "password: #",
		`password: DOM\natasha`:                          "password: #",
		"password: ab}hunter2":                           "password: #",
		"password: ab)]}hunter2}":                        "password: #}",
		"password: &hunter2":                             "password: #",
		`password: p\u0026s-hunter2`:                     "password: #",
		"a?password=hunter2&user=root":                   "a?password=#&user=root",
		`a?password=hunter2\u0026user=root`:              `a?password=#\u0026user=root`,
		"a?password=hunter2&amp;user=root":               "a?password=#&amp;user=root",
		`{"msg":"password=hunter2","level":"info"}`:      `{"msg":"password=#","level":"info"}`,
		`{\"msg\":\"password=hunter2\",\"level\":\"x\"}`: `{\"msg\":\"password=#\",\"level\":\"x\"}`,
		`{password:hunter2,"level":"info"}`:              `{password:#,"level":"info"}`,
		"map[a:map[password:hunter2] b:c]":               "map[a:map[password:#] b:c]",
		`"password: calvin\nusername: root\n"`:           `"password: #\nusername: root\n"`,
		`err="password=hunter2" node=control1`:           `err="password=#" node=control1`,
		"it said 'password=hunter2'.":                    "it said 'password=#'.",
		"password => hunter2":                            "password => #",
		// In quotes.
		`{\"password\":\"Tr0ub\\u0026dor-hunter2\"}`:          `{\"password\":\"#\"}`,
		`{\"password\":\"a\\\"b-hunter2\",\"c\":\"d\"}`:       `{\"password\":\"#\",\"c\":\"d\"}`,
		`{\\\"password\\\":\\\"a\\u0026b\\\"}`:                `{\\\"password\\\":\\\"#\\\"}`,
		`{"password":"a\"b-hunter2","c":"d"}`:                 `{"password":"#","c":"d"}`,
		`{"password":"hunter2\\","c":"d"}`:                    `{"password":"#","c":"d"}`,
		`{\u0022password\u0022:\u0022a\u0026b\u0022}`:         `{\u0022password\u0022:\u0022#\u0022}`,
		`{\"password\":\"hunter2", "c":"d"}`:                  `{\"password\":\"#", "c":"d"}`,
		"password: 'it''s hunter2' # x":                       "password: '#' # x",
		"password: '''hunter2' # x":                           "password: '''#' # x",
		"x: 'password: ''hunter2'''":                          "x: 'password: ''#'",
		`"{""password"":""a-hunter2"",""user"":""root""}"`:    `"{""password"":""#"",""user"":""root""}"`,
		"{u'password': u'two hunter2', u'user': u'root'}":     "{u'password': u'#', u'user': u'root'}",
		"{'password': b'hunter2', 'user': 'root'}":            "{'password': b'#', 'user': 'root'}",
		`Password:(string) (len=7) "hunter2",`:                `Password:(string) (len=7) "#",`,
		`"got password:\n  hunter2x\n  user: root"`:           `"got password:\n  #\n  user: root"`,
		`"password: |\n  hunter2x"`:                           `"password: |\n  #"`,
		`passwords: ["hunter2", "hunter3"] end`:               `passwords: ["#"] end`,
		`{\"passwords\":[\"a&hunter2\",\"b\"],\"c\":[\"d\"]}`: `{\"passwords\":[\"#\"],\"c\":[\"d\"]}`,
		"passwords: [hunter2, hunter3] end":                   "passwords: [#] end",
		"cmd --password it's-hunter2 -v":                      "cmd --password # -v",
		// Colors.
		"\x1b[36mpassword\x1b[0m=hunter2x end":                        "password=#",
		"\x1b[36mpassword=\x1b[0mhunter2x\x1b[0m end":                 "password=#",
		`\x1b[36mpassword\x1b[0m=hunter2x`:                            `\x1b[36mpassword\x1b[0m=#`,
		"\x1b[36mtoken=\x1b[0mabc-S3cr3t-S3cr3t end":                  "token=#",
		`\u001b[36mtoken=\u001b[0mabc-S3cr3t-S3cr3t\u001b[0m`:         `\u001b[36mtoken=\u001b[0m#\u001b[0m`,
		"PrivateKey = yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=":   "PrivateKey = #",
		"private-key=yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=":    "private-key=#",
		"AccountName=x;AccountKey=yAnz5TF+lXXJte14tji3zl==;Suffix=y":  "AccountName=x;AccountKey=#;Suffix=y",
		"PresharedKey = yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=": "PresharedKey = #",
		"wifi psk=hunter2x":                          "wifi psk=#",
		"DB_PASS=hunter2":                            "DB_PASS=#",
		"db_pwd: 'hunter2'":                          "db_pwd: '#'",
		"core:$apr1$Zx1y2z3w$abcdefghijklmnopqrstu/": "core:#",
		"AGE-SECRET-KEY-1QQPQYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGPQYQSZQGP": "AGE-SECRET-KEY-#",
		// URLs.
		`"https://root:p\u0026s-hunter2@10.0.0.1"`:               `"https://root:#@10.0.0.1"`,
		"https://root:it's-hunter2@host":                         "https://root:#@host",
		`url 'https://root:it\'s@host/x', more`:                  `url 'https://root:#@host/x', more`,
		"x?u=http%3A%2F%2Fuser%3Ahunter2%40host%2Fx&y=z":         "x?u=http%3A%2F%2Fuser%3A#%40host%2Fx&y=z",
		"x?u=http%253A%252F%252Fuser%253Ahunter2%2540host":       "x?u=http%253A%252F%252Fuser%253A#%2540host",
		"x%22password%22%3A%22p%26s-hunter2%22%2C%22user%22%3A1": "x%22password%22%3A%22#%22%2C%22user%22%3A1",
	} {
		once := sanitizer(t, "a").Text(in)
		if twice := sanitizer(t, "b").Text(once); twice != once {
			t.Errorf("sanitising twice changes %q to %q", once, twice)
		}
		if got := digests.ReplaceAllString(once, "#"); got != want {
			t.Errorf("%s\nbecame %s\nwant   %s", in, got, want)
		}
	}
}

// TestNoValue holds what stands behind the name of a secret and is none.
func TestNoValue(t *testing.T) {
	for _, text := range []string{
		`{"password":"","user":"root"}`, `{\"password\":\"\",\"user\":\"root\"}`, `"invalid password:\nplease try again"`, `"password:\n  secretRef: bmc-0\n"`,
		"a?password=&user=root-12345", `a?password=\u0026user=root-12345`, "--- PASS: TestNode1 (0.00s)", "PWD=/var/lib/node1", "bypass: 10.0.0.1:8080", "private-key=/etc/kubernetes/static-pod/tls.key",
		`msg="--tls-private-key-file=/etc/kubernetes/server1.key"`, "x?u=https%3A%2F%2Fapi.example.com%3A6443%2Fx%40y", `{"urls":["https://a.example.com:6443","b@example.com"]}`,
		`'https://a.example.com:6443','b@example.com'`, `"GET https://a.example.com:6443/x\nb@example.com"`, `Password:(string) "", User:(string) (len=4) "root"`,
		"password\x1b[0m", "password='',user='root-12345'", `"{""password"":"""",""user"":""root-12345""}"`, `"passwords": [], "more": ["evidence"]`, "pass: yes, pwd: none",
	} {
		if got := sanitizer(t, "a").Text(text); got != text {
			t.Errorf("%s\nbecame %s", text, got)
		}
	}
}

// TestLongValues holds that a long line of names without values takes no square of its
// length: the test would not end.
func TestLongValues(t *testing.T) {
	if testing.Short() {
		t.Skip("much of one thing after the other")
	}
	for _, part := range []string{"pass=none,", "password=\\", "token:'a ", `password:"`, `password:\"x`, "psk=&", "psk=}", "://", `://a\@`, `://a\`, "password:[\"", "%3A%2F%2F%3A", "\x1b[0m", "password:\\n"} {
		text := strings.Repeat(part, (64<<10)/len(part))
		once := sanitizer(t, "a").Text(text)
		if twice := sanitizer(t, "b").Text(once); twice != once {
			t.Errorf("sanitising a row of %q twice changes it", part)
		}
	}
}
