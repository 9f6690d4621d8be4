package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/rollcall-project/rollcall/internal/answer/docsite"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/facts/all"
	"github.com/rollcall-project/rollcall/internal/session"
)

func (a *app) docsCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "docs --out DIR",
		Short: "write all pages as one HTML file with search",
		Long: `Docs writes DIR/index.html: a page for every fault, remedy and piece of unsafe advice,
the indexes by symptom, message, command and layer, and the guides. It is one file
that a browser opens without a network, with a search over all of it: press / to
search, and the arrow keys to choose. DIR is made where it does not exist; a file
index.html that "docs" did not write is not replaced.

Faults of your own (--catalog) are in it, too.`,
		Example: cmdutil.Example(a.Name, "docs --out rollcall-docs", "then open rollcall-docs/index.html"),
		Args:    cmdutil.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if out == "" {
				return session.Usagef("name the directory that the pages are written to: `%s docs --out DIR`", a.Name)
			}
			return a.docs(out)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "write the pages to this `DIR`")
	a.AddCatalogFlag(cmd, &a.source)
	return cmd
}

func (a *app) docs(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the directory of the pages: %w", err)
	}
	name := filepath.Join(dir, "index.html")
	if err := mayReplace(name); err != nil {
		return err
	}
	c, err := a.session().WholeCatalog()
	if err != nil {
		return err
	}
	pages, err := docsite.Pages(c, all.All())
	if err != nil {
		return err
	}
	var site bytes.Buffer
	if err := docsite.Write(&site, pages); err != nil {
		return err
	}
	if err := replaceFile(name, site.Bytes()); err != nil {
		return fmt.Errorf("write the pages: %w", err)
	}
	fmt.Fprintf(a.IO.Out, "%s: %d pages, %d KB; open it in a browser\n", name, len(pages), site.Len()>>10)
	return nil
}

// replaceFile replaces a file with a whole one: a link of that name is replaced, too, and never written through.
func replaceFile(name string, content []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".rollcall-docs-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(content)
	if err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// mayReplace is an error where something is there that is no site.
func mayReplace(name string) error {
	if info, err := os.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s is not replaced: it is a link; remove it, or name another directory", name)
	}
	have, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("look at what is there: %w", err)
	case !bytes.Contains(have, []byte("<title>"+docsite.Title+"</title>")):
		return fmt.Errorf("%s is not replaced: `docs` did not write it; name another directory", name)
	}
	return nil
}
