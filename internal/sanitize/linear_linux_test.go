package sanitize

import (
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/rollcall-project/rollcall/internal/tools/sample"
)

// beginnings are parts of texts that are nothing but beginnings: each of them begins something
// that does not end, or belongs to what comes next.
var beginnings = []string{
	"#033[", "^[[", "[0m", "[-", "{+", "user,password\n", "user  password\n", "\"password\",", "a_pat_", "eyJhbGciOiJSUzI1NiIsIm\n", "password=x\\\n", "password: {\n",
	"passwords: [a, \"b\", ", "passwords: [\"b\", a, ", "password:\n----\n", "----\n", "[\"password\"]=>\n  string(9) ", "[\"password\":\"a\":private", "password = \"\"\"\n", "net use Z: \\\\a ",
	"*0123456789ABCDEF", "md5a ",
	`:\/\/`, `:\/\/u:`, "abcde1.", "y8gu5d.x61nnk7piod5fep", "Authorization: Ab a=b,", "Authorization: Ab a=\"", "a=b,", `"kty":"`, `"kty":"d":"`, "jdbc:oracle:thin:a/", "{password, ", "? password\n", "? password\n: |\n",
	"/hf_", "/AKIA", "/sk-ant-a1B2", "{\"a\":{", "0x62 ", "62 ", "62,", "626970617373", "key: |\n", "key:\n", "password \\\n", "{\"name\":\"Authorization\",\"value\":\"", "name: Cookie\nvalue: a=", "(password . ",
	"password: {a: {", "\"password\": {\"a\": {", "password: {\"old\":{", "chpasswd:\n", "a\" + \"", "password = \"a\" + \"", "--name a-password ", "--value a ", "Password.....", "type: password\n", "-----BEGIN OpenVPN Static key V1-----", "password: exit status 1 ",
	"InvalidPassword: a b ", "pw ", "auth_pass ", "-Password (ConvertTo-SecureString ",
	"password={", "password: {a ", "password={a}}", "{password={", "password:\n  a: b\n", "password:\n  value: |\n", "password:\n  # x\n", "password: # x\n", "- curl\n", "- curl\n- -u\n", "curl \\\n", "curl -u \\\n",
	"abcd=\t", "key 7 0", "<password><!--", "<password><!---->", "\"password\":interface {}(", "set -gx ", "set -gx A_PASS ", "discord.com/api/webhooks/", "snmp-server community ", "Private-MAC: ", "password (\"",
	"password: !a |\n", "password: | # x\n", "!a &b ", "type: Opaque\ndata:\n", `passwords["a`, "kubernetes.io/basic-auth", "type: kubernetes.io/token\n",
	`"`, `'`, `\"`, `\`, `\\\"`, "{", "[", "<", "(", "&", "&a", "&amp;", "!", "%", "-", "--", "=", ":", "|", "\t", "@", "://", "a:", "\x1b", "\x1b[", "\x00", "\u200b", `\u00`, `\u0070`,
	"-----BEGIN", "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----", "[redacted ", "data:", "data:,", "eyJhbGciOi", "QUJD", "\"QUJD", "sha256~", "AKIA",
	"password", "password ", "password=", "password: ", `password="`, "password='", `password:\"`, `{\"password\":\"`, "password: |\n", "password:\n", "password -> ", "password is ", "password for ",
	"password: &", "password: !", "password: (", "password: [", "password: {", `password["`, `"password","`, "password(", "token:", "?token=a&", "?token=&", "key: ", "secret: a ", "http_proxy=u:", "name:token,value:x,",
	"{Name:PASSWORD Value:", "{PASSWORD x ", "name: PASSWORD\n", "value: x\nname: PASSWORD\n", "<password>", "<password a=\"", "</password>", "<key>password</key>", "password  ", "password  user\n", "| password |\n",
	"password,user\n", "password\tuser\n", "--password ", "--password \\\n", "curl -u a:", "<<< ", "chpasswd <<EOF\n", "echo x | ", "IDENTIFIED BY '", "Authorization: ", "Cookie: ", "kind: Secret\ndata:\n", "aaaaa-", "machine a login b password ",
}

// cpu returns the processor time that this thread took, in microseconds.
func cpu(t testing.TB) int64 {
	const thisThread = 1 // RUSAGE_THREAD of getrusage(2)
	var u syscall.Rusage
	if err := syscall.Getrusage(thisThread, &u); err != nil {
		t.Skip(err)
	}
	return u.Utime.Sec*1e6 + int64(u.Utime.Usec)
}

// tries is how often a text is measured that seems to take too long: what else runs on the
// machine makes a short time much longer, and never shorter. Square work is long each time.
const tries = 5

// TestLinear: twice the text takes twice the work. The steps of the decoder are counted, the
// processor's time of all readers is measured.
func TestLinear(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	size := 32 << 10
	if testing.Short() || !sample.Whole() {
		size = 8 << 10
	}
	for _, part := range beginnings {
		work := func(n int) (steps int, micros int64) {
			text := strings.Repeat(part, n/len(part)+1)
			s := sanitizer(t, "a")
			begin := cpu(t)
			s.Text(text)
			micros = cpu(t) - begin
			return s.decoded(text, readable(text)).steps, micros
		}
		steps, micros := work(size)
		steps4, micros4 := work(4 * size)
		if steps4 > 5*steps+2*maxValue {
			t.Errorf("%q: %d steps, and %d for a text four times as long", part, steps, steps4)
		}
		tooLong := func() bool { return micros4 > 8*micros+30_000 }
		for try := 1; tooLong() && try < tries; try++ {
			_, again := work(size)
			_, again4 := work(4 * size)
			micros, micros4 = min(micros, again), min(micros4, again4)
		}
		if tooLong() {
			t.Errorf("%q: %d µs of the processor, and %d for a text four times as long", part, micros, micros4)
		}
		if steps4 > mostSteps(4*size+len(part)) {
			t.Errorf("%q: %d steps for %d bytes", part, steps4, 4*size)
		}
	}
}
