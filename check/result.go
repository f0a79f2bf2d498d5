package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pagehand/pagehand"
	"github.com/pagehand/pagehand/contract"
)

// Limits of what members return (contract §4).
const (
	readLimit = 50_000
	findLimit = 20
)

// answer is what a member's result holds.
type answer struct {
	texts  []*value // text blocks; of content that is a text, the content
	images []image.Point
	states []*value // browser_state blocks
	state  *contract.BrowserState
	blocks []contract.Block // all that can be read, for rendering
}

// result checks the result of a call.
func (c *Conversation) result(one *call, found *findings) {
	r := one.result
	onlyFields(r, found, "type", "tool_use_id", "toolset_name", "is_error", "content", "cache_control")
	isError := r.get("is_error")
	if isError != nil && !isError.isBool() {
		found.add("result-shape", isError, isError.show(), "true or false")
	}
	one.isError = isError.isTrue()
	one.toolsetName(found)
	content := r.get("content")
	if content != nil && !content.isText() && !content.isList() {
		found.add("result-shape", content, content.show(), "a text or a list of blocks")
		content = nil
	}
	if !one.member {
		c.otherResult(one, content, found)
		return
	}
	a := c.memberBlocks(content, one.isError, found)
	var words strings.Builder
	for _, text := range a.texts {
		words.WriteString(text.words())
	}
	one.text = words.String()
	if one.isError {
		c.failed(one, a, found)
	} else {
		c.succeeded(one, a, found)
	}
	res := contract.ToolResult{ToolUseID: one.use.ID, ToolsetName: one.use.ToolsetName, IsError: one.isError, Content: a.blocks}
	c.read(Reading{Role: Result, ID: one.use.ID, Toolset: one.use.ToolsetName, Name: one.use.Name, IsError: one.isError, Text: c.view.Render(one.use, res)})
}

// toolsetName checks that the result echoes the call's.
func (one *call) toolsetName(found *findings) {
	name, want := one.result.get("toolset_name"), one.use.ToolsetName
	switch {
	case name.text() == want && (name == nil || want != ""):
	case one.member:
		found.wrong("result-toolset-name", one.result, "toolset_name", quote(want))
	case want == "":
		found.wrong("result-other-toolset-name", one.result, "toolset_name", "no such field: the call is no toolset's")
	default:
		found.wrong("result-other-toolset-name", one.result, "toolset_name", quote(want))
	}
}

// otherResult takes the result of a call that is no member's.
func (c *Conversation) otherResult(one *call, content *value, found *findings) {
	if content.isList() {
		for _, block := range content.items {
			switch block.get("type").text() {
			case "text":
				resultText(block, found)
			case "image":
				c.image(block, one.use.ToolsetName != "", found)
			case "browser_state":
				found.add("state-on-other", block, "a browser_state in the result of "+quote(one.use.Name), "none")
			}
		}
	}
	c.read(Reading{Role: Result, ID: one.use.ID, Toolset: one.use.ToolsetName, Name: one.use.Name, IsError: one.isError, Text: plainText(content)})
}

// memberBlocks reads the blocks of a member's result.
func (c *Conversation) memberBlocks(content *value, isError bool, found *findings) answer {
	var a answer
	if content.isText() {
		a.texts = []*value{content}
		a.blocks = []contract.Block{contract.Text{Text: content.text()}}
		return a
	}
	if content == nil {
		return a
	}
	for _, block := range content.items {
		switch kind := block.get("type").text(); kind {
		case "text":
			onlyFields(block, found, "type", "text", "cache_control", "citations")
			resultText(block, found)
			a.texts = append(a.texts, block)
			a.blocks = append(a.blocks, contract.Text{Text: block.words()})
		case "image":
			if isError {
				found.add("error-text", block, "an image in an error result", "text only")
			}
			onlyFields(block, found, "type", "source", "cache_control")
			picture, size := c.image(block, true, found)
			a.images = append(a.images, size)
			a.blocks = append(a.blocks, picture)
		case "browser_state":
			a.states = append(a.states, block)
			if isError {
				continue
			}
			if len(a.states) > 1 {
				found.add("state-twice", block, "another browser_state", "one in a result")
				continue
			}
			state, problems := contract.CheckState(block.raw)
			for _, p := range problems {
				path := block.path()
				if p.Path != "" {
					path += "." + p.Path
				}
				found.addAt(string(p.Rule), path, p.Got, p.Want)
			}
			if state == nil {
				continue
			}
			a.blocks = append(a.blocks, state)
			if len(problems) == 0 {
				a.state = state
			}
		default:
			found.add("result-block", block, block.show(), "a text, image or browser_state block")
		}
	}
	return a
}

// words is the text of a text block, or of content that is a text.
func (v *value) words() string {
	if v.isText() {
		return v.text()
	}
	return v.get("text").text()
}

// resultText checks a text block of a result.
func resultText(block *value, found *findings) {
	if block.get("text").text() == "" {
		found.wrong("result-text", block, "text", "a text that is not empty")
	}
}

func onlyFields(v *value, found *findings, names ...string) {
	for _, field := range v.fields {
		if !slices.Contains(names, field.name) && !field.isNull() {
			found.add("result-field", field, field.show(), "no such field")
		}
	}
}

// failed checks an error result of a member. How its text must begin depends on the whole turn: see [call.failure].
func (c *Conversation) failed(one *call, a answer, found *findings) {
	for _, state := range a.states {
		found.add("state-on-error", state, "a browser_state in an error result", "none")
	}
	if one.text == "" && len(a.images) == 0 && len(a.states) == 0 {
		found.wrong("error-empty", one.result, "content", "a text that says what went wrong")
	}
	renderedText(a.texts, found)
	c.doubtful = true
}

// succeeded checks a result of a member that is no error.
func (c *Conversation) succeeded(one *call, a answer, found *findings) {
	member, known := memberNamed(one.use.Name)
	c.accepted(one, known, found)
	renderedText(a.texts, found)
	content := one.result.get("content")
	switch {
	case member.TabManagement:
		if !content.isList() || len(content.items) != 1 || len(a.states) != 1 {
			found.wrong("tab-result", one.result, "content", "exactly one browser_state block")
		}
	case one.use.Name == "screenshot" || one.use.Name == "zoom":
		c.picture(one, a, found)
	case known && one.text == "":
		found.wrong("member-text", one.result, "content", "a text block")
	}
	if len(a.texts) > 0 {
		outputLimits(one.use.Name, a.texts[0], found)
	}
	switch {
	case a.state != nil:
		c.state(one, a.states[0], a.state, found)
	case len(a.states) > 0:
		c.doubtful = true // a broken block says nothing of the tabs
	}
}

// accepted checks whether the call should have been answered with an error.
func (c *Conversation) accepted(one *call, known bool, found *findings) {
	name := one.at.get("name")
	switch {
	case !known:
		found.add("unknown-accepted", name, quote(one.use.Name)+", which succeeded", "an error result: it is no member")
		return
	case c.enabled != nil && !c.enabled[one.use.Name]:
		found.add("disabled-accepted", name, quote(one.use.Name)+", which succeeded", "an error result: it is not enabled")
	}
	input := one.at.get("input")
	if !input.isObject() {
		return // told already
	}
	if one.use.Name == "switch_tab" || one.use.Name == "close_tab" {
		id := input.get("tab_id")
		if id.text() == "" {
			found.add("tab-input", input, "a tab_id that is "+id.show(), "the id of a tab, or an error result")
			return
		}
		if p, bad := contract.CheckField(id.text()); bad {
			found.add("tab-input", id, p.Got, p.Want+", or an error result")
			return
		}
	}
	err := pagehand.CheckInput(one.use.Name, input.raw)
	if err == nil {
		err = c.outside(input)
	}
	if err != nil {
		found.add("input-accepted", input, "an input that was accepted: "+oneLine(err.Error()), "an error result")
	}
}

// outside reports a coordinate outside of the screenshot.
func (c *Conversation) outside(input *value) error {
	if c.frame == (image.Point{}) {
		return nil
	}
	viewport := image.Rectangle{Max: c.frame}
	for _, name := range []string{"from", "target"} {
		target := input.get(name)
		x, isX := target.get("x").whole()
		y, isY := target.get("y").whole()
		if isX && isY && !image.Pt(x, y).In(viewport) {
			return fmt.Errorf("%s (%d, %d) is outside of the viewport of %dx%d", name, x, y, c.frame.X, c.frame.Y)
		}
	}
	region := input.get("region")
	if !region.isList() || len(region.items) != 4 {
		return nil
	}
	x1, isX := region.items[2].whole()
	y1, isY := region.items[3].whole()
	if isX && isY && !image.Rect(0, 0, x1, y1).In(viewport) {
		return fmt.Errorf("region %s is outside of the viewport of %dx%d", region.shown(), c.frame.X, c.frame.Y)
	}
	return nil
}

// picture checks the result of a screenshot or zoom.
func (c *Conversation) picture(one *call, a answer, found *findings) {
	if len(a.images) == 0 {
		if c.messages >= c.newest { // of the results before, an application may have taken the images out
			found.wrong("screenshot-image", one.result, "content", "an image block")
		}
		return
	}
	if one.use.Name == "zoom" {
		return
	}
	if len(a.states) > 0 && one.text == "" {
		found.wrong("screenshot-text", one.result, "content", `a text such as "Screenshot captured." beside the browser_state`)
	}
	size := a.images[0]
	switch {
	case size == (image.Point{}):
	case c.frame == (image.Point{}):
		c.frame = size
	case size != c.frame:
		found.wrong("screenshot-size", one.result, "content", fmt.Sprintf("an image of %dx%d, as the first screenshot, and not of %dx%d", c.frame.X, c.frame.Y, size.X, size.Y))
	}
}

// outputLimits checks the bounds of what a member returns. text is its own block; an application may add others.
func outputLimits(name string, text *value, found *findings) {
	words := text.words()
	switch name {
	case "read_page":
		if n := utf8.RuneCountInString(words); n > readLimit {
			found.add("read-limit", text, fmt.Sprintf("%d characters", n), fmt.Sprintf("at most %d", readLimit))
		}
	case "find":
		if n := len(elementLine.FindAllString(words, -1)); n > findLimit {
			found.add("find-limit", text, fmt.Sprintf("%d elements", n), fmt.Sprintf("at most %d", findLimit))
		}
	}
}

var elementLine = regexp.MustCompile(`(?m)\[ref_\w+\]`)

// rendered finds what only the API writes (contract §6), at the beginning of a line.
var rendered = regexp.MustCompile(`(?m)^(Tab Context:\n- Executed on tab_id: |Available tabs:\n  • tab_id |Created new tab with tab_id: .*It is now the current tab\.|Download (started|completed|failed) with download_id: .*, URL: ")`)

func renderedText(texts []*value, found *findings) {
	for _, text := range texts {
		if line := rendered.FindString(text.words()); line != "" {
			found.add("rendered-text", text, quote(line), "none of what the API renders: send the browser_state")
			return
		}
	}
}

// state checks a browser_state against its call and what came before.
func (c *Conversation) state(one *call, block *value, state *contract.BrowserState, found *findings) {
	path := block.path()
	active, _ := state.Active()
	if one.use.Name == "new_tab" {
		opened := opened(state)
		if len(opened) != 1 || opened[0] != active.TabID {
			found.addAt("new-tab-opened", path, fmt.Sprintf("tab_opened for %s, and %q is active", list(opened), active.TabID), "exactly one tab_opened, of the active tab")
		}
	}
	for i, change := range state.StateChanges {
		at := fmt.Sprintf("%s.state_changes[%d]", path, i)
		if change.Type != contract.TabOpened {
			c.download(change, at, found)
		} else if isListed(c.tabs, change.TabID) {
			found.addAt("tab-id-reused", at+".tab_id", quote(change.TabID)+", which has been open", "an id that no open tab has")
		}
	}
	c.focus(one, path, state, active, found)
	c.tabs, c.doubtful = state.Tabs, false
}

// focus checks which tab is active.
func (c *Conversation) focus(one *call, path string, state *contract.BrowserState, active contract.Tab, found *findings) {
	id := one.at.get("input").get("tab_id").text()
	switch one.use.Name {
	case "new_tab":
		return
	case "switch_tab":
		if id != "" && active.TabID != id { // an empty one is told already
			found.addAt("switch-active", path+".tabs", fmt.Sprintf("%q is active", active.TabID), quote(id))
		}
		return
	case "close_tab":
		if isListed(state.Tabs, id) {
			found.addAt("closed-listed", path+".tabs", quote(id)+", which was closed", "the tabs that are open")
			return
		}
	}
	before, had := (&contract.BrowserState{Tabs: c.tabs}).Active()
	if had && !c.doubtful && active.TabID != before.TabID && isListed(state.Tabs, before.TabID) {
		found.addAt("active-changed", path+".tabs", fmt.Sprintf("%q is active after %s", active.TabID, one.use.Name), quote(before.TabID)+", as before")
	}
}

// download checks that the events of a download come once and in order.
func (c *Conversation) download(change contract.StateChange, path string, found *findings) {
	before, had := c.downloads[change.DownloadID]
	if had && (before != contract.DownloadStarted || change.Type == contract.DownloadStarted) {
		found.addAt("download-repeated", path, fmt.Sprintf("%s of %q after %s", change.Type, change.DownloadID, before), "each event once")
	}
	c.downloads[change.DownloadID] = change.Type
}

func opened(state *contract.BrowserState) []string {
	var ids []string
	for _, change := range state.StateChanges {
		if change.Type == contract.TabOpened {
			ids = append(ids, change.TabID)
		}
	}
	return ids
}

func isListed(tabs []contract.Tab, id string) bool {
	return slices.ContainsFunc(tabs, func(tab contract.Tab) bool { return tab.TabID == id })
}

func list(ids []string) string {
	if len(ids) == 0 {
		return "no tab"
	}
	return shorten(fmt.Sprintf("%q", ids))
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// plainText is what is read of content that is not a member's: its texts, and the kinds of other blocks.
func plainText(content *value) string {
	if content.isText() {
		return content.text()
	}
	if !content.isList() {
		return ""
	}
	parts := make([]string, 0, len(content.items))
	for _, block := range content.items {
		switch kind := block.get("type").text(); kind {
		case "text":
			parts = append(parts, block.words())
		default:
			parts = append(parts, "["+kind+"]")
		}
	}
	return strings.Join(parts, "\n")
}

// shown is the value itself, compacted.
func (v *value) shown() string {
	var compact bytes.Buffer
	if err := json.Compact(&compact, v.raw); err != nil {
		return v.show()
	}
	return shorten(compact.String())
}
