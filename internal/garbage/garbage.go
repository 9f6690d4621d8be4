// Package garbage chooses when the garbage collector of a command runs.
//
// Go's default collects when the heap has doubled, from 4 MB on. That is too early for a
// command that ends after a second with 60 MB: a tenth of its time would go into collecting
// what the end of the process frees anyhow.
package garbage

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// Free is the size of the heap in bytes up to which nothing is collected, of a command that judges
	// a cluster, and Small of one that prints a part of an archive: it has little in use at any time.
	Free  = 64 << 20
	Small = 16 << 20
	// growth is how much a larger heap may grow, in percent of what is in use, before it is
	// collected again. It is Go's default: on a live cluster of 500 nodes 50 saves a
	// tenth of the memory and takes a tenth more of processor time.
	growth = 100
	// large is the heap in bytes from which on it may grow by less. That is a cluster of some
	// thousand nodes, of which most memory stays in use to the end.
	large       = 256 << 20
	largeGrowth = 50
	// least is the heap in bytes for which Go takes 100 percent.
	least = 4 << 20
)

// Pace sets when garbage is collected, from now on and again after each collection, for
// the whole process: not before the heap has so many bytes. It is called once, by a main, where GOGC is
// not set.
func Pace(free uint64) {
	debug.SetGCPercent(percent(0, free))
	arm(free)
}

// mark is an object that each collection finds to be garbage. It holds a pointer, so that it
// is not allocated together with other small objects.
type mark struct{ _ *mark }

func arm(free uint64) {
	runtime.AddCleanup(new(mark), func(struct{}) {
		debug.SetGCPercent(percent(live(), free))
		arm(free)
	}, struct{}{})
}

// live returns the bytes that the last collection found to be in use.
func live() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}

// percent returns what GOGC has to be for a heap with so many bytes in use.
func percent(live, free uint64) int {
	most := 100 * free / least
	if live == 0 {
		return int(most)
	}
	switch {
	case live >= large:
		return largeGrowth
	case live >= free:
		return growth
	}
	return int(min(most, max(growth, 100*(free-live)/live)))
}
