package approver

import (
	"net/http"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/csr/csrtest"
)

// TestFailingRequestKeepsNoOther: a request whose approval the server refuses, and that sorts first, does not
// keep the others from their turn.
func TestFailingRequestKeepsNoOther(t *testing.T) {
	s := newServer(t)
	s.file(t, csrtest.Client("panda"))
	s.file(t, csrtest.Serving("koala", "192.0.2.22"))
	s.meddle = func(req *http.Request) int {
		if req.Method == http.MethodPatch && strings.HasPrefix(req.URL.Path, csrPath+"csr-panda") {
			return http.StatusInternalServerError
		}
		return 0
	}
	a, log := replica(t, s, nil)
	if _, err := once(t, a); err == nil {
		t.Error("the failure is not told")
	}
	if s.approvals() != 1 {
		t.Errorf("%d approvals, want that of koala\n%s", s.approvals(), log)
	}
	if len(a.failed) != 1 {
		t.Errorf("remembered as failed: %v", a.failed)
	}
}

// TestWaitsForAddresses: a serving request of a Node without addresses waits, says so, and is approved when
// the kubelet has written them.
func TestWaitsForAddresses(t *testing.T) {
	s := newServer(t)
	s.file(t, csrtest.Serving("koala", "192.0.2.22"))
	const path = "/api/v1/nodes/koala"
	s.mu.Lock()
	status := s.objects[path]["status"].(map[string]any)
	addresses := status["addresses"]
	delete(status, "addresses")
	s.mu.Unlock()
	a, log := replica(t, s, nil)
	again := must(t, a)
	if s.approvals() != 0 || again != addressesEvery || !strings.Contains(log.String(), "the Node has no addresses in its status") {
		t.Errorf("%d approvals, again in %s\n%s", s.approvals(), again, log)
	}
	s.mu.Lock()
	status["addresses"] = addresses
	s.mu.Unlock()
	must(t, a)
	if s.approvals() != 1 {
		t.Errorf("%d approvals when the addresses are there\n%s", s.approvals(), log)
	}
}
