// Command rollcall-provider-lab makes the machines of `rollcall worker --provider lab`: hosts of
// a running lab, which boot through the real Ignition. It speaks the language of
// docs/workers.md, "A provider of your own", and knows nothing else of the tool.
//
// Options: dir=DIR, the lab's directory; guestN=TROUBLE, what is wrong with that machine or
// with the network that it is in (see troubles).
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
)

const version = "rollcall.dev/provider/v1alpha1"

type request struct {
	APIVersion string   `json:"apiVersion"`
	Op         string   `json:"op"`
	Order      order    `json:"order"`
	UserData   []byte   `json:"userData"`
	Workers    []worker `json:"workers"`
}

type order struct {
	Run      string            `json:"run"`
	Hosted   string            `json:"hosted"`
	NodePool string            `json:"nodePool"`
	Worker   worker            `json:"worker"`
	Attempt  int               `json:"attempt"`
	Options  map[string]string `json:"options"`
}

type worker struct {
	Name string `json:"name"`
}

type response struct {
	APIVersion  string  `json:"apiVersion"`
	Machine     machine `json:"machine"`
	None        bool    `json:"none,omitempty"`
	Unsupported bool    `json:"unsupported,omitempty"`
	Checks      []check `json:"checks,omitempty"`
	Console     []byte  `json:"console,omitempty"`
	Error       string  `json:"error,omitempty"`
}

type machine struct {
	ID  string   `json:"id,omitempty"`
	IPs []string `json:"ips,omitempty"`
}

type check struct {
	Outcome string `json:"outcome"`
	Text    string `json:"text"`
}

// errNone says that the run has made no such machine.
var errNone = errors.New("no such machine")

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := serve(ctx, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, in io.Reader, out io.Writer) error {
	var r request
	if err := json.NewDecoder(io.LimitReader(in, 4<<20)).Decode(&r); err != nil || r.APIVersion != version {
		return fmt.Errorf("standard input is no request of %s", version)
	}
	answer, err := do(ctx, r)
	answer.APIVersion = version
	switch {
	case errors.Is(err, errNone):
		answer.None = true
	case errors.Is(err, errors.ErrUnsupported):
		answer.Unsupported = true
	case err != nil:
		answer.Error = err.Error()
	}
	return json.NewEncoder(out).Encode(answer)
}

func do(ctx context.Context, r request) (response, error) {
	var answer response
	g, err := openGuest(r.Order)
	if err != nil {
		return answer, err
	}
	switch r.Op {
	case "check":
		answer.Checks = g.check(r.Workers)
	case "create":
		answer.Machine, err = g.create(ctx, r.UserData)
	case "find":
		answer.Machine, err = g.find()
	case "console":
		answer.Console, err = g.console()
	case "clean":
		err = g.clean()
	case "delete":
		err = g.remove(ctx)
	default:
		err = errors.ErrUnsupported
	}
	return answer, err
}
