package e2e

// configServerRows are the troubles of the machine config server.
var configServerRows = []scenario{
	{
		name:  "worker-old-ca",
		roots: []string{"ignition-tls-untrusted host/worker2"}, hosts: []string{"worker2:ignition-fetched:failed"}, consoles: []string{"worker2"},
	},
	{
		name:  "mcs-certificate-expired",
		roots: []string{"mcs-certificate-expired cluster/"}, hosts: []string{"worker3:ignition-fetched:failed"}, consoles: []string{"worker3"}, probe: true,
		plain: &answer{
			roots: []string{"ignition-tls-time host/worker3"}, hosts: []string{"worker3:ignition-fetched:failed"},
			because: "only a probe shows the certificate that is served",
		},
	},
	{
		name:  "mcs-certificate-not-yet-valid",
		roots: []string{"mcs-certificate-not-yet-valid cluster/"}, hosts: []string{"worker4:ignition-fetched:failed"}, consoles: []string{"worker4"}, probe: true,
		plain: &answer{
			roots: []string{"ignition-tls-time host/worker4"}, hosts: []string{"worker4:ignition-fetched:failed"},
			because: "only a probe shows the certificate that is served",
		},
	},
	{name: "mcs-tls-deleted"},
	{name: "mcs-tls-deleted-no-machinesets", roots: []string{"mcs-tls-secret-missing cluster/"}},
	{name: "mcs-tls-deleted-4.14", roots: []string{"mcs-tls-secret-missing cluster/"}},
	{
		name:  "mcs-refused-on-vip",
		roots: []string{"mcs-refused host/worker5"}, hosts: []string{"worker5:ignition-fetched:failed"}, consoles: []string{"worker5"},
	},
}

// machineConfigRows are the troubles of rendered configs and of the hosts' disks.
var machineConfigRows = []scenario{
	{name: "config-drift", roots: []string{"config-drift host/worker0"}, hosts: []string{"worker0:config-done:failed"}},
	{
		name:  "rendered-config-pruned",
		roots: []string{"rendered-config-missing pool/worker"}, hosts: []string{"worker0:config-done:failed", "worker1:config-done:failed"},
	},
	{
		name: "pool-paused", roots: []string{"pool-paused pool/worker"},
		hosts: []string{"worker0:config-done:waiting", "worker1:config-done:waiting"},
	},
	{
		name:  "firstboot-pull-refused",
		roots: []string{"image-pull-unauthorized host/worker6"}, hosts: []string{"worker6:first-boot:waiting"}, consoles: []string{"worker6"},
	},
	{
		name:  "hostname-localhost",
		roots: []string{"hostname-not-assigned host/worker7"}, hosts: []string{"worker7:ignition-fetched:unknown"}, consoles: []string{"worker7"},
	},
}
