// Package journal reads journals as journalctl prints them (-o short, and the other formats
// whose lines begin with a time, a host and an identifier) or exports them (-o export).
//
// A journal is foreign input and may be of any size: nothing here keeps more of it than a
// line or an entry, and both are bounded. The n-th line that comes out is the n-th line, or
// entry, that came in, so that a line number can be looked up again.
package journal
