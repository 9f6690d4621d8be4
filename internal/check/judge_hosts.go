package check

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metal3"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

// hosts judge what is done to BareMetalHosts and through BMCs.
var hosts = []Judgment{{
	ID: "delete-bmh", Commands: "oc delete bmh", Matches: is("bmh", "delete"),
	Reads: []evidence.Need{evidence.Objects(evidence.BareMetalHosts, "")},
	Final: "a BareMetalHost that is deleted takes what is known of its host with it, and switches it off or deprovisions it",
	Decide: func(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
		list, err := l.picked(ctx, evidence.BareMetalHosts, c, c.Args[1:])
		if err != nil {
			return nil, err
		}
		worst := &decision{verdict: Reads}
		for _, o := range list {
			if d := l.deleteBMH(o); d.verdict.rank() > worst.verdict.rank() {
				worst = d
			}
		}
		worst.objects = refs(list)
		return worst, nil
	},
	Sources: []fault.Ref{{Repo: "metal3-io/baremetal-operator", Path: "internal/controller/metal3.io/host_state_machine.go", Symbol: "checkInitiateDelete"}},
}, {
	ID: "bmh-power", Commands: "oc patch bmh with online", Matches: func(c *shellcommand.Call) bool { return is("bmh", "patch")(c) && has(c, `online`) },
	Decide: func(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
		list, err := l.picked(ctx, evidence.BareMetalHosts, c, c.Args[1:])
		if err != nil {
			return nil, err
		}
		return l.setOnline(ctx, c, list)
	},
	Sources: []fault.Ref{{Repo: "metal3-io/baremetal-operator", Path: "internal/controller/metal3.io/baremetalhost_controller.go", Symbol: "manageHostPower"}},
}, {
	ID: "bmc-power", Commands: "ipmitool power, chassis power, a Redfish ComputerSystem.Reset", Matches: func(c *shellcommand.Call) bool {
		return c.Program == "curl" && c.Effect == shellcommand.Changes && has(c, `ComputerSystem\.Reset`) ||
			c.Program == "ipmitool" && slices.Contains(c.Args, "power") && !slices.Contains(c.Args, "status")
	},
	Reads:   []evidence.Need{evidence.Objects(evidence.BareMetalHosts, "")},
	Decide:  decideIPMI,
	Sources: []fault.Ref{{Repo: "metal3-io/baremetal-operator", Path: "internal/controller/metal3.io/baremetalhost_controller.go", Symbol: "manageHostPower"}},
}, {
	ID: "virtual-machine", Commands: "virsh destroy, shutdown, reset, undefine", Matches: func(c *shellcommand.Call) bool {
		return c.Program == "virsh" && len(c.Args) > 0 && slices.Contains([]string{"destroy", "shutdown", "reset", "reboot", "undefine", "vol-delete",
			"start"}, c.Args[0])
	},
	Decide:  decideVirsh,
	Sources: []fault.Ref{{Repo: "libvirt/libvirt", Path: "docs/manpages/virsh.rst"}},
}}

// deleteBMH judges one BareMetalHost.
func (l *look) deleteBMH(o *evidence.Object) *decision {
	state := evidence.String(o.Content, "status", "provisioning", "state")
	on, known := power(o)
	consumer := evidence.String(o.Content, "spec", "consumerRef", "name")
	shown := "power not known"
	if known {
		shown = fmt.Sprintf("poweredOn %t", on)
	}
	item := o.Shows("status.provisioning.state", "state "+state+", "+shown, l.d.Now)
	d := &decision{evidence: []evidence.Item{item}, undo: "a new BareMetalHost is inspected and installed from the beginning",
		lost: "its inspection, and the link to its Machine",
		instead: []string{"to keep the host running: oc annotate bmh " + o.Name + " -n " + o.Namespace +
			" " + metal3.DetachedAnnotation + "=, then delete", "rollcall explain delete-provisioned-bmh"},
		verify: []string{"oc get bmh -n " + o.Namespace}}
	_, detached := annotation(o, metal3.DetachedAnnotation)
	uncontrolled := notControlled(o)
	switch {
	case detached:
		d.verdict, d.why = Person, o.Name+" is detached: only its record goes, the host is left as it is"
	case state == "provisioned":
		d.verdict, d.why, d.lost = Unsafe, o.Name+" is provisioned: the deletion deprovisions it and switches it off",
			"what is on its disks, where automatedCleaningMode is not disabled"
	case uncontrolled != "" && consumer != "":
		d.verdict, d.instead = Unsafe, []string{"rollcall diagnose host/" + o.Name, "rollcall explain delete-provisioned-bmh"}
		d.why = fmt.Sprintf("Machine %s uses %s and loses its host; the host itself is left as it is. Whether it is on is not known (%s)", consumer, o.Name,
			uncontrolled)
		if works := l.working(o.Name); works != "" {
			d.why = fmt.Sprintf("Machine %s uses %s and loses its host. %s", consumer, o.Name, works)
		}
	case consumer != "" && (on || !known):
		d.verdict, d.why = Unsafe, fmt.Sprintf("%s is %s and belongs to Machine %s: the deletion switches it off, with what runs on it", o.Name, state,
			consumer)
	case consumer != "":
		d.verdict, d.why = Person, o.Name+" is switched off already: right as a step of its replacement, before its Machine is deleted"
	case uncontrolled != "":
		d.verdict, d.instead = Person, nil
		d.why = "no Machine uses " + o.Name + ": only its record goes. Whether the host is on is not known (" + uncontrolled + ")"
	case on || !known:
		d.verdict, d.why = Person, "no Machine uses "+o.Name+": its record goes, and the host is switched off"
	default:
		d.verdict, d.why = Person, "no Machine uses "+o.Name+", and it is switched off already: only its record goes"
	}
	return d
}

func annotation(o *evidence.Object, key string) (string, bool) {
	m, _ := evidence.Field(o.Content, "metadata", "annotations").(map[string]any)
	v, ok := m[key].(string)
	return v, ok
}

// setOnline judges that somebody sets spec.online. It counts only for hosts whose power the operator controls.
func (l *look) setOnline(ctx context.Context, c *shellcommand.Call, list []*evidence.Object) (*decision, error) {
	var controlled []*evidence.Object
	why := ""
	for _, o := range list {
		if w := notControlled(o); w != "" {
			why = o.Name + " is " + w
			continue
		}
		controlled = append(controlled, o)
	}
	off := has(c, `online"?\s*:\s*"?false`)
	undo := "the same with online: false, which switches it off without a drain"
	if off {
		undo = "the same with online: true"
	}
	switch {
	case len(controlled) == 0:
		return &decision{verdict: Safe, objects: refs(list), lost: "nothing", undo: undo,
			why: why + ". The baremetal operator switches nothing now; the value counts when it controls the host again"}, nil
	case !off:
		return &decision{verdict: Safe, why: "the baremetal operator switches the host on", objects: refs(list), undo: undo}, nil
	}
	d, err := l.powerOff(ctx, controlled, "the baremetal operator switches it off, without a drain")
	if err == nil {
		d.undo, d.objects = undo, refs(list)
	}
	return d, err
}

// decideIPMI finds the hosts behind the address of a BMC.
func decideIPMI(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
	address, what := c.Value("-H"), ""
	if c.Program == "curl" {
		address, what = bmcRequest(c)
	} else {
		what = c.Args[len(c.Args)-1]
	}
	list, err := l.some(ctx, evidence.BareMetalHosts, "")
	if err != nil {
		return nil, err
	}
	var mine []*evidence.Object
	for _, o := range list {
		if at := evidence.String(o.Content, "spec", "bmc", "address"); address != "" && matches(at, `(^|[/@\[])`+quote(address)+`([\]:/]|$)`) {
			mine = append(mine, o)
		}
	}
	if len(mine) == 0 {
		return nil, &notThere{what: "BareMetalHost with the BMC", name: address}
	}
	switch strings.ToLower(what) {
	case "on", "forceon":
		d := &decision{verdict: Safe, why: "it switches the host on", objects: refs(mine), undo: "drain its node first, then switch it off"}
		if evidence.Field(mine[0].Content, "spec", "online") == false {
			d.why = "the BareMetalHost says online: false: the baremetal operator switches it off again within about a minute"
		}
		return d, nil
	default:
		d, err := l.powerOff(ctx, mine, "")
		switch {
		case err != nil:
		case resets(what):
			d.undo = comesBack
		case evidence.Field(mine[0].Content, "spec", "online") == true:
			d.undo = "the baremetal operator switches it on again, where the BMC answers; else the same command with on"
		default:
			d.undo = "the same command with on: it stays off until then"
		}
		return d, err
	}
}

// resets reports whether a host runs again after a verb of a BMC.
func resets(verb string) bool {
	return slices.ContainsFunc([]string{"cycle", "reset", "restart"}, func(w string) bool { return strings.Contains(strings.ToLower(verb), w) })
}

// bmcRequest is the address and the ResetType of a Redfish request.
func bmcRequest(c *shellcommand.Call) (address, what string) {
	for _, a := range c.Args {
		if _, rest, ok := strings.Cut(a, "://"); ok {
			address, _, _ = strings.Cut(rest, "/")
		}
	}
	_, rest, _ := strings.Cut(c.Text, "ResetType")
	return address, resetType.FindString(rest)
}

var resetType = regexp.MustCompile(`[A-Za-z]+`)

func quote(s string) string { return strings.NewReplacer(".", `\.`, "[", `\[`, "]", `\]`).Replace(s) }

// powerOff judges that hosts lose their power, or are reset. how is "" where it is done past the operator.
func (l *look) powerOff(ctx context.Context, list []*evidence.Object, how string) (*decision, error) {
	d := &decision{verdict: Unsafe, objects: refs(list), lost: "what pods on it have not written yet", undo: "switching it on again",
		verify: []string{"oc get bmh -n " + list[0].Namespace, "oc get nodes"}}
	for _, o := range list {
		d.evidence = append(d.evidence, o.Shows("spec.online", fmt.Sprintf("online %v", evidence.Field(o.Content, "spec", "online")), l.d.Now))
		if how == "" && evidence.Field(o.Content, "spec", "online") == true {
			how = "spec.online is true: the baremetal operator switches it on again within about a minute, after a hard stop without a drain"
		}
		node, err := l.one(ctx, evidence.Nodes, "", o.Name)
		if gone := (*notThere)(nil); asNotThere(err, &gone) {
			continue
		}
		if err != nil {
			return nil, err
		}
		d.instead = append(d.instead, "drain node "+node.Name+" first, then oc annotate bmh "+o.Name+" -n "+o.Namespace+" reboot.metal3.io/rollcall=")
		if control(node) {
			why, bad, proof, err := l.oneAway(ctx, o.Name)
			if err != nil {
				return nil, err
			}
			if d.evidence = append(d.evidence, proof...); bad {
				how = strings.TrimSuffix(why+"; "+how, "; ")
			}
		}
	}
	if len(list) > 1 {
		how += fmt.Sprintf(". %d BareMetalHosts have this BMC: %s", len(list), namesOf(list))
	}
	if d.why = how; how == "" {
		d.why = "a hard stop without a drain"
	}
	return d, nil
}

// decideVirsh finds the node that a virtual machine is.
func decideVirsh(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
	verb, name := c.Args[0], ""
	if len(c.Args) > 1 {
		name = c.Args[1]
	}
	if l.isBootstrap(ctx, name) && verb != "vol-delete" {
		return l.bootstrapGoes(ctx, name, verb)
	}
	if verb == "undefine" || verb == "vol-delete" {
		return &decision{verdict: Person, why: "it deletes the definition of " + name + ", and with --remove-all-storage its disks",
			lost: "the machine, with what is on its disks",
			undo: "none without virsh dumpxml and a copy of the disks", instead: []string{"virsh dumpxml " + name + " > " + name + ".xml first"}}, nil
	}
	node, err := l.one(ctx, evidence.Nodes, "", name)
	if err != nil {
		return nil, err
	}
	if verb == "start" {
		return &decision{verdict: Safe, why: "it starts the machine", undo: "virsh shutdown " + name}, nil
	}
	if verb == "reset" || verb == "reboot" {
		return l.away(ctx, node, "virsh "+verb, comesBack)
	}
	return l.away(ctx, node, "virsh "+verb, "virsh start "+name)
}
