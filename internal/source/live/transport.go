package live

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// What bounds one answer of the API after decompression: client-go keeps all of it, and
// twice that while it grows. etcd bounds an object at 1.5 MiB; a page of real objects
// is far below (see pageOf), and whatever is no page of a list is small.
const (
	maxAnswer = 256 << 20
	maxSmall  = 64 << 20
)

// errTooMuch is in the chain of an error about an answer beyond a bound.
var errTooMuch = errors.New("more was sent than is read")

// allowance is how many bytes a run may still read.
type allowance struct {
	most int64
	left atomic.Int64
}

func newAllowance(most int64) *allowance {
	a := &allowance{most: most}
	a.left.Store(most)
	return a
}

// err is why nothing more is read, nil while there is room.
func (a *allowance) err() error {
	if a.left.Load() > 0 {
		return nil
	}
	return fmt.Errorf("%w: the answers of this run have more than %d bytes", errTooMuch, a.most)
}

// boundedTransport bounds the size of answers: client-go reads them whole.
type boundedTransport struct {
	next          http.RoundTripper
	answers, logs *allowance
}

// WrappedRoundTripper lets client-go find the transport below.
func (t boundedTransport) WrappedRoundTripper() http.RoundTripper { return t.next }

// RoundTrip implements http.RoundTripper.
func (t boundedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	query := req.URL.Query()
	run := t.answers
	if query.Has("tailLines") { // of a container or a journal
		run = t.logs
	}
	if err := run.err(); err != nil {
		return nil, err
	}
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	noteHint(req.Context(), resp, time.Now())
	most := int64(maxAnswer)
	if !query.Has("limit") && !query.Has("limitBytes") {
		most = maxSmall
	}
	resp.Body = &boundedBody{ReadCloser: resp.Body, left: most, most: most, run: run}
	return resp, nil
}

type boundedBody struct {
	io.ReadCloser
	left int64
	most int64 // of the whole answer
	run  *allowance
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("%w: the answer has more than %d MiB", errTooMuch, b.most>>20)
	}
	if err := b.run.err(); err != nil {
		return 0, err
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	b.run.left.Add(-int64(n))
	return n, err
}
