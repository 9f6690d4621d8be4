package clitest

import (
	"context"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
)

const (
	// ClockVariable has the time that it is for a `rollcall` of the tests; with a + at its end the time goes on
	// from there.
	ClockVariable = "ROLLCALL_TEST_CLOCK"
	// WidthVariable has the columns of what is no terminal: pages show what a person sees.
	WidthVariable = "ROLLCALL_TEST_WIDTH"
)

// Commands are the programs that a test binary is for the tests in it, for testscript.Main.
func Commands(main func(context.Context, []string, cmdutil.IO) cmdutil.ExitCode) map[string]func() {
	run := func() {
		surroundings := cmdutil.System()
		surroundings.Completion = time.Minute // a busy machine is no reason for a red test
		clock, goes := strings.CutSuffix(os.Getenv(ClockVariable), "+")
		if now, err := time.Parse(time.RFC3339, clock); err == nil {
			began := time.Now()
			surroundings.Clock = func() time.Time { return now }
			if goes {
				surroundings.Clock = func() time.Time { return now.Add(time.Since(began)) }
			}
		}
		if width, err := strconv.Atoi(os.Getenv(WidthVariable)); err == nil && !surroundings.Screen.Terminal {
			surroundings.Screen.Width = width
		}
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt) // as cmd/rollcall
		code := main(ctx, os.Args, surroundings)
		stop()
		os.Exit(int(code))
	}
	return map[string]func(){"rollcall": run, "oc-rollcall": run, "kubectl_complete-rollcall": run, "gather": run, "jq": jqMain}
}
