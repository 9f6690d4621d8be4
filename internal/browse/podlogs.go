package browse

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/suggest"
	"github.com/rollcall-project/rollcall/internal/source/archive/objectfile"
)

// podLog is the log of one container.
type podLog struct {
	of    string // see Line.Of
	files []evidence.Text
}

// logsOf are the logs that a question is about. The error is about those that are not there, beside those that are.
func (a *Archive) logsOf(ctx context.Context, q Log) ([]podLog, error) {
	texts, missing, err := a.texts(ctx, evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: q.Namespace})
	if err != nil {
		return nil, err
	}
	asked := []Log{q}
	var lacking error
	if q.Pod == "" {
		if asked, lacking, err = a.ofPods(ctx, q); err != nil {
			return nil, err
		}
	}
	var list []podLog
	for _, q := range asked {
		some, err := a.ofPod(q, texts, missing)
		if u := (*NotAllError)(nil); err != nil && (!errors.As(err, &u) || len(asked) == 1 && lacking == nil) {
			return nil, err
		}
		list, lacking = append(list, some...), errors.Join(lacking, err)
	}
	if len(list) == 1 {
		list[0].of = ""
	}
	return list, lacking
}

// ofPods are the questions for each pod that has the labels, or that is of the owner, of a question. lacking says why these
// are not all.
func (a *Archive) ofPods(ctx context.Context, q Log) (asked []Log, lacking, err error) {
	var selector labels.Selector
	what := "-l " + q.Selector
	if q.Owner != "" {
		what = q.Owner
		q.Namespace, selector, err = a.podsOf(ctx, q)
	} else if selector, err = labels.Parse(q.Selector); err != nil {
		err = fmt.Errorf("-l %s: %w", q.Selector, err)
	}
	if err != nil {
		return nil, nil, err
	}
	pods, why, err := a.list(ctx, evidence.Pods, q.Namespace, objectfile.Choice{Fields: alsoRead("metadata.labels")})
	if err != nil {
		return nil, nil, err
	}
	if why != nil {
		lacking = &NotAllError{a.clean.Text(fmt.Sprintf("the pods of %s: %s", what, reason(why)))}
	}
	for _, p := range pods {
		if selector.Matches(labelSet(p)) {
			one := q
			one.Namespace, one.Pod = p.Namespace, p.Name
			asked = append(asked, one)
		}
	}
	if len(asked) == 0 && lacking == nil {
		err = fmt.Errorf("%s: %w: none of the %d pods of the %s is one of it", what, ErrNotFound, len(pods), a.kind)
	}
	return asked, lacking, err
}

// podsOf is where the pods of an owner are, and which labels they have: those of its selector, as kubectl has it
// (k8s.io/kubectl:pkg/polymorphichelpers/helpers.go, SelectorsForObject).
func (a *Archive) podsOf(ctx context.Context, q Log) (namespace string, selector labels.Selector, err error) {
	word, name, _ := strings.Cut(q.Owner, "/")
	k, err := a.Find(ctx, word)
	if err != nil {
		return "", nil, err
	}
	f := Found{Query: Query{Kind: k, Name: name, Namespace: q.Namespace}}
	f.Objects, f.Why, err = a.list(ctx, k.Resource, q.Namespace, objectfile.Choice{Name: name, Fields: alsoRead("spec.selector")})
	if err != nil {
		return "", nil, err
	}
	if len(f.Objects) == 0 {
		return "", nil, a.Missing(f)
	}
	if len(f.Objects) > 1 {
		var spaces []string
		for _, o := range f.Objects {
			spaces = append(spaces, o.Namespace)
		}
		return "", nil, fmt.Errorf("%s: %w: name the namespace with -n, one of: %s", q.Owner, ErrUnclear, strings.Join(spaces, ", "))
	}
	o := f.Objects[0]
	raw, _ := evidence.Field(o.Content, "spec", "selector").(map[string]any)
	if len(raw) == 0 {
		return "", nil, fmt.Errorf("%s has no selector of pods: name a pod, or labels with -l", q.Owner)
	}
	if raw["matchLabels"] == nil && raw["matchExpressions"] == nil { // of a Service or a ReplicationController
		raw = map[string]any{"matchLabels": raw}
	}
	var of metav1.LabelSelector
	if err = runtime.DefaultUnstructuredConverter.FromUnstructured(raw, &of); err == nil {
		selector, err = metav1.LabelSelectorAsSelector(&of)
	}
	if err != nil {
		err = fmt.Errorf("read the selector of %s: %w", q.Owner, err)
	}
	return o.Namespace, selector, err
}

// alsoRead are the fields that tell objects apart, and another one.
func alsoRead(field string) objectfile.Fields {
	return objectfile.FieldsOf(append(slices.Clone(always), field)...)
}

// ofPod are the logs of one pod: of the container that is asked for, of the only one, or of each.
func (a *Archive) ofPod(q Log, all []evidence.Text, missing *evidence.Unavailable) ([]podLog, error) {
	what := "log of pod " + q.Pod
	if q.Namespace != "" {
		what += " -n " + q.Namespace
	}
	texts := slices.DeleteFunc(slices.Clone(all), func(t evidence.Text) bool { return t.Pod != q.Pod || q.Namespace != "" && t.Namespace != q.Namespace })
	if len(texts) == 0 {
		return nil, a.noLog(what, q, all, missing)
	}
	if spaces := distinct(texts, func(t evidence.Text) string { return t.Namespace }); len(spaces) > 1 {
		return nil, fmt.Errorf("%s: %w: name the namespace with -n, one of: %s", what, ErrUnclear, strings.Join(spaces, ", "))
	}
	there := distinct(texts, func(t evidence.Text) string { return t.Container })
	containers := there
	switch {
	case q.Container != "":
		containers = []string{q.Container}
		what += " -c " + q.Container
		if !slices.Contains(there, q.Container) {
			return nil, &NotAllError{fmt.Sprintf("%s: not collected; there are the containers %s", what, strings.Join(there, ", "))}
		}
	case len(there) > 1 && !q.AllContainers:
		return nil, fmt.Errorf("%s: %w: name the container with -c, or take --all-containers; there are: %s", what, ErrUnclear, strings.Join(there, ", "))
	}
	var list []podLog
	for _, c := range containers {
		if files := filesOf(q, c, texts); len(files) > 0 {
			list = append(list, podLog{"pod/" + q.Pod + "/" + c, files})
		}
	}
	switch {
	case len(list) > 0:
		return list, nil
	case q.Rotated:
		return nil, &NotAllError{what + ": not collected: there is no rotated file"}
	case q.Previous:
		return nil, &NotAllError{what + ": there is no previous log with a line: the container was not restarted, or it was not collected"}
	}
	return nil, &NotAllError{what + ": not collected: only previous or rotated logs are there; ask for them with -p or --rotated"}
}

// filesOf are the files of the log of a container, in their order.
func filesOf(q Log, container string, texts []evidence.Text) []evidence.Text {
	files := slices.DeleteFunc(slices.Clone(texts), func(t evidence.Text) bool {
		return t.Container != container || t.Previous != q.Previous || rotated(t) != q.Rotated
	})
	slices.SortStableFunc(files, func(x, y evidence.Text) int { return strings.Compare(order(x), order(y)) })
	return files
}

// noLog says that there is no log of a pod, and of which there are.
func (a *Archive) noLog(what string, q Log, all []evidence.Text, missing *evidence.Unavailable) error {
	if missing != nil {
		return &NotAllError{a.clean.Text(what + ": " + reason(missing) + others(all))}
	}
	var pods []string
	for _, t := range all {
		pods = append(pods, t.Pod)
	}
	hint := suggest.DidYouMean(q.Pod, pods)
	if hint == "" && q.Owner == "" && q.Selector == "" {
		hint = others(all)
	}
	return &NotAllError{fmt.Sprintf("%s: not collected: the %s has none%s", what, a.kind, hint)}
}
