package reader

import (
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// TestUnlisted: only where every object lay in a file of its own may one be lost unnoticed.
func TestUnlisted(t *testing.T) {
	need := evidence.Objects(evidence.Nodes, "")
	node := func(name string, alone bool) evidence.Object {
		o := named(evidence.Nodes, name, 0)
		o.Alone = alone
		return o
	}
	refused := &evidence.Unavailable{Need: need, Why: evidence.Forbidden}
	for name, tt := range map[string]struct {
		answers []answer
		want    bool
	}{
		"each in a file":                 {[]answer{{objects: []evidence.Object{node("a", true), node("b", true)}}}, true},
		"a list":                         {[]answer{{objects: []evidence.Object{node("a", false), node("b", false)}}}, false},
		"one in a list, one in a file":   {[]answer{{objects: []evidence.Object{node("a", true), node("b", false)}}}, false},
		"a list of another source":       {[]answer{{objects: []evidence.Object{node("a", true)}}, {objects: []evidence.Object{node("c", false)}}}, false},
		"files of two sources":           {[]answer{{objects: []evidence.Object{node("a", true)}}, {objects: []evidence.Object{node("c", true)}}}, true},
		"files, and a source that lacks": {[]answer{{objects: []evidence.Object{node("a", true)}}, {err: refused}}, true},
		"an empty list":                  {[]answer{{objects: []evidence.Object{}}}, false},
		"refused":                        {[]answer{{err: refused}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var sources []evidence.Source
			for _, a := range tt.answers {
				sources = append(sources, &source{now: time.Unix(1772366400, 0), lists: map[evidence.Need]answer{need: a}})
			}
			if got := reader(t, Limits{}, sources...).Unlisted(t.Context(), need); got != tt.want {
				t.Errorf("loose is %t, want %t", got, tt.want)
			}
		})
	}
}
