package plan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"
)

// Forwarder is a TCP address whose target can be changed while it runs: a
// virtual address that moves from host to host, or one host's port. While it
// has no target nothing listens, so that a client is refused as it would be.
type Forwarder struct {
	Addr   string
	Logger *slog.Logger

	mu       sync.Mutex
	targets  []string
	next     int
	listener net.Listener
}

// SetTargets sets where new connections go, one after the other; none closes
// the address.
func (f *Forwarder) SetTargets(targets ...string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.targets = targets
	if len(targets) == 0 {
		if f.listener != nil {
			f.listener.Close()
			f.listener = nil
		}
		return nil
	}
	if f.listener != nil {
		return nil
	}
	l, err := net.Listen("tcp", f.Addr)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", f.Addr, err)
	}
	f.listener = l
	go f.serve(l)
	return nil
}

// Targets returns where connections go.
func (f *Forwarder) Targets() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.targets...)
}

func (f *Forwarder) serve(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			if !errors.Is(err, net.ErrClosed) {
				f.Logger.Warn("forwarder stopped", "addr", f.Addr, "err", err)
			}
			return
		}
		go f.carry(conn)
	}
}

func (f *Forwarder) carry(client net.Conn) {
	defer client.Close()
	f.mu.Lock()
	if len(f.targets) == 0 {
		f.mu.Unlock()
		return
	}
	target := f.targets[f.next%len(f.targets)]
	f.next++
	f.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var d net.Dialer
	server, err := d.DialContext(ctx, "tcp", target)
	if err != nil {
		f.Logger.Debug("forward", "addr", f.Addr, "target", target, "err", err)
		return
	}
	defer server.Close()
	done := make(chan struct{}, 2)
	pipe := func(to, from net.Conn) {
		_, _ = io.Copy(to, from) // the end of either side ends the connection
		if t, ok := to.(*net.TCPConn); ok {
			_ = t.CloseWrite()
		}
		done <- struct{}{}
	}
	go pipe(server, client)
	go pipe(client, server)
	<-done
	<-done
}
