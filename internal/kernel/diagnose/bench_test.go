package diagnose

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/fstest"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/sanitize"
	"github.com/rollcall-project/rollcall/internal/scan"
)

// BenchmarkCatalogue evaluates 400 faults with an edge each over 30 hosts, from
// compiling the expressions to the roots.
func BenchmarkCatalogue(b *testing.B) {
	const faults, hosts = 400, 30
	wl := wall{}
	for h := range hosts {
		wl[fmt.Sprintf("h%02d", h)] = map[string]string{"f000": "lit"}
	}
	files := fstest.MapFS{}
	var list []facts.Fact
	for i := range faults {
		id := fmt.Sprintf("f%03d", i)
		files["wall/"+id+".yaml"] = &fstest.MapFile{Data: []byte("id: " + id + "\ntitle: " + id + " at {host}\nlayer: wall\nfor: host\n" +
			"severity: error\nmeans: a lamp\nrefs: [{repo: wall}]\nstandsAlone: true\ngiven: {it: {fact: lamp-" + id + "}}\n" +
			"when: it.lit && !it.seen\nsupport: [it.lit]\nexplains: [{fault: f000, on: same, strength: likely}]\n")}
		list = append(list, wl.fact(id))
	}
	catalog, err := fault.Load(files)
	if err != nil {
		b.Fatal(err)
	}
	clean, err := sanitize.New()
	if err != nil {
		b.Fatal(err)
	}
	set, err := scan.Compile(nil)
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		engine, err := New(catalog, list, wl, nil, slog.New(slog.DiscardHandler))
		if err != nil {
			b.Fatal(err)
		}
		w := facts.NewWorld(reader.New(set, clean, nil, reader.Limits{}, emptySource{}), noon)
		d := &diagnosis.Diagnosis{}
		found, err := engine.evaluateAll(ctx, w, catalog.Checked())
		if err != nil {
			b.Fatal(err)
		}
		d.Findings = found.findings
		if _, err := engine.conclude(ctx, w, d, nil); err != nil {
			b.Fatal(err)
		}
		if len(d.Roots) != 1 || len(d.Roots[0].Cases) != hosts {
			b.Fatalf("%d roots, want 1 with %d cases", len(d.Roots), hosts)
		}
	}
}
