package sanitize

import "strings"

// Here the lines of here-documents are read: what a shell or Terraform takes up to a word that ends it.

var (
	// heredoc is one that a program reads a password from.
	heredoc = lazily(`(?:\b(?:chpasswd|passwd|cryptsetup|kinit|sudo|read[ \t]+-[a-z]*s[a-z]*|` +
		`read[ \t]+(?:-\w+[ \t]+)*\w*(?i:pass|pw|secret|token)\w*)\b|stdin\b|(?i:pass\w*|pwd|psk|secret|token|key)=\$\([ \t]*cat\b)[^<]*` +
		`<<-?[ \t]*[\\"']*([A-Za-z_]+)["']?[ \t]*(?:[|>].*)?$|(?:^|[^<])<<-?[ \t]*[\\"']*([A-Za-z_]+)["']?[ \t]*\|.*(?:passwd|cryptsetup|kinit|stdin)\b`)
	// assignedDoc is a here-document that is the value of a name, in Terraform and in scripts.
	assignedDoc = lazily(`([\w.-]+)["']?[ \t]*[:=][ \t]*<<[-~]?[ \t]*\\*["']*([A-Za-z_]+)["']?$`)
)

// maxHereLines bounds a here-document, whose end a log may not have.
const maxHereLines = 40

// ownLine is how a line of a log begins, or the prompt that a shell writes in front of a command.
var ownLine = lazily(`^(?:(?:\[?[\w.-]+@[\w.-]+[^$#]{0,40}[$#]|\$) \S|\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|time="|level=|\{"(?:level|ts|time|msg)":)`)

// openedByDocument returns the block of a here-document with what ends it.
func openedByDocument(end, word string, logins bool) block {
	head := end[:prefixEnd(end)]
	return block{left: maxHereLines, logins: logins, doc: word, here: true, head: head != "", klog: strings.HasSuffix(head, "] ")}
}

// leavesHere reports whether a line is plainly no more of a here-document: it has the head of a log, which the first line
// had not, or begins as a line of a log or of a shell does.
func (b *block) leavesHere(head, body string) bool {
	return b.here && (head != "" && !b.head || strings.HasSuffix(head, "] ") && !b.klog || ownLine.get().MatchString(body))
}
