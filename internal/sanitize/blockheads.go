package sanitize

import "strings"

// Here lines of YAML are read whose value is in the next ones, with all that may stand around the name.

// blockHead returns a line that is the name of a block scalar of YAML without what else may stand behind the name: an
// anchor, a tag, a comment.
func blockHead(line string) string {
	head := line
	if i := strings.LastIndex(line, " #"); i > 0 {
		head = strings.TrimRight(line[:i], " \t")
	}
	sign := len(strings.TrimRight(head, "0123456789+-")) - 1
	if sign < 1 || head[sign] != '|' && head[sign] != '>' || head[sign-1] != ' ' {
		return line
	}
	name := strings.TrimRight(head[:sign], " \t")
	for range maxProperties {
		i := strings.LastIndexByte(name, ' ') + 1
		if i == len(name) || name[i] != '!' && name[i] != '&' {
			break
		}
		name = strings.TrimRight(name[:i], " \t")
	}
	if !strings.HasSuffix(name, ":") {
		return line
	}
	return name + " " + head[sign:]
}

// taggedHead returns a line that is the name of a text without the tag of YAML behind it.
func taggedHead(line string) string {
	for _, tag := range []string{" !!str", " !!binary"} {
		if head, ok := strings.CutSuffix(line, tag); ok && strings.HasSuffix(head, ":") {
			return head
		}
	}
	return line
}

// maxProperties is how many anchors and tags a value of YAML may have.
const maxProperties = 2

// keyAlone is a key of YAML whose value is behind a colon in the next line.
var keyAlone = lazily(`^[ \t]*\?[ \t]+["']?([\w.-]+)["']?$`)

// openedByKey returns the block of a line that is a key of YAML on its own.
func openedByKey(end string) block {
	if !strings.Contains(end, "? ") {
		return block{}
	}
	body := end[prefixEnd(end):]
	m := keyAlone.get().FindStringSubmatch(body)
	if m == nil {
		return block{}
	}
	kind := kindOfKey(m[1])
	if kind < maybeKey && kind != weakKey {
		return block{}
	}
	return block{left: 1, colon: true, sure: kind >= secretKey, key: kind == weakKey, indent: indent(body)}
}

// openedByBackslash returns the block of a line that goes on in the next one, and whether nothing else can open one.
func openedByBackslash(tail string) (b block, ends bool) {
	if m := flagGoesOn.get().FindStringSubmatch(tail); m != nil {
		var c command
		use := c.use(m[1])
		return block{left: 1, goesOn: true, sure: use == wholeSecret, key: use == keyOnly}, use != noSecret
	}
	if m := nameGoesOn.get().FindStringSubmatch(tail); m != nil {
		switch kind := kindOfKey(m[1]); {
		case kind >= secretKey:
			return block{left: 1, goesOn: true, sure: m[2] != "" || kind == deepKey, bare: m[2] == ""}, true
		case kind == weakKey:
			return block{left: 1, goesOn: true, key: true, bare: m[2] == ""}, true
		}
	}
	if m := valueGoesOn.get().FindStringSubmatch(tail); m != nil && kindOfKey(m[1]) >= secretKey {
		return block{left: 1, goesOn: true, sure: true}, true
	}
	return block{}, true
}

// openedByLastWords returns the block of a line that ends in a backslash, and whether nothing else can open one.
func openedByLastWords(end string) (b block, ends bool) {
	b, ends = openedByBackslash(end[max(0, len(end)-96):])
	name := strings.TrimRight(end, ` \`)
	program := b.bare && programFlags[name[strings.LastIndexAny(name, " \t/")+1:]] != nil // and not the name of a secret, as sshpass
	if ends && b.left > 0 && !program {
		return b, true
	}
	if c := openedByCommand(end); c.left > 0 {
		return c, true
	}
	return b, ends
}

// openedByList returns the block of the users of cloud-init.
func openedByList(end string) block {
	if !strings.Contains(end, "chpasswd:") {
		return block{}
	}
	end = uncommented(end)
	body := end[prefixEnd(end):]
	if strings.Trim(body, " \t-") != "chpasswd:" {
		return block{}
	}
	return block{left: maxKeyLines, users: true, indent: indent(body)}
}

// openedByVariable returns the block of a variable of Terraform.
func openedByVariable(end string) block {
	if !strings.Contains(end, "variable") {
		return block{}
	}
	m := variableOpened.get().FindStringSubmatch(end)
	if m == nil || kindOfKey(m[1]) < secretKey {
		return block{}
	}
	return block{left: maxFields, named: m[1], indent: indent(end[prefixEnd(end):]) + 1}
}
