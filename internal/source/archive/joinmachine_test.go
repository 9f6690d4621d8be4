package archive

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// TestJoinMachines: a machine is read with a cluster when its ID or an authority
// proves it, is refused when they or the API's name speak against it, and is said to
// be believed when nothing tells.
func TestJoinMachines(t *testing.T) {
	der := []byte("not parsed: only compared")
	bundle := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	sum := sha256.Sum256(der)
	ours := hex.EncodeToString(sum[:])
	cluster := clusterA + "-- cluster-scoped-resources/machineconfiguration.openshift.io/controllerconfigs/machine-config-controller.yaml --\n" +
		"apiVersion: machineconfiguration.openshift.io/v1\nkind: ControllerConfig\nmetadata: {name: machine-config-controller}\nspec: {rootCAData: " + bundle + "}\n"
	infra := "-- cluster-scoped-resources/config.openshift.io/infrastructures/cluster.yaml --\nmetadata: {name: cluster}\nstatus: {infrastructureName: a, " +
		"apiServerInternalURI: 'https://api-int.a.example:6443'}\n"
	machine := func(id, authority, server string) string {
		return "-- cluster-scoped-resources/rollcall.dev/hostidentities/n9.yaml --\napiVersion: rollcall.dev/v1alpha1\nkind: HostIdentity\nmetadata: {name: " +
			"n9}\nmachineID: \"" + id +
			"\"\nrootCA: [{sha256: \"" + authority + "\"}]\nkubeconfig: {server: \"" + server + "\"}\n"
	}
	tests := []struct {
		name, cluster, machine string
		refused                string
		state                  evidence.State
	}{
		{"a Node has its ID", clusterA, machine("M1", "", ""), "", evidence.Read},
		{"it never joined and believes in the root", cluster, machine("m-9", ours, ""), "", evidence.Read},
		{"it believes in another's root", cluster, machine("m-9", "beef", ""), "none of the CAs", ""},
		{"only the API's name", infra, machine("m-9", "", "https://api-int.a.example:6443"), "", evidence.Partial},
		{"another API's name", infra, machine("m-9", "", "https://api-int.b.example:6443"), "speaks to api-int.b.example", ""},
		{"nothing tells", clusterA, machine("m-9", "", ""), "", evidence.Partial},
		{"two machines of one cluster", machine("m-8", ours, ""), machine("m-9", ours, ""), "", evidence.Read},
		{"two machines of two clusters", machine("m-8", "beef", ""), machine("m-9", ours, ""), "none of the CAs", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, b := open(t, tt.cluster), open(t, tt.machine)
			b.name, b.base = "other/machine", "machine"
			err := Join(t.Context(), []*Source{a, b})
			var several *SeveralClustersError
			if tt.refused != "" {
				if !errors.As(err, &several) || !strings.Contains(err.Error(), tt.refused) {
					t.Errorf("%v, want that it is refused for %q", err, tt.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(b.notes) != 1 || b.notes[0].State != tt.state || tt.state == evidence.Read && b.unproven {
				t.Errorf("notes: %+v, unproven: %v", b.notes, b.unproven)
			}
		})
	}
}
