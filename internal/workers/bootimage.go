package workers

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/rollcall-project/rollcall/internal/workers/provider"
)

// stream is what is looked at of stream metadata, which `openshift-install coreos
// print-stream-json` of the release prints (coreos/stream-metadata-go:stream/stream.go).
type stream struct {
	Stream        string `json:"stream"`
	Architectures map[string]struct {
		Artifacts map[string]struct {
			Release string `json:"release"`
			Formats map[string]map[string]struct {
				Location string `json:"location"`
				SHA256   string `json:"sha256"`
			} `json:"formats"`
		} `json:"artifacts"`
		Images struct {
			GCP struct {
				Release, Project, Name string
			} `json:"gcp"`
		} `json:"images"`
	} `json:"architectures"`
}

// BootImage is the boot image of a stream for an architecture as the release names it
// (x86_64, aarch64), and the name of the stream.
func BootImage(raw []byte, architecture string) (provider.Image, string, error) {
	var s stream
	if err := json.Unmarshal(raw, &s); err != nil {
		return provider.Image{}, "", fmt.Errorf("read stream metadata: %w", err)
	}
	a, ok := s.Architectures[architecture]
	if s.Stream == "" || !ok {
		return provider.Image{}, s.Stream, fmt.Errorf("the stream %.40q has no images of %s: want the output of `openshift-install coreos "+
			"print-stream-json`", s.Stream, architecture)
	}
	metal := a.Artifacts["metal"]
	iso := metal.Formats["iso"]["disk"]
	i := provider.Image{Release: metal.Release, Project: a.Images.GCP.Project, Name: a.Images.GCP.Name, ISO: iso.Location, Digest: iso.SHA256}
	if i.Name == "" && i.ISO == "" {
		return i, s.Stream, errors.New("the stream has neither an image for Google Cloud nor a live ISO")
	}
	return i, s.Stream, nil
}

// ImageSkew compares the stream of a boot image with the version of the release that the
// machine joins. An older boot image is normal: the first boot updates it. One of a later
// minor version is not: its Ignition and its kubelet may be newer than what the release
// expects. The outcome is unknown where the stream is not named after an OpenShift version, as
// from 4.19 on (rhel-9.6).
func ImageSkew(stream, version string) provider.Check {
	text := fmt.Sprintf("boot image of stream %.40s for release %.40s", stream, version)
	image, ok := minor(strings.TrimPrefix(stream, "rhcos-"))
	release, known := minor(version)
	switch {
	case !strings.HasPrefix(stream, "rhcos-") || !ok || !known:
		return provider.Check{Outcome: provider.Unknown, Text: text + ": the names do not show which is newer"}
	case image > release:
		return provider.Check{Outcome: provider.Failed, Text: text + ": it is newer than the release; take the stream of the release"}
	case image < release:
		return provider.Check{Outcome: provider.Passed, Text: text + ": it is older, and the first boot updates it"}
	}
	return provider.Check{Outcome: provider.Passed, Text: text + ": they are of the same minor version"}
}

// minor is N of the version 4.N; ok is false for anything else.
func minor(version string) (n int, ok bool) {
	rest, is := strings.CutPrefix(version, "4.")
	text, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(text)
	return n, is && err == nil
}
