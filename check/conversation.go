package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"regexp"
	"slices"
	"strings"

	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/models"
)

// Conversation is a conversation that is checked message by message. It knows the calls, images, tabs and downloads of the messages
// before.
type Conversation struct {
	options Options

	// What the request says.
	limits   models.ImageLimits
	declared bool            // there is a toolset entry
	enabled  map[string]bool // the members that may be called; nil when that isn't known
	sent     bool            // the messages are what a request sends: they have no fields of a response
	newest   int             // of a request: its last message with results

	messages int
	role     string
	hollow   *value          // a message of the assistant without content: none may follow it
	ids      map[string]bool // of all calls
	called   bool            // a member has been called
	turn     []*call         // the calls of the turn that isn't answered yet
	turnIDs  map[string]*call
	answers  int // the message with the turn's last result; -1 before it
	place    int // of the last result among all results

	images int
	wide   []pixels // images with more pixels on a side than many images may have

	tabs      []contract.Tab // the last inventory
	doubtful  bool           // a call has failed since: what it did to the tabs is not told
	downloads map[string]contract.ChangeType
	frame     image.Point // size of the first screenshot; zero before it

	view     contract.View
	readings []Reading
}

// pixels is the size of an image, at its place.
type pixels struct {
	path string
	size image.Point
}

// call is a tool_use block, with its result once it has one.
type call struct {
	at      *value
	use     contract.ToolUse
	member  bool // of the browser toolset
	result  *value
	place   int // of the result among all results
	isError bool
	text    string // all text blocks of the result
}

// NewConversation returns a conversation without messages, of a model with the image limits that all models with the toolset share.
// The number of images counts from [Conversation.SetRequest] on: without a request nobody knows how much of a conversation is sent.
func NewConversation(o Options) *Conversation {
	limits := models.ToolsetImages()
	limits.Count = 0
	return &Conversation{options: o, limits: limits, answers: -1, ids: map[string]bool{}, downloads: map[string]contract.ChangeType{}}
}

// SetRequest checks the body of a request without its messages, and remembers what it says of the model and the members. It may be
// called again when that changes.
func (c *Conversation) SetRequest(body []byte) []Finding {
	var found findings
	v, ok := c.parse(body, "", &found)
	switch {
	case !ok:
	case !v.isObject():
		found.add("request-shape", v, v.show(), "an object")
	default:
		c.request(v, &found)
	}
	return found.list()
}

// Add checks the next message: an API response, or a message as it is sent. Paths begin with "messages[n]", counted from the first
// that was added. A user message has to answer all calls of the turn before it.
func (c *Conversation) Add(message []byte) []Finding {
	var found findings
	if v, ok := c.parse(message, fmt.Sprintf("messages[%d]", c.messages), &found); ok {
		c.message(v, true, &found)
	}
	return found.list()
}

// Turn adds a turn as an executor knows it: an assistant message with these calls, and the message with their results. The findings
// are those of the results. Without calls there is nothing to add.
func (c *Conversation) Turn(calls []contract.ToolUse, results []contract.ToolResult) []Finding {
	if len(calls) == 0 {
		return nil
	}
	asked, err := json.Marshal(struct {
		Role    string             `json:"role"`
		Content []contract.ToolUse `json:"content"`
	}{"assistant", calls})
	var answered bytes.Buffer
	if err == nil {
		err = contract.NewMessage(results).Encode(&answered)
	}
	if err != nil {
		var found findings
		found.addAt("json", "", err.Error(), "a JSON value")
		return found.list()
	}
	c.Add(asked)
	return c.Add(answered.Bytes())
}

func (c *Conversation) parse(data []byte, path string, found *findings) (*value, bool) {
	v, err := parse(data, path, found)
	if err != nil {
		found.addAt("json", path, err.Error(), "a JSON value")
		return nil, false
	}
	return v, true
}

// all checks messages that are known together. Messages of the same role in succession are one to the API.
func (c *Conversation) all(messages []*value, found *findings) {
	for i, m := range messages {
		last := i+1 == len(messages) || messages[i+1].get("role").text() != m.get("role").text()
		c.message(m, last, found)
	}
}

// message checks a message; last tells that no other of the same role follows.
func (c *Conversation) message(m *value, last bool, found *findings) {
	defer func() { c.messages++ }()
	if c.hollow != nil {
		found.wrong("message-shape", c.hollow, "content", "a text or blocks: only the assistant's last message may be empty")
		c.hollow = nil
	}
	role := m.get("role").text()
	if !m.isObject() || !slices.Contains([]string{"user", "assistant", "system"}, role) {
		found.add("message-shape", m, m.show(), "an object whose role is user or assistant")
		return
	}
	if role != "assistant" || c.sent {
		for _, field := range m.fields {
			if field.name != "role" && field.name != "content" {
				found.add("message-field", field, field.show(), "only role and content")
			}
		}
	}
	blocks := c.blocks(m, found)
	switch role {
	case "assistant":
		if c.role != "assistant" {
			c.settle(found)
		}
		c.asks(blocks, found)
	case "user":
		c.answersTo(blocks, found)
		if last {
			c.settle(found)
		}
	}
	c.role = role
}

// blocks returns the blocks of a message that are objects with a type, and reads a text as the block it stands for.
func (c *Conversation) blocks(m *value, found *findings) []*value {
	content := m.get("content")
	empty := content.isText() && content.text() == "" || content.isList() && len(content.items) == 0
	switch {
	case empty && m.get("role").text() == "assistant":
		c.hollow = m
		return nil
	case content.isText() && !empty:
		blank(content, content.text(), found)
		c.read(Reading{Role: Role(m.get("role").text()), Text: content.text()})
		return nil
	case !content.isList() || empty:
		found.wrong("message-shape", m, "content", "a text or a list of blocks, which is not empty")
		return nil
	}
	var blocks []*value
	for _, block := range content.items {
		if !block.isObject() || !block.get("type").isText() {
			found.add("message-shape", block, block.show(), "an object with a type")
			continue
		}
		blocks = append(blocks, block)
	}
	return blocks
}

// textBlock checks a text block that is not a result's.
func textBlock(block *value, found *findings) {
	if text := block.get("text"); text.isText() {
		blank(text, text.text(), found)
		return
	}
	found.wrong("text-blank", block, "text", "a text")
}

// blank finds a text of a message without a word.
func blank(at *value, text string, found *findings) {
	if strings.TrimSpace(text) == "" {
		found.add("text-blank", at, quote(text), "a text that is not only white space")
	}
}

// callID is what the id of a call looks like, by the public documentation.
var callID = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// asks takes an assistant message.
func (c *Conversation) asks(blocks []*value, found *findings) {
	for _, block := range blocks {
		switch kind := block.get("type").text(); kind {
		case "text":
			textBlock(block, found)
			c.read(Reading{Role: Assistant, Text: block.get("text").text()})
		case "tool_use":
			c.asksFor(block, found)
		case "tool_result", "browser_state", "image":
			found.add("message-shape", block, "a block of type "+quote(kind)+" of the assistant", "none: it is for the user's messages")
		}
	}
}

func (c *Conversation) asksFor(block *value, found *findings) {
	id, name, toolset, input := block.get("id"), block.get("name"), block.get("toolset_name"), block.get("input")
	switch {
	case id.text() == "":
		found.wrong("call-shape", block, "id", "a text")
		return
	case name.text() == "":
		found.wrong("call-shape", block, "name", "a text")
		return
	case toolset != nil && toolset.text() == "":
		found.wrong("call-shape", block, "toolset_name", "the toolset's name, or no such field")
	case !input.isObject():
		found.wrong("call-shape", block, "input", "an object")
	}
	if !callID.MatchString(id.text()) {
		found.add("call-id-form", id, quote(id.text()), "letters, digits, underscores and hyphens only")
	}
	if c.ids[id.text()] {
		found.add("call-id", id, "a second call "+quote(id.text()), "an id of its own")
	}
	c.ids[id.text()] = true
	one := &call{at: block, member: toolset.text() == contract.ToolsetName}
	one.use = contract.ToolUse{ID: id.text(), Name: name.text(), ToolsetName: toolset.text(), Input: json.RawMessage("{}")}
	if input != nil {
		one.use.Input = input.raw
	}
	if one.member {
		c.called = true
		if action := input.get("action"); action != nil {
			found.add("call-action", action, action.show(), "no such field")
		}
	}
	c.turn = append(c.turn, one)
	if c.turnIDs == nil {
		c.turnIDs = map[string]*call{}
	}
	if c.turnIDs[one.use.ID] == nil { // of two with one id the first is meant
		c.turnIDs[one.use.ID] = one
	}
	c.read(Reading{Role: Call, ID: one.use.ID, Toolset: one.use.ToolsetName, Name: one.use.Name, Text: string(one.use.Input)})
}

// answersTo takes a user message.
func (c *Conversation) answersTo(blocks []*value, found *findings) {
	var before *value // the last block that is no result
	told := false
	for _, block := range blocks {
		kind := block.get("type").text()
		if kind == "tool_result" {
			if before != nil && !told {
				told = true
				found.add("result-first", block, "a result after a block of type "+quote(before.get("type").text()), "the results first")
			}
			c.answer(block, found)
			continue
		}
		before = block
		switch kind {
		case "text":
			textBlock(block, found)
			c.read(Reading{Role: User, Text: block.get("text").text()})
		case "image":
			c.image(block, false, found)
		case "browser_state":
			found.add("state-on-other", block, "a browser_state outside of a result", "none")
		case "tool_use":
			found.add("message-shape", block, "a tool_use of the user", "none: calls are the assistant's")
		}
	}
}

// answer takes a tool_result block.
func (c *Conversation) answer(block *value, found *findings) {
	id := block.get("tool_use_id")
	if id.text() == "" {
		found.wrong("result-shape", block, "tool_use_id", "a text")
		return
	}
	one := c.turnIDs[id.text()]
	if one == nil {
		found.add("result-unknown", id, quote(id.text()), "the id of a call of the turn before")
		c.read(Reading{Role: Result, ID: id.text(), IsError: block.get("is_error").isTrue(), Text: plainText(block.get("content"))})
		return
	}
	if one.result != nil {
		found.add("result-twice", id, "a second result for "+quote(id.text()), "one")
		return
	}
	if c.answers >= 0 && c.answers != c.messages {
		found.add("result-one-message", block, "a result in another message than the first of its turn", "all in one")
	}
	c.answers = c.messages
	c.place++
	one.result, one.place = block, c.place
	c.result(one, found)
}

// settle ends the turn: all of its calls must have been answered by now.
func (c *Conversation) settle(found *findings) {
	failed, last := false, 0
	for _, one := range c.turn {
		if one.result == nil {
			found.add("result-missing", one.at, "the call "+quote(one.use.ID)+" without a result", "a tool_result for it in the next message")
			continue
		}
		if one.place < last {
			found.add("result-order", one.result, "a result before that of an earlier call", "the order of the calls")
		}
		last = max(last, one.place)
		if !one.member {
			continue
		}
		one.failure(failed, found)
		failed = failed || one.isError
	}
	c.turn, c.turnIDs, c.answers = nil, nil, -1
}

// failure checks how the result tells a failure; halted tells that an earlier call of the turn failed.
func (one *call) failure(halted bool, found *findings) {
	path := one.result.path() + ".content"
	halt := one.text == contract.HaltText
	switch {
	case halted && !(one.isError && halt):
		found.addAt("halt", path, "another result after the first failure of the turn", "is_error and "+quote(contract.HaltText))
	case !halted && halt:
		found.addAt("halt-unfounded", path, "the halt text, and no failure before", "a result of its own")
	case one.isError && !halt && one.text != "" && !strings.HasPrefix(one.text, "Error: "):
		found.addAt("error-prefix", path, quote(one.text), `"Error: " before it`)
	}
}
