package machine

import (
	"cmp"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"net"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
	"github.com/rollcall-project/rollcall/internal/source/yamlin"
)

// The files of a kubelet's identity (openshift/machine-config-operator:
// templates/master/01-master-kubelet, the flags of kubelet.service;
// kubernetes/client-go:util/certificate/certificate_store.go).
const (
	kubeconfig          = "/var/lib/kubelet/kubeconfig"
	bootstrapKubeconfig = "/etc/kubernetes/kubeconfig"
	clientPair          = "/var/lib/kubelet/pki/kubelet-client-current.pem"
	servingPair         = "/var/lib/kubelet/pki/kubelet-server-current.pem"
	rootCA              = "/etc/kubernetes/ca.crt"         // RootCAData: templates/common/_base/files/root-ca.yaml
	kubeletCA           = "/etc/kubernetes/kubelet-ca.crt" // templates/common/_base/files/kubelet-ca.yaml
)

// identity reads who the machine is.
func (s *Source) identity() onhost.Identity {
	id := onhost.Identity{
		Given: s.opts.Name, StaticName: s.tree.text("/etc/hostname"), MachineID: s.tree.text("/etc/machine-id"), At: s.now(),
		Runtime: s.kubeconfig(kubeconfig), Bootstrap: s.kubeconfig(bootstrapKubeconfig),
		Client: s.pair(clientPair), Serving: s.pair(servingPair),
		RootCA: s.bundle(rootCA), KubeletCA: s.bundle(kubeletCA),
	}
	if !s.live {
		for _, f := range []*onhost.File{&id.Client.File, &id.Serving.File, &id.Runtime.File, &id.Bootstrap.File} {
			s.markNotCopied(f)
		}
	}
	id.Hostname, id.NameFrom = id.StaticName, "/etc/hostname"
	if s.live {
		id.BootID = s.tree.text(bootID)
		id.SystemUUID = s.tree.text("/sys/class/dmi/id/product_uuid")
		if name, ok := s.kernelName(); ok {
			id.Hostname, id.NameFrom = name, "kernel"
		}
		if s.sameNamespace("net") {
			id.Addresses, id.MACs = interfaces()
		}
	}
	if id.Hostname == "" {
		id.NameFrom = ""
	}
	return id
}

// markNotCopied says of a file that is not in a copy why. A copy does not show that the machine has
// no such file: kubelet-client-current.pem is a link, and cp and tar copy a link without what it leads to.
func (s *Source) markNotCopied(f *onhost.File) {
	if f.Exists || f.Error != "" {
		return
	}
	f.NotCopied = "it is not in the copy " + s.opts.Root
	if to := s.tree.dangling(f.Path); to != "" {
		f.NotCopied = "in the copy " + s.opts.Root + " it is a link to " + to + ", and that file is not in the copy"
	}
}

// kernelName is the host name that the kernel has. In a container it is the
// machine's only where the container shares its UTS namespace.
func (s *Source) kernelName() (string, bool) {
	if !s.sameNamespace("uts") {
		return "", false
	}
	name, err := os.Hostname()
	return name, err == nil && name != ""
}

// sameNamespace reports whether this process shares a namespace with the machine's
// first process.
func (s *Source) sameNamespace(kind string) bool {
	if path.Clean(s.opts.Root) == "/" {
		return true
	}
	here, err := os.Readlink("/proc/self/ns/" + kind)
	if err != nil {
		return false
	}
	there, err := os.Readlink(s.tree.under("/proc/1/ns/" + kind)) // a link of the kernel: it names no file
	return err == nil && here == there
}

// chooseName is what the user says, else the host name, else, where that is no name,
// whose certificate the kubelet has.
func (s *Source) chooseName() string {
	if s.opts.Name != "" {
		return strings.ToLower(s.opts.Name)
	}
	name := strings.ToLower(strings.TrimSpace(s.id.Hostname)) // kubernetes/kubernetes:pkg/util/node/node.go GetHostname
	if leaf := s.id.Client.Leaf; (name == "" || noName(name)) && leaf != nil {
		if node, ok := strings.CutPrefix(leaf.CommonName, openshift.NodeUserPrefix); ok && node != "" {
			return node
		}
	}
	return name
}

// noName reports whether a host name is what a machine without one has. The unit
// node-valid-hostname waits until it is another (openshift/machine-config-operator:
// templates/common/_base/files/usr-local-bin-mco-hostname.yaml wait_localhost).
func noName(name string) bool { return strings.HasPrefix(strings.ToLower(name), "localhost") }

// interfaces returns the addresses and MACs of the machine, without those that every
// machine has.
func interfaces() (ips, macs []string) {
	list, err := net.Interfaces()
	if err != nil {
		return nil, nil
	}
	for _, i := range list {
		if i.Flags&net.FlagLoopback != 0 {
			continue
		}
		if mac := i.HardwareAddr.String(); mac != "" && !slices.Contains(macs, mac) {
			macs = append(macs, mac)
		}
		addresses, err := i.Addrs()
		if err != nil {
			continue
		}
		for _, a := range addresses {
			if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
				ips = append(ips, n.IP.String())
			}
		}
	}
	slices.Sort(ips)
	slices.Sort(macs)
	return ips, macs
}

// kubeContext joins a cluster and a user.
type kubeContext struct {
	Name    string `json:"name"`
	Context struct {
		Cluster string `json:"cluster"`
		User    string `json:"user"`
	} `json:"context"`
}

// kubeconfigFile is the part of a kubeconfig that is looked at.
type kubeconfigFile struct {
	CurrentContext string        `json:"current-context"`
	Contexts       []kubeContext `json:"contexts"`
	Clusters       []struct {
		Name    string `json:"name"`
		Cluster struct {
			Server   string `json:"server"`
			CAData   string `json:"certificate-authority-data"`
			CAFile   string `json:"certificate-authority"`
			Insecure bool   `json:"insecure-skip-tls-verify"`
		} `json:"cluster"`
	} `json:"clusters"`
	Users []struct {
		Name string `json:"name"`
		User struct {
			Token     string `json:"token"`
			TokenFile string `json:"tokenFile"`
			CertData  string `json:"client-certificate-data"`
			CertFile  string `json:"client-certificate"`
		} `json:"user"`
	} `json:"users"`
}

func (s *Source) kubeconfig(name string) onhost.Kubeconfig {
	raw, about, err := s.tree.read(name, maxFile)
	k := onhost.Kubeconfig{File: about}
	if err != nil {
		return k
	}
	var f kubeconfigFile
	if err := yamlin.Unmarshal(raw, &f, 2*maxFile); err != nil {
		k.Problem = "it is not YAML" // the parser's words may quote what is there
		return k
	}
	k.Problem = s.fill(&k, &f)
	return k
}

// fill takes what the current context leads to; the result says what it lacks.
func (s *Source) fill(k *onhost.Kubeconfig, f *kubeconfigFile) string {
	at := slices.IndexFunc(f.Contexts, func(c kubeContext) bool { return c.Name == f.CurrentContext })
	if at < 0 {
		return "its current-context names no context"
	}
	chosen := f.Contexts[at].Context
	problem := "its context names no cluster"
	for _, c := range f.Clusters {
		if c.Name != chosen.Cluster {
			continue
		}
		problem = ""
		k.Server = c.Cluster.Server
		if u, err := url.Parse(k.Server); err != nil || u.Hostname() == "" {
			problem = "its server is not a URL"
			k.Server = ""
		} else { // no user, and nothing behind the host: what is misplaced there may be a password
			k.Server = (&url.URL{Scheme: u.Scheme, Host: u.Host}).String()
		}
		if data, err := base64.StdEncoding.DecodeString(c.Cluster.CAData); err == nil {
			k.Authorities = certificates(data)
		}
		if c.Cluster.CAData == "" && c.Cluster.CAFile != "" {
			k.Authorities = s.bundle(c.Cluster.CAFile)
		}
	}
	k.UserKind = onhost.UserNone
	for _, u := range f.Users {
		if u.Name != chosen.User {
			continue
		}
		switch {
		case u.User.CertData != "":
			k.UserKind = onhost.UserEmbedded
			data, err := base64.StdEncoding.DecodeString(u.User.CertData)
			if list := certificates(data); err == nil && len(list) > 0 {
				k.User = &list[0]
			} else {
				problem = cmp.Or(problem, "its client certificate cannot be read")
			}
		case u.User.CertFile != "":
			k.UserKind, k.UserFile = onhost.UserFile, u.User.CertFile
		case u.User.Token != "" || u.User.TokenFile != "":
			k.UserKind = onhost.UserToken
		}
	}
	return problem
}

// pair reads a file with a certificate and its key. Of the key it keeps whether it
// fits.
func (s *Source) pair(name string) onhost.Pair {
	raw, about, err := s.tree.read(name, maxFile)
	p := onhost.Pair{File: about}
	if at, err := s.tree.resolve(name); err == nil && "/"+at != name {
		p.Target = "/" + at
	}
	if err != nil {
		return p
	}
	list := certificates(raw)
	if len(list) == 0 {
		p.Problem = "there is no certificate in it"
		return p
	}
	p.Leaf = &list[0]
	p.KeyFits = keyFits(raw)
	return p
}

// certificates reads the certificates of a PEM file, at most 100.
func certificates(raw []byte) []onhost.Certificate {
	var list []onhost.Certificate
	for len(list) < 100 {
		var block *pem.Block
		if block, raw = pem.Decode(raw); block == nil {
			return list
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			continue
		}
		sum := sha256.Sum256(c.Raw)
		list = append(list, onhost.Certificate{
			CommonName: c.Subject.CommonName, Organization: c.Subject.Organization, Issuer: c.Issuer.CommonName,
			NotBefore: c.NotBefore.UTC(), NotAfter: c.NotAfter.UTC(), SHA256: hex.EncodeToString(sum[:]),
			PEM: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})),
		})
	}
	return list
}

func (s *Source) bundle(name string) []onhost.Certificate {
	raw, _, err := s.tree.read(name, maxFile)
	if err != nil {
		return nil
	}
	return certificates(raw)
}
