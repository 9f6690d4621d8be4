package paste

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/journal"
	"github.com/rollcall-project/rollcall/internal/source/archive/objectfile"
	"github.com/rollcall-project/rollcall/internal/text/octable"
)

// block is one field of `oc describe`: its label, its value, and the fields below it
// (k8s.io/kubectl:pkg/describe/describe.go PrefixWriter).
type block struct {
	label, value string
	below        []block
}

const (
	maxDescribed = 5000 // lines of one description
	maxLevels    = 20
)

var (
	describedName = regexp.MustCompile(`^Name: +([a-z0-9][a-z0-9.-]*)$`)
	describedKey  = regexp.MustCompile(`^( *)([A-Za-z][A-Za-z0-9 ()./-]{0,60}?):(?:( +)(.*)|)$`)
	describedSign = regexp.MustCompile(`^(?:Roles|Namespace|Labels|Annotations|Priority|CreationTimestamp|API Version|Requesting User):`)
)

// topLabels stand at the margin of a description, whatever blanks a paste has lost.
var topLabels = map[string]bool{"Name": true, "Namespace": true, "Labels": true, "Annotations": true, "API Version": true, "Kind": true,
	"Metadata": true, "Spec": true, "Status": true, "Events": true, "Roles": true, "Conditions": true, "Addresses": true, "Node": true, "Containers": true}

// labelOf reads a line with a label. At the margin the second line of a message can look
// like one: describe aligns values, so that at least two blanks follow its labels.
func labelOf(line []byte) (label, text string, ok bool) {
	m := describedKey.FindSubmatch(line)
	if m == nil || len(m[1]) == 0 && len(m[3]) == 1 && !topLabels[string(m[2])] {
		return "", "", false
	}
	return string(m[2]), strings.TrimSpace(string(m[4])), true
}

func isLabel(line []byte) bool { _, _, ok := labelOf(line); return ok }

// described takes what `oc describe` prints of one object.
func (sp *splitter) described() bool {
	m := describedName.FindSubmatch(sp.lines[sp.at])
	if m == nil || !sp.describedFollows() {
		return false
	}
	first := sp.at
	lines := sp.description()
	root, _ := blocks(lines, 0, 0)
	sp.s.mixed = true
	object := block{below: root}
	content := describedObject(object)
	if content == nil {
		return true
	}
	meta, _ := content["metadata"].(map[string]any)
	meta["name"] = string(m[1])
	if ns := object.get("Namespace"); ns != "" {
		meta["namespace"] = ns
	}
	raw, err := json.Marshal(content)
	if err != nil {
		return true
	}
	if content, r, ok, err := objectfile.DecodeKind(raw); err == nil && ok {
		sp.put(content, r, first+1)
	}
	if lease := describedLease(object, string(m[1])); lease != nil {
		sp.put(lease, evidence.Leases, first+1)
	}
	return true
}

// describedFollows reports whether one of the next lines is one that stands near the name.
func (sp *splitter) describedFollows() bool {
	for i := sp.at + 1; i < len(sp.lines) && i < sp.at+6; i++ {
		if describedSign.Match(sp.lines[i]) {
			return true
		}
	}
	return false
}

// description returns the lines of a description and moves behind them. A value of several
// lines continues at the margin; a description ends with its events.
func (sp *splitter) description() [][]byte {
	from, events := sp.at, false
	for sp.at++; sp.at < len(sp.lines) && sp.at-from < maxDescribed; sp.at++ {
		line := sp.lines[sp.at]
		if len(line) == 0 {
			if next := sp.at + 1; next < len(sp.lines) && isLabel(sp.lines[next]) && !describedName.Match(sp.lines[next]) {
				continue
			}
			break
		}
		if line[0] == ' ' {
			continue
		}
		if _, _, journal := journal.Head(line); journal || describedName.Match(line) || sp.isCommand(sp.at) || heading.Match(line) {
			break
		}
		if isLabel(line) {
			events = bytes.HasPrefix(line, []byte("Events:"))
		} else if events {
			break
		}
	}
	return sp.lines[from:sp.at]
}

// blocks reads the fields from a line on that stand at least so far right, and returns how
// many lines they are. Lines without a label belong to the value before them.
func blocks(lines [][]byte, margin, level int) (list []block, n int) {
	if level > maxLevels {
		return nil, len(lines)
	}
	at := -1
	for n < len(lines) {
		line := lines[n]
		left := len(line) - len(bytes.TrimLeft(line, " "))
		label, text, ok := labelOf(line)
		switch {
		case len(line) == 0:
			n++
			continue
		case !ok:
			if left < margin && left > 0 {
				return list, n
			}
			if len(list) > 0 {
				last := &list[len(list)-1]
				last.value = strings.TrimSpace(last.value + "\n" + strings.TrimSpace(string(line)))
			}
			n++
			continue
		case left < margin || at >= 0 && left < at:
			return list, n
		case at >= 0 && left > at && len(list) > 0:
			below, used := blocks(lines[n:], left, level+1)
			last := &list[len(list)-1]
			last.below = append(last.below, below...)
			n += max(used, 1)
			continue
		}
		at = left
		list = append(list, block{label: label, value: text})
		n++
	}
	return list, n
}

// get returns the value of a field, "" where it is not there or printed as nothing.
func (b block) get(path ...string) string {
	f, ok := b.field(path...)
	if !ok {
		return ""
	}
	return octable.Value(f.value)
}

// field returns a field by the labels on the path to it.
func (b block) field(path ...string) (block, bool) {
	for _, label := range path {
		i := 0
		for i < len(b.below) && b.below[i].label != label {
			i++
		}
		if i == len(b.below) {
			return block{}, false
		}
		b = b.below[i]
	}
	return b, true
}

// items takes the fields of a list of objects apart: describe prints them one after the
// other, and a label that comes again begins the next one.
func (b block) items() (list []block) {
	seen := map[string]bool{}
	for _, f := range b.below {
		if len(list) == 0 || seen[f.label] {
			list, seen = append(list, block{}), map[string]bool{}
		}
		seen[f.label] = true
		list[len(list)-1].below = append(list[len(list)-1].below, f)
	}
	return list
}

// lines are the lines of a value: a field of several has them below its label.
func (b block) lines() []string {
	list := strings.Split(b.value, "\n")
	for _, f := range b.below {
		list = append(list, f.label+": "+f.value)
	}
	return list
}
