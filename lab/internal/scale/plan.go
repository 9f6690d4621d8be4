package scale

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// fate is how far a worker came.
type fate int

const (
	joined        fate = iota
	silent             // its kubelet stopped: no lease is renewed
	notInspected       // the ramdisk of its inspection never reported
	passwordWrong      // its BMC refuses the password
	noAddresses        // provisioned, its Machine without addresses, so that no one approves its request
)

// worker is one simulated host.
type worker struct {
	i       int
	name    string
	machine string
	address string
	mac     string
	bmc     string
	uid     string // of the hardware
	fate    fate
	young   bool // it joined within the hour: its requests are still there
}

// TroubledOf is how many of n workers have each of the four troubles: one in a hundred.
func TroubledOf(n int) int { return max(1, n/100) }

// plan decides about every worker. Those in trouble are the last ones.
func plan(s Spec) []worker {
	k := TroubledOf(s.Workers)
	list := make([]worker, s.Workers)
	for i := range list {
		w := worker{
			i: i, name: fmt.Sprintf("worker-%04d", i), machine: fmt.Sprintf("%s-worker-%04d", s.Infra, i),
			address: s.Address(i),
			mac:     fmt.Sprintf("52:54:00:%02x:%02x:%02x", i>>16, i>>8&0xff, i&0xff),
			bmc:     fmt.Sprintf("redfish-virtualmedia://198.18.%d.%d/redfish/v1/Systems/1", i/250, 1+i%250),
			young:   i%10 == 0,
		}
		w.uid = id("hardware", w.name)
		switch back := s.Workers - 1 - i; {
		case back < k:
			w.fate = notInspected
		case back < 2*k:
			w.fate = passwordWrong
		case back < 3*k:
			w.fate = noAddresses
		case back < 4*k:
			w.fate = silent
		}
		list[i] = w
	}
	return list
}

// nodes says whether the host became a Node.
func (f fate) node() bool { return f == joined || f == silent }

// provisioned says whether the image was written to the host's disk.
func (f fate) provisioned() bool { return f.node() || f == noAddresses }

// id is a UUID that is the same each time.
func id(parts ...string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", parts))
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-8" + h[17:20] + "-" + h[20:32]
}

// suffix is the end of a generated name.
func suffix(parts ...string) string {
	const alphabet = "bcdfghjklmnpqrstvwxz2456789"
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", parts))
	out := make([]byte, 5)
	for i := range out {
		out[i] = alphabet[int(sum[i])%len(alphabet)]
	}
	return string(out)
}
