package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pagehand/pagehand/check"
	"github.com/pagehand/pagehand/contract"
)

// request is what the server needs of a request's body.
type request struct {
	Model      string            `json:"model"`
	MaxTokens  int               `json:"max_tokens"`
	Stream     bool              `json:"stream"`
	System     json.RawMessage   `json:"system"`
	Messages   []json.RawMessage `json:"messages"`
	Tools      []json.RawMessage `json:"tools"`
	ToolChoice struct {
		Type            string `json:"type"`
		Name            string `json:"name"`
		DisableParallel bool   `json:"disable_parallel_tool_use"`
	} `json:"tool_choice"`
	StopSequences []string `json:"stop_sequences"`
	Metadata      struct {
		UserID string `json:"user_id"`
	} `json:"metadata"`

	body json.RawMessage
	read []check.Reading // the conversation as the model reads it
}

// tool is what the server needs of an entry of tools.
type tool struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Configs map[string]struct {
		Enabled *bool `json:"enabled"`
	} `json:"configs"`
}

// declares reports whether the request has the tool that a call is for.
func (r *request) declares(use contract.ToolUse) bool {
	return slices.ContainsFunc(r.Tools, func(raw json.RawMessage) bool {
		var t tool
		if err := json.Unmarshal(raw, &t); err != nil {
			return false
		}
		switch use.ToolsetName {
		case contract.ToolsetName:
			return t.Type == contract.ToolsetType
		case "":
			return t.Name == use.Name
		}
		return strings.HasPrefix(t.Type, use.ToolsetName+"_")
	})
}

// run is a part of the conversation by one side: [from, to) of the readings.
type run struct{ from, to int }

// lastAssistant is what the assistant said and asked last; false before its first turn. Messages in succession are one run.
func lastAssistant(read []check.Reading) (run, bool) {
	to := len(read)
	for to > 0 && !isAssistant(read[to-1]) {
		to--
	}
	from := to
	for from > 0 && isAssistant(read[from-1]) {
		from--
	}
	return run{from, to}, to > 0
}

func isAssistant(r check.Reading) bool { return r.Role == check.Assistant || r.Role == check.Call }

// textOf joins readings.
func textOf(read []check.Reading) string {
	texts := make([]string, len(read))
	for i, r := range read {
		texts[i] = r.Text
	}
	return strings.Join(texts, "\n")
}

// resultOf finds the result of a call in the request's messages.
func (r *request) resultOf(id string) (contract.ToolResult, error) {
	for _, raw := range slices.Backward(r.Messages) {
		var m struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		}
		var blocks []json.RawMessage
		if json.Unmarshal(raw, &m) != nil || m.Role != "user" || json.Unmarshal(m.Content, &blocks) != nil {
			continue
		}
		for _, block := range blocks {
			var head struct {
				ID string `json:"tool_use_id"`
			}
			if json.Unmarshal(block, &head) != nil || head.ID != id {
				continue
			}
			var result contract.ToolResult
			err := json.Unmarshal(block, &result)
			return result, err
		}
	}
	return contract.ToolResult{}, fmt.Errorf("no result for %s", id)
}

// parseRequest reads and checks a body. ignore says which findings are none.
func parseRequest(body []byte, o check.Options, ignore func(check.Finding) bool) (*request, *check.Document, error) {
	doc, err := check.Any(body, o)
	if err != nil {
		return nil, nil, err
	}
	if doc.Kind != check.KindRequest {
		return nil, nil, errors.New("the body is not a request: it has no messages")
	}
	doc.Findings = slices.DeleteFunc(doc.Findings, ignore)
	r := &request{body: body, read: doc.Conversation.View()}
	if err := json.Unmarshal(body, r); err != nil && !check.Rejected(doc.Findings) {
		return nil, nil, fmt.Errorf("the body is not a request: %w", err)
	}
	return r, doc, nil
}
