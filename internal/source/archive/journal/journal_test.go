package journal

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"
)

// export writes an entry of a journal in export format; fields with an end of
// line in them are written as bytes.
func export(fields ...string) string {
	var b strings.Builder
	b.WriteString(exportStart + "s=1\n")
	for i := 0; i < len(fields); i += 2 {
		if name, value := fields[i], fields[i+1]; strings.ContainsAny(value, "\n\x00") {
			b.WriteString(name + "\n")
			b.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(value))))
			b.WriteString(value + "\n")
		} else {
			b.WriteString(name + "=" + value + "\n")
		}
	}
	return b.String() + "\n"
}

func agentJournal() string {
	return export("__REALTIME_TIMESTAMP", "1767348000000000", "_HOSTNAME", "control1", "SYSLOG_IDENTIFIER", "kubelet", "_PID", "7", "_SYSTEMD_UNIT",
		"kubelet.service", "MESSAGE", "one=1") +
		export("__REALTIME_TIMESTAMP", "1767348001000000", "_HOSTNAME", "control1", "SYSLOG_IDENTIFIER", "agent", "MESSAGE", "two\nlines \x00 and __CURSOR=x") +
		export("__REALTIME_TIMESTAMP", "1767348002000000", "_HOSTNAME", "control1", "SYSLOG_IDENTIFIER", "systemd", "UNIT", "kubelet.service", "_SYSTEMD_UNIT",
			"init.scope", "MESSAGE", "Started Kubelet.")
}

func TestHostileExport(t *testing.T) {
	huge := "__CURSOR=x\nMESSAGE\n" + string(binary.LittleEndian.AppendUint64(nil, 1<<62))
	for name, raw := range map[string]string{
		"cut off in a field": agentJournal()[:len(agentJournal())-40], "huge": huge, "no name": strings.Repeat("a", 1000) + "\n",
		"no end": "__CURSOR=x\nMESSAGE\n" + string(binary.LittleEndian.AppendUint64(nil, 1)) + "ab\n\n", "cut off behind a field": "__CURSOR=x\nA=b\n",
	} {
		if _, err := io.ReadAll(ExportLines(strings.NewReader(raw), "")); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	long := export("MESSAGE", strings.Repeat("x\n", maxField)) + export("MESSAGE", "next")
	raw, err := io.ReadAll(ExportLines(strings.NewReader(long), ""))
	if err != nil || bytes.Count(raw, []byte("\n")) != 2 || len(raw) > maxField+1000 {
		t.Errorf("a long field gives %d bytes, %d lines, %v", len(raw), bytes.Count(raw, []byte("\n")), err)
	}
}

// FuzzExport holds that every journal ends, and gives at most as many lines as it
// has ends of lines.
func FuzzExport(f *testing.F) {
	f.Add([]byte(agentJournal()))
	f.Add([]byte(agentJournal()[:100]))
	f.Add([]byte("MESSAGE\n\x05\x00\x00\x00\x00\x00\x00\x00a\nb\nc\n\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		out, _ := io.ReadAll(ExportLines(bytes.NewReader(raw), ""))
		if bytes.Count(out, []byte("\n")) > bytes.Count(raw, []byte("\n")) {
			t.Errorf("%d lines of %d", bytes.Count(out, []byte("\n")), bytes.Count(raw, []byte("\n")))
		}
	})
}

// FuzzUnitLines holds that the numbers of lines stay.
func FuzzUnitLines(f *testing.F) {
	f.Add([]byte("Jan 02 10:00:02 a kubelet[1]: x\nJan 02 10:00:02 a crio[1]: y\nz"))
	f.Add([]byte(strings.Repeat("y", 70<<10) + "\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		out, err := io.ReadAll(UnitLines(bytes.NewReader(raw), "kubelet"))
		if err != nil || bytes.Count(out, []byte("\n")) != bytes.Count(raw, []byte("\n")) {
			t.Errorf("%q gives %q, %v", raw, out, err)
		}
	})
}
