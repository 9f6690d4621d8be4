// Package lab puts a lab together: the control plane, the seed objects, the
// machine config controller and servers, the hosts and what stands in for the
// operators that cannot run, and leads them through a scenario.
package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/rollcall-project/rollcall/lab/internal/plan"
	"github.com/rollcall-project/rollcall/lab/internal/proc"
)

// Dir is the directory that holds all of one lab.
type Dir string

// Kubeconfig is the user's kubeconfig (system:admin).
func (d Dir) Kubeconfig() string { return d.file("kubeconfig") }

// KubeconfigOf is the kubeconfig of another user, where a trouble has made one.
func (d Dir) KubeconfigOf(user string) string { return d.file("kubeconfig-" + user) }

// Host is the directory of one host (see package host).
func (d Dir) Host(name string) string { return d.file("hosts", name) }

// Console is what a person sees on a host's screen.
func (d Dir) Console(name string) string { return filepath.Join(d.Host(name), "console.log") }

// Logs holds the logs of the servers that are no pods.
func (d Dir) Logs() string { return d.file("logs") }

// BMCLog holds a line for each request that reached a BMC.
func (d Dir) BMCLog() string { return d.file("logs", "bmc.log") }

// EtcdUnhealthy is the file whose presence makes the simulated etcd operator
// report an unhealthy member; see SetEtcdUnhealthy.
func (d Dir) EtcdUnhealthy() string { return d.file("etcd-unhealthy") }

// SupervisorLog is what the supervisor had to say.
func (d Dir) SupervisorLog() string { return d.file("supervisor.log") }

func (d Dir) file(parts ...string) string {
	return filepath.Join(append([]string{string(d)}, parts...)...)
}

// DefaultDir is $XDG_STATE_HOME/rollcall/lab.
func DefaultDir() (Dir, error) {
	base := os.Getenv("XDG_STATE_HOME")
	if base == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("find the state directory: %w", err)
		}
		base = filepath.Join(home, ".local", "state")
	}
	return Dir(filepath.Join(base, "rollcall", "lab")), nil
}

// Stage is how far a lab is.
type Stage string

// The stages of a lab.
const (
	Starting Stage = "starting"
	Ready    Stage = "ready" // the scenario's steady state was reached
	Failed   Stage = "failed"
)

// State is what a supervisor tells about itself, in Dir/lab.json.
type State struct {
	Scenario string `json:"scenario"`
	MCS      string `json:"mcs"` // release of the in-cluster machine config server
	Stage    Stage  `json:"stage"`
	Step     string `json:"step"` // what it is doing, or what it reached
	// Steps is everything that it has begun so far, in order.
	Steps   []string    `json:"steps,omitempty"`
	Error   string      `json:"error,omitempty"`
	PID     int         `json:"pid"`
	Started time.Time   `json:"started"`
	Net     plan.Net    `json:"net"`
	Procs   []proc.Info `json:"processes"`
	Hosts   []string    `json:"hosts"`
	// Addresses are the hosts' own.
	Addresses map[string]string `json:"addresses"`
	// Aging is set while time passes (Lab.Age): what was moved and what was not stand
	// side by side. Aged counts how often it has.
	Aging bool `json:"aging,omitempty"`
	Aged  int  `json:"aged,omitempty"`
	// Installed is when the cluster was made; a snapshot keeps it.
	Installed time.Time `json:"installed"`
	// Snapshot is set in a snapshot: the directory in which it was made.
	Snapshot string `json:"snapshot,omitempty"`
	// FirstRender and ClusterRender name the master pool's config as the
	// bootstrap controller and as the in-cluster controller rendered it.
	FirstRender   string `json:"firstRender,omitempty"`
	ClusterRender string `json:"clusterRender,omitempty"`
}

const (
	stateFile    = "lab.json"
	snapshotFile = "snapshot.json" // the state of the lab that this one continues with
)

// ReadState reads a lab's state; a directory without a lab gives an error that
// is fs.ErrNotExist.
func (d Dir) ReadState() (State, error) {
	return readState(d.file(stateFile))
}

func readState(path string) (State, error) {
	var s State
	data, err := os.ReadFile(path)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("read %s: %w", path, err)
	}
	return s, nil
}

func (d Dir) writeState(s State) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	tmp := d.file("." + stateFile)
	if err := os.WriteFile(tmp, append(data, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, d.file(stateFile))
}

// Claim says in the state whose process the lab is.
func (d Dir) Claim() error {
	s, err := d.ReadState()
	if err != nil {
		return err
	}
	s.PID = os.Getpid()
	return d.writeState(s)
}

// Create makes the directory and marks it as a lab's. A directory that holds
// something else is refused.
func (d Dir) Create(scenario string) error {
	entries, err := os.ReadDir(string(d))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if _, err := os.Stat(d.file(stateFile)); len(entries) > 0 && err != nil {
		return fmt.Errorf("use %s: it is not empty and holds no lab", d)
	}
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return err
	}
	return d.writeState(State{Scenario: scenario, Stage: Starting, Started: time.Now().UTC()})
}

// Remove deletes the directory of a lab, and nothing that is none.
func (d Dir) Remove() error {
	if _, err := os.Stat(d.file(stateFile)); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return err
	}
	// The mark goes last, so that an interrupted removal can be repeated.
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == stateFile {
			continue
		}
		if err := os.RemoveAll(d.file(e.Name())); err != nil {
			return err
		}
	}
	return os.RemoveAll(string(d))
}

// Lock takes the lock that a supervisor holds while it lives; the kernel frees
// it however the supervisor ends. It returns false when another one holds it.
func (d Dir) Lock() (release func(), ok bool, err error) { return lock(string(d) + ".lock") }

// LockCommands takes the lock of the commands that start and stop.
func (d Dir) LockCommands() (release func(), ok bool, err error) {
	return lock(string(d) + ".command.lock")
}

// The lock files lie next to the directory, so that removing it does not hand
// out a second lock.
func lock(path string) (func(), bool, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, false, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, false, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		f.Close()
		return nil, false, nil
	}
	if err != nil {
		f.Close()
		return nil, false, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { f.Close() }, true, nil
}

// RemoveLocks deletes the lock files once nothing is left to lock. Who waits
// for one of them then takes a new file; both hold only while commands run.
func (d Dir) RemoveLocks() error {
	for _, name := range []string{string(d) + ".lock", string(d) + ".command.lock"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}
