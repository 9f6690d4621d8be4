package main

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing/fstest"
)

// mutated is a case without its evidence: the lines and files that the truth names are gone.
func (c *benchCase) mutated() fstest.MapFS {
	files := fstest.MapFS{}
	for p, f := range c.files {
		if slices.ContainsFunc(c.Files, func(name string) bool { return strings.HasSuffix(p, name) }) {
			continue
		}
		var kept []string
		for line := range strings.Lines(string(f.Data)) {
			if !slices.ContainsFunc(c.Evidence, func(words string) bool { return strings.Contains(line, words) }) {
				kept = append(kept, line)
			}
		}
		files[p] = &fstest.MapFile{Data: []byte(strings.Join(kept, "")), Mode: f.Mode}
	}
	return files
}

// noiseLines is how many lines, or objects, without a meaning are added.
const noiseLines = 500

// noisy is a case among 500 lines, or objects, that have nothing to do with it.
func (c *benchCase) noisy() fstest.MapFS {
	files := maps.Clone(c.files)
	if c.Form == "archive" {
		files[c.root()+"namespaces/bench-noise/core/configmaps.yaml"] = &fstest.MapFile{Data: []byte(configMaps()), Mode: 0o600}
		return files
	}
	text := string(c.files[inputFile].Data)
	if c.Form == "objects" { // a table has no log between its rows
		files[inputFile] = &fstest.MapFile{Data: []byte(logLines(noiseLines) + "\n" + text), Mode: 0o600}
		return files
	}
	lines := slices.Collect(strings.Lines(text))
	each := noiseLines / (len(lines) + 1)
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(line)
		if strings.HasSuffix(line, "\n") && startsRecord(line) {
			b.WriteString(logLines(each))
		}
	}
	files[inputFile] = &fstest.MapFile{Data: []byte(logLines(each) + b.String()), Mode: 0o600}
	return files
}

// startsRecord reports whether a line is a whole one of a log: between the lines of a block
// nothing is put.
func startsRecord(line string) bool {
	return len(line) > 20 && strings.ContainsAny(line[:20], ":[") && strings.ContainsAny(line[:12], "0123456789")
}

// root is the directory of a must-gather in which its image's files are.
func (c *benchCase) root() string {
	for p := range c.files {
		if i := strings.Index(p, "/cluster-scoped-resources/"); i >= 0 {
			return p[:i+1]
		}
	}
	return path.Dir(inputFile)
}

// logLines are lines of a host on which nothing is wrong.
func logLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "Mar 01 09:%02d:%02d bench0 kubenswrapper[2112]: I0301 09:%02d:%02d.%06d    2112 reconciler_common.go:245] "+
			"\"operationExecutor.VerifyControllerAttachedVolume started for volume\" pod=\"bench/pod-%d\"\n",
			i/60%60, i%60, i/60%60, i%60, i, i)
	}
	return b.String()
}

func configMaps() string {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: ConfigMapList\nitems:\n")
	for i := range noiseLines {
		fmt.Fprintf(&b, "- {apiVersion: v1, kind: ConfigMap, metadata: {name: noise-%d, namespace: bench-noise, uid: 00000000-0000-4000-8000-%012d, "+
			"creationTimestamp: \"2026-02-01T00:00:00Z\"}, data: {a: b}}\n", i, i)
	}
	return b.String()
}
