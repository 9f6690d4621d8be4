package bmc

import (
	"crypto/x509"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

const (
	goodUser = "planted-user"
	goodPass = "planted-right"
)

// small is the tree of a machine that was made for these tests, in the shape of DSP0268.
func small() map[string]string {
	return map[string]string{
		"/redfish/v1/":        `{"RedfishVersion":"1.15.0","Product":"Test BMC","Systems":{"@odata.id":"/redfish/v1/Systems"}}`,
		"/redfish/v1/Systems": `{"Members":[{"@odata.id":"/redfish/v1/Systems/1"}]}`,
		"/redfish/v1/Systems/1": `{"@odata.id":"/redfish/v1/Systems/1","Id":"1","Manufacturer":"Lenovo","Model":"SR650","SerialNumber":"j1","UUID":"6173ecec-6ef5-11ee-834a-0a8fc3a58a71",
			"PowerState":"On","BiosVersion":"U8","Status":{"Health":"OK","HealthRollup":"Warning"},"MemorySummary":{"TotalSystemMemoryGiB":127.5},
			"ProcessorSummary":{"Count":2,"Model":"Xeon  Gold "},"TrustedModules":[{"InterfaceType":"TPM2_0","Status":{"State":"Enabled"}}],
			"Boot":{"BootSourceOverrideMode":"UEFI","BootSourceOverrideEnabled":"Disabled","BootSourceOverrideTarget":"None","BootOrder":["Boot0003"]},
			"Processors":{"@odata.id":"/redfish/v1/Systems/1/Processors"},"EthernetInterfaces":{"@odata.id":"/redfish/v1/Systems/1/EthernetInterfaces"},
			"Storage":{"@odata.id":"/redfish/v1/Systems/1/Storage"},"SecureBoot":{"@odata.id":"/redfish/v1/Systems/1/SecureBoot"},"Bios":{"@odata.id":"/redfish/v1/Systems/1/Bios"},
			"Links":{"ManagedBy":[{"@odata.id":"/redfish/v1/Managers/1"}],"Chassis":[{"@odata.id":"/redfish/v1/Chassis/1"}]}}`,
		"/redfish/v1/Systems/1/Processors":                   `{"Members":[{"@odata.id":"/redfish/v1/Systems/1/Processors/1"},{"@odata.id":"/redfish/v1/Systems/1/Processors/G"},{"@odata.id":"/redfish/v1/Systems/1/Processors/2"}]}`,
		"/redfish/v1/Systems/1/Processors/1":                 `{"ProcessorType":"CPU","InstructionSet":"x86-64","TotalThreads":32}`,
		"/redfish/v1/Systems/1/Processors/2":                 `{"ProcessorType":"CPU","InstructionSet":"x86-64","TotalThreads":32}`,
		"/redfish/v1/Systems/1/Processors/G":                 `{"ProcessorType":"GPU","TotalThreads":9999}`,
		"/redfish/v1/Systems/1/SecureBoot":                   `{"SecureBootEnable":false,"SecureBootCurrentBoot":"Disabled","SecureBootMode":"UserMode"}`,
		"/redfish/v1/Systems/1/Bios":                         `{"Attributes":{"BootModes_SystemBootMode":"LegacyMode","Password":"planted-bios"}}`,
		"/redfish/v1/Systems/1/Storage":                      `{"Members":[{"@odata.id":"/redfish/v1/Systems/1/Storage/a"}]}`,
		"/redfish/v1/Systems/1/Storage/a":                    `{"Drives":[{"@odata.id":"/redfish/v1/Systems/1/Storage/a/0"}],"Volumes":{"@odata.id":"/redfish/v1/Systems/1/Storage/a/Volumes"}}`,
		"/redfish/v1/Systems/1/Storage/a/0":                  `{"Id":"0","Model":"M","Manufacturer":"V","SerialNumber":"S0","CapacityBytes":480103981056,"MediaType":"SSD","FailurePredicted":true,"Status":{"Health":"OK"},"Identifiers":[{"DurableName":"5002538E00000001","DurableNameFormat":"NAA"}]}`,
		"/redfish/v1/Systems/1/Storage/a/Volumes":            `{"Members":[]}`,
		"/redfish/v1/Systems/1/EthernetInterfaces":           `{"Members":[{"@odata.id":"/redfish/v1/Systems/1/EthernetInterfaces/1"},{"@odata.id":"/redfish/v1/Systems/1/EthernetInterfaces/ToManager"}]}`,
		"/redfish/v1/Systems/1/EthernetInterfaces/1":         `{"Id":"1","MACAddress":"52:54:00:AA:BB:01","LinkStatus":null,"SpeedMbps":null}`,
		"/redfish/v1/Systems/1/EthernetInterfaces/ToManager": `{"Id":"ToManager","MACAddress":"0A:8F:C3:A5:8A:71","LinkStatus":"LinkDown"}`,
		"/redfish/v1/Chassis/1":                              `{"NetworkAdapters":{"@odata.id":"/redfish/v1/Chassis/1/NetworkAdapters"}}`,
		"/redfish/v1/Chassis/1/NetworkAdapters":              `{"Members":[{"@odata.id":"/redfish/v1/Chassis/1/NetworkAdapters/s"}]}`,
		"/redfish/v1/Chassis/1/NetworkAdapters/s":            `{"Id":"s","Model":"E810","Controllers":[{"FirmwarePackageVersion":"4.2"}],"Ports":{"@odata.id":"/redfish/v1/Chassis/1/NetworkAdapters/s/Ports"}}`,
		"/redfish/v1/Chassis/1/NetworkAdapters/s/Ports":      `{"Members":[{"@odata.id":"/redfish/v1/Chassis/1/NetworkAdapters/s/Ports/1"},{"@odata.id":"/redfish/v1/Chassis/1/NetworkAdapters/s/Ports/2"}]}`,
		"/redfish/v1/Chassis/1/NetworkAdapters/s/Ports/1":    `{"Id":"1","LinkStatus":"LinkUp","CurrentSpeedGbps":25,"Ethernet":{"AssociatedMACAddresses":["5254:00ff:ffaa:bb01"]}}`,
		"/redfish/v1/Chassis/1/NetworkAdapters/s/Ports/2":    `{"Id":"2","LinkStatus":"LinkDown","Ethernet":{"AssociatedMACAddresses":["525400AABB02"]}}`,
		"/redfish/v1/Managers/1":                             `{"Model":"XCC","FirmwareVersion":"2.83","DateTime":"2026-01-01T00:00:00","DateTimeLocalOffset":"-05:00","VirtualMedia":{"@odata.id":"/redfish/v1/Managers/1/VirtualMedia"},"NetworkProtocol":{"@odata.id":"/redfish/v1/Managers/1/NetworkProtocol"}}`,
		"/redfish/v1/Managers/1/NetworkProtocol":             `{"NTP":{"ProtocolEnabled":true}}`,
		"/redfish/v1/Managers/1/VirtualMedia":                `{"Members":[{"@odata.id":"/redfish/v1/Managers/1/VirtualMedia/1"}]}`,
		"/redfish/v1/Managers/1/VirtualMedia/1":              `{"Id":"1","MediaTypes":["CD","DVD"],"Inserted":true,"Image":"https://u:planted-url@h/dir/agent.iso?token=planted-query"}`,
		"/redfish/v1/AccountService/Accounts":                `{"Members":[{"@odata.id":"/redfish/v1/AccountService/Accounts/1"}]}`,
		"/redfish/v1/AccountService/Accounts/1":              `{"UserName":"planted-user","RoleId":"ReadOnly","Links":{"Role":{"@odata.id":"/redfish/v1/AccountService/Roles/R"}}}`,
		"/redfish/v1/AccountService/Roles/R":                 `{"AssignedPrivileges":["Login","ConfigureSelf"]}`,
	}
}

// emulator is one BMC over TLS that counts what reaches it.
type emulator struct {
	*httptest.Server
	tree  map[string]string
	spoil func(w http.ResponseWriter, r *http.Request) bool // answers instead; nil: nothing does

	mu       sync.Mutex
	methods  map[string]int
	logins   int // requests with a credential
	refused  int // of these, answered 401
	requests int
}

func emulate(t testing.TB, spoil func(http.ResponseWriter, *http.Request) bool) *emulator {
	e := &emulator{tree: small(), spoil: spoil, methods: map[string]int{}}
	e.Server = httptest.NewTLSServer(e)
	e.Config.ErrorLog = nil
	t.Cleanup(e.Close)
	return e
}

func (e *emulator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	user, pass, sent := r.BasicAuth()
	right := user == goodUser && pass == goodPass
	e.mu.Lock()
	e.requests++
	e.methods[r.Method]++
	if sent {
		e.logins++
		if !right {
			e.refused++
		}
	}
	e.mu.Unlock()
	if e.spoil != nil && e.spoil(w, r) {
		return
	}
	if r.URL.Path != "/redfish/v1/" && !right {
		w.Header().Set("Www-Authenticate", `Basic realm="BMC"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	body, ok := e.tree[r.URL.Path]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	_, _ = w.Write([]byte(body)) // who asked may have gone
}

func (e *emulator) counts() (logins, refused, requests int, methods map[string]int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.logins, e.refused, e.requests, maps.Clone(e.methods)
}

func (e *emulator) target(name string) Target {
	return Target{Host: name, Address: "redfish-virtualmedia" + strings.TrimPrefix(e.URL, "https")}
}

func (e *emulator) roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(e.Certificate())
	return pool
}

func given(user, pass string) (c Credentials) {
	c.UseEnvironment(user, pass)
	return c
}

// answers asks and reads the answers out of their objects again. Whatever happens, no
// credential is in them.
func answers(t testing.TB, o Options) []Answer {
	t.Helper()
	if o.Clock == nil {
		o.Clock = time.Now
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := s.List(t.Context(), evidence.BMCAnswers, "")
	if err != nil {
		t.Fatal(err)
	}
	var list []Answer
	for _, object := range objects {
		raw, err := json.Marshal(object.Content)
		if err != nil {
			t.Fatal(err)
		}
		if i := strings.Index(string(raw), "planted"); i >= 0 {
			t.Errorf("a secret is in the answer: %s", raw[max(0, i-60):min(len(raw), i+60)])
		}
		a, err := Decode(object)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, a)
	}
	return list
}
