package archive

import (
	"archive/tar"
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/gzip"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/sanitize"
	"github.com/rollcall-project/rollcall/internal/scan"
	"github.com/rollcall-project/rollcall/internal/source/archive/member"
)

func gzipOf(t testing.TB, raw []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// tarOf packs files in the order of their names.
func tarOf(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(len(files[name]))})
		if err == nil {
			_, err = w.Write([]byte(files[name]))
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

const logs = "mg/namespaces/ns/pods/p/c/c/logs/"

// skimTree has logs of all kinds, of which a few lines carry the signature.
func skimTree(t testing.TB) map[string]string {
	var long strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&long, "2026-01-02T10:11:12Z nothing %d\n", i)
		if i%7 == 0 {
			fmt.Fprintf(&long, "2026-01-02T10:11:12Z needle %d\n", i)
		}
	}
	return map[string]string{
		"mg/timestamp":                                         "2026-01-02 11:00:00 +0000 UTC\n2026-01-02 11:01:00 +0000 UTC\n",
		logs + "current.log":                                   long.String(),
		logs + "previous.log":                                  "-----BEGIN RSA PRIVATE KEY-----\nneedle\n-----END RSA PRIVATE KEY-----\nneedle\n",
		logs + "rotated/0.log.20260101.gz":                     string(gzipOf(t, []byte("needle old\nnothing\n"))),
		logs + "rotated/1.log.20260101":                        "\x1f\x8b\x08 begins like gzip and is not\nneedle\n",
		"mg/host_service_logs/masters/kubelet_service.log":     "Jan 02 10:11:12 m0 kubenswrapper[1]: needle\nno\n",
		"mg/namespaces/ns/pods/p/other/other/logs/current.log": "needle that nobody wants\n",
	}
}

var skimNeeds = []evidence.Need{
	evidence.Texts(evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: "ns", Container: "c"}),
	evidence.Texts(evidence.TextQuery{Kind: evidence.Journal, Unit: "kubelet"}),
}

// TestSkimFindsWhatTheWholeHas compares what a Reader finds in an archive that was
// skimmed with what it finds in one that was kept, also where the archive is cut
// off and where the budget is spent.
func TestSkimFindsWhatTheWholeHas(t *testing.T) {
	whole := gzipOf(t, tarOf(t, skimTree(t)))
	set, err := scan.Compile([]scan.Signature{{ID: "needle", Literal: "needle"}})
	if err != nil {
		t.Fatal(err)
	}
	clean, err := sanitize.New()
	if err != nil {
		t.Fatal(err)
	}
	k := reader.NewSkimmer(set, clean, reader.Limits{})
	type answer struct {
		Matches []evidence.Match
		Broken  bool
	}
	find := func(raw []byte, how ...Option) map[string]answer {
		s, err := fromBytes(t.Context(), bytes.NewReader(raw), int64(len(raw)), "x", optionsOf(how))
		if err != nil {
			return nil
		}
		defer s.Close()
		r := reader.New(set, clean, nil, reader.Limits{}, s)
		got := map[string]answer{}
		for _, n := range append(skimNeeds, evidence.Texts(evidence.TextQuery{Kind: evidence.ContainerLog, Container: "other"})) {
			ms, err := r.Matches(t.Context(), n.Text, "needle")
			got[n.String()] = answer{ms, err != nil}
		}
		return got
	}
	for _, cut := range []int{0, 1, 40, 300, 2000, len(whole) / 2} {
		raw := whole[:len(whole)-cut]
		want := find(raw)
		if cut == 0 && len(want[skimNeeds[0].String()].Matches) < 400 {
			t.Fatalf("the whole archive has few matches: %v", want)
		}
		for name, how := range map[string][]Option{
			"skimmed": {For(skimNeeds), Skim(k)}, "kept": {For(skimNeeds)}, "skimmed all": {Skim(k)}, "budget spent": {For(skimNeeds), Skim(k), budget(1, 1)},
		} {
			ignore := cmpopts.IgnoreFields(evidence.Text{}, "Open", "Skimmed")
			if diff := cmp.Diff(want, find(raw, how...), ignore, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s, %d bytes cut off: (-whole +got)\n%s", name, cut, diff)
			}
		}
	}
}

// TestUnwantedIsThere proves that what was not named can be read too, and that
// "now" is the same.
func TestUnwantedIsThere(t *testing.T) {
	tree := map[string]string{
		"mg/namespaces/ns/core/events.yaml": "---\napiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Event\n  lastTimestamp: \"2026-01-02T10:11:12Z\"\n  " +
			"metadata:\n    name: a\n    namespace: ns\nkind: EventList\n",
		"mg/namespaces/ns/core/pods.yaml": "---\napiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n    namespace: ns\nkind: " +
			"PodList\n",
	}
	raw := gzipOf(t, tarOf(t, tree))
	for _, stamp := range []string{"", "2026-01-01 00:00:00 +0000 UTC\n"} {
		if stamp != "" {
			tree["mg/timestamp"] = stamp
			raw = gzipOf(t, tarOf(t, tree))
		}
		all, err := fromBytes(t.Context(), bytes.NewReader(raw), int64(len(raw)), "x", optionsOf(nil))
		if err != nil {
			t.Fatal(err)
		}
		some, err := fromBytes(t.Context(), bytes.NewReader(raw), int64(len(raw)), "x", optionsOf([]Option{For(skimNeeds)}))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []evidence.Resource{evidence.Pods, evidence.Events} {
			list, err := some.List(t.Context(), r, "ns")
			if err != nil || len(list) != 1 {
				t.Errorf("%s: %d objects, %v", r, len(list), err)
			}
		}
		want, err := all.Describe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got, err := some.Describe(t.Context())
		if err != nil || !got.Now.Equal(want.Now) || got.Now.IsZero() {
			t.Errorf("now is %s, want %s; %v", got.Now, want.Now, err)
		}
	}
}

func budget(objects, texts int64) Option {
	return func(o *options) { o.budget = member.Budget{Objects: objects, Texts: texts} }
}
