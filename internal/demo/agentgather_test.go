package demo_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rollcall-project/rollcall/internal/fixture"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/source/archive"
)

// exported writes lines of a journal, as `journalctl -o short-precise` has them, as agent-gather does:
// in export format.
func exported(t *testing.T, lines []string) []byte {
	t.Helper()
	var b bytes.Buffer
	for i, l := range lines {
		at, err := time.Parse("2006 Jan 02 15:04:05.000000", "2026 "+l[:len("Mar 01 11:25:00.000001")])
		host, rest, ok := strings.Cut(l[len("Mar 01 11:25:00.000001 "):], " ")
		message := rest[strings.Index(rest, ": ")+2:]
		if err != nil || !ok {
			t.Fatalf("%q: %v", l, err)
		}
		fmt.Fprintf(&b, "__CURSOR=s=%d\n__REALTIME_TIMESTAMP=%d\n_HOSTNAME=%s\nSYSLOG_IDENTIFIER=kubenswrapper\n_PID=3100\n_SYSTEMD_UNIT=kubelet.service\nMESSAGE=%s\n\n",
			i, at.UnixMicro(), host, message)
	}
	return b.Bytes()
}

// inTar packs one agent-gather as its script does: with the journal between other files.
func inTar(t *testing.T, journal []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range []struct {
		name string
		data []byte
	}{{"ip_a.txt", []byte("1: lo\n")}, {"journal.export", journal}, {"nmcli.txt", []byte("none\n")}} {
		err := w.WriteHeader(&tar.Header{Name: "agent-gather-20260301/" + f.name, Mode: 0o600, Size: int64(len(f.data)), Typeflag: tar.TypeReg})
		if err == nil {
			_, err = w.Write(f.data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// packed is a gzipped file.
func packed(t *testing.T, raw []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(raw)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestHalfAgentGather: only the journal of an agent-gather shows the fault of a host. Of half of it
// the loss is named, and the answer is never better or surer than that of the whole.
func TestHalfAgentGather(t *testing.T) {
	const (
		log  = "host_service_logs/masters/kubelet_service.log"
		want = "kubelet-client-cert-expired host/m1"
	)
	overlays, err := fixture.Overlays(os.DirFS("../../catalog"))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(overlays, func(o fixture.Overlay) bool { return o.Fault == "kubelet-client-cert-expired" && o.Variant == "" })
	if i < 0 {
		t.Fatal("there is no such overlay")
	}
	files, err := overlays[i].FS()
	if err != nil {
		t.Fatal(err)
	}
	var moved, left []string
	for name, f := range files {
		if !strings.HasSuffix(name, log) {
			continue
		}
		for line := range strings.Lines(string(f.Data)) {
			if strings.Contains(line, " m1 ") {
				moved = append(moved, strings.TrimSuffix(line, "\n"))
			} else {
				left = append(left, line)
			}
		}
		files[name] = &fstest.MapFile{Data: []byte(strings.Join(left, ""))}
	}
	if len(moved) < 3 {
		t.Fatalf("%d lines of m1", len(moved))
	}
	journal := exported(t, moved)
	mustGather := sample{name: "must-gather", files: files}
	d := newDoctor(t)
	directory := func(files fstest.MapFS) func() (*archive.Source, error) {
		return func() (*archive.Source, error) { return archive.FS(files, "agent-gather-20260301") }
	}
	file := func(name string, raw []byte) func() (*archive.Source, error) {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		return func() (*archive.Source, error) { return archive.Open(t.Context(), path) }
	}
	of := func(journal []byte) func() (*archive.Source, error) {
		return directory(fstest.MapFS{"agent-gather-20260301/journal.export": {Data: journal}, "agent-gather-20260301/nmcli.txt": {Data: []byte("none\n")}})
	}
	whole := d.said(t.Context(), mustGather.open(files), of(journal))
	if whole.findings[want] != fault.Present || !whole.proven[want] || whole.exit != 2 || len(whole.damaged) > 0 {
		t.Fatalf("the whole: %s is %s, exit %d, %s, damaged %q", want, whole.findings[want], whole.exit, whole.verdict, whole.damaged)
	}
	tarred := inTar(t, journal)
	zipped := packed(t, tarred)
	middle := bytes.Index(tarred, journal) + len(journal)/2
	for _, c := range []struct {
		name  string
		open  func() (*archive.Source, error)
		named string // in what is damaged, or in why the archive is refused
	}{
		{"half of the export", of(journal[:len(journal)/2]), "journal kubelet: agent-gather-20260301/journal.export: "},
		{"a quarter of the export", of(journal[:len(journal)/4]), "journal kubelet: agent-gather-20260301/journal.export: "},
		{"without the first half of the export", of(journal[len(journal)/2:]), "journal kubelet: agent-gather-20260301/journal.export: "},
		{"nothing of the export", of(nil), ""}, // the journals of other hosts are read; of m1 nothing is known
		{"without the export", directory(fstest.MapFS{"agent-gather-20260301/nmcli.txt": {Data: []byte("none\n")}}), "no object or log of a cluster found in agent-gather"},
		{"half of the tar", file("half.tar", tarred[:middle]), "the archive is cut off"},
		{"half of the packed tar", file("half.tar.gz", zipped[:len(zipped)/2]), "the archive is cut off"},
		{"the tar ends where the export begins", file("begins.tar", tarred[:bytes.Index(tarred, journal)]), "the archive is cut off"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := d.said(t.Context(), mustGather.open(files), c.open)
			if why := got.better(whole); why != "" {
				t.Error(why)
			}
			if got.exit != 1 && got.findings[want] != fault.Unknown {
				t.Errorf("%s is %s, want unknown", want, got.findings[want])
			}
			if all := strings.Join(append(got.damaged, got.verdict), "\n"); !strings.Contains(all, c.named) {
				t.Errorf("no %q in\n%s", c.named, all)
			}
		})
	}
}
