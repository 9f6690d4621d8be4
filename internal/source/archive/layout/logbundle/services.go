package logbundle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout"
	"github.com/rollcall-project/rollcall/internal/source/archive/member"
	"github.com/rollcall-project/rollcall/internal/source/archive/objectfile"
)

// The bounds of one file of service records. A service that fails at once is started
// again every five seconds and writes some six records each time: a day of that has
// more than maxRecords, and only the newest show its state.
const (
	maxRecords     = 20000
	maxRecordField = 1 << 10
	maxMessage     = 64 << 10 // three lines of a journal
	// maxServices bounds the file. Beyond objectfile.MaxObject it is a service whose records
	// cannot be read, beyond this it is damage.
	maxServices = 256 << 20
)

// serviceRecord is one entry of bootstrap/services/<unit>.json: a service of the
// bootstrap host, or a stage of it, that starts or ends
// (openshift/installer:data/data/bootstrap/files/usr/local/bin/bootstrap-service-record.sh
// add_service_record_entry). Fields without a value are left out.
type serviceRecord struct {
	Timestamp    string `json:"timestamp"`
	Phase        string `json:"phase"` // "service start", "stage end", ...
	Stage        string `json:"stage"`
	Result       string `json:"result"` // success or failure, of an end
	PreCommand   string `json:"preCommand"`
	PostCommand  string `json:"postCommand"`
	ErrorLine    string `json:"errorLine"`
	ErrorMessage string `json:"errorMessage"` // the last lines of the unit's journal
}

// serviceFile reads services/<unit>.json. The name is that of the unit, which has no
// dot (openshift/installer:pkg/gather/service/analyze.go serviceEntriesFilePathRegex).
func serviceFile(e *layout.Entry, name string) bool {
	unit, ok := strings.CutSuffix(name, ".json")
	if !ok || unit == "" || strings.Contains(unit, ".") {
		return false
	}
	e.Class, e.Resource = layout.Object, evidence.BootstrapServices
	e.Make = func(ctx context.Context, c *member.Container, e layout.Entry) (map[string]any, error) {
		raw, err := c.Read(ctx, e.File, maxServices)
		if err != nil {
			return nil, err
		}
		return service(unit, e.File.Path, raw), nil
	}
	return true
}

// service makes one object of the records of a service. Of a service that is in several
// bundles the copy with the newest record counts, as the younger one of objects does.
func service(unit, path string, raw []byte) map[string]any {
	records, dropped, err := decodeServiceRecords(raw)
	object := serviceObject(unit, path, records, dropped, err)
	if n := len(records); n > 0 {
		if _, err := time.Parse(time.RFC3339, records[n-1].Timestamp); err == nil {
			object["metadata"].(map[string]any)["creationTimestamp"] = records[n-1].Timestamp
		}
	}
	return object
}

// serviceObject is the object of a service's records, or of why they cannot be read.
func serviceObject(unit, path string, records []serviceRecord, dropped int, err error) map[string]any {
	object := map[string]any{
		"apiVersion": evidence.ProbeGroup + "/v1alpha1", "kind": "BootstrapService", "metadata": map[string]any{"name": unit, "uid": path},
	}
	if err != nil {
		object["error"] = err.Error()
		return object
	}
	list := make([]any, len(records))
	for i, r := range records {
		list[i] = r.content()
	}
	object["records"], object["dropped"] = list, int64(dropped)
	return object
}

// decodeServiceRecords reads the newest records of a service, and how many went before.
func decodeServiceRecords(raw []byte) (records []serviceRecord, dropped int, err error) {
	switch {
	case len(bytes.TrimSpace(raw)) == 0:
		return nil, 0, errors.New("the file is empty")
	case len(raw) > objectfile.MaxObject:
		return nil, 0, fmt.Errorf("%d bytes, the limit is %d", len(raw), objectfile.MaxObject)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return nil, 0, errors.New("it is not a list of records")
	}
	for d.More() {
		var r serviceRecord
		if err := d.Decode(&r); err != nil {
			return nil, 0, fmt.Errorf("record %d: %w", dropped+len(records)+1, err)
		}
		if err := r.bound(); err != nil {
			return nil, 0, fmt.Errorf("record %d: %w", dropped+len(records)+1, err)
		}
		if records = append(records, r); len(records) >= 2*maxRecords {
			dropped += maxRecords
			records = append(records[:0], records[maxRecords:]...)
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, 0, errors.New("the list is cut off")
	}
	if more := len(records) - maxRecords; more > 0 {
		dropped, records = dropped+more, records[more:]
	}
	return records, dropped, nil
}

// bound refuses what the writer never writes. A message that is too long is left out
// as a whole: half of one could hide from the sanitizer that it is a secret.
func (r *serviceRecord) bound() error {
	for _, v := range []string{r.Timestamp, r.Phase, r.Stage, r.Result, r.PreCommand, r.PostCommand, r.ErrorLine} {
		if len(v) > maxRecordField {
			return fmt.Errorf("a field of %d bytes, the limit is %d", len(v), maxRecordField)
		}
	}
	if n := len(r.ErrorMessage); n > maxMessage {
		r.ErrorMessage = fmt.Sprintf("a message of %d bytes, which is not read", n)
	}
	return nil
}

func (r serviceRecord) content() map[string]any {
	m := map[string]any{}
	for k, v := range map[string]string{
		"timestamp": r.Timestamp, "phase": r.Phase, "stage": r.Stage, "result": r.Result, "preCommand": r.PreCommand,
		"postCommand": r.PostCommand, "errorLine": r.ErrorLine, "errorMessage": r.ErrorMessage,
	} {
		if v != "" {
			m[k] = v
		}
	}
	return m
}
