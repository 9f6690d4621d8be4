package repair

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rollcall-project/rollcall/internal/kube/podexec"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Members of etcd are no objects of the API. They are read and removed as if they were, so
// that plan, journal, resume and refusals are the same for them: group "etcd", named by their
// ID in hexadecimal, as etcdctl prints it.

// etcdctl runs etcdctl with the arguments in a pod of etcd that is ready, and returns what it
// prints. An error: it could not be run, or failed; what it printed until then is returned, too.
type etcdctl func(ctx context.Context, args ...string) ([]byte, error)

// memberClient reads and removes the members that etcd itself names.
type memberClient struct{ run etcdctl }

// memberList is what `etcdctl member list -w json` prints (etcd: api/etcdserverpb/rpc.proto
// MemberListResponse). IDs are numbers of 64 bits.
type memberList struct {
	Header struct {
		ClusterID uint64 `json:"cluster_id"`
	} `json:"header"`
	Members []struct {
		ID         uint64   `json:"ID"`
		Name       string   `json:"name"`
		PeerURLs   []string `json:"peerURLs"`
		ClientURLs []string `json:"clientURLs"`
		IsLearner  bool     `json:"isLearner"`
	} `json:"members"`
}

type endpointHealth struct {
	Endpoint string `json:"endpoint"`
	Health   bool   `json:"health"`
	Error    string `json:"error"`
}

type alarmList struct {
	Alarms []struct {
		MemberID uint64 `json:"memberID"`
		Alarm    int    `json:"alarm"` // 1 NOSPACE, 2 CORRUPT
	} `json:"alarms"`
}

// List returns all members with their health and the alarms of the cluster.
func (e memberClient) List(ctx context.Context) ([]Object, error) {
	var members memberList
	if err := e.ask(ctx, &members, "member", "list"); err != nil {
		return nil, err
	}
	if members.Header.ClusterID == 0 || len(members.Members) == 0 {
		return nil, errors.New("list members of etcd: etcdctl printed none")
	}
	var health []endpointHealth
	if err := e.ask(ctx, &health, "endpoint", "health", "--cluster"); err != nil {
		return nil, err
	}
	var alarms alarmList
	if err := e.ask(ctx, &alarms, "alarm", "list"); err != nil {
		return nil, err
	}
	raised := []any{}
	for _, a := range alarms.Alarms {
		if a.Alarm != 0 {
			raised = append(raised, fmt.Sprintf("%d of %x", a.Alarm, a.MemberID))
		}
	}
	var out []Object
	for _, m := range members.Members {
		id := strconv.FormatUint(m.ID, 16)
		state, why := memberState(m.Name, m.ClientURLs, health)
		spec := map[string]any{"name": m.Name, "peerURLs": anyTexts(m.PeerURLs), "clientURLs": anyTexts(m.ClientURLs), "learner": m.IsLearner}
		raw, err := json.Marshal(spec)
		if err != nil {
			return nil, fmt.Errorf("encode member %s: %w", id, err)
		}
		out = append(out, Object{
			"metadata": map[string]any{"name": id, "uid": fmt.Sprintf("%x/%s", members.Header.ClusterID, id), "resourceVersion": digestBytes(raw)},
			"spec":     spec, "status": map[string]any{"health": state, "error": why, "alarms": raised},
		})
	}
	return out, nil
}

func anyTexts(list []string) []any {
	out := []any{}
	for _, s := range list {
		out = append(out, s)
	}
	return out
}

// Health of a member as etcdctl sees it.
const (
	memberHealthy    = "healthy"
	memberUnhealthy  = "unhealthy"
	memberNotStarted = "not started" // without a name: openshift/cluster-etcd-operator: pkg/etcdcli/health.go
	memberNotAsked   = "not asked"
)

func memberState(name string, urls []string, health []endpointHealth) (state, why string) {
	if name == "" {
		return memberNotStarted, ""
	}
	state = memberNotAsked
	for _, h := range health {
		for _, u := range urls {
			if h.Endpoint != u {
				continue
			}
			if h.Health {
				return memberHealthy, ""
			}
			state, why = memberUnhealthy, h.Error
		}
	}
	return state, why
}

// ask runs etcdctl and reads the JSON that it prints. Health ends with an error where one
// endpoint is not healthy, and prints all the same.
func (e memberClient) ask(ctx context.Context, into any, args ...string) error {
	out, err := e.run(ctx, append(args, "--write-out=json", "--command-timeout=10s")...)
	if decoded := json.Unmarshal(bytes.TrimSpace(out), into); decoded != nil {
		if err == nil {
			err = errors.New("it printed no JSON of that form")
		}
		return fmt.Errorf("etcdctl %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// Get returns one member.
func (e memberClient) Get(ctx context.Context, id string) (Object, error) {
	list, err := e.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, o := range list {
		if stringAt(o, "metadata", "name") == id {
			return o, nil
		}
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Group: memberGroup, Resource: "members"}, id)
}

// Delete removes exactly the member that was read. There is no dry run in etcd: with dryRun
// only the member is compared.
func (e memberClient) Delete(ctx context.Context, id, uid, version string, dryRun bool) error {
	o, err := e.Get(ctx, id)
	if err != nil {
		return err
	}
	if stringAt(o, "metadata", "uid") != uid || stringAt(o, "metadata", "resourceVersion") != version {
		return apierrors.NewConflict(schema.GroupResource{Group: memberGroup, Resource: "members"}, id, errors.New("the member is not as it was read"))
	}
	if dryRun {
		return nil
	}
	if _, err := e.run(ctx, "member", "remove", id, "--command-timeout=30s"); err != nil {
		return fmt.Errorf("etcdctl member remove %s: %w", id, err)
	}
	return nil
}

// Bounds of one run of etcdctl.
const (
	etcdctlTimeout = time.Minute
	etcdctlOutput  = 1 << 20
)

// etcdctlInPod runs etcdctl in the first pod of etcd that is ready: its container etcdctl has
// addresses and certificates in its environment
// (openshift/cluster-etcd-operator: bindata/etcd/pod.gotpl.yaml).
func etcdctlInPod(api Reader, exec *podexec.Client) etcdctl {
	return func(ctx context.Context, args ...string) ([]byte, error) {
		ctx, cancel := context.WithTimeout(ctx, etcdctlTimeout)
		defer cancel()
		pods, err := api.List(ctx, podRef(openshift.EtcdNamespace, ""))
		if err != nil {
			return nil, fmt.Errorf("list pods of %s: %w", openshift.EtcdNamespace, err)
		}
		for _, p := range pods {
			c := conditionOf(p, "Ready")
			if stringAt(p, "metadata", "labels", "app") != "etcd" || c == nil || c["status"] != "True" {
				continue
			}
			return execIn(ctx, exec, stringAt(p, "metadata", "name"), append([]string{"etcdctl"}, args...))
		}
		return nil, fmt.Errorf("no pod of etcd in %s is ready", openshift.EtcdNamespace)
	}
}

func execIn(ctx context.Context, client *podexec.Client, pod string, argv []string) ([]byte, error) {
	o := podexec.Command{Container: "etcdctl", Argv: argv}
	out, complaint := &bounded{most: etcdctlOutput}, &limited{}
	if err := client.Run(ctx, openshift.EtcdNamespace, pod, o, podexec.Streams{Out: out, Err: complaint}, podexec.NoWebSocket); err != nil {
		return out.Bytes(), fmt.Errorf("run etcdctl in %s: %w (%s)", pod, err, complaint.text)
	}
	return out.Bytes(), nil
}

// bounded keeps at most so many bytes; one more is an error.
type bounded struct {
	bytes.Buffer
	most int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.most {
		return 0, fmt.Errorf("it printed more than %d bytes", b.most)
	}
	return b.Buffer.Write(p)
}
