//go:build !linux

package netcheck

import "errors"

const canReadNeighbors = false

func readNeighbors() ([]neighbor, error) { return nil, errors.ErrUnsupported }
