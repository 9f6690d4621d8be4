package journal

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"regexp"
)

const exportStart = "__CURSOR="

// installerLine begins the log of openshift-install (logrus).
var installerLine = regexp.MustCompile(`^time="[^"\n]*" level=[a-z]+ msg=`)

// IsExport reports whether a text with these first bytes is a journal in export format.
func IsExport(head []byte) bool { return bytes.HasPrefix(head, []byte(exportStart)) }

// IsInstallerLog reports whether a text with these first bytes is the log of
// openshift-install.
func IsInstallerLog(head []byte) bool { return installerLine.Match(head) }

// IsPrinted reports whether a text with these first bytes is a journal that journalctl
// printed.
func IsPrinted(head []byte) bool {
	if IsExport(head) || IsInstallerLog(head) {
		return false
	}
	for _, start := range []string{"-- Logs begin", "-- Journal begins", "-- Boot "} {
		if bytes.HasPrefix(head, []byte(start)) {
			return true
		}
	}
	_, _, ok := Head(head)
	return ok
}

// maxHead is how much is read of a line.
const maxHead = 64 << 10

// EachLine calls f with the beginning of each line, without its end, until f returns false.
// The bytes are valid until f returns. The error is that of reading.
func EachLine(r io.Reader, f func(line []byte) bool) error {
	in := bufio.NewReaderSize(r, maxHead)
	for {
		line, more, err := in.ReadLine()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !f(line) {
			return nil
		}
		for more && err == nil {
			_, more, err = in.ReadLine()
		}
	}
}
