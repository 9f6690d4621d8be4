package archive

import (
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/source/archive/layout"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/agentgather"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/hypershift"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/insights"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/logbundle"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/loose"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/mustgather"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/sosreport"
	"github.com/rollcall-project/rollcall/internal/source/archive/member"
)

// layouts are all that are known, in order of precedence: a file is what the first one says
// that knows it, and of those that are proven the first one names the archive. Names that
// several collectors use come last.
var layouts = []layout.Layout{
	mustgather.Layout,
	hypershift.Layout,
	consoles,
	insights.Layout,
	logbundle.Layout,
	agentgather.Layout,
	sosreport.Layout,
	mustgather.Shell,
	header,
	loose.Layout,
}

// recognize finds out from its path what a file is, and fills the entry with it.
func recognize(e *layout.Entry, path string) {
	*e = layout.Entry{File: member.File{Path: path}}
	parts := strings.Split(path, "/")
	for _, l := range layouts {
		at := 0 // of the element in the path
		for i, dir := range parts {
			if l.File(e, dir, parts[i+1:]) {
				e.Root, e.Below = path[:at], path[at:]
				if l.Proof != nil {
					e.Of = layout.Of{Kind: l.Kind, Root: strings.TrimSuffix(e.Root, "/")}
				}
				if e.Class == layout.Text {
					e.Text.Path = path
				}
				return
			}
			at += len(dir) + 1
		}
	}
}

// proven returns the layout whose presence a path shows.
func proven(path string) (layout.Of, bool) {
	parts := strings.Split(path, "/")
	at := 0 // of the element in the path
	for i, dir := range parts {
		for _, l := range layouts {
			if l.Proof != nil && l.Proof(dir, parts[i+1:]) {
				return layout.Of{Kind: l.Kind, Root: strings.TrimSuffix(path[:at], "/")}, true
			}
		}
		at += len(dir) + 1
	}
	return layout.Of{}, false
}

// whole reports whether archives of a kind have all that the ClusterOperators refer to. Something
// else wrote a tree: it may lack a kind of object as a whole.
func whole(kind string) bool {
	return kind == mustgather.MustGather || kind == mustgather.Inspect || layoutOf(kind).Whole
}

// dirStamp finds the date in the name of an archive, see layout.Layout.DatedName.
var dirStamp = func() *regexp.Regexp {
	var names []string
	for _, l := range layouts {
		if l.DatedName != "" {
			names = append(names, regexp.QuoteMeta(l.DatedName))
		}
	}
	return regexp.MustCompile(`(?:^|/)(?:` + strings.Join(names, "|") + `)-(?:[^/]*-)?(20\d\d)-?(\d\d)-?(\d\d)`)
}()

// layoutOf returns the layout of a kind of archive; one without functions where the kind has
// nothing of its own.
func layoutOf(kind string) layout.Layout {
	if i := slices.IndexFunc(layouts, func(l layout.Layout) bool { return l.Kind == kind }); i >= 0 {
		return layouts[i]
	}
	return layout.Layout{Kind: kind}
}
