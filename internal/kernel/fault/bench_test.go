package fault_test

import (
	"testing"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// BenchmarkLoad reads the built-in catalog, as every command does.
func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := fault.Load(catalog.FS); err != nil {
			b.Fatal(err)
		}
	}
}
