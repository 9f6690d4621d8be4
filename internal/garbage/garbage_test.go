package garbage

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

func TestPercent(t *testing.T) {
	for _, c := range []struct {
		live uint64
		want int
	}{
		{0, 1600}, {1 << 20, 1600}, {4 << 20, 1500}, {32 << 20, 100}, {48 << 20, 100}, {80 << 20, 100}, {Free, 100}, {large - 1, 100}, {large, 50}, {1 << 40, 50},
	} {
		if got := percent(c.live, Free); got != c.want {
			t.Errorf("percent(%d) = %d, want %d", c.live, got, c.want)
		}
	}
}

// TestPace looks at the goal that Go sets itself with a little and with much in use.
func TestPace(t *testing.T) {
	t.Cleanup(func() { debug.SetGCPercent(100) })
	Pace(Free)
	goal := func() uint64 {
		sample := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	within := func(what string, low, high uint64) {
		t.Helper()
		var got uint64
		for range 50 { // the cleanup runs in a goroutine of its own
			runtime.GC()
			time.Sleep(10 * time.Millisecond)
			if got = goal(); got >= low && got <= high {
				return
			}
		}
		t.Errorf("%s the goal is %d, want %d to %d", what, got, low, high)
	}
	within("with little in use", Free/2, 2*Free)
	much := make([]byte, 2*Free)
	within("with 128 MiB in use", 3*Free, 5*Free)
	runtime.KeepAlive(much)
	much = make([]byte, 8*Free)
	within("with 512 MiB in use", 11*Free, 14*Free)
	runtime.KeepAlive(much)
}
