package api

import (
	"encoding/base64"
	"encoding/json"
	"image"
	_ "image/gif" // the formats that the API takes
	_ "image/jpeg"
	_ "image/png"
	"strings"
	"unicode/utf8"

	"github.com/pagehand/pagehand"
	"github.com/pagehand/pagehand/contract"
)

// Usage counts are estimates: a token for every four bytes of text, an image by its size, and what contract §9 tells of the toolset's
// definition.
const (
	bytesPerToken  = 4
	imageSide      = 28   // pixels on a side of the square that is one visual token (contract §3)
	unknownImage   = 1600 // tokens of an image that can't be measured
	entryTokens    = 6610 // of the definition with its default members
	offTokens      = 220  // of each member that is off unless enabled
	messageTokens  = 4    // of a message's frame
	callTokens     = 12   // of a call beside its name and input
	systemOverhead = 20
)

// textTokens estimates a text.
func textTokens(s string) int { return (len(s) + bytesPerToken - 1) / bytesPerToken }

// cutText is the beginning of a text, of so many tokens.
func cutText(s string, tokens int) string {
	n := tokens * bytesPerToken
	if n >= len(s) {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func useTokens(use contract.ToolUse) int {
	return callTokens + textTokens(use.Name) + textTokens(string(use.Input))
}

// tokens estimates the output.
func (a *answer) tokens() int {
	n := textTokens(a.says)
	for _, use := range a.calls {
		n += useTokens(use)
	}
	return max(n, 1)
}

// limit cuts the answer so that it has about so many tokens at most, as max_tokens does: the text breaks off, or a call does, which then
// has no input. False means that there was nothing to cut.
func (a *answer) limit(most int) bool {
	left := most - textTokens(a.says)
	if left < 0 {
		a.says, a.calls = cutText(a.says, most), nil
		return true
	}
	for i := range a.calls {
		if left -= useTokens(a.calls[i]); left >= 0 {
			continue
		}
		a.calls = a.calls[:i+1]
		a.calls[i].ID += cutMark
		a.calls[i].Input = json.RawMessage("{}")
		a.cut = true
		return true
	}
	return false
}

// halve cuts the last call off, or the text in half.
func (a *answer) halve() {
	if n := len(a.calls); n > 0 {
		a.limit(a.tokens() - useTokens(a.calls[n-1])/2)
		return
	}
	a.limit(textTokens(a.says) / 2)
}

// block is what the estimate needs of a content block.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Name      string          `json:"name"`
	ID        string          `json:"id"`
	ToolUseID string          `json:"tool_use_id"`
	Input     json.RawMessage `json:"input"`
	Tabs      json.RawMessage `json:"tabs"`
	Content   json.RawMessage `json:"content"`
	Source    struct {
		Data string `json:"data"`
	} `json:"source"`
	CacheControl json.RawMessage `json:"cache_control"`
}

// blocksOf reads content, a text or a list of blocks.
func blocksOf(content json.RawMessage) []block {
	var text string
	if json.Unmarshal(content, &text) == nil && text != "" {
		return []block{{Type: "text", Text: text}}
	}
	var blocks []block
	if err := json.Unmarshal(content, &blocks); err != nil {
		return nil // of another shape, which has no tokens
	}
	return blocks
}

func (b block) tokens() int {
	if b.Type == "image" {
		return imageTokens(b.Source.Data)
	}
	n := textTokens(b.Text) + textTokens(b.Name) + textTokens(string(b.Input)) + textTokens(string(b.Tabs))
	for _, inner := range blocksOf(b.Content) {
		n += inner.tokens()
	}
	return n
}

// marked reports whether the block, or one inside, has a cache marker.
func (b block) marked() bool {
	if len(b.CacheControl) > 0 && string(b.CacheControl) != "null" {
		return true
	}
	for _, inner := range blocksOf(b.Content) {
		if inner.marked() {
			return true
		}
	}
	return false
}

func imageTokens(data string) int {
	config, _, err := image.DecodeConfig(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
	if err != nil {
		return unknownImage
	}
	squares := func(side int) int { return (side + imageSide - 1) / imageSide }
	return squares(config.Width) * squares(config.Height)
}

// toolTokens estimates an entry of tools.
func toolTokens(raw json.RawMessage) int {
	var t tool
	if err := json.Unmarshal(raw, &t); err != nil || t.Type != contract.ToolsetType {
		return textTokens(string(raw))
	}
	n, members := entryTokens, pagehand.Members()
	on := 0
	for _, m := range members {
		if !m.Off {
			on++
		}
	}
	for _, m := range members {
		enabled := t.Configs[m.Name].Enabled
		switch {
		case enabled == nil || *enabled == !m.Off:
		case m.Off:
			n += offTokens
		default:
			n -= entryTokens / on
		}
	}
	return n
}
