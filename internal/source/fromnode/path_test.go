package fromnode

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// programs are the node's ip and ping.
func programs(t *testing.T, n map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, script := range n {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/bash\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir + ":"
}

// TestPaths: the very commands are run, each with a bound, and an address is an argument of them.
func TestPaths(t *testing.T) {
	n, l := node(t)
	l.path = programs(t, map[string]string{
		"ip":   `if [ "$2" = route ]; then echo "$4 dev lo src 127.0.0.1 uid 0"; else echo "2: br-ex inet 192.0.2.10/24 scope global"; fi`,
		"ping": `printf "%s\n" "$*"; exit 1`, // it ends with 1 where no answer came, and has printed why
	})
	ours, err := os.ReadFile("/sys/class/net/lo/mtu")
	if err != nil {
		t.Skipf("this is no Linux: %v", err)
	}
	if got, err := n.MTU(t.Context(), "fd00::1"); err != nil || got != string(ours) {
		t.Errorf("mtu %q, want %q: %v", got, ours, err)
	}
	if got, err := n.Addresses(t.Context()); err != nil || !strings.HasPrefix(got, "2: br-ex") {
		t.Errorf("addresses %q: %v", got, err)
	}
	if got, err := n.Ping(t.Context(), "192.0.2.11", 1472, 3); err != nil || got != "-n -M do -i 0.2 -W 1 -c 3 -s 1472 192.0.2.11\n" {
		t.Errorf("ping %q: %v", got, err)
	}
	for _, argv := range l.argv {
		if argv[0] != "timeout" || argv[1] != lookupSeconds {
			t.Errorf("without a bound: %v", argv)
		}
	}
	before := len(l.argv)
	for _, address := range []string{"", "-f", "host", "1;id", "$(id)"} {
		_, ping := n.Ping(t.Context(), address, 56, 1)
		_, mtu := n.MTU(t.Context(), address)
		if ping == nil || mtu == nil || len(l.argv) != before {
			t.Errorf("%q: %v, %v, runs %v", address, ping, mtu, l.argv[before:])
		}
	}
}

// TestPathsNotRun: a node without the programs says nothing of its paths.
func TestPathsNotRun(t *testing.T) {
	for _, fail := range []error{errors.New("the API is away"), &Exit{126}, &Exit{127}} {
		n := &Node{Name: "m0", Run: &local{fail: fail}}
		var notRun *Error
		if _, err := n.Ping(t.Context(), "192.0.2.11", 56, 1); !errors.As(err, &notRun) {
			t.Errorf("%v: %v", fail, err)
		}
		if _, err := n.MTU(t.Context(), "192.0.2.11"); !errors.As(err, &notRun) {
			t.Errorf("%v: %v", fail, err)
		}
	}
	n, l := node(t)
	l.path = programs(t, map[string]string{"ping": "exit 0"}) // an exec that is lost ends without a word
	var notRun *Error
	if _, err := n.Ping(t.Context(), "192.0.2.11", 56, 1); !errors.As(err, &notRun) {
		t.Errorf("lost: %v", err)
	}
}
