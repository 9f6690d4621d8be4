package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/rollcall-project/rollcall/lab/internal/aging"
	"github.com/rollcall-project/rollcall/lab/internal/cluster"
)

// timeless are the parts of the API server's store whose times tell nothing.
var timeless = []string{
	"/registry/apiextensions.k8s.io/", "/registry/apiregistration.k8s.io/", "/registry/flowschemas/",
	"/registry/prioritylevelconfigurations/", "/registry/clusterroles/", "/registry/clusterrolebindings/",
	"/registry/roles/", "/registry/rolebindings/", "/registry/ranges/", "/registry/masterleases/", "/registry/priorityclasses/",
	// To the baremetal-operator a secret that was written is a new password:
	// it would register the host again and say so in its status.
	"/registry/secrets/openshift-machine-api/worker",
}

// Age lets time pass: all that the cluster has recorded so far, in its objects
// and in the logs of its pods and units, is d longer ago. See package aging for
// what stays.
func (l *Lab) Age(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	// The machine approver compares a request's time with its Machine's, and the
	// two are moved one after the other.
	l.timeMu.Lock()
	defer l.timeMu.Unlock()
	l.update(func(s *State) { s.Aging = true })
	defer l.update(func(s *State) { s.Aging, s.Aged = false, s.Aged+1 })
	shift := aging.Shift{By: d, Now: time.Now().UTC()}
	if err := ageKeys(ctx, l.plane, shift, "/registry/"); err != nil {
		return err
	}
	if h := l.Hosted(); h != nil {
		if err := h.age(ctx, shift); err != nil {
			return fmt.Errorf("age the hosted cluster: %w", err)
		}
	}
	if err := l.ageLogs(shift); err != nil {
		return err
	}
	return forget(ctx, l.kube)
}

// AgeRequests is Age for certificate requests only.
func (l *Lab) AgeRequests(ctx context.Context, d time.Duration) error {
	return ageKeys(ctx, l.plane, aging.Shift{By: d, Now: time.Now().UTC()}, "/registry/certificatesigningrequests/")
}

// ageKeys moves what a control plane has stored below a prefix.
func ageKeys(ctx context.Context, plane *cluster.Plane, shift aging.Shift, prefix string) error {
	store, err := plane.Store()
	if err != nil {
		return err
	}
	entries, err := store.Keys(ctx, prefix)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := ageKey(ctx, store, shift, string(e.Key)); err != nil {
			return fmt.Errorf("move %s into the past: %w", e.Key, err)
		}
	}
	return nil
}

func ageKey(ctx context.Context, store *cluster.Store, shift aging.Shift, key string) error {
	for _, prefix := range timeless {
		if strings.HasPrefix(key, prefix) {
			return nil
		}
	}
	for range 20 {
		entry, err := store.Get(ctx, key)
		if err != nil || entry == nil {
			return err // gone meanwhile
		}
		moved, err := shift.Object(entry.Value)
		if err != nil || moved == nil {
			return err
		}
		err = store.Replace(ctx, *entry, moved)
		if !errors.Is(err, cluster.ErrChanged) {
			return err
		}
	}
	return errors.New("it is written all the time")
}

// ageLogs moves what containers and units of the hosts have logged.
func (l *Lab) ageLogs(shift aging.Shift) error {
	return filepath.WalkDir(l.opts.Dir.file("hosts"), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "root" {
			return filepath.SkipDir // the host's disk
		}
		if d.IsDir() || filepath.Ext(path) != ".log" || d.Name() == "console.log" {
			return nil
		}
		return shift.LogFile(path)
	})
}

// forget takes away what a cluster would no longer have.
func forget(ctx context.Context, kube kubernetes.Interface) error {
	if err := cleanRequests(ctx, kube); err != nil {
		return err
	}
	return forgetEvents(ctx, kube)
}

// forgetEvents deletes the events that were last written longer ago than the API server
// keeps them.
func forgetEvents(ctx context.Context, kube kubernetes.Interface) error {
	list, err := kube.CoreV1().Events(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list events: %w", err)
	}
	for _, e := range list.Items {
		if time.Since(lastSeen(&e)) <= cluster.EventTTL {
			continue
		}
		err := kube.CoreV1().Events(e.Namespace).Delete(ctx, e.Name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("delete event %s/%s: %w", e.Namespace, e.Name, err)
		}
	}
	return nil
}

func lastSeen(e *corev1.Event) time.Time {
	last := e.CreationTimestamp.Time
	times := []time.Time{e.LastTimestamp.Time, e.EventTime.Time}
	if e.Series != nil {
		times = append(times, e.Series.LastObservedTime.Time)
	}
	for _, t := range times {
		if t.After(last) {
			last = t
		}
	}
	return last
}

// cleanRequests does what the controller manager's cleaner does once an hour
// (k8s.io/kubernetes:pkg/controller/certificates/cleaner/cleaner.go): requests
// that were approved or denied are forgotten after an hour, others after a day,
// both when it next looks.
func cleanRequests(ctx context.Context, kube kubernetes.Interface) error {
	requests := kube.CertificatesV1().CertificateSigningRequests()
	list, err := requests.List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list requests: %w", err)
	}
	for _, req := range list.Items {
		last := req.CreationTimestamp.Time
		limit := 24 * time.Hour
		for _, c := range req.Status.Conditions {
			if c.Type == certificatesv1.CertificateApproved || c.Type == certificatesv1.CertificateDenied {
				last, limit = c.LastUpdateTime.Time, time.Hour
			}
		}
		if time.Since(last) <= limit+time.Hour {
			continue
		}
		if err := requests.Delete(ctx, req.Name, metav1.DeleteOptions{}); err != nil {
			return fmt.Errorf("delete request %s: %w", req.Name, err)
		}
	}
	return nil
}
