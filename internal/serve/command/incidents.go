package command

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/page"
	"github.com/rollcall-project/rollcall/internal/serve"
	"github.com/rollcall-project/rollcall/internal/service"
	"github.com/rollcall-project/rollcall/internal/session"
)

// incidentsCommand is `serve incidents`.
func incidentsCommand(frame *cmdutil.App) *cobra.Command {
	a := &app{App: frame, source: cmdutil.Options()}
	namespace := "rollcall"
	cmd := &cobra.Command{
		Use:   "incidents [NAME]",
		Short: "the incidents of which serve has kept a record",
		Long: `Incidents lists what "serve --records NAMESPACE" has recorded: each cause that
was proven for 5 minutes, since when, and when it was gone. With the name of one
it prints its record, in Markdown: proof, what to do, what was ruled out and what
changed. It needs permission to list the ConfigMaps of that namespace.`,
		Example: cmdutil.Example(frame.Name, "serve incidents", "the newest last") +
			cmdutil.Example(frame.Name, "serve incidents NAME > ticket.md", "one of them, for a ticket"),
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(validation.IsDNS1123Label(namespace)) > 0 {
				return session.Usagef("--namespace %q is not the name of a namespace", namespace)
			}
			list, err := a.incidents(cmd.Context(), namespace)
			if err != nil {
				return err
			}
			asJSON := cmdutil.FormatOf(cmd) == "json"
			if len(args) == 1 {
				return a.printIncident(list, namespace, args[0], asJSON)
			}
			return a.printIncidents(list, namespace, asJSON)
		},
	}
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(f *pflag.FlagSet) {
		f.StringVarP(&namespace, "namespace", "n", namespace, "`NAME` of the namespace with the records")
	})
	a.AddOutputFlags(cmd, "text", "json")
	a.AddConnectFlags(cmd, &a.source)
	return cmd
}

func (a *app) incidents(ctx context.Context, namespace string) ([]serve.Incident, error) {
	config, err := a.Session(a.source).RESTConfig()
	if err != nil {
		return nil, err
	}
	client, err := kube.New(config, kube.Limits{})
	if err != nil {
		return nil, err
	}
	defer client.Close()
	list, err := serve.Incidents(kube.WithPatience(ctx), objects{service.Objects{Client: client}}, namespace)
	if apierrors.IsForbidden(err) {
		return nil, fmt.Errorf("%w: ask for permission to list the ConfigMaps of %s, or name another namespace with -n", err, namespace)
	}
	return list, err
}

// incidentList is what programs read (docs/schema/incidents.v1alpha1.json).
type incidentList struct {
	APIVersion string           `json:"apiVersion"`
	Kind       string           `json:"kind"`
	Namespace  string           `json:"namespace"`
	Items      []serve.Incident `json:"items"` // the newest last; of one that was named, with its record
}

func (a *app) encode(doc incidentList) error {
	out := json.NewEncoder(a.IO.Out)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	if err := out.Encode(doc); err != nil {
		return fmt.Errorf("write the incidents: %w", err)
	}
	return nil
}

func (a *app) printIncidents(list []serve.Incident, namespace string, asJSON bool) error {
	if asJSON {
		doc := incidentList{APIVersion: "rollcall.dev/v1alpha1", Kind: "IncidentList", Namespace: namespace, Items: []serve.Incident{}}
		for _, i := range list {
			i.Title, i.Record = a.CleanText(i.Title), ""
			doc.Items = append(doc.Items, i)
		}
		return a.encode(doc)
	}
	if len(list) == 0 {
		return page.Write(a.IO.Out, a.Style().Fold(fmt.Sprintf("No incident is recorded in namespace %s. Records are made by: %s serve --records %s\n",
			namespace, a.Name, namespace)))
	}
	var rows strings.Builder
	t := tabwriter.NewWriter(&rows, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, "NAME\tSTATE\tPROVEN\tGONE\tCAUSE")
	for _, i := range list {
		gone := "-"
		if !i.Ended.IsZero() {
			gone = i.Ended.UTC().Format(time.RFC3339)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", a.CleanText(i.Name), i.State, i.Proven.UTC().Format(time.RFC3339), gone, a.CleanText(i.Title))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return page.Write(a.IO.Out, a.Style().Fold(rows.String()))
}

func (a *app) printIncident(list []serve.Incident, namespace, name string, asJSON bool) error {
	for _, i := range list {
		if i.Name != name {
			continue
		}
		if asJSON {
			i.Title, i.Record = a.CleanText(i.Title), a.WithoutSecrets(i.Record)
			return a.encode(incidentList{APIVersion: "rollcall.dev/v1alpha1", Kind: "IncidentList", Namespace: namespace, Items: []serve.Incident{i}})
		}
		for line := range strings.Lines(a.WithoutSecrets(i.Record)) {
			if _, err := fmt.Fprintln(a.IO.Out, page.Style{}.Clean(strings.TrimSuffix(line, "\n"))); err != nil {
				return err
			}
		}
		return nil
	}
	return session.Usagef("no record %q in namespace %s: %s serve incidents -n %s lists them", name, namespace, a.Name, namespace)
}
