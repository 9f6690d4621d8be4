package repair

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// APIVersion and Kind of a plan on file.
const (
	APIVersion = "rollcall.dev/v1alpha1"
	planKind   = "RepairPlan"
)

// Plan is a repair as data. It is saved, reviewed and applied as saved.
type Plan struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	ID         string    `json:"id"`
	Created    time.Time `json:"created"`
	Cluster    ClusterID `json:"cluster"`
	Context    string    `json:"context,omitempty"` // of the kubeconfig, for people
	Root       fault.Key `json:"root"`
	Title      string    `json:"title"`
	Before     Before    `json:"before,omitzero"`
	Steps      []Step    `json:"steps"`
	// Open is what the plan does not contain, and what would supply it.
	Open []string `json:"open,omitempty"`
	// Notes are what a reader is to know that is no step.
	Notes []string `json:"notes,omitempty"`
	// Outside is what a person has to do where no step can.
	Outside []string `json:"outside,omitempty"`
	// From is the archive that the plan was made from: it shows what would be done, and is
	// never applied. Empty: it was made from the cluster itself.
	From string `json:"from,omitempty"`

	file string // digest of the file that it was loaded from; "" where it was made here
}

// ClusterID is how the cluster of a plan is recognized again.
type ClusterID struct {
	ID     string `json:"id"`     // ClusterVersion version .spec.clusterID; of a hosted cluster HostedCluster .spec.clusterID
	Server string `json:"server"` // for people; addresses may change
	CA     string `json:"ca"`     // digest of the CA that the API server was verified with
	// Hosted is NAMESPACE/NAME of the HostedCluster, where the plan is for a hosted cluster. Server and CA
	// are then those of its management cluster, to which the plan writes.
	Hosted string `json:"hosted,omitempty"`
}

// Grade says how a step is known to work.
type Grade string

// Grades: on the real servers; on a simulation of one side; from reading only.
const (
	ProvedInLab Grade = "lab"
	Simulated   Grade = "simulated"
	Advice      Grade = "advice"
)

// grades lists the grades, best first.
func grades() []Grade { return []Grade{ProvedInLab, Simulated, Advice} }

// ActionName names what a step does: one of actions.
type ActionName string

// Step is one typed act or wait.
type Step struct {
	ID            string      `json:"id"` // "1-adopt-spec-config"; the number is the order
	Action        ActionName  `json:"action"`
	Title         string      `json:"title"`
	Subject       string      `json:"subject"` // "pool/master", "host/control0"
	Risk          fault.Risk  `json:"risk"`
	RiskText      string      `json:"riskText,omitempty"` // what the risk is, in words
	Proof         Grade       `json:"proof"`
	OC            string      `json:"oc"`             // the same by hand
	Diff          string      `json:"diff,omitempty"` // the change as a unified diff, without secrets; empty where it is not known yet
	Now           []string    `json:"now,omitempty"`  // what the guards saw when the plan was made
	Args          Args        `json:"args,omitzero"`  // what the action needs to know
	Preconditions []Guard     `json:"preconditions,omitempty"`
	Reads         []Reading   `json:"reads,omitempty"`
	PreImage      string      `json:"preImage,omitempty"` // what the pre-image is; its digest is in the journal
	Inverse       string      `json:"inverse"`            // how it is undone, or why it cannot be
	While         []fault.Key `json:"while,omitempty"`    // one of these must still be present when the step acts
	Expect        Expect      `json:"expect"`
	Deadline      duration    `json:"deadline"`
}

// Args are the parameters of the actions; each uses the ones it needs.
type Args struct {
	Pool   string   `json:"pool,omitempty"`
	Host   string   `json:"host,omitempty"`
	Config string   `json:"config,omitempty"` // a rendered MachineConfig
	Signer string   `json:"signer,omitempty"` // "client" or "serving"
	IPs    []string `json:"ips,omitempty"`    // the host's addresses, as a person declared them
	Role   string   `json:"role,omitempty"`
	// After names the step whose act must precede the request that is approved:
	// before it the host could not have got its config.
	After string `json:"after,omitempty"`
	// NotBefore and Boot say it where no step of the plan does: since when the
	// host can have asked, and how that is known.
	NotBefore time.Time `json:"notBefore,omitzero"`
	Boot      string    `json:"boot,omitempty"`
	Members   int       `json:"members,omitempty"`  // etcd members that must be healthy
	Content   string    `json:"content,omitempty"`  // digest of what is in the store
	From      string    `json:"from,omitempty"`     // where the content came from
	Remedy    string    `json:"remedy,omitempty"`   // which change of fields
	Object    string    `json:"object,omitempty"`   // name of the object that is changed
	Resource  string    `json:"resource,omitempty"` // of the object whose content is written
	Namespace string    `json:"namespace,omitempty"`
	Backup    string    `json:"backup,omitempty"` // of etcd: a snapshot on this machine, whose digest is content
	Value     string    `json:"value,omitempty"`  // what a person gave for the change; never a secret
}

// Reading is a digest of fields of one object as they were when the plan was made.
type Reading struct {
	Object Ref               `json:"object"`
	Fields []string          `json:"fields,omitempty"` // JSON pointers; empty: whether the object exists
	Digest string            `json:"digest"`
	Seen   map[string]string `json:"seen,omitempty"` // the values, for people; never secret fields
}

// Expect is what must be so after a step.
type Expect struct {
	Absent []fault.Key `json:"absent,omitempty"` // faults that must be gone
	Text   string      `json:"text"`             // the condition, in words
}

// duration is a time.Duration in Go's notation.
type duration = fault.Duration

var planID = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// check is what a plan must pass before it is begun. One that was begun has the
// digest of its journal and may be older than this program: continuing with it
// needs its form and what protects the cluster, undoing it its form only.
func (p *Plan) check() error {
	return errors.Join(p.notFromArchive(), p.checkForm(), p.Before.check(p), p.eachStep(p.checkRequired), p.eachStep(p.checkWords))
}

// notFromArchive refuses a plan that was not made from the cluster itself.
func (p *Plan) notFromArchive() error {
	switch {
	case p.From != "":
		return fmt.Errorf("it is not applicable: it was made from %q and shows what would be done; make a plan from the cluster itself", p.From)
	case p.Cluster.CA == "":
		return errors.New("cluster.ca is empty: it was not made from a cluster")
	}
	return nil
}

func (p *Plan) eachStep(check func(Step) error) error {
	var wrong []error
	for _, s := range p.Steps {
		if err := check(s); err != nil {
			wrong = append(wrong, fmt.Errorf("step %s: %w", s.ID, err))
		}
	}
	return errors.Join(wrong...)
}

func (p *Plan) checkForm() error {
	var wrong []error
	fail := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	if p.APIVersion != APIVersion || p.Kind != planKind {
		fail("it is %s %s, want %s %s", p.APIVersion, p.Kind, APIVersion, planKind)
	}
	if !planID.MatchString(p.ID) {
		fail("id %q: want lower case letters, digits and dashes, at most 63", p.ID)
	}
	if p.Cluster.ID == "" {
		fail("cluster.id is empty: a plan is for one cluster")
	}
	if len(p.Steps) == 0 {
		fail("there are no steps")
	}
	seen := map[string]bool{}
	for _, s := range p.Steps {
		if !planID.MatchString(s.ID) || seen[s.ID] {
			fail("step id %q is not usable or twice there", s.ID)
		}
		seen[s.ID] = true
		a, ok := actionOf(s.Action)
		if !ok {
			fail("step %s: there is no action %q", s.ID, s.Action)
			continue
		}
		if err := a.check(s); err != nil {
			fail("step %s: %w", s.ID, err)
		}
		for _, g := range s.Preconditions {
			if _, ok := guardOf(g.Guard); !ok {
				fail("step %s: there is no guard %q", s.ID, g.Guard)
			}
		}
		if !slices.Contains(fault.Risks(), s.Risk) {
			fail("step %s: there is no risk %q", s.ID, s.Risk)
		}
		if !slices.Contains(grades(), s.Proof) {
			fail("step %s: there is no proof grade %q", s.ID, s.Proof)
		}
		if s.Deadline.Duration <= 0 {
			fail("step %s: a deadline is needed", s.ID)
		}
	}
	return errors.Join(wrong...)
}

// Writes reports whether the step changes something; the others wait and look.
func (s Step) Writes() bool {
	a, ok := actionOf(s.Action)
	return ok && a.writes()
}

// step returns the step with the id.
func (p *Plan) step(id string) (Step, bool) {
	for _, s := range p.Steps {
		if s.ID == id {
			return s, true
		}
	}
	return Step{}, false
}

func digestBytes(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}
