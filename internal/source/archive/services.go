package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// The bounds of one file of service records. A service that fails at once is started
// again every five seconds and writes some six records each time: a day of that has
// more than maxRecords, and only the newest say where it stands.
const (
	maxRecords     = 20000
	maxRecordField = 1 << 10
	maxMessage     = 64 << 10 // three lines of a journal
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
func serviceFile(e *entry, name string) bool {
	unit, ok := strings.CutSuffix(name, ".json")
	if !ok || unit == "" || strings.Contains(unit, ".") {
		return false
	}
	e.class, e.resource, e.answer = object, evidence.BootstrapServices, unit
	return true
}

// readServiceRecords makes one object of the records of a service. Of a service that lies in
// several bundles the copy with the newest record counts, as of objects the younger.
func (s *Source) readServiceRecords(e entry, raw []byte, c *listing) {
	meta := map[string]any{"name": e.answer, "uid": e.file.path}
	object := map[string]any{"apiVersion": evidence.ProbeGroup + "/v1alpha1", "kind": "BootstrapService", "metadata": meta}
	records, dropped, err := decodeServiceRecords(raw)
	if err != nil {
		object["error"] = err.Error()
	} else {
		list := make([]any, len(records))
		for i, r := range records {
			list[i] = r.content()
		}
		object["records"], object["dropped"] = list, int64(dropped)
	}
	if n := len(records); n > 0 {
		if _, err := time.Parse(time.RFC3339, records[n-1].Timestamp); err == nil {
			meta["creationTimestamp"] = records[n-1].Timestamp
		}
	}
	s.addObject(e, object, false, c)
}

// decodeServiceRecords reads the newest records of a service, and how many went before.
func decodeServiceRecords(raw []byte) (records []serviceRecord, dropped int, err error) {
	switch {
	case len(bytes.TrimSpace(raw)) == 0:
		return nil, 0, errors.New("the file is empty")
	case len(raw) > maxObject:
		return nil, 0, fmt.Errorf("%d bytes, the limit is %d", len(raw), maxObject)
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

// noServices says why an archive has no records of the bootstrap's services. A bundle
// without them is of an older release, or of a host on which nothing that writes
// records had begun: since releases that pull the node image first, nothing does
// before that is done.
func (s *Source) noServices(n evidence.Need) *evidence.Unavailable {
	u := evidence.NotOnBootstrap(n)
	if s.kind == LogBundle {
		u.Detail = "the log bundle has no bootstrap/services/*.json: it is of an older release, or no service that writes them had begun"
		u.Supply = evidence.Supply{Kind: evidence.SupplyBootstrapJournal}
	}
	return u
}
