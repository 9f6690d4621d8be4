package message

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// fileMode is a row of `ls -l`.
type fileMode struct {
	line              Line
	mode, owner, name string
}

var (
	listedFile = regexp.MustCompile(`^-([r-][w-][xsS-][r-][w-][xsS-][r-][w-][xtT-])[.+]? +\d+ +(\S+) +\S+ +\d+ .* (\S+)$`)
	deniedFile = regexp.MustCompile(`(/[\w./@-]+)["':]* ?:? [Pp]ermission denied`)
)

// listed notes a row of `ls -l`.
func (f *found) listed(number int, line []byte) {
	if line[0] != '-' || len(f.modes) == maxForms {
		return
	}
	text := bytes.TrimSpace(line)
	if m := listedFile.FindSubmatch(text); m != nil {
		f.modes = append(f.modes, fileMode{line: Line{Number: number, Text: string(text)}, mode: string(m[1]), owner: string(m[2]), name: string(m[3])})
	}
}

// deniedBy puts the mode of a file that may not be read into the failure that says so, where the text lists the file and
// not even its owner may read it.
func (c *collector) deniedBy(failures map[string]*Match) {
	for _, listed := range c.modes {
		if listed.mode[0] == 'r' {
			continue
		}
		for words, m := range failures {
			if !m.denied(listed.name) {
				continue
			}
			delete(failures, words)
			says := fmt.Sprintf("%s: its mode is -%s, so its owner %s may not read it", words, listed.mode, listed.owner)
			failures[says] = m
			m.Reason = true
			m.Lines = append(m.Lines, listed.line)
			m.Count++
			c.next[says] = "correct the mode where it is written, a MachineConfig or a template, and not only on the host" + decimalMode(listed.mode)
			break
		}
	}
}

// denied reports whether a line says that there is no permission for a file of this name.
func (m *Match) denied(name string) bool {
	for _, l := range m.Lines {
		if found := deniedFile.FindStringSubmatch(l.Text); found != nil && (found[1] == name || path.Base(found[1]) == name) {
			return true
		}
	}
	return false
}

// usualModes are the modes that people write, in octal digits.
var usualModes = []string{"400", "440", "444", "600", "640", "644", "660", "664", "700", "744", "750", "755", "775", "777"}

// decimalMode says of which usual mode a mode is the number read as a decimal: an Ignition config has modes in decimal
// (coreos/ignition:docs/configuration-v3_0.md, storage.files.mode).
func decimalMode(mode string) string {
	const bits = 0o777
	var have int64
	for i, c := range mode {
		if c != '-' && !strings.ContainsRune("ST", c) {
			have |= 1 << (len(mode) - 1 - i)
		}
	}
	for _, usual := range usualModes {
		decimal, _ := strconv.ParseInt(usual, 10, 64)
		if octal, _ := strconv.ParseInt(usual, 8, 64); decimal&bits == have {
			return fmt.Sprintf(". The decimal number %s gives this mode: in an Ignition config mode %s is %d", usual, "0"+usual, octal)
		}
	}
	return ""
}
