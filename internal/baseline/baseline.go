// Package baseline keeps what a cluster was like while it was good, so that a later
// diagnosis can show what has changed since.
//
// Invariants:
//   - It holds names, versions, states, ends of certificates and hardware, read through the
//     sanitizing reader: no secret, no digest of one, and no content of a file.
//   - What could not be read is named. That it is not there does not mean that it is gone.
//   - A change is one of a cluster: of two clusters nothing is compared, and where it is not
//     known whether it is one, the comparison says so.
//   - A file has a digest over what it holds. One that was changed by hand is refused.
package baseline

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// The type of the file.
const (
	apiVersion = evidence.ProbeGroup + "/v1alpha1"
	kind       = "Baseline"
)

// Area is a part of a cluster that is read and compared as a whole.
type Area string

// The areas, in the order in which they are shown.
const (
	Version      Area = "version"
	Operators    Area = "operators"
	Nodes        Area = "nodes"
	Pools        Area = "pools"
	Configs      Area = "configs"
	Certificates Area = "certificates"
	Network      Area = "network"
	Hardware     Area = "hardware"
)

// areas lists them.
func areas() []Area {
	return []Area{Version, Operators, Nodes, Pools, Configs, Certificates, Network, Hardware}
}

// Baseline is what a cluster was like at one time. Its JSON form is a published contract.
type Baseline struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Taken      time.Time `json:"taken"`
	Source     string    `json:"source"`            // what was read: a context or an archive
	Cluster    string    `json:"cluster,omitempty"` // ClusterVersion.spec.clusterID
	Identity   Identity  `json:"identity,omitzero"` // what else shows which cluster it is
	Verdict    string    `json:"verdict"`           // of the diagnosis at that time
	Entries    []Entry   `json:"entries"`
	Missing    []Gap     `json:"missing"`
	// Unlisted are areas of an archive that has a file for each object and no list of them: one
	// that is not there may be lost.
	Unlisted []Area `json:"unlisted,omitempty"`
	Digest   string `json:"digest"` // SHA-256 over all other fields

	created map[string]time.Time // of the objects, by subject; only of what was just read
}

// Entry is one value.
type Entry struct {
	Area    Area   `json:"area"`
	Subject string `json:"subject"` // node/m0, mcp/master, co/etcd
	Name    string `json:"name"`    // the field, as oc has it
	Value   string `json:"value"`
}

// Gap is an area that was not read, or not whole.
type Gap struct {
	Area     Area     `json:"area"`
	Subjects []string `json:"subjects,omitempty"` // of a comparison: the objects that are not compared; none: all
	Reason   string   `json:"reason"`
}

func (e Entry) key() Entry { e.Value = ""; return e }

func compare(a, b Entry) int {
	return cmp.Or(cmp.Compare(slices.Index(areas(), a.Area), slices.Index(areas(), b.Area)),
		cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Name, b.Name))
}

// digest is over everything but itself.
func (b Baseline) digest() (string, error) {
	b.Digest = ""
	raw, err := json.Marshal(b)
	if err != nil {
		return "", fmt.Errorf("encode baseline: %w", err)
	}
	sum := sha256.Sum256(raw)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// Write writes the baseline with its digest.
func (b Baseline) Write(w io.Writer) error {
	var err error
	if b.Digest, err = b.digest(); err != nil {
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(b)
}

// The bounds of a file: 500 nodes have some 20,000 values.
const (
	maxFile    = 64 << 20
	maxEntries = 500_000
)

// Read reads what Write wrote.
func Read(in io.Reader) (Baseline, error) {
	raw, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	if err != nil {
		return Baseline{}, err
	}
	if len(raw) > maxFile {
		return Baseline{}, fmt.Errorf("it has more than %d MiB", maxFile>>20)
	}
	var b Baseline
	if err := json.Unmarshal(raw, &b); err != nil {
		return Baseline{}, fmt.Errorf("it is not a baseline: %w", err)
	}
	switch {
	case b.Kind != kind:
		return Baseline{}, fmt.Errorf("it is not a baseline: its kind is %q", b.Kind)
	case b.APIVersion != apiVersion:
		return Baseline{}, fmt.Errorf("its version is %q, and this program reads %s", b.APIVersion, apiVersion)
	case len(b.Entries) > maxEntries:
		return Baseline{}, fmt.Errorf("it has more than %d values", maxEntries)
	}
	want, err := b.digest()
	if err != nil {
		return Baseline{}, err
	}
	if want != b.Digest {
		return Baseline{}, errors.New("its digest is not that of its content: it was changed after it was saved")
	}
	for i, e := range b.Entries { // former versions kept the digests
		b.Entries[i] = Entry{e.Area, unsalted(e.Subject), unsalted(e.Name), unsalted(e.Value)}
	}
	return b, nil
}
