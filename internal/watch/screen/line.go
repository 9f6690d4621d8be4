package screen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/rollcall-project/rollcall/internal/follow"
	"github.com/rollcall-project/rollcall/internal/page"
)

// Line writes an event as one line: its time and its sentence.
func Line(w io.Writer, e follow.Event, s page.Style) error {
	return page.Write(w, page.Clock(e.Time)+"  "+s.Clean(e.Text)+"\n")
}

// JSON writes an event as one line of JSON (docs/schema/watch.v1alpha1.json).
func JSON(w io.Writer, e follow.Event) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return fmt.Errorf("encode a change as JSON: %w", err)
	}
	return page.Write(w, b.String())
}
