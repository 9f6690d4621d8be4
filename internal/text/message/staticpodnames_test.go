package message

import "testing"

// TestStaticPodNames: the line about a static pod that never showed up gives its operator, which the namespace names, and its node.
func TestStaticPodNames(t *testing.T) {
	for text, want := range map[string][2]string{
		`MissingStaticPodDegraded: static pod lifecycle failure - static pod: "etcd" in namespace: "openshift-etcd" for revision: 14 on node: "m1" didn't show up, waited: 3m0s`: {"etcd", "m1"},
		`static pod: openshift-kube-scheduler in namespace: openshift-kube-scheduler for revision: 6 on node: m0.example.com didn't show up, waited: 2m30s`:                      {"kube-scheduler", "m0.example.com"},
		`message: "static pod: \"kube-apiserver\" in namespace: \"openshift-kube-apiserver\" for revision: 9 on node: \"m2\" didn't show up, waited: 4m"`:                        {"kube-apiserver", "m2"},
		`a static pod on node: m1 was deleted`: {"", ""},
	} {
		names := namesIn(Line{Text: text})
		if names["operator"] != want[0] || names["host"] != want[1] {
			t.Errorf("%s: %v, want %v", text, names, want)
		}
	}
}
