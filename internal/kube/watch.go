package kube

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
)

// Watch calls changed for each object of a resource that is there, comes or changes, until
// the server ends the watch after about so long. A context that ends is no error. It begins
// with all objects that there are, so that none is missed between two watches.
func (c *Client) Watch(ctx context.Context, r Ref, within time.Duration, changed func(Object)) error {
	seconds := int64(within / time.Second)
	w, err := c.resource(r).Watch(ctx, metav1.ListOptions{TimeoutSeconds: &seconds})
	if err != nil {
		return c.printable(err)
	}
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case e, open := <-w.ResultChan():
			if !open {
				return nil
			}
			if e.Type == watch.Error {
				return c.printable(apierrors.FromObject(e.Object))
			}
			if o, is := e.Object.(*unstructured.Unstructured); is && e.Type != watch.Deleted {
				changed(o.Object)
			}
		}
	}
}
