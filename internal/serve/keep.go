package serve

import (
	"context"
	"log/slog"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/follow"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/service"
)

// API is what is written to the cluster: Events, and ConfigMaps with records. Errors are those of
// k8s.io/apimachinery/pkg/api/errors.
type API interface {
	List(ctx context.Context, r kube.Ref) ([]kube.Object, error)
	Create(ctx context.Context, r kube.Ref, content kube.Object) error
	// Update replaces the object in the version that content has.
	Update(ctx context.Context, r kube.Ref, content kube.Object) error
	// Delete deletes the object of that uid.
	Delete(ctx context.Context, r kube.Ref, uid string) error
}

// Keeper writes what changes to the cluster, in a goroutine of its own: an API server that does not answer delays no reading.
type Keeper struct {
	API      API
	Events   bool                // write Events
	Records  string              // namespace of the records of incidents; "": none are kept
	Identity string              // of this replica, in Events
	Clean    func(string) string // one line
	Hide     func(string) string // a whole text

	metrics *Metrics
	log     *slog.Logger
	events  service.EventBudget
	records records
	waiting chan answered
}

// answered is one answer that was published, with what changed.
type answered struct {
	reading *Reading
	changes []follow.Event
	at      time.Time
}

// Bounds of what is written.
const (
	mostWaiting = 16               // answers that wait for a slow API server; the next ones are left out
	writeTime   = 10 * time.Second // one request
)

// begin starts a term: what another replica wrote since is read again.
func (k *Keeper) begin(m *Metrics, log *slog.Logger) {
	k.metrics, k.log = m, log
	k.events = service.EventBudget{}
	k.records = records{keeper: k}
	k.waiting = make(chan answered, mostWaiting)
}

// hand takes an answer. It never waits.
func (k *Keeper) hand(p answered) {
	if k == nil {
		return
	}
	select {
	case k.waiting <- p:
	default:
		k.metrics.written.WithLabelValues("any", resultLeftOut).Inc()
	}
}

// run writes until ctx is done.
func (k *Keeper) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case p := <-k.waiting:
			k.take(ctx, p)
		}
	}
}

// take writes what one answer changed.
func (k *Keeper) take(ctx context.Context, p answered) {
	if k.Events {
		k.writeEvents(ctx, p)
	}
	if k.Records != "" {
		k.records.step(ctx, p)
	}
}

// The results of a write.
const (
	resultWritten = "written"
	resultLeftOut = "left-out" // more than the bounds allow
)

// wrote counts a write and reports whether it is done. One that another replica has made before is done.
func (k *Keeper) wrote(ctx context.Context, what string, name string, err error) bool {
	if err == nil || apierrors.IsAlreadyExists(err) {
		k.metrics.written.WithLabelValues(what, resultWritten).Inc()
		return true
	}
	if ctx.Err() == nil {
		k.metrics.written.WithLabelValues(what, resultFailed).Inc()
		k.log.Warn("not written to the cluster; the answer stands", "what", what, "name", name, "error", k.Clean(err.Error()))
	}
	return false
}

// within bounds one request.
func within(ctx context.Context, request func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	return request(ctx)
}
