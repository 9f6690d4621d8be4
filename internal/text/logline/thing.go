package logline

// things are nouns that make a word of trouble before them the name of a thing, which is there also
// where nothing fails: an error handler, a failure domain, the crash recovery kernel.
var things = set("handler", "handlers", "handling", "recovery", "threshold", "thresholds", "domain", "domains", "policy", "policies", "mode", "count", "counts",
	"counter", "counters", "rate", "rates", "ratio", "record", "records", "detector", "detection", "collector", "correction", "reporting", "reporter",
	"budget", "injection", "level", "logger", "logging", "log", "notification", "notifications", "channel", "window", "period", "interval",
	"seconds", "setting", "settings", "action", "table", "total", "hook", "value", "budgets", "limit", "range", "backoff", "ttl", "duration")

// Thing reports whether a word behind a word of trouble, in lower case, makes it the name of a thing.
func Thing(word string) bool { return things[word] }

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}
