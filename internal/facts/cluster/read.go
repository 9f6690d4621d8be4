package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// maxNamed is how many objects of a kind are named that are not as they should be.
const maxNamed = 3

// part is what was read of one kind, and whether something of it is not as it should be.
type part struct {
	says  string
	wrong bool
}

// readWithoutHosts says what was read where there is no Node, a part each: the answer about
// hosts is then empty, and what was given is not. wrong: something of it is not as it should be.
func readWithoutHosts(ctx context.Context, w *facts.World) (parts []string, wrong bool, err error) {
	for _, read := range []func(context.Context, *facts.World) (part, error){
		readVersion, readOperators, readPools, readHostedClusters, readNodePools, readMachineSets, readMachines, readBareMetalHosts, readAgents,
	} {
		p, err := read(ctx, w)
		if err := tolerate(err); err != nil {
			return nil, false, err
		}
		if p.says != "" {
			parts, wrong = append(parts, p.says), wrong || p.wrong
		}
	}
	return parts, wrong, nil
}

func readVersion(ctx context.Context, w *facts.World) (part, error) {
	o, ok, err := w.Get(ctx, evidence.ClusterVersions, "", "version")
	if !ok {
		return part{}, err
	}
	list := conditions.Of(o)
	said := []string{"Available " + orUnknown(conditions.Find(list, "Available").Status)}
	for _, kind := range []string{"Failing", "Progressing"} {
		if conditions.Find(list, kind).Status == "True" {
			said = append(said, kind)
		}
	}
	if c := conditions.Find(list, "Upgradeable"); c.Status == "False" {
		said = append(said, "not Upgradeable ("+c.Reason+")")
	}
	return part{"ClusterVersion: " + strings.Join(said, ", "), len(said) > 1 || said[0] != "Available True"}, nil
}

func readOperators(ctx context.Context, w *facts.World) (part, error) {
	list, err := w.Some(ctx, evidence.ClusterOperators, "")
	return counted(list, "ClusterOperator", "Available and not Degraded", func(o evidence.Object) string {
		all := conditions.Of(o)
		switch {
		case conditions.Find(all, "Available").Status != "True":
			return "Available " + orUnknown(conditions.Find(all, "Available").Status)
		case conditions.Find(all, "Degraded").Status == "True":
			return "Degraded"
		case conditions.Find(all, "Upgradeable").Status == "False":
			return "not Upgradeable (" + conditions.Find(all, "Upgradeable").Reason + ")"
		}
		return ""
	}), err
}

func readPools(ctx context.Context, w *facts.World) (part, error) {
	list, err := w.Some(ctx, evidence.MachineConfigPools, "")
	return counted(list, "MachineConfigPool", "Updated", func(o evidence.Object) string {
		all := conditions.Of(o)
		machines := fmt.Sprintf(", %d of %d machines ready",
			evidence.Int(o.Content, "status", "readyMachineCount"), evidence.Int(o.Content, "status", "machineCount"))
		switch {
		case conditions.Find(all, "Degraded").Status == "True":
			return "Degraded" + machines
		case conditions.Find(all, "Updated").Status != "True":
			return "Updating" + machines
		}
		return ""
	}), err
}

func readMachineSets(ctx context.Context, w *facts.World) (part, error) {
	list, err := w.Some(ctx, evidence.MachineSets, openshift.MachineAPINamespace)
	return counted(list, "MachineSet", "available", func(o evidence.Object) string {
		want, have := evidence.Int(o.Content, "spec", "replicas"), evidence.Int(o.Content, "status", "availableReplicas")
		if want != have {
			return fmt.Sprintf("%d of %d available", have, want)
		}
		return ""
	}), err
}

func readMachines(ctx context.Context, w *facts.World) (part, error) {
	list, err := w.Some(ctx, evidence.Machines, openshift.MachineAPINamespace)
	return counted(list, "Machine", "Running", func(o evidence.Object) string {
		if phase := evidence.String(o.Content, "status", "phase"); phase != "Running" {
			return orUnknown(phase)
		}
		return ""
	}), err
}

func readBareMetalHosts(ctx context.Context, w *facts.World) (part, error) {
	list, err := w.Some(ctx, evidence.BareMetalHosts, openshift.MachineAPINamespace)
	return counted(list, "BareMetalHost", "without an error", func(o evidence.Object) string {
		if kind := evidence.String(o.Content, "status", "errorType"); kind != "" {
			return kind
		}
		if status := evidence.String(o.Content, "status", "operationalStatus"); status != "OK" && status != "" {
			return status
		}
		state := evidence.String(o.Content, "status", "provisioning", "state")
		if o.Part() && evidence.String(o.Content, "spec", "consumerRef", "name") == "" && state != "externally provisioned" {
			return orUnknown(state) + " without a consumer" // a table's row that no host of the list stands for
		}
		return ""
	}), err
}

// counted is how many objects of a kind there are, and which are not as they should be. wrong
// is what is wrong with one, "" where nothing is.
func counted(list []evidence.Object, kind, good string, wrong func(evidence.Object) string) part {
	if len(list) == 0 {
		return part{}
	}
	bad := map[string]string{}
	for _, o := range list {
		if why := wrong(o); why != "" {
			bad[o.Name] = why
		}
	}
	name := kind
	if len(list) > 1 {
		name += "s"
	}
	if len(bad) == 0 {
		if len(list) == 1 {
			return part{says: fmt.Sprintf("1 %s, %s", name, good)}
		}
		return part{says: fmt.Sprintf("%d %s, all %s", len(list), name, good)}
	}
	var named []string
	for _, n := range slices.Sorted(maps.Keys(bad)) {
		if len(named) == maxNamed {
			named = append(named, fmt.Sprintf("%d more", len(bad)-maxNamed))
			break
		}
		named = append(named, n+" "+bad[n])
	}
	return part{fmt.Sprintf("%d %s, %s", len(list), name, strings.Join(named, ", ")), true}
}

func orUnknown(status string) string {
	if status == "" {
		return "unknown"
	}
	return status
}
