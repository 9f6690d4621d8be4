package cli

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/rollcall-project/rollcall/internal/cli/clitest"
)

// TestMain makes this test binary the `rollcall` of the tests that start one.
func TestMain(m *testing.M) { testscript.Main(m, clitest.Commands(Main)) }
