// Package provider is what makes machines for a run of workers, and the language in which
// programs do it (rollcall-provider-NAME).
//
// Invariants:
//   - Each call may come again after it was interrupted, and then finds what it did before
//     by the marks of the run: no answer that was lost makes a second machine.
//   - What does not have the marks of the run is somebody else's and stays as it is.
//   - User-data and consoles are secrets: user-data goes to Create only, and no error,
//     argument or log has a part of either.
package provider

import (
	"context"
	"errors"
)

// Provider makes machines and takes them away.
type Provider interface {
	// Create makes the machine with its user-data, or returns the one that this run made
	// before. Something else instead is an error, and stays as it is.
	Create(ctx context.Context, o Order, userData []byte) (Machine, error)
	// Find returns the machine that this run made; ErrNone if there is none.
	Find(ctx context.Context, o Order) (Machine, error)
	// Clean removes the user-data from where Create put it, as far as the machine does not
	// need it. That nothing is there is no error.
	Clean(ctx context.Context, o Order) error
	// Delete takes away the machine that this run made. That nothing is there is no error.
	Delete(ctx context.Context, o Order) error
}

// Checker is a provider that knows before the first machine what could stand in its way.
type Checker interface {
	// Check changes nothing. order.Worker is empty: it is about all of the workers.
	Check(ctx context.Context, o Order, workers []Worker) ([]Check, error)
}

// Screen is a provider that has what a machine shows on its console.
type Screen interface {
	// Console returns the newest part of it, which may hold secrets: Ignition prints the
	// whole config when a later stage fails (coreos/ignition:internal/exec/engine.go Run).
	// ErrNone where the run has made no such machine.
	Console(ctx context.Context, o Order) ([]byte, error)
}

// ErrNone says that the run has made no such machine.
var ErrNone = errors.New("the run has made no such machine")

// Worker is one machine of a plan. Names and addresses that are known beforehand are a
// person's word; a provider that makes the machine adds what it gave it.
type Worker struct {
	Name string   `json:"name"`          // of the machine and of the Node
	IPs  []string `json:"ips,omitempty"` // that its serving certificate may have
	DNS  []string `json:"dns,omitempty"` // further names of its serving certificate
}

// Order is one machine that a run wants, with the marks that the provider puts on it.
type Order struct {
	Run      string            `json:"run"`
	Hosted   string            `json:"hosted"`
	NodePool string            `json:"nodePool"`
	Worker   Worker            `json:"worker"`
	Index    int               `json:"index"`            // of the worker in the plan, from 0: spreads workers over zones
	Attempt  int               `json:"attempt"`          // how often this run has begun to make it, from 1
	ID       string            `json:"id,omitempty"`     // what the provider called it, where that is known
	Digest   string            `json:"digest,omitempty"` // of the user-data
	Image    Image             `json:"image,omitzero"`   // the boot image of the release
	Options  map[string]string `json:"options,omitempty"`
}

// Image is a boot image as the release's stream names it, for one architecture.
type Image struct {
	Release string `json:"release,omitempty"` // of RHCOS
	Project string `json:"project,omitempty"` // of Google Cloud
	Name    string `json:"name,omitempty"`    // of Google Cloud
	ISO     string `json:"iso,omitempty"`     // URL of the live ISO
	Digest  string `json:"digest,omitempty"`  // SHA-256 of the ISO, in hex
}

// Machine is what a provider made.
type Machine struct {
	ID   string   `json:"id,omitempty"`   // the provider's name for it
	IPs  []string `json:"ips,omitempty"`  // of its network interfaces, as the provider gave them
	DNS  []string `json:"dns,omitempty"`  // names that the provider gave it
	Next string   `json:"next,omitempty"` // what a person has to do now, "" where nothing
}

// Outcome is how a check ended.
type Outcome string

// The outcomes of a check.
const (
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"  // nothing can be made
	Warning Outcome = "warning" // it can be made, and something is not as it should be
	Unknown Outcome = "unknown" // it was not checked; the text has the reason
)

// Check is one line of what a provider checked.
type Check struct {
	Outcome Outcome `json:"outcome"`
	Text    string  `json:"text"`
}
