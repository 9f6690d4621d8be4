package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxRequest bounds what a program reads: user-data is a few kilobytes.
const maxRequest = 4 << 20

// Serve is the program's side of Program: it reads one request, does it, and writes one
// response. Its error is that of reading or writing; what the provider could not do is in
// the response.
func Serve(ctx context.Context, in io.Reader, out io.Writer, p Provider) error {
	raw, err := io.ReadAll(io.LimitReader(in, maxRequest+1))
	if err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	var r request
	if len(raw) > maxRequest || json.Unmarshal(raw, &r) != nil || r.APIVersion != version { // the error would quote it
		return fmt.Errorf("standard input is not one request of %s: this program is started by rollcall worker", version)
	}
	response, err := do(ctx, r, p)
	response.APIVersion = version
	switch {
	case errors.Is(err, ErrNone):
		response.None = true
	case errors.Is(err, errors.ErrUnsupported):
		response.Unsupported = true
	case err != nil:
		response.Error = hide(err.Error(), r.UserData)
	}
	if err := json.NewEncoder(out).Encode(response); err != nil {
		return fmt.Errorf("write the response: %w", err)
	}
	return nil
}

func do(ctx context.Context, r request, p Provider) (Response, error) {
	var response Response
	var err error
	switch r.Op {
	case opCreate:
		response.Machine, err = p.Create(ctx, r.Order, r.UserData)
	case opFind:
		response.Machine, err = p.Find(ctx, r.Order)
	case opClean:
		err = p.Clean(ctx, r.Order)
	case opDelete:
		err = p.Delete(ctx, r.Order)
	case opCheck:
		if c, is := p.(Checker); is {
			response.Checks, err = c.Check(ctx, r.Order, r.Workers)
			return response, err
		}
		return response, errors.ErrUnsupported
	case opConsole:
		s, is := p.(Screen)
		if !is {
			return response, errors.ErrUnsupported
		}
		response.Console, err = s.Console(ctx, r.Order)
		response.Console = response.Console[max(0, len(response.Console)-maxConsole):]
	default:
		return response, errors.ErrUnsupported
	}
	return response, err
}
