package obfuscation

import "testing"

func TestObfuscated(t *testing.T) {
	for v, want := range map[string]bool{
		// must-gather-clean
		"x-ipv4-0000000001-x":                                    true,
		"https://x-ipv4-0000000012-x:6443":                       true,
		"x-ipv6-0000000003-x":                                    true,
		"x-mac-0000000001-x":                                     true,
		"x-mgc1-0123456789abcdef01234567-o1-x-ipv4-0000000001-x": true,
		"domain0000000001":                                       true,
		"api.ocp.domain0000000001":                               true,
		"worker-0.domain0000000002.example.com":                  true,
		"api-int.obfuscated.com":                                 true,
		"xxx.xxx.xxx.xxx":                                        true,
		"xx:xx:xx:xx:xx:xx":                                      true,
		"xxxx:xxxx:xxxx:xxxx:xxxx:xxxx:xxxx:xxxx":                true,
		// CI
		"xxx":                                true,
		"XXXXX":                              true,
		"api.xxxxxxxx.example.com":           true,
		"https://api-int.XXXXX:22623/config": true,
		"ci-op-xxxxxxxx-master-0":            true,
		"xxxxxxxxxxxxxxxx-xxxxx":             true, // Insights: infrastructureName
		// Insights
		"api.<CLUSTER_BASE_DOMAIN>":              true,
		"https://api.<CLUSTER_BASE_DOMAIN>:6443": true,
		"0.0.0.0":                                true,
		"https://0.0.0.0:6443":                   true,
		"0.0.0.0:22623":                          true,
		"::":                                     true,
		// sos
		"host0.obfuscateddomain0.com": true,
		"obfuscateddomain12.local":    true,
		"obfuscatedword1":             true,
		"obfuscateduser3":             true,
		"53:4f:53:79:ac:29":           true,
		"534f:a1b2::3c4d":             true,
		// struck out by hand
		"00:0C:29:xx:xx:xx": true,
		"10.0.xx.xx":        true,

		// real ones
		"":                               false,
		"x":                              false,
		"xx":                             false,
		"xxl-worker":                     false,
		"xxx-large":                      false,
		"worker-xx-1":                    false,
		"xx.example.com":                 false,
		"maxxx.example.com":              false,
		"exxxxxon":                       false,
		"host0":                          false,
		"host1.example.com":              false,
		"domain1.example.com":            false,
		"domain00000000012.example.com":  false, // 11 digits
		"subdomain0000000001x.com":       false,
		"myobfuscated.com":               false,
		"obfuscated.com.example.org":     false,
		"obfuscateddomain.example.com":   false,
		"10.0.0.0":                       false,
		"10.0.0.0/8":                     false,
		"0.0.0.0/0":                      false, // the default route
		"0.0.0.0/16":                     true,
		"100.0.0.1":                      false,
		"127.0.0.1":                      false,
		"::1":                            false,
		"fd00::5":                        false,
		"2001:db8::1":                    false,
		"52:54:00:aa:00:01":              false,
		"https://api.example.com:6443":   false,
		"redfish://10.0.0.1/redfish/v1/": false,
		"x-large-ipv4":                   false,
	} {
		if got := Found(v); got != want {
			t.Errorf("Found(%q) = %t, want %t", v, got, want)
		}
	}
}
