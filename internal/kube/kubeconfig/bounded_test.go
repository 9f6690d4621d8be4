package kubeconfig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBounded: a device and a file that is too large are refused before client-go reads them whole; the null device is an
// empty kubeconfig.
func TestBounded(t *testing.T) {
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, maxKubeconfig+1); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/dev/zero": "not a file", large: "more than 16 MiB"} {
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := Load(os.DevNull); err != nil && strings.Contains(err.Error(), "not a file") {
		t.Errorf("the null device: %v", err)
	}
}
