package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/workers/provider"
	"github.com/rollcall-project/rollcall/lab/bmc"
)

// overHTTP makes the server boot over HTTP.
func (r *rack) overHTTP() *rack {
	s := r.hosts["guest0"]
	s.Boot = byHTTP
	r.hosts["guest0"] = s
	r.save()
	return r
}

// uri is the URL that the BMC has for HTTP boot.
func (r *rack) uri() string {
	m, err := open(r.t.Context(), r.hosts["guest0"])
	if err != nil {
		r.t.Fatal(err)
	}
	defer m.Close()
	return m.override().URI
}

// TestLifeHTTP: the server boots the image once over HTTP; Clean and Delete leave neither URL,
// override nor file.
func TestLifeHTTP(t *testing.T) {
	for _, vendor := range []bmc.Vendor{bmc.Dell, bmc.HPE, bmc.Supermicro} {
		t.Run(string(vendor), func(t *testing.T) {
			r := newRack(t, vendor, func(c *bmc.Config) { c.HTTPBoot = true }).overHTTP()
			before := r.media()
			checks, err := (&servers{}).Check(t.Context(), r.order, []provider.Worker{r.order.Worker})
			if err != nil || len(checks) != 2 || checks[0].Outcome != provider.Passed || !strings.Contains(checks[0].Text, "over HTTP") {
				t.Fatalf("Check: %+v, %v", checks, err)
			}
			for range 2 {
				if _, err := (&servers{}).Create(t.Context(), r.order, []byte(data)); err != nil {
					t.Fatal(err)
				}
			}
			if len(r.boots) != 1 || r.boots[0].Target != "UefiHttp" || !strings.HasPrefix(r.boots[0].Image, "https://192.0.2.9/images/guest0-") {
				t.Fatalf("boots: %+v", r.boots)
			}
			r.readImage(strings.TrimPrefix(r.boots[0].Image, "https://192.0.2.9/images/"))
			if m, err := (&servers{}).Find(t.Context(), r.order); err != nil || m.ID == "" {
				t.Errorf("Find: %+v, %v", m, err)
			}
			for range 2 {
				if err := (&servers{}).Clean(t.Context(), r.order); err != nil {
					t.Fatal(err)
				}
			}
			if got := r.media(); got != before || r.uri() != "" || !r.bmc.On() || len(r.left()) != 1 {
				t.Errorf("after Clean: %s %s, was %s; on=%v, %v", got, r.uri(), before, r.bmc.On(), r.left())
			}
			for range 2 {
				if err := (&servers{}).Delete(t.Context(), r.order); err != nil {
					t.Fatal(err)
				}
			}
			if r.bmc.On() || len(r.left()) > 0 {
				t.Errorf("after Delete: on=%v, %v", r.bmc.On(), r.left())
			}
		})
	}
}

// TestRefusedHTTP: a BMC that does not take a URL is named so, and has nothing of the run's.
func TestRefusedHTTP(t *testing.T) {
	with := func(c *bmc.Config) { c.HTTPBoot = true }
	for _, c := range []struct {
		name   string
		vendor bmc.Vendor
		change []func(*bmc.Config)
		setup  func(r *rack)
		want   string
	}{
		{"no such boot source", bmc.Lenovo, nil, nil, "no boot source UefiHttp"},
		{"a boot source without a URL", bmc.Dell, nil, nil, "HttpBootUri"},
		{"somebody else's URL", bmc.HPE, []func(*bmc.Config){with}, func(r *rack) {
			m, err := open(r.t.Context(), r.hosts["guest0"])
			if err != nil {
				r.t.Fatal(err)
			}
			if err := m.setOverride(override{Enabled: "Once", Target: "UefiHttp", URI: "http://192.0.2.77/theirs.efi"}); err != nil {
				r.t.Fatal(err)
			}
		}, "somebody else's HTTP boot"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRack(t, c.vendor, c.change...).overHTTP()
			if c.setup != nil {
				c.setup(r)
			}
			before, theirs := r.media(), r.uri()
			_, err := (&servers{}).Create(t.Context(), r.order, []byte(data))
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), pass) || strings.Contains(err.Error(), token) {
				t.Fatalf("Create: %v, want %q", err, c.want)
			}
			if err := (&servers{}).Delete(t.Context(), r.order); err != nil {
				t.Error(err)
			}
			if got := r.media(); got != before || r.uri() != theirs || len(r.boots) > 0 || len(r.left()) > 0 {
				t.Errorf("left: %s %s, was %s %s; boots %v, %v", got, r.uri(), before, theirs, r.boots, r.left())
			}
		})
	}
}

// TestHTTPAnswerLost: the server is on and its BMC has forgotten the URL: the run knows that it
// has switched it on, and boots it no second time. A server that was on before is not taken for
// one that the run has switched on.
func TestHTTPAnswerLost(t *testing.T) {
	r := newRack(t, bmc.HPE, func(c *bmc.Config) { c.HTTPBoot = true }).overHTTP()
	if _, err := (&servers{}).Create(t.Context(), r.order, []byte(data)); err != nil {
		t.Fatal(err)
	}
	m, err := open(t.Context(), r.hosts["guest0"])
	if err != nil {
		t.Fatal(err)
	}
	if err := m.dropURI(); err != nil {
		t.Fatal(err)
	}
	if _, err := (&servers{}).Create(t.Context(), r.order, []byte(data)); err != nil || len(r.boots) != 1 {
		t.Errorf("again: %v, %d boots", err, len(r.boots))
	}
	if err := (&servers{}).Delete(t.Context(), r.order); err != nil || r.bmc.On() {
		t.Errorf("Delete: %v, on=%v", err, r.bmc.On())
	}
	r.bmc.SetPower(true)
	if _, err := (&servers{}).Create(t.Context(), r.order, []byte(data)); err == nil || !strings.Contains(err.Error(), "is switched on") {
		t.Errorf("a server that somebody uses: %v", err)
	}
	if _, err := (&servers{}).Find(t.Context(), r.order); !errors.Is(err, provider.ErrNone) {
		t.Errorf("Find: %v", err)
	}
}

// TestRecordFirst: what says that the server is switched on is written before it is.
func TestRecordFirst(t *testing.T) {
	r := newRack(t, bmc.Dell, func(c *bmc.Config) { c.HTTPBoot = true }).overHTTP()
	r.bmc.Behave(bmc.Trouble{PowerStuck: true})
	if _, err := (&servers{}).Create(t.Context(), r.order, []byte(data)); err == nil {
		t.Fatal("the power did not change, and it is no error")
	}
	var have record
	raw, err := os.ReadFile(filepath.Join(r.path("www"), ".rollcall-guest0.json"))
	if err == nil {
		err = json.Unmarshal(raw, &have)
	}
	if err != nil || !have.Powered {
		t.Errorf("%+v, %v", have, err)
	}
}
