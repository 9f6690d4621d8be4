package e2e

// machineConfigRows are the troubles of rendered configs and of the hosts' disks.
var machineConfigRows = []scenario{
	{
		name:  "config-drift",
		roots: []string{"config-drift host/worker0"},
		hosts: []string{"worker0:config-done:failed"},
	},
}
