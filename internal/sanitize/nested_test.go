package sanitize

import (
	"strings"
	"testing"
)

// TestNested holds that a secret is found in base64 of base64, also with gzip between,
// and that what is only encoded twice stays.
func TestNested(t *testing.T) {
	s := sanitizer(t, "a")
	zip := func(v string) string { return b64(string(zipped(t, v))) }
	for name, inner := range map[string]string{
		"pull secret":        `{"auths":{"quay.io":{"auth":"b3BlbnNoaWZ0OnBsYW50ZWQ=","email":"a@example.com"}}}`,
		"kubeconfig":         "apiVersion: v1\nkind: Config\nusers:\n- name: admin\n  user:\n    client-key-data: LS0tLS1CRUdJTiBFQyBQUklWQVRFIEtFWS0tLS0t\n",
		"bmc":                "bmc:\n  address: redfish://192.0.2.4\n  username: root\n  password: calvin-planted\n",
		"keyfile":            "[connection]\nid=eth0\n[802-1x]\nidentity=host\npassword=calvin planted\n",
		"command line":       "#!/bin/bash\nipmitool -I lanplus -U root -P calvin chassis status\n",
		"private key":        testKey,
		"environment":        "export HTTP_PROXY=http://user:planted@proxy.example.com:3128\n",
		"htpasswd":           "admin:$2y$05$abcdefghijklmnopqrstuuvwxyz0123456789ABCDEFGHIJKLMNOPQ\n",
		"token of OpenShift": "oc login --token=sha256~Xp4ahqAbCdEfGhIjKlMnOpQrStUvWxYz012345678 --server=x\n",
	} {
		for how, text := range map[string]string{
			"once": b64(inner), "twice": b64("file: " + b64(inner) + "\n"), "three times": b64("a: " + b64("b: "+b64(inner)+"\n")),
			"gzip": zip(inner), "gzip in base64": b64("file: " + zip(inner) + " end"), "base64 in gzip": zip("contents: " + b64(inner) + "\n"),
			"URL of data": b64(`{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/x","contents":{"source":"data:;base64,` + b64(inner) + `"}}]}}`),
			"wrapped":     wrap(b64("file: "+b64(inner)+"\n"), "\n  "),
		} {
			once := s.Text("value " + text)
			if strings.Contains(once, text[8:30]) {
				t.Errorf("%s, %s: not hidden: %.100s", name, how, once)
			}
			if twice := sanitizer(t, "b").Text(once); twice != once {
				t.Errorf("%s, %s: the second time it changes", name, how)
			}
		}
	}
	plain := "nothing to see here but a long sentence without any credential\n"
	for _, text := range []string{b64(b64(plain)), b64("a: " + b64(plain)), zip(b64(plain) + plain), b64(testCert + b64(testCert))} {
		if got := s.Text("value " + text); got != "value "+text {
			t.Errorf("%.80s became %.80s", text, got)
		}
	}
}
