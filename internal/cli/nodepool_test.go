package cli

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rollcall-project/rollcall/internal/cli/clitest"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// poolStore is an API of NodePools that can be written, in front of newGuests: with defaults, dry run,
// preconditions and a controller that makes token and user-data at once.
type poolStore struct {
	pair *pair
	mu   sync.Mutex

	pools    map[string]clitest.Object
	version  int
	writes   []string                                      // "create", "patch", "delete" that were stored
	refuse   map[string]clitest.Object                     // verb, or verb+" dry", to the Status that it gets
	lose     bool                                          // a create is stored and its answer lost
	alter    func(pool clitest.Object)                     // a webhook
	control  func(pool clitest.Object)                     // the controller, at each read
	conflict int                                           // so many writes find another version
	stuck    bool                                          // the finalizer stays
	other    func(http.ResponseWriter, *http.Request) bool // further answers
}

const poolPath = "/apis/hypershift.openshift.io/v1beta1"

func statusOf(code int, reason, message string) clitest.Object {
	return clitest.Object{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code, "message": message}
}

func newPoolStore(t *testing.T) *poolStore {
	t.Helper()
	s := &poolStore{pair: newGuests(t, nil), pools: map[string]clitest.Object{}, version: 90000, refuse: map[string]clitest.Object{}, control: ready}
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, poolPath+"/namespaces/guests/nodepools/np-a", nil)
	if err != nil {
		t.Fatal(err)
	}
	have := s.pair.management.one(q, evidence.NodePools.In(""), "hypershift.openshift.io/v1beta1", "NodePool")
	if have == nil {
		t.Fatal("the base has no NodePool np-a")
	}
	meta := maps.Clone(have["metadata"].(map[string]any))
	meta["uid"] = "aaaaaaaa-0000-4000-8000-000000000001"
	have["metadata"] = meta
	s.pools["np-a"] = have
	s.pair.management.before = s.serve
	return s
}

// ready is a controller that has done all.
func ready(pool clitest.Object) {
	meta := pool["metadata"].(clitest.Object)
	meta["annotations"] = clitest.Object{"hypershift.openshift.io/nodePoolCurrentConfigVersion": "1badd00d"}
	conditions(pool, [][3]string{
		{"UpdateManagementEnabled", "True", ""}, {"ValidReleaseImage", "True", ""}, {"ReconciliationActive", "True", ""},
		{"ValidMachineConfig", "True", ""}, {"ValidGeneratedPayload", "True", "Payload generated successfully"}, {"ReachedIgnitionEndpoint", "False", ""},
	})
}

func conditions(pool clitest.Object, list [][3]string) {
	var all []any
	for _, c := range list {
		all = append(all, clitest.Object{"type": c[0], "status": c[1], "message": c[2], "reason": "AsExpected", "lastTransitionTime": "2026-03-01T12:00:00Z"})
	}
	pool["status"] = clitest.Object{"conditions": all}
}

func (s *poolStore) serve(w http.ResponseWriter, q *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.other != nil && s.other(w, q) {
		return true
	}
	answer := func(code int, o clitest.Object) bool {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(o)
		return true
	}
	path := q.URL.Path
	if strings.Contains(path, "/secrets/") && strings.Contains(path, "-np-b-") {
		return answer(http.StatusOK, s.secretOf(q, "127.0.0.1:1"))
	}
	if strings.HasSuffix(path, "/namespaces/guests-edge-one/secrets") && s.pools["np-b"] != nil {
		return answer(http.StatusOK, s.secrets(q))
	}
	rest, is := strings.CutPrefix(path, poolPath)
	rest = strings.TrimPrefix(rest, "/namespaces/guests")
	if !is || !strings.HasPrefix(rest, "/nodepools") {
		return false
	}
	name := strings.TrimPrefix(strings.TrimPrefix(rest, "/nodepools"), "/")
	verb, dry := map[string]string{http.MethodPost: "create", http.MethodPatch: "patch", http.MethodDelete: "delete"}[q.Method], q.URL.Query().Get("dryRun") == "All"
	if verb == "delete" { // its options are in the body
		var options struct{ DryRun []string }
		_ = json.NewDecoder(q.Body).Decode(&options)
		dry = len(options.DryRun) > 0
	}
	key := verb
	if dry {
		key += " dry"
	}
	if status := s.refuse[key]; status != nil {
		return answer(status["code"].(int), status)
	}
	switch verb {
	case "":
		return s.read(q, name, answer)
	case "create":
		return s.create(q, dry, answer)
	}
	pool := s.pools[name]
	if pool == nil {
		return answer(http.StatusNotFound, statusOf(404, "NotFound", "not found"))
	}
	if s.conflict > 0 {
		s.conflict--
		s.bump(pool)
		return answer(http.StatusConflict, statusOf(409, "Conflict", "the object has been modified"))
	}
	if verb == "patch" {
		return s.patch(q, pool, dry, answer)
	}
	if !dry {
		s.writes = append(s.writes, "delete")
		if s.stuck {
			pool["metadata"].(clitest.Object)["deletionTimestamp"] = "2026-03-01T12:00:30Z"
		} else {
			delete(s.pools, name)
		}
	}
	return answer(http.StatusOK, clitest.Object{"kind": "Status", "apiVersion": "v1", "status": "Success"})
}

func (s *poolStore) bump(pool clitest.Object) {
	s.version++
	pool["metadata"].(clitest.Object)["resourceVersion"] = fmt.Sprint(s.version)
}

func (s *poolStore) read(q *http.Request, name string, answer func(int, clitest.Object) bool) bool {
	if name == "" {
		items := []any{}
		for _, n := range slices.Sorted(maps.Keys(s.pools)) {
			items = append(items, s.pools[n])
		}
		if strings.Contains(q.Header.Get("Accept"), "PartialObjectMetadataList") {
			return answer(http.StatusNotAcceptable, statusOf(406, "NotAcceptable", "only whole objects"))
		}
		return answer(http.StatusOK, clitest.Object{"kind": "NodePoolList", "apiVersion": "hypershift.openshift.io/v1beta1", "metadata": clitest.Object{}, "items": items})
	}
	if s.pools[name] == nil {
		return answer(http.StatusNotFound, statusOf(404, "NotFound", "not found"))
	}
	return answer(http.StatusOK, s.pools[name])
}

func (s *poolStore) create(q *http.Request, dry bool, answer func(int, clitest.Object) bool) bool {
	var pool clitest.Object
	if err := json.NewDecoder(q.Body).Decode(&pool); err != nil {
		return answer(http.StatusBadRequest, statusOf(400, "BadRequest", err.Error()))
	}
	meta := pool["metadata"].(clitest.Object)
	name := meta["name"].(string)
	if s.pools[name] != nil {
		return answer(http.StatusConflict, statusOf(409, "AlreadyExists", "it exists"))
	}
	if q.URL.Query().Get("fieldManager") != "rollcall" {
		return answer(http.StatusBadRequest, statusOf(400, "BadRequest", "no field manager"))
	}
	meta["uid"], meta["creationTimestamp"], meta["generation"] = "bbbbbbbb-0000-4000-8000-000000000002", "2026-03-01T12:00:30Z", 1
	meta["managedFields"] = []any{clitest.Object{"manager": "rollcall", "operation": "Update", "time": "2026-03-01T12:00:30Z",
		"fieldsV1": clitest.Object{"f:spec": clitest.Object{"f:clusterName": clitest.Object{}, "f:replicas": clitest.Object{}}}}}
	s.bump(pool)
	management := pool["spec"].(clitest.Object)["management"].(clitest.Object)
	if management["upgradeType"] == "Replace" {
		management["replace"] = clitest.Object{"strategy": "RollingUpdate", "rollingUpdate": clitest.Object{"maxSurge": 1, "maxUnavailable": 0}}
	}
	if s.alter != nil {
		s.alter(pool)
	}
	if !dry {
		s.writes = append(s.writes, "create")
		s.pools[name] = pool
		s.control(pool)
		if s.lose {
			return answer(http.StatusGatewayTimeout, statusOf(504, "Timeout", "request timed out"))
		}
	}
	return answer(http.StatusCreated, pool)
}

func (s *poolStore) patch(q *http.Request, pool clitest.Object, dry bool, answer func(int, clitest.Object) bool) bool {
	var ops []struct {
		Op, Path string
		Value    any
	}
	if err := json.NewDecoder(q.Body).Decode(&ops); err != nil {
		return answer(http.StatusBadRequest, statusOf(400, "BadRequest", err.Error()))
	}
	changed := maps.Clone(pool)
	for _, op := range ops {
		field := strings.TrimPrefix(op.Path, "/metadata/")
		switch {
		case op.Op == "test" && fmt.Sprint(pool["metadata"].(clitest.Object)[field]) != fmt.Sprint(op.Value):
			return answer(http.StatusUnprocessableEntity, statusOf(422, "Invalid", "testing path "+op.Path+" value failed"))
		case op.Path == "/spec/replicas":
			spec := maps.Clone(pool["spec"].(clitest.Object))
			spec["replicas"] = op.Value
			changed["spec"] = spec
		}
	}
	if !dry {
		s.writes = append(s.writes, "patch")
		pool["spec"] = changed["spec"]
		s.bump(pool)
	}
	return answer(http.StatusOK, changed)
}

// secretOf is a Secret of NodePool np-b: that of np-a with its name.
func (s *poolStore) secretOf(q *http.Request, endpoint string) clitest.Object {
	from := q.Clone(q.Context())
	from.URL.Path = strings.ReplaceAll(q.URL.Path, "-np-b-", "-np-a-")
	o := s.pair.management.one(from, evidence.Secrets, "v1", "Secret")
	if o == nil {
		return statusOf(404, "NotFound", "not found")
	}
	meta := maps.Clone(o["metadata"].(map[string]any))
	meta["name"] = filepath.Base(q.URL.Path)
	o["metadata"] = meta
	if data, _ := o["data"].(map[string]any); data["value"] != nil {
		raw, err := base64.StdEncoding.DecodeString(data["value"].(string))
		if err != nil {
			return statusOf(500, "InternalError", err.Error())
		}
		text := strings.NewReplacer("203.0.113.7:30080", endpoint, "guests/np-a", "guests/np-b").Replace(string(raw))
		o["data"] = map[string]any{"value": base64.StdEncoding.EncodeToString([]byte(text))}
	}
	return o
}

// secrets lists those of the base and of NodePool np-b.
func (s *poolStore) secrets(q *http.Request) clitest.Object {
	list := s.pair.management.list(q, evidence.Secrets, "guests-edge-one", "v1", "Secret")
	for _, name := range []string{"token-np-b-1badd00d", "user-data-np-b-1badd00d"} {
		one := q.Clone(q.Context())
		one.URL.Path += "/" + name
		o := s.secretOf(one, "203.0.113.7:30080")
		o["metadata"].(map[string]any)["annotations"] = clitest.Object{"hypershift.openshift.io/nodePool": "guests/np-b", "hypershift.openshift.io/ignition-config": "true",
			"hypershift.openshift.io/last-token-generation-time": "2026-03-01T08:12:00Z"}
		list["items"] = append(list["items"].([]clitest.Object), o)
	}
	return list
}

func (s *poolStore) run(t *testing.T, args ...string) (all string, code cmdutil.ExitCode) {
	t.Helper()
	out, errs, code := s.pair.run(t, append([]string{args[0]}, args[1:]...)...)
	return strings.Join(strings.Fields(out+" "+errs), " "), code
}

// TestNodePoolCreate: what is checked, what is made, what is waited for, and how it ends.
func TestNodePoolCreate(t *testing.T) {
	plain := []string{"np-b", "--replicas", "2", "--yes"}
	for _, tt := range []struct {
		name   string
		args   []string
		change func(*poolStore)
		code   cmdutil.ExitCode
		want   []string
		writes []string
	}{
		{"made and ready", plain, nil, cmdutil.ExitOK, []string{
			"declares NodePool np-b of hosted cluster guests/edge.one, platform None", "release quay.example.com/release:4.14.38-x86_64, that of the HostedCluster",
			"spec.management.replace.strategy RollingUpdate", "spec.replicas 2", "passed there is no NodePool np-b", "NodePool guests/np-b is created",
			"ReachedIgnitionEndpoint is False: no machine has fetched its config yet", "user-data of config 1badd00d has the present token",
			"Next: rollcall worker create --hosted guests/edge.one --nodepool np-b --host NAME=IP", "rollcall worker user-data --hosted guests/edge.one --nodepool np-b",
		}, []string{"create"}},
		{"a dry run", []string{"np-b", "--replicas", "2", "--dry-run=server"}, nil, cmdutil.ExitOK, []string{"The API server would store", "not checked whether the release can be read"}, nil},
		{"the manifest of the server", []string{"np-b", "--replicas", "0", "--dry-run=server", "-o", "yaml"}, nil, cmdutil.ExitOK, []string{"replicas: 0", "maxSurge: 1"}, nil},
		{"the manifest with the release of the cluster", []string{"np-b", "--replicas", "1", "--dry-run=client"}, nil, cmdutil.ExitOK, []string{"image: quay.example.com/release:4.14.38-x86_64"}, nil},
		{"another release", []string{"np-b", "--replicas", "2", "--dry-run=server", "--release", "quay.example.com/other:1"}, nil, cmdutil.ExitOK, []string{"quay.example.com/other:1, named with --release"}, nil},
		{"a name that is taken", []string{"np-a", "--replicas", "2", "--yes"}, nil, cmdutil.ExitFault,
			[]string{"failed NodePool guests/np-a exists: of hosted cluster edge.one, platform None, 1 replica", "It is not changed", "Nothing was changed"}, nil},
		{"a name that is taken, as yaml", []string{"np-a", "--replicas", "2", "--dry-run=server", "-o", "yaml"}, nil, cmdutil.ExitFault, []string{"np-a exists"}, nil},
		{"no right to create", plain, func(s *poolStore) {
			s.refuse["create dry"] = statusOf(403, "Forbidden", "nodepools is forbidden: User \"jane\" cannot create")
		}, cmdutil.ExitFault, []string{"failed the API server refuses to create it", "cannot create", "Nothing was changed"}, nil},
		{"refused by the schema", []string{"np-b", "--replicas", "2", "--arch", "arm64", "--yes"}, func(s *poolStore) {
			s.refuse["create dry"] = statusOf(422, "Invalid", "spec: Invalid value: Setting Arch to arm64 is only supported for AWS")
		}, cmdutil.ExitFault, []string{"Setting Arch to arm64 is only supported for AWS", "Nothing was changed"}, nil},
		{"a webhook that is down", plain, func(s *poolStore) {
			s.refuse["create dry"] = statusOf(500, "InternalError", "failed calling webhook")
		}, cmdutil.ExitFailed, []string{"nothing was made", "failed calling webhook"}, nil},
		{"a webhook that changes it", []string{"np-b", "--replicas", "2", "--dry-run=server"}, func(s *poolStore) {
			s.alter = func(p clitest.Object) { p["spec"].(clitest.Object)["replicas"] = 7 }
		}, cmdutil.ExitOK, []string{"warning the API server would not store what was asked for (its schema, or a webhook): spec.replicas: 7 instead of 2", "spec.replicas 7"}, nil},
		{"somebody was faster", plain, func(s *poolStore) {
			s.refuse["create"] = statusOf(409, "AlreadyExists", "np-b already exists")
		}, cmdutil.ExitFailed, []string{"create NodePool guests/np-b", "already exists"}, nil},
		{"the answer is lost", plain, func(s *poolStore) { s.lose = true }, cmdutil.ExitOK, []string{"NodePool guests/np-b is created", "machines can be made now"}, []string{"create"}},
		{"a failure after the dry run", plain, func(s *poolStore) {
			s.refuse["create"] = statusOf(500, "InternalError", "etcd does not answer")
		}, cmdutil.ExitFailed, []string{"etcd does not answer", "it was not made"}, nil},
		{"an HostedCluster of another platform", []string{"np-b", "--replicas", "2", "--dry-run=server"}, func(s *poolStore) { s.cluster(t, "Agent", "") }, cmdutil.ExitFault,
			[]string{"the HostedCluster is of platform Agent"}, nil},
		{"a control plane that is new", []string{"np-b", "--replicas", "2", "--dry-run=server"}, func(s *poolStore) { s.cluster(t, "None", "new") }, cmdutil.ExitOK,
			[]string{"warning the hosted control plane has not published its ignition endpoint yet", "warning the hosted control plane has not published its kubeconfig yet"}, nil},
		{"no release anywhere", append(plain, "--timeout", "1s"), func(s *poolStore) { s.cluster(t, "None", "bare") }, cmdutil.ExitFailed, []string{"no release image is known", "--release"}, nil},
		{"not ready in time", append(plain, "--timeout", "1s"), func(s *poolStore) {
			s.control = func(p clitest.Object) {
				conditions(p, [][3]string{{"ValidReleaseImage", "True", ""}, {"ValidMachineConfig", "False", "expected 3 core ignition configs, found 1"}})
			}
		}, cmdutil.ExitUndecided, []string{"is not ready after 1s", "the control plane operator has not made its core configs", "oc -n guests annotate nodepool np-b",
			"Next: rollcall diagnose --hosted guests/edge.one nodepool/np-b", "rollcall nodepool wait np-b --hosted guests/edge.one", "rollcall nodepool delete np-b"}, []string{"create"}},
		{"no operator", append(plain, "--timeout", "1s"), func(s *poolStore) { s.control = func(clitest.Object) {} }, cmdutil.ExitUndecided,
			[]string{"the HyperShift operator has not looked at it: no condition is set"}, []string{"create"}},
		{"a false alarm of 4.16", plain, func(s *poolStore) {
			s.control = func(p clitest.Object) {
				ready(p)
				list := p["status"].(clitest.Object)["conditions"].([]any)
				p["status"].(clitest.Object)["conditions"] = append(list, clitest.Object{"type": "ValidArchPlatform", "status": "False",
					"message": "CPU arch amd64 is not supported for platform: None, use 'amd64' instead"})
			}
		}, cmdutil.ExitOK, []string{"ValidArchPlatform is False", "a false alarm of 4.16", "machines can be made now"}, []string{"create"}},
		{"and its worker, that does not come", []string{"np-b", "--host", "vm-8=192.0.2.8", "--yes", "--window", "1s"}, nil, cmdutil.ExitUndecided, []string{
			"spec.replicas 1", "then makes 1 worker by provider manual", "NodePool np-b: its machines can be made now", "for NodePool np-b of hosted cluster guests/edge.one",
			"vm-8: boot it with the Ignition config", "0 of 1 workers are Ready", "worker resume w-",
		}, []string{"create"}},
		{"how many", []string{"np-b"}, nil, cmdutil.ExitFailed, []string{"how many workers are wanted: --replicas N"}, nil},
		{"a worker without an address", []string{"np-b", "--host", "vm-8"}, nil, cmdutil.ExitFailed, []string{"write it as NAME=IP"}, nil},
		{"an architecture that there is not", []string{"np-b", "--replicas", "1", "--arch", "s390x"}, nil, cmdutil.ExitFailed, []string{"platform None has amd64, and arm64"}, nil},
		{"an upgrade type that there is not", []string{"np-b", "--replicas", "1", "--upgrade-type", "Rolling"}, nil, cmdutil.ExitFailed, []string{"want Replace or InPlace"}, nil},
		{"a name that is none", []string{"Np_b", "--replicas", "1"}, nil, cmdutil.ExitFailed, []string{"want a name in lower case"}, nil},
		{"fewer than none", []string{"np-b", "--replicas", "-1"}, nil, cmdutil.ExitFailed, []string{"want 0 to 2000"}, nil},
		{"a format without a dry run", []string{"np-b", "--replicas", "1", "-o", "yaml"}, nil, cmdutil.ExitFailed, []string{"it is for --dry-run=client"}, nil},
		{"no terminal to ask at", []string{"np-b", "--replicas", "1"}, nil, cmdutil.ExitFailed, []string{"add --yes"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newPoolStore(t)
			if tt.change != nil {
				tt.change(s)
			}
			args := []string{"nodepool", "create", "--hosted", "guests/edge.one", "--state-dir", filepath.Join(t.TempDir(), "state"), "--dir", filepath.Join(t.TempDir(), "out")}
			s.expect(t, append(args, tt.args...), tt.code, tt.want, tt.writes)
		})
	}
}

// expect runs a command and compares the code, what is on the screen, and what was written.
func (s *poolStore) expect(t *testing.T, args []string, code cmdutil.ExitCode, want, writes []string) string {
	t.Helper()
	all, got := s.run(t, args...)
	if got != code {
		t.Errorf("exit code %d, want %d", got, code)
	}
	for _, w := range want {
		if !strings.Contains(all, w) {
			t.Errorf("want %q", w)
		}
	}
	if t.Failed() {
		t.Log(all)
	}
	if !slices.Equal(s.writes, writes) {
		t.Errorf("written: %v, want %v", s.writes, writes)
	}
	return all
}

// cluster changes the HostedCluster: its platform, and "new" has published nothing, "bare" has no release.
func (s *poolStore) cluster(t *testing.T, platform, how string) {
	t.Helper()
	s.other = func(w http.ResponseWriter, q *http.Request) bool {
		if !strings.HasSuffix(q.URL.Path, "/hostedclusters/edge.one") {
			return false
		}
		o := s.pair.management.one(q, evidence.HostedClusters.In(""), "hypershift.openshift.io/v1beta1", "HostedCluster")
		spec := maps.Clone(o["spec"].(map[string]any))
		spec["platform"] = clitest.Object{"type": platform}
		if how == "bare" {
			delete(spec, "release")
		}
		o["spec"] = spec
		if how != "" {
			o["status"] = clitest.Object{}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(o)
		return true
	}
}

// change changes the NodePool of the base.
func (s *poolStore) change(field string, v any) {
	pool := s.pools["np-a"]
	part, name, _ := strings.Cut(field, ".")
	changed := maps.Clone(pool[part].(map[string]any))
	changed[name] = v
	pool[part] = changed
}
