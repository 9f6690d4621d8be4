// Package agentgather is the layout of agent-gather, which runs on a host of an
// agent-based installation. Of it only journal.export is read.
package agentgather

import (
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout"
)

// Kind is what such an archive is called.
const Kind = "agent-gather"

// Layout is that of agent-gather.
var Layout = layout.Layout{
	Kind: Kind, DatedName: Kind,
	Lacks: "agent-gather has what one host of an agent install knows, and no objects of the API",
	Proof: isExport,
	File: func(e *layout.Entry, dir string, below []string) bool {
		if !isExport(dir, below) {
			return false
		}
		e.Class, e.Export, e.Text = layout.Text, true, evidence.Text{Kind: evidence.Journal}
		return true
	},
	Journal: func(host string) evidence.Supply {
		return evidence.Supply{Kind: evidence.SupplyAgentGather, Host: host}
	},
}

func isExport(dir string, below []string) bool { return dir == "journal.export" && len(below) == 0 }
