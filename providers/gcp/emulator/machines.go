package emulator

import (
	"context"
	"errors"

	"github.com/rollcall-project/rollcall/internal/workers/provider"
)

// Machines are the computers behind the instances.
type Machines interface {
	// Start boots one with its user-data, and returns its address.
	Start(ctx context.Context, name string, userData []byte) (ip string, err error)
	// Stop is its end.
	Stop(ctx context.Context, name string) error
	// Forget takes its user-data from where the machine reads it.
	Forget(ctx context.Context, name string) error
	// Console is the newest part of what it has shown.
	Console(ctx context.Context, name string) ([]byte, error)
}

// Providers has the machines of another provider, such as those of a lab.
type Providers struct {
	By interface {
		provider.Provider
		provider.Screen
	}
	Options map[string]string
}

var _ Machines = (*Providers)(nil)

func (m *Providers) order(name string) provider.Order {
	return provider.Order{Run: "w-00000000ee", Hosted: "emulated/gcp", NodePool: "gcp", Worker: provider.Worker{Name: name}, Attempt: 1, Options: m.Options}
}

// Start implements Machines.
func (m *Providers) Start(ctx context.Context, name string, userData []byte) (string, error) {
	made, err := m.By.Create(ctx, m.order(name), userData)
	if err != nil || len(made.IPs) == 0 {
		return "", err
	}
	return made.IPs[0], nil
}

// Stop implements Machines.
func (m *Providers) Stop(ctx context.Context, name string) error {
	return m.By.Delete(ctx, m.order(name))
}

// Forget implements Machines.
func (m *Providers) Forget(ctx context.Context, name string) error {
	return m.By.Clean(ctx, m.order(name))
}

// Console implements Machines.
func (m *Providers) Console(ctx context.Context, name string) ([]byte, error) {
	text, err := m.By.Console(ctx, m.order(name))
	if errors.Is(err, provider.ErrNone) {
		return nil, nil // it has not begun to boot
	}
	return text, err
}
