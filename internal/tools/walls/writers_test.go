package walls

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestForeignTextIsSanitized: the commands that print what an API server gave them, and not what a reader did, take secrets
// out of it, and not only escape sequences: App.CleanText does both, Style.Clean only the second.
func TestForeignTextIsSanitized(t *testing.T) {
	seen := 0
	for _, room := range []string{"workers/command", "repair/command", "serve/command"} {
		files, err := filepath.Glob("../../" + room + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", room, len(files), err)
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(raw, []byte("Style().Clean")) {
				t.Errorf("%s prints with Style().Clean, which leaves secrets: write CleanText", file)
			}
			seen += bytes.Count(raw, []byte("CleanText"))
		}
	}
	if seen == 0 {
		t.Error("no room uses CleanText: does it have another name?")
	}
}
