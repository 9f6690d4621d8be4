package docsite

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// browser is a page of a headless Chromium, driven by its DevTools protocol.
type browser struct {
	t    *testing.T
	conn *websocket.Conn
	last int
}

var listening = regexp.MustCompile(`ws://([^/]+)/`)

// openBrowser opens a file in Chromium, which ends with the test.
func openBrowser(t *testing.T, file string) *browser {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed: the search of the site is not tried (Debian: apt-get install chromium)")
	}
	cmd := exec.CommandContext(t.Context(), program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
		"--user-data-dir="+t.TempDir(), "--remote-debugging-port=0", "--remote-allow-origins=*", "--window-size=1200,900", "file://"+file)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // its children end with it
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			go func() {
				for lines.Scan() { // it blocks when its output is not read
				}
			}()
			return connect(t, m[1], file)
		}
	}
	t.Fatalf("chromium did not start: %v", lines.Err())
	return nil
}

// connect finds the page of a file in a browser.
func connect(t *testing.T, address, file string) *browser {
	t.Helper()
	for range 100 {
		var pages []struct {
			Type   string `json:"type"`
			URL    string `json:"url"`
			Socket string `json:"webSocketDebuggerUrl"`
		}
		if answer, err := http.Get("http://" + address + "/json"); err == nil {
			err = json.NewDecoder(answer.Body).Decode(&pages)
			_ = answer.Body.Close()
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range pages {
			if p.Type == "page" && strings.HasSuffix(p.URL, filepath.Base(file)) {
				conn, _, err := websocket.DefaultDialer.DialContext(t.Context(), p.Socket, nil)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = conn.Close() })
				b := &browser{t: t, conn: conn}
				b.call("Emulation.setFocusEmulationEnabled", map[string]any{"enabled": true})
				b.until(`document.readyState`, "complete")
				b.call("Page.bringToFront", nil)
				// Keys that come before the first frames get lost.
				b.call("Runtime.evaluate", map[string]any{"awaitPromise": true, "expression": `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`})
				return b
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("chromium has no page of the site")
	return nil
}

// call calls a method of the protocol and returns its result.
func (b *browser) call(method string, params map[string]any) json.RawMessage {
	b.t.Helper()
	b.last++
	if err := b.conn.WriteJSON(map[string]any{"id": b.last, "method": method, "params": params}); err != nil {
		b.t.Fatal(err)
	}
	for {
		var answer struct {
			ID     int             `json:"id"`
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
		}
		if err := b.conn.ReadJSON(&answer); err != nil {
			b.t.Fatal(err)
		}
		if answer.ID != b.last { // an event
			continue
		}
		if bytes.Contains(answer.Error, []byte("context was destroyed")) {
			return json.RawMessage(`{}`) // the browser goes to the page just now
		}
		if answer.Error != nil {
			b.t.Fatalf("%s: %s", method, answer.Error)
		}
		return answer.Result
	}
}

// value is an expression of the page as text.
func (b *browser) value(expression string) string {
	b.t.Helper()
	var answer struct {
		Result struct {
			Value any `json:"value"`
		} `json:"result"`
		Exception json.RawMessage `json:"exceptionDetails"`
	}
	if err := json.Unmarshal(b.call("Runtime.evaluate", map[string]any{"expression": expression}), &answer); err != nil {
		b.t.Fatal(err)
	}
	if answer.Exception != nil {
		b.t.Fatalf("%s: %s", expression, answer.Exception)
	}
	return fmt.Sprint(answer.Result.Value)
}

// until waits until an expression has a value.
func (b *browser) until(expression, want string) {
	b.t.Helper()
	got := ""
	for range 1200 { // a minute: a machine that tests everything at once is slow
		if got = b.value(expression); got == want {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	b.t.Fatalf("%s is %q, want %q", expression, got, want)
}

func (b *browser) insert(text string) { b.call("Input.insertText", map[string]any{"text": text}) }

// press presses a key: "ArrowDown", "Enter", "/".
func (b *browser) press(key string, code int) {
	params := map[string]any{"type": "keyDown", "key": key, "windowsVirtualKeyCode": code}
	switch key {
	case "Enter":
		params["text"] = "\r"
	case "/":
		params["text"] = "/"
	}
	b.call("Input.dispatchKeyEvent", params)
	b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key, "windowsVirtualKeyCode": code})
}

// shown are the ids of the pages that can be seen.
const shown = `[...document.querySelectorAll("article")].filter((a) => a.offsetParent !== null).map((a) => a.id).join(" ")`

// TestSearch uses the site as a person does who has a keyboard and no network.
func TestSearch(t *testing.T) {
	file := filepath.Join(t.TempDir(), "index.html")
	if err := os.WriteFile(file, whole(t), 0o644); err != nil {
		t.Fatal(err)
	}
	b := openBrowser(t, file)
	const focus = `document.activeElement.id || document.activeElement.getAttribute("href")`
	const first = `document.querySelector("#hits a")?.getAttribute("href")`
	b.until(shown, "catalog")
	b.until(`document.readyState`, "complete")
	b.until(`document.hasFocus()`, "true")

	b.press("/", 191)
	b.until(focus, "search")
	b.insert("config-drift")
	b.until(first, "#catalog/faults/config-drift")
	b.press("Enter", 13)
	b.until(shown, "catalog/faults/config-drift")
	b.until(`document.title.includes("differs from its current config")`, "true")

	b.press("/", 191) // selects what is there
	b.insert("content mismatch for file")
	b.until(first, "#catalog/faults/config-drift")
	b.press("ArrowDown", 40)
	b.press("ArrowDown", 40)
	b.press("ArrowUp", 38)
	b.until(focus, "#catalog/faults/config-drift")
	b.press("ArrowUp", 38)
	b.until(focus, "search")

	b.press("/", 191) // is text in the box
	b.until(`document.getElementById("search").value`, "content mismatch for file/")
	b.press("Escape", 27)
	b.until(`document.getElementById("search").value + document.getElementById("hits").hidden`, "true")

	b.insert(`<img src=x onerror=alert(1)>`)
	b.until(`document.getElementById("count").textContent`, "no page")
	b.press("Escape", 27)

	b.value(`location.hash = "#catalog/by-layer:machine-config"`)
	b.until(shown, "catalog/by-layer")
	if got := b.value(`performance.getEntriesByType("resource").length`); got != "0" {
		t.Errorf("%s resources were loaded", got)
	}
}
