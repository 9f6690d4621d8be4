package answer

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
	"github.com/rollcall-project/rollcall/internal/text/message"
)

// builtIn is the built-in catalog with its messages.
func builtIn(t *testing.T) (*fault.Catalog, *message.Index) {
	t.Helper()
	c, err := fault.Load(catalog.FS)
	if err != nil {
		t.Fatal(err)
	}
	x, err := message.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return c, x
}

// TestScanShowsNoChangeWithoutProof: each message of the catalog alone, as its program prints it,
// shows no command that changes something where the line does not prove the cause.
func TestScanShowsNoChangeWithoutProof(t *testing.T) {
	c, x := builtIn(t)
	files, err := filepath.Glob("../text/message/testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files of samples: %v", len(files), err)
	}
	unproven := 0
	for _, path := range files {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for sample := range strings.Lines(string(raw)) {
			_, line, ok := strings.Cut(sample, "\t")
			if !ok {
				continue
			}
			r, err := x.Read(t.Context(), strings.NewReader(line), func(s string) string { return s })
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := Scan(&out, r, c, Options{Style: page.Style{Width: 1 << 16}}); err != nil {
				t.Fatal(err)
			}
			for i, m := range r.Matches {
				f, known := c.Fault(m.Fault)
				if !known || m.Confidence == fault.ShowsProven || i > 0 && r.Matches[0].Confidence == fault.ShowsProven {
					continue
				}
				unproven++
				for _, command := range changes(c, f, m) {
					if strings.Contains(out.String()+"\n", " "+command+"\n") {
						t.Errorf("%s: %s is %s, and this is shown: %s\n%s", filepath.Base(path), m.Fault, m.Confidence, command, line)
					}
				}
			}
		}
	}
	if unproven == 0 {
		t.Error("no sample shows a cause that is not proven")
	}
}

// changes are the commands of a fault's remedies that change something.
func changes(c *fault.Catalog, f *fault.Fault, m message.Match) (list []string) {
	for _, id := range f.Remedies {
		known, ok := c.Remedy(id)
		if !ok {
			continue
		}
		for _, s := range plainAdvice(known, m.Names).Steps {
			for line := range strings.Lines(s.Run) {
				if s.Changes && len(line) > len("oc get x") {
					list = append(list, strings.TrimSpace(line))
				}
			}
		}
	}
	return list
}

// TestScanShowsRequirements: what a remedy requires stands before its steps, and of one that destroys data
// only the steps that read are shown, also where the line proves the cause.
func TestScanShowsRequirements(t *testing.T) {
	c, x := builtIn(t)
	const line = "etcd: request sent was ignored (cluster ID mismatch: peer[332a8a315e569778]=6b4bc4b81731158f, local=629f6191abaccb2f)"
	r, err := x.Read(t.Context(), strings.NewReader(line), func(s string) string { return s })
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Matches) == 0 || r.Matches[0].Fault != "etcd-member-identity-clash" || r.Matches[0].Confidence != fault.ShowsProven {
		t.Fatalf("the line no longer proves the clash: %+v", r.Matches)
	}
	var out bytes.Buffer
	if err := Scan(&out, r, c, Options{Style: page.Style{Width: 1 << 16}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Only if etcd has quorum\n", "these steps only read", "etcdctl member list"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("without %q:\n%s", want, out.String())
		}
	}
	for _, change := range []string{"member remove", " mv ", "delete secret", "useUnsupportedUnsafe"} {
		if strings.Contains(out.String(), change) {
			t.Errorf("shows %q:\n%s", change, out.String())
		}
	}
}
