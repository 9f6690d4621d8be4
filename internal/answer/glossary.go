package answer

import (
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/page"
)

// Word is a word of the screens with its meaning. Names are its spellings, the first as it is shown.
type Word struct {
	Names []string `json:"names"`
	Means string   `json:"means"`
	Next  []string `json:"next"` // commands, without the program
}

// Glossary lists the words that screens print: headlines, states and headings. A word of the field is not in it, nor
// what has a page of its own: faults, remedies, facts and stages.
func Glossary() []Word {
	return slices.Concat(headlineWords, textWords, wingWords, answerWords, stateWords)
}

// headlineWords are what the first line of an answer is made of. A comma or a colon joins them.
var headlineWords = []Word{
	{[]string{"BROKEN"}, "something is wrong now, and it is an error: it does not pass by itself, or its time is over", []string{"diagnose"}},
	{[]string{"WARNING"}, "something is wrong, and nothing that is present is an error: hosts and API work for now", []string{"diagnose"}},
	{[]string{"CAUSE KNOWN"}, "every cause is proven: its mechanism was seen, and each has a remedy. `fix plan` plans what Rollcall can repair",
		[]string{"diagnose", "fix plan"}},
	{[]string{"LIKELY CAUSE"}, "a cause fits what was seen, and what would prove it was not seen. Prove it before you change anything: the answer has the " +
		"command that does; `fix plan` plans nothing for it", []string{"diagnose"}},
	{[]string{"NO REMEDY KNOWN"}, "the cause is known, and the catalog has no remedy for it: a person has to decide", []string{"diagnose"}},
	{[]string{"REPLACE A NODE"}, "the cause is known, and the remedy is to replace a node. A person decides", []string{"diagnose"}},
	{[]string{"RESTORE THE ETCD QUORUM"}, "most members of etcd are lost, and one that has the data is left. A person decides", []string{"diagnose"}},
	{[]string{"RESTORE FROM AN ETCD BACKUP"}, "the data of etcd is lost, and a backup exists. A person decides", []string{"diagnose"}},
	{[]string{"REINSTALL"}, "the data of etcd and every backup are proven to be lost, or an installation never finished. Age and the number of broken " +
		"things are never the reason", []string{"diagnose"}},
	{[]string{"NOTHING WRONG FOUND", "healthy"}, "every expected host has joined, and no check found a fault. The line has how many checks were not run: " +
		"something else may still be wrong", []string{"diagnose -o wide"}},
	{[]string{"NOTHING WRONG FOUND BUT N ACCEPTED FINDINGS", "nothing wrong found but N accepted finding"},
		"something is wrong, and an entry of --accept names all of it", []string{"diagnose"}},
	{[]string{"ACCEPTED", "N accepted", "accepted finding", "through it"}, "a finding that an entry of --accept names with its owner, its last day and the " +
		"reason: it stays in the answer and does not count for the exit code. `through it`: only an accepted finding explains this one", []string{"diagnose"}},
	{[]string{"IN PROGRESS"}, "something is not done and still within the time that it usually takes; the line has the time from when on it is a fault",
		[]string{"watch"}},
	{[]string{"AS EXPECTED", "settling"}, "a condition holds that is normal for a while, as a pool that has not converged in the first minutes of an " +
		"installation. Look again at the given time: what lasts longer is a fault", []string{"watch"}},
	{[]string{"UNDECIDED", "undetermined"}, "something is wrong or was not checked, and its cause is unknown. The answer has what would decide, with the " +
		"command that gets it. It is neither healthy nor broken", []string{"diagnose", "can-i"}},
	{[]string{"TOO LITTLE COLLECTED"}, "nothing is wrong in what was read, and too much is missing to call the cluster healthy: a must-gather has more",
		[]string{"diagnose -o wide"}},
	{[]string{"NOTHING WRONG IN WHAT WAS COLLECTED"}, "ClusterVersion and ClusterOperators were read, and report nothing wrong; other parts of the cluster " +
		"were not collected", []string{"diagnose -o wide"}},
	{[]string{"NOT OPENSHIFT"}, "the cluster is of another distribution of Kubernetes: most checks do not apply to it", []string{"diagnose"}},
	{[]string{"NOTHING WRONG IN WHAT WAS READ"}, "no check that applies found a fault; what was not read is not known", []string{"diagnose -o wide"}},
	{[]string{"NO LOG OF AN OPENSHIFT HOST"}, "all that was read is of machines with another system", []string{"scan FILE"}},
	{[]string{"INSTALLATION COMPLETED"}, "the installer logged that the installation has completed. No host was checked since", []string{"diagnose"}},
	{[]string{"BOOTSTRAP COMPLETED"}, "openshift-install saw the bootstrap complete, and the log ends there. No host was checked", []string{"diagnose"}},
	{[]string{"FILES WRITTEN", "NOTHING INSTALLED YET"}, "openshift-install wrote its files, and no later run of it works on a cluster",
		[]string{"preflight DIR"}},
	{[]string{"CANNOT CHECK", "THE CLUSTER IS NOT READ YET", "ANOTHER REPLICA READS THE CLUSTER"},
		"the API was not reached or not asked yet: nothing is known about the cluster itself. Where the network path is broken, the line has where",
		[]string{"diagnose"}},
	{[]string{"DO NOT INSTALL YET"}, "the plan, its network or its machines have mistakes, with which the installation fails", []string{"preflight DIR"}},
	{[]string{"CHECK BEFORE YOU INSTALL"}, "the plan has warnings and no mistake: look at each before you install", []string{"preflight DIR"}},
	{[]string{"NO MISTAKE FOUND SO FAR"}, "no check of the plan found a mistake, and not all of them were run", []string{"preflight DIR"}},
}

// textWords are the first lines of scan and explain, of a text.
var textWords = []Word{
	{[]string{"CAUSE FOUND"}, "a line of the text shows a known cause", []string{"scan FILE", "diagnose"}},
	{[]string{"REASON FOUND"}, "a line of the text has the reason itself; which setting or which part leads to it, the text does not show",
		[]string{"scan FILE"}},
	{[]string{"UNKNOWN"}, "it is not known: the text shows a failure and not its cause, or a check was not run. Unknown is never taken for fine, and never " +
		"for broken", []string{"scan FILE", "diagnose"}},
	{[]string{"NO KNOWN SIGN OF TROUBLE", "no known sign of trouble in this text"}, "no line of the text is known as a failure. That is not the same as " +
		"healthy: a text shows only what was pasted", []string{"scan FILE", "diagnose"}},
	{[]string{"THE INSTALLATION IS DONE"}, "the text has the last line of an installation. Only the cluster shows whether all workers have joined",
		[]string{"diagnose"}},
	{[]string{"Other messages in the text"}, "lines that are known as failures, and that the causes above do not explain: they do not decide the verdict",
		[]string{"scan FILE"}},
	{[]string{"Errors that Rollcall does not know"}, "lines that their program calls an error, and that the catalog does not have: they may be the cause",
		[]string{"scan FILE"}},
}

// wingWords are the states of commands that do not print an answer.
var wingWords = []Word{
	{[]string{"only reads", "reads"}, "the command changes nothing", []string{"check COMMAND"}},
	{[]string{"safe here", "safe"}, "in the state that was read the command does no harm; it may also be of no use", []string{"check COMMAND"}},
	{[]string{"not safe here", "unsafe"}, "in the state that was read the command does harm; the line has which", []string{"check COMMAND"}},
	{[]string{"cannot be undone"}, "the command destroys or gives away what does not come back", []string{"check COMMAND"}},
	{[]string{"needs a person", "a person decides"}, "the evidence does not decide it, or it cannot be undone: somebody who knows the cluster has to",
		[]string{"check COMMAND"}},
	{[]string{"NOT READ"}, "the cluster or the archive could not be read: nothing is known of it. Its row has the reason", []string{"fleet"}},
	{[]string{"OK"}, "nothing wrong was found in that cluster", []string{"fleet"}},
	{[]string{"NOT READY"}, "`preflight --update`: a host would not come back from the update or the reboot, or holds it", []string{"preflight --update"}},
	{[]string{"NO CHANGE FOUND", "NO CHANGE"}, "`baseline compare`: nothing that a baseline keeps has changed; FOUND: not all of it was read",
		[]string{"baseline compare"}},
	{[]string{"CLUSTER NOT KNOWN"}, "`baseline compare`: nothing shows that both are of the same cluster", []string{"baseline compare"}},
}

// answerWords are the headings and labels of an answer.
var answerWords = []Word{
	{[]string{"verdict"}, "the first line: the answer about the whole cluster, in one sentence", []string{"diagnose"}},
	{[]string{"fault", "finding"}, "something that can be wrong with a host, pool, operator, request or the cluster; a finding is what one check of it " +
		"found: present, absent, unknown or not applicable", []string{"list faults"}},
	{[]string{"cause", "root", "root cause"}, "a fault that is present and that no other present fault explains: repair this one", []string{"diagnose"}},
	{[]string{"symptom", "effect", "effects"}, "a fault that another present fault explains: it ends when its cause is repaired", []string{"diagnose"}},
	{[]string{"cause unknown", "unexplained"}, "a fault that is present, is not a cause by itself, and whose cause was not found", []string{"diagnose"}},
	{[]string{"possible causes", "possible cause", "candidate", "suspect"}, "a fault that would explain what is present, and of which it is not known " +
		"whether it is there. The answer has what would decide", []string{"diagnose"}},
	{[]string{"ruled out"}, "another cause of the same symptoms that was checked and is absent", []string{"diagnose -o wide"}},
	{[]string{"deadlock"}, "faults that block one another: waiting does not help. The answer names the step that breaks it", []string{"diagnose"}},
	{[]string{"proven", "mechanism"}, "what makes the fault was seen itself: its mechanism, and not only its effects", []string{"diagnose"}},
	{[]string{"likely", "not proven"}, "it fits what was seen, and what would prove it was not seen; the line below it has what", []string{"diagnose"}},
	{[]string{"possible"}, "one of several causes that fit equally well", []string{"diagnose"}},
	{[]string{"NOT DECIDED", "not decided: a fault, or it passes by itself"}, "a condition holds, and it is not known since when, or whether something " +
		"explains it: it may be a fault, or pass by itself", []string{"diagnose"}},
	{[]string{"becomes a fault", "may be normal"}, "until that time the condition is normal; if it still holds then, something is wrong", []string{"watch"}},
	{[]string{"not checked", "checks not run", "not run"}, "a permission, a file, a flag or an answer is missing, so the check has no result: it is neither " +
		"good nor bad. The answer has how to get what is missing", []string{"diagnose -o wide", "can-i"}},
	{[]string{"not collected"}, "the archive or text does not contain it; `get it` is the command that does", []string{"diagnose -o wide"}},
	{[]string{"not asked for"}, "it needs a flag that was not given: the line names the flag", []string{"options"}},
	{[]string{"it worked when", "see that it worked"}, "what to see after the repair, and how long that usually takes", []string{"diagnose"}},
	{[]string{"do not", "unsafe advice", "refused remedy"}, "advice that is often given and does harm in this case", []string{"list refused"}},
	{[]string{"only if", "not now"}, "a requirement of the remedy: `Only if` was not seen to hold, `Not now` does not hold", []string{"diagnose"}},
	{[]string{"once it is proven", "to decide whether it is this cause"}, "the cause is not proven yet: first the commands that only read, then the remedy",
		[]string{"diagnose"}},
	{[]string{"remedy", "what to do"}, "a repair with its requirements, its risk, how to undo it and what to see afterwards",
		[]string{"list remedies", "fix plan"}},
	{[]string{"risk"}, "the worst that a step can cause: none, reversible, restart, drain, reboot, power or data-loss", []string{"fix plan"}},
	{[]string{"proof", "evidence", "locator"}, "what was seen, and where it can be looked up again: an object with its field, or a file with its line",
		[]string{"diagnose -o wide"}},
	{[]string{"as of"}, "the time that is taken for the present: of an archive the newest time in it; --now TIME sets another", []string{"diagnose"}},
	{[]string{"archive"}, "a must-gather, an `oc adm inspect` tree, an Insights archive, a log bundle, a sosreport or what `collect` wrote",
		[]string{"diagnose --from PATH"}},
}

// stateWords are the states of checks, hosts and stages.
var stateWords = []Word{
	{[]string{"present"}, "the check was run, and the fault is there", []string{"diagnose"}},
	{[]string{"absent"}, "the check was run, and the fault is absent", []string{"diagnose -o wide"}},
	{[]string{"not applicable"}, "the check makes no sense here, as a bare-metal check on a cloud", []string{"diagnose -o wide"}},
	{[]string{"stage", "stages"}, "a step of the path on which a host joins, from planned to config-done", []string{"list stages"}},
	{[]string{"passed", "done", "passed every stage"}, "the host has passed the stage; done: it has passed every stage", []string{"status --all"}},
	{[]string{"failed"}, "the host is stuck at the stage, and the reason is known not to pass, or its time is over", []string{"diagnose HOST"}},
	{[]string{"waiting"}, "the host is at the stage for less than it usually takes", []string{"watch"}},
	{[]string{"joined"}, "the Node of the host has registered and reports Ready", []string{"status --all"}},
	{[]string{"expected", "expected host"}, "an object, a plan or --expect names the host: it should join", []string{"status --all"}},
	{[]string{"claimed", "claimed, not expected"}, "only a request for a certificate has the name, which whoever asks can choose: no object expects " +
		"such a host", []string{"csr list"}},
}

var (
	leadingMark = regexp.MustCompile(`^(?:[✗✓?!…x~] |ok )`)
	anyNumber   = regexp.MustCompile(`\b\d+\b`)
	joints      = regexp.MustCompile(`[,:;]\s*`)
)

// folded is a spelling without what differs from screen to screen.
func folded(words string) string {
	words = leadingMark.ReplaceAllString(strings.Join(strings.Fields(words), " "), "")
	return strings.ToLower(strings.Trim(anyNumber.ReplaceAllString(words, "N"), " .,:;\"'"))
}

// WordsOf are the words of the glossary that a text is made of: one, or the parts of a headline, with or without what
// follows it. It is nil where the text begins with no word of the glossary, or goes on and is no headline.
func WordsOf(text string) []Word {
	if w, ok := wordOf(text); ok {
		return []Word{w}
	}
	var found []Word
	for i, part := range joints.Split(leadingMark.ReplaceAllString(strings.TrimSpace(text), ""), -1) {
		w, ok := wordOf(part)
		capitals := part == strings.ToUpper(part)
		if !ok && i > 0 && len(found) == i && !capitals {
			return found // what follows the headline
		}
		if !ok || !capitals {
			return nil
		}
		found = append(found, w)
	}
	return found
}

func wordOf(text string) (Word, bool) {
	typed := folded(text)
	for _, w := range Glossary() {
		if slices.ContainsFunc(w.Names, func(n string) bool { return folded(n) == typed }) {
			return w, true
		}
	}
	return Word{}, false
}

// WordPage writes what words of the screens mean.
func WordPage(w io.Writer, words []Word, o Options) error {
	p := &page.Page{Style: o.Style}
	var next []string
	for i, word := range words {
		if i > 0 {
			p.Blank()
		}
		p.Line(0, page.Bold.Span(word.Names[0]))
		about := []string{"a word of the screens"}
		if len(word.Names) > 1 {
			about = append(about, "also: "+strings.Join(word.Names[1:], ", "))
		}
		p.Parts(0, page.Dim, about)
		p.Para(0, page.Span{}, page.Plain, word.Means)
		for _, command := range word.Next {
			next = addOnce(next, command)
		}
	}
	p.Blank()
	for i, command := range next {
		head := "Next: "
		if i > 0 {
			head = "      "
		}
		p.Line(0, page.Bold.Span(head), page.Cyan.Span(o.know(command)))
	}
	return p.Flush(w)
}
