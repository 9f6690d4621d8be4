package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/browse"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/garbage"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/page"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/source/archive"
	"github.com/rollcall-project/rollcall/internal/source/hosted"
)

// The formats of `get` that have a value.
const (
	jsonPathFormat = "jsonpath=TEMPLATE"
	columnsFormat  = "custom-columns=NAME:PATH,..."
)

// asked are the words of `get`.
type asked struct {
	kinds     []string
	name      string
	namespace string
	every     bool // -A: the default, too
	selector  string
	fields    string
	sortBy    string
	labels    bool
}

func (a *app) getCommand() *cobra.Command {
	var q asked
	cmd := &cobra.Command{
		Use:   "get KIND[,KIND...] [NAME] --from ARCHIVE",
		Short: "print objects of an archive as oc get prints those of a cluster",
		Long: `Get prints the objects of an archive: a must-gather, an inspect tree, a
collection, a file of objects. Kinds have the names and short names that oc has,
also those whose CustomResourceDefinition is in the archive. Without -n it
prints all namespaces: an archive has no current one. Ages are those at the time
of the archive. Events come with the last one at the end.

No cluster is asked. Values of Secrets are replaced by a digest and the size.
What was not collected is reported as that; "No resources found" means that the
archive has the list, and that it is empty.

Exit codes: 0 all that was asked for, 1 not found, or the tool could not do its
work, 3 something was not collected or could not be read.`,
		Example: cmdutil.Example(a.Name, "get co --from ./must-gather.local.123", "the cluster operators") +
			cmdutil.Example(a.Name, "get pods --field-selector spec.nodeName=w0 --from mg.tar.gz", "the pods of a node") +
			cmdutil.Example(a.Name, "get nodes -o jsonpath='{.items[*].metadata.name}' --from mg.tar.gz", "one field of each") +
			cmdutil.Example(a.Name, "get pods -n openshift-etcd -o wide --from mg.tar.gz", "pods of a namespace, with their nodes") +
			cmdutil.Example(a.Name, "get node control0 -o yaml --from mg.tar.gz", "one object"),
		Args: func(_ *cobra.Command, args []string) error { return q.parse(args) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.get(cmd.Context(), cmdutil.FormatOf(cmd), q)
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return browse.Names(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.Flags().StringVarP(&q.namespace, "namespace", "n", "", "`NAME` of the namespace; default: all")
	cmd.Flags().BoolVarP(&q.every, "all-namespaces", "A", false, "all namespaces, which is the default")
	cmd.Flags().StringVarP(&q.selector, "selector", "l", "", "only objects with these `LABELS`, as KEY=VALUE,...")
	cmd.Flags().StringVar(&q.fields, "field-selector", "", "only objects with these `FIELDS`, as spec.nodeName=w0,...; any field of any kind")
	cmd.Flags().StringVar(&q.sortBy, "sort-by", "", "in the order of this `PATH`, as .metadata.creationTimestamp")
	cmd.Flags().BoolVar(&q.labels, "show-labels", false, "the labels as the last column")
	a.addArchiveFlags(cmd)
	a.AddOutputFlags(cmd, "table", "wide", "name", "json", "yaml", jsonPathFormat, columnsFormat)
	return cmd
}

// addArchiveFlags adds the flags that name an archive.
func (a *app) addArchiveFlags(cmd *cobra.Command) {
	o := &a.source
	cmdutil.Grouped(cmd, cmdutil.GroupRead, func(f *pflag.FlagSet) {
		f.StringArrayVar(&o.From, "from", nil, "the archive at this `PATH` (directory, tar, zip, file of objects, packed or not; - is standard "+
			"input); repeatable")
		f.StringVar(&o.Now, "now", "", "take this `TIME` (RFC 3339) for the present; default: the newest time in the archive")
		f.StringVar(&o.Hosted, "hosted", "", "of a dump of a management cluster: look at this hosted cluster, `NS/NAME` of its HostedCluster")
	})
}

// Heap is how large the heap may be before garbage is collected, of a command line.
func Heap(args []string) uint64 {
	if len(args) > 1 && (args[1] == "get" || args[1] == "logs") {
		return garbage.Small
	}
	return garbage.Free
}

// parse reads KIND NAME, or KIND/NAME.
func (q *asked) parse(args []string) error {
	if len(args) == 0 || len(args) > 2 {
		return session.Usagef("name what to get: KIND, or KIND NAME; for example pods, node control0, co")
	}
	kind, name, both := strings.Cut(args[0], "/")
	if len(args) == 2 {
		if both {
			return session.Usagef("%s names an object already: leave %s out", args[0], args[1])
		}
		name = args[1]
	}
	q.kinds, q.name = strings.Split(kind, ","), name
	if name != "" && len(q.kinds) > 1 {
		return session.Usagef("a name is of one kind: name one kind, or leave %s out", name)
	}
	if q.namespace != "" && q.every {
		return session.Usagef("-n and -A exclude each other: leave one out")
	}
	return nil
}

// openArchive opens what --from names to look into it. kinds say what will be asked for.
func (a *app) openArchive(ctx context.Context, needs ...evidence.Need) (*browse.Archive, func() error, error) {
	o := a.source
	if len(o.From) == 0 {
		return nil, nil, session.Usagef("name the archive with --from PATH; of a cluster, oc has the objects")
	}
	o.Whole = true
	if o.Hosted == "" {
		o.Hosted = hosted.None
	}
	var now time.Time
	if o.Now != "" {
		var err error
		if now, err = time.Parse(time.RFC3339, o.Now); err != nil {
			return nil, nil, session.Usagef("--now %q is not an RFC 3339 time; write it as 2026-05-01T12:00:00Z", o.Now)
		}
	}
	var how []archive.Option
	if len(needs) > 0 {
		how = append(how, archive.For(needs))
	}
	sources, closeAll, err := a.Session(o).Sources(ctx, how...)
	if err != nil {
		return nil, nil, errors.Join(err, closeAll())
	}
	at, err := browse.Open(ctx, sources, now)
	if err != nil {
		return nil, nil, errors.Join(err, closeAll())
	}
	return at, closeAll, nil
}

// get prints what was asked for.
func (a *app) get(ctx context.Context, format string, q asked) (err error) {
	format, value, _ := strings.Cut(format, "=")
	var template browse.Template
	columns := ""
	switch format {
	case "jsonpath":
		if template, err = browse.ParseTemplate(value); err != nil {
			return err
		}
	case "custom-columns":
		columns = value
	}
	at, closeAll, err := a.openArchive(ctx, browse.Needs(q.kinds)...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAll()) }()
	var found []browse.Found
	var missing []error
	for _, word := range q.kinds {
		k, err := at.Find(ctx, word)
		if err != nil {
			return err
		}
		f, err := at.Get(ctx, browse.Query{
			Kind: k, Name: q.name, Namespace: q.namespace, Selector: q.selector, FieldSelector: q.fields, SortBy: q.sortBy, ShowLabels: q.labels,
			Whole: format == "json" || format == "yaml" || format == "jsonpath", Wide: format == "wide", Columns: columns,
		})
		if err != nil {
			return err
		}
		found = append(found, f)
		missing = append(missing, at.Missing(f))
	}
	if format == "jsonpath" {
		err = a.printTemplate(template, found)
	} else {
		err = a.printObjects(format, at, found)
	}
	if err != nil {
		return err
	}
	return lacking(errors.Join(missing...))
}

// lacking gives the exit code of what was not collected.
func lacking(err error) error {
	if u := (*browse.NotAllError)(nil); errors.As(err, &u) {
		return &cmdutil.ExitError{Code: cmdutil.ExitUndecided, Err: err}
	}
	return err
}

// noResources says that an archive proves that there is nothing.
func noResources(f browse.Found) string {
	return fmt.Sprintf("No resources found: the archive has the list of %s, and there is none in it that fits.", f.Query.Kind.Resource.In(""))
}

// printTemplate prints what a template makes of the objects: of the one that was named, or of their list.
func (a *app) printTemplate(t browse.Template, found []browse.Found) error {
	if len(found) == 1 && found[0].Query.Name != "" && len(found[0].Objects) == 0 {
		return nil // the error says that it is not there
	}
	text, err := t.Of(browse.Document(found...))
	if err != nil {
		return err
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		line, ended := strings.CutSuffix(line, "\n")
		for i, cell := range strings.Split(line, "\t") {
			if i > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(a.Style().Clean(cell))
		}
		if ended {
			b.WriteByte('\n')
		}
	}
	if !strings.HasSuffix(text, "\n") && a.IO.Screen.Terminal {
		b.WriteByte('\n') // for the prompt behind it
	}
	if _, err := fmt.Fprint(a.IO.Out, b.String()); err != nil {
		return fmt.Errorf("print the text: %w", err)
	}
	return nil
}

func (a *app) printObjects(format string, at *browse.Archive, found []browse.Found) error {
	if format == "json" || format == "yaml" {
		if len(found) == 1 && found[0].Query.Name != "" && len(found[0].Objects) == 0 {
			return nil // the error says that it is not there
		}
		return a.PrintData(format, browse.Document(found...))
	}
	printed := 0
	for _, f := range found {
		switch {
		case len(f.Objects) == 0 && (f.Why != nil || f.Query.Name != ""):
			continue // what is missing is said at the end
		case len(f.Objects) == 0:
			fmt.Fprintln(a.IO.Err, noResources(f))
			continue
		case format == "name":
			for _, o := range f.Objects {
				if _, err := fmt.Fprintln(a.IO.Out, a.Style().Clean(f.Query.Kind.ID(o.Name))); err != nil {
					return fmt.Errorf("print the names: %w", err)
				}
			}
			continue
		case printed > 0:
			fmt.Fprintln(a.IO.Out)
		}
		var table strings.Builder
		if err := at.Print(&table, f, !a.Output.NoHeaders, a.Style().Clean); err != nil {
			return err
		}
		if err := page.Write(a.IO.Out, a.Style().Fold(table.String())); err != nil {
			return err
		}
		printed++
	}
	return nil
}
