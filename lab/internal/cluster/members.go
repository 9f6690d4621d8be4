package cluster

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/rollcall-project/rollcall/lab/internal/plan"
	"github.com/rollcall-project/rollcall/lab/internal/proc"
)

// Member is one of several members of etcd, and where it listens for clients and for the
// other members.
type Member struct{ Name, Address string }

func (m Member) client() string { return fmt.Sprintf("https://%s:%d", m.Address, plan.EtcdPort) }
func (m Member) peer() string   { return fmt.Sprintf("https://%s:%d", m.Address, plan.EtcdPort+1) }

// GrowEtcd makes of the plane's one etcd the first of several real members. It keeps its data
// and also listens where the API server expects it; the others get the data from it.
func (p *Plane) GrowEtcd(ctx context.Context, members []Member) error {
	first := members[0]
	list, err := p.Members(ctx)
	if err != nil {
		return err
	}
	if len(list) != 1 {
		return fmt.Errorf("grow etcd: it has %d members already", len(list))
	}
	if _, err := p.etcdctl(ctx, "member", "update", list[0].ID, "--peer-urls="+first.peer()); err != nil {
		return err
	}
	p.Procs.Stop(p.Name + "etcd")
	p.members = []Member{first}
	if err := p.startEtcd(ctx); err != nil {
		return err
	}
	for _, m := range members[1:] {
		if err := p.addMember(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// addMember adds a member, starts it, and returns once it answers.
func (p *Plane) addMember(ctx context.Context, m Member) error {
	// etcd refuses another member until the one before has been there for a while
	// (etcd: server/etcdserver/server.go longestConnected, HealthInterval).
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	err := p.Procs.Await(ctx, p.Name+"etcd", func(ctx context.Context) error {
		_, err := p.etcdctl(ctx, "member", "add", m.Name, "--peer-urls="+m.peer())
		return err
	})
	if err != nil {
		return err
	}
	p.members = append(p.members, m)
	if err := p.StartMember(m.Name); err != nil {
		return err
	}
	return p.Procs.Await(ctx, p.memberProcess(m), func(ctx context.Context) error {
		client, err := p.etcdClient()
		if err != nil {
			return err
		}
		return get(ctx, client, m.client()+"/health")
	})
}

func (p *Plane) memberProcess(m Member) string { return p.Name + "etcd-" + m.Name }

// StartMember starts a member again, with the data that it had.
func (p *Plane) StartMember(name string) error {
	i := slices.IndexFunc(p.members, func(m Member) bool { return m.Name == name })
	if i < 0 {
		return fmt.Errorf("start member %s of etcd: there is none", name)
	}
	if i == 0 {
		return fmt.Errorf("start member %s of etcd: it is the one that the API server uses", name)
	}
	var all []string
	for _, m := range p.members {
		all = append(all, m.Name+"="+m.peer())
	}
	m := p.members[i]
	return p.Procs.Start(proc.Spec{
		Name: p.memberProcess(m), Path: p.Bin["etcd"], Log: filepath.Join(p.Logs, p.memberProcess(m)+".log"),
		Args: append([]string{
			"--name=" + m.Name, "--data-dir=" + p.file("etcd-"+m.Name),
			"--listen-client-urls=" + m.client(), "--advertise-client-urls=" + m.client(),
			"--listen-peer-urls=" + m.peer(), "--initial-advertise-peer-urls=" + m.peer(),
			"--initial-cluster=" + strings.Join(all, ","), "--initial-cluster-state=existing",
		}, p.etcdFlags()...),
	})
}

// StartMembers starts those members again that do not run.
func (p *Plane) StartMembers() error {
	for _, m := range p.members[1:] {
		if p.Procs.Running(p.memberProcess(m)) {
			continue
		}
		if err := p.StartMember(m.Name); err != nil {
			return err
		}
	}
	return nil
}

// StopMember stops a member as a host does that loses its power; its data stays.
func (p *Plane) StopMember(name string) { p.Procs.Stop(p.memberProcess(Member{Name: name})) }

// Grown says whether etcd has several members.
func (p *Plane) Grown() bool { return len(p.members) > 1 }

// MemberState is a member as etcd and the member itself show it.
type MemberState struct {
	ID, Name         string
	Started, Healthy bool
}

// Members asks etcd for its members, and each of them for its health.
func (p *Plane) Members(ctx context.Context) ([]MemberState, error) {
	store, err := p.Store()
	if err != nil {
		return nil, err
	}
	var answer struct {
		Members []struct {
			ID         string
			Name       string
			ClientURLs []string
		}
	}
	if err := store.call(ctx, "cluster/member/list", map[string]any{}, &answer); err != nil {
		return nil, fmt.Errorf("list members of etcd: %w", err)
	}
	client, err := p.etcdClient()
	if err != nil {
		return nil, err
	}
	var out []MemberState
	for _, m := range answer.Members {
		id, err := strconv.ParseUint(m.ID, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("read the ID of member %s of etcd: %w", m.Name, err)
		}
		s := MemberState{ID: strconv.FormatUint(id, 16), Name: m.Name, Started: m.Name != ""}
		s.Healthy = len(m.ClientURLs) > 0 && get(ctx, client, m.ClientURLs[0]+"/health") == nil
		out = append(out, s)
	}
	return out, nil
}

// etcdClient asks one member, and does not wait for one that is away.
func (p *Plane) etcdClient() (*http.Client, error) {
	return rest.HTTPClientFor(&rest.Config{Timeout: 2 * time.Second, TLSClientConfig: rest.TLSClientConfig{
		CAData: p.PKI.EtcdSigner.Cert, CertData: p.PKI.EtcdClient.Cert, KeyData: p.PKI.EtcdClient.Key,
	}})
}

// EtcdctlEnv is what etcdctl finds in the environment of its container
// (openshift/cluster-etcd-operator: pkg/etcdenvvar/etcd_env.go, bindata/etcd/pod.gotpl.yaml).
func (p *Plane) EtcdctlEnv() []string {
	endpoints := []string{fmt.Sprintf("https://%s:%d", p.Etcd, plan.EtcdPort)}
	if p.Grown() {
		endpoints = nil
		for _, m := range p.members {
			endpoints = append(endpoints, m.client())
		}
	}
	return []string{
		"ETCDCTL_ENDPOINTS=" + strings.Join(endpoints, ","), "ETCDCTL_CACERT=" + p.file("etcd-ca.crt"),
		"ETCDCTL_CERT=" + p.file("etcd-client.crt"), "ETCDCTL_KEY=" + p.file("etcd-client.key"),
	}
}

func (p *Plane) etcdctl(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, p.Bin["etcdctl"], args...)
	cmd.Env = p.EtcdctlEnv()
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("etcdctl %s: %w: %s", strings.Join(args, " "), err, errs.String())
	}
	return out, nil
}
