package cli

import "testing"

// TestReleaseOf: only a release tag is a version of its own.
func TestReleaseOf(t *testing.T) {
	for module, want := range map[string]string{
		"":                                   "0.1.0-dev",
		"(devel)":                            "0.1.0-dev",
		"v0.0.0-20261127064940-ba0f33b1aabb": "0.1.0-dev",
		"v0.0.0-20261127064940-ba0f33b1aabb+dirty": "0.1.0-dev",
		"v0.1.1-0.20261127064940-ba0f33b1aabb":     "0.1.0-dev",
		"v0.1.0+dirty":                             "0.1.0-dev",
		"v0.1.0":                                   "v0.1.0",
		"v1.2.3-rc.1":                              "v1.2.3-rc.1",
	} {
		if got := releaseOf(module); got != want {
			t.Errorf("releaseOf(%q) = %q, want %q", module, got, want)
		}
	}
}
