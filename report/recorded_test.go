package report

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/pagehand/pagehand/recording"
)

func message(raw string) recording.Event {
	return recording.Event{Type: recording.TypeMessage, Message: json.RawMessage(raw)}
}

// TestFromRecording makes the report of a run that was killed once and continued.
func TestFromRecording(t *testing.T) {
	picture := base64.StdEncoding.EncodeToString(picturePNG(t).Data)
	begin := time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
	events := []recording.Event{
		{Type: recording.TypeRequest, Request: json.RawMessage(`{"model":"claude-sonnet-5","tools":[]}`), Time: begin},
		message(`{"role":"user","content":[{"type":"text","text":"Find the <b>price</b>.\n\nOf the mug."}]}`),
		message(`{"type":"message","role":"assistant","stop_reason":"tool_use","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"I look."},` +
			`{"type":"tool_use","id":"toolu_1","name":"screenshot","toolset_name":"browser","input":{}},{"type":"tool_use","id":"toolu_2","name":"weather","input":{"city":"Basel"}}]}`),
		{Type: recording.TypeCall, Call: &recording.Call{ID: "toolu_1", TookMS: 1250, Note: `button "Pay"`}},
		message(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","toolset_name":"browser","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + picture + `"}}]},` +
			`{"type":"tool_result","tool_use_id":"toolu_2","is_error":true,"content":"Error: no"}]}`),
		{Type: recording.TypeNote, Note: "Asking again in 1s: overloaded_error"},
		message(`{"type":"message","role":"assistant","stop_reason":"end_turn","content":[{"type":"text","text":"Shall I?"}]}`),
		{Type: recording.TypeEnd, End: &recording.End{Reason: "interrupted", InputTokens: 10, CostUSD: 0.25}},
		message(`{"role":"user","content":"Yes."}`),
		message(`{"type":"message","role":"assistant","stop_reason":"tool_use","content":[{"type":"tool_use","id":"toolu_3","name":"find","toolset_name":"browser","input":{}}]}`),
		{Type: recording.TypeEnd, End: &recording.End{Reason: "error", Error: "no network", InputTokens: 5, CostUSD: 0.25}, Time: begin.Add(time.Minute)},
	}
	run, err := FromRecording(events)
	if err != nil {
		t.Fatal(err)
	}
	page := written(t, run)
	got := outline(t, page, "h1", "intro", "h2", "blockquote", "h3", "aside", "environment")
	want := []string{
		"h1: Find the <b>price</b>.", "intro: Of the mug.",
		"environment: Model claude-sonnet-5 End error Error no network Tokens 15 read, 0 from the cache, 0 into it, 0 written Cost $0.5000 Started 1 December 2026, 10:00:00 UTC Whole run 1 min 0 s",
		"h2: Turn 1", "blockquote: I look.", "h3: screenshot 1.25 s", "h3: weather <1 ms", "aside: Asking again in 1s: overloaded_error",
		"h2: Turn 2", "blockquote: Shall I?", "aside: Yes.",
		"h2: Turn 3", "h3: find not answered",
	}
	for i := range max(len(got), len(want)) {
		g, w := "", ""
		if i < len(got) {
			g = strings.Join(strings.Fields(got[i]), " ")
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Errorf("line %d:\n got %s\nwant %s", i, g, w)
		}
	}
	if strings.Contains(page, "<b>price") || !strings.Contains(page, "data:image/png;base64,"+picture) {
		t.Error("the page has markup of the task, or lacks the picture")
	}
	for _, bad := range []recording.Event{message(`{"role":`), message(`{"role":"user","content":[{"type":"tool_result","content":7}]}`)} {
		if _, err := FromRecording([]recording.Event{bad}); err == nil {
			t.Errorf("%s is taken", bad.Message)
		}
	}
	long := strings.Repeat("x", 100)
	if title, rest := headline(long); title != strings.Repeat("x", 79)+"…" || rest != long {
		t.Errorf("a long task: %q, %q", title, rest)
	}
	if run, err := FromRecording(nil); err != nil || len(run.Events) != 0 {
		t.Errorf("an empty recording: %+v, %v", run, err)
	}
}
