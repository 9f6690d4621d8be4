// Package docs has the hand-written pages of this directory, for `rollcall docs`. Those of
// docs/catalog are made of the catalog.
package docs

import "embed"

// Pages are the pages, by their paths in this directory.
//
//go:embed *.md incidents/*.md
var Pages embed.FS
