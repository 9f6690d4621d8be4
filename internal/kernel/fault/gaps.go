package fault

import (
	"regexp"
	"strings"
)

// A gap is where a sentence has a value that is not known. Its marks are in no text: what comes from
// evidence has lost its control characters.
const gapBegin, gapEnd = "\x01", "\x02"

func gap(expr string) string { return gapBegin + expr + gapEnd }

// wordEnd is what follows a word of a sentence.
const wordEnd = `($|[ ,;:)']|\.(?:\s|$))`

var (
	anyGap     = regexp.MustCompile(gapBegin + `([^` + gapEnd + `]+)` + gapEnd)
	aside      = regexp.MustCompile(` \(` + gapBegin + `[^` + gapEnd + `]+` + gapEnd + `\)`)
	behind     = regexp.MustCompile(`: ` + gapBegin + `[^` + gapEnd + `]+` + gapEnd + `$`)
	behindKind = regexp.MustCompile(`(?:\b[Tt]he (\w+ )?)?\b(API|BareMetalHost|MachineSet|Machine|NodePool|Secret|pool|host|node|operator|proxy) ` +
		gapBegin + `[^` + gapEnd + `]+` + gapEnd + wordEnd)
	word    = regexp.MustCompile(`(^|[ (]|[Tt]he )` + gapBegin + `([^` + gapEnd + `]+)` + gapEnd + wordEnd)
	command = regexp.MustCompile(gapBegin + `([^` + gapEnd + `]+)` + gapEnd + ` --`)
)

// withoutGaps writes a sentence without the values that are not known: what is only an aside is left
// out, and what the sentence needs is said in words, "the host". Within a word, as a path, it is a
// placeholder, as in a command.
func withoutGaps(text string) string {
	if !strings.Contains(text, gapBegin) {
		return text
	}
	text = command.ReplaceAllStringFunc(text, func(m string) string { return blank(command.FindStringSubmatch(m)[1]) + " --" })
	text = aside.ReplaceAllString(text, "")
	text = behind.ReplaceAllString(text, "")
	text = behindKind.ReplaceAllString(text, "the $1$2$3")
	text = word.ReplaceAllStringFunc(text, func(m string) string {
		part := word.FindStringSubmatch(m)
		return strings.TrimSuffix(strings.TrimSuffix(part[1], "the "), "The ") + "the " + spoken(part[2]) + part[3]
	})
	return anyGap.ReplaceAllStringFunc(text, func(m string) string { return blank(strings.Trim(m, gapBegin+gapEnd)) })
}

// spokenNames are the values whose name is no word for them.
var spokenNames = map[string]string{
	"api.issuer": "CA that signed it", "api.name": "name of the API", "api.notAfter": "expiry", "api.server": "address of the API",
	"api.vantage": "machine that asks", "asked.on": "nodes", "bmh.name": "host", "crash.container": "container", "crash.said": "reason",
	"csr": "request", "cv.failingMessage": "reason", "disks.readOnly": "file system", "ev.secret": "Secret", "files.damaged": "damaged file",
	"hh.machine": "Machine", "holders.hosts": "hosts", "holders.withoutMaster": "VIP", "ign.badConfig": "config that it refused",
	"ign.pool": "pool", "ign.stageError": "error of the stage", "ign.url": "URL", "inputs.expected": "former address", "inputs.internal": "present address",
	"log.causeText": "cause", "machine.host": "BareMetalHost", "machine.name": "Machine", "names.first": "name", "net.ovnPod": "ovnkube-node pod",
	"nodepool": "NodePool", "ptr.missing": "missing Secret", "ptr.refusing": "MachineSet that refuses it", "ptr.sets": "MachineSet",
	"pull.registry": "registry", "req.node": "node", "silence.asking": "asking", "sp.gone": "node", "stalled.refusal": "refusal",
	"svc.neverRan": "missing service", "svc.service": "service", "units.before": "units before it",
}

// spoken is the word for a value in a sentence.
func spoken(expr string) string {
	if words, ok := spokenNames[expr]; ok {
		return words
	}
	name := expr[strings.LastIndexByte(expr, '.')+1:]
	return strings.ToLower(wordStart.ReplaceAllString(name, "${1} ${2}"))
}
