package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// Turn is what one assistant message asks of an executor.
type Turn struct {
	// Calls are the toolset's member calls in order, each with a non-empty id that no other call has.
	Calls []ToolUse
	// Others are the ids of the tool_use blocks of other tools and toolsets, in order. The application answers them.
	Others []string
}

const turnForms = "expected an API response, an assistant message, a list of content blocks or one tool_use block"

// DecodeTurn reads a turn in any of four forms: an API response (type "message"), an assistant message, a list of
// content blocks, or one tool_use block. A turn without calls is not an error. A tool_use block is a member call when
// its toolset_name is [ToolsetName]; blocks of other types are ignored.
//
// A member call keeps its input whatever it is, because the executor answers it; missing or null input is {}. The other
// errors are the caller's: not JSON (with line and column), a key that occurs twice in one object, data after the value,
// another shape, a message that is not the assistant's, a member call without id or name or with another call's id. Each
// is one line. Time and memory are linear in data, which the caller bounds.
func DecodeTurn(data []byte) (Turn, error) {
	if err := checkJSON(data); err != nil {
		return Turn{}, err
	}
	blocks, err := turnBlocks(bytes.TrimSpace(data))
	if err != nil {
		return Turn{}, err
	}
	var turn Turn
	ours := map[string]bool{} // by id: whether the call is a member's
	for i, block := range blocks {
		if err := turn.add(block, ours); err != nil {
			return Turn{}, fmt.Errorf("content block %d: %w", i+1, err)
		}
	}
	return turn, nil
}

// turnBlocks finds the content blocks in any form of a turn.
func turnBlocks(data []byte) ([]object, error) {
	switch data[0] {
	case '[':
		return blockList(data)
	case '{':
	default:
		return nil, fmt.Errorf("not a turn: %s", turnForms)
	}
	var o object
	if err := json.Unmarshal(data, &o); err != nil {
		return nil, err
	}
	kind, ok := o.text("type")
	if !ok && o.has("type") {
		return nil, fmt.Errorf("not a turn: type is not a string; %s", turnForms)
	}
	role, ok := o.text("role")
	switch content := o["content"]; {
	case kind == "tool_use":
		return []object{o}, nil
	case kind != "" && kind != "message":
		return nil, fmt.Errorf("not a turn: an object of type %s; %s", quote(kind), turnForms)
	case o.has("role") && (!ok || role != "assistant"):
		return nil, fmt.Errorf("not a turn: a message of role %s; %s", quote(role), turnForms)
	case isAbsent(content):
		return nil, fmt.Errorf("not a turn: an object without content; %s", turnForms)
	case content[0] == '"':
		return nil, nil // a plain string is a message of one text block
	case content[0] == '[':
		return blockList(content)
	default:
		return nil, errors.New("not a turn: content is neither a string nor a list of blocks")
	}
}

func blockList(data []byte) ([]object, error) {
	var blocks []object
	if err := json.Unmarshal(data, &blocks); err != nil {
		return nil, errors.New("not a turn: the list holds something that is not a content block")
	}
	return blocks, nil
}

// add takes one content block into the turn.
func (t *Turn) add(o object, ours map[string]bool) error {
	kind, ok := o.text("type")
	if !ok {
		return errors.New("no type, so it is not a content block")
	}
	if kind != "tool_use" {
		return nil
	}
	toolset, _ := o.text("toolset_name")
	member := toolset == ToolsetName
	id, _ := o.text("id")
	if memberToo, seen := ours[id]; seen && (member || memberToo) {
		return fmt.Errorf("the id %s is already another call's", quote(id))
	}
	if !member {
		if id != "" {
			ours[id] = false
			t.Others = append(t.Others, id)
		}
		return nil
	}
	call, err := o.toolUse()
	if err != nil {
		return err
	}
	ours[id] = true
	t.Calls = append(t.Calls, call)
	return nil
}

// CheckSyntax reports what keeps data from being one JSON value in UTF-8, with the line and the column. It bounds the depth of what it
// accepts, as encoding/json does.
func CheckSyntax(data []byte) error {
	if !utf8.Valid(data) {
		return errors.New("not JSON: the input is not valid UTF-8")
	}
	if json.Valid(data) {
		return nil
	}
	var raw json.RawMessage
	err := json.Unmarshal(data, &raw)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("not JSON: %w at %s", err, position(data, syntax.Offset))
	}
	return fmt.Errorf("not JSON: %w", err)
}

// checkJSON reports what encoding/json would let pass or repair in silence: invalid UTF-8 and duplicate keys, of which
// it takes the last while another reader may take the first. It reports syntax errors with their place.
func checkJSON(data []byte) error {
	if err := CheckSyntax(data); err != nil {
		return err
	}
	type level struct {
		keys  map[string]bool // nil for an array
		value bool            // a key was read, its value comes next
	}
	var levels []level
	tokens := json.NewDecoder(bytes.NewReader(data))
	tokens.UseNumber()
	for {
		token, err := tokens.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("not JSON: %w", err)
		}
		if token == json.Delim('}') || token == json.Delim(']') {
			levels = levels[:len(levels)-1]
			continue
		}
		if n := len(levels); n > 0 && levels[n-1].keys != nil {
			top := &levels[n-1]
			if key, ok := token.(string); ok && !top.value {
				if top.keys[key] {
					return fmt.Errorf("duplicate key %s at %s", quote(key), position(data, tokens.InputOffset()))
				}
				top.keys[key] = true
			}
			top.value = !top.value
		}
		switch token {
		case json.Delim('{'):
			levels = append(levels, level{keys: map[string]bool{}})
		case json.Delim('['):
			levels = append(levels, level{})
		}
	}
}

// position turns an offset just after a byte of data into words: that byte's line and its column in characters.
func position(data []byte, offset int64) string {
	before := data[:max(0, min(int(offset), len(data))-1)]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("line %d, column %d", line, column)
}
