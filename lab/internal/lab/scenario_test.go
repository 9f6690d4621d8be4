package lab

import (
	"strings"
	"testing"
	"time"
)

func TestFindScenario(t *testing.T) {
	troubles := []Trouble{{Name: "a"}, {Name: "b", Stands: 3 * time.Hour}, {Name: "old", MCS: "4.14"}, {Name: "new", MCS: "4.20"}, {Name: "fresh", Stands: -1}}
	for _, c := range []struct {
		name     string
		workers  bool
		troubles int
		stands   time.Duration
		mcs      string
		wrong    string
	}{
		{name: "healthy", workers: true},
		{name: "bootstrap-desync"},
		{name: "a", workers: true, troubles: 1, stands: DefaultStand},
		{name: "a+b", workers: true, troubles: 2, stands: 3 * time.Hour},
		{name: "healthy+a", workers: true, troubles: 1, stands: DefaultStand},
		{name: "bootstrap-desync+a", troubles: 1, stands: DefaultStand},
		{name: "fresh", workers: true, troubles: 1},
		{name: "old+a", workers: true, troubles: 2, stands: DefaultStand, mcs: "4.14"},
		{name: "a+healthy", wrong: "can only be the first"},
		{name: "a+a", wrong: "does not go together"},
		{name: "old+new", wrong: "does not go together"},
		{name: "a+nothing", wrong: `no "nothing"`},
		{name: "", wrong: `no ""`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := FindScenario(c.name, troubles)
			if c.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), c.wrong) {
					t.Fatalf("error %v, want %q", err, c.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if s.Name != c.name || s.Workers != c.workers || len(s.Troubles) != c.troubles || s.stands(-1) != c.stands || s.MCS() != c.mcs {
				t.Errorf("%+v, stands %s", s, s.stands(-1))
			}
		})
	}
	for _, b := range Bases() {
		if len(b.Troubles) > 0 {
			t.Errorf("%s has been given troubles", b.Name)
		}
	}
}
