package metalhost

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
)

// Runner works on one run.
type Runner struct {
	Journal     *Journal
	API         API
	Credentials func() (Credentials, error) // asked for where the Secret is to be made
	Every       time.Duration               // between looks; 0 is 5 s
	Stuck       time.Duration               // how long metal3 must report one error until the wait ends; 0 is 5 min
	Until       time.Time                   // until when first certificates are expected
	Report      func(text string)
	// SecretsGo allows a rollback with which Secrets of others are deleted: see loses.
	SecretsGo bool

	mu   sync.Mutex
	seen host // that was read last
	said map[string]string
}

// StuckError is something that holds the host and does not pass by itself.
type StuckError struct{ Text string }

// Error implements error.
func (e *StuckError) Error() string { return e.Text }

// LateError is what was still waited for when the time was over.
type LateError struct{ For string }

// Error implements error.
func (e *LateError) Error() string { return "not ready in time: " + e.For }

// RefusedError is a guard that has stopped the run before a write.
type RefusedError struct{ Checks []Check }

// Error implements error.
func (e *RefusedError) Error() string {
	var all []string
	for _, c := range e.Checks {
		all = append(all, c.Text)
	}
	return "nothing more was changed: " + strings.Join(all, "; ")
}

func (r *Runner) say(about, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if r.said == nil {
		r.said = map[string]string{}
	}
	if r.said[about] != text {
		r.said[about] = text
		r.Report(text)
	}
}

// pause waits for the next look; its error is that the time is over.
func (r *Runner) pause(ctx context.Context) error {
	every := r.Every
	if every == 0 {
		every = 5 * time.Second
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(every):
		return nil
	}
}

// definite says that an answer is about the write and not about the server: nothing was stored.
func definite(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsAlreadyExists(err) ||
		apierrors.IsConflict(err) || apierrors.IsMethodNotSupported(err) || apierrors.IsNotFound(err) || apierrors.IsUnauthorized(err)
}

// Make makes the Secret and the BareMetalHost, or finds those that the run has made.
func (r *Runner) Make(ctx context.Context) error {
	p, s := r.Journal.Plan, r.Journal.Status()
	if !p.Host.HaveSecret && s.Secret == "" {
		content := func() (kube.Object, func(error) error, error) {
			c, err := r.Credentials()
			if err != nil {
				return nil, nil, err
			}
			return p.Host.secretManifest(p.Run, c), c.hide, nil
		}
		if err := r.make(ctx, made{secretRef(p.Host.Secret), "Secret " + p.Host.Secret, MakingSecret, MadeSecret}, content); err != nil {
			return err
		}
	}
	if s.Host != "" {
		return nil
	}
	return r.make(ctx, made{hostRef(p.Host.Name), "BareMetalHost " +
		"" + p.Host.Name, MakingHost, MadeHost}, func() (kube.Object, func(error) error, error) {
		return p.Host.Manifest(p.Run), func(err error) error { return err }, nil
	})
}

// made is an object that a run makes.
type made struct {
	ref           kube.Ref
	what          string
	making, ready Kind
}

func (r *Runner) make(ctx context.Context, m made, content func() (kube.Object, func(error) error, error)) error {
	if r.Journal.Status().did(m.making) {
		found, err := r.find(ctx, m)
		if found || err != nil {
			return err
		}
	}
	o, hide, err := content()
	if err != nil {
		return err
	}
	if err := r.Journal.add(Record{Kind: m.making}); err != nil {
		return err
	}
	stored, err := r.API.Create(ctx, m.ref, o, false)
	if err == nil {
		return r.record(m, stored, "made")
	}
	err = hide(err)
	if definite(err) {
		return fmt.Errorf("create %s: %w; it was not made", m.what, err)
	}
	found, findErr := r.find(ctx, m)
	switch {
	case found:
		return nil
	case findErr != nil:
		return errors.Join(fmt.Errorf("create %s: %w", m.what, err), findErr)
	}
	return fmt.Errorf("create %s: %w; it was not made", m.what, err)
}

// find looks for an object that the run has made without knowing it. One of others is an error.
func (r *Runner) find(ctx context.Context, m made) (bool, error) {
	o, err := r.API.Get(ctx, m.ref)
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("find out whether %s was made: %w", m.what, err)
	case evidence.String(o, "metadata", "annotations", RunAnnotation) != r.Journal.Plan.Run:
		return false, fmt.Errorf("%s is there and was not made by this run: it is not changed", m.what)
	}
	return true, r.record(m, o, "was made by this run before")
}

func (r *Runner) record(m made, o kube.Object, how string) error {
	uid := evidence.String(o, "metadata", "uid")
	if uid == "" {
		return fmt.Errorf("the API server returned %s without a uid", m.what)
	}
	r.Report(m.what + " " + how)
	return r.Journal.add(Record{Kind: m.ready, UID: uid})
}

// leastHidden is the length from which a credential is looked for in an error: a shorter one can be a part
// of a word.
const leastHidden = 4

// hide is an error without the credentials, where an answer repeats them. Its kind is kept.
func (c Credentials) hide(err error) error {
	text := err.Error()
	for _, secret := range []string{c.Password, base64.StdEncoding.EncodeToString([]byte(c.Password)), base64.StdEncoding.EncodeToString([]byte(c.User))} {
		if len(secret) >= leastHidden && strings.Contains(text, secret) {
			if definite(err) {
				return apierrors.NewBadRequest("the answer of the API server repeats the credentials, and is not shown")
			}
			return errors.New("the answer of the API server repeats the credentials, and is not shown")
		}
	}
	return err
}

// look reads the host of the run. It must be the one that was made.
func (r *Runner) look(ctx context.Context) (host, error) {
	name, uid := r.Journal.Plan.Host.Name, r.Journal.Status().Host
	if x := r.Journal.Plan.Replaces; x != nil {
		uid = x.TakesUID
	}
	o, err := r.API.Get(ctx, hostRef(name))
	if apierrors.IsNotFound(err) {
		return host{}, fmt.Errorf("BareMetalHost %s: %w", name, errGone)
	}
	if err != nil {
		return host{}, err
	}
	h := hostOf(o)
	if h.uid != uid {
		return host{}, fmt.Errorf("BareMetalHost %s was deleted and made again by somebody else (uid %s, was %s): %w", name, h.uid, uid, errGone)
	}
	r.mu.Lock()
	r.seen = h
	r.mu.Unlock()
	return h, nil
}

// wait looks at the host until done says so, reports what changes, and ends when one error of metal3 stands.
func (r *Runner) wait(ctx context.Context, what string, done func(host) (bool, error)) error {
	began, kind := time.Time{}, ""
	for {
		h, err := r.look(ctx)
		switch {
		case errors.Is(err, errGone):
			return err
		case err != nil && ctx.Err() == nil:
			r.say("host", "BareMetalHost %s is not read: %v; trying again", r.Journal.Plan.Host.Name, err)
		case err == nil:
			if h.deleting {
				return fmt.Errorf("BareMetalHost %s is being deleted by somebody else", h.name)
			}
			r.say("host", "%s", h.text())
			if ok, err := done(h); ok || err != nil {
				return err
			}
			if h.errorType != kind {
				began, kind = time.Now(), h.errorType
			}
			if kind != "" && time.Since(began) >= r.stuck() {
				return &StuckError{h.text()}
			}
		}
		if r.pause(ctx) != nil {
			return &LateError{what}
		}
	}
}

func (r *Runner) stuck() time.Duration {
	if r.Stuck == 0 {
		return 5 * time.Minute
	}
	return r.Stuck
}

// Available waits until a Machine can take the host, or has.
func (r *Runner) Available(ctx context.Context) error {
	return r.wait(ctx, "a Machine cannot take the host yet (it is not available)", func(h host) (bool, error) {
		return h.free() || h.consumer != "", nil
	})
}

// Taken waits until a Machine of the MachineSet has taken the host.
func (r *Runner) Taken(ctx context.Context) error {
	if r.Journal.Status().Taken.Name != "" {
		return nil
	}
	p := r.Journal.Plan
	return r.wait(ctx, "no Machine has taken the host: `oc -n "+Namespace+" get machines`", func(h host) (bool, error) {
		switch {
		case h.consumer == "" || p.Replaces != nil && h.consumer == p.Replaces.Machine:
			return false, r.elsewhere(ctx)
		case h.foreign:
			return false, fmt.Errorf("BareMetalHost %s was taken by %s, which is no Machine of %s", h.name, h.consumer, Namespace)
		}
		o, err := r.API.Get(ctx, machineRef(h.consumer))
		if err != nil {
			r.say("machine", "Machine %s is not read: %v; trying again", h.consumer, err)
			return false, nil
		}
		setObject, err := r.API.Get(ctx, setRef(p.Set))
		if err != nil {
			r.say("machine", "MachineSet %s is not read: %v; trying again", p.Set, err)
			return false, nil
		}
		m := machineOf(o)
		if len(inSet(setOf(setObject), []machine{m})) == 0 {
			return false, fmt.Errorf("BareMetalHost %s was taken by Machine %s, which is not of MachineSet %s", h.name, m.name, p.Set)
		}
		r.Report("Machine " + m.name + " has taken the host")
		return true, r.Journal.add(Record{Kind: Consumed, Name: m.name, UID: m.uid})
	})
}

// elsewhere is an error where the Machine that this run has caused took another host: the provider chooses
// at random among those that are available.
func (r *Runner) elsewhere(ctx context.Context) error {
	if s := r.Journal.Status(); !s.did(Scaled) && !s.did(DeletedMachine) {
		return nil
	}
	fresh, err := r.fresh(ctx)
	if err != nil || len(fresh) != 1 {
		return nil //nolint:nilerr // it is looked at again
	}
	switch m := fresh[0]; {
	case m.host != "" && m.host != Namespace+"/"+r.Journal.Plan.Host.Name:
		return fmt.Errorf("the new Machine %s took another host (%s): this one stays available", m.name, m.host)
	case m.failed != "":
		r.say("machine", "Machine %s waits: %s", m.name, m.failed)
	}
	return nil
}

// Node waits until the host's Node is Ready and is that of its Machine.
func (r *Runner) Node(ctx context.Context) error {
	if r.Journal.Status().Node.Name != "" {
		return nil
	}
	taken := r.Journal.Status().Taken
	return r.wait(ctx, "its Node is not Ready", func(h host) (bool, error) {
		if h.consumer != taken.Name {
			return false, fmt.Errorf("BareMetalHost %s is not that of Machine %s any more (%s)", h.name, taken.Name, orText(h.consumer, "of none"))
		}
		o, err := r.API.Get(ctx, machineRef(taken.Name))
		switch {
		case apierrors.IsNotFound(err), err == nil && evidence.String(o, "metadata", "uid") != taken.UID:
			return false, fmt.Errorf("the Machine %s was deleted while this command waited", taken.Name)
		case err != nil:
			r.say("machine", "Machine %s is not read: %v; trying again", taken.Name, err)
			return false, nil
		}
		m := machineOf(o)
		switch {
		case m.deleting:
			return false, fmt.Errorf("the Machine %s is being deleted by somebody else", m.name)
		case m.phase == "Failed":
			return false, &StuckError{"Machine " + m.name + " has failed: " + orText(m.failed, "it says no reason")}
		case m.node == "":
			r.say("machine", "Machine %s is %s and has no Node", m.name, orText(m.phase, "new"))
			return false, r.loose(ctx, h)
		}
		return r.ready(ctx, m)
	})
}

// loose reports a Node of the host's name that the Machine does not refer to: its addresses are not those of
// the inspection (openshift/machine-api-operator:pkg/controller/nodelink/nodelink_controller.go
// findMachineFromNode goes by providerID and InternalIP).
func (r *Runner) loose(ctx context.Context, h host) error {
	if h.hostname == "" {
		return nil
	}
	n, err := r.API.Get(ctx, kube.Ref{Version: "v1", Resource: "nodes", Name: strings.ToLower(h.hostname)})
	if err == nil && !timeOf(n, "metadata", "creationTimestamp").Before(r.Journal.Plan.Made.Truncate(time.Second)) {
		r.say("node", "Node %s is there, and its Machine does not refer to it: are its addresses those of the inspection (%s)?", h.hostname,
			strings.Join(h.ips, ", "))
	}
	return nil
}

func (r *Runner) ready(ctx context.Context, m machine) (bool, error) {
	n, err := r.API.Get(ctx, kube.Ref{Version: "v1", Resource: "nodes", Name: m.node})
	if err != nil {
		r.say("node", "Node %s is not read: %v; trying again", m.node, err)
		return false, nil
	}
	uid := evidence.String(n, "metadata", "uid")
	if timeOf(n, "metadata", "creationTimestamp").Before(r.Journal.Plan.Made.Truncate(time.Second)) {
		return false, fmt.Errorf("Node %s of Machine %s is older than this run: it is another machine", m.node, m.name)
	}
	conditions, _ := evidence.Field(n, "status", "conditions").([]any)
	for _, c := range conditions {
		if c, is := c.(map[string]any); is && c["type"] == "Ready" && c["status"] == "True" {
			r.Report("Node " + m.node + " is Ready")
			return true, r.Journal.add(Record{Kind: Joined, Name: m.node, UID: uid})
		}
	}
	r.say("node", "Node %s has registered and is not Ready yet", m.node)
	return false, nil
}

// Expected is the host of the run for the approver: by the name and the addresses of its inspection, which
// its Machine has too, and only while a Machine of the run has it.
func (r *Runner) Expected() []csr.Expectation {
	taken := r.Journal.Status().Taken
	r.mu.Lock()
	h := r.seen
	r.mu.Unlock()
	name := strings.TrimSuffix(strings.ToLower(h.hostname), ".")
	written := h.state == "provisioned" || h.state == "provisioning"
	if taken.Name == "" || h.consumer != taken.Name || !written || name == "" || strings.HasPrefix(name, "localhost") {
		return nil
	}
	p := r.Journal.Plan
	ips := append([]string{}, p.Host.IPs...)
	return []csr.Expectation{{
		Name: name, Role: "worker", IPs: append(ips, h.ips...), Source: "run " + p.Run + " of rollcall host, BareMetalHost " +
			Namespace + "/" + h.name,
		NotBefore: taken.Time, NotAfter: r.Until,
		Boot: fmt.Sprintf("Machine %s took it at %s", taken.Name, taken.Time.UTC().Format(time.RFC3339)),
	}}
}
