package build

// Target is one program of the lab: which package of which nested module makes
// it, and how.
type Target struct {
	Name    string // file name of the program
	Module  string // directory below lab/servers that pins its versions
	Package string
	Tags    string
	LDFlags string
	CGO     bool
	// Apart says that its libraries are of versions that no other target has, and that
	// little goes through it: compiled without inlining.
	Apart bool
}

const (
	mcoVersionPkg  = "github.com/openshift/machine-config-operator/pkg/version"
	kubeVersionPkg = "k8s.io/component-base/version"
	mcoTags        = "containers_image_openpgp"
)

// MCOVersion is the version of the machine config parts of 4.20: what the
// operator writes into the ControllerConfig as generated-by-version, and what
// the controller's own version has to equal before it renders
// (openshift/machine-config-operator:pkg/controller/render/render_controller.go
// generateRenderedMachineConfig). It has the form of a release build: time,
// short form of mcoCommit, stream; the time is the commit's.
const MCOVersion = "v4.20.0-202507241621.p2.gab14c8e.assembly.stream.el9-dirty"

// mcoCommit is the commit that they are built from, which the controller writes
// on what it renders as generated-by-controller-version. A release build writes
// all 40 digits, the module's version has 12.
const mcoCommit = "ab14c8e2843b"

// targets is every program that a lab runs. The version flags only set what a
// release build sets as well: the product writes them into the objects that it
// generates (openshift/machine-config-operator:pkg/version/version.go) and the
// API server reports them on /version.
var targets = []Target{
	{
		Name: "etcd", Module: "etcd", Package: "go.etcd.io/etcd/server/v3",
		LDFlags: "-s -w",
	},
	{
		Name: "etcdctl", Module: "etcd", Package: "go.etcd.io/etcd/etcdctl/v3",
		LDFlags: "-s -w",
	},
	{
		Name: "kube-apiserver", Module: "kube", Package: "k8s.io/kubernetes/cmd/kube-apiserver",
		LDFlags: kubeVersion("1", "34", "v1.34.2"),
	},
	{
		Name: "kube-controller-manager", Module: "kube", Package: "k8s.io/kubernetes/cmd/kube-controller-manager",
		LDFlags: kubeVersion("1", "34", "v1.34.2"),
	},
	{
		Name: "kubelet-bootstrap", Module: "kube", Package: "./cmd/kubelet-bootstrap",
		LDFlags: kubeVersion("1", "34", "v1.34.2"),
	},
	{
		Name: "machine-config-controller", Module: "mco420", Tags: mcoTags, Apart: true,
		Package: "github.com/openshift/machine-config-operator/cmd/machine-config-controller",
		LDFlags: mcoVersion(MCOVersion, mcoCommit),
	},
	{
		Name: "machine-config-server", Module: "mco420", Tags: mcoTags, Apart: true,
		Package: "github.com/openshift/machine-config-operator/cmd/machine-config-server",
		LDFlags: mcoVersion(MCOVersion, mcoCommit),
	},
	{
		Name: "cert-rotator", Module: "mco420", Package: "./cmd/cert-rotator", Tags: mcoTags, Apart: true,
		LDFlags: "-s -w",
	},
	{
		Name: "machine-config-server-4.14", Module: "mcs414", Tags: mcoTags, Apart: true,
		Package: "github.com/openshift/machine-config-operator/cmd/machine-config-server",
		LDFlags: mcoVersion("v4.14.0", "7e1fb719c1ba"),
	},
	{
		Name: "baremetal-operator", Module: "bmo", Package: "github.com/metal3-io/baremetal-operator",
		LDFlags: "-s -w",
	},
	{
		Name: "ignition-server", Module: "hypershift", Package: "./cmd/ignition-server", Apart: true,
		LDFlags: "-s -w",
	},
	{
		// cgo: Ignition finds disks through libblkid
		// (coreos/ignition:internal/exec/util/blkid.go).
		Name: "ignition", Module: "ignition", Package: "github.com/coreos/ignition/v2/internal", CGO: true, Apart: true,
		LDFlags: "-s -w -X github.com/coreos/ignition/v2/internal/version.Raw=2.24.0",
	},
}

func kubeVersion(major, minor, git string) string {
	return "-s -w -X " + kubeVersionPkg + ".gitVersion=" + git +
		" -X " + kubeVersionPkg + ".gitMajor=" + major +
		" -X " + kubeVersionPkg + ".gitMinor=" + minor
}

func mcoVersion(raw, hash string) string {
	return "-s -w -X " + mcoVersionPkg + ".Raw=" + raw + " -X " + mcoVersionPkg + ".Hash=" + hash
}
