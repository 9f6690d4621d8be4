package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/sanitize"
	"github.com/rollcall-project/rollcall/internal/scan"
)

// lostFiles are an archive of one node, one pod and its log, in addition to what cannot be read.
const (
	lostNode = "mg/cluster-scoped-resources/core/nodes/a.yaml"
	lostPod  = "mg/namespaces/a/core/pods.yaml"
	lostLog  = "mg/namespaces/a/pods/p1/c/c/logs/current.log"
)

var lostFiles = map[string]string{
	lostNode: "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n",
	lostPod:  "apiVersion: v1\nitems:\n- metadata: {name: p1}\nkind: PodList\n",
	lostLog:  "a line\n",
}

// linked writes the archive with links at some names: as a directory, a tar and a zip.
func linked(t *testing.T, links ...string) map[string]*Source {
	t.Helper()
	dir := t.TempDir()
	var packed, zipped bytes.Buffer
	w, z := tar.NewWriter(&packed), zip.NewWriter(&zipped)
	put := func(name, content string, mode fs.FileMode) {
		t.Helper()
		at := filepath.Join(dir, name)
		h, m := &tar.Header{Name: name, Mode: 0o600, Size: int64(len(content)), Typeflag: tar.TypeReg}, &zip.FileHeader{Name: name}
		m.SetMode(mode | 0o600)
		err := os.MkdirAll(filepath.Dir(at), 0o700)
		if err == nil && mode != 0 {
			h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, "elsewhere", 0
			err = os.Symlink("elsewhere", at)
		} else if err == nil {
			err = os.WriteFile(at, []byte(content), 0o600)
		}
		if err == nil {
			err = w.WriteHeader(h)
		}
		if err == nil && mode == 0 {
			_, err = w.Write([]byte(content))
		}
		in, errZip := z.CreateHeader(m)
		if errZip == nil {
			_, errZip = in.Write([]byte(content))
		}
		if err != nil || errZip != nil {
			t.Fatal(err, errZip)
		}
	}
	for name, content := range lostFiles {
		put(name, content, 0)
	}
	for _, name := range links {
		put(name, "elsewhere", fs.ModeSymlink)
	}
	if w.Close() != nil || z.Close() != nil {
		t.Fatal("not packed")
	}
	d, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	sources := map[string]*Source{"directory": d}
	for name, raw := range map[string][]byte{"a.tar": packed.Bytes(), "a.tar.gz": gz(t, packed.Bytes()), "a.zip": zipped.Bytes()} {
		if sources[name], err = openFile(t, name, raw); err != nil {
			t.Fatal(err)
		}
	}
	return sources
}

// partly names which of the questions an archive answers only in part.
func partly(t *testing.T, s *Source) []string {
	t.Helper()
	r := newReader(t, s)
	q := evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: "a", Container: "c"}
	for _, n := range []evidence.Need{evidence.Objects(evidence.Nodes, ""), evidence.Objects(evidence.Pods, "a")} {
		if list, err := r.List(t.Context(), n.Resource, n.Namespace); err != nil || len(list) != 1 {
			t.Errorf("%s: %v, %v", n, list, err)
		}
		_, _, err := r.Get(t.Context(), n.Resource, n.Namespace, "b")
		if _, ok := evidence.AsUnavailable(err); ok != strings.Contains(coverageOf(r, n), "partial") {
			t.Errorf("%s: what is not there is %v", n, err)
		}
	}
	if _, err := r.Matches(t.Context(), q, ""); err != nil {
		t.Error(err)
	}
	if i := slices.IndexFunc(r.Coverage(), func(c evidence.Coverage) bool { return c.Need == evidence.Texts(q).String() && c.Count == 1 }); i < 0 {
		t.Errorf("%v, want one text", r.Coverage())
	}
	var list []string
	for _, n := range []evidence.Need{evidence.Objects(evidence.Nodes, ""), evidence.Objects(evidence.Pods, "a"), evidence.Texts(q)} {
		switch c := coverageOf(r, n); {
		case strings.HasPrefix(c, "partial"):
			list = append(list, n.String())
		case !strings.HasPrefix(c, "read"):
			t.Errorf("%s: %s", n, c)
		}
	}
	return list
}

func newReader(t *testing.T, s *Source) *reader.Reader {
	t.Helper()
	set, err := scan.Compile([]scan.Signature{{ID: "needle", Literal: "needle"}})
	if err != nil {
		t.Fatal(err)
	}
	clean, err := sanitize.New()
	if err != nil {
		t.Fatal(err)
	}
	return reader.New(set, clean, nil, reader.Limits{}, s)
}

func coverageOf(r *reader.Reader, n evidence.Need) string {
	for _, c := range r.Coverage() {
		if c.Need == n.String() {
			return string(c.State) + " " + c.Reason
		}
	}
	return ""
}

// TestWhatIsLost holds that what cannot be read is never silence, and that it matters
// only to who asks for it.
func TestWhatIsLost(t *testing.T) {
	const nodes, pods, log = "nodes", "pods -n a", "log a/c"
	for name, c := range map[string]struct {
		links []string
		want  []string
	}{
		"nothing":                       {nil, nil},
		"an object":                     {[]string{"mg/cluster-scoped-resources/core/nodes/b.yaml"}, []string{nodes}},
		"a List":                        {[]string{"mg/cluster-scoped-resources/core/nodes.yaml"}, []string{nodes}},
		"an object nobody asks for":     {[]string{"mg/cluster-scoped-resources/core/persistentvolumes/b.yaml"}, nil},
		"a pod's own file":              {[]string{"mg/namespaces/a/pods/p2/p2.yaml"}, []string{pods}},
		"a log":                         {[]string{"mg/namespaces/a/pods/p2/c/c/logs/current.log"}, []string{log}},
		"a log of another":              {[]string{"mg/namespaces/a/pods/p2/d/d/logs/current.log"}, nil},
		"a resource's directory":        {[]string{"mg/cluster-scoped-resources/config.openshift.io", "more/cluster-scoped-resources/core/nodes"}, []string{nodes}},
		"a group's directory":           {[]string{"more/cluster-scoped-resources/core"}, []string{nodes}},
		"all of the cluster":            {[]string{"more/cluster-scoped-resources"}, []string{nodes}},
		"a namespace":                   {[]string{"more/namespaces/a"}, []string{pods, log}},
		"another namespace":             {[]string{"mg/namespaces/b"}, nil},
		"all namespaces":                {[]string{"more/namespaces"}, []string{pods, log}},
		"a pod's directory":             {[]string{"mg/namespaces/a/pods/p2"}, []string{pods, log}},
		"a resource in a namespace":     {[]string{"mg/namespaces/a/apps/deployments", "mg/namespaces/a/core/events"}, nil},
		"logs and what lies beside all": {[]string{"mg/host_service_logs/masters/kubelet_service.log", "mg/audit_logs/x.log.gz", "mg/latest", "latest"}, nil},
	} {
		for how, s := range linked(t, c.links...) {
			if got := partly(t, s); !slices.Equal(got, c.want) {
				t.Errorf("%s, %s: in part %q, want %q", name, how, got, c.want)
			}
		}
	}
}

// TestOtherLosses are members that no link is.
func TestOtherLosses(t *testing.T) {
	pack := func(h tar.Header) []byte {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for name, content := range lostFiles {
			if w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(content)), Typeflag: tar.TypeReg}) != nil {
				t.Fatal(name)
			}
			w.Write([]byte(content))
		}
		h.Mode = 0o600
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		w.Close()
		return b.Bytes()
	}
	const block = 512 // of a tar
	sparseMember := pack(tar.Header{Name: "mg/cluster-scoped-resources/core/nodes/b.yaml", Typeflag: tar.TypeReg, Format: tar.FormatGNU})
	at := bytes.Index(sparseMember, []byte("nodes/b.yaml"))/block*block + 156
	sum := sparseMember[at-8 : at]
	sparseMember[at] = tar.TypeGNUSparse
	copy(sum, checksum(sparseMember[at-156:at-156+block]))
	for name, raw := range map[string][]byte{
		"a hard link": pack(tar.Header{Name: "mg/cluster-scoped-resources/core/nodes/b.yaml", Typeflag: tar.TypeLink, Linkname: lostNode}),
		"a device":    pack(tar.Header{Name: "mg/cluster-scoped-resources/core/nodes/b.yaml", Typeflag: tar.TypeChar}),
		"a way out":   pack(tar.Header{Name: "x/../../" + lostNode, Typeflag: tar.TypeReg}),
		"sparse":      sparseMember,
	} {
		s, err := openFile(t, "a.tar", raw)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := partly(t, s); !slices.Equal(got, []string{"nodes"}) {
			t.Errorf("%s: in part %q", name, got)
		}
	}
}

// checksum is the sum of a tar's header as it is written there.
func checksum(h []byte) string {
	n := 0
	for i, c := range h {
		if i >= 148 && i < 156 {
			c = ' '
		}
		n += int(c)
	}
	digits := []byte("000000\x00 ")
	for i := 5; n > 0; i-- {
		digits[i] = byte('0' + n%8)
		n /= 8
	}
	return string(digits)
}

// TestUnreadableDirectory: whatever lay in it, unless it lies next to all that is asked for.
func TestUnreadableDirectory(t *testing.T) {
	for name, want := range map[string]int{"mg/audit_logs": 0, "mg/namespaces/b": 0, "mg/namespaces/a/pods/p2": 2, "mg2": 3} {
		dir := t.TempDir()
		for file, content := range lostFiles {
			at := filepath.Join(dir, file)
			if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s, err := FS(closed{os.DirFS(dir), name}, "a")
		if err != nil {
			t.Fatal(err)
		}
		if got := partly(t, s); len(got) != want {
			t.Errorf("%s: in part %q", name, got)
		}
	}
}

// closed is a file system with one directory more, which cannot be listed.
type closed struct {
	fs.FS
	dir string
}

func (c closed) ReadDir(name string) ([]fs.DirEntry, error) {
	if name == c.dir {
		return nil, fs.ErrPermission
	}
	list, err := fs.ReadDir(c.FS, name)
	if name == filepath.Dir(c.dir) && !slices.ContainsFunc(list, func(d fs.DirEntry) bool { return d.Name() == filepath.Base(c.dir) }) {
		list = append(list, fs.FileInfoToDirEntry(folder{name: filepath.Base(c.dir)}))
	}
	return list, err
}

type folder struct {
	fs.FileInfo
	name string
}

func (f folder) Name() string    { return f.name }
func (folder) IsDir() bool       { return true }
func (folder) Mode() fs.FileMode { return fs.ModeDir }

// TestTextsBehindTheCut: what a cut-off archive has of the logs is not all of them.
func TestTextsBehindTheCut(t *testing.T) {
	const second = "mg/namespaces/a/pods/p2/c/c/logs/current.log"
	files := fstest.MapFS{second: {Data: []byte("another line\n")}}
	for name, content := range lostFiles {
		files[name] = &fstest.MapFile{Data: []byte(content)}
	}
	whole := packTar(t, files, "")
	behind := whole[:bytes.Index(whole, []byte(second))]
	q := evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: "a", Container: "c"}
	for name, c := range map[string]struct {
		raw  []byte
		q    evidence.TextQuery
		want string
		left int // texts that may be there
	}{
		"whole":            {whole, q, "read", 0},
		"cut":              {behind, q, "partial mg.tar: open mg.tar: the archive is cut off", 1},
		"cut, packed":      {gz(t, behind), q, "partial mg.tar: open mg.tar: the archive is cut off", 1},
		"nothing came yet": {behind, evidence.TextQuery{Kind: evidence.Journal}, "missing damaged: the archive is cut off", 0},
	} {
		s, err := openFile(t, "mg.tar", c.raw)
		if err != nil {
			t.Fatal(err)
		}
		r := newReader(t, s)
		_, err = r.Matches(t.Context(), c.q, "")
		var unread []evidence.TextGap
		if err == nil {
			unread, err = r.Gaps(t.Context(), c.q)
		}
		if got := coverageOf(r, evidence.Texts(c.q)); !strings.HasPrefix(got, c.want) || len(unread) != c.left {
			t.Errorf("%s: %s, unread %v, %v", name, got, unread, err)
		}
	}
}

// TestLongNames: a name that is too long is not looked at, and costs little.
func TestLongNames(t *testing.T) {
	for name, want := range map[string][]string{
		strings.Repeat("d/", 100) + "x.yaml":                                  {"nodes", "pods -n a", "log a/c"}, // it may be all of another root
		"mg/audit_logs/" + strings.Repeat("d/", 100) + "x.yaml":               nil,
		"mg/namespaces/" + strings.Repeat("d/", 100) + "x.yaml":               {"pods -n a", "log a/c"},
		"mg/cluster-scoped-resources/core/nodes/" + strings.Repeat("x", 4100): {"nodes"},
	} {
		files := fstest.MapFS{name: {Data: []byte("kind: Node\n")}}
		for name, content := range lostFiles {
			files[name] = &fstest.MapFile{Data: []byte(content)}
		}
		s, err := openFile(t, "mg.tar", packTar(t, files, ""))
		if err != nil {
			t.Fatal(err)
		}
		if got := partly(t, s); !slices.Equal(got, want) {
			t.Errorf("%.60s: in part %q", name, got)
		}
	}
	deep := strings.Repeat("d/", 2000) + "x.yaml"
	if n := testing.AllocsPerRun(10, func() { proven(deep) }); n > 2 {
		t.Errorf("%v allocations for a deep name", n)
	}
}

// TestEventsOfBothGroups: events lie in two groups, and what is lost of either matters.
func TestEventsOfBothGroups(t *testing.T) {
	for link, want := range map[string]evidence.Why{
		"mg/namespaces/a/events.k8s.io":             evidence.Damaged,
		"mg/namespaces/a/events.k8s.io/events.yaml": evidence.Damaged,
		"mg/namespaces/a/core/events":               evidence.Damaged,
		"mg/namespaces/a/apps":                      evidence.NotCollected,
	} {
		for how, s := range linked(t, link) {
			if _, err := s.List(t.Context(), evidence.Events, "a"); why(t, err) != want {
				t.Errorf("%s, %s: %v", link, how, err)
			}
		}
	}
}
