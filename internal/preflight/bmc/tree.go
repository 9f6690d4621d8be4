package bmc

import (
	"context"
	"encoding/hex"
	"math"
	"path"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/wire"
)

// The most members of one collection that are read. A server with more disks exists, and
// is then not read whole.
const (
	maxMembers = 64
	maxPages   = 4
)

// node is a resource that was read.
type node map[string]any

func (n node) text(path ...string) string { return wire.Clip(evidence.String(n, path...)) }

func (n node) number(path ...string) int64 {
	f, ok := evidence.Field(n, path...).(float64)
	if !ok || math.Abs(f) > 1<<53 {
		return 0
	}
	return int64(f)
}

// count is a number that fits an int and is not negative.
func (n node) count(path ...string) int {
	return int(max(0, min(n.number(path...), 1<<30)))
}

func (n node) yes(path ...string) bool {
	v, _ := evidence.Field(n, path...).(bool)
	return v
}

func (n node) list(path ...string) []any {
	v, _ := evidence.Field(n, path...).([]any)
	return v
}

func (n node) texts(path ...string) []string {
	var out []string
	for _, v := range n.list(path...) {
		if s, ok := v.(string); ok && len(out) < maxMembers {
			out = append(out, wire.Clip(s))
		}
	}
	return out
}

func (n node) sub(path ...string) node {
	v, _ := evidence.Field(n, path...).(map[string]any)
	return v
}

// link is the path of a resource that a property refers to, "" where there is none.
func (n node) link(path ...string) string {
	return evidence.String(n, append(path, "@odata.id")...)
}

// links are the paths of a list of references.
func (n node) links(path ...string) []string {
	var out []string
	for _, v := range n.list(path...) {
		m, _ := v.(map[string]any)
		if id := evidence.String(m, "@odata.id"); id != "" {
			out = append(out, id)
		}
	}
	return out
}

func (c *client) node(ctx context.Context, path string) (node, *problem) {
	m, p := c.get(ctx, path)
	return m, p
}

// members returns the paths of a collection.
func (c *client) members(ctx context.Context, collection string) ([]string, *problem) {
	var out []string
	for range maxPages {
		n, p := c.node(ctx, collection)
		if p != nil {
			return nil, p
		}
		out = append(out, n.links("Members")...)
		if len(out) > maxMembers {
			return nil, &problem{failure: TooLarge, detail: "a collection with more members than are read"}
		}
		if collection = evidence.String(n, "Members@odata.nextLink"); collection == "" {
			return out, nil
		}
	}
	return nil, &problem{failure: TooLarge, detail: "a collection with more pages than are read"}
}

// all reads the members of a collection. One that is gone is passed over.
func (c *client) all(ctx context.Context, collection string) ([]node, *problem) {
	list, p := c.members(ctx, collection)
	if p != nil {
		return nil, p
	}
	return c.each(ctx, list)
}

func (c *client) each(ctx context.Context, list []string) ([]node, *problem) {
	var out []node
	for _, member := range list {
		n, p := c.node(ctx, member)
		if p != nil && p.failure == Absent {
			continue
		}
		if p != nil {
			return nil, p
		}
		out = append(out, n)
	}
	return out, nil
}

// id is the resource's Id, or the last part of its path.
func (n node) id() string {
	if v := n.text("Id"); v != "" {
		return v
	}
	return wire.Clip(path.Base(evidence.String(n, "@odata.id")))
}

// MAC is a MAC address in one spelling, "" for what is none. HPE writes some as EUI-64,
// with ff:ff or ff:fe in the middle.
func MAC(text string) string {
	digits := strings.ToLower(strings.NewReplacer(":", "", "-", "", ".", "").Replace(strings.TrimSpace(text)))
	if len(digits) == 16 && (digits[6:10] == "ffff" || digits[6:10] == "fffe") {
		digits = digits[:6] + digits[10:]
	}
	raw, err := hex.DecodeString(digits)
	if err != nil || len(raw) != 6 || digits == "000000000000" || digits == "ffffffffffff" {
		return ""
	}
	var parts []string
	for i := 0; i < 12; i += 2 {
		parts = append(parts, digits[i:i+2])
	}
	return strings.Join(parts, ":")
}
