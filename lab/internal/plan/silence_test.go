package plan

import (
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"
	"time"
)

// TestSilent: a connection waits until its client gives up, and is refused once it is closed.
func TestSilent(t *testing.T) {
	port, err := FreePort()
	if err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	s, err := Silent(address)
	if err != nil {
		t.Fatal(err)
	}
	// Two clocks end a dial, each with an error of its own.
	var timeout net.Error
	if _, err := net.DialTimeout("tcp", address, 300*time.Millisecond); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("a connection: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := net.DialTimeout("tcp", address, time.Second); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("closed: %v", err)
	}
}
