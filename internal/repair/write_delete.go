package repair

import (
	"context"
	"fmt"
)

// podFields are the fields of a pod that its deletion depends on.
func podFields() []string { return []string{"/metadata/uid"} }

// uidsOf are the uids that the step has read.
func uidsOf(s Step) []string {
	var list []string
	for _, rd := range s.Reads {
		list = append(list, rd.Seen["/metadata/uid"])
	}
	return list
}

// deletion makes the act that deletes exactly the object that was read.
func (e env) deletion(ref Ref, o Object) (*act, string, error) {
	before, err := digestFields(o, podFields())
	if err != nil {
		return nil, "", err
	}
	after, err := digestFields(nil, nil)
	if err != nil {
		return nil, "", err
	}
	uid, version := stringAt(o, "metadata", "uid"), stringAt(o, "metadata", "resourceVersion")
	return &act{
		Write:    Write{Target: ref, UID: uid, Fields: podFields(), Before: before, After: after, Inverse: "none: its controller makes another one"},
		preImage: []byte("a pod"),
		diff:     fmt.Sprintf("--- %s (now)\n+++ (deleted; its controller makes another one)\n", ref),
		do: func(ctx context.Context, dryRun bool) (Object, error) {
			return nil, e.api.Delete(ctx, ref, uid, version, dryRun)
		},
	}, "", nil
}
