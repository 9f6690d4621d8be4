package repair

// actions is the visible list of what the steps of a plan do. Each action plans its own steps,
// in this order: what removes a block, then who joins, then what restarts nodes, then the checks.
func actions() []action {
	return []action{
		changeFields(),
		touchSecret(),
		putContent(),
		restartServer(),
		replacePod(),
		removeMember(),
		adoptSpecConfig(),
		approveCSR(),
		waitNode(),
		waitEtcd(),
		recreateRender(),
		alignAnnotations(),
		waitPool(),
		verify(),
	}
}

// fieldChanges is the visible list of the remedies that set or remove fields of one object,
// in the order in which a plan has them: a certificate comes before the rollout of what starts
// with it.
func fieldChanges() []fieldChange {
	return []fieldChange{
		regenerateLeaf(),
		switchHostOn(),
		unpauseHost(),
		attachHost(),
		unpausePool(),
		removeEtcdOverride(),
		correctBMCAddress(),
		inspectHostAgain(),
		appendMachineNetwork(),
		redeployControllerManager(),
		redeployScheduler(),
		redeployOperand(),
		allowBaselinePods(),
		resumeHostedReconciliation(),
		resumeNodePool(),
		startHypershiftOperator(),
	}
}

// contentRemedies is the visible list of the remedies that write the content of Secrets and
// ConfigMaps, in the order in which a plan has them.
func contentRemedies() []contentRemedy {
	return []contentRemedy{
		correctBMCCredentials(),
		regenerateMCSCertificate(),
	}
}

// guards is the visible list of the guards, with what each reads in addition to commonRights.
func guards() []guardKind {
	etcd := access(etcdRef(), "", "get")
	nodesAndPool := append(access(nodeRef(""), "", "list"), access(poolRef(""), "", "get")...)
	config := access(configRef(""), "", "get")
	return []guardKind{
		{SameCluster, guardSameCluster, nil},
		{NoUpgrade, guardNoUpgrade, nil},
		{EtcdQuorum, guardEtcdQuorum, etcd},
		{EtcdMembers, guardEtcdMembers, etcd},
		{PoolNotPaused, guardPoolNotPaused, nodesAndPool},
		{OneAtATime, guardOneAtATime, nodesAndPool},
		{OthersAtRest, guardOthersAtRest, nodesAndPool},
		{RenderExists, guardRenderExists, config},
		{NoFurtherDrift, guardNoFurtherDrift, config},
		{MemberDead, guardMemberDead, nil}, // in the rights of its action
		{FreshBackup, guardFreshBackup, nil},
	}
}
