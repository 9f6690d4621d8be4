package apipath

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/fromnode"
	"github.com/rollcall-project/rollcall/internal/source/fromnode/fromnodetest"
	"github.com/rollcall-project/rollcall/internal/source/probe"
)

func from(t *testing.T, s *fromnodetest.Server) *From {
	t.Helper()
	n, err := fromnode.Find(t.Context(), &rest.Config{Host: s.URL, BearerToken: "sha256~a-secret"}, fromnodetest.Node)
	if err != nil {
		t.Fatal(err)
	}
	notRun := func(err error) bool {
		var e *fromnode.Error
		return errors.As(err, &e)
	}
	return &From{Name: "node/" + n.Name, Dial: n.DialContext, Lookup: n.LookupHost, NotRun: notRun}
}

// TestFromNode: the path through an exec sees the certificates and the refusals that
// it sees without one, and every answer names the node; the client's own request is
// made from here.
func TestFromNode(t *testing.T) {
	s := fromnodetest.New(t)
	ca := newAuthority(t)
	front := serve(t, ca.serving(t, "api.test", -2*time.Hour, -time.Hour), 200, "[+]ping ok\n")
	o := Options{Client: client(t, strings.Replace(front.URL, "127.0.0.1", "localhost", 1), ca, Reached{OK: true}), Vantage: "bastion", From: from(t, s),
		Masters: []Master{{Name: "m0", Host: "127.0.0.1", Port: portOf(address(t, "https://"+closed(t)))}}, Step: 30 * time.Second}
	list, err := New(o).List(t.Context(), evidence.APIProbes, "")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, object := range list {
		a, err := evidence.Decode[probe.APIAnswer](object)
		if err != nil {
			t.Fatal(err)
		}
		want := "node/control1"
		switch {
		case a.Target == probe.TargetClient:
			want = "bastion"
		case a.Target == probe.TargetAPI:
			seen++
			if a.Trust != probe.TrustExpired || a.Status(pathReady) != 200 || a.Version != "v1.33.4" || len(a.Chain) != 1 || len(a.Addresses) == 0 || portOf(&url.URL{Host: a.Address}) != a.Port {
				t.Errorf("the front: %+v", a)
			}
		case a.Target == probe.TargetNode+"m0":
			seen++
			if a.ErrorClass != probe.ErrRefused || a.Stage != probe.StageNone || a.Address != "" {
				t.Errorf("m0: %+v", a)
			}
		}
		if a.Vantage != want {
			t.Errorf("%s was asked from %q, want %q", a.Target, a.Vantage, want)
		}
	}
	if seen != 2 { // the load balancer, and the API server of m0; its machine config server is not asked
		t.Errorf("%d checks: %v", seen, list)
	}
	if strings.Contains(s.Sent(), "a-secret") {
		t.Error("the token went through the tunnel")
	}
	for _, r := range front.seen {
		if r.Header.Get("Authorization") != "" {
			t.Error("a credential was sent")
		}
	}
}

// TestFromNodeLost: where a probe could not be made there is no answer about the path; it does not
// have a check less, and none that refuses.
func TestFromNodeLost(t *testing.T) {
	s := fromnodetest.New(t)
	s.Lose = 1
	ca := newAuthority(t)
	f := serve(t, ca.serving(t, "api.test", -time.Hour, time.Hour), 200, "ok")
	_, err := New(Options{Client: client(t, f.URL, ca, Reached{OK: true}), From: from(t, s)}).List(t.Context(), evidence.APIProbes, "")
	var u *evidence.Unavailable
	if !errors.As(err, &u) || u.Why != evidence.Unreachable || !strings.Contains(u.Detail, "node control1") {
		t.Errorf("err = %v", err)
	}
}
