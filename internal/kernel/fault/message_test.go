package fault

import (
	"strings"
	"testing"
	"testing/fstest"
)

// TestFailureNeedsNext: a message that does not show the cause names the command that decides.
func TestFailureNeedsNext(t *testing.T) {
	for name, c := range map[string]struct{ message, want string }{
		"a failure alone":              {`{text: "x failed", failure: x failed}`, "ours/messages/x.yaml:4:3: messages[0].next: is missing: a failure does not show the cause; write what to look at"},
		"a failure with next":          {`{text: "x failed", failure: x failed, next: systemctl status x}`, ""},
		"that is normal for a time":    {`{text: "x failed", failure: x failed, fault: pool-empty, lasts: 1h}`, "messages[0].next: is missing"},
		"causes without next":          {`{text: "x failed", failure: x failed, causes: [{fault: pool-empty}]}`, "messages[0].causes: causes go with a fault or a failure, and with next"},
		"a failure that is an id, too": {`{id: x.failed, text: "x failed", failure: x failed}`, "messages[0].next: is missing"},
		"a fault":                      {`{text: "x failed", fault: pool-empty}`, ""},
		"what is normal":               {`{text: "x failed", normal: x is tried again}`, ""},
		"next without a failure":       {`{text: "x failed", fault: pool-empty, next: systemctl status x}`, "messages[0].next: only for a failure"},
	} {
		t.Run(name, func(t *testing.T) {
			file := "program: x\nwhere: logs\nmessages:\n- " + c.message + "\nrefs: [{repo: a/b, path: c}]\n"
			loaded, err := Load(Named("ours", fstest.MapFS{"x/pool-empty.yaml": {Data: []byte(sound)}, "messages/x.yaml": {Data: []byte(file)}}))
			list, other := ProblemsOf(err)
			if other != nil {
				t.Fatal(other)
			}
			if len(list) == 0 {
				list = compiler(t).Check(loaded)
			}
			switch {
			case c.want == "" && len(list) > 0:
				t.Errorf("problems %v, want none", list)
			case c.want != "" && (len(list) != 1 || !strings.Contains(list[0].Error(), c.want)):
				t.Errorf("problems %v, want one with %q", list, c.want)
			}
		})
	}
}
