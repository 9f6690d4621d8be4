package worker

import (
	"context"
	"errors"
)

// Provider makes machines and takes them away. Each call may come again after it was
// interrupted, and then finds what it did before by the marks of the run.
type Provider interface {
	// Create makes the machine with its user-data, or returns the one that this run made
	// before. Something else instead is an error, and stays as it is.
	Create(ctx context.Context, o Order, userData []byte) (Machine, error)
	// Find returns the machine that this run made; ErrNone where there is none.
	Find(ctx context.Context, o Order) (Machine, error)
	// Clean removes the user-data from where Create put it, as far as the machine does not
	// need it. That nothing is there is no error.
	Clean(ctx context.Context, o Order) error
	// Delete takes away the machine that this run made. That nothing is there is no error.
	Delete(ctx context.Context, o Order) error
}

// ErrNone says that the run has made no such machine.
var ErrNone = errors.New("the run has made no such machine")

// Order is one machine that a run wants, with the marks that the provider puts on it.
type Order struct {
	Run      string            `json:"run"`
	Hosted   string            `json:"hosted"`
	NodePool string            `json:"nodePool"`
	Worker   Worker            `json:"worker"`
	ID       string            `json:"id,omitempty"`     // what the provider called it, where that is known
	Digest   string            `json:"digest,omitempty"` // of the user-data
	Options  map[string]string `json:"options,omitempty"`
}

// Machine is what a provider made.
type Machine struct {
	ID   string   `json:"id,omitempty"`   // the provider's name for it
	IPs  []string `json:"ips,omitempty"`  // of its network interfaces, as the provider gave them
	DNS  []string `json:"dns,omitempty"`  // names that the provider gave it
	Next string   `json:"next,omitempty"` // what a person has to do now, "" where nothing
}
