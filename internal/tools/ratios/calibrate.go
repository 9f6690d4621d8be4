package main

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
)

// calibrate is the fixed piece of work: it decodes, sorts, packs, matches and allocates about
// as a diagnosis does, for half a second on a machine of 2024. Whoever changes it measures
// all limits again.
func calibrate() {
	lines := logs(4<<20, []string{"connection refused", "no such host"})
	sum := sha256.New()
	for range 3 {
		var packed bytes.Buffer
		z, _ := flate.NewWriter(&packed, flate.BestSpeed) // the level is valid
		_, _ = z.Write(lines)
		_ = z.Close()
		text, _ := io.ReadAll(flate.NewReader(&packed))
		found := regexp.MustCompile(`E\d{4} [\d:.]+.*(refused|host)`).FindAll(text, -1)
		_, _ = sum.Write(bytes.Join(found, nil))
		objects := make([]map[string]any, 0, 4000)
		for i := range 4000 {
			object := map[string]any{"metadata": map[string]any{"name": fmt.Sprint("pod-", i*7919%4000),
				"labels": map[string]any{"app": "x", "tier": "y"}}, "status": map[string]any{"phase": "Running", "podIPs": []any{"10.0.0.1", "10.0.0.2"}}}
			raw, err := json.Marshal(object)
			if err != nil {
				panic(err) // maps of texts have JSON
			}
			var back map[string]any
			if err := json.Unmarshal(raw, &back); err != nil {
				panic(err)
			}
			objects = append(objects, back)
		}
		slices.SortFunc(objects, func(a, b map[string]any) int { return bytes.Compare(nameOf(a), nameOf(b)) })
		_, _ = sum.Write(nameOf(objects[len(objects)/2]))
	}
	fmt.Fprintf(os.Stdout, "%x\n", sum.Sum(nil))
}

func nameOf(object map[string]any) []byte {
	return fmt.Append(nil, object["metadata"].(map[string]any)["name"])
}

// words are what the lines of logs are made of.
var words = []string{"starting", "sync", "of", "node", "worker-3", "pod", "openshift-dns/dns-default-x7k2p", "status", "updated", "in", "12.3ms", "container",
	"image", "quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:415e56a6", "\"volume\"", "mounted", "lease", "renewed", "request", "GET",
	"/api/v1/nodes", "200", "took", "trace[1234]"}

// logs returns so many bytes of lines as klog writes them, one in 500 with one of the
// literals. They are the same each time.
func logs(size int, literals []string) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	out := make([]byte, 0, size+1024)
	for n := 0; len(out) < size; n++ {
		out = fmt.Appendf(out, "2026-11-20T12:%02d:%02d.%06dZ E1120 12:%02d:%02d.%06d       1 file.go:%d]", n/60%60, n%60, n%1e6, n/60%60, n%60, n%1e6, n%997)
		for range 6 + random.IntN(14) {
			out = append(append(out, ' '), words[random.IntN(len(words))]...)
		}
		if n%500 == 0 {
			out = append(append(out, ' '), literals[random.IntN(len(literals))]...)
		}
		out = append(out, '\n')
	}
	return out
}
