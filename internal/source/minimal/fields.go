package minimal

// common are the fields of every object, whatever its kind.
const common = "{apiVersion,kind,status.{observedGeneration,conditions." + condition + "}}"

const (
	condition = "{type,status,reason,message,lastTransitionTime,lastHeartbeatTime,lastUpdateTime,observedGeneration}"
	reference = "{apiVersion,kind,namespace,name,uid}"
	hardware  = "{systemVendor.{manufacturer,productName,serialNumber},firmware.bios.{vendor,version},ramMebibytes,hostname," +
		"nics.{name,model,mac,ip,pxe},storage.{name,alternateNames,rotational,sizeBytes,vendor,model,serialNumber,wwn,wwnVendorExtension," +
		"wwnWithExtension,hctl},cpu.{arch,model,count}}"
	addresses = "apiServerInternalIP,apiServerInternalIPs,ingressIP,ingressIPs"
	history   = "{state,startedTime,completionTime,version}"
	// operator is an operator's own resource (openshift/api:operator/v1/types.go).
	operator = "{spec.{managementState,unsupportedConfigOverrides." + unsafeOverride + ",replicas},status.{latestAvailableRevision,readyReplicas,version," +
		"nodeStatuses.{nodeName,currentRevision,targetRevision,lastFailedRevision,lastFailedTime,lastFailedReason,lastFailedCount," +
		"lastFailedRevisionErrors,lastFallbackCount}}}"
	// unsafeOverride is the one that internal/facts/etcd reads.
	unsafeOverride = "useUnsupportedUnsafeNonHANonProductionUnstableEtcd"
)

// metadata are its fields of every object, but labels and annotations.
const metadata = "{name,namespace,generateName,uid,resourceVersion,generation,creationTimestamp,deletionTimestamp,deletionGracePeriodSeconds," +
	"finalizers,ownerReferences.{apiVersion,kind,name,uid,controller},managedFields.{manager,operation,subresource,time}}"

// fields are those of each kind besides common and metadata, by the name of its resource. A name in
// a path is that of a field; * is any; ** is all that is below. Lists are passed through. Of the
// kinds of internal/source/lean the fields are there. MachineConfigs have none.
var fields = map[string]string{
	"machineconfigpools.machineconfiguration.openshift.io": "{spec.{paused,maxUnavailable,nodeSelector.**,machineConfigSelector.**," +
		"configuration.{name,source." + reference + "}},status.{machineCount,updatedMachineCount,readyMachineCount,unavailableMachineCount," +
		"degradedMachineCount,configuration.{name,source." + reference + "}}}",
	"controllerconfigs.machineconfiguration.openshift.io": "spec.{rootCAData,kubeAPIServerServingCAData,releaseImage}",
	"machines.machine.openshift.io": "{spec.{providerID,providerSpec.value.{apiVersion,kind,userData.name}},status.{nodeRef." + reference +
		",errorReason,errorMessage,addresses.{type,address},phase,lastUpdated,providerStatus.conditions." + condition + "}}",
	"machinesets.machine.openshift.io": "{spec.{replicas,selector.**,template.{metadata.labels.**,spec.providerSpec.value.{apiVersion,kind,userData.name," +
		"userDataSecret.name}}},status.{replicas,readyReplicas,availableReplicas}}",
	"machinehealthchecks.machine.openshift.io": "{spec.{selector.**,maxUnhealthy,nodeStartupTimeout,unhealthyConditions.{type,status,timeout}}," +
		"status.{expectedMachines,currentHealthy,remediationsAllowed}}",
	"baremetalhosts.metal3.io": "{spec.{bmc.{address,credentialsName,disableCertificateVerification},rootDeviceHints.{deviceName,hctl,model,vendor," +
		"serialNumber,minSizeGigabytes,wwn,wwnWithExtension,wwnVendorExtension,rotational},bootMACAddress,online,consumerRef." + reference +
		",image.url,userData.{name,namespace},bootMode,inspectionMode,architecture,externallyProvisioned,customDeploy.method}," +
		"status.{operationalStatus,errorType,lastUpdated,hardware." + hardware + ",provisioning.{state,ID,image.url}," +
		"goodCredentials.credentialsVersion,triedCredentials.credentialsVersion,errorMessage,poweredOn," +
		"operationHistory.{register,inspect,provision,deprovision}.{start,end},errorCount,provisioningFailCount}}",
	"hardwaredata.metal3.io":               "spec.hardware." + hardware,
	"provisionings.metal3.io":              "spec.{provisioningNetwork,provisioningIP,provisioningNetworkCIDR,provisioningInterface,watchAllNamespaces}",
	"preprovisioningimages.metal3.io":      "status.{imageUrl,format,architecture}",
	"clusteroperators.config.openshift.io": "status.{versions.{name,version},relatedObjects.{group,resource,namespace,name}}",
	"clusterversions.config.openshift.io": "{spec.{clusterID,desiredUpdate.version,overrides.{kind,group,namespace,name,unmanaged}}," +
		"status.{desired.version,history." + history + "}}",
	"infrastructures.config.openshift.io": "{spec.platformSpec.{type,*.{apiServerInternalIPs,ingressIPs,machineNetworks}},status.{platform," +
		"platformStatus.{type,*.{" + addresses + ",loadBalancer.type}},infrastructureName,controlPlaneTopology,infrastructureTopology," +
		"apiServerURL,apiServerInternalURI}}",
	"networks.config.openshift.io": "{spec.{networkType,clusterNetwork.{cidr,hostPrefix},serviceNetwork}," +
		"status.{networkType,clusterNetwork.{cidr,hostPrefix},serviceNetwork}}",
	"configs.imageregistry.operator.openshift.io": operator,
	"daemonsets.apps": "status.{desiredNumberScheduled,currentNumberScheduled,updatedNumberScheduled,numberReady,numberAvailable," +
		"numberUnavailable,numberMisscheduled}",
	"poddisruptionbudgets.policy": "{spec.{selector.**,minAvailable,maxUnavailable,unhealthyPodEvictionPolicy}," +
		"status.{expectedPods,currentHealthy,desiredHealthy,disruptionsAllowed}}",
	"namespaces": "status.phase",
	"hostedclusters.hypershift.openshift.io": "{spec.{clusterID,platform.type,controllerAvailabilityPolicy,pausedUntil},status.{ignitionEndpoint," +
		"kubeconfig.name,controlPlaneEndpoint.{host,port},version.history." + history + "}}",
	"nodepools.hypershift.openshift.io": "{spec.{clusterName,replicas,autoScaling.{min,max},platform.type,management.{upgradeType,autoRepair},pausedUntil}," +
		"status.{replicas,version}}",
	"machines.cluster.x-k8s.io": "{spec.{clusterName,providerID,infrastructureRef." + reference + ",bootstrap.dataSecretName,version}," +
		"status.{phase,nodeRef." + reference + ",addresses.{type,address},failureMessage,failureReason}}",
	"agentmachines.capi-provider.agent-install.openshift.io": "status.{agentRef." + reference + ",ready}",
	"agents.agent-install.openshift.io": "{spec.{hostname,approved,role,clusterDeploymentName.{name,namespace}},status.{inventory.{hostname," +
		"interfaces.{name,macAddress}},debugInfo.{state,stateInfo},progress.{currentStage,progressInfo},role}}",
	"services": "{spec.{type,clusterIP,ports.{name,port,protocol,targetPort}},status.loadBalancer.ingress.{ip,hostname}}",
	"secrets":  "{type,data.**}", // certificates, digests and what the pointer user data says of itself
}

// allLabels are the resources of which every label stays: something selects by them, and their keys
// are anybody's.
var allLabels = []string{"nodes", "pods", "machines.machine.openshift.io", "machinesets.machine.openshift.io",
	"machineconfigs.machineconfiguration.openshift.io", "machines.cluster.x-k8s.io", "agents.agent-install.openshift.io",
	"nodepools.hypershift.openshift.io"}

// configMapKeys are the keys of ConfigMaps that facts read, but the install-config.
var configMapKeys = []string{"ca-bundle.crt", "ca.crt", "config.yaml"}

// installConfig are the fields of one that facts read. It is text inside of an object.
const installConfig = "{baseDomain,metadata.name,controlPlane.replicas,compute.{name,replicas},platform.baremetal.hosts.{name,role,bootMACAddress}}"
