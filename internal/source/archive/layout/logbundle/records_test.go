package logbundle

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/source/archive/objectfile"
)

func TestDecodeServiceRecords(t *testing.T) {
	for name, raw := range map[string]string{
		"empty": "\n", "an object": "{}", "text": "jq: error", "cut off": `[{"phase": "service start"}`, "cut off in a record": `[{"phase": "serv`,
		"a number": `[{"phase": 1}]`, "no record": `["service start"]`, "a long stage": `[{"stage": "` + strings.Repeat("x", maxRecordField+1) + `"}]`,
		"deep": `[{"x":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}]`, "large": `[` + strings.Repeat(" ", objectfile.MaxObject) + `]`,
	} {
		if got, _, err := decodeServiceRecords([]byte(raw)); err == nil {
			t.Errorf("%s: %d records and no error", name, len(got))
		}
	}
	n := 3*maxRecords + 7
	raw := "[" + strings.Repeat(`{"phase":"stage start"},`, n-1) + `{"phase":"service end","errorMessage":"` + strings.Repeat("y", maxMessage+1) + `"}]`
	got, dropped, err := decodeServiceRecords([]byte(raw))
	if err != nil || len(got) != maxRecords || dropped != n-maxRecords {
		t.Fatalf("%d records, %d dropped: %v", len(got), dropped, err)
	}
	if last := got[len(got)-1]; last.Phase != "service end" || len(last.ErrorMessage) > 100 {
		t.Errorf("the last is %q with %d bytes of message", last.Phase, len(last.ErrorMessage))
	}
}

// FuzzServiceRecords holds that foreign bytes give a bounded list or an error.
func FuzzServiceRecords(f *testing.F) {
	f.Add([]byte(`[{"timestamp":"2026-01-02T09:00:00Z","phase":"stage end","stage":"cb-bootstrap","result":"failure","errorLine":"1 x","errorMessage":"a\nb"}]`))
	f.Add([]byte(`[`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		records, _, err := decodeServiceRecords(raw)
		if err != nil && records != nil || len(records) > maxRecords {
			t.Errorf("%d records with %v", len(records), err)
		}
		for _, r := range records {
			if _, err := json.Marshal(r.content()); err != nil {
				t.Error(err)
			}
		}
	})
}
