package e2e

import "fmt"

// scaleRows are the large clusters: of n workers, the last ones are in trouble, of
// each kind one in a hundred (scale.TroubledOf); all others are well.
func scaleRows() []scenario {
	rows := []scenario{{name: "scale-500", also: seesEvents}, {name: "scale-2000", also: seesEvents, onlyIf: "ROLLCALL_LAB_SCALE2000"}}
	for i, n := range []int{500, 2000} {
		k := n / 100
		for at := n - 4*k; at < n; at++ {
			host := fmt.Sprintf("worker-%04d", at)
			root, stands := "node-lease-stale host/"+host, "ready:failed"
			switch {
			case at >= n-k:
				root, stands = "inspection-ramdisk-failed host/"+host, "inspected:failed"
			case at >= n-2*k:
				root, stands = "bmc-credentials-refused host/"+host, "imaged:failed"
			case at >= n-3*k:
				root, stands = "csr-machine-no-addresses csr/?", "client-cert:waiting"
			}
			rows[i].roots, rows[i].hosts = append(rows[i].roots, root), append(rows[i].hosts, host+":"+stands)
		}
	}
	return rows
}
