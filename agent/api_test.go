package agent_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/pagehand/pagehand/agent"
	"github.com/pagehand/pagehand/api"
)

// TestLocalAPI holds the loop against the local API's checks and faults.
func TestLocalAPI(t *testing.T) {
	const work = `
  - calls: |
      # I work.
      type {"text": "a"}
      type {"text": "b"}
  - end: Done.
`
	for _, tt := range []struct {
		name   string
		script string
		early  bool
		reason agent.Reason
		answer string
		calls  string
		notes  int
	}{
		{"nothing", "", false, agent.EndTurn, "Done.", "a b", 0},
		{"overloaded", "  - fault: overloaded\n    times: 2", false, agent.EndTurn, "Done.", "a b", 2},
		{"rate limit", "  - fault: rate_limit", false, agent.EndTurn, "Done.", "a b", 1},
		{"error in the stream", "  - fault: error_event", false, agent.EndTurn, "Done.", "a b", 1},
		{"cut stream", "  - fault: cut_stream", false, agent.EndTurn, "Done.", "a b", 1},
		{"cut stream, early start", "  - fault: cut_stream", true, agent.EndTurn, "Done.", "a b", 1},
		{"slow", "  - fault: slow\n    every: 10ms", false, agent.EndTurn, "Done.", "a b", 0},
		{"max_tokens", "  - fault: max_tokens", false, agent.EndTurn, "Done.", "a b", 0},
		{"context_window", "  - fault: context_window", false, agent.ContextExceeded, "", "a", 0},
		{"pause_turn", "  - fault: pause_turn", false, agent.EndTurn, "Done.", "a b", 0},
		{"refusal", "  - fault: refusal", false, agent.Refusal, "", "", 0},
		{"stop_sequence", "  - fault: stop_sequence\n    sequence: STOP", false, agent.StopSequence, "So far so good.", "", 0},
		{"bad key", "  - fault: authentication", false, agent.Failed, "", "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plan, err := api.ParseScript([]byte("steps:\n" + tt.script + work))
			if err != nil {
				t.Fatal(err)
			}
			server := api.New(api.Options{Script: plan})
			local := httptest.NewServer(server)
			defer local.Close()
			tr := newTrial(t)
			tr.options.Client = sdk.NewClient(option.WithoutEnvironmentDefaults(), option.WithAPIKey("k"), option.WithBaseURL(local.URL), option.WithMaxRetries(0))
			tr.options.EarlyStart = tt.early
			outcome, err := agent.Run(t.Context(), "Go.", tr.options)
			if (err != nil) != (tt.reason == agent.Failed) || outcome.Reason != tt.reason || outcome.Answer != tt.answer {
				t.Errorf("%s, %q: %v", outcome.Reason, outcome.Answer, err)
			}
			var typed []string
			for _, call := range tr.session.calls {
				typed = append(typed, strings.NewReplacer(`type{"text":"`, "", `"}`, "").Replace(strings.ReplaceAll(call, " ", "")))
			}
			equal(t, "calls", strings.Join(typed, " "), tt.calls)
			notes := 0
			for _, e := range tr.events {
				if _, ok := e.(agent.Noted); ok {
					notes++
				}
			}
			equal(t, "notes", notes, tt.notes)
			for _, f := range server.Findings() {
				t.Errorf("finding: %v", f)
			}
		})
	}
}
