package command

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
	"github.com/rollcall-project/rollcall/internal/workers/metalhost"
)

// nodeImageFrom is the first version that the command accepts (openshift/oc:pkg/cli/admin/nodeimage/
// basenodeimagecommand.go checkMinSupportedVersion).
const nodeImageFrom = 17

// guideWithout shows the product's own procedure where nothing can be declared.
func (a *app) guideWithout(seen metalhost.Seen, w metalhost.Want) error {
	out := a.IO.Out
	fmt.Fprintf(out, "This cluster (version %s, platform %s) cannot be given a host by a BareMetalHost: %s.\nNothing was changed, and "+
		"Rollcall does not do the steps "+
		"below for you.\n\n", a.CleanText(seen.Version), a.CleanText(orUnknown(seen.Platform)), a.CleanText(seen.NoMetal3))
	minor, known := minorOf(seen.Version)
	if known && minor >= nodeImageFrom {
		a.guideNodeImage(w)
	} else {
		if !known {
			fmt.Fprintf(out, "Its version is not known: from 4.%d on `oc adm node-image create` is the shorter way.\n\n", nodeImageFrom)
		}
		a.guidePointer(w)
	}
	ip := "IP"
	if len(w.IPs) > 0 {
		ip = w.IPs[0]
	}
	fmt.Fprintf(out, "\nBoth requests of the host wait for a person: no Machine is made, so the machine-approver approves none of them.\n"+
		"  %[1]s csr list\n  %[1]s csr approve CSR --expect %[2]s=%[3]s --booted-after 30m   (the first, then the second; it shows first "+
		"what it would approve)\n"+
		"Then: %[1]s watch node/%[2]s --until joined --smoke-pod\n", a.Name, shellcommand.Quote(w.Name), ip)
	return &cmdutil.ExitError{Code: cmdutil.ExitFault}
}

func orUnknown(text string) string {
	if text == "" {
		return "not known"
	}
	return text
}

// minorOf is the minor version of a 4.N.
func minorOf(version string) (int, bool) {
	parts := strings.Split(version, ".")
	if len(parts) < 2 || parts[0] != "4" {
		return 0, false
	}
	n, err := strconv.Atoi(parts[1])
	return n, err == nil
}

// guideNodeImage: flags by openshift/oc:pkg/cli/admin/nodeimage/create.go.
func (a *app) guideNodeImage(w metalhost.Want) {
	line := fmt.Sprintf("oc adm node-image create --mac-address=%s --hostname=%s --dir=%s", w.MAC, w.Name, w.Name)
	if device, is := w.Hints["deviceName"].(string); is {
		line += " --root-device-hint=" + shellcommand.Quote("deviceName:"+device)
	}
	ip := "IP"
	if len(w.IPs) > 0 {
		ip = w.IPs[0]
	}
	fmt.Fprintf(a.IO.Out, "The product's own way from 4.%d on:\n"+
		"  mkdir %s && %s\n      (a pull secret of the release: --registry-config FILE; a static address: --network-config-path FILE with nmstate)\n"+
		"  boot the host from %s/node.ARCH.iso; its disk is overwritten\n"+
		"  oc adm node-image monitor --ip-addresses %s   (shows how far it is, and the requests; it approves none)\n",
		nodeImageFrom, w.Name, line, w.Name, ip)
}

func (a *app) guidePointer(w metalhost.Want) {
	disk := "/dev/DISK"
	if device, is := w.Hints["deviceName"].(string); is {
		disk = device
	}
	fmt.Fprintf(a.IO.Out, "The product's own way up to 4.%d: the pointer Ignition of the cluster and an RHCOS image of its version.\n"+
		"  oc extract -n openshift-machine-api secret/worker-user-data-managed --keys=userData --to=- > worker.ign\n"+
		"      (without that Secret: worker.ign of the installation, whose CA must still be that of the machine config server: %s diagnose)\n"+
		"  boot %s (MAC %s) from the live image of RHCOS of the cluster's version or an earlier one, and there:\n"+
		"  sudo coreos-installer install %s --ignition-file worker.ign\n      (that disk is overwritten; a static address: "+
		"--copy-network)\n  sudo reboot\n", nodeImageFrom-1,
		a.Name, w.Name, w.MAC, shellcommand.Quote(disk))
}
