package sosreport

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/source/archive/layout"
	"github.com/rollcall-project/rollcall/internal/source/archive/member"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// maxTable bounds a table of containers or mounts: a line for each.
const maxTable = 8 << 20

// silentRuntime is how crictl ends when the container runtime does not answer
// (kubernetes-sigs/cri-tools:cmd/crictl/main.go, util.go).
var silentRuntime = regexp.MustCompile(`(?i)(?:FATA\[|level=fatal).*(?:connect|deadline exceeded|unavailable|refused|no such file)`)

// wantedContainers are the columns of crictl's list that are read
// (kubernetes-sigs/cri-tools:cmd/crictl/container.go outputContainers).
var wantedContainers = []string{"CONTAINER", "STATE", "NAME", "POD ID"}

// containers reads what crictl lists, and the static pods in /etc/kubernetes/manifests.
func (r report) containers(ctx context.Context, f member.File) (any, error) {
	text, err := r.printed(ctx, f, maxTable)
	if err != nil {
		return nil, err
	}
	c := onhost.Containers{Containers: []onhost.Container{}, At: r.date(ctx)}
	rows, err := table(text, wantedContainers...)
	if fatal := silentRuntime.FindString(text); err != nil && fatal != "" {
		c.RuntimeError = fatal
	} else if err != nil {
		return nil, err
	}
	pods, err := r.podList(ctx, rows)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		o := onhost.Container{
			Name: row["NAME"], Namespace: row["NAMESPACE"], Pod: row["POD"],
			State: strings.ToLower(row["STATE"]), Created: ago(row["CREATED"], c.At),
		}
		o.Attempt, _ = strconv.Atoi(row["ATTEMPT"])
		if i := slices.IndexFunc(pods, func(p map[string]string) bool { return p["POD ID"] == row["POD ID"] }); i >= 0 {
			o.Namespace, o.Pod = pods[i]["NAMESPACE"], pods[i]["NAME"]
		}
		if o.Namespace == "" || o.Pod == "" {
			return nil, fmt.Errorf("the pod of container %.20q is in no list", row[wantedContainers[0]])
		}
		c.Containers = append(c.Containers, o)
	}
	c.Manifests, c.ManifestError = r.staticPods(ctx)
	return c, nil
}

// podList reads the pods of the containers, where the rows do not name them. A pod that is
// ready has a container: a list without it was cut.
func (r report) podList(ctx context.Context, rows []map[string]string) ([]map[string]string, error) {
	f := r.first(podsPaths)
	if f.Path == "" {
		if len(rows) > 0 && rows[0]["NAMESPACE"] == "" {
			return nil, errors.New("crictl does not name the pods of its containers, and there is no list of the pods")
		}
		return nil, nil
	}
	text, err := r.printed(ctx, f, maxTable)
	if err != nil {
		return nil, fmt.Errorf("the list of the pods: %w", err)
	}
	pods, err := table(text, "POD ID", "STATE", "NAME", "NAMESPACE")
	if err != nil {
		return nil, fmt.Errorf("the list of the pods: %w", err)
	}
	for _, p := range pods {
		if p["STATE"] == "Ready" && len(rows) > 0 && !slices.ContainsFunc(rows, func(r map[string]string) bool { return r["POD ID"] == p["POD ID"] }) {
			return nil, fmt.Errorf("pod %.80q is ready and no container of it is listed", p["NAME"])
		}
	}
	return pods, nil
}

// staticPods reads which static pods the machine is to run.
func (r report) staticPods(ctx context.Context) ([]onhost.Manifest, string) {
	list := []onhost.Manifest{}
	for p, f := range r.files {
		if !strings.HasPrefix(p, manifestDir) {
			continue
		}
		m := onhost.Manifest{File: onhost.File{Path: "/" + p, Exists: true, Size: f.Size}}
		if raw, err := r.Read(ctx, f, layout.MaxSmall); err != nil {
			m.Error = err.Error()
		} else {
			m.Parse(raw)
		}
		list = append(list, m)
	}
	if len(list) == 0 {
		return list, "the sosreport has no /" + strings.TrimSuffix(manifestDir, "/")
	}
	slices.SortFunc(list, func(a, b onhost.Manifest) int { return strings.Compare(a.Path, b.Path) })
	return list, ""
}

// column is a title of a table; words of one title are one blank apart.
var column = regexp.MustCompile(`\S+(?: \S+)*`)

// rowID is the beginning of a row: the first digits of an ID.
var rowID = regexp.MustCompile(`^[0-9a-f]{8,64}\b`)

// table reads a table as crictl prints it: each cell begins below its title. Lines before
// the titles are warnings. The titles that are wanted must be there, by how they begin.
func table(text string, wanted ...string) ([]map[string]string, error) {
	var rows []map[string]string
	var titles []string
	var starts []int
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \r\n")
		if titles == nil {
			if !strings.HasPrefix(line, wanted[0]) {
				continue
			}
			for _, at := range column.FindAllStringIndex(line, -1) {
				titles, starts = append(titles, line[at[0]:at[1]]), append(starts, at[0])
			}
			for _, w := range wanted[1:] {
				if !slices.Contains(titles, w) {
					return nil, fmt.Errorf("the table has no column %s", w)
				}
			}
			continue
		}
		if !rowID.MatchString(line) {
			continue // a warning
		}
		row := map[string]string{}
		for i, title := range titles {
			end := len(line)
			if i+1 < len(starts) {
				end = starts[i+1]
			}
			if starts[i] < len(line) {
				row[title] = strings.TrimSpace(line[starts[i]:min(end, len(line))])
			}
		}
		rows = append(rows, row)
	}
	if titles == nil {
		return nil, fmt.Errorf("not a table of %s: %.80q", strings.ToLower(wanted[0])+"s", strings.TrimSpace(text))
	}
	return rows, nil
}

// spans are the units of what crictl prints of an age
// (docker/go-units:duration.go HumanDuration).
var spans = map[string]time.Duration{
	"second": time.Second, "minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour,
	"week": 7 * 24 * time.Hour, "month": 30 * 24 * time.Hour, "year": 365 * 24 * time.Hour,
}

// ago is the latest time that "3 hours ago" can mean; zero where that is not known.
func ago(text string, at time.Time) time.Time {
	text = strings.TrimSuffix(strings.ToLower(text), " ago")
	text = strings.NewReplacer("less than a", "0", "about an", "1", "about a", "1").Replace(text)
	count, unit, ok := strings.Cut(text, " ")
	n, err := strconv.Atoi(count)
	span, known := spans[strings.TrimSuffix(unit, "s")]
	if !ok || err != nil || !known || n < 0 || n > 10000 || at.IsZero() {
		return time.Time{}
	}
	return at.Add(-time.Duration(n) * span)
}
