package bmc

import (
	"context"
	"crypto/x509"
	"fmt"
	"sync"
	"time"

	"github.com/rollcall-project/rollcall/internal/crash"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// Options say whom to ask and how.
type Options struct {
	Over        evidence.Source // what else is read, such as the plan; nil: nothing
	Name        string          // what the targets are of, where nothing else is read
	Kind        string          // of the source then
	Targets     []Target
	Credentials Credentials
	Roots       *x509.CertPool // nil: those of the system
	Vantage     string         // the machine that asks
	Clock       func() time.Time
	Limit       time.Duration // of one BMC; 0: DefaultLimit
	AnswerLimit time.Duration // of one answer; 0: 30 s
	Parallel    int           // BMCs at once; 0: 32
	// Progress, where set, is told how many of all BMCs have answered.
	Progress func(done, all int)
}

// DefaultLimit is the time for one BMC: slow ones need some 0.4 s for an answer, and a
// machine some hundred answers.
const DefaultLimit = 3 * time.Minute

// maxTargets is how many BMCs are asked in one run.
const maxTargets = 1000

// Source asks when it is first read. It is an evidence.Source.
type Source struct {
	opts Options

	once    sync.Once
	objects []evidence.Object
	err     error
}

var _ evidence.Source = (*Source)(nil)

// New returns a source that will ask the targets.
func New(o Options) (*Source, error) {
	if len(o.Targets) == 0 {
		return nil, errNoTargets
	}
	if len(o.Targets) > maxTargets {
		return nil, fmt.Errorf("%d BMCs: at most %d are asked in one run", len(o.Targets), maxTargets)
	}
	if o.Limit == 0 {
		o.Limit = DefaultLimit
	}
	if o.AnswerLimit == 0 {
		o.AnswerLimit = answerTime
	}
	if o.Parallel == 0 {
		o.Parallel = 32
	}
	return &Source{opts: o}, nil
}

// Describe implements evidence.Source.
func (s *Source) Describe(ctx context.Context) (evidence.Description, error) {
	if s.opts.Over != nil {
		return s.opts.Over.Describe(ctx)
	}
	return evidence.Description{Kind: s.opts.Kind, Name: s.opts.Name, Vantage: s.opts.Vantage, Now: s.opts.Clock()}, nil
}

// List implements evidence.Source: it adds evidence.BMCAnswers.
func (s *Source) List(ctx context.Context, r evidence.Resource, namespace string) ([]evidence.Object, error) {
	if r == evidence.BMCAnswers {
		return s.Answers(ctx)
	}
	if s.opts.Over != nil {
		return s.opts.Over.List(ctx, r, namespace)
	}
	if u, ok := evidence.OnRequest(r); ok {
		return nil, &u
	}
	return nil, &evidence.Unavailable{Need: evidence.Objects(r, namespace), Why: evidence.NotCollected, Detail: "BMCs have no objects of the API"}
}

// Texts implements evidence.Source.
func (s *Source) Texts(ctx context.Context, q evidence.TextQuery) ([]evidence.Text, error) {
	if s.opts.Over != nil {
		return s.opts.Over.Texts(ctx, q)
	}
	return nil, &evidence.Unavailable{Need: evidence.Texts(q), Why: evidence.NotCollected, Detail: "BMCs have no texts"}
}

// Answers asks the BMCs, once.
func (s *Source) Answers(ctx context.Context) ([]evidence.Object, error) {
	s.once.Do(func() {
		if s.objects == nil {
			s.objects, s.err = s.ask(ctx)
		}
	})
	return s.objects, s.err
}

// Replay returns a source with answers that were given before.
func Replay(over evidence.Source, answers []evidence.Object) *Source {
	return &Source{opts: Options{Over: over}, objects: answers}
}

// ask asks all targets side by side.
func (s *Source) ask(ctx context.Context) ([]evidence.Object, error) {
	k := &asker{opts: s.opts}
	answers := make([]Answer, len(s.opts.Targets))
	var mu sync.Mutex // guards done
	done := 0
	var group crash.Group
	group.SetLimit(s.opts.Parallel)
	for i, t := range s.opts.Targets {
		group.Go(func() error {
			answers[i] = k.ask(ctx, t)
			mu.Lock()
			defer mu.Unlock()
			done++
			if s.opts.Progress != nil {
				s.opts.Progress(done, len(answers))
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("ask the BMCs: %w", err)
	}
	list := make([]evidence.Object, 0, len(answers))
	for i, a := range answers {
		o, err := a.Object(fmt.Sprintf("%04d-%s", i, a.Host))
		if err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	return list, nil
}
