package bmc

import (
	"bytes"
	"io/fs"
	"net/http"
	"slices"
	"strings"
)

// captured serves a resource of the captured tree, or the first half of it.
func (b *BMC) captured(w http.ResponseWriter, path string) {
	name := strings.Trim(path, "/") + "/index.json"
	raw, err := fs.ReadFile(b.cfg.Tree, name)
	if !fs.ValidPath(name) || err != nil {
		notFound(w, path)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	b.mu.Lock()
	half := b.trouble.Half
	b.mu.Unlock()
	if half {
		raw = raw[:len(raw)/2]
	}
	w.Write(raw) //nolint:errcheck // who asked has gone
}

// forbids reports whether reads of a path are refused.
func (t Trouble) forbids(path string) bool {
	return slices.ContainsFunc(t.ForbidBelow, func(part string) bool { return strings.Contains(path, part) })
}

// spoil answers in a way that no service should, and reports whether it did.
func (t Trouble) spoil(w http.ResponseWriter, r *http.Request) bool {
	switch {
	case t.Hang:
		<-r.Context().Done()
	case t.HTML:
		w.Header().Set("Content-Type", "text/html")
		w.Write([]byte("<!DOCTYPE html><html><title>Sign in</title></html>")) //nolint:errcheck // who asked has gone
	case t.Deep:
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(`{"a":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "}")) //nolint:errcheck // who asked has gone
	case t.Same:
		answer(w, http.StatusOK, fields{"status": "ok"})
	case t.Echo && r.Header.Get("Authorization") != "":
		sent := r.Header.Get("Authorization")
		w.Header().Set("WWW-Authenticate", `Basic realm="`+sent+`"`)
		fail(w, http.StatusUnauthorized, "NoValidSession", "There is no valid session for "+sent)
	case t.Redirect != "":
		http.Redirect(w, r, t.Redirect+r.URL.Path, http.StatusTemporaryRedirect)
	case t.Endless:
		w.Header().Set("Content-Type", "application/json")
		chunk := append([]byte(`{"Name": "`), bytes.Repeat([]byte("a"), 64<<10)...)
		for {
			if _, err := w.Write(chunk); err != nil {
				return true
			}
		}
	default:
		return false
	}
	return true
}
