package message

import (
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/text/logline"
)

// partOf says by what the lines of a rule are told apart: each unit, each pod and each request stands by itself, and one of
// them may be over while another one is not.
type partOf uint8

const (
	byNothing partOf = iota
	byUnit
	byPod
	byRequest
)

// tellsApart is by what the lines of a rule are told apart: by the names that its sentence has or begins with.
func (r *rule) tellsApart() partOf {
	switch {
	case strings.HasPrefix(r.Fault, "csr-") && len(r.Causes) == 0, len(r.parts) > 0 && string(r.parts[0]) == "csr-":
		return byRequest
	case r.Fault != "" || len(r.Causes) > 0:
		return byNothing
	case strings.Contains(r.Failure, "{svc.service}"):
		return byUnit
	case strings.HasPrefix(r.Failure, "a container "):
		return byPod
	}
	return byNothing
}

var unitName = regexp.MustCompile(`\b([a-zA-Z0-9@_-]+)\.service\b`)

// requestName is how the API server names requests of kubelets (generateName "csr-" of
// kubernetes/kubernetes:staging/src/k8s.io/client-go/util/certificate/csr).
var requestName = regexp.MustCompile(`\bcsr-[a-z0-9]{5}\b`)

// key is the unit, the pod or the request of a line, "" where the line names none.
func (p partOf) key(l Line) string {
	switch p {
	case byUnit:
		if l.unit != "" {
			return l.unit
		}
		if m := unitName.FindStringSubmatch(l.Text); m != nil {
			return m[1]
		}
	case byRequest:
		return requestName.FindString(l.Text)
	case byPod:
		if l.row.logged {
			return l.row.namespace + "/" + l.row.name
		}
	}
	return ""
}

// maxParts bounds the units or pods of one rule that are told apart.
const maxParts = 64

// part is what was met of a rule for one unit or pod; nil where that is not told apart.
func (t *ruleMatches) part(key string) *ruleMatches {
	if key == "" {
		return nil
	}
	if t.parts[key] == nil {
		if len(t.parts) == maxParts {
			return nil
		}
		if t.parts == nil {
			t.parts = map[string]*ruleMatches{}
		}
		t.parts[key] = &ruleMatches{hosts: map[string]Line{}}
	}
	return t.parts[key]
}

// apart are the parts of what was met of a rule, in the order of the text; itself where some of its lines
// are in none.
func (t *ruleMatches) apart() []*ruleMatches {
	n := 0
	for _, part := range t.parts {
		n += part.count
	}
	if len(t.parts) == 0 || n < t.count {
		return []*ruleMatches{t}
	}
	return slices.SortedFunc(maps.Values(t.parts), func(a, b *ruleMatches) int { return a.first[0].Number - b.first[0].Number })
}

// How the kubelet names a pod and its container in a line: pkg/kubelet/pod_workers.go and
// kuberuntime/kuberuntime_manager.go of Kubernetes, before structured logging and with it.
var (
	podWithUID   = regexp.MustCompile(`\b([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)_([a-z0-9][a-z0-9-]*)\([0-9a-f-]{32,36}\)`)
	podField     = regexp.MustCompile(`\bpod="([a-z0-9][a-z0-9-]*)/([a-z0-9][a-z0-9.-]*)"`)
	podContainer = regexp.MustCompile(`\bcontainer=([a-z0-9][a-z0-9-]*)|StartContainer\\*" for \\*"([a-z0-9][a-z0-9-]*)`)
)

// podIn is the pod that a line of a log is about. After is what is behind the line: its rest where it
// was wrapped.
func podIn(line, after []byte) rowObject {
	text := string(line) + wrappedRest(after)
	o := rowObject{kind: "pod", logged: true}
	if m := podField.FindStringSubmatch(text); m != nil {
		o.namespace, o.name = m[1], m[2]
	} else if m := podWithUID.FindStringSubmatch(text); m != nil {
		o.name, o.namespace = m[1], m[2]
	} else {
		return rowObject{}
	}
	if m := podContainer.FindStringSubmatch(text); m != nil {
		o.container = m[1] + m[2]
	}
	return o
}

// wrappedRest are the next lines that have no header of their own.
func wrappedRest(after []byte) string {
	after = bytes.TrimPrefix(bytes.TrimPrefix(after, []byte("\r")), []byte("\n"))
	rest := ""
	for range longestSentence {
		next, behind, _ := bytes.Cut(after, []byte("\n"))
		if len(bytes.TrimSpace(next)) == 0 || logline.Parse(next[:min(len(next), maxTried)]).Form == logline.Log {
			break
		}
		rest, after = rest+" "+string(next), behind
	}
	return rest
}

// ofBootstrap reports whether a pod is a static pod of the bootstrap host: a cluster has none in kube-system
// (openshift/installer:data/data/bootstrap/files/usr/local/bin/bootkube.sh.template; the operators' render commands).
func (o rowObject) ofBootstrap() bool {
	static := o.namespace == openshift.SystemNamespace && !ofDeployment.MatchString(o.name)
	return o.logged && (static || strings.HasPrefix(o.name, "bootstrap-") || strings.HasPrefix(o.name, "etcd-bootstrap-"))
}

// ofDeployment is how the name of a pod ends that a Deployment made: it is no static pod
// (kubernetes/kubernetes:pkg/controller/deployment/sync.go, staging/src/k8s.io/apiserver/pkg/storage/names/generate.go).
var ofDeployment = regexp.MustCompile(`-[0-9a-z]{6,10}-[0-9a-z]{5}$`)

// bootstrapPodNext is where the log of such a pod is: often there is no API to ask yet.
const bootstrapPodNext = "it is a static pod of the bootstrap host: there, sudo crictl ps -a --name CONTAINER, and sudo crictl logs --tail 50 of the newest " +
	"ID: its last lines are the reason. Then sudo journalctl -b -u bootkube --no-pager -n 50"
