package conform_test

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/pagehand/pagehand/contract"
)

// field says what a member takes. A bound is inclusive.
type field struct {
	kind     string // string, integer, number, region, coordinate, ref, target, value
	need     bool
	min, max float64
	enum     []string
}

var inputs = map[string]map[string]field{
	"navigate": {"url": {kind: "string", need: true}}, "wait": {"duration": {kind: "number", need: true, max: 30}},
	"screenshot": {}, "zoom": {"region": {kind: "region", need: true}},
	"left_click": click, "right_click": click, "middle_click": click, "double_click": click, "triple_click": click,
	"hover":           {"target": {kind: "target", need: true}},
	"left_click_drag": {"from": {kind: "coordinate", need: true}, "target": {kind: "coordinate", need: true}},
	"left_mouse_down": point, "left_mouse_up": point, "mouse_move": point,
	"scroll": {
		"target": {kind: "coordinate", need: true}, "scroll_direction": {kind: "string", need: true, enum: []string{"up", "down", "left", "right"}},
		"scroll_amount": {kind: "integer", min: 1, max: 10},
	},
	"scroll_to": {"target": {kind: "ref", need: true}},
	"type":      {"text": {kind: "string", need: true}},
	"key":       {"text": {kind: "string", need: true}, "repeat": {kind: "integer", min: 1, max: 100}},
	"hold_key":  {"text": {kind: "string", need: true}, "duration": {kind: "number", need: true, max: 30}},
	"read_page": {"filter": {kind: "string", enum: []string{"interactive", "all"}}, "depth": {kind: "integer", min: 1, max: math.MaxInt32}, "ref": {kind: "string"}},
	"find":      {"query": {kind: "string", need: true}}, "get_page_text": {},
	"form_input": {"target": {kind: "ref", need: true}, "value": {kind: "value", need: true}},
	"new_tab":    {}, "list_tabs": {},
	"switch_tab": {"tab_id": {kind: "string", need: true}}, "close_tab": {"tab_id": {kind: "string", need: true}},
	"javascript_exec": nil, "file_upload": nil, "read_console": nil, "read_network": nil,
}

var (
	click = map[string]field{"target": {kind: "target", need: true}, "modifiers": {kind: "string"}}
	point = map[string]field{"target": {kind: "coordinate", need: true}}
)

// run looks the member up, checks the input and calls.
func (m *memory) run(use contract.ToolUse) ([]any, error) {
	name := use.Name
	if m.is("names in any case") {
		name = strings.ToLower(name)
	}
	fields, known := inputs[name]
	switch {
	case !known && m.is("unknown members are not named"):
		return nil, failure("Unknown member.")
	case !known:
		return nil, failf("Unknown or unimplemented member: %s", name)
	case !m.enabled(name, fields != nil) && m.is("another text for disabled members"):
		return nil, failf("%s is disabled.", name)
	case !m.enabled(name, fields != nil):
		return nil, failf("%s is not enabled in this environment.", name)
	case fields == nil:
		return []any{textBlock("nothing")}, nil
	}
	var in map[string]any
	if err := json.Unmarshal(use.Input, &in); err != nil {
		return nil, failure("The input must be an object.")
	}
	if err := m.checkInput(name, fields, in); err != nil {
		return nil, err
	}
	return m.call(name, in)
}

func (m *memory) enabled(name string, on bool) bool {
	if m.is("no find") && name == "find" {
		return false
	}
	if m.is("optional members are on") && name == "read_console" || m.is("disabled members run") {
		return true
	}
	var config struct{ Enabled *bool }
	json.Unmarshal(m.settings.Configs[name], &config)
	if config.Enabled != nil {
		return *config.Enabled
	}
	return on
}

func (m *memory) checkInput(name string, fields map[string]field, in map[string]any) error {
	if _, own := fields["tab_id"]; !own && !slices.Contains(tabMembers, name) {
		merged := map[string]field{"tab_id": {kind: "string"}}
		for k, f := range fields {
			merged[k] = f
		}
		fields = merged
	}
	for key, value := range in {
		if _, ok := fields[key]; !ok && !m.is("unknown fields are ignored") {
			return failf("%s does not take %s.", name, key)
		}
		if value == nil && !m.is("null is a value") {
			delete(in, key)
		}
	}
	for key, f := range fields {
		value, given := in[key]
		if !given {
			if f.need {
				return failf("%s needs %s.", name, key)
			}
			continue
		}
		if err := m.checkField(key, f, value); err != nil {
			return err
		}
		if text, ok := value.(string); ok && key == "tab_id" && m.tab(text) == nil {
			if m.is("unknown tabs are not named") {
				return failure("No such tab.")
			}
			return failf("%s is not open. Call list_tabs to see the open tabs.", contract.CleanField(text[:min(len(text), 60)]))
		}
	}
	return nil
}

func (m *memory) checkField(key string, f field, value any) error {
	switch f.kind {
	case "string":
		text, ok := value.(string)
		if !ok || text == "" && key != "text" {
			return failf("%s must be a text.", key)
		}
		if f.enum != nil && !slices.Contains(f.enum, text) {
			return failf("%s must be one of %v.", key, f.enum)
		}
		if key == "modifiers" && !modifiers.MatchString(text) {
			return failf("modifiers must be a chord.")
		}
	case "integer", "number":
		n, ok := value.(float64)
		switch {
		case !ok:
			return failf("%s must be a number.", key)
		case n != math.Trunc(n) && f.kind == "integer" && !m.is(key+" may be fractional"):
			return failf("%s must be an integer.", key)
		case n != math.Trunc(n) && m.is("durations are integers"):
			return failf("%s must be an integer.", key)
		case n < f.min && !m.is(key+" is not bounded below"), n > f.max && !m.is(key+" is not bounded above"):
			return failf("%s must be from %g to %g.", key, f.min, f.max)
		}
	case "value":
		switch value.(type) {
		case string, float64, bool:
		default:
			return failf("value must be a text, number or boolean.")
		}
	case "region":
		return m.checkRegion(value)
	default:
		return m.checkTarget(key, f.kind, value)
	}
	return nil
}

var modifiers = regexp.MustCompile(`^(shift|ctrl|alt|meta)(\+(shift|ctrl|alt|meta))*$`)

func (m *memory) frame() (w, h int) {
	w, h = 1280, 720
	if m.settings.Viewport != nil {
		w, h = m.settings.Viewport[0], m.settings.Viewport[1]
	}
	if m.is("screenshots are not scaled") {
		return w, h
	}
	return contract.FitSize(w, h)
}

func (m *memory) checkRegion(value any) error {
	list, ok := value.([]any)
	if !ok || len(list) != 4 {
		return failure("region must be four integers.")
	}
	var r [4]float64
	for i, v := range list {
		n, ok := v.(float64)
		if !ok || n != math.Trunc(n) {
			return failure("region must be four integers.")
		}
		r[i] = n
	}
	w, h := m.frame()
	if m.is("regions may be outside") {
		w, h = w*2, h*2
	}
	if m.is("regions may be empty") && r[0] == r[2] {
		return nil
	}
	if r[0] < 0 || r[1] < 0 || r[2] > float64(w) || r[3] > float64(h) || r[0] >= r[2] || r[1] >= r[3] {
		return failure("region must lie inside the viewport.")
	}
	return nil
}

func (m *memory) checkTarget(key, kind string, value any) error {
	target, _ := value.(map[string]any)
	is, _ := target["type"].(string)
	switch {
	case is == "coordinate" && (kind == "coordinate" || kind == "target" || m.is("any target is taken")):
		w, h := m.frame()
		if m.is("coordinates are not bounded") {
			w, h = w*2, h*2
		}
		for axis, most := range map[string]int{"x": w - 1, "y": h - 1} {
			n, ok := target[axis].(float64)
			if !ok || n != math.Trunc(n) && !m.is("coordinates may be fractional") {
				return failf("%s.%s must be an integer.", key, axis)
			}
			if n < 0 || n > float64(most) {
				return failf("%s.%s must be from 0 to %d.", key, axis, most)
			}
		}
	case is == "ref" && (kind == "ref" || kind == "target" || m.is("any target is taken")):
		if ref, ok := target["ref"].(string); !ok || ref == "" {
			return failf("%s.ref must be a ref.", key)
		}
	default:
		return failf("%s must be another target.", key)
	}
	for name := range target {
		if !slices.Contains([]string{"type", "x", "y", "ref"}, name) && !m.is("unknown fields are ignored") {
			return failf("%s does not take %s.", key, name)
		}
	}
	return nil
}
