package sanitize

import (
	"strings"
	"testing"
)

// kindTexts11 are kinds that a sixteenth blind attack found, with variations of each.
var kindTexts11 = map[string][]string{
	"tables behind a heading": {
		"User Password\n-------------\nfine\nNAME   PASSWORD\nroot   §V", "Password\n--------\nfine\n| user | password |\n|---|---|\n| a | §V |", "passphrase\n==========\nwords\nuser\tpassword\nroot\t§V", "Wifi PSK\n--------\nnone here\nNAME     PASSWORD\nroot     §V\ncore     §V",
		"db_password\n-----------\nfine\n user | password\n------+----------\n root | §V", "client secret\n-------------\nsome words\nfine\nUSER   PASSWORD   SHELL\nroot   §V   bash", "Password\n--------\n§V", "  Password\n  --------\n  fine\nNAME   PASSWORD\nroot   §V",
	},
	"lists with commas": {
		"user, password\nroot, §V", "user, password, shell\nroot, §V, bash\ncore, §V, bash", "  user,password\n  root,§V", "    name,token,age\n    ci,§k,4d", "user; password\nroot; §V", "data:\n  users.csv: |\n    user,password\n    root,§V", "name, token\nci, §k",
	},
	"Secrets with line ends of Windows": {
		"kind: Secret\r\nstringData:\r\n  motto: §W\r\n", "kind: Secret\r\ndata:\r\n  motto: §B\r\n", "type: Opaque\r\nstringData:\r\n  motto: §W\r\n  other: §W\r\n", "apiVersion: v1\r\nkind: Secret\r\nmetadata:\r\n  name: x\r\nstringData:\r\n  a: |\r\n    §W\r\n  b: §W\r\n",
		"kind: List\r\nitems:\r\n- kind: Secret\r\n  stringData:\r\n    motto: §W\r\n", "kind: Secret\r\nstringData: # x\r\n  motto: §W\r\n",
	},
	"Secrets with comments and tags": {
		"kind: Secret\nstringData: # plain\n  motto: §W", "kind: Secret\nstringData:\n# plain\n  motto: §W", "kind: Secret\nstringData: !!map\n  motto: §W", "kind: Secret\nstringData: &d\n  motto: §W", "kind: Secret\nstringData :\n  motto: §W", "kind: Secret\nstringData: &d !!map # x\n  motto: §W",
		"kind: Secret\nstringData:\n{{- if .x }}\n  motto: §W\n{{- end }}\n  other: §W", "kind: Secret # x\nstringData:\n  motto: §W", "kind: SecretList\nitems:\n- stringData:\n    motto: §W", "+kind: Secret\n+stringData:\n+  motto: §W\n+  other: §W", "-kind: Secret\n-stringData:\n-  motto: §W", "kind: Secret\n\"stringData\" :\n  motto: §W",
		"kind : Secret\nstringData:   # x\n  motto: §W", "kind: Secret\nstringData:\n  # of the BMC\n  motto: §W", "kind: Secret\nstringData:\n# a\n# b\n  motto: §W\n# c\n  other: §W", "^kind: Secret\nstringData: !!map {motto: §W}", "^kind: Secret\nstringData: &d {motto: §W}", "+kind: Secret\n+stringData: # x\n+# y\n+  motto: §W",
		"type: Opaque # x\nstringData: # y\n  motto: §W", "kind: Secret\ndata: # encoded\n  motto: §B", "kind: Secret\ndata: &d\n  motto: §B\n  more: §B",
	},
	"Secrets as programs print objects": {
		"map[string]interface {}{\"kind\":\"Secret\", \"stringData\":map[string]interface {}{\"motto\":\"§W\"}}", "map[string]any{\"kind\":\"Secret\", \"data\":map[string]any{\"motto\":\"§B\"}}", "&unstructured.Unstructured{Object:map[string]interface {}{\"kind\":\"Secret\", \"stringData\":map[string]interface {}{\"motto\":\"§W\"}}}",
		"map[interface {}]interface {}{\"kind\":\"Secret\", \"stringData\":map[interface {}]interface {}{\"motto\":\"§W\", \"b\":\"§W\"}}", "msg=\"map[string]interface {}{\\\"kind\\\":\\\"Secret\\\", \\\"stringData\\\":map[string]interface {}{\\\"motto\\\":\\\"§W\\\"}}\"",
		"stdClass Object ( [kind] => Secret [stringData] => stdClass Object ( [motto] => §W ) )", "^stdClass Object\n(\n    [kind] => Secret\n    [stringData] => stdClass Object\n        (\n            [motto] => §W\n        )\n)", "^object(stdClass)#1 (2) {\n  [\"kind\"]=>\n  string(6) \"Secret\"\n  [\"stringData\"]=>\n  object(stdClass)#2 (1) {\n    [\"motto\"]=>\n    string(8) \"§W\"\n  }\n}",
		"^(object) array(\n   'kind' => 'Secret',\n   'stringData' => \n  (object) array(\n     'motto' => '§W',\n  ),\n)", "^stdClass::__set_state(array(\n   'kind' => 'Secret',\n   'stringData' => \n  stdClass::__set_state(array(\n     'motto' => '§W',\n  )),\n))",
		"OrderedDict([('kind', 'Secret'), ('stringData', OrderedDict([('motto', '§W')]))])", "OrderedDict({'kind': 'Secret', 'stringData': OrderedDict({'motto': '§W'})})", "OrderedDict([('type', 'Opaque'), ('stringData', OrderedDict([('motto', '§W'), ('b', '§W')]))])", "#<Kubeclient::Resource kind=\"Secret\", stringData=#<OpenStruct motto=\"§W\">>",
		"map[string]interface {}{\"password\":map[string]interface {}{\"value\":\"§W\"}}", "map[string]any{\"adminPassword\":map[string]any{\"value\":\"§W\"}, \"user\":\"x\"}", "\"password\":map[string]string{\"value\":\"§W\"}",
	},
}

// keptTexts11 look like the kinds of kindTexts11.
var keptTexts11 = []string{
	"Password\n--------\nNAME   READY\nw0     True", "User Password\n-------------\nNAME   STATUS   AGE\nw0     Ready    4d", "Enter user, password and shell\nfoo, bar3x and baz", "the fields user, password\nroot1x, missing", "user, password\nfound, missing", "wrong user, no password\nnode w1, pod a2x",
	"kind: SecretList\nitems: []", "kind: ConfigMap # no Secret\ndata: # x\n  motto: sunshine", "kind: ConfigMap\ndata: &d\n  motto: sunshine", "+kind: ConfigMap\n+data:\n+  motto: sunshine", "OrderedDict([('kind', 'ConfigMap'), ('data', OrderedDict([('motto', 'sunshine')]))])",
	"map[string]interface {}{\"kind\":\"ConfigMap\", \"data\":map[string]interface {}{\"motto\":\"sunshine\"}}", "#<Kubeclient::Resource kind=\"ConfigMap\", data=#<OpenStruct motto=\"sunshine\">>", "stdClass Object ( [kind] => ConfigMap [data] => stdClass Object ( [motto] => sunshine ) )",
	"map[string]interface {}{\"password\":map[string]interface {}{}}", "\"password\":map[string]string(nil)",
}

// TestKept11: what looks like them stays.
func TestKept11(t *testing.T) {
	s := sanitizer(t, "a")
	for _, text := range keptTexts11 {
		if got := s.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
		var lines []string
		of := s.Lines()
		for line := range strings.SplitSeq(text, "\n") {
			lines = append(lines, of.Line(line))
		}
		if got := strings.Join(lines, "\n"); got != text {
			t.Errorf("in lines %q became %q", text, got)
		}
	}
}
