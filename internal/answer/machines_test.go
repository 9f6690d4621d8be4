package answer

import (
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/page"
)

// TestMachinesTable: what differs is there in words, the rest with -o wide; what is not known is a
// question mark, and a machine that was not read has its reason.
func TestMachinesTable(t *testing.T) {
	m := &diagnosis.Machines{
		Asked: 4, Hosts: []string{"m0", "m1"}, Unread: []diagnosis.UnreadMachine{{Host: "m2", Reason: "its BMC refused the credential"}},
		Rows: []diagnosis.MachineRow{
			{Property: "memory", Values: []string{"64 GiB", "32 GiB"}, Differs: true, Matters: "the smallest one runs out first"},
			{Property: "threads", Values: []string{"32", ""}},
			{Property: "boot order", Values: []string{strings.Repeat("Boot0001, ", 12) + "Boot0002", "Boot0003"}, Own: true},
		},
	}
	for _, c := range []struct {
		width    int
		wide     bool
		has, not []string
	}{
		{80, false, []string{"side by side, as their BMCs show them: 1 of 2 properties differ", "m0        m1", "memory  64 GiB    32 GiB", "the smallest one runs out first", "all properties: -o wide", "m2: its BMC refused the credential"}, []string{"threads", "boot order"}},
		{160, true, []string{"threads     32", "?", "boot order", "Boot0002 (m0); Boot0003", "m2: its BMC refused the credential"}, []string{"-o wide"}},
	} {
		d := &diagnosis.Diagnosis{Machines: m}
		tx := newText(d, Options{Style: page.Style{Width: c.width}, Wide: c.wide})
		tx.machines()
		out := tx.String()
		for _, want := range c.has {
			if !strings.Contains(out, want) {
				t.Errorf("%d columns: no %q in\n%s", c.width, want, out)
			}
		}
		for _, not := range c.not {
			if strings.Contains(out, not) {
				t.Errorf("%d columns: %q is in\n%s", c.width, not, out)
			}
		}
	}
}
