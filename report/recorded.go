package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/recording"
)

// FromRecording makes the run of a recording. Its title is the beginning of the first thing that the person said; what is known of the
// model and the end is in the environment. A message that can't be read is an error.
func FromRecording(events []recording.Event) (Run, error) {
	r := recorded{took: map[string]recording.Call{}}
	for _, e := range events {
		if e.Type == recording.TypeCall && e.Call != nil {
			r.took[e.Call.ID] = *e.Call
		}
	}
	for i, e := range events {
		if err := r.add(e); err != nil {
			return Run{}, fmt.Errorf("event %d of the recording: %w", i+1, err)
		}
	}
	if len(events) > 0 {
		r.run.Started = events[0].Time
		r.run.Took = events[len(events)-1].Time.Sub(events[0].Time)
	}
	r.conclude()
	return r.run, nil
}

// recorded is a run being made of its events.
type recorded struct {
	run   Run
	turn  int
	model string
	took  map[string]recording.Call
	open  map[string]int // where the calls of the latest reply are in the run's events, by id
	end   recording.End  // of all runs that the recording holds, together
}

func (r *recorded) add(e recording.Event) error {
	switch {
	case e.Type == recording.TypeRequest:
		var request struct{ Model string }
		err := json.Unmarshal(e.Request, &request)
		r.model = request.Model
		return err
	case e.Type == recording.TypeNote:
		r.aside(e.Note)
	case e.Type == recording.TypeEnd && e.End != nil:
		end := *e.End
		end.InputTokens += r.end.InputTokens
		end.CacheReadTokens += r.end.CacheReadTokens
		end.CacheWriteTokens += r.end.CacheWriteTokens
		end.OutputTokens += r.end.OutputTokens
		end.CostUSD += r.end.CostUSD
		r.end = end
	case e.Type == recording.TypeMessage:
		return r.message(e.Message)
	}
	return nil
}

func (r *recorded) aside(text string) {
	if text != "" {
		r.run.Events = append(r.run.Events, Event{Turn: max(r.turn, 1), Aside: text})
	}
}

// message adds what a message says, asks and answers.
func (r *recorded) message(raw json.RawMessage) error {
	var m struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return err
	}
	if bytes.HasPrefix(m.Content, []byte(`"`)) {
		m.Content = fmt.Appendf(nil, `[{"type":"text","text":%s}]`, m.Content)
	}
	var blocks []json.RawMessage
	if err := json.Unmarshal(m.Content, &blocks); err != nil {
		return err
	}
	if m.Role == "assistant" {
		r.turn++
		r.open = map[string]int{}
	}
	for _, block := range blocks {
		if err := r.block(m.Role, block); err != nil {
			return err
		}
	}
	return nil
}

func (r *recorded) block(role string, raw json.RawMessage) error {
	var head struct{ Type, Text string }
	if err := json.Unmarshal(raw, &head); err != nil {
		return err
	}
	switch head.Type {
	case "text":
		r.says(role, head.Text)
	case "tool_use":
		var call contract.ToolUse
		if err := json.Unmarshal(raw, &call); err != nil {
			return err
		}
		r.open[call.ID] = len(r.run.Events)
		took := r.took[call.ID]
		r.run.Events = append(r.run.Events, Event{Turn: r.turn, Call: call, Note: took.Note, Took: time.Duration(took.TookMS) * time.Millisecond})
	case "tool_result":
		var result contract.ToolResult
		if err := json.Unmarshal(raw, &result); err != nil {
			return err
		}
		if at, ok := r.open[result.ToolUseID]; ok {
			r.run.Events[at].Result = &result
		}
	}
	return nil
}

func (r *recorded) says(role, text string) {
	switch {
	case strings.TrimSpace(text) == "":
	case role == "assistant":
		r.run.Events = append(r.run.Events, Event{Turn: r.turn, Says: text})
	case r.turn == 0 && r.run.Title == "":
		r.run.Title, r.run.Intro = headline(text)
	default:
		r.aside(text)
	}
}

// headline makes a title of a task's first line. The rest follows below it; so does the whole task when that line is too long.
func headline(task string) (title, rest string) {
	const most = 80
	first, rest, _ := strings.Cut(strings.TrimSpace(task), "\n")
	title = contract.CleanTitle(first)
	if letters := []rune(title); len(letters) > most {
		return string(letters[:most-1]) + "…", task
	}
	return title, strings.TrimSpace(rest)
}

// conclude adds the environment.
func (r *recorded) conclude() {
	fact := func(name, value string) {
		if value != "" {
			r.run.Environment = append(r.run.Environment, Fact{name, value})
		}
	}
	fact("Model", r.model)
	if r.end.Reason == "" {
		return
	}
	fact("End", r.end.Reason)
	fact("Error", r.end.Error)
	fact("Tokens", fmt.Sprintf("%d read, %d from the cache, %d into it, %d written", r.end.InputTokens, r.end.CacheReadTokens, r.end.CacheWriteTokens, r.end.OutputTokens))
	if r.end.CostUSD > 0 {
		fact("Cost", fmt.Sprintf("$%.4f", r.end.CostUSD))
	}
}
