package logline

import "bytes"

// mirrors is how containers/image joins the errors of the mirrors of a registry, which it asks
// first, before that of the registry itself (docker/docker_image_src.go, newImageSource).
var mirrors = []byte("(mirrors also failed: [")

// FirstAsked is a line without what comes of the source behind the mirrors: where a mirror is
// configured, its failure is the cause, and the source is only the fallback. Another line
// stays as it is.
func FirstAsked(line []byte) []byte {
	i := bytes.IndexByte(line, '(')
	if i < 0 {
		return line
	}
	var buffer [len("(mirrors also failed: [")]byte
	for ; i >= 0 && i+len(mirrors) <= len(line); i = next(line, i) {
		if !bytes.Equal(lowered(buffer[:0], line[i:i+len(mirrors)]), mirrors) {
			continue
		}
		rest := line[i+len(mirrors):]
		end := bytes.LastIndex(rest, []byte("])"))
		if end < 0 {
			end = len(rest)
		}
		return rest[:end]
	}
	return line
}

// next is the next opening parenthesis behind i, or -1.
func next(line []byte, i int) int {
	j := bytes.IndexByte(line[i+1:], '(')
	if j < 0 {
		return -1
	}
	return i + 1 + j
}
