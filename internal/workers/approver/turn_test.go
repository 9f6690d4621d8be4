package approver

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/csr/csrtest"
	"github.com/rollcall-project/rollcall/internal/service"
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

// TestFloodOfOneHost: a flood of requests in the name of one expected host keeps no other from its turn, and fills
// the cluster with events no more than one of strangers does.
func TestFloodOfOneHost(t *testing.T) {
	s := newServer(t)
	const flood = 200
	key := csrtest.Key()
	for i := range flood {
		r := csrtest.Client("otter")
		r.Key = key
		r.API.Name, r.API.UID = fmt.Sprintf("csr-aflood-%d", i), fmt.Sprintf("aflood-%d", i)
		o, err := r.Object()
		if err != nil {
			t.Fatal(err)
		}
		s.put(csrPath+r.API.Name, o)
	}
	s.file(t, csrtest.Client("panda"))
	events, before := 0, -1
	s.meddle = func(req *http.Request) int {
		switch {
		case req.Method == http.MethodPatch && before < 0:
			before = events
		case req.Method == http.MethodPost:
			events++
		}
		return 0
	}
	a, log := replica(t, s, nil)
	must(t, a)
	if s.approvedBy("csr-panda") == "" || s.approvals() != 1 {
		t.Fatalf("%d approvals\n%.2000s", s.approvals(), log)
	}
	if before != 0 {
		t.Errorf("%d events were written before the other host was approved", before)
	}
	if n := len(s.under(eventPath)); n > service.EventBurst+10 {
		t.Errorf("the flood made %d events", n)
	}
}
