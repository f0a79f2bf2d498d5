package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/pagehand/pagehand/recording"
)

// tape records a conversation: a file that is appended to, so that whoever reads it meanwhile, or after a kill, finds whole lines.
type tape struct {
	path     string
	settings string // the request's, without its messages, as recorded last
	messages int    // of the conversation, with our answers
	last     string // the content that was answered last
	end      recording.End
}

func newTape(folder, id string, started time.Time) *tape {
	return &tape{path: filepath.Join(folder, started.Format("20060102T150405.000")+"-"+id+".jsonl")}
}

func (t *tape) write(events ...recording.Event) error {
	file, err := os.OpenFile(t.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	out := recording.NewWriter(file)
	for _, e := range events {
		err = errors.Join(err, out.Write(e))
	}
	return errors.Join(err, file.Close())
}

func (t *tape) note(text string) error {
	return t.write(recording.Event{Type: recording.TypeNote, Note: text})
}

// asked are the events of what a request has that is new.
func (t *tape) asked(r *request) ([]recording.Event, error) {
	var events []recording.Event
	settings, err := withoutMessages(r.body)
	if err != nil {
		return nil, err
	}
	if string(settings) != t.settings {
		t.settings = string(settings)
		events = append(events, recording.Event{Type: recording.TypeRequest, Request: settings})
	}
	n := len(r.Messages)
	if n < t.messages-1 {
		events = append(events, recording.Event{Type: recording.TypeNote, Note: fmt.Sprintf("The client sent %d messages, fewer than before.", n)})
	}
	for _, m := range r.Messages[min(t.messages, n):] {
		events = append(events, recording.Event{Type: recording.TypeMessage, Message: m})
	}
	t.messages = max(t.messages, n)
	return events, nil
}

// withoutMessages is a request's body without its messages and its way of delivery.
func withoutMessages(body json.RawMessage) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, err
	}
	delete(fields, "messages")
	delete(fields, "stream")
	return encode(fields), nil
}

// failed records a request that was answered with an error.
func (t *tape) failed(r *request, failure *apiError) error {
	events, err := t.asked(r)
	if err != nil {
		return err
	}
	return t.write(append(events, recording.Event{Type: recording.TypeNote, Note: "Answered with an error: " + failure.Error()})...)
}

// answered records a request and its answer. The same answer to the same request is recorded once.
func (t *tape) answered(r *request, m message, a *answer) error {
	again := t.messages > len(r.Messages) && t.last == string(encode(m.Content))
	events, err := t.asked(r)
	if err != nil {
		return err
	}
	switch {
	case again:
		events = append(events, recording.Event{Type: recording.TypeNote, Note: "The same request came again and got the same answer."})
	case a.broken != nil:
		events = append(events, recording.Event{Type: recording.TypeNote, Note: "The answer was broken off: " + a.broken.name})
	default:
		t.last = string(encode(m.Content))
		t.messages = len(r.Messages) + 1
		t.end.Turns++
		t.end.Calls += len(a.calls)
		events = append(events, recording.Event{Type: recording.TypeMessage, Message: encode(m)})
	}
	t.end.InputTokens += int64(m.Usage.Input)
	t.end.CacheReadTokens += int64(m.Usage.CacheRead)
	t.end.CacheWriteTokens += int64(m.Usage.CacheWrite)
	t.end.OutputTokens += int64(m.Usage.Output)
	if a.over {
		end := t.end
		end.Reason = a.stop
		events = append(events, recording.Event{Type: recording.TypeEnd, End: &end})
	}
	return t.write(slices.Clip(events)...)
}
