package session

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube/kubeconfig"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
	"github.com/rollcall-project/rollcall/internal/source/console"
	"github.com/rollcall-project/rollcall/internal/source/live"
	"github.com/rollcall-project/rollcall/internal/source/ssh"
)

// Options say what is read, and how. They are a value: who needs others makes a copy.
type Options struct {
	From       []string // archives, as paths; "-" is standard input
	InstallDir string   // of openshift-install
	Rendezvous string   // address of the rendezvous host of an agent-based installation
	Kube       kubeconfig.Flags

	Consoles []string       // HOST=FILE
	Screens  []console.Spec // consoles that are in memory, never on a disk
	Asked    []ssh.Result   // hosts on which rollcall-host was run; Open adds what it finds out
	Expect   []string       // NAME or NAME=IP,...: hosts that no object of the cluster has to name
	Now      string         // RFC 3339; "": the newest time of the source, or the clock

	Also        []evidence.Need // what is read in addition to what facts read: a packed archive is read once
	Whole       bool            // keep what no fact reads, too
	ReadSecrets []string        // namespaces
	Journals    bool
	Probe       bool
	Masters     []string // HOST=IP or HOST=IP:PORT
	ProbeFrom   string   // node/NAME

	Hosted           string // NAMESPACE/NAME of a HostedCluster, or hosted.None
	HostedKubeconfig string // file

	Catalogs    []string // directories with faults of the user
	Only, Skip  []string // ids of faults
	Accept      string   // file with accepted findings; "": nothing is accepted
	AcceptNamed bool     // Accept comes from the flag, and not from the environment
	Deciding    bool     // findings about hosts that decide nothing are only counted: the answer does not show them

	ofDir string // the kubeconfig that InstallDir stands for
}

// Named reports whether the options name what is read: otherwise it is the cluster of the kubeconfig.
func (o *Options) Named() bool {
	return len(o.From)+len(o.Connection())+len(o.Consoles) > 0 || o.InstallDir != "" || o.Rendezvous != "" || o.Hosted != ""
}

// UsageError is a mistake in the options. A command prints it with a pointer to its help.
type UsageError struct{ Err error }

// Error implements error.
func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UsageError) Unwrap() error { return e.Err }

// Usagef returns a UsageError.
func Usagef(format string, args ...any) error {
	return &UsageError{fmt.Errorf(format, args...)}
}

// parseNow reads Now; the zero time where it is not given.
func (o *Options) parseNow() (time.Time, error) {
	if o.Now == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, o.Now)
	if err != nil {
		return time.Time{}, Usagef("--now %q is not an RFC 3339 time; write it as 2026-05-01T12:00:00Z", o.Now)
	}
	return t.UTC(), nil
}

// Again are the flags that read the same source once more.
func (o *Options) Again() string {
	var words []string
	add := func(flag, value string) {
		if value != "" {
			words = append(words, flag, shellcommand.Quote(value))
		}
	}
	each := func(flag string, values []string) {
		for _, v := range values {
			add(flag, v)
		}
	}
	each("--from", o.From)
	if len(o.Connection()) == 0 { // with a cluster, it is read again alone
		for _, r := range o.Asked {
			if r.Path != "" { // all are in one directory
				add("--from", filepath.Dir(r.Path))
				break
			}
		}
	}
	add("--install-dir", o.InstallDir)
	add("--rendezvous", o.Rendezvous)
	each("--console", o.Consoles)
	each("--expect", o.Expect)
	add("--now", o.Now)
	each("--catalog", o.Catalogs)
	each("--master", o.Masters)
	add("--probe-from", o.ProbeFrom)
	if len(o.From) > 0 && o.Probe {
		words = append(words, "--probe")
	}
	if len(o.From) == 0 || o.Probe {
		words = append(words, o.Connection()...)
	}
	return strings.Join(words, " ")
}

// Connection repeats the flags that name a cluster.
func (o *Options) Connection() []string {
	var words []string
	for _, f := range []struct {
		flag, value string
	}{{"--kubeconfig", o.Kube.KubeConfig}, {"--context", o.Kube.Context}, {"--server", live.ShownHost(o.Kube.APIServer)}} {
		if f.value != "" && (f.flag != "--kubeconfig" || f.value != o.ofDir) {
			words = append(words, f.flag, shellcommand.Quote(f.value))
		}
	}
	return words
}

// AnswerFlags are the flags that change an answer, as the commands that give it take them.
func (o *Options) AnswerFlags() string {
	if !o.AcceptNamed {
		return "" // the variable is still there
	}
	return "--accept " + shellcommand.Quote(o.Accept)
}
