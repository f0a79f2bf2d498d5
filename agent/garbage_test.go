package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pagehand/pagehand/agent"
	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/recording"
)

// events streams these, each the JSON of one.
func events(list ...string) step {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, data := range list {
			var e struct{ Type string }
			if err := json.Unmarshal([]byte(data), &e); err != nil {
				panic(err)
			}
			fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e.Type, data)
			w.(http.Flusher).Flush()
		}
	}
}

const (
	beginning = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}}`
	ending    = `{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":5}}`
	end       = `{"type":"message_stop"}`
)

func begins(i int, id, name string) string {
	return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":%q,"name":%q,"toolset_name":"browser","input":{}}}`, i, id, name)
}

func delta(i int, input string) string {
	return fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"input_json_delta","partial_json":%q}}`, i, input)
}

func stops(i int) string { return fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i) }

// TestBlocksSideBySide: a call is run early only when it has arrived whole, also when another block begins before.
func TestBlocksSideBySide(t *testing.T) {
	tr := newTrial(t,
		events(beginning, begins(0, "toolu_1", "wait"), begins(1, "toolu_2", "key"), delta(0, `{"duration":1}`), stops(0),
			begins(2, "toolu_3", "type"), delta(1, `{"text":"a"}`), delta(2, `{"text":"b"}`), stops(2), stops(1), ending, end),
		says("end_turn", text("Done.")))
	tr.options.EarlyStart = true
	tr.run(t, "Go.")
	equal(t, "calls", tr.session.calls, []string{`wait{"duration":1}`, `key{"text":"a"}`, `type{"text":"b"}`})
}

// TestGarbage: what is no reply is asked for again, and nothing of it is run twice.
func TestGarbage(t *testing.T) {
	call := []string{begins(0, "toolu_1", "wait"), delta(0, `{"duration":1}`), stops(0)}
	for name, list := range map[string][]string{
		"no block":           {beginning, `{"type":"content_block_start","index":0,"content_block":null}`, stops(0), ending, end},
		"a second beginning": slices.Concat([]string{beginning}, call, []string{beginning, begins(0, "toolu_9", "key")}),
		"a block again":      slices.Concat([]string{beginning}, call, []string{begins(0, "toolu_9", "key"), stops(0), ending, end}),
		"a block left out":   slices.Concat([]string{beginning}, call, []string{begins(5, "toolu_9", "key"), stops(5), ending, end}),
		"an id again":        slices.Concat([]string{beginning}, call, []string{begins(1, "toolu_1", "key"), stops(1), ending, end}),
		"no id":              slices.Concat([]string{beginning}, call, []string{begins(1, "", "key"), stops(1), ending, end}),
		"more of a block":    slices.Concat([]string{beginning}, call, []string{delta(0, `{}`), ending, end}),
		"before the start":   {begins(0, "toolu_1", "wait"), stops(0), ending, end},
	} {
		for _, early := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s early %t", name, early), func(t *testing.T) {
				tr := newTrial(t, events(list...), says("tool_use", use("toolu_5", "wait", `{"duration":1}`)), says("end_turn", text("Done.")))
				tr.options.EarlyStart, tr.options.Retries = early, 2
				tr.run(t, "Go.")
				equal(t, "calls", tr.session.calls, []string{`wait{"duration":1}`})
			})
		}
	}
}

// TestKeyStays: the key goes nowhere but to the address that was given.
func TestKeyStays(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-secret-key")
	var reached []string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { reached = append(reached, r.Header.Get("X-Api-Key")) }))
	t.Cleanup(elsewhere.Close)
	for _, status := range []int{301, 302, 303, 307, 308} {
		api := httptest.NewServer(http.RedirectHandler(elsewhere.URL, status))
		client, err := agent.NewClient(t.Context(), agent.Access{BaseURL: api.URL})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := agent.Run(t.Context(), "Go.", agent.Options{Client: client, Model: "claude-sonnet-5", Session: &fakeSession{}, RetryDelay: time.Nanosecond}); err == nil || !strings.Contains(err.Error(), "redirect") {
			t.Errorf("%d: %v", status, err)
		}
		api.Close()
	}
	if len(reached) > 0 {
		t.Errorf("another host got %q", reached)
	}
}

// TestNoSecretsKept: in what is recorded and returned neither a password of the address nor a key that the server repeats is left.
func TestNoSecretsKept(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-secret-key")
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, "bad key "+r.Header.Get("X-Api-Key"))
	}))
	t.Cleanup(api.Close)
	client, err := agent.NewClient(t.Context(), agent.Access{BaseURL: strings.Replace(api.URL, "://", "://user:password@", 1)})
	if err != nil {
		t.Fatal(err)
	}
	var kept strings.Builder
	_, err = agent.Run(t.Context(), "Go.", agent.Options{Client: client, Model: "claude-sonnet-5", Session: &fakeSession{}, Recording: recording.NewWriter(&kept)})
	if err == nil {
		t.Fatal("the run succeeded")
	}
	if s := kept.String() + err.Error(); strings.Contains(s, "secret-key") || strings.Contains(s, "password") || !strings.Contains(s, "401") {
		t.Errorf("kept: %s", s)
	}
}

// TestBlankTexts: the API refuses them, so none is sent.
func TestBlankTexts(t *testing.T) {
	tr := newTrial(t, says("tool_use", text("\n\n"), otherUse("toolu_1", "quiet", `{}`)), says("end_turn", text("Done.")))
	tr.options.Tools = []agent.Tool{{Name: "quiet", InputSchema: json.RawMessage(`{"type":"object"}`), Run: func(context.Context, json.RawMessage) ([]contract.Block, error) {
		return []contract.Block{contract.Text{Text: " "}}, nil
	}}}
	tr.run(t, "Go.")
	equal(t, "answers", tr.answers(t, 1), []string{"toolu_1 ok: (no output)"})
	for _, m := range tr.api.requests[1].messages(t) {
		for _, b := range m.Content {
			if raw, _ := json.Marshal(b); strings.Contains(string(raw), `\n\n`) {
				t.Errorf("sent: %s", raw)
			}
		}
	}
}

// TestLongToolText: the texts of a tool's result have a bound together, and what is cut is said.
func TestLongToolText(t *testing.T) {
	tr := newTrial(t, says("tool_use", otherUse("toolu_1", "long", `{}`)), says("end_turn", text("Done.")))
	tr.options.Tools = []agent.Tool{{Name: "long", InputSchema: json.RawMessage(`{"type":"object"}`), Run: func(context.Context, json.RawMessage) ([]contract.Block, error) {
		half := strings.Repeat("é", 300_000)
		return []contract.Block{contract.Text{Text: "x" + half}, contract.Text{Text: half}}, nil // the bound is within a character
	}}}
	tr.run(t, "Go.")
	got := tr.answers(t, 1)[0]
	if size := len(got); size > 1<<20+200 || size < 1<<20 || strings.ContainsRune(got, '\uFFFD') || !strings.HasSuffix(got, "[The texts of this result were cut: 151426 bytes more.]") {
		t.Errorf("%d bytes, ending in %q", size, got[size-80:])
	}
}

// TestResumeBroken: a recording that no request could continue is refused.
func TestResumeBroken(t *testing.T) {
	tr := newTrial(t, says("tool_use", use("toolu_1", "wait", `{"duration":1}`)), says("end_turn", text("Done.")))
	tr.run(t, "Go.")
	whole := tr.recorded(t)
	var messages []int
	for i, e := range whole {
		if e.Type == recording.TypeMessage {
			messages = append(messages, i)
		}
	}
	for name, list := range map[string][]recording.Event{
		"results lost":    slices.Delete(slices.Clone(whole), messages[2], messages[2]+1),
		"calls lost":      slices.Delete(slices.Clone(whole), messages[1], messages[1]+1),
		"results doubled": slices.Insert(slices.Clone(whole), messages[2], whole[messages[2]]),
		"no blocks":       append(slices.Clone(whole[:messages[1]]), recording.Event{Type: recording.TypeMessage, Message: json.RawMessage(`{"role":"assistant","content":[null]}`)}),
	} {
		o := tr.options
		o.Resume = append(list, recording.Event{Type: recording.TypeCall})
		before := len(tr.api.requests)
		if _, err := agent.Run(t.Context(), "And now?", o); err == nil || len(tr.api.requests) > before {
			t.Errorf("%s: %v, %d requests", name, err, len(tr.api.requests)-before)
		}
	}
	tr.log.Reset() // it tells the operator of each
}
