package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Role says whose words a reading is.
type Role string

// The roles of a reading.
const (
	User      Role = "user"      // what the user or the application says
	Assistant Role = "assistant" // what the model says
	System    Role = "system"    // an instruction between the messages
	Call      Role = "call"      // a call of the model
	Result    Role = "result"    // the answer to a call
)

// Reading is a piece of a conversation as the model reads it.
type Reading struct {
	Message int    `json:"message"` // index of its message
	Role    Role   `json:"role"`
	ID      string `json:"id,omitempty"`           // the tool_use id of a call or a result
	Toolset string `json:"toolset_name,omitempty"` // the toolset_name of the call
	Name    string `json:"name,omitempty"`         // the tool's name of the call
	IsError bool   `json:"is_error,omitempty"`     // of a result
	Text    string `json:"text"`                   // of a call its input
}

func (c *Conversation) read(r Reading) {
	if c.options.Forget {
		return
	}
	r.Message = c.messages
	c.readings = append(c.readings, r)
}

// View is what the model has read and said, in order. The text of a result is as the API renders it (contract §6), with the footers'
// deduplication over the whole conversation.
func (c *Conversation) View() []Reading { return slices.Clone(c.readings) }

// Text is the whole conversation as the model reads it, for people.
func (c *Conversation) Text() string {
	var b strings.Builder
	for i, r := range c.readings {
		if i > 0 && !(r.Role == Call && c.readings[i-1].Role == Call) {
			b.WriteByte('\n')
		}
		switch r.Role {
		case Call:
			fmt.Fprintf(&b, "[call %s] %s\n", r.tool(), compact(r.Text))
		case Result:
			kind := "result"
			if r.IsError {
				kind = "error"
			}
			fmt.Fprintf(&b, "[%s of %s]\n%s\n", kind, r.tool(), r.Text)
		default:
			fmt.Fprintf(&b, "[%s]\n%s\n", r.Role, r.Text)
		}
	}
	return b.String()
}

// tool names the tool of a call or a result.
func (r Reading) tool() string {
	switch {
	case r.Name == "":
		return r.ID
	case r.Toolset == "browser":
		return r.Name
	case r.Toolset == "":
		return r.Name + " (tool)"
	}
	return r.Name + " (" + r.Toolset + ")"
}

func compact(input string) string {
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(input)); err != nil {
		return input
	}
	return b.String()
}
