package loose

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// TestOperatorLog: what openshift-install logs of operators stands for them where nothing
// else does, as conditions of its last wait.
func TestOperatorLog(t *testing.T) {
	logged := func(level, msg string) string {
		return fmt.Sprintf("time=%q level=%s msg=%q\n", "2026-03-01T08:00:00Z", level, msg)
	}
	const down = "Cluster operator etcd Degraded is True with NodeController_MasterNodesReady: NodeControllerDegraded: The master nodes not ready: node " +
		"\"m0\" not ready"
	wait := logged("info", "Waiting up to 45m0s (until 9:25AM EDT) for bootstrapping to complete...")
	for name, c := range map[string]struct {
		log  string
		want string // name type status reason message
	}{
		"logged": {wait + logged("error", down), "etcd Degraded True NodeController_MasterNodesReady " + down[strings.Index(down,
			"NodeControllerDegraded"):]},
		"with two lines": {logged("error", "Cluster operator etcd Degraded is True with A: B: c\nD: e"), "etcd Degraded True A B: c\nD: e"},
		"several reasons": {logged("error", "Cluster operator console Degraded is True with Route_Bad::Sync_Failed::Deployment_None: RouteDegraded: no host"),
			"console Degraded True Route_Bad::Sync_Failed::Deployment_None RouteDegraded: no host"},
		"cut in its reasons": {logged("error", "Cluster operator console Degraded is True with Route_Bad::Sync_Fa"), "console Degraded True Route_Bad::Sync_Fa "},
		"without a reason":   {logged("info", "Cluster operator storage Progressing is True with : "), "storage Progressing True  "},
		"on a terminal":      {"ERROR " + down + "\n", "etcd Degraded True NodeController_MasterNodesReady " + down[strings.Index(down, "NodeControllerDegraded"):]},
		"of a wait before":   {logged("error", down) + wait, ""},
		"then complete":      {logged("error", down) + logged("info", "Install complete!"), ""},
		"no condition":       {logged("debug", "Still waiting: Cluster operators etcd, network are not available"), ""},
		"said again": {logged("error", "Cluster operator etcd Degraded is True with A: b") + logged("error", "Cluster operator etcd Degraded is True "+
			"with C: d"), "etcd Degraded True C d"},
		"not the installer's": {"cluster operator etcd Degraded is True with A: b\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var l OperatorLog
			for i, line := range strings.Split(c.log, "\n") {
				l.Take(i+1, line)
			}
			got := ""
			for _, o := range l.Objects(evidence.Locator{}) {
				if o.Annotation(evidence.PartMark) == "" || o.Loc.Line == 0 {
					t.Errorf("%s does not show that it is a part: %+v", o.Name, o)
				}
				list, _ := evidence.Field(o.Content, "status", "conditions").([]any)
				for _, e := range list {
					m := e.(map[string]any)
					got += fmt.Sprintf("%s %s %s %s %s", o.Name, m["type"], m["status"], m["reason"], m["message"])
				}
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
