package session

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kernel/suggest"
	"github.com/rollcall-project/rollcall/internal/session/accept"
	"github.com/rollcall-project/rollcall/internal/source/infile"
)

// AcceptVariable names the file of --accept for every run.
const AcceptVariable = "ROLLCALL_ACCEPT"

// loadAccept reads the file of --accept, nil where none is named.
func (ses *Session) loadAccept(c *fault.Catalog) (*accept.List, error) {
	path := ses.Accept
	if path == "" {
		return nil, nil
	}
	raw, err := readAccept(path)
	if err != nil {
		from := "--accept"
		if !ses.AcceptNamed {
			from = "$" + AcceptVariable
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s %s: there is no such file", from, path)
		}
		return nil, fmt.Errorf("%s %s: %w", from, path, err)
	}
	return accept.Parse(path, raw, c, func(word string) string {
		return suggest.DidYouMean(word, FaultIDs(c)) + fmt.Sprintf("; `%s list faults` names them", ses.Name)
	})
}

// readAccept reads one byte more than a file may have at most: the parser refuses it then.
func readAccept(path string) (raw []byte, err error) {
	f, err := infile.Piped(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return io.ReadAll(io.LimitReader(f, accept.MaxSize+1))
}
