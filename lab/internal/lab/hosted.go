package lab

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/rollcall-project/rollcall/lab/internal/aging"
	"github.com/rollcall-project/rollcall/lab/internal/cluster"
	"github.com/rollcall-project/rollcall/lab/internal/pki"
	"github.com/rollcall-project/rollcall/lab/internal/plan"
	"github.com/rollcall-project/rollcall/lab/internal/seed"
)

// Hosted is a hosted cluster whose management cluster is the lab's: a second
// etcd, kube-apiserver and kube-controller-manager, HyperShift's real ignition
// server, and what HyperShift's operators leave in both.
type Hosted struct {
	lab    *Lab
	opts   HostedOptions
	values seed.Hosted
	plane  *cluster.Plane
	kube   kubernetes.Interface // of the hosted cluster

	// Only the world loop uses these.
	serverIn string          // the pod that the ignition server runs as
	asked    map[string]bool // Nodes whose network plugin has asked for its certificate

	mu       sync.Mutex
	hash     string          // of the config that new machines get
	expected map[string]bool // hosts that a person knows of, and whose requests he approves
	network  map[string]bool // Nodes whose network plugin has its certificate
	fronts   []*plan.Forwarder
	held     map[string]bool // hosts whose network plugin's requests no one approves
}

// HostedOptions say how a hosted cluster begins. The zero value is one whose
// first worker has joined.
type HostedOptions struct {
	// First: no worker has joined yet.
	First bool
	// Unfit: the management cluster is not an OpenShift, and the pods that the
	// cluster-network-operator makes do not fit the namespace's PodSecurity level.
	Unfit bool
}

// hostedPort is the ignition service's node port.
const hostedPort = 31443

// HostedWorker is the number of the hosted cluster's first worker; those after it
// are for troubles.
const HostedWorker = 24

// StartHosted makes the hosted cluster and returns when its ignition server
// serves. It joins the first worker, too, unless the options say that there is
// none. A second call with the same options returns what the first one made.
func (l *Lab) StartHosted(ctx context.Context, opts HostedOptions) (*Hosted, error) {
	if h := l.Hosted(); h != nil {
		if h.opts != opts {
			return nil, errors.New("start the hosted cluster: it has begun in another way; these troubles do not go together")
		}
		return h, nil
	}
	h := &Hosted{lab: l, opts: opts, asked: map[string]bool{}, expected: map[string]bool{}, network: map[string]bool{}, held: map[string]bool{}}
	for _, step := range []func(context.Context) error{
		func(context.Context) error { return h.certificates(opts) },
		h.startPlane, h.manage, h.dropPackets,
	} {
		if err := step(ctx); err != nil {
			return nil, fmt.Errorf("start the hosted cluster: %w", err)
		}
	}
	l.mu.Lock()
	l.hosted = h
	l.mu.Unlock()
	if err := l.awaitWhy(ctx, 4*time.Minute, "the hosted control plane does not stand",
		func(ctx context.Context, _ *Lab) (string, error) { return h.stands(ctx) }); err != nil {
		return nil, err
	}
	if opts.First || opts.Unfit {
		return h, nil
	}
	if err := h.PowerOn(ctx, HostedWorker, HostedMachine{}); err != nil {
		return nil, err
	}
	return h, l.awaitWhy(ctx, 4*time.Minute, "the first worker has not joined the hosted cluster", func(ctx context.Context, _ *Lab) (string, error) {
		return h.Joined(ctx, HostedWorkerName(HostedWorker))
	})
}

// Hosted is the hosted cluster; nil where there is none.
func (l *Lab) Hosted() *Hosted {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hosted
}

// HostedWorkerName is the name of the worker with that number.
func HostedWorkerName(index int) string { return fmt.Sprintf("guest%d", index-HostedWorker) }

// Kube is a client of the hosted cluster as system:admin.
func (h *Hosted) Kube() kubernetes.Interface { return h.kube }

func (h *Hosted) certificates(opts HostedOptions) error {
	net := h.lab.net
	guest, err := pki.NewCluster(pki.Hosts{
		API: []string{net.HostedAPI(), "localhost", "kubernetes.default.svc"}, Etcd: []string{net.HostedEtcd()}, MCS: []string{net.HostedAPI()},
	})
	if err != nil {
		return err
	}
	// Names as in openshift/hypershift:hypershift-operator/controllers/hostedcluster/ignitionserver/ignitionserver.go.
	ca, err := pki.NewCA(pki.Name{CN: "ignition-root-ca", OU: []string{"openshift"}}, pki.TenYears)
	if err != nil {
		return err
	}
	address := net.Host(3)
	serving, err := ca.Server(pki.Name{CN: "ignition-server", O: []string{"openshift"}}, []string{address}, pki.OneYear)
	if err != nil {
		return err
	}
	h.values = seed.Hosted{
		Values: h.lab.values, Guest: guest, IgnitionCA: ca, Ignition: serving, Address: address, NodePort: hostedPort,
		Release: fmt.Sprintf("%s:5000/openshift-release-dev/ocp-release@%s", net.Mirror(), digestOf(h.lab.values.ReleaseImage)),
		Token:   string(uuid.NewUUID()), Replicas: 1, First: opts.First, Unfit: opts.Unfit,
	}
	h.hash = h.values.Hash("")
	return nil
}

// digestOf is what follows the @ in an image's name.
func digestOf(image string) string { return image[strings.LastIndexByte(image, '@')+1:] }

func (h *Hosted) startPlane(ctx context.Context) error {
	l := h.lab
	h.plane = &cluster.Plane{
		Name: "hosted-", API: l.net.HostedAPI(), Etcd: l.net.HostedEtcd(), Dir: l.opts.Dir.file("hosted-control-plane"),
		Net: l.net, Bin: l.opts.Artifacts.Bin, PKI: h.values.Guest, Procs: l.procs, Logs: l.opts.Dir.Logs(),
	}
	if err := h.plane.Start(ctx); err != nil {
		return err
	}
	l.follow(ctx, h.plane)
	cfg := h.plane.AdminConfig()
	var err error
	if h.kube, err = kubernetes.NewForConfig(cfg); err != nil {
		return err
	}
	if h.values.Admin, err = os.ReadFile(h.plane.AdminKubeconfig()); err != nil {
		return err
	}
	boot := h.values.Guest.NodeBootstrapper
	if h.values.Bootstrapper, err = cluster.Kubeconfig(h.plane.URL(), h.values.Guest.KubeAPISigner.Cert,
		cluster.Credential{Cert: boot.Cert, Key: boot.Key}); err != nil {
		return err
	}
	return h.seed(ctx, cfg)
}

func (h *Hosted) seed(ctx context.Context, cfg *rest.Config) error {
	applier, err := seed.NewApplier(cfg)
	if err != nil {
		return err
	}
	if err := applier.CRDs(ctx, h.lab.opts.Artifacts.HostedCRDs); err != nil {
		return err
	}
	manifests, err := h.values.ClusterYAML()
	if err != nil {
		return err
	}
	objs, err := seed.Parse([]byte(manifests))
	if err != nil {
		return err
	}
	return applier.Apply(ctx, objs)
}

// manage creates what HyperShift leaves in the management cluster, the token
// Secret last: the payload has to be there before the ignition server looks.
func (h *Hosted) manage(ctx context.Context) error {
	l := h.lab
	if err := l.applier.CRDs(ctx, l.opts.Artifacts.HyperShiftCRDs); err != nil {
		return err
	}
	payload, err := h.payload(ctx)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(h.payloads(), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(h.payloads(), h.tokenName()+".ign"), payload, 0o600); err != nil {
		return err
	}
	manifests, err := h.values.ManagementYAML()
	if err != nil {
		return err
	}
	token, err := h.values.HostedToken("")
	if err != nil {
		return err
	}
	return l.Create(ctx, manifests+"\n---\n"+token)
}

func (h *Hosted) payloads() string { return h.lab.opts.Dir.file("hosted-payloads") }

// payload is the Ignition config of the hosted cluster's workers: what the real
// machine config server of the management cluster, which is of the same release,
// renders for its worker pool, with the hosted cluster's bootstrap credential and
// CA instead of its own, and without the static pods of bare metal.
func (h *Hosted) payload(ctx context.Context) ([]byte, error) {
	l := h.lab
	client, err := rest.HTTPClientFor(&rest.Config{TLSClientConfig: rest.TLSClientConfig{CAData: l.pki.Root.Cert, ServerName: l.net.API()}})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.net.MCSURL("worker"), nil)
	if err != nil {
		return nil, err
	}
	// As openshift/hypershift:ignition-server/controllers/local_ignitionprovider.go GetPayload asks.
	req.Header.Set("Accept", "application/vnd.coreos.ignition+json;version=3.2.0, */*;q=0.1")
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("get the worker pool's config: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("get the worker pool's config: %s", resp.Status)
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	if err != nil {
		return nil, fmt.Errorf("get the worker pool's config: %w", err)
	}
	return replaceFiles(raw, map[string][]byte{
		"/etc/kubernetes/kubeconfig":     h.values.Bootstrapper,
		"/etc/kubernetes/kubelet-ca.crt": h.values.Guest.ClientCA(),
	}, "/etc/kubernetes/manifests/coredns.yaml", "/etc/kubernetes/manifests/keepalived.yaml")
}

// ofNetwork are the Deployments that the cluster-network-operator makes.
var ofNetwork = []string{"network-node-identity", "ovnkube-control-plane"}

// stands says what is missing from the hosted control plane.
func (h *Hosted) stands(ctx context.Context) (string, error) {
	token, err := h.token(ctx)
	if err != nil {
		return "", err
	}
	if reason := string(token.Data["reason"]); reason != "AsExpected" {
		return "the ignition server says of the token: " + reason, nil
	}
	list, err := h.lab.kube.AppsV1().Deployments(seed.HostedControlPlane).List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	for _, d := range list.Items {
		if d.Status.AvailableReplicas == 0 && !(h.values.Unfit && slices.Contains(ofNetwork, d.Name)) {
			return d.Name + " is not available", nil
		}
	}
	if h.serving() == "" {
		return "nobody listens at the ignition endpoint", nil
	}
	return h.poolStands(ctx)
}

// serving is where the ignition endpoint leads to.
func (h *Hosted) serving() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.fronts) == 0 || len(h.fronts[0].Targets()) == 0 {
		return ""
	}
	return h.fronts[0].Targets()[0]
}

// HostedMachine is a worker of the hosted cluster to switch on. Its zero value is
// one that is made from the present user-data.
type HostedMachine struct {
	Pointer []byte // its user-data; nil: the present one
	// Firmware is the time from power-on to Ignition; 0: as long as others take.
	Firmware time.Duration
	// Network keeps its network plugin from becoming ready for that long.
	Network time.Duration
	// Unknown says that no one approves its requests.
	Unknown bool
	// Hostname is what it calls itself; empty: its name.
	Hostname string
	// Unsigned leaves the requests of its network plugin as they are.
	Unsigned bool
}

// PowerOn switches a worker on.
func (h *Hosted) PowerOn(ctx context.Context, index int, m HostedMachine) error {
	name := HostedWorkerName(index)
	if m.Pointer == nil {
		var err error
		if m.Pointer, err = h.UserData(ctx); err != nil {
			return err
		}
	}
	h.mu.Lock()
	h.expected[name], h.held[name] = !m.Unknown, m.Unsigned
	h.mu.Unlock()
	return h.powerOn(ctx, index, m)
}

// Joined says what is missing until a worker is a ready Node with both of its
// certificates.
func (h *Hosted) Joined(ctx context.Context, name string) (string, error) {
	list, err := h.kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(list.Items, func(n corev1.Node) bool { return n.Name == name })
	if i < 0 {
		return name + " is no Node yet", nil
	}
	if !ready(&list.Items[i]) {
		return name + " is not ready", nil
	}
	requests, err := h.kube.CertificatesV1().CertificateSigningRequests().List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	for _, req := range requests.Items {
		if len(req.Status.Certificate) == 0 {
			return req.Name + " of " + req.Spec.Username + " waits", nil
		}
	}
	if len(requests.Items) < 3 {
		return fmt.Sprintf("%d requests are there, expected those for the kubelet's two certificates and OVN's", len(requests.Items)), nil
	}
	return "", nil
}

// age lets time pass in the hosted cluster.
func (h *Hosted) age(ctx context.Context, shift aging.Shift) error {
	if err := ageKeys(ctx, h.plane, shift, "/registry/"); err != nil {
		return err
	}
	return forget(ctx, h.kube)
}

// replaceFiles puts other contents into files of an Ignition config, and takes
// files out of it.
func replaceFiles(config []byte, files map[string][]byte, without ...string) ([]byte, error) {
	var doc map[string]any
	if err := json.Unmarshal(config, &doc); err != nil {
		return nil, fmt.Errorf("read the worker pool's config: %w", err)
	}
	storage, _ := doc["storage"].(map[string]any)
	list, _ := storage["files"].([]any)
	list = slices.DeleteFunc(list, func(e any) bool {
		file, _ := e.(map[string]any)
		path, _ := file["path"].(string)
		return slices.Contains(without, path)
	})
	left := len(files)
	for _, e := range list {
		file, _ := e.(map[string]any)
		path, _ := file["path"].(string)
		data, ok := files[path]
		if !ok {
			continue
		}
		left--
		file["contents"] = map[string]any{"source": "data:;base64," + base64.StdEncoding.EncodeToString(data)}
	}
	storage["files"] = list
	if left > 0 {
		return nil, errors.New("read the worker pool's config: a file that is to be replaced is not in it")
	}
	return json.Marshal(doc)
}
