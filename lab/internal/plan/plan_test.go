package plan

import (
	"io"
	"log/slog"
	"net"
	"testing"
)

func TestPickAvoidsATakenNetwork(t *testing.T) {
	first, err := Pick("a lab")
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", first.API()+":6443")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	second, err := Pick("a lab")
	if err != nil {
		t.Fatal(err)
	}
	if first == second {
		t.Fatalf("Pick gave %v twice although its API address is taken", first)
	}
}

func TestForwarderMovesAndRefuses(t *testing.T) {
	n, err := Pick(t.Name())
	if err != nil {
		t.Fatal(err)
	}
	one, two := answering(t, "one"), answering(t, "two")
	f := &Forwarder{Addr: n.API() + ":22623", Logger: slog.New(slog.DiscardHandler)}
	for _, step := range []struct {
		targets []string
		want    string
	}{{[]string{one}, "one"}, {[]string{two}, "two"}, {nil, ""}, {[]string{one}, "one"}} {
		if err := f.SetTargets(step.targets...); err != nil {
			t.Fatal(err)
		}
		conn, err := net.Dial("tcp", f.Addr)
		if step.want == "" {
			if err == nil {
				t.Fatal("connected although there is no target")
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(conn)
		if err != nil || string(got) != step.want {
			t.Fatalf("read %q, %v; want %q", got, err, step.want)
		}
		conn.Close()
	}
	if err := f.SetTargets(); err != nil {
		t.Fatal(err)
	}
}

// answering starts a server that says word and hangs up.
func answering(t *testing.T, word string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			io.WriteString(conn, word)
			conn.Close()
		}
	}()
	return l.Addr().String()
}
