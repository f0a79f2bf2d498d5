// Package recording is the project's one event format: what happened in a run, as JSON Lines.
//
// A run, the local API and whoever else records appends to a file as it happens; the checker, the report and a resumed run read it.
// A line is an [Event], and its type says which of the other fields it has. Messages are kept as they went over the wire, so that a
// recording answers what the model read and what the API was sent. A reader skips types that it doesn't know.
//
// Trust: a recording holds what pages supplied, pictures too. It never holds keys.
package recording

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"sync"
	"time"
)

// Type says what an event tells.
type Type string

// The types of events.
const (
	// TypeRequest has Request. It comes before the messages it applies to, and again when something of it changes.
	TypeRequest Type = "request"
	// TypeMessage has Message.
	TypeMessage Type = "message"
	// TypeCall has Call.
	TypeCall Type = "call"
	// TypeNote has Note.
	TypeNote Type = "note"
	// TypeEnd has End. It is the last event of a run; a run that goes on later writes another.
	TypeEnd Type = "end"
)

// Event is one line.
type Event struct {
	Time time.Time `json:"time"`
	Type Type      `json:"type"`
	// Request is the body of the run's requests without its messages: model, tools, system and whatever else was set. Beta headers
	// are in "betas".
	Request json.RawMessage `json:"request,omitempty"`
	// Message is a message of the conversation: the user's as it was first sent, or the API's response whole, with stop_reason and
	// usage.
	Message json.RawMessage `json:"message,omitempty"`
	// Call says that a call has been answered. The answer itself is in the next message.
	Call *Call `json:"call,omitempty"`
	// Note is a remark for people: a retry, an approval, a picture that was taken out of the context.
	Note string `json:"note,omitempty"`
	// End says how the run ended.
	End *End `json:"end,omitempty"`
}

// Call is a call that has been answered.
type Call struct {
	ID     string `json:"id"`             // the tool_use block's
	TookMS int64  `json:"took_ms"`        // from the call to its result, in milliseconds
	Note   string `json:"note,omitempty"` // such as what the call's ref was called when it was read
}

// End is how a run ended.
type End struct {
	// Reason is a stop reason of the API, or why the run went no further: "max_turns", "budget", "interrupted", "error".
	Reason string `json:"reason"`
	Error  string `json:"error,omitempty"` // for "error": the cause, one line
	Turns  int    `json:"turns"`
	Calls  int    `json:"calls"`
	// The tokens of all requests together, by what they are billed as.
	InputTokens      int64   `json:"input_tokens"`
	CacheReadTokens  int64   `json:"cache_read_tokens"`
	CacheWriteTokens int64   `json:"cache_write_tokens"`
	OutputTokens     int64   `json:"output_tokens"`
	CostUSD          float64 `json:"cost_usd,omitempty"` // 0 when the model's price is not known
}

// Writer appends events. It is safe for concurrent use.
type Writer struct {
	mu  sync.Mutex
	out io.Writer
	now func() time.Time
}

// NewWriter returns a writer of events to out, each in one write.
func NewWriter(out io.Writer) *Writer { return &Writer{out: out, now: time.Now} }

// Write appends an event. A zero time becomes the present.
func (w *Writer) Write(e Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.Time.IsZero() {
		e.Time = w.now().UTC().Truncate(time.Millisecond)
	}
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(e); err != nil {
		return fmt.Errorf("recording: %w", err)
	}
	if _, err := w.out.Write(line.Bytes()); err != nil {
		return fmt.Errorf("recording: %w", err)
	}
	return nil
}

// Read yields the events of a recording in order. A last line without its line break is what a killed process left of one: when it
// doesn't decode it is skipped. Any other line that doesn't is an error, which names its number and ends the reading.
func Read(in io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		lines := bufio.NewReader(in)
		for n := 1; ; n++ {
			line, err := lines.ReadBytes('\n')
			if err != nil && err != io.EOF {
				yield(Event{}, fmt.Errorf("recording: %w", err))
				return
			}
			cut := err == io.EOF
			if len(bytes.TrimSpace(line)) > 0 {
				var e Event
				switch err := json.Unmarshal(line, &e); {
				case err == nil:
					if !yield(e, nil) {
						return
					}
				case !cut:
					yield(Event{}, fmt.Errorf("recording: line %d: %w", n, err))
					return
				}
			}
			if cut {
				return
			}
		}
	}
}
