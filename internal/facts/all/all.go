// Package all is the one visible list of the facts that the catalog can use. A new area
// adds its own list here and nowhere else.
package all

import (
	"slices"

	"github.com/rollcall-project/rollcall/internal/facts/agents"
	"github.com/rollcall-project/rollcall/internal/facts/apiaccess"
	"github.com/rollcall-project/rollcall/internal/facts/badconditions"
	"github.com/rollcall-project/rollcall/internal/facts/baremetal"
	"github.com/rollcall-project/rollcall/internal/facts/certs"
	"github.com/rollcall-project/rollcall/internal/facts/controlplane"
	"github.com/rollcall-project/rollcall/internal/facts/crashloop"
	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/facts/etcd"
	"github.com/rollcall-project/rollcall/internal/facts/firstboot"
	"github.com/rollcall-project/rollcall/internal/facts/hosted"
	"github.com/rollcall-project/rollcall/internal/facts/imagepull"
	"github.com/rollcall-project/rollcall/internal/facts/installer"
	"github.com/rollcall-project/rollcall/internal/facts/kubelet"
	"github.com/rollcall-project/rollcall/internal/facts/mcs"
	"github.com/rollcall-project/rollcall/internal/facts/network"
	"github.com/rollcall-project/rollcall/internal/facts/onhost"
	"github.com/rollcall-project/rollcall/internal/facts/pointers"
	"github.com/rollcall-project/rollcall/internal/facts/pools"
	"github.com/rollcall-project/rollcall/internal/facts/ramdisk"
	"github.com/rollcall-project/rollcall/internal/facts/staticpods"
	"github.com/rollcall-project/rollcall/internal/facts/workloads"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
)

// All returns every fact.
func All() []facts.Fact {
	return slices.Concat(
		agents.Facts(),
		apiaccess.Facts(),
		pools.Facts(),
		mcs.Facts(),
		firstboot.Facts(),
		imagepull.Facts(),
		csrs.Facts(),
		kubelet.Facts(),
		certs.Facts(),
		pointers.Facts(),
		etcd.Facts(),
		controlplane.Facts(),
		crashloop.Facts(),
		baremetal.Facts(),
		ramdisk.Facts(),
		workloads.Facts(),
		network.Facts(),
		staticpods.Facts(),
		installer.Facts(),
		hosted.Facts(),
		onhost.Facts(),
		badconditions.Facts(),
	)
}
