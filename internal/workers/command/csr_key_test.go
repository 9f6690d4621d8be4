package command

import (
	"strings"
	"testing"
)

func TestKeyFlag(t *testing.T) {
	good := "sha256:" + strings.Repeat("0a", 32)
	if key, err := keyOf(good, []string{"csr-a"}); err != nil || key != strings.Repeat("0a", 32) {
		t.Errorf("keyOf: %q, %v", key, err)
	}
	if _, err := keyOf(good, []string{"csr-a", "csr-b"}); err == nil {
		t.Error("one key for two requests")
	}
	if _, err := keyOf("sha256:0a0a", []string{"csr-a"}); err == nil {
		t.Error("a shortened key")
	}
}
