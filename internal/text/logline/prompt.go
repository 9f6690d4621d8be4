package logline

import "bytes"

// longestPrompt bounds what is before a command.
const longestPrompt = 80

// Command is the command of a line that begins with the prompt of a shell: "$ oc get nodes",
// "sh-5.1# chronyc sources", "[core@w1 ~]$ curl ...". False without a prompt.
func Command(line []byte) (command []byte, ok bool) {
	m := bytes.TrimSpace(bytes.Trim(bytes.TrimSpace(line), "`*"))
	for _, sign := range []string{"$ ", "# "} {
		i := bytes.Index(m[:min(len(m), longestPrompt)], []byte(sign))
		if i < 0 || i == 0 && sign == "# " || !prompt(m[:i]) {
			continue
		}
		command = bytes.TrimSpace(m[i+len(sign):])
		for _, before := range []string{"sudo -E ", "sudo "} {
			command = bytes.TrimPrefix(command, []byte(before))
		}
		return command, len(command) > 0
	}
	return nil, false
}

// prompt reports whether a text is what shells write before a command.
func prompt(m []byte) bool {
	if len(m) == 0 {
		return true
	}
	inside := bytes.TrimSuffix(bytes.TrimPrefix(m, []byte("[")), []byte("]"))
	if len(inside)+1 == len(m) || len(inside) == len(m) && bytes.ContainsAny(m, " ") {
		return false
	}
	for _, c := range inside {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', digit(c), bytes.IndexByte([]byte("-._@:~/ ()"), c) >= 0:
		default:
			return false
		}
	}
	return bytes.IndexByte(m, '@') > 0 || bytes.HasPrefix(m, []byte("sh-")) || bytes.HasPrefix(m, []byte("bash-"))
}
