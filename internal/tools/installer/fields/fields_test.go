package fields

import (
	"bytes"
	"flag"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var update = flag.Bool("update", false, "rewrite installerfields.go of internal/preflight/checks")

// TestGoFile: the generated file of preflight has the fields of the installer that go.mod requires.
func TestGoFile(t *testing.T) {
	const file = "../../../preflight/checks/installerfields.go"
	mod, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^\s*github\.com/openshift/installer (\S+)`).FindSubmatch(mod)
	if version == nil {
		t.Fatal("go.mod requires no github.com/openshift/installer")
	}
	got, err := goFile(string(version[1]))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is out of date; run this test with -update, and then those of internal/preflight", file)
	}
}

// plan has a field of each kind.
type plan struct {
	metav1.TypeMeta `json:",inline"`
	Text            string            `json:"text,omitempty"`
	Bool            *bool             `json:"bool"`
	Number          int32             `json:"number"`
	Time            metav1.Time       `json:"time"`
	Duration        *metav1.Duration  `json:"duration"`
	Bytes           []byte            `json:"bytes"`
	Texts           []string          `json:"texts"`
	Words           map[string]string `json:"words"`
	Blocks          map[string][]byte `json:"blocks"`
	Empty           struct{}          `json:"empty"`
	Items           []item            `json:"items"`
	Platform        *platform         `json:"platform"`
	Status          status            `json:"status"`
	Hidden          string            `json:"-"`
	Untagged        string
}

type item struct {
	Name string `json:"name"`
}

type platform struct {
	AWS       *item     `json:"aws"`
	BareMetal *struct{} `json:"baremetal"`
}

type status struct {
	Known item     `json:"known"` // as in the spec
	Own   progress `json:"own"`
}

type progress struct {
	Percent int `json:"percent"`
}

type endless struct {
	Below *endless `json:"below"`
}

func TestRead(t *testing.T) {
	got, err := document{file: "plan.yaml", path: "documents.*", of: reflect.TypeFor[plan]()}.read()
	if err != nil {
		t.Fatal(err)
	}
	want := `documents.*: kind! apiVersion! text bool? number# time@ duration~ bytes texts[] words{text} blocks{} empty{} items platform status untagged
documents.*.items.*: name
documents.*.platform+: aws+ baremetal{}
documents.*.status+: known own
documents.*.status.known: name
documents.*.status.own+: percent#`
	if got := strings.Join(got, "\n"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestReadRefuses(t *testing.T) {
	for want, of := range map[string]reflect.Type{
		"below: fields.endless has itself as a field":        reflect.TypeFor[endless](),
		"f: a value of the type float64 is not known":        reflect.TypeFor[struct{ F float64 }](),
		"f: a value of the type []map[string]int is not kno": reflect.TypeFor[struct{ F []map[string]int }](),
	} {
		if _, err := (document{file: "plan.yaml", of: of}).read(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", of, err, want)
		}
	}
}

func TestWrap(t *testing.T) {
	long := strings.Repeat("x", 80)
	for block, want := range map[string]string{
		"a+: b c":                            "a+: b c\n",
		"a.b+: " + long + " " + long + " c#": "a.b+: " + long + "\na.b+: " + long + " c#\n",
		"none:":                              "none:\n",
	} {
		if got := wrap(block); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
