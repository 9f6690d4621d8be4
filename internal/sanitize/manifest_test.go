package sanitize

import (
	"strings"
	"testing"
)

// TestManifests: a Secret that stands as text in another object keeps its names and
// loses its values.
func TestManifests(t *testing.T) {
	const planted = "Y2Fsdmlu" // calvin
	s, err := New()
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]string{
		"yaml":             "apiVersion: v1\nkind: Secret\nmetadata:\n  name: bmc\ndata:\n  user: cm9vdA==\n  word: " + planted + "\ntype: Opaque\n",
		"data first":       "apiVersion: v1\ndata:\n  word: " + planted + "\nkind: Secret\nmetadata: {name: bmc}\n",
		"quoted":           "\"kind\": \"Secret\"\n\"data\":\n  \"word\": \"" + planted + "\"\n",
		"in a list":        "items:\n- kind: Secret\n  data:\n    word: " + planted + "\n  metadata: {name: bmc}\n",
		"after a document": "kind: ConfigMap\n---\nkind: Secret\nstringData:\n  word: " + planted + "\r\n",
		"flow":             "kind: Secret\ndata: {word: " + planted + "}\n",
		"block":            "kind: Secret\nstringData:\n  word: |\n    " + planted + "\n    more\n",
		"folded":           "kind: Secret\ndata:\n  word:\n    " + planted + "\n",
		"json":             `{"kind":"Secret","data":{"word":"` + planted + `"}}`,
		"json in a string": `{\"kind\": \"Secret\", \"metadata\": {}, \"stringData\": {\"word\":\"` + planted + `\"}}`,
	} {
		once := s.Text(v)
		if strings.Contains(once, planted) {
			t.Errorf("%s: %s", name, once)
		}
		if again := s.Text(once); again != once {
			t.Errorf("%s: the second time %q becomes %q", name, once, again)
		}
		if strings.Contains(v, "metadata:\n  name: bmc") && !strings.Contains(once, "name: bmc\ndata:\n  user: [redacted") {
			t.Errorf("%s lost more than the values: %s", name, once)
		}
	}
	for _, v := range []string{
		"kind: SecretProviderClass\ndata:\n  word: " + planted + "\n",
		"kind: ConfigMap\ndata:\n  word: " + planted + "\n",
		`the field {"kind":"Secret","name":"bmc"} is a reference`,
		"kind: Secret\nname: bmc\n",
	} {
		if got := s.Text(v); got != v {
			t.Errorf("%q became %q", v, got)
		}
	}
}

// TestVariables: what an environment calls a password is one, whatever it looks like.
func TestVariables(t *testing.T) {
	s, err := New()
	if err != nil {
		t.Fatal(err)
	}
	for v, planted := range map[string]string{
		"DB_PASS=calvin": "calvin", "export BMC_ROOT_PWD='calvin'": "calvin", `env: ["MYSQL_PASS=calvin","A=b"]`: "calvin",
	} {
		if got := s.Text(v); strings.Contains(got, planted) {
			t.Errorf("%q became %q", v, got)
		}
	}
	for _, v := range []string{"OLD_PWD=/var/lib/kubelet", "CHECK_PASS=true", "TESTS_PASS=none"} {
		if got := s.Text(v); got != v {
			t.Errorf("%q became %q", v, got)
		}
	}
}
