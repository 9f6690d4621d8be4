package message

import "github.com/rollcall-project/rollcall/internal/text/logline"

// programs follows what programs print that ended by themselves, in several lines: their last words
// are the error.
type programs struct {
	trace    traceback
	playbook ansible
	list     multierror
}

// see reads one line. Taken: it belongs to such an output. An exception is also the error to which
// the next lines may belong.
func (p *programs) see(f *found, number int, line []byte, l logline.Line, command []byte, isKnown bool) (last *errorForm, taken bool) {
	part, kind := p.trace.see(line, &l)
	switch {
	case part:
		f.dropHits(number)
		return nil, true
	case kind != "":
		last = f.addException(&p.trace, number, line, l, command, kind)
		if last.own {
			f.dropHits(number)
		} else if isKnown {
			delete(f.errors, p.trace.last)
		}
		return last, true
	case isKnown || !p.playbook.see(f, number, line, l, command):
		return nil, false
	}
	if p.playbook.key != "" && number == p.trace.ended+1 { // it is the result of the same exception
		delete(f.errors, p.trace.last)
	}
	return nil, true
}
