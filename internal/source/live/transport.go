package live

import (
	"fmt"
	"io"
	"net/http"
)

// What bounds one answer of the API after decompression: client-go keeps all of it, and
// twice that while it grows. etcd bounds an object at 1.5 MiB; a page of real objects
// is far below (see pageOf), and whatever is no page of a list is small.
const (
	maxAnswer = 256 << 20
	maxSmall  = 64 << 20
)

// boundedTransport bounds the size of answers: client-go reads them whole.
type boundedTransport struct{ next http.RoundTripper }

// WrappedRoundTripper lets client-go find the transport below.
func (t boundedTransport) WrappedRoundTripper() http.RoundTripper { return t.next }

// RoundTrip implements http.RoundTripper.
func (t boundedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	most := int64(maxAnswer)
	if query := req.URL.Query(); !query.Has("limit") && !query.Has("limitBytes") {
		most = maxSmall
	}
	resp.Body = &boundedBody{ReadCloser: resp.Body, left: most, most: most}
	return resp, nil
}

type boundedBody struct {
	io.ReadCloser
	left int64
	most int64 // of the whole answer
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("the answer has more than %d MiB", b.most>>20)
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	return n, err
}
