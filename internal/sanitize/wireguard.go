package sanitize

import "strings"

// wireguardForms are lines of "wg show dump" (wg(8)): the private key of an interface is in front of its public key and the
// port, the preshared key of a peer behind the public one and in front of the endpoint.
var wireguardForms = []*expression{
	lazily(`(?:^|[^A-Za-z0-9+/=])([A-Za-z0-9+/]{43}=)\t[A-Za-z0-9+/]{43}=\t\d{1,5}\t(?:off|0x[0-9a-f]{1,8})`),
	lazily(`(?:^|[^A-Za-z0-9+/=])[A-Za-z0-9+/]{43}=\t([A-Za-z0-9+/]{43}=)\t(?:\(none\)|[^\s]{3,300}:\d{1,5})\t`),
}

// dumpsWireguard is a quick look for such lines.
func dumpsWireguard(v string) bool { return strings.Contains(v, "=\t") || strings.Contains(v, `=\t`) }

// wireguardKeys returns where the keys are.
func wireguardKeys(v string) (found []span) {
	for _, form := range wireguardForms {
		for _, m := range form.get().FindAllStringSubmatchIndex(v, -1) {
			found = append(found, span{m[2], m[3]})
		}
	}
	return found
}
