package answer

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/answer/answertest"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/page"
)

// TestUpdateWords: how far an update is stands next to the version that runs, and only what is reported.
func TestUpdateWords(t *testing.T) {
	for _, tt := range []struct {
		update diagnosis.Update
		want   string
	}{
		{diagnosis.Update{To: "4.20.9", Done: 800, Total: 900, Began: answertest.Noon.Add(-3 * time.Hour)}, "updating to 4.20.9, 88% (800 of 900 manifests), for 3h"},
		{diagnosis.Update{To: "4.20.9"}, "updating to 4.20.9"},
		{diagnosis.Update{First: true, To: "4.20.9", Done: 800, Total: 900, Began: answertest.Noon.Add(-30 * time.Minute)},
			"installing, 88% (800 of 900 manifests), for 30m"},
	} {
		d := answertest.Base()
		d.Cluster.Update = &tt.update
		if parts := sourceParts(d); !slices.Contains(parts, tt.want) {
			t.Errorf("%q without %q", parts, tt.want)
		}
	}
	if parts := sourceParts(answertest.Base()); strings.Contains(strings.Join(parts, " "), "updating") {
		t.Errorf("%q of a cluster that is not updated", parts)
	}
}

// TestUnderWay: the first line of what is in progress as expected names the installation or the update.
func TestUnderWay(t *testing.T) {
	for want, update := range map[string]*diagnosis.Update{
		"AS EXPECTED: for up to 26m more, until ":                               nil,
		"AS EXPECTED: updating to 4.20.9; normal for up to 26m more, until ":    {To: "4.20.9"},
		"AS EXPECTED: installing 4.20.3; normal for up to 26m more, until 2026": {First: true, To: "4.20.3"},
	} {
		d := answertest.Settling()
		d.Cluster.Update, d.Cluster.Version = update, "4.20.3"
		var out bytes.Buffer
		if err := Roll(&out, d, Options{Style: page.Style{Width: page.NoWrap}}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
