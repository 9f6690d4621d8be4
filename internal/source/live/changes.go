package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/rollcall-project/rollcall/internal/crash"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/source/wire"
)

// watched are the resources of which a change may move a host or an indicator. Events,
// leases and pods are not among them: they are most of what changes in a cluster, and a run
// reads them anyway.
//
// Those of one namespace are watched in it, as they are read: roles for a diagnosis allow no more.
func watched() []evidence.Need {
	var list []evidence.Need
	for _, r := range []evidence.Resource{evidence.Nodes, evidence.CSRs, evidence.ClusterVersions, evidence.ClusterOperators, evidence.MachineConfigPools,
		evidence.Agents} {
		list = append(list, evidence.Objects(r, ""))
	}
	for _, r := range []evidence.Resource{evidence.BareMetalHosts, evidence.Machines, evidence.MachineSets} {
		list = append(list, evidence.Objects(r, openshift.MachineAPINamespace))
	}
	return list
}

// Change is one object that is not what it was.
type Change struct {
	Resource evidence.Resource
	Name     string // "" where only the connection is new: anything may have changed
}

// Changes tells of changes as `oc get --watch` sees them: the server sends rows of its
// tables with labels and annotations, and no object. A heartbeat of a kubelet changes none
// of these, and nothing is kept of an object but a number.
type Changes struct {
	cfg  func() (*rest.Config, error)
	opts Options

	mu      sync.Mutex
	refused map[evidence.Resource]string // why a resource is not watched
}

// Limits of a watch.
const (
	watchTime   = 20 * time.Minute // of one connection; then it is opened again
	watchYoung  = 5 * time.Minute  // of one where not everything is served yet
	watchPause  = 3 * time.Second  // before a connection is opened again
	watchSilent = 2 * time.Minute  // without an answer to the request
)

// NewChanges returns what tells of the changes of the cluster that cfg leads to. It is asked
// for each connection: credentials expire, and a cluster is installed again. It sends nothing
// yet.
func NewChanges(cfg func() (*rest.Config, error), opts Options) *Changes {
	opts.RunTimeout, opts.RunBytes = math.MaxInt32*time.Second, math.MaxInt64
	return &Changes{cfg: cfg, opts: opts, refused: map[evidence.Resource]string{}}
}

// Refused says which resources are not watched, and why, sorted: they are seen with the
// next run.
func (c *Changes) Refused() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []string
	for r, why := range c.refused {
		list = append(list, r.String()+": "+why)
	}
	sort.Strings(list)
	return list
}

func (c *Changes) note(r evidence.Resource, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if why == "" {
		delete(c.refused, r)
		return
	}
	c.refused[r] = why
}

// Run calls changed for each change until the context ends. It may be called from several
// goroutines at once. While the API is unreachable it tries again, and tells nothing.
func (c *Changes) Run(ctx context.Context, changed func(Change)) {
	rows := map[evidence.Resource]*table{}
	for _, n := range watched() {
		rows[n.Resource] = newTable()
	}
	for ctx.Err() == nil {
		pause := time.NewTimer(watchPause) // counts from the beginning: a long connection is followed at once
		c.generation(ctx, rows, changed)
		select {
		case <-ctx.Done():
		case <-pause.C:
		}
	}
}

// generation connects to everything that is served now, until the first connection ends.
func (c *Changes) generation(ctx context.Context, rows map[evidence.Resource]*table, changed func(Change)) {
	cfg, err := c.cfg()
	if err != nil {
		return // the run that reads the cluster says it
	}
	s, err := New(cfg, c.opts)
	if err != nil {
		return // likewise
	}
	defer s.Close()
	length := watchTime
	type watch struct {
		served
		namespace string
	}
	var list []watch
	for _, n := range watched() {
		as, err := s.resolve(ctx, n.Resource)
		switch {
		case errors.Is(err, errNotServed):
			length = watchYoung // its definition may come
		case err != nil:
			return
		default:
			list = append(list, watch{as, n.Namespace})
		}
	}
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	var all crash.Group
	for _, as := range list {
		all.Go(func() error {
			err := s.follow(ctx, as.served, as.namespace, rows[as.Resource], changed)
			if apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err) {
				c.note(as.Resource, "no permission to watch it")
				return nil
			}
			if ctx.Err() == nil {
				cancel() // the others end as well: what is away is so for all
				changed(Change{Resource: as.Resource})
			}
			return err
		})
	}
	_ = all.Wait() // why a connection ended is no matter: it is opened again
}

// table remembers of each row what it was.
type table struct {
	hash    map[string]uint64
	seed    maphash.Seed
	columns []int // that are compared
}

func newTable() *table { return &table{hash: map[string]uint64{}, seed: maphash.MakeSeed()} }

// rowEvent is one event of a watch of tables.
type rowEvent struct {
	Type   string
	Object struct {
		Kind              string
		Code              int
		Message           string
		ColumnDefinitions []struct{ Name, Type string }
		Rows              []struct {
			Cells  []json.RawMessage
			Object struct {
				Metadata struct {
					Namespace, Name   string
					Labels            map[string]string
					Annotations       map[string]string
					DeletionTimestamp *string
				}
			}
		}
	}
}

// follow reads one watch until it ends. The server begins with a row for each object.
func (s *Source) follow(ctx context.Context, as served, namespace string, t *table, changed func(Change)) error {
	accept := mediaJSON + ";as=Table;g=meta.k8s.io;v=v1"
	starting, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	late := time.AfterFunc(watchSilent, func() { stop(errors.New("no answer to a watch")) })
	body, err := s.api.Open(starting, kube.Request{Path: as.path(namespace), Accept: accept, Query: url.Values{
		"watch": {"1"}, "resourceVersion": {"0"}, "includeObject": {"Metadata"},
		"timeoutSeconds": {fmt.Sprint(int(watchTime / time.Second))},
	}})
	late.Stop()
	if err != nil {
		return err
	}
	defer body.Close()
	return t.read(body, as.Resource, changed)
}

// read compares the rows of a stream with what was seen before.
func (t *table) read(body io.Reader, r evidence.Resource, changed func(Change)) error {
	lines := json.NewDecoder(body)
	for {
		var e rowEvent
		if err := lines.Decode(&e); err != nil {
			return fmt.Errorf("watch %s: %w", r, err)
		}
		if e.Type == "ERROR" || e.Object.Kind != "Table" {
			return fmt.Errorf("watch %s: %s %s", r, http.StatusText(e.Object.Code), wire.Clip(e.Object.Message))
		}
		if len(e.Object.ColumnDefinitions) > 0 { // only the first event has them
			t.columns = t.columns[:0]
			for i, column := range e.Object.ColumnDefinitions {
				// how long something is so changes by itself
				if column.Type != "date" && !slices.Contains([]string{"Age", "Since"}, column.Name) {
					t.columns = append(t.columns, i)
				}
			}
		}
		for _, row := range e.Object.Rows {
			about := row.Object.Metadata
			key := about.Namespace + "/" + about.Name
			if e.Type == "DELETED" {
				delete(t.hash, key)
				changed(Change{r, about.Name})
				continue
			}
			var h maphash.Hash
			h.SetSeed(t.seed)
			for _, i := range t.columns {
				if i < len(row.Cells) {
					_, _ = h.Write(row.Cells[i]) // never fails
					_ = h.WriteByte(0)
				}
			}
			for _, notes := range []map[string]string{about.Labels, about.Annotations} {
				raw, err := json.Marshal(notes) // in the order of the keys
				if err != nil {
					return fmt.Errorf("watch %s: %w", r, err)
				}
				_, _ = h.Write(raw)
			}
			if about.DeletionTimestamp != nil {
				_, _ = h.WriteString(*about.DeletionTimestamp)
			}
			sum := h.Sum64()
			if was, known := t.hash[key]; !known || was != sum {
				t.hash[key] = sum
				changed(Change{r, about.Name})
			}
		}
	}
}
