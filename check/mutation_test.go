package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"slices"
	"strings"
	"testing"

	"github.com/pagehand/pagehand"
	"github.com/pagehand/pagehand/contract"
)

// mutation breaks a valid request so that exactly one rule finds it.
type mutation struct {
	rule string
	name string
	do   func(m *mutant) bool // false when the request has nothing to break
	raw  func(data []byte) []byte
}

// mutant is a request to be broken.
type mutant struct {
	*generator // only for its randomness
	body       object
}

// pair is a call with its result.
type pair struct {
	turn        int // index of the assistant message
	use, result object
	index       int // of the result in its message
	last        bool
	halted      bool // an earlier call of the turn failed
	told        bool // an inventory came before, and no failure since
	listed      []string
}

func (m *mutant) messages() array { return m.body["messages"].(array) }

func (m *mutant) pairs() []pair {
	var pairs []pair
	told, listed := false, []string(nil)
	messages := m.messages()
	for i, message := range messages {
		said, ok := message.(object)["content"].(array)
		if !ok || message.(object)["role"] != "assistant" {
			continue
		}
		results := messages[i+1].(object)["content"].(array)
		first, halted := len(pairs), false
		for _, block := range said {
			use := block.(object)
			if use["type"] != "tool_use" {
				continue
			}
			index := slices.IndexFunc(results, func(r any) bool { return r.(object)["tool_use_id"] == use["id"] })
			result := results[index].(object)
			pairs = append(pairs, pair{turn: i, use: use, result: result, index: index, halted: halted, told: told, listed: listed})
			if use["toolset_name"] != "browser" {
				continue
			}
			if result["is_error"] == true {
				halted, told = true, false
			}
			if state := stateOf(result); state != nil {
				told, listed = true, tabIDs(state)
			}
		}
		if len(pairs) > first {
			pairs[len(pairs)-1].last = true
		}
	}
	return pairs
}

func stateOf(result object) object {
	blocks, _ := result["content"].(array)
	for _, b := range blocks {
		if b.(object)["type"] == "browser_state" {
			return b.(object)
		}
	}
	return nil
}

func tabIDs(state object) []string {
	var ids []string
	for _, tab := range state["tabs"].(array) {
		ids = append(ids, tab.(object)["tab_id"].(string))
	}
	return ids
}

func changesOf(state object) array {
	changes, _ := state["state_changes"].(array)
	return changes
}

// blocks turns a result's content into a list.
func (p pair) blocks() array {
	if s, ok := p.result["content"].(string); ok {
		p.result["content"] = array{text(s)}
	}
	blocks, _ := p.result["content"].(array)
	return blocks
}

func (p pair) add(blocks ...any) { p.result["content"] = append(p.blocks(), blocks...) }

func (p pair) member() bool { return p.use["toolset_name"] == "browser" }
func (p pair) failed() bool { return p.member() && p.result["is_error"] == true }
func (p pair) ok() bool     { return p.member() && !p.failed() }
func (p pair) named(names ...string) bool {
	return p.ok() && slices.Contains(names, p.use["name"].(string))
}

// plain is a success whose result may hold texts and images and says nothing of the tabs.
func (p pair) plain() bool {
	return p.named("type", "key", "scroll", "wait", "left_click") && stateOf(p.result) == nil
}

func (p pair) manages() bool {
	member, _ := memberNamed(p.use["name"].(string))
	return p.ok() && member.TabManagement
}

func (p pair) hasState() bool { return p.ok() && stateOf(p.result) != nil }

func (p pair) firstFailure() bool { return p.failed() && !p.halted }

// pick picks a pair at random.
func (m *mutant) pick(fits func(pair) bool) (pair, bool) {
	pairs := slices.DeleteFunc(m.pairs(), func(p pair) bool { return !fits(p) })
	if len(pairs) == 0 {
		return pair{}, false
	}
	return oneOf(m.generator, pairs...), true
}

// on makes a mutation of a pair.
func on(fits func(pair) bool, change func(m *mutant, p pair)) func(*mutant) bool {
	return func(m *mutant) bool {
		p, ok := m.pick(fits)
		if ok {
			change(m, p)
		}
		return ok
	}
}

// onState makes a mutation of a browser_state.
func onState(change func(m *mutant, state object)) func(*mutant) bool {
	return on(pair.hasState, func(m *mutant, p pair) { change(m, stateOf(p.result)) })
}

// onChange adds entries to the state_changes of a browser_state that is not new_tab's.
func addChanges(changes ...any) func(*mutant) bool {
	fits := func(p pair) bool { return p.hasState() && p.use["name"] != "new_tab" }
	return on(fits, func(m *mutant, p pair) {
		state := stateOf(p.result)
		state["state_changes"] = append(changesOf(state), changes...)
	})
}

func (m *mutant) entry() object {
	for _, tool := range m.body["tools"].(array) {
		if tool.(object)["type"] == contract.ToolsetType {
			return tool.(object)
		}
	}
	return nil
}

// onEntry makes a mutation of the toolset entry.
func onEntry(change func(m *mutant, entry object)) func(*mutant) bool {
	return func(m *mutant) bool { change(m, m.entry()); return true }
}

// inEntry sets a field of the toolset entry.
func inEntry(name string, value any) func(*mutant) bool {
	return onEntry(func(_ *mutant, entry object) { entry[name] = value })
}

func configs(entry object) object {
	c, ok := entry["configs"].(object)
	if !ok {
		c = object{}
		entry["configs"] = c
	}
	return c
}

// deferAll sets defer_loading on every member that is on.
func deferAll(entry object) {
	c := configs(entry)
	for _, m := range pagehand.Members() {
		config, ok := c[m.Name].(object)
		if !ok {
			config = object{}
			c[m.Name] = config
		}
		config["defer_loading"] = true
	}
}

func inBody(name string, value any) func(*mutant) bool {
	return func(m *mutant) bool { m.body[name] = value; return true }
}

// first changes the first message.
func first(change func(message object)) func(*mutant) bool {
	return func(m *mutant) bool { change(m.messages()[0].(object)); return true }
}

// images puts images into the first message.
func images(m *mutant, blocks ...any) {
	m.messages()[0].(object)["content"] = array(blocks)
}

func repeat(n int, block object) array {
	blocks := array{}
	for range n {
		blocks = append(blocks, block)
	}
	return blocks
}

// countImages counts the image blocks of a request.
func (m *mutant) countImages() int {
	return bytes.Count(must(json.Marshal(m.body)), []byte(`"type":"image"`))
}

func must(data []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return data
}

// results are the blocks of the message that answers a pair's turn.
func (m *mutant) results(p pair) array { return m.messages()[p.turn+1].(object)["content"].(array) }

func (m *mutant) setResults(p pair, blocks array) {
	m.messages()[p.turn+1].(object)["content"] = blocks
}

// end leaves nothing after a pair's turn.
func (m *mutant) end(p pair) { m.body["messages"] = m.messages()[:p.turn+2] }

func anyPair(pair) bool { return true }

func tab(fields object) object {
	whole := object{"tab_id": "tab-500", "title": "", "url": ""}
	for name, v := range fields {
		whole[name] = v
	}
	return whole
}

func download(fields object) object {
	whole := object{"type": "download_started", "download_id": "dl-500", "url": "https://example.com/x"}
	for name, v := range fields {
		whole[name] = v
	}
	return whole
}

func firstTab(state object) (object, bool) {
	tabs := state["tabs"].(array)
	return tabs[0].(object), true
}

// setTab sets a field of the first tab.
func setTab(name string, value any) func(*mutant) bool {
	return onState(func(_ *mutant, state object) {
		tab, _ := firstTab(state)
		tab[name] = value
	})
}

var mutations = []mutation{
	{rule: "json", name: "cut", raw: func(data []byte) []byte { return data[:len(data)-1] }},
	{rule: "json", name: "not UTF-8", raw: func(data []byte) []byte { return append(data[:len(data)-1:len(data)-1], ",\"\xff\":1}"...) }},
	{rule: "json-duplicate-key", raw: func(data []byte) []byte { return append([]byte(`{"max_tokens":5,`), data[1:]...) }},
	{rule: "request-shape", name: "no model", do: func(m *mutant) bool { delete(m.body, "model"); return true }},
	{rule: "request-shape", name: "no messages", do: inBody("messages", array{})},
	{rule: "request-shape", name: "max_tokens below 0", do: inBody("max_tokens", -1)},
	{rule: "request-shape", name: "tool_choice", do: inBody("tool_choice", "auto")},
	{rule: "request-shape", name: "a tool", do: func(m *mutant) bool { m.body["tools"] = append(m.body["tools"].(array), "x"); return true }},
	{rule: "message-shape", name: "empty", do: first(func(m object) { m["content"] = "" })},
	{rule: "message-shape", name: "no block", do: first(func(m object) { m["content"] = array{} })},
	{rule: "message-shape", name: "role", do: first(func(m object) { m["role"] = "robot" })},
	{rule: "message-shape", name: "untyped block", do: first(func(m object) { m["content"] = array{text("x"), object{"text": "y"}} })},
	{rule: "message-shape", name: "a call of the user", do: first(func(m object) {
		m["content"] = array{object{"type": "tool_use", "id": "x", "name": "y", "input": object{}}}
	})},
	{rule: "message-shape", name: "a result of the assistant", do: on(anyPair, func(m *mutant, p pair) {
		said := m.messages()[p.turn].(object)
		said["content"] = append(said["content"].(array), object{"type": "tool_result", "tool_use_id": "x"})
	})},
	{rule: "message-shape", name: "an empty assistant", do: on(anyPair, func(m *mutant, p pair) {
		m.body["messages"] = append(m.messages()[:p.turn+2], object{"role": "assistant", "content": ""}, object{"role": "user", "content": "Go on."})
	})},
	{rule: "text-blank", name: "a content", do: first(func(m object) { m["content"] = " \n" })},
	{rule: "text-blank", name: "a block", do: first(func(m object) { m["content"] = array{text("x"), text("")} })},
	{rule: "text-blank", name: "no text", do: first(func(m object) { m["content"] = array{object{"type": "text"}} })},
	{rule: "text-blank", name: "the assistant's", do: on(anyPair, func(m *mutant, p pair) {
		said := m.messages()[p.turn].(object)
		said["content"] = append(array{text(" ")}, said["content"].(array)...)
	})},
	{rule: "message-field", name: "model_view", do: first(func(m object) { m["model_view"] = "x" })},
	{rule: "message-field", name: "a whole response", do: on(anyPair, func(m *mutant, p pair) { m.messages()[p.turn].(object)["stop_reason"] = "tool_use" })},
	{rule: "model-toolset", do: inBody("model", "claude-opus-4-7")},
	{rule: "model-unknown", do: inBody("model", "claude-opus-99")},
	{rule: "beta-fine-grained", do: inBody("betas", array{fineGrainedBeta})},
	{rule: "cache-markers", do: first(func(m object) {
		marked := text("x")
		marked["cache_control"] = object{"type": "ephemeral"}
		m["content"] = repeat(5, marked)
	})},

	{rule: "entry-name", do: inEntry("name", "browser")},
	{rule: "entry-strict", do: inEntry("strict", true)},
	{rule: "entry-input-examples", do: inEntry("input_examples", array{})},
	{rule: "entry-defer-loading", do: inEntry("defer_loading", true)},
	{rule: "entry-field", do: inEntry("display_width_px", 1280)},
	{rule: "entry-callers", name: "code", do: inEntry("allowed_callers", array{"direct", "code_execution_20260120"})},
	{rule: "entry-callers", name: "none", do: inEntry("allowed_callers", array{})},
	{rule: "entry-second", do: func(m *mutant) bool {
		m.body["tools"] = append(m.body["tools"].(array), object{"type": contract.ToolsetType})
		return true
	}},
	{rule: "entry-name-taken", do: func(m *mutant) bool {
		m.body["tools"] = append(m.body["tools"].(array), object{"name": "browser", "input_schema": object{}})
		return true
	}},
	{rule: "entry-missing", do: func(m *mutant) bool {
		m.body["tools"] = slices.DeleteFunc(m.body["tools"].(array), func(tool any) bool { return tool.(object)["type"] == contract.ToolsetType })
		_, ok := m.pick(pair.member)
		return ok
	}},
	{rule: "configs-shape", name: "list", do: func(m *mutant) bool { m.entry()["configs"] = array{}; return true }},
	{rule: "configs-shape", name: "member", do: onEntry(func(_ *mutant, entry object) { configs(entry)["read_page"] = true })},
	{rule: "configs-shape", name: "not a boolean", do: onEntry(func(_ *mutant, entry object) { configs(entry)["read_page"] = object{"defer_loading": "yes"} })},
	{rule: "configs-member", do: onEntry(func(_ *mutant, entry object) { configs(entry)["teleport"] = object{} })},
	{rule: "configs-field", do: onEntry(func(_ *mutant, entry object) { configs(entry)["read_page"] = object{"cache_control": nil} })},
	{rule: "configs-defer-mixed", do: onEntry(func(_ *mutant, entry object) { configs(entry)["read_page"] = object{"defer_loading": true} })},
	{rule: "configs-none", do: func(m *mutant) bool {
		for _, member := range pagehand.Members() {
			configs(m.entry())[member.Name] = object{"enabled": false}
		}
		m.body["messages"] = m.messages()[:1]
		return true
	}},
	{rule: "entry-cache-deferred", do: onEntry(func(m *mutant, entry object) {
		deferAll(entry)
		entry["cache_control"] = object{"type": "ephemeral"}
		m.body["tools"] = append(m.body["tools"].(array), object{"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"})
	})},
	{rule: "entry-defer-search", do: onEntry(func(m *mutant, entry object) { deferAll(entry); delete(entry, "cache_control") })},
	{rule: "tool-choice", name: "toolset", do: inBody("tool_choice", object{"type": "tool", "name": "browser"})},
	{rule: "tool-choice", name: "member", do: inBody("tool_choice", object{"type": "tool", "name": "zoom"})},

	{rule: "tool-name-twice", do: func(m *mutant) bool {
		for range 2 {
			m.body["tools"] = append(m.body["tools"].(array), object{"name": "twin", "input_schema": object{}})
		}
		return true
	}},
	{rule: "tool-choice-unknown", do: func(m *mutant) bool {
		m.body["tool_choice"] = object{"type": "tool", "name": "nothing"}
		return !slices.ContainsFunc(m.body["tools"].(array), func(tool any) bool { return tool.(object)["type"] == "computer_toolset_20260801" })
	}},

	{rule: "call-shape", name: "input", do: on(anyPair, func(_ *mutant, p pair) { p.use["input"] = "x" })},
	{rule: "call-shape", name: "id", do: on(func(p pair) bool { return p.last && !p.hasState() }, func(m *mutant, p pair) {
		delete(p.use, "id")
		if blocks := slices.Delete(m.results(p), p.index, p.index+1); len(blocks) > 0 {
			m.setResults(p, blocks)
		} else {
			m.setResults(p, array{text("x")})
		}
	})},
	{rule: "call-shape", name: "name", do: func(m *mutant) bool {
		m.body["messages"] = append(m.messages()[:1], object{"role": "assistant", "content": array{object{"type": "tool_use", "id": "a", "input": object{}}}}, object{"role": "user", "content": "x"})
		return true
	}},
	{rule: "call-id", do: func(m *mutant) bool {
		pairs := m.pairs()
		p := pairs[len(pairs)-1]
		if p.turn == pairs[0].turn {
			return false
		}
		p.use["id"], p.result["tool_use_id"] = pairs[0].use["id"], pairs[0].use["id"]
		return true
	}},
	{rule: "call-id-form", do: on(anyPair, func(_ *mutant, p pair) {
		p.use["id"] = "functions.wait:0"
		p.result["tool_use_id"] = p.use["id"]
	})},
	{rule: "call-action", do: on(pair.failed, func(_ *mutant, p pair) { p.use["input"].(object)["action"] = "left_click" })},
	{rule: "result-shape", name: "is_error", do: on(pair.plain, func(_ *mutant, p pair) { p.result["is_error"] = "no" })},
	{rule: "result-shape", name: "content", do: on(func(p pair) bool { return !p.member() }, func(_ *mutant, p pair) { p.result["content"] = 5 })},
	{rule: "result-shape", name: "no id", do: on(anyPair, func(m *mutant, p pair) {
		m.setResults(p, slices.Insert(m.results(p), 0, any(object{"type": "tool_result", "content": "x"})))
	})},
	{rule: "result-missing", name: "one", do: on(func(p pair) bool { return p.last && !p.hasState() && p.index > 0 }, func(m *mutant, p pair) {
		m.setResults(p, slices.Delete(m.results(p), p.index, p.index+1))
	})},
	{rule: "result-missing", name: "the last turn's", do: on(anyPair, func(m *mutant, p pair) { m.body["messages"] = m.messages()[:p.turn+1] })},
	{rule: "result-missing", name: "an earlier turn's", do: func(m *mutant) bool {
		m.body["messages"] = append(m.messages(), m.generatedCall(), object{"role": "user", "content": "Go on."}, object{"role": "assistant", "content": "Yes."})
		return true
	}},
	{rule: "result-unknown", do: on(anyPair, func(m *mutant, p pair) {
		m.setResults(p, slices.Insert(m.results(p), p.index, any(object{"type": "tool_result", "tool_use_id": "toolu_9999", "content": "x"})))
	})},
	{rule: "result-unknown", name: "late", do: func(m *mutant) bool {
		m.body["messages"] = append(m.messages(), object{"role": "assistant", "content": "Yes."}, object{"role": "user", "content": array{object{"type": "tool_result", "tool_use_id": m.pairs()[0].use["id"], "content": "x"}}})
		return true
	}},
	{rule: "result-twice", do: on(anyPair, func(m *mutant, p pair) {
		m.setResults(p, slices.Insert(m.results(p), p.index, any(p.result)))
	})},
	{rule: "result-toolset-name", name: "none", do: on(pair.member, func(_ *mutant, p pair) { delete(p.result, "toolset_name") })},
	{rule: "result-toolset-name", name: "another", do: on(pair.member, func(_ *mutant, p pair) { p.result["toolset_name"] = "computer" })},
	{rule: "result-other-toolset-name", name: "a tool's", do: on(func(p pair) bool { return p.use["toolset_name"] == nil }, func(_ *mutant, p pair) { p.result["toolset_name"] = "browser" })},
	{rule: "result-other-toolset-name", name: "another toolset's", do: on(func(p pair) bool { return p.use["toolset_name"] == "computer" }, func(_ *mutant, p pair) { delete(p.result, "toolset_name") })},
	{rule: "result-first", do: on(anyPair, func(m *mutant, p pair) { m.setResults(p, slices.Insert(m.results(p), 0, any(text("Here:")))) })},
	{rule: "result-one-message", do: on(func(p pair) bool { return p.index > 0 }, func(m *mutant, p pair) {
		blocks := m.results(p)
		rest := object{"role": "user", "content": slices.Clone(blocks[p.index:])}
		m.setResults(p, slices.Clone(blocks[:p.index]))
		m.body["messages"] = slices.Insert(m.messages(), p.turn+2, any(rest))
	})},
	{rule: "result-order", do: on(func(p pair) bool { return p.index > 0 && !p.hasState() }, func(m *mutant, p pair) {
		blocks := m.results(p)
		blocks[p.index-1], blocks[p.index] = blocks[p.index], blocks[p.index-1]
	})},
	{rule: "result-block", do: on(pair.plain, func(_ *mutant, p pair) { p.add(object{"type": "document", "source": object{}}) })},
	{rule: "result-block", name: "of an error", do: on(pair.failed, func(_ *mutant, p pair) { p.add(object{"type": "search_result"}) })},
	{rule: "result-field", name: "of the result", do: on(anyPair, func(_ *mutant, p pair) { p.result["name"] = "x" })},
	{rule: "result-field", name: "of a block", do: on(pair.plain, func(_ *mutant, p pair) { p.blocks()[0].(object)["name"] = "x" })},
	{rule: "result-text", name: "a success", do: on(pair.plain, func(_ *mutant, p pair) { p.add(text("")) })},
	{rule: "result-text", name: "an error", do: on(pair.failed, func(_ *mutant, p pair) { p.add(text("")) })},
	{rule: "result-text", name: "another tool's", do: on(func(p pair) bool { return !p.member() }, func(_ *mutant, p pair) { p.add(text("")) })},

	{rule: "error-text", do: on(pair.failed, func(_ *mutant, p pair) { p.add(picture(image.Pt(10, 10), "png")) })},
	{rule: "error-empty", name: "text", do: on(pair.firstFailure, func(_ *mutant, p pair) { p.result["content"] = "" })},
	{rule: "error-empty", name: "list", do: on(pair.firstFailure, func(_ *mutant, p pair) { p.result["content"] = array{} })},
	{rule: "error-empty", name: "absent", do: on(pair.firstFailure, func(_ *mutant, p pair) { delete(p.result, "content") })},
	{rule: "error-prefix", do: on(pair.firstFailure, func(_ *mutant, p pair) { p.result["content"] = "It failed." })},
	{rule: "halt", name: "another error", do: on(func(p pair) bool { return p.failed() && p.halted }, func(_ *mutant, p pair) { p.result["content"] = "Error: Skipped." })},
	{rule: "halt", name: "another text", do: on(func(p pair) bool { return p.failed() && p.halted }, func(_ *mutant, p pair) { p.result["content"] = contract.HaltText + " Sorry." })},
	{rule: "halt", name: "a success", do: on(func(p pair) bool { return p.failed() && p.halted }, func(_ *mutant, p pair) {
		p.use["name"], p.use["input"] = "read_page", object{}
		p.result["is_error"], p.result["content"] = false, "button"
	})},
	{rule: "halt-unfounded", do: on(pair.firstFailure, func(_ *mutant, p pair) { p.result["content"] = contract.HaltText })},

	{rule: "tab-result", name: "a text too", do: on(pair.manages, func(_ *mutant, p pair) { p.add(text("Done.")) })},
	{rule: "tab-result", name: "only a text", do: on(func(p pair) bool { return p.named("list_tabs") }, func(_ *mutant, p pair) { p.result["content"] = "No tabs available" })},
	{rule: "tab-result", name: "nothing", do: on(func(p pair) bool { return p.named("list_tabs") }, func(_ *mutant, p pair) { delete(p.result, "content") })},
	{rule: "new-tab-opened", name: "none", do: on(func(p pair) bool { return p.named("new_tab") }, func(_ *mutant, p pair) { delete(stateOf(p.result), "state_changes") })},
	{rule: "new-tab-opened", name: "a popup too", do: on(func(p pair) bool { return p.named("new_tab") }, func(_ *mutant, p pair) {
		state := stateOf(p.result)
		state["tabs"] = append(state["tabs"].(array), tab(nil))
		state["state_changes"] = append(changesOf(state), object{"type": "tab_opened", "tab_id": "tab-500"})
	})},
	{rule: "tab-input", name: "empty", do: on(func(p pair) bool { return p.named("switch_tab", "close_tab") }, func(_ *mutant, p pair) { p.use["input"].(object)["tab_id"] = "" })},
	{rule: "tab-input", name: "two lines", do: on(func(p pair) bool { return p.named("close_tab") }, func(_ *mutant, p pair) { p.use["input"].(object)["tab_id"] = "tab-1\nClosed" })},
	{rule: "screenshot-image", do: on(func(p pair) bool { return p.named("screenshot", "zoom") }, func(m *mutant, p pair) {
		p.result["content"] = "Screenshot captured."
		m.end(p)
	})},
	{rule: "screenshot-text", do: on(func(p pair) bool { return p.named("screenshot") && p.hasState() }, func(_ *mutant, p pair) {
		p.result["content"] = slices.DeleteFunc(p.blocks(), func(b any) bool { return b.(object)["type"] == "text" })
	})},
	{rule: "screenshot-size", do: func(m *mutant) bool {
		pairs := slices.DeleteFunc(m.pairs(), func(p pair) bool { return !p.named("screenshot") })
		if len(pairs) < 2 {
			return false
		}
		pairs[len(pairs)-1].result["content"] = array{picture(image.Pt(320, 200), "png")}
		return true
	}},
	{rule: "member-text", name: "no block", do: on(pair.plain, func(_ *mutant, p pair) { p.result["content"] = array{} })},
	{rule: "member-text", name: "an image only", do: on(pair.plain, func(_ *mutant, p pair) { p.result["content"] = array{picture(image.Pt(10, 10), "png")} })},
	{rule: "input-accepted", name: "bound", do: on(func(p pair) bool { return p.named("key") }, func(_ *mutant, p pair) { p.use["input"].(object)["repeat"] = 101 })},
	{rule: "input-accepted", name: "unknown field", do: on(pair.plain, func(_ *mutant, p pair) { p.use["input"].(object)["speed"] = 1 })},
	{rule: "input-accepted", name: "outside", do: func(m *mutant) bool {
		pairs := m.pairs()
		shot := slices.IndexFunc(pairs, func(p pair) bool { return p.named("screenshot") })
		click := slices.IndexFunc(pairs, func(p pair) bool { return p.named("scroll") })
		if shot < 0 || click < shot {
			return false
		}
		pairs[click].use["input"].(object)["target"] = object{"type": "coordinate", "x": 640, "y": 5}
		return true
	}},
	{rule: "unknown-accepted", do: on(pair.plain, func(_ *mutant, p pair) { p.use["name"] = "teleport" })},
	{rule: "disabled-accepted", do: on(pair.plain, func(m *mutant, p pair) { configs(m.entry())[p.use["name"].(string)] = object{"enabled": false} })},
	{rule: "read-limit", do: on(func(p pair) bool { return p.named("read_page") }, func(_ *mutant, p pair) { p.blocks()[0].(object)["text"] = strings.Repeat("é", readLimit+1) })},
	{rule: "find-limit", do: on(func(p pair) bool { return p.named("find") }, func(_ *mutant, p pair) {
		p.blocks()[0].(object)["text"] = strings.Repeat("link \"A\" [ref_1]\n", findLimit+1)
	})},
	{rule: "rendered-text", name: "footer", do: on(pair.plain, func(_ *mutant, p pair) {
		p.result["content"] = "Clicked.\n\nTab Context:\n- Executed on tab_id: tab-1\n- Available tabs:"
	})},
	{rule: "rendered-text", name: "download", do: on(pair.plain, func(_ *mutant, p pair) {
		p.add(text(`Download completed with download_id: dl-1, URL: "https://example.com/a.csv". Size: 1 bytes.`))
	})},
	{rule: "rendered-text", name: "tabs", do: on(pair.plain, func(_ *mutant, p pair) {
		p.add(text("Available tabs:\n  • tab_id tab-1: \"A\" (https://example.com/) (current)"))
	})},

	{rule: "image-source", name: "media type", do: on(pair.plain, func(_ *mutant, p pair) {
		p.add(object{"type": "image", "source": object{"type": "base64", "media_type": "image/bmp", "data": "AAAA"}})
	})},
	{rule: "image-source", name: "address", do: on(pair.plain, func(_ *mutant, p pair) {
		p.add(object{"type": "image", "source": object{"type": "url", "url": "https://example.com/a.png"}})
	})},
	{rule: "image-data", name: "no base64", do: on(pair.plain, func(_ *mutant, p pair) {
		p.add(object{"type": "image", "source": object{"type": "base64", "media_type": "image/png", "data": "%%%%"}})
	})},
	{rule: "image-data", name: "no image", do: on(pair.plain, func(_ *mutant, p pair) {
		p.add(object{"type": "image", "source": object{"type": "base64", "media_type": "image/png", "data": "aGVsbG8gd29ybGQ="}})
	})},
	{rule: "image-media-type", do: on(pair.plain, func(m *mutant, p pair) {
		block := picture(image.Pt(10, 10), oneOf(m.generator, "gif", "png", "webp"))
		block["source"].(object)["media_type"] = "image/jpeg"
		p.add(block)
	})},
	{rule: "image-size", name: "edge", do: func(m *mutant) bool {
		p, ok := m.pick(pair.plain)
		if !ok || m.countImages() >= contract.ManyImages {
			return false
		}
		p.add(picture(image.Pt(100, 2577), "png"))
		return true
	}},
	{rule: "image-size", name: "tokens", do: func(m *mutant) bool {
		p, ok := m.pick(pair.plain)
		if !ok || m.countImages() >= contract.ManyImages {
			return false
		}
		p.add(picture(image.Pt(2000, 2000), "png"))
		return true
	}},
	{rule: "image-many", name: "the first too large", do: func(m *mutant) bool {
		images(m, append(array{picture(image.Pt(2001, 10), "png")}, repeat(20, picture(image.Pt(10, 10), "png"))...)...)
		return true
	}},
	{rule: "image-many", name: "the last too large", do: func(m *mutant) bool {
		p, ok := m.pick(pair.plain)
		if ok {
			images(m, repeat(20, picture(image.Pt(10, 10), "gif"))...)
			p.add(picture(image.Pt(10, 2001), "webp"))
		}
		return ok
	}},
	{rule: "image-count", do: func(m *mutant) bool { images(m, repeat(601, picture(image.Pt(1, 1), "png"))...); return true }},

	{rule: "state-on-error", do: on(pair.failed, func(m *mutant, p pair) { p.add(object{"type": "browser_state", "tabs": array{}}) })},
	{rule: "state-on-other", name: "a tool's", do: on(func(p pair) bool { return !p.member() }, func(_ *mutant, p pair) { p.add(object{"type": "browser_state", "tabs": array{}}) })},
	{rule: "state-on-other", name: "no result's", do: first(func(m object) { m["content"] = array{object{"type": "browser_state", "tabs": array{}}} })},
	{rule: "state-twice", do: on(func(p pair) bool { return p.hasState() && !p.manages() }, func(_ *mutant, p pair) { p.add(stateOf(p.result)) })},
	{rule: "state-shape", name: "no tabs", do: onState(func(_ *mutant, s object) { delete(s, "tabs") })},
	{rule: "state-shape", name: "a tab", do: onState(func(_ *mutant, s object) { s["tabs"] = append(s["tabs"].(array), "tab-2") })},
	{rule: "state-shape", name: "no title", do: setTab("title", nil)},
	{rule: "state-shape", name: "a number", do: setTab("url", 5)},
	{rule: "state-shape", name: "active", do: setTab("active", "yes")},
	{rule: "state-shape", name: "changes", do: onState(func(_ *mutant, s object) { s["state_changes"] = object{} })},
	{rule: "state-shape", name: "a change", do: addChanges(nil)},
	{rule: "state-shape", name: "half a byte", do: addChanges(download(object{"type": "download_completed", "size_bytes": 0.5}))},
	{rule: "state-shape", name: "no url", do: addChanges(object{"type": "download_started", "download_id": "dl-500"})},
	{rule: "state-field", name: "of the block", do: onState(func(_ *mutant, s object) { s["windows"] = 1 })},
	{rule: "state-field", name: "of a tab", do: setTab("favicon", "x")},
	{rule: "state-field", name: "of a change", do: addChanges(download(object{"path": "/x"}))},
	{rule: "state-tabs", do: onState(func(_ *mutant, s object) {
		for i := len(s["tabs"].(array)); i <= contract.MaxTabs; i++ {
			s["tabs"] = append(s["tabs"].(array), tab(object{"tab_id": fmt.Sprint("many-", i)}))
		}
	})},
	{rule: "state-changes", do: onState(func(_ *mutant, s object) {
		for i := len(changesOf(s)); i <= contract.MaxStateChanges; i++ {
			s["state_changes"] = append(changesOf(s), download(object{"download_id": fmt.Sprint("many-", i)}))
		}
	})},
	{rule: "state-no-changes", do: onState(func(_ *mutant, s object) { s["state_changes"] = array{} })},
	{rule: "state-active", name: "none", do: onState(func(_ *mutant, s object) {
		for _, tab := range s["tabs"].(array) {
			delete(tab.(object), "active")
		}
	})},
	{rule: "state-active", name: "two", do: onState(func(_ *mutant, s object) { s["tabs"] = append(s["tabs"].(array), tab(object{"active": true})) })},
	{rule: "state-text", name: "title", do: setTab("title", strings.Repeat("é", contract.MaxField+1))},
	{rule: "state-text", name: "url", do: addChanges(download(object{"url": strings.Repeat("x", contract.MaxField+1)}))},
	{rule: "state-control", name: "newline", do: setTab("title", "a\nb")},
	{rule: "state-control", name: "separator", do: setTab("url", "https://example.com/\u2028")},
	{rule: "state-control", name: "error", do: addChanges(download(object{"type": "download_failed", "error": "\u0085"}))},
	{rule: "tab-id-empty", do: onState(func(_ *mutant, s object) { s["tabs"] = append(s["tabs"].(array), tab(object{"tab_id": ""})) })},
	{rule: "tab-id-twice", do: onState(func(_ *mutant, s object) {
		s["tabs"] = append(s["tabs"].(array), tab(object{"tab_id": tabIDs(s)[0]}))
	})},
	{rule: "tab-id-reused", do: func(m *mutant) bool {
		open := func(p pair) (string, bool) {
			for _, id := range p.listed {
				if slices.Contains(tabIDs(stateOf(p.result)), id) {
					return id, true
				}
			}
			return "", false
		}
		p, ok := m.pick(func(p pair) bool {
			if !p.hasState() || p.use["name"] == "new_tab" {
				return false
			}
			_, listed := open(p)
			return listed
		})
		if !ok {
			return false
		}
		id, _ := open(p)
		state := stateOf(p.result)
		state["state_changes"] = append(changesOf(state), object{"type": "tab_opened", "tab_id": id})
		return true
	}},
	{rule: "change-type", do: addChanges(object{"type": "tab_closed", "tab_id": "tab-1"})},
	{rule: "tab-opened-listed", do: addChanges(object{"type": "tab_opened", "tab_id": "tab-999"})},
	{rule: "tab-opened-twice", do: on(func(p pair) bool {
		return p.hasState() && slices.ContainsFunc(changesOf(stateOf(p.result)), func(c any) bool { return c.(object)["type"] == "tab_opened" })
	}, func(_ *mutant, p pair) {
		state := stateOf(p.result)
		i := slices.IndexFunc(changesOf(state), func(c any) bool { return c.(object)["type"] == "tab_opened" })
		state["state_changes"] = append(changesOf(state), changesOf(state)[i])
	})},
	{rule: "download-id-empty", do: addChanges(download(object{"download_id": ""}))},
	{rule: "download-twice", do: addChanges(download(nil), download(object{"type": "download_completed"}))},
	{rule: "download-size", do: addChanges(download(object{"type": "download_completed", "size_bytes": -1}))},
	{rule: "download-repeated", do: func(m *mutant) bool {
		done := download(object{"type": "download_completed"})
		n := 0
		for _, p := range m.pairs() {
			if p.hasState() && n < 2 {
				state := stateOf(p.result)
				state["state_changes"] = append(changesOf(state), done)
				n++
			}
		}
		return n == 2
	}},
	{rule: "active-changed", do: on(func(p pair) bool {
		if !p.hasState() || p.manages() && p.use["name"] != "list_tabs" || !p.told {
			return false
		}
		state := stateOf(p.result)
		return len(state["tabs"].(array)) > 1 && slices.Contains(p.listed, activeID(state))
	}, func(m *mutant, p pair) { activateAnother(stateOf(p.result)) })},
	{rule: "switch-active", do: on(func(p pair) bool {
		return p.named("switch_tab") && p.last && len(stateOf(p.result)["tabs"].(array)) > 1
	}, func(m *mutant, p pair) {
		activateAnother(stateOf(p.result))
		m.end(p)
	})},
	{rule: "closed-listed", do: on(func(p pair) bool { return p.named("close_tab") && p.last }, func(m *mutant, p pair) {
		state := stateOf(p.result)
		state["tabs"] = append(state["tabs"].(array), tab(object{"tab_id": p.use["input"].(object)["tab_id"]}))
		m.end(p)
	})},
}

func activeID(state object) string {
	for _, t := range state["tabs"].(array) {
		if t.(object)["active"] == true {
			return t.(object)["tab_id"].(string)
		}
	}
	return ""
}

func activateAnother(state object) {
	active, done := activeID(state), false
	for _, t := range state["tabs"].(array) {
		tab := t.(object)
		delete(tab, "active")
		if tab["tab_id"] != active && !done {
			tab["active"], done = true, true
		}
	}
}

// generatedCall is an assistant message with a call that nothing answers.
func (m *mutant) generatedCall() object {
	return object{"role": "assistant", "content": array{object{"type": "tool_use", "id": "toolu_open", "name": "screenshot", "toolset_name": "browser", "input": object{}}}}
}

// TestMutations breaks valid requests in one way at a time. Each is found by exactly the rule that it breaks.
func TestMutations(t *testing.T) {
	const want = 8 // requests broken by each
	tested := map[string]bool{}
	total := 0
	for i, mut := range mutations {
		done := 0
		for seed := uint64(0); done < want; seed++ {
			if seed > 400 {
				t.Fatalf("%s %s: only %d requests could be broken so", mut.rule, mut.name, done)
			}
			m := &mutant{generator: newGenerator(seed*1000 + uint64(i)), body: generate(t, seed)}
			if mut.do != nil && !mut.do(m) {
				continue
			}
			data := marshal(t, m.body)
			if mut.raw != nil {
				data = mut.raw(data)
			}
			done++
			total++
			found := Request(data, Options{})
			if !onlyRule(found, mut.rule) {
				t.Fatalf("%s %s, seed %d: %v\n%s", mut.rule, mut.name, seed, found, data[:min(len(data), 6000)])
			}
			if Rejected(found) == ruleOf(mut.rule).Warning {
				t.Fatalf("%s: rejected: %v", mut.rule, Rejected(found))
			}
		}
		tested[mut.rule] = true
	}
	for _, r := range Rules() {
		if !tested[r.ID] {
			t.Errorf("no mutation breaks %s", r.ID)
		}
	}
	t.Logf("%d rules, %d mutations, %d broken requests", len(Rules()), len(mutations), total)
}

func onlyRule(found []Finding, rule string) bool {
	return len(found) > 0 && !slices.ContainsFunc(found, func(f Finding) bool { return f.Rule != rule })
}
