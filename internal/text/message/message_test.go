package message

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

func builtIn(t testing.TB) *Index {
	t.Helper()
	c, err := fault.Load(catalog.FS)
	if err != nil {
		t.Fatal(err)
	}
	x, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func readText(t testing.TB, x *Index, text string) *Report {
	t.Helper()
	r, err := x.Read(t.Context(), strings.NewReader(text), func(s string) string { return s })
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Each message is tried on lines as its program prints them: testdata/<program>.txt has an
// outcome or the id of a message, a tab and a line.
func TestSamples(t *testing.T) {
	x := builtIn(t)
	read, err := x.catalog.Signatures()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files of samples: %v", len(files), err)
	}
	for _, path := range files {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range strings.Lines(string(raw)) {
			n++
			want, sample, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "\t")
			if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
				continue
			}
			if !ok {
				t.Errorf("%s:%d: no tab", path, n)
				continue
			}
			got := x.outcomes(sample)
			for _, h := range read.Find([]byte(sample)) {
				got = append(got, h.ID)
			}
			if !slices.Contains(got, want) {
				t.Errorf("%s:%d: %v, want %s of %q", path, n, got, want, sample)
			}
		}
	}
}

// fixtureLines calls use with each line that a fixture of a fault adds to a log: the line is a
// sample of the fault's messages, too.
func fixtureLines(t *testing.T, use func(faultID, line string)) {
	t.Helper()
	paths, err := fs.Glob(os.DirFS("../../../catalog"), "*/testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d fixtures: %v", len(paths), err)
	}
	for _, p := range paths {
		a, err := txtar.ParseFile(filepath.Join("../../../catalog", p))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(a.Comment), "outcome:") { // the fault is not present
			continue
		}
		id, _, _ := strings.Cut(filepath.Base(p), ".")
		for _, f := range a.Files {
			if strings.HasPrefix(f.Name, "append:") {
				for line := range strings.Lines(string(f.Data)) {
					use(id, strings.TrimRight(line, "\r\n"))
				}
			}
		}
	}
}

// Each message of the catalog has a sample, there or in a fixture of its fault: a literal that
// no line can have never speaks.
func TestEveryMessageIsTried(t *testing.T) {
	x := builtIn(t)
	read, err := x.catalog.Signatures()
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob("testdata/*.txt")
	tried, found := map[int]bool{}, map[string]bool{}
	for _, path := range files {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			_, sample, _ := strings.Cut(strings.TrimRight(line, "\r\n"), "\t")
			for _, h := range read.Find([]byte(sample)) {
				found[h.ID] = true
			}
			lower := plainLower(nil, []byte(sample))
			for i := range x.rules {
				tried[i] = tried[i] || x.rules[i].matches(lower)
			}
		}
	}
	fixtureLines(t, func(id, line string) {
		for _, h := range read.Find([]byte(line)) {
			found[h.ID] = true
		}
		lower := plainLower(nil, []byte(line))
		for i := range x.rules {
			tried[i] = tried[i] || x.rules[i].Fault == id && x.rules[i].matches(lower)
		}
	})
	without := 0
	for i := range x.rules {
		if !tried[i] {
			without++
			t.Logf("%s: %q has no sample", x.rules[i].program, x.rules[i].Text)
		}
	}
	if without > 0 {
		t.Errorf("%d of %d messages have no sample that they hold on", without, len(x.rules))
	}
	for _, file := range x.catalog.Messages {
		for _, m := range file.Messages {
			if m.ID != "" && !found[m.ID] {
				t.Errorf("%s: no sample has what facts read as %s", file.Program, m.ID)
			}
		}
	}
}

// small is a catalog of two faults for tests of how texts are read.
func small(t testing.TB) *Index {
	t.Helper()
	c, err := fault.Load(catalog.FS)
	if err != nil {
		t.Fatal(err)
	}
	c.Messages = []*fault.Messages{{Program: "p", Messages: []fault.Message{
		{Text: "certificate has expired or is not yet valid", Fault: "host-clock-wrong", Shows: fault.ShowsPossible},
		{Text: `failed calling webhook`, Also: []string{"no such host"}, Fault: "mcs-refused", Shows: fault.ShowsProven},
		{Text: "GET result: OK", Normal: "it was answered", Ends: []string{"mcs-refused"}},
		{Text: "cannot do it", Failure: "it cannot be done", Unless: "yet$"},
		{Text: "only beside another", With: []string{"the other literal"}, Fault: "mcs-refused"},
		{Text: "watch was closed", Normal: "watches end"},
		{Text: "watch was", Failure: "a watch failed"},
	}}}
	x, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestTextAsItIsPasted(t *testing.T) {
	x := small(t)
	const line = `Error: failed calling webhook "x.y": dial tcp: lookup a: no such host`
	long := strings.Repeat("x", 70)
	for name, tt := range map[string]struct {
		text   string
		result Result
	}{
		"a line":                   {line, Present},
		"upper case":               {strings.ToUpper(line), Present},
		"colored":                  {"\x1b[31m" + strings.Replace(line, "webhook", "\x1b[1mwebhook\x1b[0m", 1) + "\x1b[0m\n", Present},
		"escaped":                  {`{"msg":"Error: failed calling webhook \"x.y\": dial tcp: lookup a: no such host"}`, Present},
		"with CRLF":                {"a\r\n" + line + "\r\nb\r\n", Present},
		"blanks":                   {strings.ReplaceAll(line, " ", "  \t"), Present},
		"wrapped at a blank":       {long + " failed calling\nwebhook: no such host", Present},
		"wrapped in a word":        {long + " failed calling web\nhook: no such host", Present},
		"rows of Markdown":         {"| " + long + " failed calling |\n| webhook: no such host |", Absent},
		"quoted and wrapped":       {"> " + long + " failed calling\n> webhook: no such host", Present},
		"two records":              {"2026-03-01T10:00:00Z " + long + " failed calling\n2026-03-01T10:00:01Z webhook: not here", Absent},
		"two rows of a table":      {long + "   failed calling\n" + strings.Repeat("z", 70) + "   webhook: not here", Absent},
		"half of it":               {"failed calling webhook: timeout", Absent},
		"a possible cause":         {"x509: certificate has expired or is not yet valid", Unknown},
		"a failure":                {"cannot do it", Unknown},
		"excepted":                 {"we cannot do it yet", Absent},
		"over":                     {line + "\nGET result: OK\n", Absent},
		"over, and again":          {"GET result: OK\n" + line, Present},
		"without the other":        {"only beside another", Absent},
		"with the other, far away": {"only beside another\n" + strings.Repeat("\n", 100) + "the other literal", Present},
		"normal":                   {"the watch was closed", Absent},
		"behind a long line":       {strings.Repeat("y", 3<<20) + line, Present},
		"in a long line":           {strings.Repeat("y ", 20<<10) + line + strings.Repeat(" y", 20<<10), Present},
	} {
		t.Run(name, func(t *testing.T) {
			r := readText(t, x, tt.text)
			if len(r.Matches)+len(r.Symptoms) == 0 && len(r.Errors) > 0 && r.Errors[0].Hint {
				r.Result = Absent // of the rules: that its words speak of trouble is said all the same
			}
			if r.Result != tt.result {
				t.Errorf("%s: %+v", r.Result, r)
			}
		})
	}
}

// Lines are numbered over the borders of blocks, and each is counted once.
func TestBlocks(t *testing.T) {
	x := small(t)
	const bad = "failed calling webhook: no such host\n"
	filler := strings.Repeat(strings.Repeat("z", 99)+"\n", 1000)
	var text strings.Builder
	var want []int
	lines := 0
	for range 60 {
		text.WriteString(filler)
		text.WriteString(bad)
		lines += 1001
		want = append(want, lines)
	}
	r := readText(t, x, text.String())
	if len(r.Matches) != 1 || r.Matches[0].Count != len(want) || r.Lines != lines {
		t.Fatalf("%d lines, %+v", r.Lines, r.Matches)
	}
	got := r.Matches[0].Lines
	if first, last := got[0].Number, got[len(got)-1].Number; first != want[0] || last != want[len(want)-1] {
		t.Errorf("lines %d to %d, want %d to %d", first, last, want[0], want[len(want)-1])
	}
}

// What is kept is bounded, and goes through the sanitizer.
func TestKept(t *testing.T) {
	x := small(t)
	text := strings.Repeat("failed calling webhook token=hunter2 no such host "+strings.Repeat("w", 5000)+"\n", 500)
	r, err := x.Read(t.Context(), strings.NewReader(text), func(s string) string { return strings.ReplaceAll(s, "hunter2", "hidden") })
	if err != nil {
		t.Fatal(err)
	}
	m := r.Matches[0]
	if m.Count != 500 || len(m.Lines) > keptLines+1 {
		t.Errorf("%d lines of %d are kept", len(m.Lines), m.Count)
	}
	for _, l := range m.Lines {
		if strings.Contains(l.Text, "hunter2") || len([]rune(l.Text)) > maxText+1 {
			t.Errorf("kept: %.80s… (%d)", l.Text, len(l.Text))
		}
	}
}

// A read that fails returns an error with what was found before.
func TestBrokenRead(t *testing.T) {
	x := small(t)
	in := bufio.NewReader(&failing{text: "failed calling webhook: no such host\n"})
	r, err := x.Read(t.Context(), in, func(s string) string { return s })
	if err == nil || r.Result != Present {
		t.Errorf("%v, %s", err, r.Result)
	}
}

type failing struct{ text string }

func (f *failing) Read(p []byte) (int, error) {
	if f.text == "" {
		return 0, fmt.Errorf("the disk is gone")
	}
	n := copy(p, f.text)
	f.text = f.text[n:]
	return n, nil
}

func TestJoin(t *testing.T) {
	x := small(t)
	r := readText(t, x, "nothing here")
	x.Join(r, []Seen{{Fault: "mcs-refused", Subject: "host/w", Shows: fault.ShowsProven}, {Fault: "node-not-ready", Subject: "host/w"}})
	if r.Result != Present || len(r.Matches) != 1 || len(r.Symptoms) != 1 || !slices.Contains(r.Matches[0].Explains, "node-not-ready") && len(r.Matches[0].Explains) > 0 {
		t.Errorf("%+v", r)
	}
	r = readText(t, x, "failed calling webhook: no such host\nGET result: OK\n")
	if x.Join(r, []Seen{{Fault: "mcs-refused", Shows: fault.ShowsLikely}}); len(r.Matches) != 0 {
		t.Errorf("what has ended is there: %+v", r.Matches)
	}
}

// Foreign bytes never stop the reading, and the numbers of lines fit the text.
func FuzzRead(f *testing.F) {
	x := small(f)
	f.Add([]byte("failed calling webhook\nno such host \x00 \xff GET result: OK"))
	f.Add([]byte(strings.Repeat("failed calling ", 20) + "\nwebhook: no such host"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := x.Read(t.Context(), bytes.NewReader(text), func(s string) string { return s })
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.Count(text, []byte{'\n'})
		if len(text) > 0 && text[len(text)-1] != '\n' {
			lines++
		}
		if r.Lines != lines || r.Bytes != int64(len(text)) {
			t.Errorf("%d lines, %d bytes of %d and %d", r.Lines, r.Bytes, lines, len(text))
		}
		for _, m := range slices.Concat(r.Matches, r.Symptoms, r.Over) {
			for _, l := range m.Lines {
				if l.Number < 1 || l.Number > lines {
					t.Errorf("line %d of %d", l.Number, lines)
				}
			}
		}
	})
}

// An expression means the same on plain lines in lower case as it does without case on them.
func TestPattern(t *testing.T) {
	x := builtIn(t)
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var lines [][]byte
	for _, path := range files {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(raw) {
			lines = append(lines, plainLower(nil, bytes.TrimRight(line, "\n")))
		}
	}
	held := 0
	for _, r := range x.rules {
		for _, expr := range []string{r.Match, r.Unless} {
			if expr == "" {
				continue
			}
			p, err := compile(expr)
			if err != nil {
				t.Fatal(err)
			}
			want := regexp.MustCompile("(?i)" + expr)
			for _, line := range lines {
				if got := p.in(line); got != want.Match(line) {
					t.Errorf("%q on %q: %t", expr, line, got)
				} else if got {
					held++
				}
			}
		}
	}
	if held < 200 {
		t.Errorf("the expressions match %d times in all", held)
	}
}

func TestRequired(t *testing.T) {
	for expr, want := range map[string]string{
		`not found`:                "[[not found]]",
		`a.c`:                      "[]",
		`get (error|failed) after`: "[[get ] [error failed] [ after]]",
		`(abc.*def|ghi)`:           "[[abc ghi] [def ghi]]",
		`(abc)?def+`:               "[]",
		`(abc|)def`:                "[[def]]",
		`(abc)+ (xyz)*`:            "[[abc]]",
		`ABC`:                      "[[abc]]",
	} {
		re, err := syntax.Parse(expr, syntax.Perl|syntax.FoldCase)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(required(re)); got != want {
			t.Errorf("%s: %s, want %s", expr, got, want)
		}
	}
}

// A cause far behind another literal in a very long line is found.
func TestLongLine(t *testing.T) {
	x := builtIn(t)
	for _, n := range []int{0, 100, maxTried, 3 * maxTried} {
		line := "Require at least " + strings.Repeat("x", n) + " No eligible disks were found"
		if got := readText(t, x, "before\n"+line+"\nafter\n"); got.Result != Present || got.Matches[0].Lines[0].Number != 2 {
			t.Errorf("%d bytes between: %+v", n, got)
		}
	}
}

// BenchmarkReadSamples is a log of which every fifth line has a known message.
func BenchmarkReadSamples(b *testing.B) {
	x := builtIn(b)
	line := "Nov 20 03:11:01 worker-3 kubenswrapper[2112]: I1120 03:11:01.123456    2112 reconciler_common.go:245] \"operationExecutor.VerifyControllerAttachedVolume started for volume\" pod=\"openshift-dns/dns-default-x7x2k\"\n"
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		b.Fatal(err)
	}
	var once bytes.Buffer
	for _, path := range files {
		raw, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		for sample := range bytes.Lines(raw) {
			once.Write(sample)
			once.WriteString(strings.Repeat(line, 4))
		}
	}
	text := bytes.Repeat(once.Bytes(), 8<<20/once.Len()+1)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := x.Read(b.Context(), bytes.NewReader(text), func(s string) string { return s }); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRead is a log of a node in which nothing is known, the usual case.
func BenchmarkRead(b *testing.B) {
	x := builtIn(b)
	line := "Nov 20 03:11:01 worker-3 kubenswrapper[2112]: I1120 03:11:01.123456    2112 reconciler_common.go:245] \"operationExecutor.VerifyControllerAttachedVolume started for volume\" pod=\"openshift-dns/dns-default-x7x2k\"\n"
	text := []byte(strings.Repeat(line, 8<<20/len(line)))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := x.Read(b.Context(), bytes.NewReader(text), func(s string) string { return s }); err != nil {
			b.Fatal(err)
		}
	}
}

// A failure without a cause that was not seen for long no longer counts; a cause does.
func TestQuiet(t *testing.T) {
	x := small(t)
	for name, tt := range map[string]struct {
		text  string
		after int
		want  Result
	}{
		"a failure at the end":    {"cannot do it", 500, Unknown},
		"a failure long ago":      {"cannot do it", 501, Absent},
		"a cause long ago":        {"failed calling webhook: no such host", 5000, Present},
		"a possible one long ago": {"certificate has expired or is not yet valid", 501, Absent},
	} {
		if r := readText(t, x, tt.text+"\n"+strings.Repeat("all is well\n", tt.after)); r.Result != tt.want {
			t.Errorf("%s: %s, want %s", name, r.Result, tt.want)
		}
	}
}

// A line is made plain by one pass, or by several that are slower and simple.
func FuzzPlainLower(f *testing.F) {
	for _, line := range []string{"", "Plain  TEXT of A line", "  a tab\tand  blanks ", `say \"it\" or \\\"it\\\", C:\new\table, it\'s \ \`, "@AZ[`az{ Umlaut \u00c4 \u00a0 x",
		"\x1b[1mbold\x1b[0m text", "eight ch! !ars  end", `\n  at the begin\t \t and the end \n`, "\x7f\x00a"} {
		f.Add([]byte(line))
	}
	scratch := []byte("from before, and longer than most of the lines")
	f.Fuzz(func(t *testing.T, line []byte) {
		if got, want := string(plainLower(scratch, line)), strings.ToLower(plain(string(line))); got != want {
			t.Errorf("plainLower(%q) = %q, want %q", line, got, want)
		}
	})
}
