package plan

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

const machineConfig = `apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata:
  name: 99-master-planted
  labels: {machineconfiguration.openshift.io/role: master}
spec:
  kernelArguments: [planted-argument]
  config:
    storage:
      files: [{path: /etc/a, contents: {source: "data:,planted-content"}}]
    systemd:
      units: [{name: a.service, contents: planted-unit}]
    passwd:
      users: [{name: core, passwordHash: planted-hash}]
`

func manifestObjects(t *testing.T, files map[string]string) []evidence.Object {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o600}
	}
	s, err := InstallDir(fsys, ".", "", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.List(t.Context(), evidence.Plans, "")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestManifests: of a manifest stays what it is and what it writes, with its place. None of
// its content does.
func TestManifests(t *testing.T) {
	secret := "kind: Secret\napiVersion: v1\nmetadata: {name: s}\nstringData: {password: planted-secret}\n"
	list := manifestObjects(t, map[string]string{
		"openshift/99-a.yaml": "# first\n---\n" + machineConfig + "---\n---\n" + secret, "openshift/notes.txt": "kind: [", "openshift/sub/b.yaml": "kind: [", "manifests/broken.yml": "a: [\nplanted-broken",
	})
	raw, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"planted-argument", "planted-content", "planted-unit", "planted-hash", "planted-secret", "planted-broken"} {
		if strings.Contains(string(raw), word) {
			t.Errorf("%s is in the evidence", word)
		}
	}
	if len(list) != 2 {
		t.Fatalf("%d files, want 2: %s", len(list), raw)
	}
	broken, _ := evidence.Field(list[0].Content, "config", "broken").(bool)
	documents, _ := evidence.Field(list[1].Content, "config", "documents").([]any)
	if !broken || len(documents) != 2 {
		t.Fatalf("broken %v, documents %v", broken, documents)
	}
	var names []string
	m, _ := documents[0].(map[string]any)
	for _, p := range m["parts"].([]any) {
		names = append(names, evidence.String(p.(map[string]any), "name"))
	}
	if got, want := strings.Join(names, ","), "/etc/a,unit a.service,user core,kernelArguments"; got != want || m["role"] != "master" {
		t.Errorf("parts %s of role %v, want %s", got, m["role"], want)
	}
	if at, _ := list[1].Content["at"].(map[string]any); at["documents[0]"] != place(6, 9) {
		t.Errorf("places %v", at)
	}
}

// TestManifestsBounded: more files than an installation has are refused.
func TestManifestsBounded(t *testing.T) {
	fsys := fstest.MapFS{}
	for i := range maxManifests + 1 {
		fsys["openshift/"+strings.Repeat("a", i%50)+string(rune('a'+i%26))+time.Unix(int64(i), 0).UTC().Format("150405")+".yaml"] = &fstest.MapFile{Data: []byte("kind: A")}
	}
	if _, err := InstallDir(fsys, ".", "", time.Time{}); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("%d files: %v", len(fsys), err)
	}
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(machineConfig))
	f.Add([]byte("kind: List\nitems: [*a]\n---\n"))
	f.Fuzz(func(_ *testing.T, raw []byte) { manifestFile("a.yaml", raw, contents{}) })
}
