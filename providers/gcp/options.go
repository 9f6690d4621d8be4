package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rollcall-project/rollcall/internal/workers/provider"
)

// options are those of `--option KEY=VALUE`.
type options struct {
	project     string
	zones       []string
	region      string // of the zones
	subnetwork  string // projects/P/regions/R/subnetworks/NAME
	network     string // of the firewall rules: projects/P/global/networks/NAME
	machineType string
	image       string // projects/P/global/images/NAME
	diskGB      int64
	diskType    string
	tags        []string
	firewall    string // "check" or "create"
	secureBoot  bool
	endpoint    string // of the API; empty: Google's public one
}

// The size and type of a worker's disk are those of HyperShift's own platform
// (openshift/hypershift:hypershift-operator/controllers/nodepool/gcp.go).
const (
	defaultDiskGB   = 64
	defaultDiskType = "pd-balanced"
	defaultMachine  = "n2-standard-4"
	smallestDiskGB  = 16
)

var (
	nameForm    = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$`)
	projectForm = regexp.MustCompile(`^([a-z0-9.-]+:)?[a-z][-a-z0-9]{4,28}[a-z0-9]$`)
	zoneForm    = regexp.MustCompile(`^([a-z]+-[a-z]+[0-9]+)-[a-z]$`)
)

// known are the options, and what they are for.
var known = []string{"project", "zones", "subnetwork", "network", "machine-type", "image", "disk-gb", "disk-type", "tags", "firewall", "secure-boot",
	"endpoint"}

func parseOptions(o provider.Order) (options, error) {
	raw := o.Options
	for key := range raw {
		if !slices.Contains(known, key) {
			return options{}, fmt.Errorf("--option %.40s: there is no such option; known are %s", key, strings.Join(known, ", "))
		}
	}
	get := func(key, otherwise string) string {
		if v := raw[key]; v != "" {
			return v
		}
		return otherwise
	}
	p := options{
		project: raw["project"], machineType: get("machine-type", defaultMachine), diskType: get("disk-type", defaultDiskType),
		firewall: get("firewall", "check"), image: raw["image"], diskGB: defaultDiskGB, secureBoot: true, endpoint: raw["endpoint"],
	}
	if !endpointAllowed(p.endpoint) {
		return p, fmt.Errorf("--option endpoint=%.100s: want https://HOST.googleapis.com, or http:// with a loopback address for an emulator, which "+
			"gets no credential", p.endpoint)
	}
	if !projectForm.MatchString(p.project) {
		return p, fmt.Errorf("--option project=%.40s: want the id of a project", p.project)
	}
	for _, z := range strings.Split(raw["zones"], ",") {
		m := zoneForm.FindStringSubmatch(z)
		switch {
		case m == nil:
			return p, fmt.Errorf("--option zones=%.80s: want zones of one region, such as europe-west1-b,europe-west1-c", raw["zones"])
		case p.region != "" && p.region != m[1]:
			return p, fmt.Errorf("--option zones=%.80s: they are of two regions", raw["zones"])
		case slices.Contains(p.zones, z):
			return p, fmt.Errorf("--option zones=%.80s: %s is there twice", raw["zones"], z)
		}
		p.region, p.zones = m[1], append(p.zones, z)
	}
	p.network = within(p.project, "global/networks", get("network", "default"))
	if raw["subnetwork"] == "" {
		return p, errors.New("--option subnetwork=NAME is missing: no machine is put into a network that you did not name")
	}
	p.subnetwork = within(p.project, "regions/"+p.region+"/subnetworks", raw["subnetwork"])
	if p.image == "" && o.Image.Name != "" {
		p.image = "projects/" + o.Image.Project + "/global/images/" + o.Image.Name
	} else if p.image != "" {
		p.image = within(p.project, "global/images", p.image)
	}
	var err error
	if v := raw["disk-gb"]; v != "" {
		if p.diskGB, err = strconv.ParseInt(v, 10, 32); err != nil || p.diskGB < smallestDiskGB {
			return p, fmt.Errorf("--option disk-gb=%.20s: want a number of at least %d", v, smallestDiskGB)
		}
	}
	if v := raw["secure-boot"]; v != "" {
		if p.secureBoot, err = strconv.ParseBool(v); err != nil {
			return p, fmt.Errorf("--option secure-boot=%.20s: want true or false", v)
		}
	}
	if p.firewall != "check" && p.firewall != "create" {
		return p, fmt.Errorf("--option firewall=%.20s: want check or create", p.firewall)
	}
	p.tags = []string{tagOf(o)}
	if raw["tags"] != "" {
		p.tags = append(p.tags, strings.Split(raw["tags"], ",")...)
	}
	for _, t := range p.tags {
		if !nameForm.MatchString(t) {
			return p, fmt.Errorf("--option tags: %.80q is not a network tag", t)
		}
	}
	return p, nil
}

// endpointAllowed lets the API be asked at another address of Google, such as one of Private
// Service Connect (https://cloud.google.com/vpc/docs/configure-private-service-connect-apis),
// and at an emulator on this machine.
func endpointAllowed(text string) bool {
	if text == "" {
		return true
	}
	u, err := url.Parse(text)
	if err != nil || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Path != "" && u.Path != "/" {
		return false
	}
	if u.Scheme == "https" {
		return strings.HasSuffix(u.Hostname(), ".googleapis.com")
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Scheme == "http" && err == nil && ip.IsLoopback()
}

// within completes the name of a resource of the project.
func within(project, collection, name string) string {
	if strings.Contains(name, "/") {
		return strings.TrimPrefix(name, "https://www.googleapis.com/compute/v1/")
	}
	return path.Join("projects", project, collection, name)
}

// split returns the project and the name of a resource such as projects/P/global/images/NAME.
func split(resource string) (project, name string) {
	parts := strings.Split(resource, "/")
	if len(parts) < 2 {
		return "", resource
	}
	return parts[1], parts[len(parts)-1]
}

// The labels of a machine: the marks of its run.
const (
	labelRun     = "rollcall-run"
	labelCluster = "rollcall-cluster"
	labelPool    = "rollcall-nodepool"
)

func labels(o provider.Order) map[string]string {
	return map[string]string{labelRun: labelValue(o.Run), labelCluster: labelValue(o.Hosted), labelPool: labelValue(o.NodePool)}
}

// labelValue is a text as the value of a label: lower case letters, digits, dashes and
// underscores, at most 63. What has to be changed gets a part of its digest, so that two texts
// never have one value.
func labelValue(text string) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, text)
	if clean == text && len(text) <= 63 {
		return text
	}
	return clean[:min(len(clean), 54)] + "-" + digest(text)[:8]
}

// description is a machine's, in whole words.
func description(o provider.Order) string {
	return fmt.Sprintf("Made by rollcall, run %s, for NodePool %s of hosted cluster %s.", o.Run, o.NodePool, o.Hosted)
}

// tagOf is the network tag of a hosted cluster's workers.
func tagOf(o provider.Order) string { return "rollcall-" + digest(o.Hosted)[:10] }

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// requestID is the id of a request that changes something: the same for the same attempt, so
// that it is done once however often it is sent; a UUID, as the API wants it.
func requestID(o provider.Order, what ...string) string {
	h := digest(strings.Join(append([]string{o.Run, o.Hosted, o.Worker.Name, strconv.Itoa(o.Attempt)}, what...), "\x00"))
	return fmt.Sprintf("%s-%s-5%s-8%s-%s", h[:8], h[8:12], h[13:16], h[17:20], h[20:32])
}
