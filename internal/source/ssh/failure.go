package ssh

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/rollcall-project/rollcall/internal/sanitize"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

// noAnswer is the way out of a host that is silent.
func noAnswer(t Target) string {
	return fmt.Sprintf("Try `%s` by hand, or look at its console. A slow line: add --within 2m.", t.Login())
}

// failure is what the script on the host says, as the word for it and what a program printed.
func failure(o Options, said string) *Problem {
	word, text, _ := strings.Cut(said, " ")
	text = clean(text)
	switch word {
	case "sudo":
		return &Problem{What: because("its user may not become root without a password", text),
			Do: "On RHCOS the user core may: name it as core@HOST. Else log in as root@HOST, or run rollcall-host there by hand as root."}
	case "directory":
		return &Problem{What: because(fmt.Sprintf("no directory can be made in %s", o.Dir), text),
			Do: "Name another directory of the hosts that can be written and is not mounted noexec: --remote-dir /var/tmp."}
	case "copy":
		return &Problem{What: because("rollcall-host could not be copied whole", text),
			Do: fmt.Sprintf("It needs 21 MB in %s; another directory of the hosts: --remote-dir /var/tmp.", o.Dir)}
	case "noexec":
		return &Problem{What: because(fmt.Sprintf("rollcall-host may not run in %s", o.Dir), text),
			Do: "Name a directory of the hosts that is not mounted noexec: --remote-dir /var/tmp."}
	case "time":
		return &Problem{What: fmt.Sprintf("rollcall-host did not end in %ss", text),
			Do: "Add --journal-since 2h --no-network, or look at the host's console: a disk may hang."}
	case "run":
		return &Problem{What: because("rollcall-host gave no answer", strings.TrimPrefix(text, "rollcall-host: "))}
	}
	return &Problem{What: because("its shell gave an answer that is not expected", text)}
}

// refusals are what ssh prints where there is no connection, the first that is found counts
// (openssh/openssh-portable:sshconnect.c, sshconnect2.c, packet.c, misc.c).
var refusals = []struct {
	text string
	of   func(t Target) Problem
}{
	{"REMOTE HOST IDENTIFICATION HAS CHANGED", func(t Target) Problem {
		return Problem{What: "its host key is another one than known_hosts has: the host was installed again, or another machine answers at this address",
			Do: fmt.Sprintf("Compare the key on its console (`ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub`). If it is the host: `ssh-keygen -R %s`, "+
				"then `%s`.", shellcommand.Quote(t.known()), t.Login())}
	}},
	{"Host key verification failed", func(t Target) Problem {
		return Problem{What: "known_hosts has no key of it", Do: fmt.Sprintf("Compare its key on the console and connect once: `%s`. To take new keys "+
			"without a look: --accept-new-host-keys.", t.Login())}
	}},
	{"Too many authentication failures", func(t Target) Problem {
		return Problem{What: "it refused the login: the agent offers too many keys",
			Do: "Name the key for it in ~/.ssh/config with IdentityFile and IdentitiesOnly yes."}
	}},
	{"Permission denied", func(t Target) Problem {
		return Problem{What: fmt.Sprintf("permission denied: it takes none of your keys for the user %s", t.User),
			Do: fmt.Sprintf("Load the private key that belongs to sshKey of the install-config (`ssh-add FILE`), and try `%s`.", t.Login())}
	}},
	{"Could not resolve hostname", func(t Target) Problem {
		return Problem{What: fmt.Sprintf("no host of the name %s is found", t.Host), Do: "Give its IP address: NAME=IP."}
	}},
	{"Connection refused", func(t Target) Problem {
		return Problem{What: "connection refused: no sshd listens there", Do: "It may be booting, or another machine has the address: look at its console."}
	}},
	{"No route to host", func(t Target) Problem {
		return Problem{What: "no route to host",
			Do: "It may be off or without network: look at its BMC and its console. Behind a jump host: ProxyJump in ~/.ssh/config."}
	}},
	{"Network is unreachable", func(t Target) Problem {
		return Problem{What: "its network is not reachable from here", Do: "Behind a jump host: ProxyJump in ~/.ssh/config."}
	}},
	{"timed out", func(t Target) Problem { return Problem{What: "no answer: the connection timed out", Do: noAnswer(t)} }},
	{"Exec format error", func(Target) Problem { return Problem{What: "rollcall-host is for another processor"} }},
}

// refused says why ssh ended without an answer.
func refused(t Target, printed string, ended error) *Problem {
	for _, r := range refusals {
		if strings.Contains(printed, r.text) {
			p := r.of(t)
			return &p
		}
	}
	lines := strings.Split(strings.TrimSpace(printed), "\n")
	said := clean(lines[len(lines)-1])
	if exit := (*exec.ExitError)(nil); said == "" && errors.As(ended, &exit) {
		said = fmt.Sprintf("ssh ended with %d", exit.ExitCode())
	}
	return &Problem{What: because("the connection ended without an answer", said), Do: fmt.Sprintf("Try `%s` by hand.", t.Login())}
}

func because(what, why string) string {
	if why == "" {
		return what
	}
	return what + ": " + why
}

// clean is what may be shown of what a host or ssh printed: one line without secrets.
func clean(text string) string {
	text = strings.TrimSuffix(strings.Join(strings.Fields(text), " "), ".")
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "..."
	}
	s, err := sanitize.New()
	if err != nil {
		return "(not shown: " + err.Error() + ")"
	}
	return s.Message(text)
}
