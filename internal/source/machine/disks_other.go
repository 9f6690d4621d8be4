//go:build !linux

package machine

import (
	"context"

	"github.com/rollcall-project/rollcall/internal/evidence"
)

func (s *Source) disks(context.Context) (part, error) {
	return part{}, s.copied(evidence.HostDisks)
}
