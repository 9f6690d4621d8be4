package repair

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"sigs.k8s.io/yaml"
)

// CertificateAsk is how a person wants the certificate of the machine config server back.
type CertificateAsk struct {
	Kept         []byte // a copy of the Secret machine-config-server-tls, YAML or JSON; secret
	NewAuthority bool   // make a new authority where none is left; saved pointers then break
}

func secretRef(namespace, name string) Ref {
	return Ref{Version: "v1", Resource: "secrets", Namespace: namespace, Name: name}
}

// mcsPlan is what the certificate of a plan is made from.
type mcsPlan struct {
	names     []string
	infra     Reading
	bundle    string // what the pointers of the operator trust
	authority pair   // with its key, where the cluster has it
}

// certificate plans the certificate of the machine config server: a kept copy that the
// pointers still trust; else one by the authority that the cluster has; a new authority only
// when asked for. Nothing is deleted but the pods of the servers, and these after the Secret.
func (b *building) certificate(ctx context.Context) error {
	if len(b.remedies[mcsCertificate]) == 0 {
		return nil
	}
	m, err := b.mcs(ctx)
	if err != nil {
		return err
	}
	leaf, fresh, err := b.leaf(m)
	if err != nil {
		b.open("the certificate is not in this plan: %v", err)
		return nil
	}
	if fresh != (pair{}) {
		if err := b.authority(ctx, m, fresh); err != nil {
			return err
		}
	}
	if err := b.put(m, secretRef(MirrorNamespace, mcsLeaf), content{Type: "kubernetes.io/tls", Data: map[string]string{"tls.crt": leaf.cert, "tls.key": leaf.key}}); err != nil {
		return err
	}
	return b.restartServers(ctx)
}

func (b *building) mcs(ctx context.Context) (m mcsPlan, err error) {
	infra, err := b.API.Get(ctx, infrastructureRef())
	if err != nil {
		return m, fmt.Errorf("read Infrastructure: %w", err)
	}
	if m.names, err = serverNames(infra); err != nil {
		return m, err
	}
	if m.infra, err = reading(infrastructureRef(), infra, infrastructureReads()...); err != nil {
		return m, err
	}
	if m.bundle, err = b.bundle(ctx); err != nil {
		return m, err
	}
	secret, err := b.API.Get(ctx, secretRef(MirrorNamespace, mcsAuthority))
	if err != nil && !apierrors.IsNotFound(err) {
		return m, fmt.Errorf("read Secret %s: %w", mcsAuthority, err)
	}
	m.authority = pairOf(secret)
	return m, nil
}

// bundle is what the operator writes into the pointers: the ConfigMap of the authority, or
// kube-system/root-ca (openshift/machine-config-operator: pkg/operator/sync.go getMCSCABundle).
func (b *building) bundle(ctx context.Context) (string, error) {
	for _, at := range []struct{ ref, key string }{{MirrorNamespace + "/" + mcsAuthority, "ca-bundle.crt"}, {"kube-system/root-ca", "ca.crt"}} {
		namespace, name, _ := strings.Cut(at.ref, "/")
		cm, err := b.API.Get(ctx, Ref{Version: "v1", Resource: "configmaps", Namespace: namespace, Name: name})
		switch {
		case err == nil:
			return stringAt(cm, "data", at.key), nil
		case !apierrors.IsNotFound(err):
			return "", fmt.Errorf("read ConfigMap %s: %w", at.ref, err)
		}
	}
	return "", errors.New("neither ConfigMap machine-config-server-ca nor kube-system/root-ca exists: it is not known which authority the pointers trust")
}

func pairOf(secret Object) pair {
	value := func(key string) string {
		raw, err := base64.StdEncoding.DecodeString(stringAt(secret, "data", key))
		if err != nil {
			return ""
		}
		return string(raw)
	}
	return pair{cert: value("tls.crt"), key: value("tls.key")}
}

// leaf returns the certificate to be written, and the authority where that is a new one.
func (b *building) leaf(m mcsPlan) (leaf, fresh pair, err error) {
	now := b.Clock.Now()
	if len(b.ask.MCS.Kept) > 0 {
		var o Object
		if err := yaml.Unmarshal(b.ask.MCS.Kept, &o); err != nil || stringAt(o, "kind") != "Secret" {
			return leaf, fresh, errors.New("the kept copy is not a Secret")
		}
		leaf = pairOf(o)
		if err := leaf.checkServer(m.names, m.bundle, now); err != nil {
			return leaf, fresh, fmt.Errorf("the kept copy: %w", err)
		}
		b.plan.Notes = append(b.plan.Notes, "the authority stays: every saved pointer stays valid")
		return leaf, fresh, nil
	}
	leaf, err = m.authority.issue(m.names, now)
	if err == nil {
		err = leaf.checkServer(m.names, m.bundle, now)
	}
	switch {
	case err == nil:
		b.plan.Notes = append(b.plan.Notes, "the certificate is issued by the authority that the cluster has: every saved pointer of that authority stays valid")
		return leaf, fresh, nil
	case !b.ask.MCS.NewAuthority:
		return leaf, fresh, fmt.Errorf("the cluster has no authority that the pointers trust (%w): give a kept copy of the Secret with --mcs-secret FILE, or have a new authority made with --new-mcs-authority; every saved pointer then breaks", err)
	}
	if fresh, err = newAuthority(now); err != nil {
		return leaf, fresh, err
	}
	leaf, err = fresh.issue(m.names, now)
	return leaf, fresh, err
}

// put plans one object.
func (b *building) put(m mcsPlan, ref Ref, c content) error {
	digest, err := putContent(b.Store, c)
	if err != nil {
		return err
	}
	b.add(Step{Action: PutContent, Reads: []Reading{m.infra}, While: b.remedies[mcsCertificate], Deadline: minutes(2),
		Args: Args{Remedy: mcsCertificate, Resource: ref.Resource, Namespace: ref.Namespace, Object: ref.Name, Content: digest}})
	return nil
}

// authority plans a new authority: its Secret, its bundle with the old one in it, and the
// pointers that no operator writes. kube-system/root-ca is never written: on bare metal that
// reboots all nodes (openshift/oc: pkg/cli/admin/ocpcertificates/regeneratemco).
func (b *building) authority(ctx context.Context, m mcsPlan, fresh pair) error {
	if err := b.put(m, secretRef(MirrorNamespace, mcsAuthority), content{Type: "kubernetes.io/tls", Data: map[string]string{"tls.crt": fresh.cert, "tls.key": fresh.key}}); err != nil {
		return err
	}
	bundle := content{Data: map[string]string{"ca-bundle.crt": fresh.cert + strings.TrimSpace(m.bundle) + "\n"}}
	if err := b.put(m, Ref{Version: "v1", Resource: "configmaps", Namespace: MirrorNamespace, Name: mcsAuthority}, bundle); err != nil {
		return err
	}
	secrets, err := b.API.List(ctx, secretRef(bareMetalNamespace, ""))
	if err != nil {
		return fmt.Errorf("list Secrets of %s: %w", bareMetalNamespace, err)
	}
	breaks := []string{"worker.ign and images that hold it (ISO, PXE, virtual media)"}
	for _, o := range secrets {
		name := stringAt(o, "metadata", "name")
		raw, err := base64.StdEncoding.DecodeString(stringAt(o, "data", "userData"))
		if err != nil || len(raw) == 0 || strings.HasSuffix(name, "-user-data-managed") {
			continue // the operator writes these
		}
		text, err := withAuthority(raw, fresh.cert)
		if err != nil || !slices.Contains(places(), place{"secrets", bareMetalNamespace, name}) {
			breaks = append(breaks, "Secret "+bareMetalNamespace+"/"+name)
			continue
		}
		if err := b.put(m, secretRef(bareMetalNamespace, name), content{Data: map[string]string{"userData": text}}); err != nil {
			return err
		}
	}
	b.plan.Notes = append(b.plan.Notes, "these pointers break, or have to be looked at: "+strings.Join(breaks, "; "),
		"kube-system/root-ca is not written: on bare metal that reboots all nodes. The operator writes the pointers of the pools (*-user-data-managed) from the new bundle; look at them before you boot a host")
	return nil
}

// withAuthority replaces the one authority of a pointer config.
func withAuthority(raw []byte, cert string) (string, error) {
	var o map[string]any
	if err := json.Unmarshal(raw, &o); err != nil {
		return "", errors.New("it is not an Ignition config")
	}
	v, _ := fieldAt(o, "/ignition/security/tls/certificateAuthorities")
	list, _ := v.([]any)
	if len(list) != 1 {
		return "", fmt.Errorf("it has %d authorities, want 1", len(list))
	}
	one, ok := list[0].(map[string]any)
	if !ok {
		return "", errors.New("its authority is not an object")
	}
	one["source"] = "data:text/plain;charset=utf-8;base64," + base64.StdEncoding.EncodeToString([]byte(cert))
	out, err := json.Marshal(o)
	return string(out), err
}

// restartServers plans the restart of the servers, one after the other.
func (b *building) restartServers(ctx context.Context) error {
	pods, err := b.API.List(ctx, podRef(MirrorNamespace, ""))
	if err != nil {
		return fmt.Errorf("list pods of the machine config server: %w", err)
	}
	down, err := unreadyNodes(ctx, b.API)
	if err != nil {
		return err
	}
	for _, p := range pods {
		name, node := stringAt(p, "metadata", "name"), stringAt(p, "spec", "nodeName")
		if stringAt(p, "metadata", "labels", "k8s-app") != "machine-config-server" {
			continue
		}
		if down[node] {
			b.plan.Notes = append(b.plan.Notes, fmt.Sprintf("server %s is not restarted: its node %s is not Ready. Before 4.19 it serves the old certificate until then: oc -n %s delete pod %s", name, node, MirrorNamespace, name))
			continue
		}
		rd, err := reading(podRef(MirrorNamespace, name), p, podFields()...)
		if err != nil {
			return err
		}
		b.add(Step{Action: RestartServer, Args: Args{Object: name}, Reads: []Reading{rd}, Deadline: minutes(5)})
	}
	return nil
}
