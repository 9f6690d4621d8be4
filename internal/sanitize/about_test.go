package sanitize

import (
	"strings"
	"testing"
)

// TestAbout: a part of a text does not show what is hidden in the whole, and the rest stays readable.
func TestAbout(t *testing.T) {
	s := sanitizer(t, "a")
	for _, c := range []struct{ text, part, secret, stays string }{
		{`printf '%s' 'Tern83Wq9xKp' | podman login -u svc --password-stdin r.example.com`, `printf '%s' 'Tern83Wq9xKp'`, "Tern83Wq9xKp", "printf"},
		{`printf '%s' 'Tern83Wq9xKp' | podman login -u svc --password-stdin r.example.com`, `a judgment about Tern83Wq9xKp`, "Tern83Wq9xKp", "a judgment about"},
		{`echo core:Tern83Wq9xKp | sudo chpasswd`, `echo core:Tern83Wq9xKp`, "Tern83Wq9xKp", "echo "},
		{`sshpass -p Tern83Wq9xKp ssh core@h`, `-p Tern83Wq9xKp`, "Tern83Wq9xKp", "-p"},
		{`curl -u admin:'Tern 83Wq9xKp' https://h/x`, `admin:Tern 83Wq9xKp`, "83Wq9xKp", "admin"},
		{"mytool --password=Te:rn:83", "what Te:rn:83 is", "Te:rn:83", "what"},
	} {
		if got := s.About(c.text)(c.part); strings.Contains(got, c.secret) || !strings.Contains(got, c.stays) {
			t.Errorf("%q of %q became %q", c.part, c.text, got)
		}
	}
	const plain = "oc delete pod etcd-control0 -n openshift-etcd"
	if got := s.About(plain)("a judgment about etcd-control0"); got != "a judgment about etcd-control0" {
		t.Error(got)
	}
}
