package archive

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// membership shows to which cluster a machine belongs. A machine has no cluster ID, but it
// trusts CAs that are generated for each cluster, and once it is a Node the cluster knows
// its machine ID.
type membership struct {
	ids     []string // machine IDs and system UUIDs, without dashes, lower case
	cas     []string // SHA-256 of the certificates of the CAs
	servers []string // host names of the internal API
}

// joinMachines decides for every collection of rollcall-host whether its machine
// belongs to the cluster of the others. Where something differs that is an error; where
// something proves it, or nothing shows either, the machine is taken for one of the cluster
// and a note says which.
func joinMachines(ctx context.Context, sources []*Source, unproven map[*Source]bool) error {
	var cluster membership
	var first *Source
	var machines []*Source
	seen := map[*Source]membership{}
	for _, s := range sources {
		b, is, err := s.machineOf(ctx)
		if err != nil {
			return err
		}
		if is && unproven[s] {
			machines, seen[s] = append(machines, s), b
			continue
		}
		if b, err = clusterOf(ctx, s); err != nil {
			return err
		}
		cluster = cluster.with(b)
		if first == nil {
			first = s
		}
	}
	for _, s := range machines {
		if first == nil { // only machines: the first one stands for the cluster
			first, cluster = s, membership{cas: seen[s].cas, servers: seen[s].servers}
			continue
		}
		proof, why := cluster.of(seen[s])
		if why != "" {
			return &SeveralClustersError{first.name, s.name, why}
		}
		s.noteProof(proof)
	}
	return nil
}

// noteProof notes what proves that a machine is one of the cluster; "" proves nothing.
func (s *Source) noteProof(proof string) {
	need := "cluster of " + s.base
	s.notes = slices.DeleteFunc(s.notes, func(c evidence.Coverage) bool { return c.Need == need && proof != "" })
	if proof != "" {
		s.unproven = false
		s.notes = append(s.notes, evidence.Coverage{Need: need, State: evidence.Read, Count: 1, Reason: proof})
	}
}

// of says what proves that a machine belongs to the cluster, or why it does not; neither
// where nothing that both have shows it.
func (b membership) of(m membership) (proof, why string) {
	common := func(x, y []string) bool {
		return slices.ContainsFunc(x, func(v string) bool { return slices.Contains(y, v) })
	}
	switch {
	case common(b.ids, m.ids):
		return "a Node of the cluster has this machine's ID", ""
	case common(b.cas, m.cas):
		return "the machine believes in a CA of the cluster", ""
	case len(b.cas) > 0 && len(m.cas) > 0:
		return "", "they are of different clusters: the machine believes in none of the CAs of the other"
	case common(b.servers, m.servers) || len(b.servers) == 0 || len(m.servers) == 0:
		return "", ""
	}
	return "", fmt.Sprintf("they are of different clusters: the machine's kubelet speaks to %s, the other's API is %s", quoted(m.servers), quoted(b.servers))
}

func (b membership) with(o membership) membership {
	return membership{slices.Concat(b.ids, o.ids), slices.Concat(b.cas, o.cas), slices.Concat(b.servers, o.servers)}
}

// machineOf reads what machines reported of themselves; false where the archive has none.
func (s *Source) machineOf(ctx context.Context) (membership, bool, error) {
	var b membership
	list, err := listed(ctx, s, evidence.HostIdentities, "")
	for _, o := range list {
		id, err := evidence.Decode[onhost.Identity](o)
		if err != nil {
			continue // reading the object reports it
		}
		b.ids = append(b.ids, plainID(id.MachineID, id.SystemUUID)...)
		for _, c := range slices.Concat(id.RootCA, id.Runtime.Authorities, id.Bootstrap.Authorities) {
			if c.SHA256 != "" {
				b.cas = append(b.cas, c.SHA256)
			}
		}
		b.servers = append(b.servers, serverNames(id.Runtime.Server, id.Bootstrap.Server)...)
	}
	return b, len(list) > 0, err
}

// clusterOf reads what a cluster's objects show: its Nodes' IDs, the CAs that the
// machine-config-operator puts on every machine, and the name of its internal API
// (openshift/machine-config-operator:templates/common/_base/files/root-ca.yaml,
// pkg/daemon/certificate_writer.go).
func clusterOf(ctx context.Context, s evidence.Source) (membership, error) {
	var b membership
	nodes, err := listed(ctx, s, evidence.Nodes, "")
	if err != nil {
		return b, err
	}
	for _, o := range nodes {
		info := func(field string) string { return evidence.String(o.Content, "status", "nodeInfo", field) }
		b.ids = append(b.ids, plainID(info("machineID"), info("systemUUID"))...)
	}
	configs, err := listed(ctx, s, evidence.ControllerConfigs, "")
	if err != nil {
		return b, err
	}
	for _, o := range configs {
		for _, field := range []string{"rootCAData", "kubeAPIServerServingCAData"} {
			if raw, err := base64.StdEncoding.DecodeString(evidence.String(o.Content, "spec", field)); err == nil {
				b.cas = append(b.cas, fingerprints(raw)...)
			}
		}
	}
	maps, err := listed(ctx, s, evidence.ConfigMaps, openshift.SystemNamespace)
	if err != nil {
		return b, err
	}
	for _, o := range maps {
		if o.Name == "kube-root-ca.crt" {
			b.cas = append(b.cas, fingerprints([]byte(evidence.String(o.Content, "data", "ca.crt")))...)
		}
	}
	infras, err := listed(ctx, s, evidence.Infrastructures, "")
	for _, o := range infras {
		b.servers = append(b.servers, serverNames(evidence.String(o.Content, "status", "apiServerInternalURI"))...)
	}
	return b, err
}

// listed is List where it does not matter that some objects could not be read.
func listed(ctx context.Context, s evidence.Source, r evidence.Resource, namespace string) ([]evidence.Object, error) {
	list, err := s.List(ctx, r, namespace)
	if _, ok := evidence.AsUnavailable(err); err != nil && !ok {
		d, _ := s.Describe(ctx) // only for its name
		return nil, fmt.Errorf("find the cluster of %s: %w", d.Name, err)
	}
	return list, nil
}

func plainID(ids ...string) []string {
	var list []string
	for _, id := range ids {
		if id != "" {
			list = append(list, strings.ReplaceAll(strings.ToLower(id), "-", ""))
		}
	}
	return list
}

func serverNames(servers ...string) []string {
	var list []string
	for _, v := range servers {
		if u, err := url.Parse(v); err == nil && u.Hostname() != "" && !slices.Contains(list, u.Hostname()) {
			list = append(list, u.Hostname())
		}
	}
	return list
}

// fingerprints are those of the certificates in a bundle.
func fingerprints(raw []byte) []string {
	var list []string
	for len(list) < 100 {
		var block *pem.Block
		if block, raw = pem.Decode(raw); block == nil {
			return list
		}
		if block.Type == "CERTIFICATE" {
			sum := sha256.Sum256(block.Bytes)
			list = append(list, hex.EncodeToString(sum[:]))
		}
	}
	return list
}
