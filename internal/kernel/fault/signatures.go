package fault

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/rollcall-project/rollcall/internal/scan"
)

// Signatures are the messages that facts read, by their ids. Where a text has quotes, it is also
// found as an encoder writes it.
func (c *Catalog) Signatures() (*scan.Set, error) {
	var list []scan.Signature
	for _, file := range c.Messages {
		for _, m := range file.Messages {
			if m.ID == "" {
				continue
			}
			sig := scan.Signature{ID: m.ID, Literal: strings.ToLower(m.Text)}
			if m.Read != "" {
				var err error
				if sig.Pattern, err = regexp.Compile("(?i)" + m.Read); err != nil {
					return nil, fmt.Errorf("compile message %s: %w", m.ID, err)
				}
			}
			list = append(list, sig)
			if strings.Contains(sig.Literal, `"`) {
				sig.Literal = strings.ReplaceAll(sig.Literal, `"`, `\"`)
				list = append(list, sig)
			}
		}
	}
	return scan.Compile(list)
}
