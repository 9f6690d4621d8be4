package scale

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
)

const machineAPI = "openshift-machine-api"

var (
	machineResource = schema.GroupVersionResource{Group: "machine.openshift.io", Version: "v1beta1", Resource: "machines"}
	hostResource    = schema.GroupVersionResource{Group: "metal3.io", Version: "v1alpha1", Resource: "baremetalhosts"}
)

type object = map[string]any

// makeMachine creates a worker's BareMetalHost and Machine, with the status that
// the baremetal-operator and the machine controllers would have written
// (metal3-io/baremetal-operator:apis/metal3.io/v1alpha1,
// openshift/cluster-api-provider-baremetal:pkg/cloud/baremetal/actuators/machine/actuator.go).
func (c *Cluster) makeMachine(ctx context.Context, w worker, m *model) (err error) {
	if m.host, err = c.create(ctx, hostResource, c.bareMetalHost(w), w.hostStatus(c.began)); err != nil {
		return err
	}
	m.machine, err = c.create(ctx, machineResource, c.machineOf(w, m.host.GetUID()), w.machineStatus(c.began))
	return err
}

// create makes an object with its status. The lab's stand-in for the machine
// controllers writes the status of Machines, too.
func (c *Cluster) create(ctx context.Context, r schema.GroupVersionResource, content, status object) (*unstructured.Unstructured, error) {
	client := c.dynamic.Resource(r).Namespace(machineAPI)
	made, err := client.Create(ctx, &unstructured.Unstructured{Object: content}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	return c.setStatus(ctx, r, made.GetName(), func(o object) { o["status"] = status })
}

func (c *Cluster) setStatus(ctx context.Context, r schema.GroupVersionResource, name string, change func(object)) (written *unstructured.Unstructured,
	err error) {
	client := c.dynamic.Resource(r).Namespace(machineAPI)
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		o, err := client.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(o.Object)
		written, err = client.UpdateStatus(ctx, o, metav1.UpdateOptions{})
		return err
	})
	return written, err
}

func (c *Cluster) bareMetalHost(w worker) object {
	return object{
		"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost",
		"metadata": object{"name": w.name, "namespace": machineAPI, "labels": object{"installer.openshift.io/role": "worker"}},
		"spec": object{
			"automatedCleaningMode": "metadata", "bootMACAddress": w.mac, "bootMode": "UEFI", "online": true,
			"bmc":             object{"address": w.bmc, "credentialsName": w.name + "-bmc-secret", "disableCertificateVerification": true},
			"consumerRef":     object{"apiVersion": "machine.openshift.io/v1beta1", "kind": "Machine", "name": w.machine, "namespace": machineAPI},
			"customDeploy":    object{"method": "install_coreos"},
			"rootDeviceHints": object{"deviceName": disk(0)},
			"userData":        object{"name": "worker-user-data-managed", "namespace": machineAPI},
		},
	}
}

func (w worker) hostStatus(now time.Time) object {
	at := now.UTC().Format(time.RFC3339)
	version := object{"credentials": object{"name": w.name + "-bmc-secret", "namespace": machineAPI}, "credentialsVersion": "1200"}
	status := object{
		"errorCount": int64(0), "errorMessage": "", "hardwareProfile": "unknown", "lastUpdated": at,
		"operationalStatus": "OK", "poweredOn": true, "goodCredentials": version, "triedCredentials": version,
		"operationHistory": object{"register": object{"start": at, "end": at}, "inspect": object{"start": at, "end": at}},
		"provisioning":     object{"ID": id("ironic", w.name), "bootMode": "UEFI", "state": "provisioned", "image": object{"url": ""}},
	}
	fail := func(kind, state, text string) {
		status["operationalStatus"], status["errorType"], status["errorMessage"], status["errorCount"] = "error", kind, text, int64(4)
		status["provisioning"] = object{"ID": id("ironic", w.name), "bootMode": "UEFI", "state": state, "image": object{"url": ""}}
	}
	switch w.fate {
	case notInspected:
		fail("inspection error", "inspecting", "Failed to inspect hardware. Reason: Timeout reached while inspecting the node. Please check if the "+
			"ramdisk responsible for the inspection is running on the node")
		status["poweredOn"] = false
	case passwordWrong:
		fail("registration error", "registering", "Failed to get power state for node "+id("ironic", w.name)+". Error: Redfish exception occurred. "+
			"Error: HTTP GET https://"+w.bmc[len("redfish-virtualmedia://"):]+" returned code 401. Base.1.8.GeneralError: While accessing the "+
			"resource, the service received an authorization error")
		delete(status, "goodCredentials")
		status["poweredOn"] = false
	default:
		status["hardware"] = w.hardware()
	}
	return status
}

// disk is the name of a disk: the link that stays the same over reboots.
func disk(i int) string { return fmt.Sprintf("/dev/disk/by-path/pci-0000:5e:00.0-scsi-0:2:%d:0", i) }

// hardware is what an inspection finds on a two-socket server with eight disks.
func (w worker) hardware() object {
	var disks, nics, flags []any
	for i := range 8 {
		disks = append(disks, object{
			"name": disk(i), "rotational": false, "sizeBytes": int64(960197124096), "type": "SSD",
			"model": "MZ7LH960HAJR0D3", "vendor": "ATA", "serialNumber": "S5CNNA0" + suffix(w.name, "disk", string(rune('0'+i))),
			"wwn":  "0x5002538f00" + suffix(w.name, "wwn", string(rune('0'+i))),
			"hctl": "0:2:" + string(rune('0'+i)) + ":0",
		})
	}
	nics = append(nics, object{"name": "eno1", "mac": w.mac, "ip": w.address, "model": "0x8086 0x1572", "pxe": true, "speedGbps": int64(10)})
	for i := range 3 {
		nics = append(nics, object{"name": "eno" + string(rune('2'+i)), "mac": w.mac[:15] + string(rune('a'+i)) + w.mac[16:], "model": "0x8086 0x1572",
			"speedGbps": int64(10)})
	}
	for _, f := range cpuFlags {
		flags = append(flags, f)
	}
	return object{
		"hostname": w.name, "ramMebibytes": int64(393216), "storage": disks, "nics": nics,
		"cpu": object{"arch": "x86_64", "clockMegahertz": 3900.0, "count": int64(80), "model": "Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz",
			"flags": flags},
		"firmware": object{"bios": object{"date": "09/14/2023", "vendor": "Dell Inc.", "version": "2.19.1"}},
		"systemVendor": object{"manufacturer": "Dell Inc.", "productName": "PowerEdge R640 (SKU=NotProvided;ModelName=PowerEdge R640)",
			"serialNumber": "D" + suffix(w.name, "serial")},
	}
}

// cpuFlags are some of the hundred and more that an inspection lists.
var cpuFlags = []string{
	"3dnowprefetch", "abm", "acpi", "adx", "aes", "aperfmperf", "apic", "arat", "arch_perfmon", "avx", "avx2", "avx512bw", "avx512cd", "avx512dq",
	"avx512f", "avx512vl", "bmi1", "bmi2", "bts", "clflush", "clflushopt", "clwb", "cmov", "constant_tsc", "cqm", "cx16", "cx8", "dca", "de", "ds_cpl",
	"dtes64", "dtherm", "dts", "epb", "ept", "erms", "est", "f16c", "fma", "fpu", "fsgsbase", "fxsr", "ht", "ibpb", "ibrs", "ida", "invpcid", "lahf_lm",
	"lm", "mba", "mca", "mce", "mmx", "monitor", "movbe", "mpx", "msr", "mtrr", "nonstop_tsc", "nopl", "nx", "ospke", "pae", "pat", "pbe", "pcid",
	"pclmulqdq", "pdcm", "pdpe1gb", "pebs", "pge", "pku", "pln", "pni", "popcnt", "pse", "pse36", "pts", "rdrand", "rdseed", "rdt_a", "rdtscp",
	"rep_good", "sdbg", "sep", "smap", "smep", "ss", "sse", "sse2", "sse4_1", "sse4_2", "ssse3", "stibp", "syscall", "tm", "tm2", "tsc", "vme", "vmx",
	"vnmi", "vpid", "x2apic", "xgetbv1", "xsave", "xsavec", "xsaveopt", "xsaves", "xtopology", "xtpr",
}

func (c *Cluster) machineOf(w worker, host types.UID) object {
	spec := object{
		"lifecycleHooks": object{}, "metadata": object{},
		"providerSpec": object{"value": object{
			"apiVersion": "baremetal.cluster.k8s.io/v1alpha1", "kind": "BareMetalMachineProviderSpec", "customDeploy": object{"method": "install_coreos"},
			"hostSelector": object{}, "image": object{"checksum": "", "url": ""}, "userData": object{"name": "worker-user-data-managed"},
		}},
	}
	if w.fate.provisioned() {
		spec["providerID"] = providerID(w, host)
	}
	return object{
		"apiVersion": "machine.openshift.io/v1beta1", "kind": "Machine",
		"metadata": object{
			"name": w.machine, "namespace": machineAPI, "annotations": object{"metal3.io/BareMetalHost": machineAPI + "/" + w.name},
			"finalizers": []any{"machine.machine.openshift.io"},
			"labels": object{
				"machine.openshift.io/cluster-api-cluster": c.spec.Infra, "machine.openshift.io/cluster-api-machine-role": "worker",
				"machine.openshift.io/cluster-api-machine-type": "worker", "machine.openshift.io/cluster-api-machineset": c.spec.Infra + "-worker",
			},
		},
		"spec": spec,
	}
}

// providerID names the BareMetalHost by its UID
// (openshift/cluster-api-provider-baremetal:pkg/cloud/baremetal/actuators/machine/actuator.go setProviderID).
func providerID(w worker, host types.UID) string {
	return fmt.Sprintf("baremetalhost:///%s/%s/%s", machineAPI, w.name, host)
}

func (w worker) machineStatus(now time.Time) object {
	status := object{"phase": "Provisioned", "lastUpdated": now.UTC().Format(time.RFC3339)}
	switch w.fate {
	case notInspected, passwordWrong:
		status["phase"] = "Provisioning"
	case noAddresses:
	default:
		status["addresses"] = []any{
			object{"type": "InternalIP", "address": w.address}, object{"type": "Hostname", "address": w.name}, object{"type": "InternalDNS", "address": w.name},
		}
	}
	return status
}

// linkMachine is the nodelink controller's part, once the Node is there.
func linkMachine(node *corev1.Node) func(object) {
	return func(o object) {
		status, _ := o["status"].(object)
		status["phase"], status["nodeRef"] = "Running", object{"kind": "Node", "name": node.Name, "uid": string(node.UID)}
	}
}
