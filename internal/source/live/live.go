// Package live is the evidence.Source over the API of a running cluster.
//
// Invariants:
//   - It only reads. The one POST that it sends is a SelfSubjectAccessReview,
//     which the API server answers and does not store.
//   - A list is whole or it is an *evidence.Unavailable: an API that dies between
//     two pages, a proxy that answers HTML and an answer of another kind than the
//     one that was asked for never become an empty or a half list.
//   - Whatever a server sends, a run ends: one request, one list and the run have a
//     bound in time, one answer and the run one in bytes.
//   - The contents of Secrets are asked for only in the namespaces that the user
//     named; elsewhere the API server sends their metadata and nothing else.
//   - A probe carries no credential: it has its own HTTP client.
//   - A caller that cancels gets its context's error, never an Unavailable.
package live

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// maxPage bounds one page of a list in bytes: a page of real objects is far below (see
// pageOf).
const maxPage = 256 << 20

// SourceName is the Locator.Source of everything that a Source reads.
const SourceName = "live"

// Options say how to read a cluster. The zero value is a careful run: no probes,
// no journals, no contents of Secrets.
type Options struct {
	Name             string        // what the user calls the cluster: the context's name
	Vantage          string        // the machine that asks; "" is this machine's host name
	RequestTimeout   time.Duration // of one try of a request; 0 is the config's, else 15 s
	RunTimeout       time.Duration // of everything together, from the first request on; 0 is 3 min
	ListTimeout      time.Duration // of all pages of one list; 0 is a third of RunTimeout
	RunBytes         int64         // of all answers together but logs; 0 is 1 GiB
	RunLogBytes      int64         // of all logs together; 0 is 4 GiB
	RetryPause       time.Duration // before the second try, doubled for each further one; 0 is 500 ms
	QPS              float32       // requests a second; 0 is 100
	Burst            int           // 0 is 200
	PageSize         int           // objects a page; 0 is 500, as `kubectl get --chunk-size`
	Whole            bool          // keep also what no fact reads of an object: for those who write it down
	SecretNamespaces []string      // namespaces whose Secrets may be read in full
	Journals         bool          // read journals of nodes through their kubelets
	LogBytes         int64         // of one text; 0 is 64 MiB
	LogLines         int           // the newest lines of one text; 0 is 100,000, the most that a kubelet gives of a journal
	Probes           bool          // ask the machine config servers
	ProbeTimeout     time.Duration // of one probe; 0 is 5 s
	Now              func() time.Time
}

func (o Options) withDefaults(cfg *rest.Config) Options {
	o.RequestTimeout = cmp.Or(o.RequestTimeout, cfg.Timeout)
	o.RequestTimeout = cmp.Or(o.RequestTimeout, 15*time.Second)
	o.RunTimeout = cmp.Or(o.RunTimeout, 3*time.Minute)
	o.ListTimeout = cmp.Or(o.ListTimeout, o.RunTimeout/3)
	o.RunBytes = cmp.Or(o.RunBytes, 1<<30)
	o.RunLogBytes = cmp.Or(o.RunLogBytes, 4<<30)
	o.RetryPause = cmp.Or(o.RetryPause, 500*time.Millisecond)
	o.QPS = cmp.Or(o.QPS, 100)
	o.Burst = cmp.Or(o.Burst, 200)
	o.PageSize = cmp.Or(o.PageSize, 500)
	o.LogBytes = cmp.Or(o.LogBytes, 64<<20)
	o.LogLines = cmp.Or(o.LogLines, 100_000)
	o.ProbeTimeout = cmp.Or(o.ProbeTimeout, 5*time.Second)
	if o.Vantage == "" {
		o.Vantage = "here"
		if name, err := os.Hostname(); err == nil && name != "" {
			o.Vantage = name
		}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Source reads one cluster in one run. It is safe for concurrent use.
type Source struct {
	opts      Options
	host      string // of the API, for messages
	api       *kube.Client
	mcsPort   int // another one only in tests
	answering answering
	refused   atomic.Int32 // requests in a row that were refused on every try
	refusing  atomic.Int64 // since when, in ns of Unix, no request was answered; 0 where the newest one was

	apis   lazy[*apis]
	memoMu sync.Mutex
	pods   map[string]*lazy[*podList] // by namespace
	rights map[Access]*lazy[bool]

	start    sync.Once
	deadline time.Time
}

// New returns a source over the API that cfg leads to. It sends nothing yet.
// cfg is not changed.
func New(cfg *rest.Config, opts Options) (*Source, error) {
	opts = opts.withDefaults(cfg)
	cfg = rest.CopyConfig(cfg)
	cfg.RateLimiter, cfg.QPS, cfg.Burst = nil, opts.QPS, opts.Burst
	api, err := kube.New(cfg, kube.Limits{
		Request: kube.NoLimit, Watch: kube.NoLimit, // every request has a context with a deadline; a log may take longer than a list
		Page: maxPage, Run: opts.RunBytes, RunLogs: opts.RunLogBytes, Patience: opts.RequestTimeout,
	})
	if err != nil {
		return nil, err
	}
	return &Source{
		opts: opts, host: cfg.Host, api: api, mcsPort: openshift.MCSPort,
		pods: map[string]*lazy[*podList]{}, rights: map[Access]*lazy[bool]{},
	}, nil
}

// Close closes idle connections. The source may still be used.
func (s *Source) Close() { s.api.Close() }

// Describe implements evidence.Source. It asks nothing of the cluster, so that a
// cluster that does not answer can still be named.
func (s *Source) Describe(context.Context) (evidence.Description, error) {
	return evidence.Description{Kind: "live", Name: s.opts.Name, API: ShownHost(s.host), Vantage: s.opts.Vantage, Now: s.opts.Now()}, nil
}

// ShownHost is the address of a server as it may be shown: without a user, a password and a query,
// also where it is no valid URL.
func ShownHost(host string) string {
	scheme, rest, found := strings.Cut(host, "://")
	if !found {
		scheme, rest = "", host
	} else {
		scheme += "://"
	}
	mark, at := strings.IndexAny(rest, "?#"), strings.IndexByte(rest, '@')
	if mark >= 0 && at > mark { // a password may have such a mark, and a query the other
		return scheme + "(an address with a secret)"
	}
	if mark >= 0 {
		rest = rest[:mark]
	}
	return scheme + rest[strings.LastIndexByte(rest, '@')+1:]
}

// withTimeout returns a context that ends after d, or with the run. client-go's own log lines are
// dropped: the errors repeat them.
func (s *Source) withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	s.start.Do(func() { s.deadline = time.Now().Add(s.opts.RunTimeout) })
	ctx = kube.WithRetryAfter(klog.NewContext(ctx, klog.Logger{}))
	at := time.Now().Add(d)
	if s.deadline.Before(at) {
		return limit(ctx, s.deadline, fmt.Errorf("the run's time of %v is over", s.opts.RunTimeout))
	}
	return limit(ctx, at, fmt.Errorf("no answer within %v", d))
}

// limitKey is the key in a context of the error that its deadline stands for.
type limitKey struct{}

// limit returns a context that ends at a time, with an error as its cause.
func limit(ctx context.Context, at time.Time, cause error) (context.Context, context.CancelFunc) {
	if earlier, ok := ctx.Deadline(); !ok || at.Before(earlier) {
		ctx = context.WithValue(ctx, limitKey{}, cause)
	}
	return context.WithDeadlineCause(ctx, at, cause)
}

// limitOf is the error that a context's deadline stands for, also before the context has
// ended: a dialer may see its deadline first, and client-go's rate limit gives up when it
// sees that the deadline will come.
func limitOf(ctx context.Context) error {
	if cause, ok := ctx.Value(limitKey{}).(error); ok {
		return cause
	}
	return context.DeadlineExceeded
}

// lazy is a value that is made once, by the first caller that needs it. A caller
// whose context ends while it makes or awaits the value leaves nothing behind.
type lazy[T any] struct {
	init sync.Once
	turn chan struct{}
	made bool
	v    T
	err  error
}

func (l *lazy[T]) get(ctx context.Context, produce func(context.Context) (T, error)) (T, error) {
	l.init.Do(func() { l.turn = make(chan struct{}, 1) })
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		var zero T
		return zero, ctx.Err()
	}
	if l.made {
		return l.v, l.err
	}
	v, err := produce(ctx)
	if ctx.Err() == nil {
		l.v, l.err, l.made = v, err, true
	}
	return v, err
}

// memo returns the lazy value of a key.
func memo[K comparable, T any](mu *sync.Mutex, m map[K]*lazy[T], key K) *lazy[T] {
	mu.Lock()
	defer mu.Unlock()
	if m[key] == nil {
		m[key] = &lazy[T]{}
	}
	return m[key]
}
