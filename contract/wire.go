package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// ToolUse is one tool_use block of an assistant message: a call of a toolset member, or of another tool when
// ToolsetName is not [ToolsetName].
type ToolUse struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	ToolsetName string `json:"toolset_name,omitempty"`
	// Input is the call's JSON as it came; nil is written as {}. Decoding checks only that it is JSON: an executor
	// answers wrong input with an error result.
	Input json.RawMessage `json:"input"`
}

// MarshalJSON writes the block with its type.
func (u ToolUse) MarshalJSON() ([]byte, error) {
	type fields ToolUse
	if u.Input == nil {
		u.Input = json.RawMessage("{}")
	}
	return marshal(struct {
		Type string `json:"type"`
		fields
	}{"tool_use", fields(u)})
}

// UnmarshalJSON reads a tool_use block. Its id and name must be non-empty strings; input that is missing or null counts
// as {}; other fields are ignored.
func (u *ToolUse) UnmarshalJSON(data []byte) error {
	var o object
	if err := json.Unmarshal(data, &o); err != nil {
		return errors.New("a tool_use block must be an object")
	}
	call, err := o.toolUse()
	if err != nil {
		return err
	}
	*u = call
	return nil
}

func (o object) toolUse() (ToolUse, error) {
	if kind, _ := o.text("type"); kind != "tool_use" {
		return ToolUse{}, fmt.Errorf("a block of type %s is not a tool_use block", quote(kind))
	}
	id, _ := o.text("id")
	if id == "" {
		return ToolUse{}, errors.New("tool_use without an id")
	}
	name, _ := o.text("name")
	if name == "" {
		return ToolUse{}, fmt.Errorf("tool_use %s without a name", quote(id))
	}
	toolset, _ := o.text("toolset_name")
	input := json.RawMessage("{}")
	if o.has("input") {
		input = o["input"]
	}
	return ToolUse{ID: id, Name: name, ToolsetName: toolset, Input: input}, nil
}

// Block is one content block of a result: [Text], [Image] or *[BrowserState], and nothing else (contract §4).
type Block interface {
	json.Marshaler
	block()
}

// Text is a text block.
type Text struct {
	Text string `json:"text"`
}

// Image is an image block. Data holds the file's bytes, base64 on the wire; MediaType names their format
// ("image/png", "image/jpeg").
type Image struct {
	MediaType string
	Data      []byte
}

func (Text) block()          {}
func (Image) block()         {}
func (*BrowserState) block() {}

// MarshalJSON writes the block with its type.
func (t Text) MarshalJSON() ([]byte, error) {
	type fields Text
	return marshal(struct {
		Type string `json:"type"`
		fields
	}{"text", fields(t)})
}

type wireImage struct {
	Type   string          `json:"type"`
	Source wireImageSource `json:"source"`
}

type wireImageSource struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"`
}

// MarshalJSON writes the block with its type and a base64 source.
func (i Image) MarshalJSON() ([]byte, error) {
	data := i.Data
	if data == nil {
		data = []byte{} // nil would be written as null
	}
	return marshal(wireImage{"image", wireImageSource{"base64", i.MediaType, data}})
}

// UnmarshalJSON reads an image block with a base64 source, the only kind a member result uses.
func (i *Image) UnmarshalJSON(data []byte) error {
	var w wireImage
	if err := json.Unmarshal(data, &w); err != nil {
		return fmt.Errorf("image block: %w", err)
	}
	if w.Source.Type != "base64" {
		return fmt.Errorf("image block: source type %s is not base64", quote(w.Source.Type))
	}
	*i = Image{MediaType: w.Source.MediaType, Data: w.Source.Data}
	return nil
}

// ToolResult is one tool_result block: the answer to the call whose id is ToolUseID.
type ToolResult struct {
	ToolUseID string `json:"tool_use_id"`
	// ToolsetName echoes the call's: [ToolsetName] for a member, empty (and then not written) for another tool.
	ToolsetName string `json:"toolset_name,omitempty"`
	IsError     bool   `json:"is_error,omitempty"`
	// Content is written as a list, also when it is nil.
	Content []Block `json:"content"`
}

// MarshalJSON writes the block with its type.
func (r ToolResult) MarshalJSON() ([]byte, error) {
	type fields ToolResult
	if r.Content == nil {
		r.Content = []Block{}
	}
	return marshal(struct {
		Type string `json:"type"`
		fields
	}{"tool_result", fields(r)})
}

// UnmarshalJSON reads a tool_result block. Content given as a string becomes one [Text]; in a list, a block of another
// type than the three of [Block] is an error. Fields that are not the toolset's (cache_control) are ignored.
func (r *ToolResult) UnmarshalJSON(data []byte) error {
	var w struct {
		Type        string          `json:"type"`
		ToolUseID   string          `json:"tool_use_id"`
		ToolsetName string          `json:"toolset_name"`
		IsError     bool            `json:"is_error"`
		Content     json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(data, &w); err != nil {
		return fmt.Errorf("tool_result: %w", err)
	}
	if w.Type != "tool_result" {
		return fmt.Errorf("a block of type %s is not a tool_result", quote(w.Type))
	}
	content, err := decodeContent(w.Content)
	if err != nil {
		return fmt.Errorf("tool_result for %s: %w", quote(w.ToolUseID), err)
	}
	*r = ToolResult{ToolUseID: w.ToolUseID, ToolsetName: w.ToolsetName, IsError: w.IsError, Content: content}
	return nil
}

func decodeContent(data json.RawMessage) ([]Block, error) {
	if isAbsent(data) {
		return nil, nil
	}
	if data[0] == '"' {
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return nil, err
		}
		return []Block{Text{text}}, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, errors.New("content is neither a string nor a list of blocks")
	}
	blocks := make([]Block, len(list))
	for i, raw := range list {
		block, err := decodeBlock(raw)
		if err != nil {
			return nil, fmt.Errorf("content block %d: %w", i+1, err)
		}
		blocks[i] = block
	}
	return blocks, nil
}

func decodeBlock(data json.RawMessage) (Block, error) {
	var o object
	if err := json.Unmarshal(data, &o); err != nil {
		return nil, errors.New("not an object")
	}
	switch kind, _ := o.text("type"); kind {
	case "text":
		text, ok := o.text("text")
		if !ok {
			return nil, errors.New("a text block without text")
		}
		return Text{text}, nil
	case "image":
		var image Image
		err := json.Unmarshal(data, &image)
		return image, err
	case "browser_state":
		state := new(BrowserState)
		err := json.Unmarshal(data, state)
		return state, err
	default:
		return nil, fmt.Errorf("type %s is not text, image or browser_state", quote(kind))
	}
}

// Message is the one user message that answers a turn. An application that ran other tools in the same turn adds their
// results to the content before it sends the message.
type Message struct {
	Role    string       `json:"role"`
	Content []ToolResult `json:"content"`
	// ModelView is the text the model will read, rendered by [View]. It is for people and logs: the API does not know
	// the field.
	ModelView string `json:"model_view,omitempty"`
}

// NewMessage returns the user message that carries results, in their order.
func NewMessage(results []ToolResult) Message {
	if results == nil {
		results = []ToolResult{}
	}
	return Message{Role: "user", Content: results}
}

// object is a JSON object by exact field name; encoding/json's structs would also take "ID" for "id".
type object map[string]json.RawMessage

// has reports whether the field is there and not null, which counts as omitted.
func (o object) has(name string) bool { return !isAbsent(o[name]) }

// text returns a string field, and false when it is absent or something else.
func (o object) text(name string) (string, bool) {
	if !o.has(name) {
		return "", false
	}
	var s string
	err := json.Unmarshal(o[name], &s)
	return s, err == nil
}

func isAbsent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// marshal is json.Marshal without HTML escaping: inside a MarshalJSON method that leaves the choice to the outermost
// encoder.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// quote quotes s for a one-line error text and bounds it.
func quote(s string) string {
	const limit = 64
	n := 0
	for at := range s {
		if n == limit {
			return fmt.Sprintf("%q…", s[:at])
		}
		n++
	}
	return fmt.Sprintf("%q", s)
}
