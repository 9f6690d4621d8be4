package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/crash"
)

// longest bounds one answer.
const longest = 10 * time.Minute

// handler answers the calls of a tool. What goes wrong is a result that the client's model sees,
// not an error of the protocol.
func (s *Server) handler(t tool) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		began := s.Clock()
		result, err := s.call(ctx, t, req.Params.Arguments)
		s.Log.Info("answered", "tool", t.name, "took", s.Clock().Sub(began).String(), "failed", err != nil)
		switch {
		case err == nil:
			return result, nil
		case ctx.Err() != nil:
			return nil, ctx.Err() // nobody waits for the result
		}
		return s.failed(err), nil
	}
}

func (s *Server) call(ctx context.Context, t tool, raw []byte) (*mcp.CallToolResult, error) {
	args, err := parse(raw, t.params)
	if err != nil {
		return nil, err
	}
	a, err := s.ask(ctx, t, args)
	if err != nil {
		return nil, err
	}
	return s.result(t, args, a)
}

// failed is an error as the model sees it.
func (s *Server) failed(err error) *mcp.CallToolResult {
	const most = 4 << 10
	text, _ := cutText(s.Clean(err.Error())+"\n", most)
	if text == "" {
		text = "the error has no short text\n"
	}
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: strings.TrimSpace(text)}}}
}

// ask makes an answer, when there is room for one more. What a page of an answer is asked of is the
// answer before.
func (s *Server) ask(ctx context.Context, t tool, args arguments) (Answer, error) {
	key, err := keyOf(t, args)
	if err != nil {
		return Answer{}, err
	}
	if args.text("part") != "" {
		if a, ok := s.recent.get(key, s.Clock()); ok {
			return a, nil
		}
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return Answer{}, ctx.Err()
	}
	a, err := s.make(ctx, t, args)
	if err != nil {
		return a, err
	}
	a.Data = answer.Harmless(a.Data)
	s.recent.put(key, a, s.Clock())
	return a, nil
}

// make makes an answer. A panic is a defect of the program: it ends the answer, and not the server.
func (s *Server) make(ctx context.Context, t tool, args arguments) (_ Answer, err error) {
	defer func() {
		if defect := recover(); defect != nil {
			err = errors.New(crash.Line(s.Name, defect, debug.Stack()))
		}
	}()
	bounded, stop := context.WithTimeout(ctx, longest)
	defer stop()
	a, err := t.answer(bounded, s, args)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("%s: it took longer than %s and was stopped; ask about a smaller archive, or one subject", t.name, longest)
	}
	return a, err
}

// keyOf is what a call asks, without the page of the answer that it wants.
func keyOf(t tool, args arguments) (string, error) {
	rest := maps.Clone(args)
	delete(rest, "part")
	delete(rest, "from")
	raw, err := json.Marshal(rest)
	return t.name + string(raw), err
}

// result is an answer within the budget: the text first, then as much of the JSON as fits.
func (s *Server) result(t tool, args arguments, a Answer) (*mcp.CallToolResult, error) {
	w := wanted{tool: t.name, part: args.text("part"), from: args.number("from")}
	doc, err := read(a.Data)
	if err != nil {
		return nil, err
	}
	if err := doc.only(w, t.steps); err != nil {
		return nil, err
	}
	text := a.Text
	if w.part != "" {
		text = fmt.Sprintf("Part %s of the answer, from entry %d.\n", w.part, w.from)
	}
	text, lines := cutText(text, s.Budget/2)
	const reserve = 2 << 10 // for the words about what was left out
	left, err := doc.fit(w, t.steps, s.Budget-len(text)-len(notice)-reserve)
	if err != nil {
		return nil, err
	}
	if doc.size() > s.Budget-len(text)-len(notice)-reserve { // it has no parts that can be left out
		left, doc = append(left, leftOut{Part: "the JSON", Of: 1, Get: byHand}), document{}
	}
	if lines > 0 {
		left = append(left, leftOut{Part: "lines at the end of the text", Of: lines, Get: "the JSON has it; or " + byHand})
	}
	if len(left) > 0 {
		if doc["leftOut"], err = marshal(left); err != nil {
			return nil, err
		}
	}
	return &mcp.CallToolResult{StructuredContent: doc, Content: []mcp.Content{&mcp.TextContent{Text: notice + text + s.note(left)}}}, nil
}

// note says in words what was left out.
func (s *Server) note(left []leftOut) string {
	if len(left) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nLeft out, as an answer has at most %d bytes:\n", s.Budget)
	for _, l := range left {
		fmt.Fprintf(&b, "- %s: %d of %d are here; %s\n", l.Part, l.Here, l.Of, l.Get)
	}
	return b.String()
}

// recent are the last answers, for who asks for more of one. Of a cluster the parts of one answer
// then belong together.
type recent struct {
	mu   sync.Mutex
	list []kept // the newest last
}

type kept struct {
	key string
	a   Answer
	at  time.Time
}

// The bounds of recent.
const (
	maxRecent = 4
	recentFor = 5 * time.Minute
)

func (r *recent) get(key string, now time.Time) (Answer, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.list, func(k kept) bool { return k.key == key && now.Sub(k.at) < recentFor })
	if i < 0 {
		return Answer{}, false
	}
	return r.list[i].a, true
}

func (r *recent) put(key string, a Answer, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = slices.DeleteFunc(r.list, func(k kept) bool { return k.key == key })
	r.list = append(r.list, kept{key, a, now})
	if len(r.list) > maxRecent {
		r.list = slices.Delete(r.list, 0, len(r.list)-maxRecent)
	}
}
