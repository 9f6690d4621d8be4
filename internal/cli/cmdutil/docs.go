package cmdutil

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// DocsVariable names the variable with the URL under which the page of `docs --out` is published.
const DocsVariable = "ROLLCALL_DOCS"

// docs is the URL of DocsVariable, "" where none is set. One that is of no use is said once, and left out:
// an answer does not fail because of a link.
func (a *App) docs() string {
	value := a.IO.Getenv(DocsVariable)
	if value == "" {
		return ""
	}
	base, err := parseDocs(value)
	if err != nil && !a.warnedOfDocs {
		a.warnedOfDocs = true
		a.warn("$%s: %v; answers have no links to pages", DocsVariable, err)
	}
	return base
}

// parseDocs is an address that a page's place can be put behind.
func parseDocs(value string) (string, error) {
	u, err := url.Parse(value)
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" && u.Scheme != "file":
		return "", errors.New("it is not a URL that begins with https://, http:// or file://")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.ContainsAny(value, " \t\n\"'<>"):
		return "", fmt.Errorf("a user, a query, a fragment, blanks or quotes cannot be part of it")
	case u.Scheme != "file" && u.Host == "":
		return "", errors.New("it names no host")
	}
	return u.String(), nil
}
