package provider

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/sanitize"
)

// Prefix is how programs are called that make machines somewhere: --provider gcp is the
// program rollcall-provider-gcp on the PATH.
const Prefix = "rollcall-provider-"

// Program is a provider in a program of its own, so that what it links does not weigh on
// this one. For each call it is started once, with a Request as JSON on standard input, and
// answers with a Response on standard output. User-data comes on standard input only.
type Program struct{ Path string }

var (
	_ Provider = Program{}
	_ Checker  = Program{}
	_ Screen   = Program{}
)

// version is the version of the requests and responses.
const version = "rollcall.dev/provider/v1alpha1"

// The operations of a program, as Provider, Checker and Screen have them.
const (
	opCreate  = "create"
	opFind    = "find"
	opClean   = "clean"
	opDelete  = "delete"
	opCheck   = "check"
	opConsole = "console"
)

// request is what a program is asked for.
type request struct {
	APIVersion string   `json:"apiVersion"`
	Op         string   `json:"op"`
	Order      Order    `json:"order"`
	UserData   []byte   `json:"userData,omitempty"` // of create only: a secret
	Workers    []Worker `json:"workers,omitempty"`  // of check only
}

// Response is a program's answer.
type Response struct {
	APIVersion  string  `json:"apiVersion"`
	Machine     Machine `json:"machine"`
	None        bool    `json:"none,omitempty"`        // of find and console: the run has made no such machine
	Unsupported bool    `json:"unsupported,omitempty"` // of check and console: the program has no such operation
	Checks      []Check `json:"checks,omitempty"`      // of check
	Console     []byte  `json:"console,omitempty"`     // of console: a secret
	Error       string  `json:"error,omitempty"`       // why it failed, without a secret
}

// Bounds of one call.
const (
	programTimeout = 10 * time.Minute
	maxResponse    = 2 << 20
	maxComplaint   = 2 << 10
	// maxConsole is how much of a console a program returns: the newest part.
	maxConsole = 1 << 20
)

// Create implements Provider.
func (p Program) Create(ctx context.Context, o Order, userData []byte) (Machine, error) {
	r, err := p.call(ctx, request{Op: opCreate, Order: o, UserData: userData})
	return r.Machine, err
}

// Find implements Provider.
func (p Program) Find(ctx context.Context, o Order) (Machine, error) {
	r, err := p.call(ctx, request{Op: opFind, Order: o})
	if err == nil && r.None {
		err = ErrNone
	}
	return r.Machine, err
}

// Check implements Checker.
func (p Program) Check(ctx context.Context, o Order, workers []Worker) ([]Check, error) {
	r, err := p.call(ctx, request{Op: opCheck, Order: o, Workers: workers})
	if err == nil && r.Unsupported {
		err = errors.ErrUnsupported
	}
	return r.Checks, err
}

// Console implements Screen.
func (p Program) Console(ctx context.Context, o Order) ([]byte, error) {
	r, err := p.call(ctx, request{Op: opConsole, Order: o})
	switch {
	case err == nil && r.Unsupported:
		err = errors.ErrUnsupported
	case err == nil && r.None:
		err = ErrNone
	}
	return r.Console, err
}

// Clean implements Provider.
func (p Program) Clean(ctx context.Context, o Order) error {
	_, err := p.call(ctx, request{Op: opClean, Order: o})
	return err
}

// Delete implements Provider.
func (p Program) Delete(ctx context.Context, o Order) error {
	_, err := p.call(ctx, request{Op: opDelete, Order: o})
	return err
}

func (p Program) call(ctx context.Context, r request) (Response, error) {
	ctx, cancel := context.WithTimeout(ctx, programTimeout)
	defer cancel()
	r.APIVersion = version
	in, err := json.Marshal(r)
	if err != nil {
		return Response{}, fmt.Errorf("encode request: %w", err)
	}
	out, complaint := bounded{most: maxResponse, strict: true}, bounded{most: maxComplaint}
	cmd := exec.CommandContext(ctx, p.Path)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = bytes.NewReader(in), &out, &complaint, 5*time.Second
	fail := func(why string) (Response, error) {
		if text := strings.TrimSpace(complaint.String()); text != "" {
			why += ": " + hide(text, r.UserData)
		}
		return Response{}, fmt.Errorf("%s %s of %s: %s", p.Path, r.Op, r.Order.Worker.Name, why)
	}
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return fail(err.Error())
	}
	var response Response
	if out.cut || json.Unmarshal(out.Bytes(), &response) != nil || response.APIVersion != version {
		return fail("its answer is not a response of " + version)
	}
	if response.Error != "" {
		return fail(hide(response.Error, r.UserData))
	}
	return response, nil
}

// hide leaves out what a program repeats of the user-data: any run of it that is long enough to hold a
// token, plain or as it was sent, and its secrets in all forms of sanitize.Known. A program has credentials of its own,
// and its libraries quote them: what else is a secret is replaced.
func hide(text string, secret []byte) string {
	const run = 16
	const hidden = "its words repeat the user-data and are not shown"
	if len(text) > maxComplaint {
		text = strings.ToValidUTF8(text[:maxComplaint], "")
	}
	forms := [][]byte{secret, []byte(base64.StdEncoding.EncodeToString(secret))}
	for i := 0; i+run <= len(text); i++ {
		for _, form := range forms {
			if bytes.Contains(form, []byte(text[i:i+run])) {
				return hidden
			}
		}
	}
	clean, err := sanitize.New()
	if err != nil {
		return "its words are not shown: " + err.Error()
	}
	var known sanitize.Known
	known.AddUserData(clean, secret)
	if known.In(text) || known.In(sanitize.Plain(text)) {
		return hidden
	}
	return clean.Message(text)
}

// bounded keeps the first bytes of what a program writes. A strict one ends the program
// that writes more.
type bounded struct {
	bytes.Buffer
	most        int
	cut, strict bool
}

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if room := b.most - b.Len(); len(p) > room {
		b.cut = true
		b.Buffer.Write(p[:max(room, 0)])
		if b.strict {
			return 0, fmt.Errorf("more than %d bytes", b.most)
		}
		return len(p), nil
	}
	return b.Buffer.Write(p)
}
