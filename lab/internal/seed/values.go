// Package seed holds the objects that a lab cluster begins with: those of a
// 4.20 agent-based bare metal install with three masters at the moment when
// the bootstrap host has handed over, as templates that are rendered with the
// lab's own addresses and certificates.
package seed

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strings"
	"text/template"
	"time"

	"github.com/rollcall-project/rollcall/lab/internal/build"
	"github.com/rollcall-project/rollcall/lab/internal/cluster"
	"github.com/rollcall-project/rollcall/lab/internal/pki"
	"github.com/rollcall-project/rollcall/lab/internal/plan"
)

// Version is the release that the lab's cluster claims to be. The
// machine-config-controller and -server are of its branch.
const Version = "4.20.4"

// KubeletVersion is the kubelet of that release.
const KubeletVersion = "v1.33.5"

// Host is one machine.
type Host struct {
	Name  string
	Role  string // master or worker
	Index int    // of its address, Net.Host
	MAC   string
}

// NewHost is the machine with that number.
func NewHost(name, role string, index int) Host {
	return Host{Name: name, Role: role, Index: index, MAC: fmt.Sprintf("00:00:5e:00:53:%02x", 0x10+index)}
}

// Values is what the templates are rendered with.
type Values struct {
	Net   plan.Net
	PKI   *pki.Cluster
	Hosts []Host // of the install
	// Workers are added by a MachineSet later.
	Workers []Host

	Version, Channel, ReleaseImage string
	MCOVersion, MCOImage, OSImage  string
	ClusterName, BaseDomain        string
	InfraName, ClusterID           string
	ClusterNetwork, ServiceNetwork string
	Started                        string
	PullSecret                     string
}

// NewValues describes the lab's install with control0 (the rendezvous host of
// the agent-based installer), control1 and control2.
func NewValues(net plan.Net, certs *pki.Cluster, began time.Time) Values {
	v := Values{
		Net: net, PKI: certs,
		Version: Version, Channel: "stable-4.20",
		ReleaseImage:   "quay.io/openshift-release-dev/ocp-release@" + digest("release"),
		MCOVersion:     build.MCOVersion,
		ClusterName:    "lab",
		BaseDomain:     "example.com",
		InfraName:      "lab-7xk2p",
		ClusterID:      "6a3c1a52-5a4e-4f0b-9d0e-6f6f1c1a0420",
		ClusterNetwork: cluster.ClusterNetwork, ServiceNetwork: cluster.ServiceNetwork,
		Started:    began.UTC().Format(time.RFC3339),
		PullSecret: `{"auths":{"registry.example.com":{"auth":"` + base64.StdEncoding.EncodeToString([]byte("lab:not-a-password")) + `"}}}`,
	}
	v.MCOImage, v.OSImage = v.Image("machine-config-operator"), v.Image("rhel-coreos")
	for i := range 3 {
		v.Hosts = append(v.Hosts, NewHost(fmt.Sprintf("control%d", i), "master", i))
	}
	for i := range 2 {
		v.Workers = append(v.Workers, NewHost(fmt.Sprintf("worker%d", i), "worker", len(v.Hosts)+i))
	}
	return v
}

// Now is the time in a manifest's form.
func (v Values) Now() string { return time.Now().UTC().Format(time.RFC3339) }

// WorkerYAML is a worker as metal3 and the machine API leave it once its image
// is written: BMC secret, BareMetalHost and Machine of the MachineSet.
func (v Values) WorkerYAML(h Host) (string, error) {
	set, err := templates()
	if err != nil {
		return "", err
	}
	var out strings.Builder
	err = set.ExecuteTemplate(&out, "worker", map[string]any{"Host": h, "Values": v})
	return out.String(), err
}

// Image names an image of the payload. The digest is made up and the same in
// every lab.
func (v Values) Image(name string) string {
	return "quay.io/openshift-release-dev/ocp-v4.0-art-dev@" + digest(name)
}

func digest(name string) string {
	sum := sha256.Sum256([]byte("rollcall lab " + name))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Pointer is the pointer config of a pool
// (openshift/installer:pkg/asset/ignition/machine/node.go pointerIgnitionConfig).
func (v Values) Pointer(pool string) (string, error) { return v.PointerWith(pool, v.PKI.Root.Cert) }

// PointerWith is a pointer config that trusts another authority.
func (v Values) PointerWith(pool string, ca []byte) (string, error) {
	set, err := templates()
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = set.ExecuteTemplate(&out, "pointer", struct {
		URL string
		CA  []byte
	}{v.Net.MCSURL(pool), ca})
	return out.String(), err
}

//go:embed manifests
var manifests embed.FS

// templates parses all manifests. Parsing each time keeps the package without
// variables that change.
func templates() (*template.Template, error) {
	set := template.New("").Option("missingkey=error")
	set.Funcs(template.FuncMap{
		"b64": b64, "str": func(b []byte) string { return string(b) },
		"list":    func(in ...string) []string { return in },
		"dict":    dict,
		"rfc3339": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"indent":  indent,
		"include": func(name string, data any) (string, error) {
			var out bytes.Buffer
			err := set.ExecuteTemplate(&out, name, data)
			return out.String(), err
		},
	})
	return set.ParseFS(manifests, "manifests/*")
}

// dict makes a map of keys and values.
func dict(in ...any) (map[string]any, error) {
	out := map[string]any{}
	for i := 0; i+1 < len(in); i += 2 {
		key, ok := in[i].(string)
		if !ok {
			return nil, fmt.Errorf("dict: key %v is no string", in[i])
		}
		out[key] = in[i+1]
	}
	return out, nil
}

func b64(in any) (string, error) {
	switch v := in.(type) {
	case []byte:
		return base64.StdEncoding.EncodeToString(v), nil
	case string:
		return base64.StdEncoding.EncodeToString([]byte(v)), nil
	}
	return "", fmt.Errorf("b64 of %T", in)
}

func indent(n int, text string) string {
	pad := strings.Repeat(" ", n)
	return pad + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+pad)
}

// Names lists the manifest files in the order in which they are created.
func Names() ([]string, error) {
	entries, err := fs.ReadDir(manifests, "manifests")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".yaml") {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// YAML renders one manifest file.
func (v Values) YAML(name string) ([]byte, error) {
	set, err := templates()
	if err != nil {
		return nil, fmt.Errorf("parse manifests: %w", err)
	}
	var out bytes.Buffer
	if err := set.ExecuteTemplate(&out, name, v); err != nil {
		return nil, fmt.Errorf("render %s: %w", name, err)
	}
	return out.Bytes(), nil
}
