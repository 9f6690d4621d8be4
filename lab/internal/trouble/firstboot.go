package trouble

import (
	"context"
	"fmt"
	"strings"

	"github.com/rollcall-project/rollcall/lab/host"
	"github.com/rollcall-project/rollcall/lab/internal/lab"
)

// firstBoot are the troubles between Ignition and the kubelet.
var firstBoot = []lab.Trouble{
	{
		Name:  "firstboot-pull-refused",
		About: "the registry refuses the pull secret, so that a worker's first boot waits for ever for the machine-config-daemon's image",
		Break: func(ctx context.Context, l *lab.Lab) error {
			m := worker(pullWorker)
			m.Change = func(c *host.Config) { c.Pull = unauthorized }
			return addWorker(ctx, l, m)
		},
		Steady: shows("worker6", "unauthorized: access to the requested resource is not authorized", 5),
	},
	{
		Name:  "hostname-localhost",
		About: "a worker gets no name from DHCP or DNS and stays localhost, so that its kubelet does not start",
		Break: func(ctx context.Context, l *lab.Lab) error {
			m := worker(namelessWorker)
			m.Hostname = "localhost"
			return addWorker(ctx, l, m)
		},
		Steady: shows("worker7", "Dependency failed for", 2),
	},
}

// unauthorized are podman's words when a registry refuses the credential
// (containers/image:docker/docker_image_src.go newImageSource, docker/errors.go).
func unauthorized(image string) error {
	repository, digest, _ := strings.Cut(image, "@")
	return fmt.Errorf("initializing source docker://%s: reading manifest %s in %s: unauthorized: access to the requested resource is "+
		"not authorized", image, digest, repository)
}
