package update

import (
	"fmt"
	"regexp"
	"strconv"
)

// Version is a release of OpenShift 4.
type Version struct {
	Text  string // as it was written; "" where there is none
	Minor int
	Patch int // -1: only the minor version was given
}

var versionForm = regexp.MustCompile(`^4\.(\d{1,3})(?:\.(\d{1,4})([-+.][0-9A-Za-z.-]{1,80})?)?$`)

// ParseVersion reads 4.18 or 4.18.3.
func ParseVersion(text string) (Version, error) {
	m := versionForm.FindStringSubmatch(text)
	if m == nil {
		return Version{}, fmt.Errorf("%q is no version of OpenShift 4: write it as 4.18 or 4.18.3", text)
	}
	v := Version{Text: text, Patch: -1}
	v.Minor, _ = strconv.Atoi(m[1])
	if m[2] != "" {
		v.Patch, _ = strconv.Atoi(m[2])
	}
	return v, nil
}

// Known reports whether there is a version.
func (v Version) Known() bool { return v.Text != "" }

// Before reports whether v is older than o. Of a version without a patch number the minor counts.
func (v Version) Before(o Version) bool {
	if v.Minor != o.Minor || v.Patch < 0 || o.Patch < 0 {
		return v.Minor < o.Minor
	}
	return v.Patch < o.Patch
}

// kubernetes is the minor version of Kubernetes in an OpenShift 4 release: 4.20 has 1.33.
func (v Version) kubernetes() int { return v.Minor + 13 }

// behind is how many minor versions a kubelet may be behind the API server
// (openshift/cluster-kube-apiserver-operator:pkg/operator/kubeletversionskewcontroller
// minSupportedKubeletSkewForOpenShiftVersion: 2 for even releases, 1 for odd ones).
func (v Version) behind() int { return 2 - v.Minor%2 }
