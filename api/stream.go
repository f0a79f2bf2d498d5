package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/pagehand/pagehand/contract"
)

// event is a server-sent event of the Messages API.
type event struct {
	name string
	data any
}

type startEvent struct {
	Type    string  `json:"type"`
	Message message `json:"message"`
}

type blockStartEvent struct {
	Type         string          `json:"type"`
	Index        int             `json:"index"`
	ContentBlock json.RawMessage `json:"content_block"`
}

type blockDeltaEvent struct {
	Type  string `json:"type"`
	Index int    `json:"index"`
	Delta any    `json:"delta"`
}

type textDelta struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type inputDelta struct {
	Type        string `json:"type"`
	PartialJSON string `json:"partial_json"`
}

type blockStopEvent struct {
	Type  string `json:"type"`
	Index int    `json:"index"`
}

type messageDelta struct {
	StopReason   *string      `json:"stop_reason"`
	StopSequence *string      `json:"stop_sequence"`
	StopDetails  *stopDetails `json:"stop_details"`
}

type messageDeltaEvent struct {
	Type  string       `json:"type"`
	Delta messageDelta `json:"delta"`
	Usage usage        `json:"usage"`
}

type plainEvent struct {
	Type string `json:"type"`
}

var ping = event{"ping", plainEvent{"ping"}}

// events are an answer as it is streamed, by parts: the beginning, the events of each block, the end. m is the answer's message.
func (a *answer) events(m message) (begin event, blocks [][]event, end []event) {
	begun := m
	begun.Content, begun.StopReason, begun.StopSequence, begun.StopDetails, begun.Usage.Output = []json.RawMessage{}, nil, nil, nil, 1
	begin = event{"message_start", startEvent{"message_start", begun}}
	if a.says != "" {
		blocks = append(blocks, textEvents(0, a.says))
	}
	for i, use := range a.calls {
		blocks = append(blocks, useEvents(len(blocks), use, a.cut && i == len(a.calls)-1))
	}
	if len(blocks) > 0 {
		first := blocks[0]
		blocks[0] = append([]event{first[0], ping}, first[1:]...)
	}
	end = []event{
		{"message_delta", messageDeltaEvent{"message_delta", messageDelta{m.StopReason, m.StopSequence, m.StopDetails}, m.Usage}},
		{"message_stop", plainEvent{"message_stop"}},
	}
	return begin, blocks, end
}

// deltaRunes is how much of a text, or of another tool's input, comes at once.
const deltaRunes = 24

func textEvents(index int, text string) []event {
	events := []event{{"content_block_start", blockStartEvent{"content_block_start", index, encode(contract.Text{})}}}
	for _, part := range split(text) {
		events = append(events, event{"content_block_delta", blockDeltaEvent{"content_block_delta", index, textDelta{"text_delta", part}}})
	}
	return append(events, event{"content_block_stop", blockStopEvent{"content_block_stop", index}})
}

// useEvents are the events of a call. A member's input comes in one piece (contract §1), another tool's in several; that of a call that
// was cut off does not come.
func useEvents(index int, use contract.ToolUse, cut bool) []event {
	input := string(use.Input)
	use.Input = nil
	events := []event{{"content_block_start", blockStartEvent{"content_block_start", index, encode(use)}}}
	parts := []string{input}
	switch {
	case cut:
		parts = nil
	case use.ToolsetName != contract.ToolsetName:
		parts = append([]string{""}, split(input)...)
	}
	for _, part := range parts {
		events = append(events, event{"content_block_delta", blockDeltaEvent{"content_block_delta", index, inputDelta{"input_json_delta", part}}})
	}
	return append(events, event{"content_block_stop", blockStopEvent{"content_block_stop", index}})
}

func split(text string) []string {
	var parts []string
	for runes := []rune(text); len(runes) > 0; {
		n := min(len(runes), deltaRunes)
		parts = append(parts, string(runes[:n]))
		runes = runes[n:]
	}
	return parts
}

// stream sends an answer as server-sent events. Where the script has it so the stream breaks off.
func (a *answer) stream(ctx context.Context, w http.ResponseWriter, m message, requestID string) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	out := http.NewResponseController(w)
	// send reports whether the client is still there.
	send := func(events ...event) bool {
		for _, e := range events {
			if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e.name, encode(e.data)); err != nil {
				return false
			}
		}
		return out.Flush() == nil
	}
	begin, blocks, end := a.events(m)
	if !send(begin) {
		return
	}
	for _, f := range a.slow {
		for range f.pings {
			if !pause(ctx, f.every) || !send(ping) {
				return
			}
		}
	}
	whole := len(blocks)
	if a.broken != nil {
		whole = max(len(blocks)-1, 0)
		if a.broken.after >= 0 {
			whole = min(whole, a.broken.after)
		}
	}
	for _, events := range blocks[:whole] {
		if !send(events...) {
			return
		}
	}
	switch {
	case a.broken == nil:
		send(end...)
		return
	case whole < len(blocks):
		begun := blocks[whole][:len(blocks[whole])/2]
		if !send(begun...) {
			return
		}
	}
	if a.broken.kind.name != "" {
		send(event{"error", (&apiError{kind: a.broken.kind}).body(requestID)})
		return
	}
	panic(http.ErrAbortHandler)
}

// whole sends an answer at once. Where the script has it so the body breaks off.
func (a *answer) whole(ctx context.Context, w http.ResponseWriter, m message, requestID string) {
	for _, f := range a.slow {
		if !pause(ctx, f.every*time.Duration(f.pings)) {
			return
		}
	}
	if a.broken == nil {
		writeJSON(w, http.StatusOK, m)
		return
	}
	if a.broken.kind.name != "" {
		(&apiError{kind: a.broken.kind}).write(w, requestID)
		return
	}
	body := encode(m)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if _, err := w.Write(body[:len(body)/2]); err == nil {
		_ = http.NewResponseController(w).Flush() // what fails here is cut off as well
	}
	panic(http.ErrAbortHandler)
}

// pause waits. False means that the client has gone.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
