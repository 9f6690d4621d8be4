package shellcommand

// The tools whose commands the remedies use, with their verbs and flags.
//
// A flag is written as "name" where it takes no value, "name=" where it takes one, and
// "name?=" where the value may be left out; "n|name" has a short form. The table has what
// the tools of supported versions accept, from their sources:
//
//   - oc: openshift/oc pkg/cli, kubernetes/kubectl pkg/cmd, k8s.io/cli-runtime
//   - openshift-install: openshift/installer cmd/openshift-install
//   - crictl: kubernetes-sigs/cri-tools cmd/crictl, v1.27 and v1.33
//   - etcdctl: etcd-io/etcd etcdctl/ctlv3/command
//   - coreos-installer: coreos/coreos-installer src/cmdline/install.rs
//   - the rest: the tools of RHEL 9, as RHCOS has them; only the flags that are needed. Compared
//     with the manual pages of about the same versions in Debian 12: systemd 252, NetworkManager
//     1.42, chrony 4.3, curl 7.88, util-linux 2.38, lvm2 2.03, iproute2 6.1

const (
	ocPrint    = "allow-missing-template-keys?= o|output= show-managed-fields template="
	ocFiles    = "f|filename= k|kustomize= R|recursive"
	ocDryRun   = "dry-run?= field-manager="
	ocSelect   = "l|selector= field-selector= all A|all-namespaces"
	ocRegistry = "a|registry-config= insecure skip-verification certificate-authority= filter-by-os="
)

// ocFlags are the flags of every oc command.
const ocFlags = "as= as-group= as-uid= cache-dir= certificate-authority= client-certificate= client-key= cluster= context= " +
	"disable-compression insecure-skip-tls-verify kubeconfig= n|namespace= request-timeout= s|server= tls-server-name= token= user= " +
	"v= match-server-version warnings-as-errors h|help"

// ocCommands are the commands of oc that a remedy may use.
var ocCommands = map[string]string{
	"get": ocPrint + " " + ocFiles + " A|all-namespaces chunk-size= field-selector= ignore-not-found L|label-columns= no-headers " +
		"output-watch-events raw= l|selector= server-print show-kind show-labels sort-by= subresource= w|watch watch-only",
	"describe": ocFiles + " A|all-namespaces chunk-size= l|selector= show-events",
	"logs": "all-containers all-pods c|container= f|follow ignore-errors insecure-skip-tls-verify-backend limit-bytes= max-log-requests= " +
		"pod-running-timeout= prefix p|previous l|selector= since= since-time= tail= timestamps version=",
	"patch":                 ocPrint + " " + ocFiles + " " + ocDryRun + " local p|patch= patch-file= subresource= type=",
	"delete":                ocFiles + " " + ocSelect + " cascade?= dry-run?= force grace-period= ignore-not-found i|interactive now o|output= raw= timeout= wait",
	"apply":                 ocPrint + " " + ocFiles + " " + ocDryRun + " all force-conflicts l|selector= prune server-side subresource= validate?= wait timeout=",
	"edit":                  ocPrint + " " + ocFiles + " field-manager= output-patch save-config subresource= validate?= windows-line-endings",
	"annotate":              ocPrint + " " + ocFiles + " " + ocDryRun + " " + ocSelect + " list local overwrite resource-version=",
	"label":                 ocPrint + " " + ocFiles + " " + ocDryRun + " " + ocSelect + " list local overwrite resource-version=",
	"scale":                 ocPrint + " " + ocFiles + " dry-run?= all current-replicas= replicas= resource-version= l|selector= timeout=",
	"exec":                  ocFiles + " c|container= pod-running-timeout= q|quiet i|stdin t|tty",
	"create configmap":      ocPrint + " " + ocDryRun + " append-hash from-env-file= from-file= from-literal= save-config validate?=",
	"create secret generic": ocPrint + " " + ocDryRun + " append-hash from-env-file= from-file= from-literal= save-config type= validate?=",
	"set data":              ocPrint + " " + ocFiles + " " + ocDryRun + " l|selector= all local from-file= from-literal=",
	"extract":               "confirm to= f|filename= keys=",
	"rollout restart":       ocPrint + " " + ocFiles + " field-manager= l|selector=",
	"debug": ocPrint + " f|filename= q|quiet I|no-stdin t|tty T|no-tty c|container= keep-annotations keep-labels one-container node-name= " +
		"as-root as-user= image= image-stream= to-namespace= preserve-pod",
	"mirror":                   "",
	"explain":                  "api-version= recursive o|output=",
	"whoami":                   ocPrint + " t|show-token c|show-context show-server show-console",
	"login":                    "u|username= p|password= w|web c|callback-port=",
	"auth can-i":               "A|all-namespaces list no-headers q|quiet subresource=",
	"config current-context":   "",
	"config view":              ocPrint + " flatten merge?= minify raw",
	"config use-context":       "",
	"config set-cluster":       "server= tls-server-name= insecure-skip-tls-verify?= certificate-authority= embed-certs?= proxy-url=",
	"config refresh-ca-bundle": "dry-run",
	"config new-kubelet-bootstrap-kubeconfig": "",
	"image info": ocRegistry + " o|output= dir= icsp-file= idms-file= show-multiarch",
	"adm release info": ocRegistry + " max-per-registry= template= changes-from= verify icsp-file= idms-file= contents commits commit-urls " +
		"pullspecs size image-for= o|output= include-images",
	"adm release extract": ocRegistry + " command= command-os= tools to= file= from= git= verify icsp-file= idms-file= credentials-requests included " +
		"install-config= cloud= filter-by-os= signing-key= dry-run",
	"adm release mirror":          ocRegistry + " from= to= to-release-image= dry-run print-mirror-instructions=",
	"adm certificate approve":     ocPrint + " " + ocFiles + " force",
	"adm certificate deny":        ocPrint + " " + ocFiles + " force",
	"adm cordon":                  "dry-run?= l|selector=",
	"adm uncordon":                "dry-run?= l|selector=",
	"adm drain":                   "chunk-size= delete-emptydir-data disable-eviction dry-run?= force grace-period= ignore-daemonsets pod-selector= l|selector= skip-wait-for-delete-timeout= timeout=",
	"adm inspect":                 "dest-dir= events-file= A|all-namespaces since-time= since=",
	"adm must-gather":             "node-name= node-selector= host-network image= image-stream= all-images dest-dir= source-dir= timeout= run-namespace= volume-percentage= since-time= since=",
	"adm node-logs":               "path= u|unit= g|grep= case-sensitive since= until= boot= o|output= tail= role= l|selector= raw unify",
	"adm top node":                "no-headers l|selector= show-capacity sort-by= use-protocol-buffers",
	"adm top pods":                "A|all-namespaces containers field-selector= no-headers l|selector= sort-by= sum use-protocol-buffers",
	"adm upgrade":                 "to= to-image= to-latest clear force allow-explicit-upgrade allow-upgrade-with-warnings include-not-recommended allow-not-recommended",
	"adm wait-for-stable-cluster": "minimum-stable-period= timeout=",
	"adm ocp-certificates regenerate-leaf": "allow-missing-template-keys?= o|output= show-managed-fields template= " +
		"A|all-namespaces all f|filename= R|recursive l|selector= field-selector= local dry-run valid-before=",
	"adm ocp-certificates regenerate-machine-config-server-serving-cert":       "update-ignition?=",
	"adm ocp-certificates update-ignition-ca-bundle-for-machine-config-server": "",
}

// tool is what one program accepts.
type tool struct {
	flags string            // flags of every verb
	verbs map[string]string // verb -> its own flags; nil: the program has no verbs
	dash  bool              // flags are words with one dash, as "-connect"
	plus  bool              // options begin with "+" as well
}

// tools are the programs of the remedies besides oc and rollcall.
var tools = map[string]tool{
	"openshift-install": {flags: "dir= log-level=", verbs: map[string]string{
		"create manifests": "", "create ignition-configs": "", "create cluster": "", "destroy cluster": "", "explain": "", "version": "",
		"wait-for bootstrap-complete": "", "wait-for install-complete": "", "gather bootstrap": "bootstrap= key= master= skipAnalysis",
		"agent create image": "", "agent wait-for bootstrap-complete": "", "agent wait-for install-complete": "", "coreos print-stream-json": ""}},
	"crictl": {verbs: map[string]string{"ps": "a|all name= q|quiet p|pod= s|state= label= l|latest o|output=", "logs": "tail= f|follow p|previous since= t|timestamps",
		"images": "q|quiet digests", "info": "o|output=", "rmi": "a|all q|prune", "exec": "i|interactive t|tty s|sync timeout="}},
	"podman": {verbs: map[string]string{"images": "a|all q|quiet", "ps": "a|all q|quiet filter=", "pull": "authfile= tls-verify q|quiet", "logs": "tail= f|follow since=", "image prune": "a|all f|force",
		"login": "authfile= u|username= tls-verify", "run": "rm i|interactive t|tty privileged pid= net= authfile= entrypoint= v|volume= tls-verify"}},
	"skopeo":     {verbs: map[string]string{"inspect": "authfile= raw tls-verify no-tags"}},
	"rpm-ostree": {verbs: map[string]string{"status": "json v|verbose b|booted", "cleanup": "b|base p|pending r|rollback m|repomd", "kargs": "append= append-if-missing= delete= delete-if-present= replace="}},
	"systemctl": {flags: "no-pager no-block failed now n|lines= p|property= l|full t|type=", verbs: map[string]string{"": "", "status": "", "is-active": "", "restart": "", "start": "", "stop": "",
		"enable": "", "cat": "", "show": "", "list-jobs": "", "list-dependencies": "", "daemon-reload": "", "reset-failed": "", "reboot": ""}},
	"systemd-analyze":  {verbs: map[string]string{"critical-chain": ""}},
	"journalctl":       {flags: "u|unit= b|boot?= k|dmesg n|lines= g|grep= t|identifier= p|priority= no-pager l|full since= vacuum-size= e|pager-end f|follow x|catalog o|output="},
	"chronyc":          {flags: "n", verbs: map[string]string{"sources": "v", "tracking": "", "makestep": ""}},
	"timedatectl":      {},
	"hostnamectl":      {verbs: map[string]string{"": "", "set-hostname": "", "status": ""}},
	"nmcli":            {flags: "f|fields= g|get-values= t|terse", verbs: map[string]string{"connection show": "", "connection up": "", "device": "", "device status": "", "device show": ""}},
	"coreos-installer": {verbs: map[string]string{"install": "ignition-url= I= i|ignition-file= insecure-ignition image-url= u= image-file= n|copy-network stream= s= append-karg="}},
	"tar":              {flags: "C= c z f="},
	// internal/hostcli: preflight.go
	"rollcall-host": {verbs: map[string]string{"preflight": "f="}},
	// providers/redfish: clock.go
	"rollcall-provider-redfish": {verbs: map[string]string{"clock plan": "hosts= host= to= state-dir= trust-this-clock"}},
	"etcdctl":                   {flags: "endpoints= command-timeout= w|write-out=", verbs: map[string]string{"endpoint status": "cluster", "endpoint health": "cluster", "endpoint hashkv": "cluster", "alarm list": "", "alarm disarm": "", "member list": "", "member remove": "", "defrag": "cluster", "compaction": "", "get": "prefix keys-only"}},
	"promtool":                  {verbs: map[string]string{"query instant": ""}},
	"openssl":                   {dash: true, verbs: map[string]string{"s_client": "connect= servername= CAfile= verify_return_error showcerts", "x509": "noout subject issuer dates checkend= enddate startdate fingerprint sha256 in= ext= text", "req": "noout text subject in="}},
	"find":                      {dash: true, flags: "xdev path= name= printf= ls maxdepth= type="},
	"dig":                       {plus: true, flags: "short tcp time= tries= x="},
	"curl":                      {flags: "k|insecure s|silent S|show-error v|verbose I|head i|include u|user= H|header= x|proxy= noproxy= m|max-time= connect-timeout= o|output= cacert= connect-to="},
	"chronyd":                   {flags: "Q t="},
	"ip":                        {flags: "b br 4 6 s", verbs: map[string]string{"address": "", "address show": "", "addr": "", "addr show": "", "link": "", "route": "", "route get": "", "route show": "", "neigh": "", "neigh show": ""}, dash: true},
	"ping":                      {flags: "c= M= s= I= W="},
	"tracepath":                 {flags: "n"},
	"nc":                        {flags: "z v u w="},
	"stat":                      {flags: "f c="},
	"ethtool":                   {},
	"ipmitool":                  {flags: "I= H= U= f=", verbs: map[string]string{"chassis status": ""}},
	"uname":                     {flags: "m r"},
	"wc":                        {flags: "l"},
	"arping":                    {flags: "c= I= D"},
	"ss":                        {flags: "l t n p u a"},
	"getent":                    {verbs: map[string]string{"ahosts": "", "hosts": ""}},
	"ssh":                       {flags: "A i= p= o="},
	"scp":                       {flags: "r"},
	"lsblk":                     {flags: "o|output= f|fs"},
	"findmnt":                   {flags: "n|noheadings o|output="},
	"df":                        {flags: "h i"},
	"du":                        {flags: "x h s max-depth="},
	"free":                      {flags: "h m"},
	"ps":                        {flags: "e o= sort="},
	"ls":                        {flags: "l a t h d time-style= Z"},
	"cat":                       {}, "cp": {flags: "a r"}, "mv": {}, "rm": {flags: "r f"}, "mkdir": {flags: "p m="}, "touch": {}, "tee": {flags: "a"},
	"install": {flags: "o= g= m="},
	"set":     {flags: "a"}, ".": {},
	"chmod": {}, "restorecon": {flags: "v R"}, "umask": {}, "unset": {}, "export": {}, "true": {},
	"grep":   {flags: "i n v E F m= o q c r h A= B="},
	"sed":    {flags: "n E e="},
	"jq":     {flags: "r e c S"},
	"base64": {flags: "d w="},
	"cut":    {flags: "d= f= c="},
	"sort":   {flags: "h r n k= u"},
	"uniq":   {flags: "c"},
	"head":   {flags: "n= c="},
	"tail":   {flags: "n= f"},
	"diff":   {flags: "u"},
	"date":   {flags: "u"},
	"dmesg":  {flags: "T level="},
	"wipefs": {flags: "a|all n|no-act"},
	"pvs":    {flags: "o="}, "vgs": {flags: "o="}, "lvs": {flags: "o="},
	"vgchange": {flags: "a="},
	"mdadm":    {flags: "stop detail"},
	"nvme":     {verbs: map[string]string{"smart-log": "o|output-format="}},
	"crio":     {flags: "version"},
	"iostat":   {flags: "x z"},
	"lscpu":    {}, "uptime": {}, "hostname": {}, "env": {}, "echo": {}, "printf": {}, "rollcall": {flags: "*"},
	"agent-gather":      {flags: "O"},
	"cluster-backup.sh": {flags: "force"}, "cluster-restore.sh": {}, "quorum-restore.sh": {}, "disable-etcd.sh": {},
}

// deviceFields are the groups of fields that nmcli shows of a device.
var deviceFields = []string{"", "GENERAL", "CAPABILITIES", "INTERFACE-FLAGS", "WIRED-PROPERTIES", "BOND", "BRIDGE", "TEAM", "VLAN", "CONNECTIONS", "IP4", "IP6", "DHCP4", "DHCP6"}

// ocKinds are the kinds that a remedy may name.
const ocKinds = "node nodes pod pods event events secret secrets configmap configmaps namespace service services endpoints endpointslices " +
	"deployment deployments pdb daemonset statefulset replicaset replicasets resourcequota limitrange pvc lease csr " +
	"validatingwebhookconfigurations mutatingwebhookconfigurations validatingwebhookconfiguration mutatingwebhookconfiguration crd apiservices scc clusterrolebinding " +
	"clusteroperator clusteroperators co clusterversion infrastructure network.config image.config.openshift.io nodes.config scheduler ingresscontroller machine kubeletconfig proxy apiserver featuregate " +
	"imagedigestmirrorset imagedigestmirrorsets imagetagmirrorset imagetagmirrorsets imagecontentsourcepolicies clusterimagepolicies " +
	"etcd kubeapiserver kubecontrollermanager kubescheduler network.operator routes " +
	"mcp machineconfigpool mc machineconfig controllerconfig containerruntimeconfig " +
	"provisioning bmh hardwaredata preprovisioningimage hostfirmwaresettings hostfirmwarecomponents " +
	"oauth pv volumeattachment cephcluster lvmcluster subscription.operators.coreos.com csv installplan packagemanifest catalogsource " +
	"configs.imageregistry.operator.openshift.io hostedcluster hostedclusters nodepool nodepools agents.agent-install.openshift.io ipaddresspools.metallb.io " +
	"machines.machine.openshift.io machinesets.machine.openshift.io machines.cluster.x-k8s.io machinesets.cluster.x-k8s.io machinedeployments.cluster.x-k8s.io machinehealthchecks.cluster.x-k8s.io " +
	"virtualmachines.kubevirt.io virtualmachineinstances.kubevirt.io"
