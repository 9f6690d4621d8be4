package message

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/rollcall-project/rollcall/internal/crash"
	"github.com/rollcall-project/rollcall/internal/text/logline"
)

const (
	blockSize = 1 << 20
	maxPaste  = 4 << 20 // inputs up to this size may have been wrapped by whoever pasted them
	narrowest = 60      // columns at which somebody wraps
	widest    = 260
)

// hit is a rule that holds on a line.
type hit struct {
	rule int
	line int // 1-based
	text string
	from origin
}

// found is what one block shows.
type found struct {
	hits  []hit
	with  []int // rules of which a With literal was met
	lines int
	bytes int64
	// written: it has a character that is no white space.
	written bool

	without []int // rules of which a Without literal was met

	tells []tell // signals of causes that were met

	errors map[string]*errorForm
	hints  []Line // see hint
	hinted int

	terraform bool // openshift-install reports what Terraform says

	states []state // what rows of tables and conditions show
	view   hostView
	marks  []mark

	modes    []fileMode
	release3 bool // a program of OpenShift 3 writes in it
	whole    bool // it is the whole text

	reports       []Line // the first lines that their programs call errors and no message knows
	reportedLines int    // how many such lines it has

	certificates []certificate
	clocks       []clock
	facts        []pageFact // what explains failures
	subject      Line       // the common name that was met last, until it is used
}

// Read scans a text. Lines that are kept go through clean, which takes secrets out of them.
// It returns what was found until an error, and the error.
func (x *Index) Read(ctx context.Context, in io.Reader, clean func(string) string) (*Report, error) {
	c := newCollector(x, clean)
	head := make([]byte, maxPaste+1)
	n, err := io.ReadFull(in, head)
	head = head[:n]
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	switch {
	case err != nil:
		err = fmt.Errorf("read text: %w", err)
		fallthrough
	case len(head) <= maxPaste:
		c.system, c.setting = systemOf(head), settingOf(head)
		c.openShift = c.system == "" && ofOpenShift.Match(head)
		f := x.block(head)
		x.rewritten(head, &f)
		f.dropWrappers(x)
		f.whole = true
		x.judge(head, &f)
		c.add(f)
	default:
		c.openShift = true // nothing is said of a text that is not looked at whole
		c.setting = settingOf(head)
		err = x.blocks(ctx, io.MultiReader(bytes.NewReader(head), in), func(f found) { c.add(f) })
	}
	return c.report(), err
}

// blocks cuts a text into blocks of whole lines, scans some at a time and hands what they
// show on in order.
func (x *Index) blocks(ctx context.Context, in io.Reader, take func(found)) error {
	workers := runtime.GOMAXPROCS(0)
	type job struct {
		block []byte
		out   chan found
	}
	jobs := make(chan job)
	order := make(chan chan found, workers)
	pool := sync.Pool{New: func() any { b := make([]byte, 0, blockSize+blockSize/4); return &b }}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(crash.Func(func() {
			for j := range jobs {
				f := x.block(j.block)
				f.dropWrappers(x)
				x.judge(j.block, &f)
				j.out <- f
				pool.Put(&j.block)
			}
		}))
	}
	done := make(chan struct{})
	go crash.Func(func() {
		defer close(done)
		for out := range order {
			take(<-out)
		}
	})()
	var read int64
	err := cut(ctx, in, func() []byte { return (*pool.Get().(*[]byte))[:0] }, func(b []byte) {
		read += int64(len(b))
		j := job{b, make(chan found, 1)}
		order <- j.out
		jobs <- j
	})
	close(jobs)
	close(order)
	wg.Wait()
	<-done
	return err
}

// cut reads blocks that end with a line. A line longer than a block is cut.
func cut(ctx context.Context, in io.Reader, fresh func() []byte, use func([]byte)) error {
	block := fresh()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		at := len(block)
		block = slices.Grow(block, blockSize)[:at+blockSize]
		n, err := io.ReadFull(in, block[at:])
		block = block[:at+n]
		if err != nil {
			if len(block) > 0 {
				use(block)
			}
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return nil
			}
			return fmt.Errorf("read text: %w", err)
		}
		end := bytes.LastIndexByte(block, '\n') + 1
		if end == 0 {
			end = len(block)
		}
		rest := append(fresh(), block[end:]...)
		use(block[:end])
		block = rest
	}
}

// block scans one block. Its line numbers begin with 1.
func (x *Index) block(b []byte) found {
	f := found{bytes: int64(len(b)), lines: bytes.Count(b, []byte{'\n'}), written: len(bytes.TrimSpace(b)) > 0}
	if len(b) > 0 && b[len(b)-1] != '\n' {
		f.lines++
	}
	var met []int
	lineStart, lineEnd, tried, counted, number := -1, -1, -1, 0, 1
	var line, scratch []byte
	flush := func() {
		if len(met) == 0 {
			return
		}
		slices.Sort(met)
		met = slices.Compact(met)
		number += bytes.Count(b[counted:lineStart], []byte{'\n'})
		counted = lineStart
		if slices.ContainsFunc(met, func(i int) bool { return x.rules[i].Text == newStatusWords }) {
			f.newStatus(number, line)
		}
		if rules := x.hits(line, met, &scratch); len(rules) > 0 {
			text, from := string(line), originOf(logline.Parse(line))
			if slices.ContainsFunc(rules, x.isStep) {
				text = sentence(line, b[lineEnd:])
			}
			reports := nodeReports(line)
			for _, r := range rules {
				if f.addReports(&x.rules[r], hit{r, number, "", from}, reports) {
					continue
				}
				if from := from; x.rules[r].of == byPod {
					from.row = podIn(line, b[lineEnd:])
					f.hits = append(f.hits, hit{r, number, text, from})
					continue
				}
				f.hits = append(f.hits, hit{r, number, text, from})
			}
		}
		met = met[:0]
	}
	x.set.Positions(b, func(signature, end int) bool {
		l := x.literals[signature]
		if l.without {
			if !slices.Contains(f.without, l.rule) {
				f.without = append(f.without, l.rule)
			}
			return true
		}
		if l.cause > 0 {
			if t := (tell{l.rule, l.cause - 1}); !slices.Contains(f.tells, t) {
				f.tells = append(f.tells, t)
			}
			return true
		}
		if l.with {
			if !slices.Contains(f.with, l.rule) {
				f.with = append(f.with, l.rule)
			}
			return true
		}
		if end-1 >= lineEnd || end > tried { // another line, or far behind in a very long one
			flush()
			line, lineStart = lineAt(b, end-1)
			lineEnd = lineStart + len(line)
			line, tried = window(line, end-1-lineStart)
			tried += lineStart
		}
		met = append(met, l.rule)
		return true
	})
	flush()
	return f
}

// rewritten looks for literals that do not stand in a line as their program wrote them: a
// terminal or a mail program has wrapped the line, colored it, quoted it or aligned it.
func (x *Index) rewritten(b []byte, f *found) {
	var last []byte
	number, end := 0, 0
	for line := range bytes.Lines(b) {
		number++
		end += len(line)
		line = bytes.TrimRight(line, "\r\n")
		if len(last) >= narrowest && len(last) <= widest && len(line) > 0 && !beginsRecord(last, line) {
			for _, between := range []string{"", " "} {
				x.again(string(last)+between+string(bytes.TrimLeft(line, " \t>"))+folded(line, b[end:]), number-1, number, f)
			}
		}
		if len(line) <= maxTried {
			if text := strings.TrimLeft(plain(string(line)), "> "); text != string(line) {
				x.again(text, number, number, f)
			}
		}
		last = line
	}
}

// beginsRecord reports whether a line is one of its own and not the rest of last, which a
// terminal wrapped: it has a header of its own, or says that it is an error, or it is the next row of a table, with blanks
// between its columns or with bars as in Markdown.
func beginsRecord(last, line []byte) bool {
	inBars := bytes.HasPrefix(line, []byte("|")) && bytes.HasSuffix(bytes.TrimRight(last, " "), []byte("|"))
	if l := logline.Parse(line); inBars || l.Form == logline.Log || l.Level >= logline.Error {
		return true
	}
	for i := 2; i < min(len(last), len(line)); i++ {
		if columnAt(last, i) && columnAt(line, i) {
			return true
		}
	}
	return false
}

// columnAt reports whether a cell of a table begins at a position: behind 2 blanks or more.
func columnAt(line []byte, i int) bool {
	return line[i] != ' ' && line[i-1] == ' ' && line[i-2] == ' ' && len(bytes.TrimSpace(line[:i])) > 0
}

// again tries a text that stands in the lines from first to last in another form: joined,
// or without what a terminal adds within a literal.
func (x *Index) again(text string, first, last int, f *found) {
	var met []int
	x.set.Positions([]byte(text), func(signature, _ int) bool {
		if l := x.literals[signature]; !l.with && !l.without && l.cause == 0 && !slices.Contains(met, l.rule) {
			met = append(met, l.rule)
		}
		return true
	})
	if len(met) == 0 {
		return
	}
	reports := nodeReports([]byte(text))
	for _, r := range x.hits([]byte(text), met, new([]byte)) {
		known := func(h hit) bool { return h.rule == r && h.line >= first && h.line <= last }
		if !slices.ContainsFunc(f.hits, known) && !f.addReports(&x.rules[r], hit{r, first, "", origin{}}, reports) {
			f.hits = append(f.hits, hit{r, first, text, originOf(logline.Parse([]byte(text)))})
		}
	}
}
