package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/rollcall-project/rollcall/internal/crash"
)

// pluginTime is how long a credential plugin may take where the user gives no --request-timeout: somebody may log in.
const pluginTime = 2 * time.Minute

// pluginVariable marks the processes of plugins in their environment, so that they are found again.
const pluginVariable = "ROLLCALL_CREDENTIAL_PLUGIN"

// plugin is a credential plugin of a kubeconfig (client-go's plugin/pkg/client/auth/exec). client-go keeps one for all
// clients of the same configuration, runs it without a context around the transports that it is given, and holds a lock
// meanwhile: so one request runs it, and the others wait for their turn.
type plugin struct {
	name string
	mark string        // the value of pluginVariable
	turn chan struct{} // full while a request runs it, or waits for client-go to see that it need not

	using sync.RWMutex // held for reading while client-go has a request, and may run it
	words *words
}

// plugins are those of this process.
var plugins struct {
	mu   sync.Mutex
	list map[string]*plugin
	made int // how many there have been
}

// pluginOf is the plugin that a configuration names.
func pluginOf(c *api.ExecConfig) *plugin {
	plugins.mu.Lock()
	defer plugins.mu.Unlock()
	key := fmt.Sprintf("%q %q %q", c.Command, c.Args, c.Env)
	p := plugins.list[key]
	if p == nil {
		if plugins.list == nil {
			plugins.list = map[string]*plugin{}
		}
		name := filepath.Base(c.Command)
		p = &plugin{name: name, mark: fmt.Sprintf("%d-%d", os.Getpid(), plugins.made), turn: make(chan struct{}, 1), words: newWords(name)}
		plugins.list[key] = p
		plugins.made++
	}
	return p
}

// marked is a configuration whose plugin has its mark in its environment.
func (p *plugin) marked(c *api.ExecConfig) *api.ExecConfig {
	c = c.DeepCopy()
	c.Env = append(slices.Clone(c.Env), api.ExecEnvVar{Name: pluginVariable, Value: p.mark})
	return c
}

// unused waits until client-go has no request that may run the plugin, and keeps others from beginning.
func (p *plugin) unused(within time.Duration) bool {
	const pause = 5 * time.Millisecond
	for end := time.Now().Add(within); ; time.Sleep(pause) {
		if p.using.TryLock() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

// EndPlugins ends the credential plugins that are still waited for and shows what they have written, for the end of the
// program. A pipe that client-go may still give to a plugin is left open: the end of the program closes it.
func EndPlugins() {
	plugins.mu.Lock()
	list := plugins.list
	plugins.list = nil
	plugins.mu.Unlock()
	for _, p := range list {
		free := p.unused(0)
		if !free {
			endMarked(p.mark)
			free = p.unused(shownTime)
		}
		if !free {
			p.words.flush()
			continue
		}
		p.words.close()
		p.using.Unlock()
	}
}

// PluginError says that a credential plugin has given no credential in time.
type PluginError struct {
	Name   string
	Within time.Duration // how long it was waited for
	cause  error         // the end of the request's context, if that was it
}

// Error implements error.
func (e *PluginError) Error() string {
	return fmt.Sprintf("the credential plugin %.60q of the kubeconfig has given no credential within %v: log in first (as with oc login), "+
		"run the plugin by itself to see what it waits for, or give it more time with --request-timeout", e.Name, e.Within.Round(time.Millisecond))
}

// Unwrap is the end of the context, which tells an interruption from a timeout.
func (e *PluginError) Unwrap() error { return e.cause }

// Timeout makes it one of net.Error's timeouts.
func (e *PluginError) Timeout() bool { return !errors.Is(e.cause, context.Canceled) }

// Temporary completes net.Error.
func (*PluginError) Temporary() bool { return false }

// withPlugin is the transport around client-go's, which runs the plugin: it ends the wait for it.
type withPlugin struct {
	next   http.RoundTripper
	below  *protected // what next comes to when there is a credential
	plugin *plugin
	asked  time.Duration // --request-timeout, 0 without
}

// WrappedRoundTripper lets client-go find the transport below.
func (t withPlugin) WrappedRoundTripper() http.RoundTripper { return t.next }

// call is a request on its way through client-go's transports.
type call struct {
	entered, left        chan struct{} // closed when the request comes to the transport below, and when that has its answer
	enterOnce, leaveOnce sync.Once
	releaseOnce          sync.Once
	plugin               *plugin
	overdue              *time.Timer
}

type callKey struct{}

// enter notes that there is a credential: the next request may ask for it.
func (c *call) enter() {
	c.release()
	c.enterOnce.Do(func() { close(c.entered) })
}

// leave notes that the server has answered: client-go may run the plugin again.
func (c *call) leave() {
	c.plugin.words.next()
	c.leaveOnce.Do(func() { close(c.left) })
}

func (c *call) release() {
	c.releaseOnce.Do(func() {
		c.overdue.Stop()
		<-c.plugin.turn
	})
}

type answer struct {
	resp *http.Response
	err  error
}

// RoundTrip implements http.RoundTripper. What the plugin has written is shown before an error.
func (t withPlugin) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.roundTrip(req)
	if err != nil {
		t.plugin.words.flush()
	}
	return resp, err
}

func (t withPlugin) roundTrip(req *http.Request) (*http.Response, error) {
	began, patience, within := time.Now(), t.below.patienceWith(req), pluginTime
	if t.asked > 0 {
		within = patience.within(t.asked, t.below.l.Patience, began)
	}
	wait, stop := context.WithTimeout(req.Context(), within)
	defer stop()
	select {
	case t.plugin.turn <- struct{}{}:
	case <-wait.Done():
		return nil, t.gaveUp(req, patience, began)
	}
	c := &call{entered: make(chan struct{}), left: make(chan struct{}), plugin: t.plugin}
	c.overdue = time.AfterFunc(within, crash.Func(func() { endMarked(t.plugin.mark) }))
	done := make(chan answer, 1)
	// The request is a copy: client-go puts the credential in its header, and may do so when nobody waits any more.
	sent := req.Clone(context.WithValue(req.Context(), callKey{}, c))
	go crash.Func(func() {
		defer c.release()
		t.plugin.using.RLock()
		defer t.plugin.using.RUnlock()
		resp, err := t.next.RoundTrip(sent)
		done <- answer{resp, err}
	})()
	select {
	case a := <-done:
		return a.resp, a.err
	case <-c.entered: // the transport below bounds it
	case <-wait.Done():
		go crash.Func(func() { drop(<-done) })()
		return nil, t.gaveUp(req, patience, began)
	}
	select {
	case a := <-done:
		return a.resp, a.err
	case <-c.left:
	}
	// Where the server refuses the credential, client-go runs the plugin again before it returns.
	now := time.Now()
	again := time.NewTimer(within)
	defer again.Stop()
	select {
	case a := <-done:
		return a.resp, a.err
	case <-req.Context().Done():
	case <-again.C:
		endMarked(t.plugin.mark)
	}
	select {
	case a := <-done: // both: the answer is what counts
		return a.resp, a.err
	default:
	}
	go crash.Func(func() { drop(<-done) })()
	return nil, t.gaveUp(req, patience, now)
}

// drop closes an answer that came too late.
func drop(a answer) {
	if a.err == nil {
		_ = a.resp.Body.Close()
	}
}

func (t withPlugin) gaveUp(req *http.Request, p *patience, began time.Time) error {
	now := time.Now()
	cause := context.Cause(req.Context())
	if cause == nil {
		cause = context.DeadlineExceeded
	}
	if !errors.Is(req.Context().Err(), context.Canceled) {
		p.failed(t.below.l.Patience, began, now)
	}
	return &PluginError{Name: t.plugin.name, Within: now.Sub(began), cause: cause}
}
