// Package host behaves as one OpenShift machine of the lab, from power-on to a
// node whose machine-config-daemon says Done.
//
// # What is real and what is simulated
//
// Real: Ignition itself (the binary of github.com/coreos/ignition/v2, its
// fetch stage with its own retries and wording), the kubelet's TLS bootstrap
// (the kubelet-bootstrap binary around
// k8s.io/kubernetes:pkg/kubelet/certificate/bootstrap LoadClientCert), the
// manager of the kubelet's serving certificate (k8s.io/client-go
// util/certificate), and everything that the API server answers to the node's
// own credentials.
//
// Simulated: Ignition's files stage (this package writes the fetched config's
// files, directories, links and units below Dir/root), systemd, rpm-ostree
// (the booted image is a string in state.json), the kubelet's node status,
// Lease and mirror pods, the kubelet's HTTPS endpoint, the installer pods that
// put static pod manifests on a master, and the machine-config-daemon, which
// follows the start-up and update rules of
// openshift/machine-config-operator:pkg/daemon at the 4.20 fork point and
// prints its messages. A mirror pod of this package says that a manifest is on
// the simulated disk; it proves nothing about an etcd member or an API server.
//
// # Invariants
//
//   - The host writes to the API only as what it is: the bootstrap credential
//     that the machine config server sent, then its own node certificate. The
//     daemon reads MachineConfigs with Config.DaemonKubeconfig, the service
//     account's, and writes its Node through the kubelet's kubeconfig, as the
//     real one does (pkg/daemon/writer.go nodeWriterKubeconfigPath).
//     Config.Labeler is the only exception and stands in for the admission of
//     OpenShift's own API server; see there.
//   - Nothing outside Dir is written: all paths of a fetched config go through
//     an os.Root on Dir/root.
//   - state Done is only ever written after the on-disk validation ran and the
//     machine-config-controller applied the uncordon request.
//
// # Use
//
//	h := host.New(host.Config{
//		Name: "control2", Role: "master", Dir: dir, Address: "127.0.0.13",
//		Pointer: pointerIgnition, IgnitionBin: ign, KubeletBootstrapBin: kb,
//		KubeletVersion: "v1.33.5", DaemonKubeconfig: mcdKubeconfig,
//		Labeler: labeler, ContainerLogs: logs,
//	})
//	err := h.Run(ctx) // until ctx ends; nil then
//
// Run is safe to call again on the same Dir after the process was killed: a
// host that was installed boots from its disk with a new boot ID, one that was
// still in Ignition fetches again. ReadState tells a status command the phase
// without a running Host.
//
// A fault is put on a host as on a real one: edit a file below Dir/root (drift),
// move a manifest out of root/etc/kubernetes/manifests, remove
// root/var/lib/kubelet/kubeconfig and restart the host (a new client
// request), change what the API holds.
//
// # Limits
//
//   - The first client request is named node-csr-DIGEST, because LoadClientCert is
//     the path without rotateCertificates; the kubelet of OpenShift rotates, and
//     names it csr-XXXXX. What the request says is the same, and each start files a
//     new one. The client certificate is not rotated while a host runs.
//   - The API server refuses to proxy to loopback, so /api/v1/nodes/NAME/proxy
//     (oc adm node-logs) answers "address not allowed" where Address is in
//     127.0.0.0/8; pod logs are not affected.
//   - Logs are not followed.
//   - Of all containers, only the machine-config-daemon's takes an exec, and in it
//     only commands below chroot /rootfs, which run on the lab's machine as who
//     runs the lab: whoever may create pods/exec in the lab's cluster may do that.
//   - bootstrapconfigdiff compares with the encapsulated config, which has no
//     files: it lists every file of the in-cluster config. So does the real one.
//
// Below Dir: root/ (the file system), console.log (what a person sees on the
// screen), state.json (ReadState), journal/UNIT.log (short-precise journal
// text of a unit), machine-config-daemon.log (the MCD container's log),
// run/ (the initramfs' files while Ignition runs).
//
// To switch a host off, end its context; to power it on again, call Run again.
// To reinstall it, remove Dir.
package host
