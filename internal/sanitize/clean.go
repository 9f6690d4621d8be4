package sanitize

import (
	"hash/maphash"
	"sync"
)

// The bounds of what is remembered: the texts of a large cluster repeat each other within
// far fewer.
const (
	maxClean      = 1 << 16 // texts
	maxCleanBytes = 1 << 20 // of one text that is remembered: a bundle of certificates has 250 KB
)

// cleanTexts remembers texts that mention a key of secrets and hold none: the mounts, images
// and conditions of thousands of objects are the same. Only hashes of them are kept, of 128
// bits whose seeds are random, so that a text that passes for another cannot be made. It is
// safe for concurrent use.
type cleanTexts struct {
	seeds [2]maphash.Seed
	mu    sync.RWMutex
	known map[[2]uint64]struct{}
}

func newCleanTexts() *cleanTexts {
	return &cleanTexts{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, known: map[[2]uint64]struct{}{}}
}

func (c *cleanTexts) key(v string) [2]uint64 {
	return [2]uint64{maphash.String(c.seeds[0], v), maphash.String(c.seeds[1], v)}
}

// has reports whether a text was found clean.
func (c *cleanTexts) has(v string) bool {
	if len(v) > maxCleanBytes {
		return false
	}
	key := c.key(v)
	c.mu.RLock()
	defer c.mu.RUnlock()
	_, ok := c.known[key]
	return ok
}

// add remembers a text that was found clean.
func (c *cleanTexts) add(v string) {
	if len(v) > maxCleanBytes {
		return
	}
	key := c.key(v)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) < maxClean {
		c.known[key] = struct{}{}
	}
}
