package archive

import (
	"archive/tar"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// synthetic writes a gzipped must-gather of about size bytes: a third objects,
// the rest logs, both as varied as real ones.
func synthetic(b *testing.B, size int64) (path string, unpacked int64) {
	b.Helper()
	path = filepath.Join(b.TempDir(), "must-gather.tar.gz")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	z, err := gzip.NewWriterLevel(f, 6)
	if err != nil {
		b.Fatal(err)
	}
	w := tar.NewWriter(z)
	r := rand.New(rand.NewPCG(1, 2))
	add := func(name, content string) {
		if err := w.WriteHeader(&tar.Header{Name: "must-gather/" + name, Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(len(content))}); err != nil {
			b.Fatal(err)
		}
		if _, err := io.WriteString(w, content); err != nil {
			b.Fatal(err)
		}
		unpacked += int64(len(content))
	}
	for i := 0; unpacked < size; i++ {
		add(fmt.Sprintf("namespaces/ns-%d/core/pods.yaml", i), syntheticPods(r, 100))
		for p := range 4 {
			add(fmt.Sprintf("namespaces/ns-%d/pods/pod-%d/c/c/logs/current.log", i, p), syntheticLog(r, 1000))
		}
	}
	for _, c := range []io.Closer{w, z, f} {
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
	}
	return path, unpacked
}

func syntheticPods(r *rand.Rand, n int) string {
	var b strings.Builder
	b.WriteString("---\napiVersion: v1\nitems:\n")
	for i := range n {
		fmt.Fprintf(&b, "- apiVersion: v1\n  kind: Pod\n  metadata:\n    creationTimestamp: \"2026-01-02T10:%02d:00Z\"\n    name: pod-%d\n    uid: %016x\n    "+
			"resourceVersion: \"%d\"\n", i%60, i, r.Uint64(), r.Uint32())
		for c := range 8 {
			fmt.Fprintf(&b, "    annotations-%d: quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:%016x%016x\n    args-%d:\n    - "+
				"--secure-listen-address=0.0.0.0:%d\n    - --upstream=http://127.0.0.1:%d/\n", c, r.Uint64(), r.Uint64(), c, r.UintN(65536), r.UintN(65536))
		}
	}
	b.WriteString("kind: PodList\nmetadata:\n  resourceVersion: \"1\"\n")
	return b.String()
}

func syntheticLog(r *rand.Rand, lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "2026-01-02T10:%02d:%02d.%09dZ I0102 10:%02d:%02d.%06d %7d reconciler.go:%d] \"operationExecutor.MountVolume started\" volume=\"%x\" "+
			"pod=\"openshift-etcd/etcd-%d\"\n",
			i/60%60, i%60, r.UintN(1e9), i/60%60, i%60, r.UintN(1e6), r.UintN(1e5), r.UintN(1000), r.Uint64(), r.UintN(100))
	}
	return b.String()
}

const benchSize = 100 << 20

// BenchmarkOpen indexes a gzipped archive: bytes are those after decompression.
func BenchmarkOpen(b *testing.B) {
	path, size := synthetic(b, benchSize)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		s, err := Open(b.Context(), path)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(s.members.Kept())/(1<<20), "MiB-kept")
		s.Close()
	}
}

// BenchmarkTexts reads all logs of an open archive.
func BenchmarkTexts(b *testing.B) {
	path, _ := synthetic(b, benchSize)
	s, err := Open(b.Context(), path)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	var size int64
	for b.Loop() {
		texts, err := s.Texts(b.Context(), evidence.TextQuery{Kind: evidence.ContainerLog})
		if err != nil {
			b.Fatal(err)
		}
		size = 0
		for _, t := range texts {
			in, err := t.Open(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			n, err := io.Copy(io.Discard, in)
			if err != nil {
				b.Fatal(err)
			}
			size += n
			in.Close()
		}
	}
	b.SetBytes(size)
}

// BenchmarkListOneNamespace decodes the pods of one namespace of an open archive.
func BenchmarkListOneNamespace(b *testing.B) {
	path, _ := synthetic(b, 4<<20)
	s, err := Open(b.Context(), path)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for b.Loop() {
		if _, err := s.List(b.Context(), evidence.Pods, "ns-1"); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(syntheticPods(rand.New(rand.NewPCG(1, 2)), 100))))
}

// BenchmarkDescribe finds the newest time of an open archive.
func BenchmarkDescribe(b *testing.B) {
	path, _ := synthetic(b, benchSize)
	s, err := Open(b.Context(), path)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for b.Loop() {
		s.nowKnown = false
		if _, err := s.Describe(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
