package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pagehand/pagehand"
	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/models"
)

// fineGrainedBeta is the beta header that the toolset does not go with (contract §7).
const fineGrainedBeta = "fine-grained-tool-streaming-2025-05-14"

// maxCacheMarkers is how many cache_control markers a request may have, by the public documentation.
const maxCacheMarkers = 4

// Request checks the body of a Messages request.
func Request(body []byte, o Options) []Finding {
	c := NewConversation(o)
	var found findings
	if v, ok := c.parse(body, "", &found); ok {
		c.wholeRequest(v, &found)
	}
	return found.list()
}

// wholeRequest checks a request and everything in it.
func (c *Conversation) wholeRequest(v *value, found *findings) {
	if !v.isObject() {
		found.add("request-shape", v, v.show(), "an object")
		return
	}
	if !v.get("model").isText() {
		found.wrong("request-shape", v, "model", "a text")
	}
	if n, ok := v.get("max_tokens").whole(); !ok || n < 0 { // 0 only fills the cache
		found.wrong("request-shape", v, "max_tokens", "an integer that is not negative")
	}
	c.request(v, found)
	messages := v.get("messages")
	if !messages.isList() || len(messages.items) == 0 {
		found.wrong("request-shape", v, "messages", "a list of messages")
		return
	}
	c.sent = true
	c.newest = lastResults(messages.items)
	c.all(messages.items, found)
	c.settle(found) // a request is not sent before its last turn is answered
	if c.called && !c.declared {
		found.add("entry-missing", v, "member calls, and no toolset entry", "an entry of type "+contract.ToolsetType+" in tools")
	}
	markers := 0
	for _, part := range []string{"tools", "system", "messages"} {
		markers += cacheMarkers(v.get(part))
	}
	if markers > maxCacheMarkers {
		found.add("cache-markers", v, fmt.Sprintf("%d cache_control markers", markers), fmt.Sprintf("at most %d", maxCacheMarkers))
	}
}

// lastResults is the index of the last message with results.
func lastResults(messages []*value) int {
	for i, m := range slices.Backward(messages) {
		content := m.get("content")
		if content.isList() && slices.ContainsFunc(content.items, func(b *value) bool { return b.get("type").text() == "tool_result" }) {
			return i
		}
	}
	return len(messages)
}

// cacheMarkers counts the markers in a list of tools, blocks or messages.
func cacheMarkers(v *value) int {
	n := 0
	switch {
	case v.isList():
		for _, item := range v.items {
			n += cacheMarkers(item)
		}
	case v.isObject():
		if v.get("cache_control") != nil {
			n++
		}
		n += cacheMarkers(v.get("content"))
	}
	return n
}

// request checks what a request says beside its messages, and remembers it.
func (c *Conversation) request(v *value, found *findings) {
	tools := v.get("tools")
	if tools != nil && !tools.isList() {
		found.wrong("request-shape", v, "tools", "a list of tools")
	}
	var entries, others []*value
	if tools.isList() {
		for _, tool := range tools.items {
			switch {
			case !tool.isObject():
				found.add("request-shape", tool, tool.show(), "an object")
			case tool.get("type").text() == contract.ToolsetType:
				entries = append(entries, tool)
			default:
				others = append(others, tool)
			}
		}
	}
	c.declared = len(entries) > 0
	c.model(v.get("model"), found)
	names := toolNames(others, found)
	c.choice(v, names, found)
	if !c.declared {
		c.enabled = nil
		return
	}
	for _, entry := range entries[1:] {
		found.add("entry-second", entry, "another browser toolset entry", "one")
	}
	for _, tool := range others {
		if tool.get("name").text() == contract.ToolsetName {
			found.add("entry-name-taken", tool.get("name"), quote(contract.ToolsetName), "another name")
		}
	}
	betas := v.get("betas")
	if betas.isList() {
		for _, beta := range betas.items {
			if beta.text() == fineGrainedBeta {
				found.add("beta-fine-grained", beta, quote(fineGrainedBeta), "no such beta header")
			}
		}
	}
	if slices.Contains(c.options.Betas, fineGrainedBeta) {
		found.addAt("beta-fine-grained", "", "the beta header "+quote(fineGrainedBeta), "no such beta header")
	}
	searchable := slices.ContainsFunc(others, func(tool *value) bool {
		return strings.HasPrefix(tool.get("type").text(), "tool_search_tool_")
	})
	c.entry(entries[0], searchable, found)
}

// model looks the model up, for its limits.
func (c *Conversation) model(name *value, found *findings) {
	c.limits = models.ToolsetImages()
	if !name.isText() {
		return
	}
	m, ok := c.options.model(name.text())
	if !ok {
		found.add("model-unknown", name, quote(name.text()), "a model of the table")
		return
	}
	c.limits = m.Image
	if c.declared && !m.Toolset {
		found.add("model-toolset", name, quote(name.text()), "a model that supports the toolset")
	}
}

// choice checks tool_choice.
func (c *Conversation) choice(v *value, tools map[string]bool, found *findings) {
	choice := v.get("tool_choice")
	if choice == nil {
		return
	}
	kinds := []string{"auto", "any", "tool", "none"}
	if !choice.isObject() || !slices.Contains(kinds, choice.get("type").text()) {
		found.wrong("request-shape", v, "tool_choice", "an object whose type is auto, any, tool or none")
		return
	}
	if choice.get("type").text() != "tool" {
		return
	}
	name := choice.get("name").text()
	_, member := memberNamed(name)
	switch {
	case c.declared && (name == contract.ToolsetName || member && !tools[name]):
		found.add("tool-choice", choice.get("name"), quote(name), "a tool of its own name: the toolset and its members can't be chosen")
	case !tools[name] && !tools[""]: // the tools of other toolsets are not known
		found.wrong("tool-choice-unknown", choice, "name", "the name of a tool in tools")
	}
}

// toolNames are the names of tools other than the toolset; an empty one stands for those without.
func toolNames(tools []*value, found *findings) map[string]bool {
	names := map[string]bool{}
	for _, tool := range tools {
		name := tool.get("name").text()
		if name != "" && names[name] {
			found.add("tool-name-twice", tool.get("name"), "a second tool "+quote(name), "a name of its own")
		}
		names[name] = true
	}
	return names
}

// entry checks the toolset entry (contract §2).
func (c *Conversation) entry(entry *value, searchable bool, found *findings) {
	for _, field := range entry.fields {
		if field.isNull() {
			continue
		}
		switch field.name {
		case "type", "configs", "cache_control":
		case "allowed_callers":
			if !field.isList() || len(field.items) != 1 || field.items[0].text() != "direct" {
				found.add("entry-callers", field, field.shown(), `["direct"]`)
			}
		case "name":
			found.add("entry-name", field, field.show(), "no such field")
		case "strict":
			if !field.isBool() || field.isTrue() {
				found.add("entry-strict", field, field.show(), "no such field")
			}
		case "input_examples":
			found.add("entry-input-examples", field, field.show(), "no such field")
		case "defer_loading":
			found.add("entry-defer-loading", field, field.show(), "no such field: it is set on the members in configs")
		default:
			found.add("entry-field", field, field.show(), "only type, configs, cache_control and allowed_callers")
		}
	}
	enabled, deferred, ok := memberConfigs(entry, found)
	c.enabled = enabled
	if !ok {
		return
	}
	configs := entry.get("configs")
	switch {
	case len(enabled) == 0:
		found.add("configs-none", configs, "no member is left enabled", "a member")
	case deferred != 0 && deferred != len(enabled):
		found.add("configs-defer-mixed", configs, fmt.Sprintf("defer_loading on %d of %d enabled members", deferred, len(enabled)), "the same value on all of them")
	case deferred != 0:
		if marker := entry.get("cache_control"); marker != nil {
			found.add("entry-cache-deferred", marker, "a cache marker on an entry whose members defer", "none")
		}
		if !searchable {
			found.add("entry-defer-search", configs, "all members defer, and there is no tool search tool", "a tool search tool in tools")
		}
	}
}

// memberConfigs resolves configs: which members are enabled, and how many of those defer. False means that configs can't be
// resolved.
func memberConfigs(entry *value, found *findings) (enabled map[string]bool, deferred int, ok bool) {
	configs := entry.get("configs")
	if configs != nil && !configs.isObject() {
		found.add("configs-shape", configs, configs.show(), "an object")
		return nil, 0, false
	}
	ok = true
	if configs != nil {
		for _, member := range configs.fields {
			ok = memberConfig(member, found) && ok
		}
	}
	enabled = map[string]bool{}
	for _, m := range pagehand.Members() {
		config := configs.get(m.Name)
		on := !m.Off
		if given := config.get("enabled"); given != nil {
			on = given.isTrue()
		}
		if !on {
			continue
		}
		enabled[m.Name] = true
		if config.get("defer_loading").isTrue() {
			deferred++
		}
	}
	return enabled, deferred, ok
}

// memberConfig checks what configs says of one member.
func memberConfig(config *value, found *findings) bool {
	if _, known := memberNamed(config.name); !known {
		found.add("configs-member", config, "the key "+quote(config.name), "a member's name")
		return false
	}
	if !config.isObject() && !config.isNull() {
		found.add("configs-shape", config, config.show(), "an object")
		return false
	}
	ok := true
	for _, field := range config.fields {
		switch {
		case field.name != "enabled" && field.name != "defer_loading":
			found.add("configs-field", field, field.show(), "only enabled and defer_loading")
		case !field.isBool() && !field.isNull():
			found.add("configs-shape", field, field.show(), "true or false")
			ok = false
		}
	}
	return ok
}

var memberByName = func() map[string]pagehand.Member {
	byName := map[string]pagehand.Member{}
	for _, m := range pagehand.Members() {
		byName[m.Name] = m
	}
	return byName
}()

func memberNamed(name string) (pagehand.Member, bool) {
	m, ok := memberByName[name]
	return m, ok
}
