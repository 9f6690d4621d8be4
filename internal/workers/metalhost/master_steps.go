package metalhost

import (
	"fmt"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Machines are named with their group: hosted clusters and others have Machines of another one.
const (
	getMachine    = "get machines.machine.openshift.io"
	deleteMachine = "delete machines.machine.openshift.io"
)

func (m *master) backup() MasterStep {
	at := m.healthy
	if ips := Addresses(object(m.seen.Nodes, m.healthy)); len(ips) > 0 {
		at = ips[0]
	}
	return MasterStep{
		Do: "Back up etcd on " + m.healthy + ", and copy both files to this machine. They belong to root.", Writes: true,
		Run: []string{
			"oc debug node/" + q(m.healthy) + " -- chroot /host /usr/local/bin/cluster-backup.sh /home/core/assets/backup",
			"ssh core@" + q(at) + " sudo tar -C /home/core/assets -cz backup > etcd-backup.tar.gz",
		},
		Guard:  []string{"tar -tzf etcd-backup.tar.gz"},
		Expect: "snapshot_DATE.db and static_kuberesources_DATE.tar.gz",
	}
}

// off: a member that comes back with its old data after its removal cannot join, and one that is removed while it is
// healthy goes on for a while.
func (m *master) off() MasterStep {
	s := MasterStep{
		Do: "Switch the host off for good, at its BMC or by hand. Until the end it must not come back with its old data.", Writes: true,
		Guard:  []string{availableMessage},
		Expect: fmt.Sprintf("%d of %d members are available, %s is unhealthy", m.total-1, m.total, m.node),
		If:     "Where another member is unhealthy, too: stop. Switch the host on again, and look at that one first.",
	}
	if h := hostOf(m.old.Host); m.old.Host != nil && evidence.String(m.old.Host, "spec", "bmc", "address") != "" && !h.detached && !h.paused {
		// metal3 switches a host on again within a minute where spec.online is true.
		s.Do = "Have metal3 switch the host off for good. By hand alone metal3 switches it on again. Where its BMC does not answer: by hand, and unplug it."
		s.Run = []string{api("patch bmh", m.host) + ` --type=merge -p '{"spec":{"online":false}}'`}
		s.Guard = []string{api("get bmh", m.host) + " -o jsonpath='{.status.poweredOn}'", availableMessage}
		s.Expect = "false (where the BMC answers); " + s.Expect
	}
	if m.well {
		s.Do += " Its member is healthy now: from here on no other may fail until the new one is in."
	}
	return s
}

func (m *master) removed() MasterStep {
	return MasterStep{
		Do: "Remove its member. First compare: ID, name " + m.node + " and address belong together in one line, and all others are healthy.", Writes: true,
		Run:    append(m.members(), m.etcdctl("member remove "+m.id)),
		Guard:  []string{m.etcdctl("member list -w table")},
		Expect: fmt.Sprintf("%d members, all started; %s is not one of them. The API may not answer for a minute", m.total-1, m.node),
		If:     "The member cannot be added again with its data. With another ID removed by mistake and no quorum: `rollcall explain restore-etcd-quorum`.",
	}
}

func (m *master) guardOff() MasterStep {
	do := "Turn the quorum guard of the etcd operator off: it rolls out nothing while a member is missing."
	if m.minor > 0 && m.minor < 18 {
		do = "Turn the quorum guard of the etcd operator off: it rolls out nothing and makes no certificates while a member is missing."
	}
	return MasterStep{
		Do: do + " It stays off until the last step, and no longer.", Writes: true,
		Run:    []string{`oc patch etcd cluster --type=merge -p '{"spec":{"unsupportedConfigOverrides":{"` + override + `":true}}}'`},
		Guard:  []string{"oc get etcd cluster -o jsonpath='{.spec.unsupportedConfigOverrides}'"},
		Expect: `{"` + override + `":true}`,
	}
}

func (m *master) secrets() MasterStep {
	do := "Delete the three Secrets with its certificates, so that a host of this name gets new ones."
	if m.minor >= 18 && m.newNode != m.node {
		do += " The new host has another name, and from 4.18 on the operator makes its certificates by itself: this step can be left out."
	}
	return MasterStep{
		Do: do, Writes: true,
		Run:    []string{etcd("delete secret", "etcd-peer-"+m.node, "etcd-serving-"+m.node, "etcd-serving-metrics-"+m.node)},
		Guard:  []string{etcd("get secrets") + " | grep -- " + q(m.node)},
		Expect: "nothing, or Secrets that are seconds old",
	}
}

// deleted: where the Machine API works, the etcd operator lets the Machine go when its member is gone
// (openshift/cluster-etcd-operator:pkg/operator/machinedeletionhooks/machinedeletionhooks.go).
func (m *master) deleted() MasterStep {
	s := MasterStep{Do: "Delete the Node.", Writes: true, Guard: []string{"oc get nodes"}, Expect: m.node + " is not listed"}
	if m.machine == "" {
		s.Run = []string{"oc delete node " + q(m.node)}
		if m.old.Host != nil {
			s.Do = "Keep a copy of the BareMetalHost, and delete it and the Node."
			s.Run = []string{api("get bmh", m.host) + " -o yaml > old-host.yaml", api("delete bmh", m.host), "oc delete node " + q(m.node)}
		}
		return s
	}
	s.Do = "Keep copies, and delete the Machine and its BareMetalHost; the Node follows. Let each command end."
	s.Run = []string{api(getMachine, m.machine) + " -o yaml > old-machine.yaml", api(deleteMachine, m.machine)}
	s.Guard = []string{api("get machines.machine.openshift.io,bmh"), "oc get nodes"}
	s.Expect = fmt.Sprintf("neither Machine %s nor BareMetalHost %s nor Node %s is listed", m.machine, m.host, m.node)
	s.If = "Machine waits: `" + api(getMachine, m.machine) + " -o jsonpath='{.status.conditions}'` shows why: a hook of the etcd " +
		"operator until the member is gone, or the drain. Node stays: `oc delete node " + q(m.node) + "`."
	if m.old.Host == nil {
		s.Expect = fmt.Sprintf("neither Machine %s nor Node %s is listed", m.machine, m.node)
		s.Guard[0] = api("get machines.machine.openshift.io")
		return s
	}
	s.Run = append([]string{api("get bmh", m.host) + " -o yaml > old-host.yaml"}, append(s.Run, api("delete bmh", m.host))...)
	if secret := evidence.String(m.old.Host, "spec", "bmc", "credentialsName"); secret != "" {
		s.Do += " Secret " + secret + " goes with the BareMetalHost: have user and password of the BMC at hand."
	}
	return s
}

// newHost: never externallyProvisioned, which the installer sets for its masters: metal3 would not install it.
func (m *master) newHost() MasterStep {
	old, _ := evidence.Field(m.old.Host, "spec").(map[string]any)
	spec := map[string]any{"automatedCleaningMode": "disabled", "externallyProvisioned": false, "online": true,
		"bootMode": orText(evidence.String(old, "bootMode"), "UEFI"),
		"userData": map[string]any{"name": masterUserData, "namespace": Namespace}}
	same := m.to == (NewMaster{})
	address, mac := m.to.BMC, m.to.MAC
	if m.to.Name == "" || m.to.Name == m.host {
		address, mac = orText(address, withoutUser(evidence.String(old, "bmc", "address"))), orText(mac, evidence.String(old, "bootMACAddress"))
	}
	secret := SecretOf(m.newNode)
	bmc := map[string]any{"address": m.or(address, "BMC_ADDRESS", "address of the BMC of the new host, as metal3 takes it (--bmc)"), "credentialsName": secret}
	if evidence.Field(old, "bmc", "disableCertificateVerification") == true {
		bmc["disableCertificateVerification"] = true
	}
	spec["bmc"], spec["bootMACAddress"] = bmc, m.or(mac, "BOOT_MAC", "MAC address of the NIC of the new host that boots (--boot-mac)")
	for _, key := range []string{"rootDeviceHints", "preprovisioningNetworkDataName"} {
		if v := old[key]; v != nil && same {
			spec[key] = v
		}
	}
	do := "Make the Secret of its BMC and the BareMetalHost of the new host, " + m.newNode + "."
	if !same {
		do += " Add rootDeviceHints where it has several disks, and its network where it has no DHCP."
	}
	return MasterStep{
		Do: do, Writes: true, File: "new-host.yaml",
		Lines: manifest(kube.Object{"apiVersion": openshift.Metal3Group + "/v1alpha1", "kind": "BareMetalHost", "metadata": map[string]any{"name": m.newNode,
			"namespace": Namespace, "labels": map[string]any{openshift.HostRoleLabel: "control-plane"}}, "spec": spec}),
		Run: []string{api("create secret generic", secret) + " --from-file=username=FILE --from-file=password=FILE",
			"oc create -f new-host.yaml"},
		Guard:  []string{api("get bmh", m.newNode)},
		Expect: "STATE available and no ERROR (registering and inspecting take 5 to 30 minutes)",
		If:     "An error stays: rollcall diagnose host/" + q(m.newNode),
	}
}

// newMachine refers to its host by the annotation, so that it takes no other one
// (openshift/cluster-api-provider-baremetal:pkg/cloud/baremetal/actuators/machine/actuator.go getHostKey).
func (m *master) newMachine() MasterStep {
	labels := map[string]any{openshift.MachineRoleLabel: "master", openshift.MachineTypeLabel: "master"}
	if v := evidence.String(m.old.Machine, "metadata", "labels", clusterLabel); v != "" {
		labels[clusterLabel] = v
	}
	meta := map[string]any{"name": m.newName, "namespace": Namespace, "labels": labels}
	value, _ := evidence.Field(m.old.Machine, "spec", "providerSpec", "value").(map[string]any)
	s := MasterStep{Do: "Make its Machine, " + m.newName + ".", Writes: true, File: "new-machine.yaml", Run: []string{"oc create -f new-machine.yaml"},
		Guard: []string{api("get machines.machine.openshift.io", m.newName), "oc get nodes", "rollcall csr list",
			api("get machines.machine.openshift.io", m.newName) + " -o jsonpath='{.spec.lifecycleHooks.preDrain}'"},
		Expect: "Machine Running, Node Ready, no expected request pending, and a hook EtcdQuorumOperator. The requests are approved by the " +
			"cluster-machine-approver within two hours",
		If: "rollcall diagnose host/" + q(m.newNode)}
	if m.way == ByBMC {
		meta["annotations"] = map[string]any{openshift.HostOnMachineAnnotation: Namespace + "/" + m.newNode}
		if value == nil {
			value = metalProvider()
		}
		fresh := map[string]any{}
		for k, v := range value {
			fresh[k] = v
		}
		fresh["customDeploy"] = map[string]any{"method": "install_coreos"}
		if fresh["userData"] == nil {
			fresh["userData"] = map[string]any{"name": masterUserData}
		}
		value = fresh
		s.Guard = append([]string{api("get bmh", m.newNode)}, s.Guard...)
		s.Expect = "BareMetalHost provisioned with CONSUMER " + m.newName + " (20 to 40 minutes), " + s.Expect
	}
	if value == nil {
		s.Lines = nil
		m.unknown = append(m.unknown, "new-machine.yaml: the Machine shows no providerSpec: make it from old-machine.yaml with another name, without status, "+
			"annotations and spec.providerID")
		return s
	}
	s.Lines = manifest(kube.Object{"apiVersion": openshift.MachineGroup + "/v1beta1", "kind": "Machine", "metadata": meta,
		"spec": map[string]any{"metadata": map[string]any{}, "providerSpec": map[string]any{"value": value}}})
	return s
}

// metalProvider is the providerSpec that the documentation gives a Machine of the control plane.
func metalProvider() map[string]any {
	return map[string]any{"apiVersion": "baremetal.cluster.k8s.io/v1alpha1", "kind": "BareMetalMachineProviderSpec", "hostSelector": map[string]any{},
		"userData": map[string]any{"name": masterUserData}}
}

// clusterLabel is on the Machines of a cluster (openshift/installer:pkg/asset/machines/baremetal/machines.go).
const clusterLabel = openshift.MachineGroup + "/cluster-api-cluster"

// added: the operator adds the member as a learner and promotes it; with the Machine API only for a Node whose address is
// that of a Machine with its hook, and only while no member is unhealthy (openshift/cluster-etcd-operator:
// pkg/operator/clustermembercontroller/clustermembercontroller.go reconcileMembers).
func (m *master) added() MasterStep {
	why := "shows why"
	if m.machine != "" {
		why = "shows why (the address of the Node must be one of its Machine)"
	}
	return MasterStep{
		Do: "Wait for etcd: the operator adds the member of the new Node as a learner, and then it votes.", Guard: append(m.members(), availableMessage),
		Expect: fmt.Sprintf("%d members, all started, IS LEARNER false, all healthy; \"%d members are available\"", m.total, m.total),
		If: "None is added: `oc -n openshift-etcd-operator logs deployment/etcd-operator | grep -i scale-up` " + why + ". Fewer pods than masters in `" +
			etcd("get pods -l app=etcd -o wide") + "`: `oc patch etcd cluster --type=merge -p " +
			`'{"spec":{"forceRedeploymentReason":"recovery-DATE"}}'` + "`.",
	}
}

func (m *master) guardOn() MasterStep {
	return MasterStep{
		Do: "Turn the quorum guard on again. Left off, the operator rolls out masters without a spare.", Writes: true,
		Run: []string{`oc patch etcd cluster --type=merge -p '{"spec":{"unsupportedConfigOverrides":null}}'`},
		Guard: []string{"oc get etcd cluster -o jsonpath='{.spec.unsupportedConfigOverrides}'",
			`oc get etcd cluster -o jsonpath='{.status.conditions[?(@.type=="NodeInstallerProgressing")].reason}'`, "oc adm wait-for-stable-cluster"},
		Expect: "nothing; AllNodesAtLatestRevision; and the last command ends",
	}
}

func (m *master) bySet() MasterStep {
	return MasterStep{
		Do: "Delete its Machine. ControlPlaneMachineSet " + m.control.active() + " makes a new one; the etcd operator adds the new member, and " +
			"then removes the old one and lets the Machine go. Nothing is done to etcd by hand.", Writes: true,
		Run:    []string{api(getMachine, m.machine) + " -o yaml > old-machine.yaml", api(deleteMachine, m.machine)},
		Guard:  []string{api("get machines.machine.openshift.io"), "oc get nodes"},
		Expect: "a new Machine is Running, its Node is Ready, and " + m.machine + " is gone",
	}
}

// hostAgain: the BareMetalHost without BMC, as the documentation makes it.
func (m *master) hostAgain() MasterStep {
	spec := map[string]any{"automatedCleaningMode": "disabled", "bmc": map[string]any{"address": "", "credentialsName": ""}, "bootMode": "UEFI",
		"externallyProvisioned": true, "online": true, "userData": map[string]any{"name": masterUserData, "namespace": Namespace}}
	mac := m.to.MAC
	if m.to == (NewMaster{}) {
		mac = evidence.String(m.old.Host, "spec", "bootMACAddress")
	}
	spec["bootMACAddress"] = m.or(mac, "BOOT_MAC", "MAC address of the NIC of the new host that boots (--boot-mac)")
	return MasterStep{
		Do: "Make the BareMetalHost of the new host, without BMC.", Writes: true, File: "new-host.yaml",
		Lines: manifest(kube.Object{"apiVersion": openshift.Metal3Group + "/v1alpha1", "kind": "BareMetalHost", "metadata": map[string]any{"name": m.newNode,
			"namespace": Namespace, "labels": map[string]any{openshift.HostRoleLabel: "control-plane"}}, "spec": spec}),
		Run: []string{"oc create -f new-host.yaml"}, Guard: []string{api("get bmh", m.newNode)}, Expect: "it is listed (STATE unmanaged, or none)",
	}
}

// image: openshift/openshift-docs:modules/nodes-create-new-control-plane-node.adoc.
func (m *master) image() MasterStep {
	m.or("", "RHCOS.iso", "the live image of RHCOS of version "+m.seen.Version+" or an earlier one")
	m.or("", "/dev/DISK", "the disk of the new host, which is overwritten")
	m.or("", "network.yaml", "its network as nmstate; without --network-nmstate where it has DHCP")
	return MasterStep{
		Do: "Make an image with the Ignition config of the control plane, and boot the new host " + m.newNode + " with it. The config has a " +
			"credential: delete both files afterwards.", Writes: true,
		Run: []string{"umask 077", api("extract secret/"+masterUserData) + " --keys=userData --to=- > master.ign",
			"coreos-installer iso customize RHCOS.iso --dest-ignition master.ign --network-nmstate network.yaml --dest-device /dev/DISK -f",
			"rollcall csr approve CSR --expect " + q(m.newNode) + "=" + orText(m.ip, "IP") + " --booted-after 60m   # the first request, and then the second"},
		Guard: []string{"oc get nodes", "rollcall csr list"}, Expect: "Node " + m.newNode + " is there, and none of its requests is pending",
		If: "rollcall diagnose host/" + q(m.newNode),
	}
}

// link: openshift/openshift-docs:modules/nodes-link-node-machine-bmh.adoc, with its patches of status.
func (m *master) link() MasterStep {
	labels := map[string]any{openshift.MachineRoleLabel: "master", openshift.MachineTypeLabel: "master"}
	if v := evidence.String(m.old.Machine, "metadata", "labels", clusterLabel); v != "" {
		labels[clusterLabel] = v
	}
	provider := metalProvider()
	provider["image"] = map[string]any{"checksum": "", "url": ""}
	status := func(kind, name, path, value string) string {
		return api("patch "+kind, name) + " --subresource=status --type=json -p '[{\"op\":\"replace\",\"path\":\"" + path + "\",\"value\":" + value + "}]'"
	}
	return MasterStep{
		Do: "Make the Machine, with the uid of the new BareMetalHost instead of BMH_UID, and link it with the host and the Node. That status is " +
			"patched here is the product's own procedure for hosts without BMC, and for nothing else.", Writes: true, File: "new-machine.yaml",
		Lines: manifest(kube.Object{"apiVersion": openshift.MachineGroup + "/v1beta1", "kind": "Machine", "metadata": map[string]any{"name": m.newName,
			"namespace": Namespace, "labels": labels, "finalizers": []any{"machine.machine.openshift.io"},
			"annotations": map[string]any{openshift.HostOnMachineAnnotation: Namespace + "/" + m.newNode}},
			"spec": map[string]any{"metadata": map[string]any{}, "providerID": "baremetalhost:///" + Namespace + "/" + m.newNode + "/BMH_UID",
				"providerSpec": map[string]any{"value": provider}}}),
		Run: []string{
			"BMH_UID=$(" + api("get bmh", m.newNode) + " -o jsonpath='{.metadata.uid}')",
			`sed -i "s/BMH_UID$/$BMH_UID/" new-machine.yaml && oc create -f new-machine.yaml`,
			api("patch bmh", m.newNode) + ` --type=merge -p '{"spec":{"consumerRef":{"apiVersion":"machine.openshift.io/v1beta1","kind":"Machine","name":"` +
				m.newName + `","namespace":"` + Namespace + `"}}}'`,
			"oc patch node " + q(m.newNode) + ` --type=merge -p "{\"spec\":{\"providerID\":\"baremetalhost:///` + Namespace + "/" + m.newNode +
				`/$BMH_UID\"}}"`,
			status("bmh", m.newNode, "/status/poweredOn", "true"),
			status("bmh", m.newNode, "/status/provisioning/state", `"unmanaged"`),
			status("machines.machine.openshift.io", m.newName, "/status/phase", `"Provisioned"`),
		},
		Guard:  []string{api("get machines.machine.openshift.io -o wide"), api("get bmh")},
		Expect: "Machine " + m.newName + " is Running with Node " + m.newNode + ", and is the CONSUMER of BareMetalHost " + m.newNode,
	}
}

// addMember: the Machine has no addresses, as its host was not inspected; so the operator does not add the member
// (openshift/openshift-docs:modules/nodes-add-new-etcd-member.adoc).
func (m *master) addMember() MasterStep {
	return MasterStep{
		Do: fmt.Sprintf("Add the member by hand, when the etcd pod of %s is there and restarts. It votes at once: until it has started, %d of "+
			"%d are healthy.", m.newNode, m.total-1, m.total), Writes: true,
		Run: []string{etcd("get pods -l app=etcd -o wide"), m.etcdctl("member add " + q(m.newNode) + " --peer-urls=https://" + bracketed(m.ip) + ":2380"),
			`oc patch etcd cluster --type=merge -p '{"spec":{"forceRedeploymentReason":"single-master-recovery-'"$(date --rfc-3339=ns)"'"}}'`},
		Guard:  append(m.members(), availableMessage),
		Expect: fmt.Sprintf("%d members, all started, IS LEARNER false, all healthy; \"%d members are available\"", m.total, m.total),
		If: "It does not start: `oc -n " + openshift.EtcdNamespace + " logs " + q("etcd-"+m.newNode) + " -c etcd`. Name and address must be " +
			"those of the Node.",
	}
}

func bracketed(ip string) string {
	if strings.Contains(ip, ":") {
		return "[" + ip + "]"
	}
	return ip
}
