package answer

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/answer/answertest"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Where nothing but the log of openshift-install was read, the next step is that of the
// installation; a log that failed depends on its error, and no command is guessed.
func TestNextOfInstaller(t *testing.T) {
	cases := map[string]struct {
		installer diagnosis.Installer
		want      string // the first command begins so
		alone     bool   // no cluster can be asked yet
	}{
		"bootstrapped":          {diagnosis.Installer{Ended: "complete", Step: "bootstrapped"}, "openshift-install wait-for install-complete", false},
		"complete":              {diagnosis.Installer{Ended: "complete", Step: "complete", WaitsFor: "nothing"}, "rollcall diagnose --kubeconfig DIR/auth/kubeconfig", false},
		"made":                  {diagnosis.Installer{Ended: "made", Step: "assets"}, "openshift-install wait-for bootstrap-complete", true},
		"made, one node":        {diagnosis.Installer{Ended: "made", Step: "assets", Form: "single-node"}, "openshift-install wait-for install-complete", true},
		"no install-config":     {diagnosis.Installer{Ended: "interrupted", Step: "assets", Blocked: "prompt"}, "cp install-config.yaml DIR/", true},
		"the API never answers": {diagnosis.Installer{Ended: "running", Step: "api", Blocked: "api", API: "api.a.example.com:6443"}, "openshift-install gather bootstrap", false},
		"of the user's hosts":   {diagnosis.Installer{Ended: "complete", Step: "bootstrapped", Form: "user-provisioned"}, "openshift-install wait-for install-complete --dir DIR --log-level=debug    # first remove the bootstrap host", false},
		"gather failed":         {diagnosis.Installer{Ended: "gather-failed"}, "openshift-install gather bootstrap --dir DIR --bootstrap IP", false},
		"interrupted, assets":   {diagnosis.Installer{Ended: "interrupted", Step: "assets"}, "openshift-install create ignition-configs", true},
		"interrupted, agent":    {diagnosis.Installer{Ended: "interrupted", Step: "agent"}, "openshift-install agent wait-for bootstrap-complete", false},
		"running, API":          {diagnosis.Installer{Ended: "running", Step: "api"}, "openshift-install wait-for bootstrap-complete", false},
		"running, operators":    {diagnosis.Installer{Ended: "running", Step: "initialize"}, "openshift-install wait-for install-complete", false},
		"failed, operators":     {diagnosis.Installer{Ended: "failed", Step: "initialize"}, "", false},
		"interrupted, created":  {diagnosis.Installer{Ended: "interrupted", Step: "infrastructure"}, "", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			d := answertest.Unreadable()
			d.Source = diagnosis.Source{Kind: "files", Name: "a.log"}
			c.installer.At = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
			d.Cluster.Installer = &c.installer
			r := newText(d, Options{})
			list := r.supplyList()
			asksCluster := slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, "must-gather") })
			if asksCluster == c.alone {
				t.Errorf("asks the cluster: %v", list)
			}
			is := "get what would decide (reads only)"
			switch {
			case name == "complete":
				is = "check the cluster (reads only)" // nothing is left to continue
			case c.installer.Blocked == "api":
				is = "find why the API does not answer"
			case c.want != "":
				is = "continue the installation"
			}
			if goes := len(r.installerNextCommands()) > 0; goes != (c.want != "") || r.nextIs() != is {
				t.Errorf("goes on: %v, %q", goes, r.nextIs())
			}
			if c.want != "" && !strings.HasPrefix(list[0], c.want) {
				t.Errorf("first %q, want %q", list[0], c.want)
			}
			d.Unexplained = []diagnosis.Unexplained{{Key: fault.Key{Fault: "x"}}}
			if s := newText(d, Options{}).installerNextCommands(); len(s) > 0 {
				t.Errorf("with a symptom: %q", s)
			}
		})
	}
}
