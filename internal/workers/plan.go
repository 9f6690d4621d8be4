package workers

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/workers/provider"
)

// Plan is what a run makes. It holds no secret.
type Plan struct {
	Run          string            `json:"run"`
	Made         time.Time         `json:"made"`
	Hosted       string            `json:"hosted"`    // namespace/name of the HostedCluster
	HostedUID    string            `json:"hostedUID"` // a cluster of the same name that was made later is another one
	ControlPlane string            `json:"controlPlane"`
	Kubeconfig   string            `json:"hostedKubeconfig,omitempty"` // file of --hosted-kubeconfig; "": the Secret of the HostedCluster
	NodePool     string            `json:"nodePool"`
	Provider     string            `json:"provider"`
	Options      map[string]string `json:"options,omitempty"` // of the provider
	Workers      []provider.Worker `json:"workers"`
	Image        provider.Image    `json:"image,omitzero"`     // the boot image of the release
	Replaces     map[string]Old    `json:"replaces,omitempty"` // name of a worker to the one that it replaces
	MaxSurge     int               `json:"maxSurge,omitempty"` // with Replaces: see RollOptions
	Unavailable  int               `json:"maxUnavailable,omitempty"`
	Unmanaged    bool              `json:"unmanaged,omitempty"` // with Replaces: see Drain
	EmptyDir     bool              `json:"emptyDir,omitempty"`
	KeepAtLeast  int               `json:"keepAtLeast,omitempty"`
	SmokePod     bool              `json:"smokePod,omitempty"` // a pod is tried on each worker that is Ready, at the end
	Until        time.Time         `json:"until"`              // until when first certificates are approved, of machines that are begun at Made
}

// Drained adds what was allowed when a replacement began to what is allowed now: who resumes it
// need not say it again, and can allow more.
func (p Plan) Drained(d Drain) Drain {
	d.Unmanaged, d.EmptyDir = d.Unmanaged || p.Unmanaged, d.EmptyDir || p.EmptyDir
	d.KeepAtLeast = max(d.KeepAtLeast, p.KeepAtLeast)
	return d
}

// Old is a worker that is replaced, of an earlier run.
type Old struct {
	Run    string `json:"run"`
	Worker string `json:"worker"`
}

var runForm = regexp.MustCompile(`^w-[0-9a-f]{10}$`)

// NewRun returns an id for a run.
func NewRun() (string, error) {
	raw := make([]byte, 5)
	if _, err := rand.Read(raw); err != nil {
		return "", fmt.Errorf("name the run: %w", err)
	}
	return "w-" + hex.EncodeToString(raw), nil
}

// NewSuffix returns what makes the name of a worker different from all others.
func NewSuffix() (string, error) {
	const letters = "bcdfghjklmnpqrstvwxz2456789" // k8s.io/apimachinery/pkg/util/rand: spells no word
	raw := make([]byte, 5)
	if _, err := rand.Read(raw); err != nil {
		return "", fmt.Errorf("name the worker: %w", err)
	}
	for i := range raw {
		raw[i] = letters[int(raw[i])%len(letters)]
	}
	return string(raw), nil
}

// Order is what is common to the orders of a plan's workers.
func (p Plan) Order() provider.Order {
	return provider.Order{Run: p.Run, Hosted: p.Hosted, NodePool: p.NodePool, Image: p.Image, Options: p.Options}
}

// MaxWorkers bounds one run.
const MaxWorkers = 500

// Check refuses a plan that can be meant in two ways.
func (p Plan) Check() error {
	switch {
	case !runForm.MatchString(p.Run):
		return fmt.Errorf("%.40q is not the id of a run", p.Run)
	case len(p.Workers) == 0:
		return errors.New("no worker is named")
	case len(p.Workers) > MaxWorkers:
		return fmt.Errorf("%d workers: at most %d in one run", len(p.Workers), MaxWorkers)
	case !p.Until.After(p.Made):
		return errors.New("the time window ends before it begins")
	}
	if len(p.Replaces) > 0 && len(p.Replaces) != len(p.Workers) {
		return fmt.Errorf("%d workers replace %d", len(p.Workers), len(p.Replaces))
	}
	holder := map[string]string{}
	for _, w := range p.Workers {
		if err := checkWorker(w); err != nil {
			return err
		}
		for _, claim := range slices.Concat([]string{w.Name}, w.IPs, w.DNS) {
			if other, taken := holder[claim]; taken {
				return fmt.Errorf("%s is of the workers %s and %s", claim, other, w.Name)
			}
			holder[claim] = w.Name
		}
	}
	return nil
}

func checkWorker(w provider.Worker) error {
	if problems := validation.IsDNS1123Subdomain(w.Name); len(problems) > 0 || len(w.Name) > 63 {
		// kubernetes.io/hostname, the label of the Node, has at most 63 characters.
		return fmt.Errorf("worker %.80q: want a host name in lower case, with at most 63 characters", w.Name)
	}
	if w.Name == "localhost" || strings.HasPrefix(w.Name, "localhost.") {
		return fmt.Errorf("worker %q: every host without a name of its own is called so", w.Name)
	}
	for _, ip := range w.IPs {
		if a, err := netip.ParseAddr(ip); err != nil || a.Zone() != "" || a.Unmap().String() != ip {
			return fmt.Errorf("worker %s: %.80q is not an address", w.Name, ip)
		}
	}
	for _, name := range w.DNS {
		if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
			return fmt.Errorf("worker %s: %.80q is not a host name", w.Name, name)
		}
	}
	return nil
}

// worker returns the worker of a name.
func (p Plan) worker(name string) (provider.Worker, bool) {
	i := slices.IndexFunc(p.Workers, func(w provider.Worker) bool { return w.Name == name })
	if i < 0 {
		return provider.Worker{}, false
	}
	return p.Workers[i], true
}

// expectation is what may be approved for a worker: its first certificate within the window of
// the run, counted from when its machine was begun, and serving certificates of its names and
// addresses. The last machine of a replacement, or one that is re-created, is begun much later
// than the run.
func (p Plan) expectation(w provider.Worker, begun time.Time) csr.Expectation {
	until := p.Until
	if end := begun.Add(p.Until.Sub(p.Made)); end.After(until) {
		until = end
	}
	return csr.Expectation{
		Name: w.Name, Role: "worker", IPs: w.IPs, DNS: w.DNS, Explicit: true, Source: "run " + p.Run + " of rollcall worker",
		NotBefore: p.Made, NotAfter: until,
		Boot: fmt.Sprintf("run %s expects it from %s until %s", p.Run, p.Made.UTC().Format(time.RFC3339), until.UTC().Format(time.RFC3339)),
	}
}
