package host

import "testing"

// TestKubeletCA: the CA comes onto the disk when the ControllerConfig has changed, and a
// file that somebody edits stays until then.
func TestKubeletCA(t *testing.T) {
	mc := rendered("rendered-master-1", osA, "/etc/a", "a")
	b := newBench(t, mc)
	b.configs.pool = mc.Name
	b.install(mc, true)
	b.obey()
	if err := b.step(); err != nil { // the first boot ends
		t.Fatal(err)
	}
	content := func() string {
		data, err := b.disk.read(kubeletCAPath)
		if err != nil {
			return ""
		}
		return string(data)
	}
	for _, c := range []struct{ version, ca, edit, want string }{
		{want: ""}, // there is no ControllerConfig yet
		{version: "7", ca: "old", want: "old"},
		{version: "7", ca: "unseen", want: "old"},
		{version: "7", ca: "unseen", edit: "mine", want: "mine"},
		{version: "8", ca: "old new", want: "old new"},
	} {
		b.configs.caVersion, b.configs.ca = c.version, []byte(c.ca)
		if c.edit != "" {
			if err := b.disk.write(kubeletCAPath, []byte(c.edit), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.step(); err != nil {
			t.Fatal(err)
		}
		if got := content(); got != c.want || b.annos()[annoControllerConfig] != c.version {
			t.Errorf("version %q: the CA is %q, want %q; the node says %q", c.version, got, c.want, b.annos()[annoControllerConfig])
		}
	}
}
