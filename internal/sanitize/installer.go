package sanitize

import "strings"

// The password of kubeadmin is four times five signs, with hyphens between. The installer takes
// them from letters and digits but 0, 1, O and l (openshift/installer:pkg/asset/password/password.go
// generateRandomPasswordHash), so it needs no name in front.

const installerLength = 4*5 + 3

// installerPassword returns where the next such password is from a place on, or -1.
func installerPassword(v string, from int) int {
	for at := from + 5; ; at++ {
		n := strings.IndexByte(v[min(at, len(v)):], '-')
		if n < 0 {
			return -1
		}
		at += n
		i := at - 5
		if i+installerLength > len(v) {
			return -1
		}
		if v[at+6] == '-' && v[at+12] == '-' && isInstallerPassword(v[i:i+installerLength]) && (i == 0 || !joins(v[i-1])) &&
			(i+installerLength == len(v) || !joins(v[i+installerLength])) {
			return i
		}
	}
}

// joins reports whether a sign next to a password would make it a part of a longer name.
func joins(b byte) bool { return word(b) || b == '-' }

func isInstallerPassword(v string) bool {
	for i := range len(v) {
		if i%6 != 5 && (classOf(v[i]) == '-' || strings.IndexByte("01Ol", v[i]) >= 0) {
			return false
		}
	}
	n := classesOf(v)
	return n.upper > 1 && n.lower > 1
}

// installerPasswords returns where such passwords are.
func installerPasswords(v string) (found []span) {
	for i := installerPassword(v, 0); i >= 0; i = installerPassword(v, i+installerLength) {
		found = append(found, span{i, i + installerLength})
	}
	return found
}
