package workers

import (
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/workers/provider"
)

const streamJSON = `{"stream": "rhcos-4.18", "architectures": {"x86_64": {
  "artifacts": {"metal": {"release": "418.94.202501221327-0", "formats": {"iso": {"disk": {"location": "https://rhcos.example.com/live.iso", "sha256": "ab12"}}}}},
  "images": {"gcp": {"release": "418.94.202501221327-0", "project": "rhcos-cloud", "name": "rhcos-418-x86-64"}}}}}`

func TestBootImage(t *testing.T) {
	i, stream, err := BootImage([]byte(streamJSON), "x86_64")
	want := provider.Image{Release: "418.94.202501221327-0", Project: "rhcos-cloud", Name: "rhcos-418-x86-64", ISO: "https://rhcos.example.com/live.iso", Digest: "ab12"}
	if err != nil || i != want || stream != "rhcos-4.18" {
		t.Errorf("%+v, %s, %v", i, stream, err)
	}
	for _, c := range []struct{ raw, architecture, want string }{
		{streamJSON, "s390x", "no images of s390x"},
		{`{}`, "x86_64", "print-stream-json"},
		{`[`, "x86_64", "read stream metadata"},
		{`{"stream": "x", "architectures": {"x86_64": {}}}`, "x86_64", "neither"},
	} {
		if _, _, err := BootImage([]byte(c.raw), c.architecture); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.raw, err, c.want)
		}
	}
}

func TestImageSkew(t *testing.T) {
	for _, c := range []struct {
		stream, version string
		want            provider.Outcome
	}{
		{"rhcos-4.18", "4.18.9", provider.Passed},
		{"rhcos-4.14", "4.18.9", provider.Passed},
		{"rhcos-4.19", "4.18.9", provider.Failed},
		{"rhcos-4.9", "4.10.0-rc.1", provider.Passed},
		{"rhel-9.6", "4.20.1", provider.Unknown},
		{"rhcos-4.18", "", provider.Unknown},
		{"rhcos-4.18", "5.0.0", provider.Unknown},
		{"", "4.18.9", provider.Unknown},
	} {
		if got := ImageSkew(c.stream, c.version); got.Outcome != c.want {
			t.Errorf("%s for %s: %+v, want %s", c.stream, c.version, got, c.want)
		}
	}
}
