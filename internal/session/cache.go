package session

import (
	"fmt"
	"strings"
	"sync"

	"github.com/rollcall-project/rollcall/internal/facts/all"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/scan"
	"github.com/rollcall-project/rollcall/internal/text/message"
)

// Cache is what the sessions of one process share: the catalog, and what is compiled of it. A process
// reads a directory of faults once. The zero value is ready to use, by several goroutines, too;
// nothing of what it returns is written to later.
type Cache struct {
	mu sync.Mutex
	of map[string]*compiled // by the directories of faults
}

// compiled is one catalog. Each field is filled when it is first asked for.
type compiled struct {
	mu       sync.Mutex
	catalog  *fault.Catalog // without the messages
	set      *scan.Set
	compiler *fault.Compiler // nil: each run makes its own
	whole    *fault.Catalog
	index    *message.Index
}

// compiled is the part of the cache that belongs to the session's directories of faults.
func (ses *Session) compiled() (*compiled, error) {
	dirs, err := ses.CatalogDirs(nil)
	if err != nil {
		return nil, err
	}
	key := strings.Join(dirs, "\x00")
	ses.cache.mu.Lock()
	defer ses.cache.mu.Unlock()
	if ses.cache.of[key] == nil {
		if ses.cache.of == nil {
			ses.cache.of = map[string]*compiled{}
		}
		ses.cache.of[key] = &compiled{}
	}
	return ses.cache.of[key], nil
}

// loadOnce is the catalog without its messages, and its signatures.
func (ses *Session) loadOnce() (*fault.Catalog, *scan.Set, error) {
	c, err := ses.compiled()
	if err != nil {
		return nil, nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.catalog != nil {
		return c.catalog, c.set, nil
	}
	known, err := ses.load(fault.LoadChecks)
	if err != nil {
		return nil, nil, err
	}
	if c.set, err = known.Signatures(); err != nil {
		return nil, nil, fmt.Errorf("compile signatures: %w", err)
	}
	c.catalog = known
	return c.catalog, c.set, nil
}

// loadWhole is the catalog with its messages, and their index.
func (ses *Session) loadWhole() (*fault.Catalog, *message.Index, error) {
	c, err := ses.compiled()
	if err != nil {
		return nil, nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.whole != nil {
		return c.whole, c.index, nil
	}
	known, err := ses.load(fault.Load)
	if err != nil {
		return nil, nil, err
	}
	if c.index, err = message.New(known); err != nil {
		return nil, nil, err
	}
	c.whole = known
	return c.whole, c.index, nil
}

// KeepCompiled makes the runs to come share one compiler of expressions: for who diagnoses
// again and again.
func (ses *Session) KeepCompiled() error {
	c, err := ses.compiled()
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.compiler != nil {
		return nil
	}
	if c.compiler, err = fault.NewCompiler(facts.Types(all.All())); err != nil {
		return fmt.Errorf("make the compiler of expressions: %w", err)
	}
	return nil
}

// compiler is the compiler of expressions that runs share; nil where each makes its own.
func (ses *Session) compiler() (*fault.Compiler, error) {
	c, err := ses.compiled()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.compiler, nil
}
