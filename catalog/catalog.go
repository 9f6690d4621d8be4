// Package catalog holds the knowledge of Rollcall: one YAML file per fault, in a
// directory per layer, and the remedies that it refuses. The files are data:
// internal/fault loads and checks them.
package catalog

import "embed"

// FS is the built-in catalogue.
//
//go:embed */*.yaml
var FS embed.FS
