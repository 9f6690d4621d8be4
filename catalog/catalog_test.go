package catalog

import (
	"os/exec"
	"strings"
	"testing"
)

// TestDigest: the digest is what its comment says, so that anybody can compute it.
func TestDigest(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "sh", "-c", "LC_ALL=C sha256sum */*.yaml | sha256sum").Output()
	if err != nil {
		t.Fatal(err)
	}
	digest, err := Digest()
	if err != nil {
		t.Fatal(err)
	}
	if want := "sha256:" + strings.Fields(string(out))[0]; digest != want {
		t.Errorf("Digest() = %s, sha256sum has %s", digest, want)
	}
}
