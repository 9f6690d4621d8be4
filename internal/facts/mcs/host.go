package mcs

import (
	"context"

	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// HostIgnition reads what a host's console says of Ignition, as the fact
// host-ignition does.
func HostIgnition(ctx context.Context, w *facts.World, name string) (Ignition, error) {
	return readIgnition(ctx, w, fault.Subject{Kind: fault.Host, Name: name})
}
