package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/pagehand/pagehand/contract"
)

// apiError is an error as the API answers it.
type apiError struct {
	kind       errorKind
	message    string // empty: the kind's
	retryAfter int    // seconds; 0: not said
	allow      string // the methods that are allowed, for a status 405
	details    any    // nil: none
}

func (e *apiError) Error() string { return e.kind.name + ": " + e.text() }

func (e *apiError) text() string {
	if e.message == "" {
		return e.kind.message
	}
	return e.message
}

func failure(kind, format string, args ...any) *apiError {
	k, ok := errorKindNamed(kind)
	if !ok {
		panic("api: there is no error " + kind)
	}
	return &apiError{kind: k, message: fmt.Sprintf(format, args...)}
}

type errorDetail struct {
	Type    string `json:"type"`
	Message string `json:"message"`
	Details any    `json:"details,omitempty"`
}

type errorBody struct {
	Type      string      `json:"type"`
	Error     errorDetail `json:"error"`
	RequestID string      `json:"request_id"`
}

func (e *apiError) body(requestID string) errorBody {
	return errorBody{"error", errorDetail{e.kind.name, e.text(), e.details}, requestID}
}

func (e *apiError) write(w http.ResponseWriter, requestID string) {
	if e.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(e.retryAfter))
	}
	status := e.kind.status
	if e.allow != "" {
		w.Header().Set("Allow", e.allow)
		status = http.StatusMethodNotAllowed
	}
	writeJSON(w, status, e.body(requestID))
}

// writeJSON answers with a value. That the client has gone is nothing to tell anybody.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(encode(v))
}

// encode is the JSON of a value of ours, which always has one.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// message is a response.
type message struct {
	ID           string            `json:"id"`
	Type         string            `json:"type"`
	Role         string            `json:"role"`
	Model        string            `json:"model"`
	Content      []json.RawMessage `json:"content"`
	StopReason   *string           `json:"stop_reason"`
	StopSequence *string           `json:"stop_sequence"`
	StopDetails  *stopDetails      `json:"stop_details"`
	Usage        usage             `json:"usage"`
}

// stopDetails tell more of a refusal.
type stopDetails struct {
	Type        string  `json:"type"`
	Category    *string `json:"category"`
	Explanation *string `json:"explanation"`
}

// blocks are the content of an answer.
func (a *answer) blocks() []json.RawMessage {
	blocks := []json.RawMessage{}
	if a.says != "" {
		blocks = append(blocks, encode(contract.Text{Text: a.says}))
	}
	for _, use := range a.calls {
		blocks = append(blocks, encode(use))
	}
	return blocks
}

// stopped fills in why the answer ends.
func (a *answer) stopped() (reason, sequence *string, details *stopDetails) {
	if a.sequence != "" {
		sequence = &a.sequence
	}
	if a.stop == "refusal" {
		details = &stopDetails{Type: "refusal"}
	}
	return &a.stop, sequence, details
}
