package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/crash"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
)

// contentKey marks an object of which not everything was read; contentMetadata
// is its value on a Secret of which only the metadata was asked for.
const (
	contentKey      = "rollcall.dev/content"
	contentMetadata = "metadata"
)

// maxPages bounds a list whose server never says that it is complete.
const maxPages = 4000

// List implements evidence.Source. Objects are in the version that the API
// prefers. Secrets outside Options.SecretNamespaces carry their metadata only
// and the key contentKey.
func (s *Source) List(ctx context.Context, r evidence.Resource, namespace string) ([]evidence.Object, error) {
	if r == evidence.Pods {
		pods, err := s.podsIn(ctx, namespace)
		if err != nil {
			return nil, err
		}
		if list, ok := pods.take(); ok {
			return list, nil
		}
	}
	return s.read(ctx, evidence.Objects(r, namespace))
}

func (s *Source) read(ctx context.Context, need evidence.Need) ([]evidence.Object, error) {
	r := need.Resource
	var list []evidence.Object
	var err error
	switch {
	case r == evidence.MCSProbes:
		list, err = s.askMCS(ctx)
	case slices.Contains(evidence.OnHost(), r):
		return nil, evidence.NotOnHost(need)
	case r == evidence.BootstrapServices:
		return nil, evidence.NotOnBootstrap(need)
	case r.Group == evidence.ProbeGroup:
		if u, ok := evidence.OnRequest(r); ok {
			u.Need = need
			return nil, &u
		}
		return nil, &evidence.Unavailable{Need: need, Why: evidence.NotCollected, Detail: "no probe of the live cluster gives it"}
	default:
		list, err = s.list(ctx, need)
	}
	if u, ok := evidence.AsUnavailable(err); ok {
		named := *u
		named.Need = need // what was in the way may have been another read
		return nil, &named
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b evidence.Object) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return list, nil
}

func (s *Source) list(ctx context.Context, need evidence.Need) ([]evidence.Object, error) {
	as, err := s.resolve(ctx, need.Resource)
	if errors.Is(err, errNotServed) {
		return nil, &evidence.Unavailable{Need: need, Why: evidence.NotServed, Detail: "the API has no " + need.Resource.String()}
	}
	if err != nil {
		return nil, err
	}
	if need.Namespace != "" && !as.Namespaced {
		return nil, fmt.Errorf("list %s: %s has no namespaces", need, need.Resource)
	}
	form := s.formOf(as, need.Namespace)
	list, err := s.pages(ctx, need, as, form)
	if expired(err) {
		// The snapshot that the pages come from was compacted away: begin once more.
		list, err = s.pages(ctx, need, as, form)
	}
	if expired(err) {
		return nil, &evidence.Unavailable{Need: need, Why: evidence.Unreachable, Detail: "the list expired twice while its pages were read"}
	}
	return list, err
}

// expired reports whether the snapshot that a list's pages come from is gone.
func expired(err error) bool { return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) }

// pages reads a list page by page. While one page is fetched the one before is
// converted. An expired list comes back as it is; every other failure is
// Unavailable. That includes a 404: discovery said that the resource is there.
func (s *Source) pages(ctx context.Context, need evidence.Need, as served, form form) ([]evidence.Object, error) {
	ctx, cancel := limit(ctx, time.Now().Add(s.opts.ListTimeout), fmt.Errorf("the list has not ended within %v", s.opts.ListTimeout))
	defer cancel()
	var parts []*[]evidence.Object // pointers: the slice grows while pages are converted
	var convert crash.Group
	convert.SetLimit(2)
	token := ""
	var begun kube.Begun
	for n := 0; ; n++ {
		p, err := s.page(ctx, need, as, form, token)
		if err != nil {
			_ = convert.Wait() // the fetch's error is the one that says what happened
			return nil, err
		}
		first := ""
		if p.next != "" {
			first = p.first() // before the page is converted: both decode its first object
		}
		part := new([]evidence.Object)
		parts = append(parts, part)
		convert.Go(func() (err error) {
			*part, err = p.objects(s, as)
			return err
		})
		if p.next == "" {
			break
		}
		if p.next == token || n >= maxPages || begun.Again(first) {
			_ = convert.Wait() // the endless list is the error
			return nil, s.unavailable(ctx, ctx, need, Access{}, garbage("the list of %s does not end", need.Resource))
		}
		token = p.next
	}
	if err := convert.Wait(); err != nil {
		return nil, s.unavailable(ctx, ctx, need, Access{}, err)
	}
	var list []evidence.Object
	for _, part := range parts {
		list = append(list, *part...)
	}
	return list, nil
}

// page fetches and decodes one page.
func (s *Source) page(caller context.Context, need evidence.Need, as served, form form, token string) (page, error) {
	right := Access{Verb: "list", Resource: as.Resource, Namespace: need.Namespace}
	if err := s.notAsked(need); err != nil {
		return page{}, err
	}
	for try := (attempts{s: s}); ; {
		ctx, cancel := s.withTimeout(caller, s.opts.RequestTimeout)
		p, err := s.pageOnce(ctx, need.Namespace, as, form, token)
		s.answering.note(caller, ctx, err)
		pause, again := try.next(ctx, err)
		if !expired(err) {
			err = try.failed(s.unavailable(caller, ctx, need, right, err))
		}
		cancel()
		if again && s.pause(caller, pause) {
			continue
		}
		return p, err
	}
}

// pageOf is how many objects a page has. A rendered MachineConfig has hundreds of KiB,
// and a cluster that is never pruned has hundreds of them.
func (s *Source) pageOf(as served) int {
	if as.Resource == evidence.MachineConfigs {
		return min(s.opts.PageSize, 50)
	}
	return s.opts.PageSize
}

func (s *Source) pageOnce(ctx context.Context, namespace string, as served, form form, token string) (page, error) {
	query := url.Values{"limit": {strconv.Itoa(s.pageOf(as))}}
	if token != "" {
		query.Set("continue", token)
	}
	body, kind, err := s.api.Do(ctx, kube.Request{Path: as.path(namespace), Query: query, Accept: form.accept})
	if err != nil {
		return page{}, err
	}
	p, err := decode(body, kind, as, form)
	p.readAt = s.opts.Now()
	return p, err
}

// page is one decoded page of a list.
type page struct {
	next   string // continue token, "" on the last page
	items  []item
	readAt time.Time
}

// first is the namespace and name of the first object, "" where there is none or it cannot be read.
func (p page) first() string {
	if len(p.items) == 0 {
		return ""
	}
	content, err := p.items[0]()
	if err != nil {
		return ""
	}
	return evidence.String(content, "metadata", "namespace") + "/" + evidence.String(content, "metadata", "name")
}

// item yields one object's content.
type item func() (map[string]any, error)

func (p page) objects(s *Source, as served) ([]evidence.Object, error) {
	list := make([]evidence.Object, 0, len(p.items))
	for _, it := range p.items {
		content, err := it()
		if err != nil {
			return nil, err
		}
		o := evidence.Object{
			Resource: as.Resource, Content: content, ReadAt: p.readAt,
			Namespace: evidence.String(content, "metadata", "namespace"), Name: evidence.String(content, "metadata", "name"),
		}
		if o.Name == "" {
			return nil, garbage("an object of %s without a name", as.Resource)
		}
		if as.Namespaced == (o.Namespace == "") {
			return nil, garbage("%s/%s is in namespace %q", as.Resource, o.Name, o.Namespace)
		}
		if as.Resource == evidence.Secrets {
			hideAnnotations(content)
		}
		o.Loc = as.locator(o.Namespace, o.Name)
		list = append(list, o)
	}
	return list, nil
}
