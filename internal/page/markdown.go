package page

import (
	"regexp"
	"strings"
)

var (
	// escapes are the characters that mean something in Markdown.
	escapes = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "<", "&lt;", ">", "&gt;", "[", `\[`, "]", `\]`, "|", `\|`, "#", `\#`,
		"~", `\~`, "!", `\!`)

	// acts is a word that the programs which show Markdown turn into more than text, escaped or not: a mention of a person or a
	// group, an address, a reference to an issue, an emoji. Only as code it stays what it is.
	acts = regexp.MustCompile(`@[\w.-]|://|www\.|(?:^|[(])(?:#|GH-)\d|(?:^|\W):[a-z_][a-z0-9_+-]*:`)

	inCode = strings.NewReplacer("`", "'", "|", `\|`)
)

// Markdown makes a foreign text of one line plain text of Markdown: nothing in it is markup, a link, a mention or an emoji.
func Markdown(text string) string {
	words := strings.Split(text, " ")
	for i, w := range words {
		if !acts.MatchString(w) {
			words[i] = escapes.Replace(w)
			continue
		}
		word := strings.TrimRight(w, ",.;:)")
		words[i] = "`" + inCode.Replace(word) + "`" + w[len(word):]
	}
	return strings.Join(words, " ")
}
