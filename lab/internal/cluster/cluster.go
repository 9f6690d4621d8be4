// Package cluster runs the real control plane of a lab: one etcd, one
// kube-apiserver and one kube-controller-manager, on loopback addresses.
package cluster

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/rollcall-project/rollcall/lab/internal/pki"
	"github.com/rollcall-project/rollcall/lab/internal/plan"
	"github.com/rollcall-project/rollcall/lab/internal/proc"
)

// ServiceNetwork and ClusterNetwork are those of an ordinary install.
const (
	ServiceNetwork = "172.30.0.0/16"
	ClusterNetwork = "10.128.0.0/14"
)

// EventTTL is how long the API server keeps events
// (openshift/cluster-kube-apiserver-operator:bindata/assets/config/defaultconfig.yaml event-ttl).
const EventTTL = 3 * time.Hour

// Controllers is what the lab runs of the kube-controller-manager: signing and
// approving requests as on a cluster, tokens of ServiceAccounts, the judgment that a
// host which renews no lease is gone, the deletion of pods whose Node is gone, and the
// budgets that a drain asks.
const Controllers = "certificatesigningrequest-signing-controller,certificatesigningrequest-approving-controller," +
	"certificatesigningrequest-cleaner-controller,node-lifecycle-controller," +
	"serviceaccount-token-controller,garbage-collector-controller,clusterrole-aggregation-controller," +
	"pod-garbage-collector-controller,disruption-controller"

// Plane is a running control plane.
type Plane struct {
	Name  string // what its processes and logs are called begins with; empty for the lab's own
	API   string // address of the API server
	Etcd  string // address of etcd
	Dir   string // its directory: certificates, etcd's data
	Net   plan.Net
	Bin   map[string]string
	PKI   *pki.Cluster
	Procs *proc.Group
	Logs  string

	members []Member // where etcd has several
}

// Start runs the three servers and returns once each answers.
func (p *Plane) Start(ctx context.Context) error {
	if err := p.write(); err != nil {
		return fmt.Errorf("write certificates: %w", err)
	}
	for _, step := range []func(context.Context) error{p.startEtcd, p.apiserver, p.controllers} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (p *Plane) file(name string) string { return filepath.Join(p.Dir, name) }

// write puts the certificates where the servers read them.
func (p *Plane) write() error {
	if err := os.MkdirAll(p.Dir, 0o700); err != nil {
		return err
	}
	pub, err := p.PKI.ServiceAccount.PublicKey()
	if err != nil {
		return err
	}
	files := map[string][]byte{
		"client-ca.crt": p.PKI.ClientCA(), "service-account.pub": pub,
		"service-account.key": p.PKI.ServiceAccount.Key,
		"kube-api-ca.crt":     p.PKI.KubeAPISigner.Cert,
		"kubelet-signer.crt":  p.PKI.KubeletSigner.Cert,
		"kubelet-signer.key":  p.PKI.KubeletSigner.Key,
		"etcd-ca.crt":         p.PKI.EtcdSigner.Cert,
		"audit-policy.yaml":   []byte(auditPolicy),
	}
	for name, pair := range map[string]pki.Pair{
		"kube-api": p.PKI.KubeAPI, "to-kubelet": p.PKI.ToKubelet, "etcd": p.PKI.Etcd, "etcd-client": p.PKI.EtcdClient,
	} {
		files[name+".crt"], files[name+".key"] = pair.Cert, pair.Key
	}
	for name, data := range files {
		if err := os.WriteFile(p.file(name), data, 0o600); err != nil {
			return err
		}
	}
	admin, err := Kubeconfig(p.URL(), p.PKI.KubeAPISigner.Cert, Credential{Cert: p.PKI.Admin.Cert, Key: p.PKI.Admin.Key})
	if err != nil {
		return err
	}
	if err := os.WriteFile(p.AdminKubeconfig(), admin, 0o600); err != nil {
		return err
	}
	return p.GiveControllers(p.PKI.ControllerMgr.Cert, p.PKI.ControllerMgr.Key)
}

// GiveControllers writes the client certificate that the kube-controller-manager starts with.
func (p *Plane) GiveControllers(cert, key []byte) error {
	kcm, err := Kubeconfig(p.URL(), p.PKI.KubeAPISigner.Cert, Credential{Cert: cert, Key: key})
	if err != nil {
		return err
	}
	return os.WriteFile(p.ControllersKubeconfig(), kcm, 0o600)
}

// ControllersKubeconfig is the file that the kube-controller-manager starts with.
func (p *Plane) ControllersKubeconfig() string { return p.file("controller-manager.kubeconfig") }

// URL is where clients find the API server.
func (p *Plane) URL() string { return fmt.Sprintf("https://%s:%d", p.API, plan.APIPort) }

// AdminKubeconfig is the file with system:admin's credential.
func (p *Plane) AdminKubeconfig() string { return p.file("admin.kubeconfig") }

// AdminConfig is a client as system:admin. The limits are those of a program
// that stands in for several controllers.
func (p *Plane) AdminConfig() *rest.Config {
	return &rest.Config{
		Host: p.URL(),
		TLSClientConfig: rest.TLSClientConfig{
			CAData: p.PKI.KubeAPISigner.Cert, CertData: p.PKI.Admin.Cert, KeyData: p.PKI.Admin.Key,
		},
		QPS: 100, Burst: 200, UserAgent: "rollcall-lab",
	}
}

// etcdFlags are those of every member.
func (p *Plane) etcdFlags() []string {
	return []string{
		"--unsafe-no-fsync",
		"--cert-file=" + p.file("etcd.crt"), "--key-file=" + p.file("etcd.key"),
		"--trusted-ca-file=" + p.file("etcd-ca.crt"), "--client-cert-auth",
		"--peer-cert-file=" + p.file("etcd.crt"), "--peer-key-file=" + p.file("etcd.key"),
		"--peer-trusted-ca-file=" + p.file("etcd-ca.crt"), "--peer-client-cert-auth",
		"--logger=zap", "--log-level=warn",
	}
}

func (p *Plane) startEtcd(ctx context.Context) error {
	first := Member{Name: "lab", Address: p.Etcd}
	url := first.client()
	clients := url
	if len(p.members) > 0 {
		first = p.members[0]
		clients += "," + first.client()
	}
	err := p.Procs.Start(proc.Spec{
		Name: p.Name + "etcd", Path: p.Bin["etcd"], Log: filepath.Join(p.Logs, p.Name+"etcd.log"),
		Args: append([]string{
			"--name=" + first.Name, "--data-dir=" + p.file("etcd"),
			"--listen-client-urls=" + clients, "--advertise-client-urls=" + first.client(),
			"--listen-peer-urls=" + first.peer(), "--initial-advertise-peer-urls=" + first.peer(), "--initial-cluster=" + first.Name + "=" + first.peer(),
		}, p.etcdFlags()...),
	})
	if err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(&rest.Config{TLSClientConfig: rest.TLSClientConfig{
		CAData: p.PKI.EtcdSigner.Cert, CertData: p.PKI.EtcdClient.Cert, KeyData: p.PKI.EtcdClient.Key,
	}})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return p.Procs.Await(ctx, p.Name+"etcd", func(ctx context.Context) error { return get(ctx, client, url+"/health") })
}

func (p *Plane) apiserver(ctx context.Context) error {
	err := p.Procs.Start(proc.Spec{
		Name: p.Name + "kube-apiserver", Path: p.Bin["kube-apiserver"], Log: filepath.Join(p.Logs, p.Name+"kube-apiserver.log"),
		Args: []string{
			"--bind-address=" + p.API, fmt.Sprintf("--secure-port=%d", plan.APIPort),
			// The endpoints of the service "kubernetes" may not be
			// loopback addresses; nothing in the lab uses them.
			"--advertise-address=192.0.2.5", "--endpoint-reconciler-type=none",
			fmt.Sprintf("--etcd-servers=https://%s:%d", p.Etcd, plan.EtcdPort),
			"--etcd-cafile=" + p.file("etcd-ca.crt"), "--etcd-certfile=" + p.file("etcd-client.crt"), "--etcd-keyfile=" + p.file("etcd-client.key"),
			"--tls-cert-file=" + p.file("kube-api.crt"), "--tls-private-key-file=" + p.file("kube-api.key"),
			"--client-ca-file=" + p.file("client-ca.crt"), "--anonymous-auth=true",
			"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
			"--service-account-issuer=https://kubernetes.default.svc",
			"--service-account-key-file=" + p.file("service-account.pub"), "--service-account-signing-key-file=" + p.file("service-account.key"),
			"--service-cluster-ip-range=" + ServiceNetwork,
			"--kubelet-certificate-authority=" + p.file("kubelet-signer.crt"),
			"--kubelet-client-certificate=" + p.file("to-kubelet.crt"), "--kubelet-client-key=" + p.file("to-kubelet.key"),
			"--kubelet-preferred-address-types=InternalIP", "--allow-privileged=true",
			"--event-ttl=" + EventTTL.String(),
			"--audit-policy-file=" + p.file("audit-policy.yaml"), "--audit-log-path=" + filepath.Join(p.Logs, p.Name+"audit.log"),
			"--audit-log-maxsize=50", "--audit-log-maxbackup=2",
		},
	})
	if err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(p.AdminConfig())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	return p.Procs.Await(ctx, p.Name+"kube-apiserver", func(ctx context.Context) error { return get(ctx, client, p.URL()+"/readyz") })
}

// StartControllers runs the kube-controller-manager again after it was stopped, and returns
// once it leads.
func (p *Plane) StartControllers(ctx context.Context) error { return p.controllers(ctx) }

// StartEtcd runs etcd again after it was stopped, with the data that it had.
func (p *Plane) StartEtcd(ctx context.Context) error { return p.startEtcd(ctx) }

// StartAPIServer runs the API server again after it has exited.
func (p *Plane) StartAPIServer(ctx context.Context) error { return p.apiserver(ctx) }

func (p *Plane) controllers(ctx context.Context) error {
	clients, err := kubernetes.NewForConfig(p.AdminConfig())
	if err != nil {
		return err
	}
	if err := FreeLease(ctx, clients, "kube-system", "kube-controller-manager"); err != nil {
		return err
	}
	if err := p.RunControllers(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return p.Procs.Await(ctx, p.Name+"kube-controller-manager", func(ctx context.Context) error {
		return holdsLease(ctx, clients, "kube-system", "kube-controller-manager")
	})
}

// ControllersLog is the log of the kube-controller-manager.
func (p *Plane) ControllersLog() string {
	return filepath.Join(p.Logs, p.Name+"kube-controller-manager.log")
}

// RunControllers forks the kube-controller-manager and waits for nothing. Extra flags follow
// the lab's.
func (p *Plane) RunControllers(extra ...string) error {
	port, err := plan.FreePort()
	if err != nil {
		return err
	}
	return p.Procs.Start(proc.Spec{
		Name: p.Name + "kube-controller-manager", Path: p.Bin["kube-controller-manager"], Log: p.ControllersLog(),
		Args: append([]string{
			"--kubeconfig=" + p.ControllersKubeconfig(),
			"--bind-address=" + p.Net.Local(), fmt.Sprintf("--secure-port=%d", port), "--cert-dir=" + p.file("controller-manager"),
			"--controllers=" + Controllers, "--use-service-account-credentials=true",
			"--cluster-signing-cert-file=" + p.file("kubelet-signer.crt"), "--cluster-signing-key-file=" + p.file("kubelet-signer.key"),
			// openshift/cluster-kube-controller-manager-operator:bindata/assets/config/defaultconfig.yaml
			"--cluster-signing-duration=720h",
			"--service-account-private-key-file=" + p.file("service-account.key"), "--root-ca-file=" + p.file("kube-api-ca.crt"),
			"--leader-elect=true", "--leader-elect-resource-lock=leases",
			// Longer than by default: who cannot renew in time ends, and nothing starts it
			// again; a machine that is busy with other things lets it wait.
			"--leader-elect-lease-duration=60s", "--leader-elect-renew-deadline=45s", "--leader-elect-retry-period=5s",
		}, extra...),
	})
}

func get(ctx context.Context, client *http.Client, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", url, resp.Status)
	}
	return nil
}
