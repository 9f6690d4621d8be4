package machine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// manifestDir is the kubelet's staticPodPath
// (openshift/machine-config-operator:templates/master/01-master-kubelet).
const manifestDir = "/etc/kubernetes/manifests"

// crioSocket is where CRI-O listens.
const crioSocket = "unix:///var/run/crio/crio.sock"

// Bounds of what the runtime and the directory may hold.
const (
	maxContainers = 5000
	maxManifests  = 100
)

func (s *Source) containers(ctx context.Context) (part, error) {
	c := onhost.Containers{Containers: []onhost.Container{}, Manifests: []onhost.Manifest{}}
	if !s.live {
		return part{}, s.copied(evidence.HostContainers)
	}
	c.At = s.now()
	c.Manifests, c.ManifestError = s.manifests()
	raw, err := output(ctx, s.opts.Runner, crictl, "--runtime-endpoint", crioSocket, "--timeout", "10s", "ps", "--all", "--output", "json")
	if err == nil {
		c.Containers, err = parseContainers(raw)
	}
	if err != nil {
		u := unavailable(evidence.Objects(evidence.HostContainers, ""), crictl, err)
		if u.Why != evidence.Damaged && u.Why != evidence.Unreachable {
			return part{}, u
		}
		c.Containers, c.RuntimeError = []onhost.Container{}, u.Detail
	}
	return part{c, "crictl ps -a"}, nil
}

func parseContainers(raw []byte) ([]onhost.Container, error) {
	var v struct {
		Containers []struct {
			Metadata struct {
				Name    string `json:"name"`
				Attempt int    `json:"attempt"`
			} `json:"metadata"`
			State     string            `json:"state"`
			CreatedAt string            `json:"createdAt"` // nanoseconds, as text
			Labels    map[string]string `json:"labels"`
		} `json:"containers"`
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, errors.New("it printed no JSON")
	}
	list := []onhost.Container{}
	for _, c := range v.Containers {
		if len(list) == maxContainers {
			return nil, fmt.Errorf("it names more than %d containers", maxContainers)
		}
		o := onhost.Container{
			Name: c.Metadata.Name, Attempt: c.Metadata.Attempt,
			State:     strings.ToLower(strings.TrimPrefix(c.State, "CONTAINER_")),
			Namespace: c.Labels["io.kubernetes.pod.namespace"], Pod: c.Labels["io.kubernetes.pod.name"],
		}
		if n, err := strconv.ParseInt(c.CreatedAt, 10, 64); err == nil && n > 0 {
			o.Created = time.Unix(0, n).UTC()
		}
		list = append(list, o)
	}
	return list, nil
}

// manifests reads which static pods the machine is to run.
func (s *Source) manifests() ([]onhost.Manifest, string) {
	names, err := s.tree.list(manifestDir, maxManifests)
	if errors.Is(err, fs.ErrNotExist) {
		return []onhost.Manifest{}, ""
	}
	if err != nil {
		return []onhost.Manifest{}, plain(err)
	}
	slices.Sort(names)
	list := []onhost.Manifest{}
	for _, n := range names {
		if strings.HasPrefix(n, ".") { // the kubelet passes these over: pkg/kubelet/config/file_linux.go
			continue
		}
		list = append(list, s.manifest(manifestDir+"/"+n))
	}
	return list, ""
}

func (s *Source) manifest(name string) onhost.Manifest {
	raw, about, err := s.tree.read(name, maxFile)
	m := onhost.Manifest{File: about}
	if err != nil {
		return m
	}
	m.Parse(raw)
	return m
}
