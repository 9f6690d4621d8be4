// Package engine puts the diagnosis of a cluster together from its parts: who relates subjects,
// who describes the cluster, and who knows at which stage each host is. It links no client of
// Kubernetes, so that the program on a host can use it.
package engine

import (
	"github.com/rollcall-project/rollcall/internal/facts/cluster"
	"github.com/rollcall-project/rollcall/internal/facts/relation"
	"github.com/rollcall-project/rollcall/internal/hosts/stages"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnose"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
)

// Options are those of a diagnosis of a cluster: the catalog, the facts that can be computed, and
// what they are computed from. The caller adds the times, the choice of faults and the log.
func Options(catalog *fault.Catalog, known []facts.Fact, from *reader.Reader) diagnose.Options {
	return diagnose.Options{
		Catalog: catalog, Facts: known, Reader: from,
		Relater: relation.Relater{}, Cluster: cluster.Describer{}, Roll: stages.Caller{},
	}
}
