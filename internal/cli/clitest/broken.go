package clitest

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"time"
)

// Planted is a secret that broken servers write wherever they can, and PlantedWord a part of it that no
// output may hold.
const (
	Planted     = "the bearer token sha256~" + PlantedWord + "plantedPLANTEDplanted012345 (password: " + PlantedWord + "-9f3a) is not valid"
	PlantedWord = "PLANTEDhunter2"
)

// Broken is a kind of API server that something is wrong with.
type Broken struct {
	Name  string
	Blind bool // nothing of the cluster can be read from it
	TLS   bool // with a certificate of an unknown CA
	// Plugin is the credential plugin of the kubeconfig, which then knows the CA: a script of sh; "" is none.
	Plugin string
	// Over returns what the server does in front of a whole API.
	Over func(whole http.Handler, stop <-chan struct{}) http.Handler
}

// BrokenServers are the kinds.
func BrokenServers() []Broken {
	return []Broken{
		{Name: "whole", Over: func(whole http.Handler, _ <-chan struct{}) http.Handler { return whole }},
		{Name: "empty cluster", Over: rewritten(func(o Object) { o["items"] = []any{} })},
		{Name: "list without items", Over: rewritten(func(o Object) { delete(o, "items") })},
		{Name: "items null", Over: rewritten(func(o Object) { o["items"] = nil })},
		{Name: "items of null", Over: rewritten(func(o Object) { o["items"] = []any{nil, nil} })},
		{Name: "items of wrong types", Over: rewritten(func(o Object) { o["items"] = []any{"x", 7, []any{}, Object{"metadata": Planted}} })},
		{Name: "items no list", Over: rewritten(func(o Object) { o["items"] = Object{"a": Planted} })},
		{Name: "fields of wrong types", Over: rewritten(wrongFields)},
		{Name: "objects without name", Over: rewritten(func(o Object) { o["items"] = []any{Object{"metadata": Object{}}, Object{}} })},
		{Name: "continue without end", Over: continued()},
		{Name: "the same continue", Over: rewritten(func(o Object) { o["metadata"] = Object{"continue": "x"} })},
		{Name: "hangs before headers", Blind: true, Over: func(_ http.Handler, stop <-chan struct{}) http.Handler { return hanging(stop) }},
		{Name: "hangs in the body", Blind: true, Over: hangsInBody},
		{Name: "lists hang", Over: listsHang},
		{Name: "HTML", Blind: true, Over: always(http.StatusOK, "text/html", "<html><body>Sign in, "+Planted+"</body></html>")},
		{Name: "HTML and 503", Blind: true, Over: always(http.StatusServiceUnavailable, "text/html", "<html>"+Planted+"</html>")},
		{Name: "401", Blind: true, Over: status(http.StatusUnauthorized, "Unauthorized", nil)},
		{Name: "403", Blind: true, Over: status(http.StatusForbidden, "Forbidden", nil)},
		{Name: "500", Blind: true, Over: status(http.StatusInternalServerError, "InternalError", nil)},
		{Name: "429 for an hour", Blind: true, Over: status(http.StatusTooManyRequests, "TooManyRequests", map[string]string{"Retry-After": "3600"})},
		{Name: "429 for 32 years", Blind: true, Over: status(http.StatusTooManyRequests, "TooManyRequests", map[string]string{"Retry-After": "1000000000"})},
		{Name: "429 again and again", Blind: true, Over: status(http.StatusTooManyRequests, "TooManyRequests", map[string]string{"Retry-After": "1"})},
		{Name: "503 until a date", Blind: true, Over: status(http.StatusServiceUnavailable, "ServiceUnavailable",
			map[string]string{"Retry-After": "Fri, 31 Dec 2100 23:59:59 GMT"})},
		{Name: "409 on writes", Over: onWrites(status(http.StatusConflict, "Conflict", nil))},
		{Name: "500 on writes", Over: onWrites(status(http.StatusInternalServerError, "InternalError", nil))},
		{Name: "writes hang", Over: onWrites(func(_ http.Handler, stop <-chan struct{}) http.Handler { return hanging(stop) })},
		{Name: "429 on writes", Over: onWrites(status(http.StatusTooManyRequests, "TooManyRequests", map[string]string{"Retry-After": "3600"}))},
		{Name: "HTML on writes", Over: onWrites(always(http.StatusOK, "text/html", "<html>"+Planted+"</html>"))},
		{Name: "403 on lists", Over: onLists(status(http.StatusForbidden, "Forbidden", nil))},
		{Name: "500 on lists", Over: onLists(status(http.StatusInternalServerError, "InternalError", nil))},
		{Name: "a body without end", Blind: true, Over: endless(0)},
		{Name: "a byte now and then", Blind: true, Over: endless(50 * time.Millisecond)},
		{Name: "redirects without end", Blind: true, Over: redirects},
		{Name: "protobuf garbage", Blind: true, Over: always(http.StatusOK, "application/vnd.kubernetes.protobuf", "k8s\x00\x0a\xff\xff\xff\x7f"+Planted)},
		{Name: "half an answer", Blind: true, Over: half},
		{Name: "empty body", Blind: true, Over: always(http.StatusOK, "application/json", "")},
		{Name: "JSON null", Blind: true, Over: always(http.StatusOK, "application/json", "null")},
		{Name: "JSON array", Blind: true, Over: always(http.StatusOK, "application/json", `["`+Planted+`"]`)},
		{Name: "deep JSON", Blind: true, Over: always(http.StatusOK, "application/json", strings.Repeat(`{"a":`, 100_000))},
		{Name: "Status with 200", Blind: true, Over: always(http.StatusOK, "application/json",
			`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"`+Planted+`","code":500}`)},
		{Name: "wrong content type", Over: typed("text/plain")},
		{Name: "no content type", Over: typed("")},
		{Name: "reset", Blind: true, Over: always(0, "", "")},
		{Name: "unknown CA", Blind: true, TLS: true, Over: func(whole http.Handler, _ <-chan struct{}) http.Handler { return whole }},
		{Name: "credential plugin waits", Blind: true, TLS: true, Plugin: "sleep 1000",
			Over: func(whole http.Handler, _ <-chan struct{}) http.Handler { return whole }},
		{Name: "a watch that never starts", Over: onWatches(func(_ http.Handler, stop <-chan struct{}) http.Handler { return hanging(stop) })},
		{Name: "a watch that ends at once", Over: onWatches(always(http.StatusOK, "application/json", ""))},
		{Name: "a watch of garbage", Over: onWatches(always(http.StatusOK, "application/json", `{"type":"ADDED","object":7}`+"\n"+Planted))},
		{Name: "a watch that is gone", Over: onWatches(always(http.StatusOK, "application/json",
			`{"type":"ERROR","object":{"kind":"Status","status":"Failure","message":"`+Planted+`","reason":"Gone","code":410}}`+"\n"))},
	}
}

// Serve starts a server of a kind in front of a whole API.
func (b Broken) Serve(whole http.Handler) (server *httptest.Server, end func()) {
	stop := make(chan struct{})
	server = httptest.NewUnstartedServer(b.Over(whole, stop))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	if b.TLS {
		server.StartTLS()
	} else {
		server.Start()
	}
	return server, func() {
		close(stop)
		server.CloseClientConnections()
		server.Close()
	}
}

type over = func(http.Handler, <-chan struct{}) http.Handler

// always answers the same; code 0 closes the connection.
func always(code int, media, body string) over {
	return func(http.Handler, <-chan struct{}) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if code == 0 {
				panic(http.ErrAbortHandler)
			}
			w.Header().Set("Content-Type", media)
			w.WriteHeader(code)
			fmt.Fprint(w, body)
		})
	}
}

// status answers with a Status whose every text has the secret.
func status(code int, reason string, headers map[string]string) over {
	return func(http.Handler, <-chan struct{}) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Www-Authenticate", Planted)
			for k, v := range headers {
				w.Header().Set(k, v)
			}
			w.WriteHeader(code)
			_ = json.NewEncoder(w).Encode(Object{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code, "message": Planted,
				"details": Object{"name": Planted, "causes": []any{Object{"message": Planted}}}})
		})
	}
}

// when applies one kind to some requests, and leaves the others to the whole API.
func when(which func(*http.Request) bool, o over) over {
	return func(whole http.Handler, stop <-chan struct{}) http.Handler {
		broken := o(whole, stop)
		return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if which(q) {
				broken.ServeHTTP(w, q)
				return
			}
			whole.ServeHTTP(w, q)
		})
	}
}

func onWrites(o over) over {
	return when(func(q *http.Request) bool {
		return q.Method != http.MethodGet && !strings.HasSuffix(q.URL.Path, "reviews")
	}, o)
}

func onLists(o over) over { return when(isList, o) }

func onWatches(o over) over {
	return when(func(q *http.Request) bool { return q.URL.Query().Has("watch") }, o)
}

func isList(q *http.Request) bool {
	a := ParseAPIPath(q.URL.Path)
	return q.Method == http.MethodGet && a.Resource != "" && a.name == ""
}

func hanging(stop <-chan struct{}) http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		select {
		case <-stop:
		case <-q.Context().Done():
		}
	})
}

func listsHang(whole http.Handler, stop <-chan struct{}) http.Handler {
	return onLists(func(http.Handler, <-chan struct{}) http.Handler { return hanging(stop) })(whole, stop)
}

// recorded is the whole API's answer to a request.
func recorded(whole http.Handler, q *http.Request) *httptest.ResponseRecorder {
	r := httptest.NewRecorder()
	whole.ServeHTTP(r, q)
	return r
}

func hangsInBody(whole http.Handler, stop <-chan struct{}) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body := recorded(whole, q).Body.Bytes()
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body[:len(body)/2])
		w.(http.Flusher).Flush()
		hanging(stop).ServeHTTP(w, q)
	})
}

// half sends the first half of each answer and closes the connection.
func half(whole http.Handler, _ <-chan struct{}) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body := recorded(whole, q).Body.Bytes()
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body[:len(body)/2])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
}

// rewritten changes each list.
func rewritten(change func(Object)) over {
	return func(whole http.Handler, _ <-chan struct{}) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if !isList(q) {
				whole.ServeHTTP(w, q)
				return
			}
			r := recorded(whole, q)
			var o Object
			if json.Unmarshal(r.Body.Bytes(), &o) == nil && o != nil && r.Code == http.StatusOK {
				change(o)
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(r.Code)
			_ = json.NewEncoder(w).Encode(o)
		})
	}
}

// continued has another token in each page of a list.
func continued() over {
	var page atomic.Int64
	return rewritten(func(o Object) { o["metadata"] = Object{"continue": fmt.Sprint(page.Add(1))} })
}

// wrongFields makes text of every object and a list of every text in a list, but of the names.
func wrongFields(o Object) {
	items, _ := o["items"].([]any)
	for _, item := range items {
		object, _ := item.(Object)
		for key, v := range object {
			if key == "metadata" || key == "kind" || key == "apiVersion" {
				continue
			}
			fields, _ := v.(Object)
			for name, field := range fields {
				switch field.(type) {
				case string:
					fields[name] = []any{Planted}
				case []any:
					fields[name] = Object{"a": Planted}
				case Object:
					fields[name] = Planted
				default:
					fields[name] = "x"
				}
			}
			if fields == nil {
				object[key] = 7
			}
		}
	}
}

// endless sends a body without end, and between its parts waits so long.
func endless(pause time.Duration) over {
	return func(_ http.Handler, stop <-chan struct{}) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			part := []byte(strings.Repeat(" ", 64<<10))
			if pause > 0 {
				part = part[:1]
			}
			for {
				if _, err := w.Write(part); err != nil {
					return
				}
				w.(http.Flusher).Flush()
				select {
				case <-stop:
					return
				case <-q.Context().Done():
					return
				case <-time.After(pause):
				}
			}
		})
	}
}

func redirects(http.Handler, <-chan struct{}) http.Handler {
	var n atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		http.Redirect(w, q, fmt.Sprintf("/r/%d?token=%s", n.Add(1), PlantedWord), http.StatusFound)
	})
}

// typed answers with another content type.
func typed(media string) over {
	return func(whole http.Handler, _ <-chan struct{}) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			r := recorded(whole, q)
			w.Header()["Content-Type"] = []string{media}
			w.WriteHeader(r.Code)
			_, _ = w.Write(r.Body.Bytes())
		})
	}
}
