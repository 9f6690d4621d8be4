package cli

import (
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
)

// versionInfo is what `version -o json` prints.
type versionInfo struct {
	Version   string `json:"version"`
	Commit    string `json:"commit,omitempty"`
	Time      string `json:"time,omitempty"` // of the commit, RFC 3339
	Modified  bool   `json:"modified"`       // the source tree had changes
	GoVersion string `json:"goVersion"`
	Platform  string `json:"platform"`
	// Catalog is the digest of the built-in faults, remedies and messages: catalog.Digest.
	Catalog string          `json:"catalog,omitempty"`
	Modules []moduleVersion `json:"modules,omitempty"` // what is linked, by path
}

// moduleVersion is one module that the program is made of.
type moduleVersion struct {
	Path    string `json:"path"`
	Version string `json:"version"`
	Sum     string `json:"sum,omitempty"` // as in go.sum
}

func (a *app) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "print the version of this program",
		Args:  cmdutil.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := readVersion()
			if cmdutil.FormatOf(cmd) == "text" {
				fmt.Fprint(a.IO.Out, v.line())
				return nil
			}
			digest, err := catalog.Digest()
			if err != nil {
				return err
			}
			v.Catalog = digest
			return a.PrintData(cmdutil.FormatOf(cmd), v)
		},
	}
	a.AddOutputFlags(cmd, "text", "json", "yaml")
	return cmd
}

// readVersion reads what the Go linker knows of the build.
func readVersion() versionInfo {
	v := versionInfo{Version: developmentVersion, GoVersion: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Version = releaseOf(build.Main.Version)
	for _, s := range build.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.time":
			v.Time = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	for _, m := range build.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		v.Modules = append(v.Modules, moduleVersion{Path: m.Path, Version: m.Version, Sum: m.Sum})
	}
	return v
}

// developmentVersion is the version of a program that was not built from a release tag.
const developmentVersion = "0.1.0-dev"

// pseudoVersion is the end of a version that Go makes of a commit without a tag, or of a tree
// with changes.
var pseudoVersion = regexp.MustCompile(`\d{14}-[0-9a-f]{12}(\+.*)?$|\+dirty$`)

// releaseOf returns the version of a main module if it is a release tag, else the development
// version. The commit is in versionInfo.
func releaseOf(module string) string {
	if module == "" || module == "(devel)" || pseudoVersion.MatchString(module) {
		return developmentVersion
	}
	return module
}

// addVersionFlag adds --version to the command that has no name of its own.
func (a *app) addVersionFlag(root *cobra.Command) {
	asked := root.Flags().Bool("version", false, "version for "+a.Name)
	answer := root.RunE
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if *asked {
			fmt.Fprint(a.IO.Out, readVersion().line())
			return nil
		}
		return answer(cmd, args)
	}
}

// line is the version for a person.
func (v versionInfo) line() string {
	return fmt.Sprintf("rollcall %s (%s, %s)\n", v.Version, v.GoVersion, v.Platform)
}
