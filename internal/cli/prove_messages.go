package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/text/message"
)

// maxSamples bounds a file of samples, in bytes.
const maxSamples = 4 << 20

// proveMessages tries the files of messages of some roots of a catalog on the samples
// of their testdata directory.
func proveMessages(c *fault.Catalog, roots []int) ([]provenMessages, error) {
	list := []provenMessages{}
	var x *message.Index
	for _, m := range c.Messages {
		file, root := c.File(m)
		if !slices.Contains(roots, root) {
			continue
		}
		if x == nil {
			var err error
			if x, err = message.New(c); err != nil {
				return nil, err
			}
		}
		p := provenMessages{Program: m.Program, File: file, Samples: path.Join(path.Dir(file), "testdata",
			strings.TrimSuffix(path.Base(file), path.Ext(file))+".txt")}
		text, err := samples(p.Samples)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			p.Why = []string{"there is no such file: write lines with OUTCOME, a tab, and a line as the program prints it"}
		case err != nil:
			return nil, fmt.Errorf("read samples: %w", err)
		default:
			p.Why = x.Prove(m, text)
		}
		p.Proven = len(p.Why) == 0
		list = append(list, p)
	}
	return list, nil
}

func samples(name string) (string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSamples {
		return "", fmt.Errorf("%s is not a text file of at most %d bytes", name, maxSamples)
	}
	raw, err := os.ReadFile(name)
	return string(raw), err
}

// failedMessages counts the files of messages that are not proven.
func (p proof) failedMessages() int {
	n := 0
	for _, m := range p.Messages {
		if !m.Proven {
			n++
		}
	}
	return n
}
