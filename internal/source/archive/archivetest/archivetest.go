// Package archivetest writes large archives for benchmarks. They are the same in
// every run, and as varied as real must-gathers: what a collector finds in a
// cluster that has run for a while, of which a diagnosis reads only a small part.
//
// The shares of a real must-gather of 4.8 (by bytes) are a third container logs, a
// third journals of masters, a fifth Secrets and ConfigMaps, the rest Events, Pods
// and other objects. In large archives a few logs are huge.
package archivetest

import (
	"archive/tar"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"slices"
)

// root is the directory of the image in the archive.
const root = "must-gather.local.1/quay-io-example-must-gather-sha256-0/"

// File writes a gzipped must-gather that unpacks to about size bytes: the files of
// base, which say what cluster it is, and around them what else a collector finds.
// It returns how many bytes the members have.
func File(name string, base fs.FS, size int64) (unpacked int64, err error) {
	f, err := os.Create(name)
	if err != nil {
		return 0, fmt.Errorf("write archive: %w", err)
	}
	z, err := gzip.NewWriterLevel(f, gzip.BestSpeed)
	if err != nil {
		return 0, fmt.Errorf("write archive %s: %w", name, err)
	}
	w := &writer{tar: tar.NewWriter(z), r: rand.New(rand.NewPCG(1, 2))}
	w.all(base, size)
	for _, c := range []io.Closer{w.tar, z, f} {
		if err := c.Close(); w.err == nil {
			w.err = err
		}
	}
	if w.err != nil {
		return 0, fmt.Errorf("write archive %s: %w", name, w.err)
	}
	return w.n, nil
}

// writer writes members; the first error stays.
type writer struct {
	tar *tar.Writer
	r   *rand.Rand
	n   int64
	err error
	buf []byte
}

func (w *writer) all(base fs.FS, size int64) {
	w.base(base)
	// What is huge in a large archive: the journals and the logs of what never restarts.
	for _, unit := range []string{"kubelet", "crio", "NetworkManager"} {
		share := map[string]int64{"kubelet": 20, "crio": 12, "NetworkManager": 1}[unit]
		w.lines("host_service_logs/masters/"+unit+"_service.log", size*share/100, w.journal(unit))
	}
	for i, p := range []string{
		"openshift-kube-apiserver/pods/kube-apiserver-m0/kube-apiserver", "openshift-etcd/pods/etcd-m0/etcd",
		"openshift-ovn-kubernetes/pods/ovnkube-node-aaaaa/ovnkube-controller",
	} {
		w.lines("namespaces/"+p+"/"+path.Base(p)+"/logs/current.log", size*int64(4+i)/100, w.container)
	}
	for i := 0; w.err == nil && w.n < size; i++ {
		ns := fmt.Sprintf("namespaces/openshift-noise-%d/", i)
		w.objects(ns+"core/pods.yaml", "Pod", 40, w.pod)
		w.objects(ns+"core/events.yaml", "Event", 400, w.event)
		w.objects(ns+"core/secrets.yaml", "Secret", 60, w.secret)
		w.objects(ns+"core/configmaps.yaml", "ConfigMap", 12, w.configMap)
		for p := range 12 {
			pod := fmt.Sprintf("%spods/pod-%d/", ns, p)
			w.one(pod+fmt.Sprintf("pod-%d.yaml", p), "Pod", w.pod)
			w.lines(pod+"main/main/logs/current.log", 60<<10, w.container)
			w.lines(pod+"main/main/logs/previous.log", 0, w.container)
		}
	}
}

// base writes the files of a small archive in the order of their names.
func (w *writer) base(base fs.FS) {
	var names []string
	w.keep(fs.WalkDir(base, ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			names = append(names, p)
		}
		return err
	}))
	slices.Sort(names)
	for _, p := range names {
		raw, err := fs.ReadFile(base, p)
		w.keep(err)
		w.member(p, raw)
	}
}

func (w *writer) keep(err error) {
	if w.err == nil {
		w.err = err
	}
}

func (w *writer) member(name string, content []byte) {
	if w.err != nil {
		return
	}
	w.keep(w.tar.WriteHeader(&tar.Header{Name: root + name, Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(len(content))}))
	_, err := w.tar.Write(content)
	w.keep(err)
	w.n += int64(len(content))
}

// lines writes a text of a size, without holding it: the lines of a block of about
// 8 MiB come again and again.
func (w *writer) lines(name string, size int64, line func(b []byte) []byte) {
	if w.err != nil {
		return
	}
	block := w.buf[:0]
	for int64(len(block)) < min(size, 8<<20) {
		block = line(block)
	}
	w.buf = block
	w.keep(w.tar.WriteHeader(&tar.Header{Name: root + name, Typeflag: tar.TypeReg, Mode: 0o600, Size: size}))
	for left := size; left > 0 && w.err == nil; {
		n, err := w.tar.Write(block[:min(left, int64(len(block)))])
		w.keep(err)
		left -= int64(n)
	}
	w.n += size
}

func (w *writer) objects(name, kind string, n int, item func(b []byte, i int) []byte) {
	b := append(w.buf[:0], "---\napiVersion: v1\nitems:\n"...)
	for i := range n {
		b = fmt.Appendf(b, "- apiVersion: v1\n  kind: %s\n", kind)
		b = item(b, i)
	}
	b = fmt.Appendf(b, "kind: %sList\nmetadata:\n  resourceVersion: \"%d\"\n", kind, w.r.Uint32())
	w.buf = b
	w.member(name, b)
}

// one writes a file with one object, whose lines are indented as an item's, which
// YAML allows.
func (w *writer) one(name, kind string, item func(b []byte, i int) []byte) {
	b := fmt.Appendf(w.buf[:0], "---\n  apiVersion: v1\n  kind: %s\n", kind)
	b = item(b, 0)
	w.buf = b
	w.member(name, b)
}
