package relation_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/relation"
	"github.com/rollcall-project/rollcall/internal/fixture"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/sanitize"
)

// many copies the requests of a base.
type manyRequests struct {
	evidence.Source
	n int
}

func (m manyRequests) List(ctx context.Context, r evidence.Resource, namespace string) ([]evidence.Object, error) {
	list, err := m.Source.List(ctx, r, namespace)
	if err != nil || r != evidence.CSRs {
		return list, err
	}
	out := list
	for i := len(list); i < m.n; i++ {
		o := list[i%len(list)]
		o.Name = fmt.Sprintf("%s-%d", o.Name, i)
		out = append(out, o)
	}
	return out, nil
}

// BenchmarkCSRsOfHosts asks for the requests of 500 hosts where there are 500.
func BenchmarkCSRsOfHosts(b *testing.B) {
	files, err := fixture.Base("ocp-4.20-baremetal")
	if err != nil {
		b.Fatal(err)
	}
	source, err := fixture.Open(files)
	if err != nil {
		b.Fatal(err)
	}
	set, err := fixture.Signatures()
	if err != nil {
		b.Fatal(err)
	}
	clean, err := sanitize.New()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		b.StopTimer()
		w := facts.NewWorld(reader.New(set, clean, nil, reader.Limits{}, manyRequests{source, 500}), time.Time{})
		if _, _, err := inventory.Find(b.Context(), w, "m0"); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		for range 500 {
			if _, _, err := (relation.Relater{}).Relate(b.Context(), w, fault.CSRsOfHost, fault.Subject{Kind: fault.Host, Name: "m0"}); err != nil {
				b.Fatal(err)
			}
		}
	}
}
