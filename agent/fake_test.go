package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/pagehand/pagehand"
	"github.com/pagehand/pagehand/agent"
	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/recording"
)

// step answers one request of the fake API.
type step func(w http.ResponseWriter)

// fakeAPI answers one request after the other with its steps.
type fakeAPI struct {
	*httptest.Server
	mu       sync.Mutex
	steps    []step
	requests []request
}

// request is what the fake API was sent.
type request struct {
	body   map[string]json.RawMessage
	header http.Header
}

func newFakeAPI(t *testing.T, steps ...step) *fakeAPI {
	f := &fakeAPI{steps: steps}
	f.Server = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(f.Close)
	return f
}

func (f *fakeAPI) serve(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	req := request{header: r.Header}
	if err != nil || json.Unmarshal(raw, &req.body) != nil {
		http.Error(w, "not JSON", http.StatusBadRequest)
		return
	}
	f.mu.Lock()
	n := len(f.requests)
	f.requests = append(f.requests, req)
	f.mu.Unlock()
	if n >= len(f.steps) {
		failWith(http.StatusBadRequest, "invalid_request_error", "the script is at its end")(w)
		return
	}
	f.steps[n](w)
}

// messages are the messages of a request.
func (r request) messages(t *testing.T) []struct {
	Role    string
	Content []map[string]any
} {
	t.Helper()
	var list []struct {
		Role    string
		Content []map[string]any
	}
	if err := json.Unmarshal(r.body["messages"], &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func (f *fakeAPI) client() sdk.Client {
	return sdk.NewClient(option.WithoutEnvironmentDefaults(), option.WithAPIKey("k"), option.WithBaseURL(f.URL), option.WithMaxRetries(0))
}

// text and use are content blocks of a reply.
func text(s string) map[string]any { return map[string]any{"type": "text", "text": s} }

func use(id, name, input string) map[string]any {
	return map[string]any{"type": "tool_use", "id": id, "name": name, "toolset_name": "browser", "input": json.RawMessage(input)}
}

func otherUse(id, name, input string) map[string]any {
	block := use(id, name, input)
	delete(block, "toolset_name")
	return block
}

// says streams a reply.
func says(stop string, blocks ...map[string]any) step {
	return func(w http.ResponseWriter) { stream(w, stop, len(blocks), blocks) }
}

// breaks streams so many whole blocks of a reply, then half of the next one, and ends the connection.
func breaks(whole int, blocks ...map[string]any) step {
	return func(w http.ResponseWriter) {
		stream(w, "", whole, blocks)
		panic(http.ErrAbortHandler)
	}
}

func stream(w http.ResponseWriter, stop string, whole int, blocks []map[string]any) {
	w.Header().Set("Content-Type", "text/event-stream")
	event := func(kind string, fields map[string]any) {
		fields["type"] = kind
		raw, _ := json.Marshal(fields)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, raw)
		w.(http.Flusher).Flush()
	}
	event("message_start", map[string]any{"message": map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []any{}, "stop_reason": nil, "stop_sequence": nil,
		"usage": map[string]any{"input_tokens": 100, "cache_read_input_tokens": 1000, "cache_creation_input_tokens": 200, "output_tokens": 1},
	}})
	for i, block := range blocks {
		begin := map[string]any{}
		for k, v := range block {
			begin[k] = v
		}
		delta := map[string]any{"type": "text_delta", "text": block["text"]}
		if block["type"] == "tool_use" {
			begin["input"] = map[string]any{}
			delta = map[string]any{"type": "input_json_delta", "partial_json": string(block["input"].(json.RawMessage))}
		} else {
			begin["text"] = ""
		}
		event("content_block_start", map[string]any{"index": i, "content_block": begin})
		if i == whole {
			return
		}
		event("ping", map[string]any{})
		event("content_block_delta", map[string]any{"index": i, "delta": delta})
		event("content_block_stop", map[string]any{"index": i})
	}
	if stop == "" {
		event("message_stop", map[string]any{})
		return
	}
	event("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]any{"output_tokens": 50}})
	event("message_stop", map[string]any{})
}

func failWith(status int, kind, message string) step {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": message}})
	}
}

// fakeSession answers calls without a browser and remembers them.
type fakeSession struct {
	calls  []string
	answer func(c pagehand.Call) *pagehand.Result // nil, or nil from it: a plain success
}

func (s *fakeSession) Do(_ context.Context, c pagehand.Call) pagehand.Result {
	s.calls = append(s.calls, c.Name+string(c.Input))
	result := pagehand.Result{ToolUseID: c.ID, ToolsetName: "browser", Content: []contract.Block{contract.Text{Text: c.Name + " done"}}}
	if s.answer != nil {
		if own := s.answer(c); own != nil {
			own.ToolUseID, own.ToolsetName = c.ID, "browser"
			return *own
		}
	}
	return result
}

func picture() contract.Image {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 6))); err != nil {
		panic(err)
	}
	return contract.Image{MediaType: "image/png", Data: b.Bytes()}
}

// failing makes the calls of a member fail.
func failing(member string) func(pagehand.Call) *pagehand.Result {
	return func(c pagehand.Call) *pagehand.Result {
		if c.Name != member {
			return nil
		}
		return &pagehand.Result{IsError: true, Content: []contract.Block{contract.Text{Text: "Error: no"}}}
	}
}

// trial is a run against the fake API.
type trial struct {
	api     *fakeAPI
	session *fakeSession
	options agent.Options
	kept    bytes.Buffer
	events  []agent.Event
	log     bytes.Buffer
}

func newTrial(t *testing.T, steps ...step) *trial {
	tr := &trial{api: newFakeAPI(t, steps...), session: &fakeSession{}}
	tr.options = agent.Options{
		Client: tr.api.client(), Model: "claude-sonnet-5", Session: tr.session, RetryDelay: time.Nanosecond,
		Recording: recording.NewWriter(&tr.kept),
		Observe:   func(e agent.Event) { tr.events = append(tr.events, e) },
		Logger:    slog.New(slog.NewTextHandler(&tr.log, &slog.HandlerOptions{Level: slog.LevelError})),
	}
	t.Cleanup(func() {
		if tr.log.Len() > 0 {
			t.Errorf("logged:\n%s", tr.log.String())
		}
	})
	return tr
}

func (tr *trial) run(t *testing.T, task string) *agent.Outcome {
	t.Helper()
	return tr.runContext(t, context.Background(), task)
}

func (tr *trial) runContext(t *testing.T, ctx context.Context, task string) *agent.Outcome {
	t.Helper()
	outcome, err := agent.Run(ctx, task, tr.options)
	if err != nil {
		t.Fatal(err)
	}
	if got := tr.recorded(t); got[len(got)-1].End == nil || got[len(got)-1].End.Reason != string(outcome.Reason) {
		t.Errorf("the recording ends with %+v", got[len(got)-1])
	}
	return outcome
}

func (tr *trial) recorded(t *testing.T) []recording.Event {
	t.Helper()
	var events []recording.Event
	for e, err := range recording.Read(bytes.NewReader(tr.kept.Bytes())) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

// answers are the results that a request's last message carries, shortened: "toolu_1 ok: text" or "toolu_1 error: text", then its texts.
func (tr *trial) answers(t *testing.T, n int) []string {
	t.Helper()
	messages := tr.api.requests[n].messages(t)
	var list []string
	for _, block := range messages[len(messages)-1].Content {
		if block["type"] == "text" {
			list = append(list, block["text"].(string))
			continue
		}
		word := "ok"
		if block["is_error"] == true {
			word = "error"
		}
		var parts []string
		for _, c := range block["content"].([]any) {
			inner := c.(map[string]any)
			if inner["type"] == "text" {
				parts = append(parts, inner["text"].(string))
			} else {
				parts = append(parts, "["+inner["type"].(string)+"]")
			}
		}
		list = append(list, fmt.Sprintf("%s %s: %s", block["tool_use_id"], word, strings.Join(parts, " ")))
	}
	return list
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprintf("%q", got), fmt.Sprintf("%q", want); g != w {
		t.Errorf("%s:\n got %s\nwant %s", what, g, w)
	}
}
