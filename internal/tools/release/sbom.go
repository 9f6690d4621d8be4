package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"net/url"
	"os"
	"path"
	"runtime/debug"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// writeSBOM lists what a binary is made of: the modules of its build info, which is what
// `go version -m` prints and vulnerability scanners read.
func writeSBOM(binary, document string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return fmt.Errorf("read the build info: %w", err)
	}
	var out bytes.Buffer
	encoder := cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true)
	if err := encoder.EncodeVersion(sbomOf(info), cdx.SpecVersion1_6); err != nil {
		return fmt.Errorf("encode the SBOM: %w", err)
	}
	if err := os.WriteFile(document, out.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write the SBOM: %w", err)
	}
	return nil
}

// sbomOf has no serial number and no time: two builds of the same have the same.
func sbomOf(info *buildinfo.BuildInfo) *cdx.BOM {
	program := componentOf(&info.Main)
	program.Type, program.Name, program.BOMRef = cdx.ComponentTypeApplication, path.Base(info.Path), "program"
	components := []cdx.Component{{
		Type: cdx.ComponentTypeLibrary, BOMRef: "std", Name: "std", Version: info.GoVersion,
		PackageURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go"),
	}}
	for _, m := range info.Deps {
		switch {
		case m.Replace != nil && strings.HasPrefix(m.Replace.Path, "."): // a directory of this repository: it is of the program's commit
			m = &debug.Module{Path: m.Path, Version: info.Main.Version}
		case m.Replace != nil:
			m = m.Replace
		}
		components = append(components, componentOf(m))
	}
	refs := make([]string, 0, len(components))
	for _, c := range components {
		refs = append(refs, c.BOMRef)
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &program}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: program.BOMRef, Dependencies: &refs}}
	return bom
}

func componentOf(m *debug.Module) cdx.Component {
	purl := "pkg:golang/" + m.Path + "@" + url.PathEscape(m.Version)
	c := cdx.Component{Type: cdx.ComponentTypeLibrary, BOMRef: purl, Name: m.Path, Version: m.Version, PackageURL: purl}
	if m.Sum != "" {
		c.Properties = &[]cdx.Property{{Name: "go:sum", Value: m.Sum}}
	}
	return c
}
