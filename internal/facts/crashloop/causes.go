package crashloop

import (
	"regexp"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

type cause string

const (
	memory        cause = "memory"
	webhook       cause = "webhook"
	storage       cause = "storage"
	certificates  cause = "certificates"
	configuration cause = "configuration"
	api           cause = "api"
	other         cause = "other"
)

// causes are tried in this order. The words are those of client-go's
// tools/leaderelection, kubernetes' cmd/kube-controller-manager/app and
// staging/src/k8s.io/apiserver (admission/plugin/webhook, server/options), spf13/pflag,
// etcd's server/storage and server/embed.
var causes = []struct {
	cause cause
	text  *regexp.Regexp
}{
	{webhook, regexp.MustCompile(`(?i)failed calling webhook|webhook .*(?:timed out|deadline exceeded)`)},
	{storage, regexp.MustCompile(`(?i)etcdserver: |storage backend|:2379\b|\bwalpb?: |crc mismatch|wal error|freepages|database file|` +
		`failed to open database|recover v3 backend|` +
		`no space left on device|read-only file system|input/output error|mvcc: |is out of range \[lastindex|permanently removed|bolt`)},
	{certificates, regexp.MustCompile(`(?i)x509:|\btls: |private key does not match|unable to load client ca|find any PEM|certificate has expired|` +
		`: Unauthorized|authentication handshake failed`)},
	{configuration, regexp.MustCompile(`(?i)unknown flag|unknown shorthand flag|unrecognized feature gate|invalid argument|strict decoding error|` +
		`failed to parse|unknown field|unknown admission plugin|` +
		`no such file or directory|address already in use|couldn't find local name|cluster id mismatch|member count is unequal|invalid configuration`)},
	{api, regexp.MustCompile(`(?i)(?:resource lock|update lock|:6443\b|/apis?/).*(?:connection refused|i/o timeout|no such host|deadline exceeded|` +
		`no route to host|network is unreachable|` +
		`\bEOF\b|connection reset|server misbehaving|client\.timeout|handshake timeout|connection lost|timed out)`)},
}

// causeOf returns what a line names as the cause.
func causeOf(line string) cause {
	for _, c := range causes {
		if c.text.MatchString(line) {
			return c.cause
		}
	}
	return other
}

// messages are the lines that a run may end with.
var messages = []string{
	"crash.lock", "crash.update-lock", "crash.lost", "crash.backend", "crash.fatal", "crash.panic-level",
	"crash.panic", "crash.flag", "crash.gate", "crash.client-ca", "crash.webhook", "crash.command",
}

var (
	// errorLine is a line of klog with E or F, one of zap with error or worse, what cobra
	// prints of a command that failed, and a panic.
	errorLine = regexp.MustCompile(`(?i)^(?:\S+Z )?(?:[EF]\d{4} |\{"level":"(?:error|fatal|panic|dpanic)"|error: |panic: |fatal error: |unable to |failed to )`)
	// fatal is an error line with which a run ends.
	fatal = regexp.MustCompile(`(?i)^(?:\S+Z )?(?:F\d{4} |\{"level":"(?:fatal|panic|dpanic)"|error: |panic: |fatal error: )`)
	// noise is what servers log of clients.
	noise    = regexp.MustCompile(`(?i)unable to authenticate the request|TLS handshake error from|observed a panic`)
	header   = regexp.MustCompile(`^(?:\S+Z )?(?:[IWEF]\d{4} [0-9:.]+ +\d+ \S+\] )?`)
	zapField = regexp.MustCompile(`"(?:msg|error)":"((?:[^"\\]|\\.)*)"`)
)

func isError(line string) bool { return errorLine.MatchString(line) && !noise.MatchString(line) }

func isFatal(line string) bool {
	return fatal.MatchString(line) && !strings.Contains(line, "leaderelection lost") // which says no cause
}

// plain is a line without its header, short enough for a title.
func plain(line string) string {
	text := strings.TrimSpace(header.ReplaceAllString(strings.TrimSpace(line), ""))
	if i := strings.Index(text, `{"level":`); i >= 0 {
		var words []string
		for _, m := range zapField.FindAllStringSubmatch(text[i:], -1) {
			words = append(words, m[1])
		}
		text = strings.Join(words, ": ")
	}
	text = strings.Join(strings.Fields(text), " ")
	const most = 160
	return evidence.Shorten(text, most)
}
