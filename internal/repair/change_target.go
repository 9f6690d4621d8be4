package repair

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// changeTarget is the kind of object that a fieldChange changes, and how the one of a fault is found.
type changeTarget struct {
	// ref is the object of the name; of operands the name is that of their operator.
	ref func(name string) Ref
	// of names the object of a fault; "" where the fault is of no such object.
	of func(ctx context.Context, api Reader, k fault.Key, cluster ClusterID) (string, error)
	// names are all objects that there can be; nil: any name.
	names []string
	// named: a person gives the object as NAMESPACE/NAME, and of is not used.
	named bool
	// rights are what finding the object needs.
	rights []Access
}

// has reports whether the target can be the object of the name.
func (t changeTarget) has(name string) bool { return t.names == nil || slices.Contains(t.names, name) }

// objects are the names whose rights are asked for; "" stands for all of a resource.
func (t changeTarget) objects() []string {
	if t.names == nil {
		return []string{""}
	}
	return t.names
}

// objectOf names the object that is changed for a fault.
func (c fieldChange) objectOf(ctx context.Context, api Reader, k fault.Key, cluster ClusterID) (string, error) {
	name, err := c.target.of(ctx, api, k, cluster)
	if err == nil && name == "" {
		err = fmt.Errorf("no object is known that %s changes for %s", c.remedy, k.Subject)
	}
	return name, err
}

// singleTarget is the one object of its kind, whatever the subject of the fault.
func singleTarget(ref Ref) changeTarget {
	return changeTarget{
		ref:   func(string) Ref { return ref },
		of:    func(context.Context, Reader, fault.Key, ClusterID) (string, error) { return ref.Name, nil },
		names: []string{ref.Name},
	}
}

// subjectTarget is the object that the fault is about.
func subjectTarget(kind fault.Kind, ref func(name string) Ref) changeTarget {
	return changeTarget{ref: ref, of: func(_ context.Context, _ Reader, k fault.Key, _ ClusterID) (string, error) {
		if k.Subject.Kind != kind {
			return "", nil
		}
		return k.Subject.Name, nil
	}}
}

// hostedClusterTarget is the HostedCluster of the plan.
func hostedClusterTarget() changeTarget {
	return changeTarget{ref: hostedClusterRef, of: func(_ context.Context, _ Reader, _ fault.Key, cluster ClusterID) (string, error) {
		_, name := cluster.hosted()
		return name, nil
	}}
}

// operatorTarget is the operator of static pods that the fault is about.
func operatorTarget() changeTarget {
	return changeTarget{ref: operandRef, names: operandNames(), of: func(_ context.Context, _ Reader, k fault.Key, _ ClusterID) (string, error) {
		if k.Subject.Kind != fault.Operator || operands[k.Subject.Name] == "" {
			return "", fmt.Errorf("%s runs no static pods", k.Subject)
		}
		return k.Subject.Name, nil
	}}
}

// bareMetalHostTarget is the BareMetalHost of the host that the fault is about.
func bareMetalHostTarget() changeTarget {
	return changeTarget{ref: bareMetalHostRef, rights: findHostRights(), of: func(ctx context.Context, api Reader, k fault.Key, _ ClusterID) (string, error) {
		if k.Subject.Kind != fault.Host {
			return "", nil
		}
		return bareMetalHostOf(ctx, api, k.Subject.Name)
	}}
}

// findHostRights are what bareMetalHostOf needs.
func findHostRights() []Access {
	return append(access(machineRef(""), "", "list"), access(bareMetalHostRef(""), "", "list")...)
}

// bareMetalHostOf finds the BareMetalHost of a host: by its name, or through the Machine that
// the Node belongs to. It never guesses among several.
func bareMetalHostOf(ctx context.Context, api Reader, host string) (string, error) {
	machines, err := api.List(ctx, machineRef(""))
	if err != nil {
		return "", fmt.Errorf("list machines: %w", err)
	}
	var mine, others []string
	for _, m := range machines {
		if inventory.SameName(stringAt(m, "status", "nodeRef", "name"), host) {
			mine = append(mine, stringAt(m, "metadata", "name"))
		} else if stringAt(m, "status", "nodeRef", "name") != "" {
			others = append(others, stringAt(m, "metadata", "name"))
		}
	}
	list, err := api.List(ctx, bareMetalHostRef(""))
	if err != nil {
		return "", fmt.Errorf("list BareMetalHosts: %w", err)
	}
	var found []string
	for _, o := range list {
		name, consumer := stringAt(o, "metadata", "name"), stringAt(o, "spec", "consumerRef", "name")
		if inventory.SameName(name, host) && !slices.Contains(others, consumer) || consumer != "" && slices.Contains(mine, consumer) {
			found = append(found, name)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", errors.New("no BareMetalHost of " + host + " was found")
	}
	return "", fmt.Errorf("%s may be one of the BareMetalHosts %q", host, found)
}
