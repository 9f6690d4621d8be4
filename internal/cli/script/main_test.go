// Package script runs the command line as a person does: scripts of commands, and what they print. It has a package of
// its own, so that `go test ./...` runs it beside the other tests of the command line.
package script

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/rollcall-project/rollcall/internal/cli"
	"github.com/rollcall-project/rollcall/internal/cli/clitest"
)

// TestMain makes this test binary the `rollcall` of the scripts.
func TestMain(m *testing.M) { testscript.Main(m, clitest.Commands(cli.Main)) }
