package pagehand

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pagehand/pagehand/contract"
)

// Configs are the "configs" of the toolset entry, by member name (contract §2). The zero value means the defaults.
type Configs struct {
	changed map[string]bool
}

// ParseConfigs reads a toolset entry, or only its configs object, as the application sends it to the API. Absent, null, {} and a
// restated default are equal. Whatever the API would reject is an error.
func ParseConfigs(data []byte) (Configs, error) {
	entry, err := strictObject(data)
	if err != nil {
		return Configs{}, fmt.Errorf("configs: %w", err)
	}
	configs := entry
	// A member is called type, too; its value is an object.
	if kind := entry["type"]; bytes.HasPrefix(kind, []byte(`"`)) {
		if string(kind) != strconv.Quote(contract.ToolsetType) {
			return Configs{}, fmt.Errorf("configs: the entry's type is %s, not %s", kind, contract.ToolsetType)
		}
		for name := range entry {
			if !slices.Contains([]string{"type", "configs", "cache_control", "allowed_callers"}, name) {
				return Configs{}, fmt.Errorf("configs: the toolset entry does not take %q", name)
			}
		}
		if err := checkCallers(entry["allowed_callers"]); err != nil {
			return Configs{}, err
		}
		if configs, err = strictObject(entry["configs"]); err != nil {
			return Configs{}, fmt.Errorf("configs: %w", err)
		}
	}
	c := Configs{changed: map[string]bool{}}
	deferred := map[string]bool{}
	for _, name := range sortedKeys(configs) {
		m, ok := memberNamed(name)
		if !ok {
			return Configs{}, fmt.Errorf("configs: %q is no member of the toolset", name)
		}
		fields, err := strictObject(configs[name])
		if err != nil {
			return Configs{}, fmt.Errorf("configs: %s: %w", name, err)
		}
		for _, field := range sortedKeys(fields) {
			var value *bool
			if err := json.Unmarshal(fields[field], &value); err != nil && (field == "enabled" || field == "defer_loading") {
				return Configs{}, fmt.Errorf("configs: %s: %s must be true or false, not %s", name, field, shown(fields[field]))
			}
			switch {
			case field != "enabled" && field != "defer_loading":
				return Configs{}, fmt.Errorf("configs: %s does not take %q, only enabled and defer_loading", name, field)
			case value == nil: // the default
			case field == "defer_loading":
				deferred[name] = *value
			case *value == m.Off:
				c.changed[name] = *value
			}
		}
	}
	return c, c.check(deferred)
}

// checkCallers accepts what the API does: that the model itself calls the members, and not code that it runs.
func checkCallers(raw json.RawMessage) error {
	var callers []string
	if len(raw) > 0 && json.Unmarshal(raw, &callers) != nil || slices.ContainsFunc(callers, func(c string) bool { return c != "direct" }) {
		return fmt.Errorf(`configs: allowed_callers may only be ["direct"], not %s`, shown(raw))
	}
	return nil
}

// check enforces what holds of the enabled members as a whole.
func (c Configs) check(deferred map[string]bool) error {
	enabled, waiting := 0, 0
	for _, m := range members {
		if c.enabled(m.Name) {
			enabled++
			if deferred[m.Name] {
				waiting++
			}
		}
	}
	if enabled == 0 {
		return fmt.Errorf("configs: no member is left enabled")
	}
	if waiting != 0 && waiting != enabled {
		return fmt.Errorf("configs: defer_loading must be the same on every enabled member, and is set on %d of %d", waiting, enabled)
	}
	return nil
}

// Enable turns members on that are off by default.
func (c Configs) Enable(names ...string) (Configs, error) {
	next := Configs{changed: map[string]bool{}}
	for name, on := range c.changed {
		next.changed[name] = on
	}
	for _, name := range names {
		m, ok := memberNamed(name)
		if !ok {
			return c, fmt.Errorf("%q is no member of the toolset", name)
		}
		delete(next.changed, name)
		if m.Off {
			next.changed[name] = true
		}
	}
	return next, nil
}

func (c Configs) enabled(name string) bool {
	if on, ok := c.changed[name]; ok {
		return on
	}
	m, ok := memberNamed(name)
	return ok && !m.Off
}

// Enabled lists the members that may be called.
func (c Configs) Enabled() []string {
	var names []string
	for _, m := range members {
		if c.enabled(m.Name) {
			names = append(names, m.Name)
		}
	}
	return names
}

// MarshalJSON gives the "configs" of a toolset entry that declares the same members: only what differs from the defaults.
func (c Configs) MarshalJSON() ([]byte, error) {
	type value struct {
		Enabled bool `json:"enabled"`
	}
	configs := map[string]value{}
	for name, on := range c.changed {
		configs[name] = value{on}
	}
	return json.Marshal(configs)
}

// String names what differs from the defaults.
func (c Configs) String() string {
	var parts []string
	for _, m := range members {
		if on, ok := c.changed[m.Name]; ok {
			parts = append(parts, fmt.Sprintf("%s=%t", m.Name, on))
		}
	}
	return strings.Join(parts, " ")
}

// strictObject splits a JSON object; absent and null are empty.
func strictObject(raw json.RawMessage) (map[string]json.RawMessage, error) {
	fields, err := objectFields(raw)
	var other *json.UnmarshalTypeError
	switch {
	case errors.As(err, &other):
		return nil, fmt.Errorf("a JSON object is expected, and this is of type %s", other.Value)
	case err != nil:
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	return fields, nil
}
