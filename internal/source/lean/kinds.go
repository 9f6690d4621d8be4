package lean

import (
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// kinds are what is read as protobuf, and of which only these fields are read: the kinds
// that a cluster has most of. Everything else, every custom resource included, is read as
// JSON and kept whole. No fact may read what is missing here: the grid of internal/fixture
// evaluates every fault without it, and a test holds each number against the API's own
// types (kubernetes/api:*/generated.proto).
//
// What is left out says nothing about a host's way to Ready: who wrote which field, how
// the containers of a pod are to be run, and which images a node holds.
var kinds = map[evidence.Resource]Message{
	evidence.Pods:        kindOf(podSpec, podStatus),
	evidence.Nodes:       kindOf(nodeSpec, nodeStatus),
	evidence.CSRs:        kindOf(csrSpec, csrStatus),
	evidence.Deployments: kindOf(deploymentSpec, deploymentStatus),
	evidence.ReplicaSets: kindOf(replicaSetSpec, replicaSetStatus),
	evidence.Leases:      kindOf(leaseSpec, nil),
	evidence.Events:      event,
	evidence.ConfigMaps:  configMap,
	evidence.Secrets:     secret,
}

// MetadataOnly is an object of which the server was asked for the metadata alone.
var MetadataOnly = Message{1: {name: "metadata", kind: object, of: objectMeta}}

func kindOf(spec, status Message) Message {
	m := Message{1: MetadataOnly[1], 2: {name: "spec", kind: object, of: spec}}
	if status != nil {
		m[3] = field{name: "status", kind: object, of: status}
	}
	return m
}

var objectMeta = Message{
	1: {name: "name"}, 2: {name: "generateName"}, 3: {name: "namespace"}, 5: {name: "uid"}, 6: {name: "resourceVersion"},
	7: {name: "generation", kind: number}, 8: {name: "creationTimestamp", kind: moment}, 9: {name: "deletionTimestamp", kind: moment},
	10: {name: "deletionGracePeriodSeconds", kind: number, always: true}, 11: {name: "labels", kind: texts}, 12: {name: "annotations", kind: texts},
	13: {name: "ownerReferences", kind: manyObject, of: ownerReference}, 14: {name: "finalizers", kind: manyTexts},
}

var ownerReference = Message{
	1: {name: "kind", always: true}, 3: {name: "name", always: true}, 4: {name: "uid", always: true}, 5: {name: "apiVersion", always: true},
	6: {name: "controller", kind: boolean, always: true}, 7: {name: "blockOwnerDeletion", kind: boolean, always: true},
}

var objectReference = Message{
	1: {name: "kind"}, 2: {name: "namespace"}, 3: {name: "name"}, 4: {name: "uid"}, 5: {name: "apiVersion"}, 6: {name: "resourceVersion"},
	7: {name: "fieldPath"},
}

var labelSelector = Message{
	1: {name: "matchLabels", kind: texts},
	2: {
		name: "matchExpressions",
		kind: manyObject,
		of:   Message{1: {name: "key", always: true}, 2: {name: "operator", always: true}, 3: {name: "values", kind: manyTexts}},
	},
}

var oneContainer = Message{1: {name: "name", always: true}, 2: {name: "image"}}

var podSpec = Message{
	2: {name: "containers", kind: manyObject, of: oneContainer}, 8: {name: "serviceAccountName"}, 10: {name: "nodeName"},
	11: {name: "hostNetwork", kind: boolean}, 20: {name: "initContainers", kind: manyObject, of: oneContainer},
}

var podStatus = Message{
	1: {name: "phase"}, 2: {name: "conditions", kind: manyObject, of: podCondition}, 3: {name: "message"}, 4: {name: "reason"},
	5: {name: "hostIP"}, 6: {name: "podIP"}, 7: {name: "startTime", kind: moment}, 8: {name: "containerStatuses", kind: manyObject, of: containerStatus},
	10: {name: "initContainerStatuses", kind: manyObject, of: containerStatus}, 13: {name: "ephemeralContainerStatuses", kind: manyObject, of: containerStatus},
}

var podCondition = Message{
	1: {name: "type", always: true}, 2: {name: "status", always: true}, 4: {name: "lastTransitionTime", kind: moment}, 5: {name: "reason"},
	6: {name: "message"},
}

// containerStatus has eight fields at most: a Go map of more takes twice the memory.
var containerStatus = Message{
	1: {name: "name", always: true}, 2: {name: "state", kind: object, of: containerState}, 3: {name: "lastState", kind: object, of: containerState},
	4: {name: "ready", kind: boolean, always: true}, 5: {name: "restartCount", kind: number, always: true}, 6: {name: "image", always: true},
	9: {name: "started", kind: boolean, always: true},
}

var containerState = Message{
	1: {name: "waiting", kind: object, of: Message{1: {name: "reason"}, 2: {name: "message"}}},
	2: {name: "running", kind: object, of: Message{1: {name: "startedAt", kind: moment}}},
	3: {name: "terminated", kind: object, of: Message{
		1: {name: "exitCode", kind: number, always: true}, 2: {name: "signal", kind: number}, 3: {name: "reason"}, 4: {name: "message"},
		5: {name: "startedAt", kind: moment}, 6: {name: "finishedAt", kind: moment},
	}},
}

var nodeSpec = Message{
	1: {name: "podCIDR"}, 3: {name: "providerID"}, 4: {name: "unschedulable", kind: boolean},
	5: {
		name: "taints",
		kind: manyObject,
		of:   Message{1: {name: "key", always: true}, 2: {name: "value"}, 3: {name: "effect", always: true}, 4: {name: "timeAdded", kind: moment}},
	},
	7: {name: "podCIDRs", kind: manyTexts},
}

// quantity is one (kubernetes/apimachinery:pkg/api/resource/generated.proto).
var quantity = Message{1: {name: "string", always: true}}

var nodeStatus = Message{
	1: {name: "capacity", kind: quantities},
	3: {name: "phase"},
	4: {name: "conditions", kind: manyObject, of: Message{
		1: {name: "type", always: true}, 2: {name: "status", always: true}, 3: {name: "lastHeartbeatTime", kind: moment},
		4: {name: "lastTransitionTime", kind: moment}, 5: {name: "reason"}, 6: {name: "message"},
	}},
	5: {name: "addresses", kind: manyObject, of: Message{1: {name: "type", always: true}, 2: {name: "address", always: true}}},
	6: {
		name: "daemonEndpoints",
		kind: object,
		of:   Message{1: {name: "kubeletEndpoint", kind: object, of: Message{1: {name: "Port", kind: number, always: true}}}},
	},
	7: {name: "nodeInfo", kind: object, of: Message{
		1: {name: "machineID", always: true}, 2: {name: "systemUUID", always: true}, 3: {name: "bootID", always: true},
		4: {name: "kernelVersion", always: true},
		5: {name: "osImage", always: true}, 6: {name: "containerRuntimeVersion", always: true}, 7: {name: "kubeletVersion", always: true},
		8: {name: "kubeProxyVersion", always: true}, 9: {name: "operatingSystem", always: true}, 10: {name: "architecture", always: true},
	}},
}

var csrSpec = Message{
	1: {name: "request", kind: binary, always: true}, 2: {name: "username"}, 3: {name: "uid"}, 4: {name: "groups", kind: manyTexts},
	5: {name: "usages", kind: manyTexts}, 7: {name: "signerName", always: true}, 8: {name: "expirationSeconds", kind: number, always: true},
}

var csrStatus = Message{
	1: {name: "conditions", kind: manyObject, of: Message{
		1: {name: "type", always: true}, 2: {name: "reason"}, 3: {name: "message"}, 4: {name: "lastUpdateTime", kind: moment},
		5: {name: "lastTransitionTime", kind: moment}, 6: {name: "status", always: true},
	}},
	2: {name: "certificate", kind: binary},
}

var deploymentSpec = Message{
	1: {name: "replicas", kind: number, always: true}, 2: {name: "selector", kind: object, of: labelSelector}, 7: {name: "paused", kind: boolean},
}

var deploymentStatus = Message{
	1: {name: "observedGeneration", kind: number}, 2: {name: "replicas", kind: number}, 3: {name: "updatedReplicas", kind: number},
	4: {name: "availableReplicas", kind: number}, 5: {name: "unavailableReplicas", kind: number},
	6: {name: "conditions", kind: manyObject, of: Message{
		1: {name: "type", always: true}, 2: {name: "status", always: true}, 4: {name: "reason"}, 5: {name: "message"},
		6: {name: "lastUpdateTime", kind: moment}, 7: {name: "lastTransitionTime", kind: moment},
	}},
	7: {name: "readyReplicas", kind: number},
}

var replicaSetSpec = Message{1: {name: "replicas", kind: number, always: true}, 2: {name: "selector", kind: object, of: labelSelector}}

var replicaSetStatus = Message{
	1: {name: "replicas", kind: number, always: true}, 3: {name: "observedGeneration", kind: number}, 4: {name: "readyReplicas", kind: number},
	5: {name: "availableReplicas", kind: number},
	6: {name: "conditions", kind: manyObject, of: Message{
		1: {name: "type", always: true}, 2: {name: "status", always: true}, 3: {name: "lastTransitionTime", kind: moment}, 4: {name: "reason"},
		5: {name: "message"},
	}},
}

var leaseSpec = Message{
	1: {name: "holderIdentity", always: true}, 2: {name: "leaseDurationSeconds", kind: number, always: true}, 3: {name: "acquireTime", kind: microtime},
	4: {name: "renewTime", kind: microtime}, 5: {name: "leaseTransitions", kind: number, always: true},
}

var event = Message{
	1: MetadataOnly[1], 2: {name: "involvedObject", kind: object, of: objectReference}, 3: {name: "reason"}, 4: {name: "message"},
	5: {name: "source", kind: object, of: Message{1: {name: "component"}, 2: {name: "host"}}}, 6: {name: "firstTimestamp", kind: moment},
	7: {name: "lastTimestamp", kind: moment}, 8: {name: "count", kind: number}, 9: {name: "type"}, 10: {name: "eventTime", kind: microtime},
	11: {name: "series", kind: object, of: Message{1: {name: "count", kind: number}, 2: {name: "lastObservedTime", kind: microtime}}},
	12: {name: "action"}, 13: {name: "related", kind: object, of: objectReference}, 14: {name: "reportingComponent", always: true},
	15: {name: "reportingInstance", always: true},
}

var configMap = Message{
	1: MetadataOnly[1], 2: {name: "data", kind: texts}, 3: {name: "binaryData", kind: binaries}, 4: {name: "immutable", kind: boolean, always: true},
}

var secret = Message{
	1: MetadataOnly[1], 2: {name: "data", kind: binaries}, 3: {name: "type"}, 5: {name: "immutable", kind: boolean, always: true},
}
