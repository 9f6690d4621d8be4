package clitest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/itchyny/gojq"
)

// jqMain is the jq of the pages that are run: `jq [-rcs] [--arg NAME VALUE] FILTER [FILE]`, so that
// they need none on the machine.
func jqMain() {
	if err := jq(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "jq:", err)
		os.Exit(5)
	}
}

func jq(args []string, in io.Reader, out io.Writer) error {
	flags := ""
	var names []string
	var values []any
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if args[0] == "--arg" && len(args) > 2 {
			names, values, args = append(names, "$"+args[1]), append(values, args[2]), args[3:]
			continue
		}
		flags, args = flags+args[0][1:], args[1:]
	}
	if len(args) == 0 || len(args) > 2 || strings.Trim(flags, "rcs") != "" {
		return errors.New("usage: jq [-rcs] [--arg NAME VALUE] FILTER [FILE]")
	}
	query, err := gojq.Parse(args[0])
	if err != nil {
		return fmt.Errorf("parse %q: %w", args[0], err)
	}
	code, err := gojq.Compile(query, gojq.WithVariables(names))
	if err != nil {
		return fmt.Errorf("compile %q: %w", args[0], err)
	}
	if len(args) == 2 {
		f, err := os.Open(args[1])
		if err != nil {
			return fmt.Errorf("open the input: %w", err)
		}
		defer f.Close()
		in = f
	}
	var inputs []any
	for d := json.NewDecoder(in); ; {
		var v any
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("read the input: %w", err)
		}
		inputs = append(inputs, v)
	}
	if strings.Contains(flags, "s") {
		inputs = []any{slices.Clone(inputs)}
	}
	for _, input := range inputs {
		for results := code.Run(input, values...); ; {
			v, ok := results.Next()
			if !ok {
				break
			}
			if err, ok := v.(error); ok {
				return fmt.Errorf("run %q: %w", args[0], err)
			}
			if err := printJQ(out, v, flags); err != nil {
				return err
			}
		}
	}
	return nil
}

func printJQ(out io.Writer, v any, flags string) error {
	if s, ok := v.(string); ok && strings.Contains(flags, "r") {
		_, err := fmt.Fprintln(out, s)
		return err
	}
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	if !strings.Contains(flags, "c") {
		e.SetIndent("", "  ")
	}
	return e.Encode(v)
}
