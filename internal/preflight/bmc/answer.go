// Package bmc asks the management controllers of machines what is in those, over Redfish,
// before anything is installed.
//
// Invariants:
//   - It only reads: no request but GET leaves this package, so no session is opened and
//     nothing is switched. Basic authentication needs no session (DMTF DSP0266, "HTTP Basic
//     authentication").
//   - A password goes only to a server whose certificate was verified, or, where the plan
//     itself switches that off, to the very certificate that was looked at before. It never
//     goes over plain HTTP, to another host, or after a redirect there.
//   - A BMC that refuses a credential is not asked again with it, and a credential that
//     several BMCs refuse is sent to no other: no account is locked by us.
//   - Answers are foreign: bytes, time, requests and members have bounds.
//   - Credentials are in no answer, no error and no log.
package bmc

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metal3"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/probe"
)

// Failure says why a BMC did not show its machine; "" where it did.
type Failure string

// The failures, in the order of the steps.
const (
	NotRedfish    Failure = "not-redfish-driver" // the address is one of IPMI, libvirt or another protocol
	BadAddress    Failure = "bad-address"        // it cannot be read as an address
	Unreachable   Failure = "unreachable"        // no connection: name, route, refused, time
	NoTLS         Failure = "no-tls"             // a connection, and no TLS session
	Untrusted     Failure = "untrusted"          // the certificate does not verify; see Trust
	Timeout       Failure = "timeout"            // connected, and no answer in time
	Closed        Failure = "closed"             // the connection ended before the answer
	Unavailable   Failure = "unavailable"        // HTTP 5xx
	NotAService   Failure = "not-a-service"      // what answers is no Redfish service
	Damaged       Failure = "damaged"            // an answer that is no whole JSON
	TooLarge      Failure = "too-large"          // more bytes or requests than one machine has
	Redirected    Failure = "redirected"         // to another host, or in a circle
	PlainHTTP     Failure = "plain-http"         // it wants a credential, which does not go over HTTP
	NoCredential  Failure = "no-credential"      // it wants one and none was given
	HeldBack      Failure = "held-back"          // other BMCs have refused the same credential
	Refused       Failure = "refused"            // HTTP 401 to the credential
	Forbidden     Failure = "forbidden"          // HTTP 403: the account may not read this
	NoSystem      Failure = "no-system"          // the path of the address leads to no system
	SeveralSystem Failure = "several-systems"    // the address names none of several systems
	Absent        Failure = "absent"             // HTTP 404 of a part: this BMC does not have it
)

// Login says what became of the credential.
type Login string

// What can become of it. "" means that the question did not get that far.
const (
	LoginAccepted  Login = "accepted"
	LoginRefused   Login = "refused"
	LoginNotNeeded Login = "not-needed" // the service answers without one
)

// The parts of a machine that are read one by one.
const (
	PartNICs       = "nics"
	PartCards      = "networkCards" // the list of cards below the chassis
	PartDisks      = "disks"
	PartMedia      = "media"
	PartSecureBoot = "secureBoot"
	PartBIOS       = "bios"
	PartManager    = "manager"
	PartProcessors = "processors"
	PartAccount    = "account"
)

// Target is one BMC that is to be asked, and what the plan wants of its machine.
type Target struct {
	Host    string `json:"host"`           // name of the host in the plan, or the address
	Role    string `json:"role,omitempty"` // master, worker, arbiter; "" where nothing tells
	Address string `json:"address"`        // as the plan has it, without a user
	Off     bool   `json:"verificationOff,omitempty"`

	MACs         []string                `json:"macs,omitempty"` // as the plan has them
	BootMode     string                  `json:"bootMode,omitempty"`
	Hints        *metal3.RootDeviceHints `json:"hints,omitempty"`
	Architecture string                  `json:"architecture,omitempty"` // as Go names it: amd64, arm64
	ByAgent      bool                    `json:"byAgent,omitempty"`      // an agent-based installation: the BMC boots nothing
	Inspected    *Inspected              `json:"inspected,omitempty"`    // what metal3 found before

	File   string `json:"file,omitempty"`  // where the address is written
	Field  string `json:"field,omitempty"` // and in which field
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// Inspected is what HardwareData has of a host.
type Inspected struct {
	MACs      []string `json:"macs,omitempty"`
	Serials   []string `json:"serials,omitempty"` // of disks
	MemoryGiB int      `json:"memoryGiB,omitempty"`
	Threads   int      `json:"threads,omitempty"`
}

// Answer is what one BMC showed of its machine, or how far the question came.
type Answer struct {
	Target `json:",inline"`

	Driver   string `json:"driver"`             // of the address: redfish-virtualmedia
	Endpoint string `json:"endpoint,omitempty"` // https://10.1.1.1
	Vantage  string `json:"vantage"`            // the machine that asked

	At       time.Time `json:"at"`
	Millis   int64     `json:"millis"`
	Requests int       `json:"requests"`

	Failure Failure `json:"failure,omitempty"`
	Status  int     `json:"status,omitempty"` // HTTP status behind the failure
	Error   string  `json:"error,omitempty"`

	Chain      []string    `json:"chain,omitempty"` // the served certificates, leaf first, PEM
	Trust      probe.Trust `json:"trust,omitempty"`
	TrustError string      `json:"trustError,omitempty"`
	Until      time.Time   `json:"until,omitzero"` // notAfter of the served certificate

	Login    Login  `json:"login,omitempty"`
	LoginBy  string `json:"loginBy,omitempty"` // where the credential is from: one of the words of Credential.From
	Product  string `json:"product,omitempty"`
	Version  string `json:"version,omitempty"` // of Redfish
	RoleID   string `json:"roleID,omitempty"`  // of the account
	Disabled bool   `json:"basicDisabled,omitempty"`

	Privileges []string `json:"privileges,omitempty"`

	System  *System  `json:"system,omitempty"`
	Manager *Manager `json:"manager,omitempty"`
	NICs    []NIC    `json:"nics,omitempty"`
	Disks   []Disk   `json:"disks,omitempty"`
	Media   []Slot   `json:"media,omitempty"`

	Unread map[string]Unread `json:"unread,omitempty"` // parts that were not read, by Part...
}

// Unread says why a part was not read.
type Unread struct {
	Failure Failure `json:"failure"`
	Detail  string  `json:"detail,omitempty"`
}

// System is the machine.
type System struct {
	Path         string `json:"path"`
	Manufacturer string `json:"manufacturer,omitempty"`
	Model        string `json:"model,omitempty"`
	Serial       string `json:"serial,omitempty"`
	UUID         string `json:"uuid,omitempty"`
	Power        string `json:"power,omitempty"` // On, Off, ...
	Health       string `json:"health,omitempty"`
	BIOS         string `json:"bios,omitempty"`
	CPUs         int    `json:"cpus,omitempty"`
	CPUModel     string `json:"cpuModel,omitempty"`
	Threads      int    `json:"threads,omitempty"`
	Architecture string `json:"architecture,omitempty"` // as Go names it
	MemoryGiB    int    `json:"memoryGiB,omitempty"`
	TPM          string `json:"tpm,omitempty"`

	BootMode        string   `json:"bootMode,omitempty"`     // UEFI or Legacy, of the BIOS settings
	OverrideMode    string   `json:"overrideMode,omitempty"` // UEFI or Legacy
	OverrideEnabled string   `json:"overrideEnabled,omitempty"`
	OverrideTarget  string   `json:"overrideTarget,omitempty"`
	BootOrder       []string `json:"bootOrder,omitempty"`

	SecureBoot     string `json:"secureBoot,omitempty"` // Enabled or Disabled, of the current boot or of the setting
	SecureBootMode string `json:"secureBootMode,omitempty"`
}

// Manager is the BMC itself.
type Manager struct {
	Model    string    `json:"model,omitempty"`
	Firmware string    `json:"firmware,omitempty"`
	Clock    time.Time `json:"clock,omitzero"`   // what it answered
	AskedAt  time.Time `json:"askedAt,omitzero"` // half of the round trip after the request, by our clock
	Round    int64     `json:"round,omitempty"`  // milliseconds of the round trip
	NTP      string    `json:"ntp,omitempty"`    // on, off
}

// NIC is one network interface of the machine.
type NIC struct {
	ID       string `json:"id"`
	MAC      string `json:"mac,omitempty"` // 52:54:00:12:34:56
	Link     string `json:"link,omitempty"`
	Mbps     int64  `json:"mbps,omitempty"`
	Model    string `json:"model,omitempty"`
	Firmware string `json:"firmware,omitempty"`
	Internal bool   `json:"internal,omitempty"` // to the BMC, and to no network
}

// The words of NIC.Link.
const (
	LinkUp   = "up"
	LinkDown = "down"
)

// Disk is a drive, or a volume that a RAID controller makes of drives.
type Disk struct {
	ID      string `json:"id"`
	Model   string `json:"model,omitempty"`
	Vendor  string `json:"vendor,omitempty"`
	Serial  string `json:"serial,omitempty"`
	WWN     string `json:"wwn,omitempty"`
	Bytes   int64  `json:"bytes,omitempty"`
	Media   string `json:"mediaType,omitempty"` // SSD, HDD
	Health  string `json:"health,omitempty"`
	Failing bool   `json:"failing,omitempty"`
	Volume  bool   `json:"volume,omitempty"`
}

// Slot is a virtual drive.
type Slot struct {
	ID       string `json:"id"`
	CD       bool   `json:"cd,omitempty"`
	Untyped  bool   `json:"untyped,omitempty"` // without MediaTypes: what it takes is not shown
	Inserted bool   `json:"inserted,omitempty"`
	Hidden   bool   `json:"hidden,omitempty"` // neither Inserted nor an image is shown: whether it is empty is not known
	Image    string `json:"image,omitempty"`  // last part of its path
}

// Question is what was asked, as a person can ask it again.
func (a Answer) Question() string {
	if a.Endpoint == "" {
		return a.Address
	}
	path := "/redfish/v1/"
	if a.System != nil {
		path = a.System.Path
	}
	return "GET " + a.Endpoint + path
}

// Object returns the answer as an object of evidence.BMCAnswers; Decode is the way back.
func (a Answer) Object(name string) (evidence.Object, error) {
	raw, err := json.Marshal(a)
	if err != nil {
		return evidence.Object{}, fmt.Errorf("encode the answer of the BMC of %s: %w", a.Host, err)
	}
	return objectOf(raw, name)
}

// ParseObject reads an answer as it is written in a file.
func ParseObject(raw []byte, name string) (evidence.Object, error) { return objectOf(raw, name) }

func objectOf(raw []byte, name string) (evidence.Object, error) {
	content := map[string]any{}
	if err := json.Unmarshal(raw, &content); err != nil {
		return evidence.Object{}, fmt.Errorf("decode the answer of a BMC: %w", err)
	}
	content["apiVersion"], content["kind"] = evidence.ProbeGroup+"/v1alpha1", "BMCAnswer"
	content["metadata"] = map[string]any{"name": name}
	o := evidence.Object{Resource: evidence.BMCAnswers, Name: name, Content: content}
	a, err := Decode(o)
	if err != nil {
		return evidence.Object{}, err
	}
	o.ReadAt, o.Loc = a.At, evidence.Locator{Source: "bmc", Path: a.Question()}
	return o, nil
}

// Decode reads an answer out of its object.
func Decode(o evidence.Object) (Answer, error) { return evidence.Decode[Answer](o) }
