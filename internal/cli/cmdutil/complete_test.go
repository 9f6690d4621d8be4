package cmdutil

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestCompleteSubject: first the kinds, then the names in the source. What a shell would not take as
// one word is not offered, and where nothing can be read there is nothing to offer.
func TestCompleteSubject(t *testing.T) {
	const names = cobra.ShellCompDirectiveNoFileComp
	const kinds = names | cobra.ShellCompDirectiveNoSpace
	none := Options()
	none.From = []string{filepath.Join(t.TempDir(), "none.tar.gz")}
	a, o := (&surroundings{}).frame(), cluster(t)
	for _, c := range []struct {
		name, typed string
		args        []string
		want        []string
		how         cobra.ShellCompDirective
	}{
		{"every kind", "", nil, []string{"host/", "node/", "bmh/", "machine/", "mcp/", "csr/", "co/"}, kinds},
		{"kinds that begin so", "m", nil, []string{"machine/", "mcp/"}, kinds},
		{"no such kind", "pod/", nil, nil, kinds},
		{"names of a kind", "node/", nil, []string{"node/m0", "node/m1", "node/worker.example.com"}, names},
		{"names that begin so", "node/m", nil, []string{"node/m0", "node/m1"}, names},
		{"no such name", "node/x", nil, nil, names},
		{"of the namespace of machines only", "bmh/", nil, []string{"bmh/bm0"}, names},
		{"machines", "machine/", nil, []string{"machine/machine-m0"}, names},
		{"pools", "mcp/", nil, []string{"mcp/master"}, names},
		{"operators", "co/e", nil, []string{"co/etcd"}, names},
		{"what a shell would run", "csr/", nil, []string{"csr/csr-1"}, names},
		{"hosts, whatever names them", "host/", nil, []string{"host/bm0", "host/m0", "host/m1", "host/machine-m0", "host/worker.example.com"}, names},
		{"hosts that begin so", "host/w", nil, []string{"host/worker.example.com"}, names},
		{"a second subject", "node/", []string{"node/m0"}, nil, names},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := &cobra.Command{}
			cmd.SetContext(t.Context())
			got, how := a.CompleteSubject(o)(cmd, c.args, c.typed)
			if strings.HasPrefix(c.typed, hostPrefix) {
				slices.Sort(got)
			}
			if !slices.Equal(got, c.want) || how != c.how {
				t.Errorf("%q, %d; want %q, %d", got, how, c.want, c.how)
			}
			if len(c.want) == 0 || how == kinds {
				return
			}
			if got, how := a.CompleteSubject(&none)(cmd, c.args, c.typed); len(got) > 0 || how != c.how {
				t.Errorf("without a source: %q, %d", got, how)
			}
		})
	}
}

// TestCompleteFaults: --only and --skip offer each fault with its title.
func TestCompleteFaults(t *testing.T) {
	a, o := (&surroundings{}).frame(), Options()
	cmd := &cobra.Command{}
	a.AddChoiceFlags(cmd, &o)
	for _, flag := range []string{"only", "skip"} {
		complete, ok := cmd.GetFlagCompletionFunc(flag)
		if !ok {
			t.Fatalf("--%s has no completion", flag)
		}
		list, how := complete(cmd, nil, "")
		at := slices.IndexFunc(list, func(c cobra.Completion) bool { return strings.HasPrefix(c, "csr-client-pending\t") })
		if at < 0 || len(list) < 100 || how != cobra.ShellCompDirectiveNoFileComp {
			t.Errorf("--%s: %d completions, %d; csr-client-pending at %d", flag, len(list), how, at)
		}
		if at >= 0 && (strings.ContainsAny(list[at], "{}\n") || strings.HasSuffix(list[at], "\t")) {
			t.Errorf("--%s: %q", flag, list[at])
		}
	}
	o.Catalogs = []string{filepath.Join(t.TempDir(), "none")}
	complete, _ := cmd.GetFlagCompletionFunc("only")
	if list, how := complete(cmd, nil, ""); len(list) > 0 || how != cobra.ShellCompDirectiveNoFileComp {
		t.Errorf("with a catalog that cannot be read: %d completions, %d", len(list), how)
	}
}
