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

	"github.com/rollcall-project/rollcall/internal/openshift"
)

const mcsCertificate = "regenerate-mcs-certificate"

// CertificateAsk is how a person wants the certificate of the machine config server back.
type CertificateAsk struct {
	Kept  []byte // a copy of the Secret machine-config-server-tls, YAML or JSON; secret
	NewCA bool   // make a new CA where none is left; saved pointers then break
}

// mcsPlan is what the certificate of a plan is made from.
type mcsPlan struct {
	names  []string
	infra  Reading
	bundle string // what the pointers of the operator trust
	ca     pair   // with its key, where the cluster has it
}

// regenerateMCSCertificate writes the serving certificate of the machine config server. A step
// that restarts the servers follows it: see restartServer.
func regenerateMCSCertificate() contentRemedy {
	return contentRemedy{
		remedy:   mcsCertificate,
		plan:     planCertificate,
		mayWrite: func(a Args) bool { return slices.Contains(mcsPlaces(), putRef(a)) },
		reads: func(Args) []readRule {
			return []readRule{{object: infrastructureRef(), fields: infrastructureReads()}}
		},
		describe: describeCertificate,
		keepsCreated: func(a Args) string {
			return fmt.Sprintf("there was no %s before; without it no machine config server that restarts comes up again", putRef(a))
		},
		rights:     mcsRights(),
		asks:       "--mcs-secret FILE",
		asksBefore: "4.19", // from then on the cluster has a CA of its own for it, with its key
	}
}

// mcsPlaces are the only objects that are written for the certificate: the leaf, the CA and its
// bundle (openshift/oc: pkg/cli/admin/ocpcertificates/regeneratemco/rotatecerts.go), and the
// pointers that no operator writes (updatesecrets.go).
func mcsPlaces() []Ref {
	return []Ref{
		secretRef(openshift.MachineConfigNamespace, openshift.MCSCertificate), secretRef(openshift.MachineConfigNamespace, openshift.MCSCA),
		configMapRef(openshift.MachineConfigNamespace, openshift.MCSCA),
		secretRef(openshift.MachineAPINamespace, "worker-user-data"), secretRef(openshift.MachineAPINamespace, "master-user-data"),
	}
}

func mcsRights() []Access {
	return slices.Concat(
		access(infrastructureRef(), "", "get"),
		access(secretRef(openshift.MachineConfigNamespace, ""), "", "get", "create", "patch"),
		access(secretRef(openshift.MachineAPINamespace, ""), "", "list", "get", "patch"),
		access(configMapRef(openshift.SystemNamespace, openshift.RootCAMap), "", "get"),
		access(nodeRef(""), "", "list"),
		access(podRef(openshift.MachineConfigNamespace, ""), "", "list", "get", "delete"))
}

func describeCertificate(s *Step, ref Ref) {
	kind := map[string]string{"secrets": "secret", "configmaps": "configmap"}[ref.Resource]
	s.Title = fmt.Sprintf("write the certificate of the machine config server into %s", ref)
	s.RiskText = "no node that runs is touched; a saved pointer with another CA is refused by the servers"
	s.OC = fmt.Sprintf("oc -n %s apply -f FILE   # the %s %s", ref.Namespace, kind, ref.Name)
	s.Inverse = "write the old values back, unless somebody changed them since; what did not exist before stays: the servers need it"
	if ref.Namespace == openshift.MachineAPINamespace {
		s.Title = fmt.Sprintf("write the new CA into the pointer %s", ref)
	}
}

// planCertificate plans the certificate of the machine config server: a kept copy that the
// pointers still trust; else one by the CA that the cluster has; a new CA only when asked for.
func planCertificate(ctx context.Context, d *draft) error {
	m, err := d.mcs(ctx)
	if err != nil {
		return err
	}
	leaf, fresh, err := d.leaf(m)
	if err != nil {
		d.leaveOut("the certificate is not in this plan: %v", err)
		return nil
	}
	if fresh != (pair{}) {
		if err := d.putCA(ctx, m, fresh); err != nil {
			return err
		}
	}
	return d.put(m, secretRef(openshift.MachineConfigNamespace, openshift.MCSCertificate), tlsSecret(leaf))
}

func (d *draft) mcs(ctx context.Context) (m mcsPlan, err error) {
	infra, err := d.API.Get(ctx, infrastructureRef())
	if err != nil {
		return m, fmt.Errorf("read Infrastructure: %w", err)
	}
	if m.names, err = serverNames(infra); err != nil {
		return m, err
	}
	if m.infra, err = reading(infrastructureRef(), infra, infrastructureReads()...); err != nil {
		return m, err
	}
	if m.bundle, err = d.bundle(ctx); err != nil {
		return m, err
	}
	secret, err := d.API.Get(ctx, secretRef(openshift.MachineConfigNamespace, openshift.MCSCA))
	if err != nil && !apierrors.IsNotFound(err) {
		return m, fmt.Errorf("read Secret %s: %w", openshift.MCSCA, err)
	}
	m.ca = pairOf(secret)
	have, known := minorOf(d.ask.Diagnosis.Cluster.Version)
	if d.ask.From != "" && known && have >= 19 { // an archive holds no key, and the plan is never applied
		if m.ca, err = newCA(d.newKey(), d.Clock.Now()); err != nil {
			return m, err
		}
		m.bundle = m.ca.cert
		d.note("that the cluster's CA can issue the certificate is seen when the plan is made on the cluster: an archive holds no key")
	}
	return m, nil
}

// bundle is what the operator writes into the pointers: the ConfigMap of the CA, or
// kube-system/root-ca (openshift/machine-config-operator: pkg/operator/sync.go getMCSCABundle).
func (d *draft) bundle(ctx context.Context) (string, error) {
	for _, at := range []struct {
		ref Ref
		key string
	}{{configMapRef(openshift.MachineConfigNamespace, openshift.MCSCA), "ca-bundle.crt"},
		{configMapRef(openshift.SystemNamespace, openshift.RootCAMap), "ca.crt"}} {
		cm, err := d.API.Get(ctx, at.ref)
		switch {
		case err == nil:
			return stringAt(cm, "data", at.key), nil
		case !apierrors.IsNotFound(err):
			return "", fmt.Errorf("read ConfigMap %s/%s: %w", at.ref.Namespace, at.ref.Name, err)
		}
	}
	return "", errors.New("neither ConfigMap machine-config-server-ca nor kube-system/root-ca exists: it is not known which CA the pointers trust")
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

// tlsSecret is the content of a Secret with the pair.
func tlsSecret(p pair) content {
	return content{Type: "kubernetes.io/tls", Data: map[string]string{"tls.crt": p.cert, "tls.key": p.key}}
}

// leaf returns the certificate to be written, and the CA where that is a new one.
func (d *draft) leaf(m mcsPlan) (leaf, fresh pair, err error) {
	now := d.Clock.Now()
	if len(d.ask.MCS.Kept) > 0 {
		var o Object
		if err := yaml.Unmarshal(d.ask.MCS.Kept, &o); err != nil || stringAt(o, "kind") != "Secret" {
			return leaf, fresh, errors.New("the kept copy is not a Secret")
		}
		leaf = pairOf(o)
		if err := leaf.checkServer(m.names, m.bundle, now); err != nil {
			return leaf, fresh, fmt.Errorf("the kept copy: %w", err)
		}
		d.note("the CA stays: every saved pointer stays valid")
		return leaf, fresh, nil
	}
	leaf, err = m.ca.issue(d.newKey(), m.names, now)
	if err == nil {
		err = leaf.checkServer(m.names, m.bundle, now)
	}
	switch {
	case err == nil:
		d.note("the certificate is issued by the CA that the cluster has: every saved pointer of that CA stays valid")
		return leaf, fresh, nil
	case !d.ask.MCS.NewCA:
		return leaf, fresh, fmt.Errorf("the cluster has no CA that the pointers trust (%w): give a kept copy of the Secret with --mcs-secret "+
			"FILE, or have a new CA made with --new-mcs-authority; every saved pointer then breaks", err)
	}
	if fresh, err = newCA(d.newKey(), now); err != nil {
		return leaf, fresh, err
	}
	leaf, err = fresh.issue(d.newKey(), m.names, now)
	return leaf, fresh, err
}

// put plans one object.
func (d *draft) put(m mcsPlan, ref Ref, c content) error {
	digest, err := storeContent(d.Store, c)
	if err != nil {
		return err
	}
	d.add(Step{Action: PutContent, Reads: []Reading{m.infra}, While: d.remedies[mcsCertificate], Deadline: minutes(2),
		Args: Args{Remedy: mcsCertificate, Resource: ref.Resource, Namespace: ref.Namespace, Object: ref.Name, Content: digest}})
	return nil
}

// putCA plans a new CA: its Secret, its bundle with the old one in it, and the pointers
// that no operator writes. kube-system/root-ca is never written: on bare metal that
// reboots all nodes (openshift/oc: pkg/cli/admin/ocpcertificates/regeneratemco).
func (d *draft) putCA(ctx context.Context, m mcsPlan, fresh pair) error {
	if err := d.put(m, secretRef(openshift.MachineConfigNamespace, openshift.MCSCA), tlsSecret(fresh)); err != nil {
		return err
	}
	bundle := content{Data: map[string]string{"ca-bundle.crt": fresh.cert + strings.TrimSpace(m.bundle) + "\n"}}
	if err := d.put(m, configMapRef(openshift.MachineConfigNamespace, openshift.MCSCA), bundle); err != nil {
		return err
	}
	secrets, err := d.API.List(ctx, secretRef(openshift.MachineAPINamespace, ""))
	if err != nil {
		return fmt.Errorf("list Secrets of %s: %w", openshift.MachineAPINamespace, err)
	}
	breaks := []string{"worker.ign and images that hold it (ISO, PXE, virtual media)"}
	for _, o := range secrets {
		name := stringAt(o, "metadata", "name")
		raw, err := base64.StdEncoding.DecodeString(stringAt(o, "data", "userData"))
		if err != nil || len(raw) == 0 || strings.HasSuffix(name, "-user-data-managed") {
			continue // the operator writes these
		}
		text, err := replaceCA(raw, fresh.cert)
		if err != nil || !slices.Contains(mcsPlaces(), secretRef(openshift.MachineAPINamespace, name)) {
			breaks = append(breaks, "Secret "+openshift.MachineAPINamespace+"/"+name)
			continue
		}
		if err := d.put(m, secretRef(openshift.MachineAPINamespace, name), content{Data: map[string]string{"userData": text}}); err != nil {
			return err
		}
	}
	d.note("these pointers break, or have to be looked at: %s", strings.Join(breaks, "; "))
	d.note("kube-system/root-ca is not written: on bare metal that reboots all nodes. The operator writes the pointers of the pools " +
		"(*-user-data-managed) from the new bundle; look at them before you boot a host")
	return nil
}

// replaceCA replaces the one CA that a pointer config trusts.
func replaceCA(raw []byte, cert string) (string, error) {
	var o map[string]any
	if err := json.Unmarshal(raw, &o); err != nil {
		return "", errors.New("it is not an Ignition config")
	}
	v, _ := fieldAt(o, "/ignition/security/tls/certificateAuthorities")
	list, _ := v.([]any)
	if len(list) != 1 {
		return "", fmt.Errorf("it has %d CAs, want 1", len(list))
	}
	one, ok := list[0].(map[string]any)
	if !ok {
		return "", errors.New("its CA is not an object")
	}
	one["source"] = "data:text/plain;charset=utf-8;base64," + base64.StdEncoding.EncodeToString([]byte(cert))
	out, err := json.Marshal(o)
	return string(out), err
}
