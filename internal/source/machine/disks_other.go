//go:build !linux

package machine

import (
	"context"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

func (s *Source) disks(context.Context) (part, error) {
	return part{}, s.copied(evidence.HostDisks)
}
