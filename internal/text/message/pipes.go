package message

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"time"
)

// course follows conditions of one object over time, each in a line with its time: a later line of a
// type is what it is now, and ends the lines before it.
type course struct {
	at    int                    // the last line of it
	rows  map[string][]courseRow // by what the condition is of
	stale []int                  // lines that later ones end
}

type courseRow struct {
	condition
	time time.Time
}

// lines of a condition with the time of its last transition, without the marks of a table.
var (
	timeFirst = regexp.MustCompile(`^\s*(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)\s+([A-Z][A-Za-z]{3,})\s+(True|False|Unknown)(?:\s+(\S+))?(?:\s+(.*?))?\s*$`)
	timeThird = regexp.MustCompile(`^\s*([A-Z][A-Za-z]{3,})\s+(True|False|Unknown)\s+(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)(?:\s+(\S+))?(?:\s+(.*?))?\s*$`)
	typeCell  = regexp.MustCompile(`^[A-Z][A-Za-z]{3,}$`)
	nodeUUID  = regexp.MustCompile(`^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
)

// cells are the cells of a row between upright lines, nil where a line is none.
func cells(line []byte) []string {
	m := bytes.TrimSpace(line)
	if len(m) < 2 || m[0] != '|' || m[len(m)-1] != '|' || len(m) > maxTried {
		return nil
	}
	list := strings.Split(string(m[1:len(m)-1]), "|")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}

// piped reads a row between upright lines, or a condition with its time.
func (s *shown) piped(number int, line []byte) {
	row := cells(line)
	if len(row) == 6 && nodeUUID.MatchString(row[0]) {
		s.ironicNode(number, line, row)
		return
	}
	key, c, ok := conditionRow(line, row)
	if !ok {
		return
	}
	if s.course.rows == nil || number-s.course.at > 1 {
		s.endCourse()
		s.course.rows = map[string][]courseRow{}
	}
	s.course.at = number
	c.from, c.to, c.line, c.text = number, number, number, string(bytes.TrimSpace(line))
	for _, before := range s.course.rows[key] {
		switch {
		case before.status == c.status:
		case before.time.Before(c.time):
			s.course.stale = append(s.course.stale, before.line)
		case c.time.Before(before.time):
			s.course.stale = append(s.course.stale, number)
		}
	}
	if len(s.course.rows) < maxForms && len(s.course.rows[key]) < maxForms {
		s.course.rows[key] = append(s.course.rows[key], c)
	}
}

// conditionRow reads a condition and its time from a row or a line. Key is its type, behind what else
// says of which object it is.
func conditionRow(line []byte, row []string) (key string, c courseRow, ok bool) {
	if row == nil {
		m := timeFirst.FindStringSubmatch(string(line[:min(len(line), maxTried)]))
		if m == nil {
			if m = timeThird.FindStringSubmatch(string(line[:min(len(line), maxTried)])); m == nil {
				return "", c, false
			}
			m[1], m[2], m[3] = m[3], m[1], m[2]
		}
		row = m[1:]
	}
	var before, behind []string
	for _, cell := range row {
		t, err := time.Parse(time.RFC3339, cell)
		switch {
		case err == nil && c.time.IsZero():
			c.time = t
		case c.status != "":
			behind = append(behind, cell)
		case cell == "True" || cell == "False" || cell == "Unknown":
			c.status = cell
		default:
			before = append(before, cell)
		}
	}
	if c.status == "" || c.time.IsZero() || len(before) == 0 || !typeCell.MatchString(before[len(before)-1]) {
		return "", c, false
	}
	c.kind = before[len(before)-1]
	if len(behind) > 0 {
		c.reason, c.message = behind[0], strings.TrimSpace(strings.Join(behind[1:], " "))
	}
	return strings.Join(before, "\x00"), c, true
}

// endCourse takes what the conditions are in the end, and marks the lines before it.
func (s *shown) endCourse() {
	o := &s.object
	for _, line := range s.course.stale {
		o.well = append(o.well, [2]int{line, line})
	}
	for _, rows := range s.course.rows {
		for i := range rows {
			c := &rows[i].condition
			bad, well := c.judged()
			if well {
				o.well = append(o.well, [2]int{c.line, c.line})
			}
			if bad && !slices.Contains(s.course.stale, c.line) {
				s.states = append(s.states, state{line: c.line, text: c.text, says: c.says(),
					next: "oc describe of the object that has this condition, and the log of its controller"})
			}
		}
	}
	s.course = course{}
}

// ironicNode reads a row of `baremetal node list`: UUID, name, instance, power state, provisioning
// state and maintenance (openstack/python-ironicclient:ironicclient/v1/resource_fields.py, NODE_RESOURCE).
func (s *shown) ironicNode(number int, line []byte, row []string) {
	name, provision, maintenance := row[1], strings.ToLower(row[4]), row[5]
	if name == "" || name == "None" {
		name = row[0]
	}
	says := ""
	switch failed := strings.HasSuffix(provision, "failed") || provision == "error"; {
	case failed && maintenance == "True":
		says = "its provisioning state in Ironic is " + provision + ", and it is in maintenance"
	case failed:
		says = "its provisioning state in Ironic is " + provision
	case maintenance == "True":
		says = "it is in maintenance in Ironic"
	case strings.EqualFold(row[3], "error"):
		says = "its power state in Ironic is error"
	default:
		return
	}
	s.states = append(s.states, state{line: number, text: string(bytes.TrimSpace(line)), kind: "baremetal node", name: name, says: says,
		next: "baremetal node show " + row[0] + " -f value -c last_error -c maintenance_reason: the reason. A BareMetalHost may still be ready or available"})
}

// isPiped reports whether a line may be one that piped reads: a row, or a condition with its time.
func isPiped(line []byte) bool {
	m := bytes.TrimLeft(line, " ")
	if len(m) > 0 && m[0] == '|' {
		return true
	}
	return len(m) > 24 && (m[0] >= '0' && m[0] <= '9' || m[0] >= 'A' && m[0] <= 'Z') && (bytes.Contains(m, []byte("True")) ||
		bytes.Contains(m, []byte("False")) || bytes.Contains(m, []byte("Unknown")))
}
