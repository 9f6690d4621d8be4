package mustgather

import (
	"testing"
)

// FuzzStampTimes holds that no file of a collector hangs or crashes the reader.
func FuzzStampTimes(f *testing.F) {
	f.Add([]byte("2026-01-02 11:00:00.1 +0100 CET m=+0.1\n2026-01-02 11:10:00 +0100 CET m=+600\n"))
	f.Add([]byte("renewTime: \"2026-01-02T10:06:00.000001Z\"\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if n := len(stampTimes(raw)); n > maxStamps {
			t.Errorf("%d times", n)
		}
	})
}
