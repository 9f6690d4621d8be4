// Command prose finds wording that a reader stumbles over, and names what to write
// instead. It is a tool for developers and no part of what is shipped; CI runs it as a
// test of this package.
//
//	go run ./internal/tools/prose [ROOT]
//
// The reader is an engineer at night whose first language may not be English, and who
// searches for the words of Kubernetes, OpenShift, Metal3 and etcd. rules.go is the whole
// list of what is checked; texts of the products are never changed for it.
//
// Invariants:
//   - Only prose is read: no code, no quoted log lines, no names in backticks, no
//     placeholders, no expressions of the catalog.
//   - Each rule carries a text where it must fire and one where it must not.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	found, err := run(root, os.Stdout)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "prose:", err)
		os.Exit(2)
	case found > 0:
		os.Exit(1)
	}
}

// run checks the repository at root and returns the number of findings.
func run(root string, out io.Writer) (int, error) {
	texts, err := collect(root)
	if err != nil {
		return 0, err
	}
	found := 0
	for _, t := range texts {
		for _, f := range check(t) {
			fmt.Fprintln(out, f)
			found++
		}
	}
	return found, nil
}
