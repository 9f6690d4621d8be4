package relation_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/facts/factstest"
	"github.com/rollcall-project/rollcall/internal/facts/relation"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnose"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

var _ diagnose.Relater = relation.Relater{}

// unjoined is m2 as a host that never joined; nameless has no object but a
// BareMetalHost that says nothing of a role.
const (
	unjoined = "-- delete:cluster-scoped-resources/core/nodes/m2.yaml --\n-- delete:consoles/m2.log --\n"
	nameless = "-- namespaces/openshift-machine-api/metal3.io/baremetalhosts/x9.yaml --\napiVersion: metal3.io/v1alpha1\nkind: BareMetalHost\n" +
		"metadata: {name: x9, namespace: openshift-machine-api}\nspec: {online: true, externallyProvisioned: true}\n"
	spare = "-- namespaces/openshift-machine-api/metal3.io/baremetalhosts/x8.yaml --\napiVersion: metal3.io/v1alpha1\nkind: BareMetalHost\n" +
		"metadata: {name: x8, namespace: openshift-machine-api}\nspec: {online: true}\n"
)

func TestRelate(t *testing.T) {
	pool, host := fault.Subject{Kind: fault.Pool, Name: "master"}, fault.Subject{Kind: fault.Host, Name: "m2"}
	tests := []struct {
		name    string
		changes string
		without []evidence.Need
		on      fault.Relation
		from    fault.Subject
		want    []string
		known   bool
	}{
		{"same", "", nil, fault.Same, host, []string{"host/m2"}, true},
		{"the hosts of a pool", "", nil, fault.HostsOfPool, pool, []string{"host/m0", "host/m1", "host/m2"}, true},
		{"a host that never joined, whose Machine tells its pool", unjoined, nil, fault.HostsOfPool, pool, []string{"host/m0", "host/m1", "host/m2"}, true},
		{"a host of which no pool is known is a candidate", unjoined + nameless, nil, fault.HostsOfPool, pool, []string{"host/m0", "host/m1", "host/m2", "host/x9"}, false},
		{"a spare host is none", spare, nil, fault.HostsOfPool, pool, []string{"host/m0", "host/m1", "host/m2"}, true},
		{"only nodes are nodes of a pool", unjoined + nameless, nil, fault.NodesOfPool, pool, []string{"host/m0", "host/m1"}, true},
		{"the pool of a host", unjoined, nil, fault.PoolsOfHost, host, []string{"pool/master"}, true},
		{"the pool of a host of which none is known", nameless, nil, fault.PoolsOfHost, fault.Subject{Kind: fault.Host, Name: "x9"}, []string{"pool/master", "pool/worker"}, false},
		{"peers", "", nil, fault.HostsOfPeers, host, []string{"host/m0", "host/m1"}, true},
		{"all pools", "", nil, fault.AllPools, host, []string{"pool/master", "pool/worker"}, true},
		{"pools that could not be read", "", []evidence.Need{evidence.Objects(evidence.MachineConfigPools, "")}, fault.AllPools, host, nil, false},
		{"the cluster", "", nil, fault.ToCluster, host, []string{"cluster"}, true},
		{"a host that nobody knows", "", nil, fault.PoolsOfHost, fault.Subject{Kind: fault.Host, Name: "nobody"}, nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			to, known, err := relation.Relater{}.Relate(t.Context(), factstest.World(t, factstest.Metal, tt.changes, tt.without...), tt.on, tt.from)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range to {
				got = append(got, s.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || known != tt.known {
				t.Errorf("known %t, want %t; (-want +got):\n%s", known, tt.known, diff)
			}
		})
	}
}

// TestRelateCSR: requests and hosts find each other by the name that is asked for.
func TestRelateCSR(t *testing.T) {
	w := factstest.World(t, factstest.Metal, "")
	requests, known, err := relation.Relater{}.Relate(t.Context(), w, fault.CSRsOfHost, fault.Subject{Kind: fault.Host, Name: "m0"})
	if err != nil || !known || len(requests) == 0 {
		t.Fatalf("requests of m0: %v, known %t, %v", requests, known, err)
	}
	for _, r := range requests {
		back, known, err := relation.Relater{}.Relate(t.Context(), w, fault.HostOfCSR, r)
		if err != nil || !known || !slices.Equal(back, []fault.Subject{{Kind: fault.Host, Name: "m0"}}) {
			t.Errorf("host of %s: %v, known %t, %v", r, back, known, err)
		}
	}
}

// TestRelations: every relation of the closed list is implemented.
func TestRelations(t *testing.T) {
	w := factstest.World(t, factstest.Metal, "")
	for _, r := range fault.Relations() {
		if _, _, err := (relation.Relater{}).Relate(t.Context(), w, r, fault.Subject{Kind: fault.Host, Name: "m0"}); err != nil {
			t.Errorf("%s: %v", r, err)
		}
	}
	for _, k := range fault.Kinds() {
		if list, err := (relation.Relater{}).Subjects(t.Context(), w, k); err != nil || len(list) == 0 && k != fault.NodePool { // there is no hosted cluster
			t.Errorf("subjects of kind %s: %v, %v", k, list, err)
		}
	}
	if _, _, err := (relation.Relater{}).Relate(t.Context(), w, "sideways", fault.Subject{}); err == nil {
		t.Error("an unknown relation is no error")
	}
}
