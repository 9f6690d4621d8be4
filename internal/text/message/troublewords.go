package message

import (
	"strings"
	"unicode"
)

// badWords are the words that programs use for trouble, in a state, a reason or a sentence.
var badWords = set("error", "errors", "err", "errored", "failed", "fail", "fails", "failing", "failure", "failures", "crash", "crashed", "crashing",
	"crashloop", "backoff", "invalid", "unknown", "lost", "degraded", "unhealthy", "unavailable", "unreachable", "denied", "rejected", "refused",
	"evicted", "killed", "exceeded", "insufficient", "timeout", "timedout", "disconnected", "expired", "stalled", "unsuccessful", "corrupt",
	"corrupted", "aborted", "fatal", "panic", "outdated", "stopped", "missing", "mismatch", "unable", "cannot", "couldn", "unauthorized",
	"forbidden", "notready", "outofcpu", "outofmemory", "outofpods", "unreconcilable", "preempted", "offline")

// goodWords are trouble with "not" before them.
var goodWords = set("ready", "available", "healthy", "found", "running", "connected", "joined", "reachable", "responding", "valid", "accepted",
	"established", "synced", "satisfied", "possible", "match", "exist")

// notWords turn the next words around.
var notWords = set("no", "not", "non", "never", "without", "0", "zero", "t", "isn", "hasn", "haven", "none")

// passingWords are of what goes on and ends by itself.
var passingWords = set("wait", "waits", "waiting", "progress", "progressing", "provisioning", "creating", "creation",
	"pending", "initializing", "installing", "starting", "started",
	"yet", "being", "rolling", "rollout", "deploying", "updating", "upgrading", "reconciling", "completed", "disabled", "unmanaged", "paused", "inprogress")

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

// inTrouble reports whether words say that something is wrong: a word of trouble that no
// "not" turns around, or a "not" before a good one.
func inTrouble(text string) bool {
	bad, not := trouble(text)
	return bad || not
}

// reportsTrouble reports whether a sentence has a word of trouble.
func reportsTrouble(text string) bool {
	bad, _ := trouble(text)
	return bad
}

func trouble(text string) (bad, notGood bool) {
	words := wordsOf(text)
	for i, w := range words {
		negated := i > 0 && notWords[words[i-1]] || i > 1 && notWords[words[i-2]]
		switch {
		case badWords[w] && !negated:
			bad = true
		case goodWords[w] && negated:
			notGood = true
		case w == "back" && i+1 < len(words) && words[i+1] == "off", w == "timed" && i+1 < len(words) && words[i+1] == "out":
			bad = true
		}
	}
	return bad, notGood
}

// isPassing reports whether words say that something still goes on.
func isPassing(text string) bool {
	for _, w := range wordsOf(text) {
		if passingWords[w] {
			return true
		}
	}
	return false
}

// wordsOf are the words of a text in lower case: "OOMKilled" and "oom killed" have the same.
func wordsOf(text string) (list []string) {
	runes := []rune(text)
	from := -1
	end := func(i int) {
		if from >= 0 {
			list = append(list, strings.ToLower(string(runes[from:i])))
		}
		from = -1
	}
	for i, c := range runes {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			end(i)
			continue
		}
		if from >= 0 && unicode.IsUpper(c) && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			end(i)
		}
		if from < 0 {
			from = i
		}
	}
	end(len(runes))
	return list
}
