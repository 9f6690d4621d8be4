// Package onhost defines what a machine tells of itself: its identity files, the
// machine-config-daemon's files, units, clock, names, containers and disks.
//
// Each part is an evidence.Object of the pseudo group rollcall.dev, named as the
// machine, so that it is listed, recorded and replayed like any object. The package
// holds the schema only; internal/source/machine does the reading.
//
// Invariants:
//   - No private key, no token and no content of a configuration is in any of these
//     types. Of a kubeconfig there is whom it speaks to and what kind of credential
//     it holds, of a certificate everything, of a key whether it fits.
//   - A file that is not there and a file that could not be read are different:
//     the second has an Error.
package onhost

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// File is what is known of a file besides its content.
type File struct {
	Path   string `json:"path"`
	Exists bool   `json:"exists"`
	Error  string `json:"error,omitempty"` // why it could not be read; then Exists means nothing
	// NotCopied is why a copy of a machine's files does not have it. Whether the machine has it is not
	// known then, and Exists means nothing.
	NotCopied string `json:"notCopied,omitempty"`

	Size     int64     `json:"size,omitempty"`
	Modified time.Time `json:"modified,omitzero"`
}

// Certificate is one certificate. PEM is all of it; the other fields are for people.
type Certificate struct {
	CommonName   string    `json:"commonName"`
	Organization []string  `json:"organization,omitempty"`
	Issuer       string    `json:"issuer"`
	NotBefore    time.Time `json:"notBefore"`
	NotAfter     time.Time `json:"notAfter"`
	SHA256       string    `json:"sha256"` // of the DER
	PEM          string    `json:"pem,omitempty"`
}

// The kinds of user of a kubeconfig.
const (
	UserToken    = "token"
	UserEmbedded = "client certificate"         // in the kubeconfig itself
	UserFile     = "client certificate in file" // the kubeconfig names a file
	UserNone     = "none"
)

// Kubeconfig is what a kubeconfig says: to whom it speaks, as what kind of user and
// whom it believes.
type Kubeconfig struct {
	File
	Problem     string        `json:"problem,omitempty"` // it is there and cannot be used
	Server      string        `json:"server,omitempty"`
	UserKind    string        `json:"userKind,omitempty"`
	UserFile    string        `json:"userFile,omitempty"`        // of UserFile
	User        *Certificate  `json:"userCertificate,omitempty"` // of UserEmbedded
	Authorities []Certificate `json:"authorities,omitempty"`
}

// Pair is a file with a certificate and its private key.
type Pair struct {
	File
	Problem string       `json:"problem,omitempty"`
	Target  string       `json:"target,omitempty"` // where the link leads
	Leaf    *Certificate `json:"leaf,omitempty"`
	KeyFits bool         `json:"keyFits"` // a private key is there and is the certificate's
}

// Identity is evidence.HostIdentities.
type Identity struct {
	Hostname   string   `json:"hostname"`             // what the kernel, else /etc/hostname, else the journal says
	NameFrom   string   `json:"nameFrom"`             // which of them
	StaticName string   `json:"staticName,omitempty"` // /etc/hostname
	Given      string   `json:"given,omitempty"`      // the name that the user gave the machine
	MachineID  string   `json:"machineID,omitempty"`
	SystemUUID string   `json:"systemUUID,omitempty"`
	BootID     string   `json:"bootID,omitempty"`
	Addresses  []string `json:"addresses,omitempty"`
	MACs       []string `json:"macs,omitempty"`

	Runtime   Kubeconfig    `json:"kubeconfig"`
	Bootstrap Kubeconfig    `json:"bootstrapKubeconfig"`
	Client    Pair          `json:"kubeletClient"`
	Serving   Pair          `json:"kubeletServing"`
	RootCA    []Certificate `json:"rootCA,omitempty"`    // /etc/kubernetes/ca.crt
	KubeletCA []Certificate `json:"kubeletCA,omitempty"` // /etc/kubernetes/kubelet-ca.crt: who may speak to the kubelet
	At        time.Time     `json:"at"`                  // by the machine's own clock
}

// MachineConfig is a MachineConfig in a file.
type MachineConfig struct {
	File
	Problem    string `json:"problem,omitempty"`
	Name       string `json:"name,omitempty"`
	OSImageURL string `json:"osImageURL,omitempty"`
}

// Config is evidence.HostConfigs: what Ignition and the machine-config-daemon left.
type Config struct {
	Encapsulated    File          `json:"encapsulated"`    // input of the first boot's unit; renamed when it has finished
	EncapsulatedBak File          `json:"encapsulatedBak"` // the renamed one
	Served          MachineConfig `json:"served"`          // as the machine config server served it
	Current         MachineConfig `json:"current"`         // as the daemon applied it last
	CurrentImage    string        `json:"currentImage,omitempty"`
	Annotations     File          `json:"nodeAnnotations"` // there: the daemon's first run has not finished
	AnnotationsBak  File          `json:"nodeAnnotationsBak"`
	Force           File          `json:"force"`
	BootstrapDiff   File          `json:"bootstrapDiff"`
	Staged          File          `json:"staged"`           // a deployment waits for the next boot
	Booted          string        `json:"booted,omitempty"` // image of the booted deployment
	BootedFrom      string        `json:"bootedFrom,omitempty"`
	BootedProblem   string        `json:"bootedProblem,omitempty"`
	At              time.Time     `json:"at"`
}

// Unit is one unit as systemctl shows it.
type Unit struct {
	Name      string    `json:"name"`
	Load      string    `json:"load"`
	Active    string    `json:"active"`
	Sub       string    `json:"sub"`
	Result    string    `json:"result,omitempty"`
	UnitFile  string    `json:"unitFile,omitempty"`  // enabled, disabled, masked
	Job       bool      `json:"job,omitempty"`       // a job for it waits or runs
	Condition string    `json:"condition,omitempty"` // yes, no: of its last start
	Restarts  int       `json:"restarts,omitempty"`
	Exit      int       `json:"exit,omitempty"` // of the main process
	Since     time.Time `json:"since,omitzero"` // of the present state
}

// Units is evidence.HostUnits.
type Units struct {
	Units []Unit    `json:"units"`
	At    time.Time `json:"at"`
}

// TimeSource is one server of chrony.
type TimeSource struct {
	Name  string `json:"name"`
	State string `json:"state"` // *: selected, +: combined, -: not combined, ?: unusable, x: false ticker, ~: too variable
	Reach int    `json:"reach"` // of the last eight questions, which were answered; 0: none
}

// Clock is evidence.HostClocks.
type Clock struct {
	At           time.Time    `json:"at"` // the system clock
	Synchronised bool         `json:"synchronised"`
	Leap         string       `json:"leap,omitempty"` // chrony's leap status, as it prints it
	Stratum      int          `json:"stratum,omitempty"`
	Reference    string       `json:"reference,omitempty"`
	Offset       float64      `json:"offset"` // seconds that the clock is off by chrony's reckoning, without sign
	Sources      []TimeSource `json:"sources"`
	SourcesError string       `json:"sourcesError,omitempty"`
	RTC          time.Time    `json:"rtc,omitzero"` // the hardware clock
}

// Resolution is one name as the machine resolves it.
type Resolution struct {
	Name      string   `json:"name"`
	Why       string   `json:"why"` // who needs it
	Addresses []string `json:"addresses,omitempty"`
	From      string   `json:"from,omitempty"`  // "hosts" or the name server that answered
	Class     string   `json:"class,omitempty"` // NoSuchName, NoAnswer; "" when it has addresses
	Error     string   `json:"error,omitempty"`
}

// The classes of a Resolution that failed.
const (
	NoSuchName = "no-such-name"
	NoAnswer   = "no-answer"
	NoServer   = "no-server" // resolv.conf names none
)

// Resolutions is evidence.HostResolutions.
type Resolutions struct {
	Servers []string     `json:"servers"` // of resolv.conf
	Names   []Resolution `json:"names"`
	At      time.Time    `json:"at"`
}

// Container is one container of the runtime.
type Container struct {
	Namespace string    `json:"namespace"`
	Pod       string    `json:"pod"`
	Name      string    `json:"name"`
	State     string    `json:"state"` // running, exited, created, unknown
	Attempt   int       `json:"attempt"`
	Created   time.Time `json:"created,omitzero"`
}

// Manifest is one static pod below /etc/kubernetes/manifests.
type Manifest struct {
	File
	Problem    string   `json:"problem,omitempty"`
	Namespace  string   `json:"namespace,omitempty"`
	Pod        string   `json:"pod,omitempty"`
	Containers []string `json:"containers,omitempty"`
}

// Containers is evidence.HostContainers.
type Containers struct {
	Containers    []Container `json:"containers"`
	RuntimeError  string      `json:"runtimeError,omitempty"` // the runtime did not answer; Containers is empty then
	Manifests     []Manifest  `json:"manifests"`
	ManifestError string      `json:"manifestError,omitempty"`
	At            time.Time   `json:"at"`
}

// FileSystem is one that the node needs.
type FileSystem struct {
	Path       string `json:"path"` // what was looked at
	Mount      string `json:"mount,omitempty"`
	Type       string `json:"type,omitempty"`
	Device     string `json:"device,omitempty"` // kernel name of the disk under it
	Model      string `json:"model,omitempty"`
	ReadOnly   bool   `json:"readOnly"`
	Rotational bool   `json:"rotational"`        // the kernel's word, see RotationalKnown
	Known      bool   `json:"rotationalKnown"`   // the disk could be found and asked
	Virtual    bool   `json:"virtual,omitempty"` // a disk of a virtual machine, whose word on rotation means nothing
	Bytes      uint64 `json:"bytes"`
	Free       uint64 `json:"free"` // foreverybody, as the kubelet counts
	Inodes     uint64 `json:"inodes,omitempty"`
	InodesFree uint64 `json:"inodesFree,omitempty"`
	Error      string `json:"error,omitempty"`
}

// Disks is evidence.HostDisks.
type Disks struct {
	FileSystems []FileSystem `json:"fileSystems"`
	At          time.Time    `json:"at"`
}

// Object returns one part as an object of the machine name; evidence.Decode is the
// way back. where is what a person looks at to see it again.
func Object(r evidence.Resource, name, where string, at time.Time, part any) (evidence.Object, error) {
	raw, err := json.Marshal(part)
	if err != nil {
		return evidence.Object{}, fmt.Errorf("encode %s of %s: %w", r.Name, name, err)
	}
	content := map[string]any{}
	if err := json.Unmarshal(raw, &content); err != nil {
		return evidence.Object{}, fmt.Errorf("decode %s of %s: %w", r.Name, name, err)
	}
	content["apiVersion"] = evidence.ProbeGroup + "/v1alpha1"
	content["kind"] = kinds[r]
	content["metadata"] = map[string]any{"name": name}
	return evidence.Object{
		Resource: r, Name: name, Content: content, ReadAt: at,
		Loc: evidence.Locator{Source: evidence.HostSource + name, Path: where},
	}, nil
}

var kinds = map[evidence.Resource]string{
	evidence.HostIdentities: "HostIdentity", evidence.HostConfigs: "HostConfig", evidence.HostUnits: "HostUnits",
	evidence.HostClocks: "HostClock", evidence.HostResolutions: "HostResolutions",
	evidence.HostContainers: "HostContainers", evidence.HostDisks: "HostDisks",
}
