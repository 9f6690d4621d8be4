package reader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rollcall-project/rollcall/internal/backlog"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/scan"
)

// skimCases are texts in which what stands around a line decides what is said of it.
var skimCases = []string{
	"nothing\nneedle one\nnothing\nNEEDLE two\n",
	"-----BEGIN RSA PRIVATE KEY-----\nneedle in a key\nneedle\n-----END RSA PRIVATE KEY-----\nneedle behind\n",
	"password:\nneedle-hunter2needle\nneedle\n",
	"token: |\n  needle-aB3xY9\n  needle-aB3xY8\nneedle: 1\n",
	"needle pin\npassword: >-\n  needle hunter2\nneedle",
	"only " + "needle" + strings.Repeat("x", 300) + " cut\nneedle\n",
	"\n\n\nneedle\r\n",
	"needle token=\nneedle-aB3xY9zzzzzzzzz\n",
}

// TestSkimmedIsWhole proves that a Reader finds the same in the lines that a Skimmer
// keeps and in the whole text.
func TestSkimmedIsWhole(t *testing.T) {
	for i, text := range skimCases {
		t.Run(fmt.Sprint(i), func(t *testing.T) { sameSkimmed(t, []byte(text)) })
	}
}

func FuzzSkim(f *testing.F) {
	for _, text := range skimCases {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { sameSkimmed(t, raw) })
}

func sameSkimmed(t *testing.T, raw []byte) {
	t.Helper()
	set, err := scan.Compile([]scan.Signature{{ID: "a", Literal: "needle"}, {ID: "b", Literal: "pin"}})
	if err != nil {
		t.Fatal(err)
	}
	limits := Limits{LineBytes: 128, TextBytes: 2000}
	clean := newSanitizerOf(t)
	k := NewSkimmer(set, clean, limits)
	skimmed := &evidence.Skimmed{By: k, Each: func(yield func(int, []byte) error) error {
		return k.Skim(bytes.NewReader(raw), yield)
	}}
	open := func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(raw)), nil }
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	read := func(text evidence.Text) (map[string][]evidence.Match, string) {
		r := New(set, clean, nil, limits)
		found, err := r.readText(t.Context(), evidence.Texts(evidence.TextQuery{}), 0, text, now)
		if err != nil {
			if u := errors.Unwrap(err); u != nil {
				err = u
			}
			return found, err.Error()
		}
		return found, ""
	}
	whole, endWhole := read(evidence.Text{Open: open})
	skim, endSkim := read(evidence.Text{Open: open, Skimmed: skimmed})
	if diff := cmp.Diff(whole, skim, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(evidence.Text{}, "Open", "Skimmed")); diff != "" {
		t.Errorf("skimmed differs from the whole text (-whole +skimmed):\n%s", diff)
	}
	if (endWhole == "") != (endSkim == "") {
		t.Errorf("the whole text ended with %q, skimmed with %q", endWhole, endSkim)
	}
}

// TestSkimmedIsNotForOthers proves that a Reader with other signatures, or one that
// records, reads the whole text.
func TestSkimmedIsNotForOthers(t *testing.T) {
	one, err := scan.Compile([]scan.Signature{{ID: "a", Literal: "needle"}})
	if err != nil {
		t.Fatal(err)
	}
	two, err := scan.Compile([]scan.Signature{{ID: "b", Literal: "other"}})
	if err != nil {
		t.Fatal(err)
	}
	clean := newSanitizerOf(t)
	s := &evidence.Skimmed{By: NewSkimmer(one, clean, Limits{})}
	if !serves(s, New(one, clean, nil, Limits{})) {
		t.Error("lines for this reader do not serve it")
	}
	for why, r := range map[string]*Reader{
		"other signatures": New(two, clean, nil, Limits{}),
		"other limits":     New(one, clean, nil, Limits{LineBytes: 99}),
		"a recorder":       New(one, clean, noRecord{}, Limits{}),
	} {
		if serves(s, r) {
			t.Errorf("lines for another reader serve one with %s", why)
		}
	}
}

type noRecord struct{ Recorder }

// TestSkimLong: behind more lines than may wait those that are kept have their numbers, and what is behind the last
// line with a signature is not kept.
func TestSkimLong(t *testing.T) {
	set, err := scan.Compile([]scan.Signature{{ID: "a", Literal: "needle"}})
	if err != nil {
		t.Fatal(err)
	}
	filler := strings.Repeat("nothing ", 1<<14) + "\n"
	const before = 3 * backlog.Max / (8 << 14)
	text := "password:\n" + strings.Repeat(filler, before) + "token: |\n" + filler + "needle\npassword:\n"
	var kept []string
	err = NewSkimmer(set, newSanitizerOf(t), Limits{}).Skim(strings.NewReader(text), func(n int, line []byte) error {
		kept = append(kept, fmt.Sprint(n, " ", string(line[:min(len(line), 12)])))
		return nil
	})
	want := []string{"1 password:", "2 nothing noth", fmt.Sprint(before+2, " token: |"), fmt.Sprint(before+3, " nothing noth"), fmt.Sprint(before+4, " needle")}
	if diff := cmp.Diff(want, kept); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}
