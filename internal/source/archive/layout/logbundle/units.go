package logbundle

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/journal"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout"
	"github.com/rollcall-project/rollcall/internal/source/archive/member"
)

// oneshot is a service of the bootstrap host that bootkube comes after, and that ends. Each has a journal of its own
// in a bundle (installer-gather.sh).
type oneshot struct {
	service, program string
	stage            string   // that its records have while it pulls an image; "" where it has no stages
	retries          []string // how the lines begin with which it says that a try has failed
}

// oneshots are these services
// (openshift/installer:data/data/bootstrap/files/usr/local/bin/{release-image-download,node-image-pull,bootstrap-pivot}.sh.template,
// crio-configure.sh.template; data/data/bootstrap/systemd). The first three try again until they have their image.
var oneshots = []oneshot{
	{"node-image-pull", "node-image-pull.sh", "", []string{"Failed to query release image", "Failed to fetch release image"}},
	{"release-image", "release-image-download.sh", "pull-release-image", []string{"Pull failed. Retrying"}},
	{"release-image-pivot", "bootstrap-pivot.sh", "pull-okd-os-image", []string{"Pull failed. Retrying"}},
	{"crio-configure", "crio-configure.sh", "", nil},
}

func oneshotOf(unit string) (oneshot, bool) {
	for _, o := range oneshots {
		if o.service == unit {
			return o, true
		}
	}
	return oneshot{}, false
}

// oneshotServices makes the records of the services before bootkube from their journals in a bundle. next is when
// bootkube began, "" if it has not: a failure before that is over, because bootkube comes after these services.
func oneshotServices(ctx context.Context, a layout.Deriving, now time.Time, next string) ([]evidence.Object, error) {
	var list []evidence.Object
	for _, e := range a.Texts {
		o, ok := oneshotOf(e.Text.Unit)
		if !ok || e.Of.Kind != Kind || !onBootstrap(e) || e.Text.Kind != evidence.Journal {
			continue
		}
		in, err := layout.OpenLines(ctx, a.Container, e, "")
		if err != nil {
			continue // reading the text says why
		}
		j := oneshotJournal{recorder: recorder{now: now}, oneshot: o}
		err = errors.Join(j.read(member.WithContext(ctx, io.LimitReader(in, layout.MaxLines))), in.Close())
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if len(j.records) == 0 {
			continue
		}
		if last := j.records[len(j.records)-1]; last.Result != "success" && next > last.Timestamp {
			j.records = append(j.records, serviceRecord{Timestamp: next, Phase: "service end", Result: "success"})
		}
		list = append(list, evidence.Object{Resource: evidence.BootstrapServices, Name: o.service, Loc: evidence.Locator{Path: e.File.Path},
			Content: j.object(o.service, e.File.Path, err)})
	}
	return list, nil
}

// oneshotJournal follows the lines of one such service.
type oneshotJournal struct {
	recorder
	oneshot
	said   string // the last line of the program
	wrong  string // the last line of the program with an error, since the last try failed
	open   bool   // a try is under way
	failed bool   // the last try has failed
}

func (j *oneshotJournal) read(r io.Reader) error {
	return journal.EachLine(r, func(line []byte) bool {
		_, id, ok := journal.Head(line)
		_, message, found := strings.Cut(string(line), "]: ")
		switch {
		case !ok || !found:
		case string(id) == "systemd":
			j.manager(string(line), message)
		case string(id) == j.program:
			j.line(string(line), message)
		}
		return true
	})
}

// line follows what the program prints. podman and ostree print the error of a try before the program says that
// it has failed; where the journal ends between both, it has failed too.
func (j *oneshotJournal) line(line, message string) {
	if strings.TrimSpace(message) == "" {
		return
	}
	j.said = message
	for _, begins := range j.retries {
		if strings.HasPrefix(message, begins) {
			if j.wrong != "" || !j.failed { // else its error has ended the try
				j.fails(line)
			}
			j.try(line)
			return
		}
	}
	switch {
	case strings.HasPrefix(message, "Pulling "):
		j.try(line)
	case strings.HasPrefix(message, "Error: "), strings.HasPrefix(message, "error: "):
		j.wrong = message
		if j.stage != "" && j.open {
			j.fails(line)
		}
	}
}

// try begins a try.
func (j *oneshotJournal) try(line string) {
	j.open, j.failed, j.wrong = true, false, ""
	if j.stage != "" {
		j.add(line, serviceRecord{Phase: "stage start", Stage: j.stage}, 0)
	}
}

// fails ends a try.
func (j *oneshotJournal) fails(line string) {
	r := serviceRecord{Phase: "service end", Result: "failure", ErrorMessage: cmp.Or(j.wrong, j.said)}
	if j.stage != "" {
		r.Phase, r.Stage = "stage end", j.stage
	}
	j.add(line, r, 0)
	j.open, j.failed, j.wrong = false, true, ""
}

// manager follows what systemd logs of it. A oneshot is "Started" when it has ended in systemd before 246, and
// "Finished" since.
func (j *oneshotJournal) manager(line, message string) {
	switch {
	case strings.HasPrefix(message, "Starting "):
		j.open, j.failed, j.wrong, j.said = false, false, "", ""
		j.add(line, serviceRecord{Phase: "service start"}, 0)
	case strings.HasPrefix(message, "Finished "), strings.HasPrefix(message, "Started "):
		j.add(line, serviceRecord{Phase: "service end", Result: "success"}, 0)
	case strings.HasPrefix(message, j.service+".service: Failed with result"):
		j.add(line, serviceRecord{Phase: "service end", Result: "failure", ErrorMessage: cmp.Or(j.wrong, j.said)}, 0)
	}
}

// recorder makes the records of a service from the lines of its journal.
type recorder struct {
	now     time.Time // it gives the lines their year
	records []serviceRecord
	dropped int
}

// add adds a record of a line; earlier is by how much its time was before that of the line.
func (j *recorder) add(line string, r serviceRecord, earlier time.Duration) {
	if t, ok := evidence.LineTime(line, j.now); ok {
		r.Timestamp = t.Add(-earlier).Format(time.RFC3339)
	}
	if err := r.bound(); err != nil {
		return
	}
	if j.records = append(j.records, r); len(j.records) >= 2*maxRecords {
		j.dropped += maxRecords
		j.records = append(j.records[:0], j.records[maxRecords:]...)
	}
}

// object returns the records as bootstrap/services/<unit>.json has them, marked as those of a journal: that another
// service has none proves nothing.
func (j *recorder) object(service, path string, err error) map[string]any {
	records := j.records
	if len(records) > 0 && records[0].Phase != "service start" { // the journal begins after it
		records = slices.Insert(records, 0, serviceRecord{Timestamp: records[0].Timestamp, Phase: "service start"})
	}
	o := serviceObject(service, path, records, j.dropped, err)
	o["journal"] = true
	return o
}
