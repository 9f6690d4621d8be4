package cli

import "github.com/rollcall-project/rollcall/internal/session"

// shared is the compiled catalog of all runs of this package's tests: to load it takes longer than
// most answers. Runs side by side share it, as those of `rollcall mcp` do.
var shared = &session.Cache{}
