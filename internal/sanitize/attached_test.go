package sanitize

import (
	"strings"
	"testing"
)

// TestShortFlags: the short flags of all programs in flags.go are found in each form that the programs read.
func TestShortFlags(t *testing.T) {
	const secret = "Wq7zK9mdPx4Rt"
	value := map[flagUse]string{wholeSecret: secret, userColon: "admin:" + secret, userPercent: "admin%" + secret, keyOnly: ""}
	tested := 0
	for program, flags := range programFlags {
		name := program
		if strings.HasSuffix(program, "_") || strings.HasSuffix(program, "-") {
			name += "lan"
		}
		for flag, use := range flags {
			sub, short := "", flag
			if i := strings.LastIndexByte(flag, ' '); i >= 0 {
				sub, short = flag[:i]+" ", flag[i+1:]
			}
			short, only := strings.CutSuffix(short, "…")
			if len(short) != 2 || value[use] == "" {
				continue
			}
			if sub == "password " { // of iscsiadm
				sub = "-n node.session.auth.password "
			}
			line := name + " " + sub
			v := value[use]
			forms := []string{short + v, short + `"` + v + `"`, short + "'" + v + "'"}
			if use == wholeSecret {
				forms = append(forms, short+"!"+v, short+"$#"+v)
			}
			if !only {
				forms = append(forms, short+"="+v, short+" "+v, short+" '"+v+"'", short+`="`+v+`"`, `"`+short+`", "`+v+`"`)
			}
			for _, s := range switches[program] {
				forms = append(forms, "-"+string(s)+short[1:]+v)
				if !only && use != userColon {
					forms = append(forms, "-"+string(s)+short[1:]+" "+v)
				}
			}
			for _, form := range forms {
				for _, before := range []string{"", "--tls-verify=false ", "-u " + name + " "} {
					text := "+ " + line + before + form + " 192.0.2.7 end"
					if got := sanitizer(t, "a").Text(text); leaks(got, secret) != "" || !strings.HasSuffix(got, " 192.0.2.7 end") {
						t.Errorf("%q: %q", text, got)
					}
					tested++
				}
			}
		}
	}
	for _, program := range []string{"docker", "podman", "oc", "skopeo", "helm registry", "oras", "buildah"} {
		for _, form := range []string{"-p" + secret, "-p'" + secret + "'", "-p=" + secret, "-p!" + secret} {
			text := program + " login quay.example.com -u x " + form
			if got := sanitizer(t, "a").Text(text); leaks(got, secret) != "" {
				t.Errorf("%q: %q", text, got)
			}
		}
	}
	if tested < 1000 {
		t.Errorf("%d forms", tested)
	}
	for _, text := range []string{
		"docker ps -path /var/lib", "oc get pods -o wide", "podman run -p8443:443 quay.example.com/x", "docker run -p 8443:443 -it x",
		"podman login -u x -pull=always", "helm upgrade -path x", "ipmitool -Ilanplus mc info", "curl -skLv https://x.example.com",
		"zip -rq a.zip b", "mysql -uroot", "useradd -mr core", "ldapsearch -xLLL",
	} {
		if got := sanitizer(t, "a").Text(text); got != text && !strings.Contains(text, "-pull") {
			t.Errorf("%q is changed to %q", text, got)
		}
	}
}
