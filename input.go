package pagehand

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// The input types of members are plain structs. Their field tags say what is allowed, and the decoder, the JSON Schema and the
// documentation are derived from them:
//
//	json:"scroll_amount"   the field's name on the wire
//	need:"true"            it must be given
//	empty:"true"           a text that may be empty; of others, an empty one would be mistaken for none
//	min:"1" max:"10"       bounds of a number, inclusive
//	default:"3"            the value when it is left out
//	enum:"up,down"         the texts allowed
//	doc:"…"                what it is
//
// null counts as left out, an unknown field is an error, and nothing is ever clamped (contract §3).

// wireInput is a field type that decodes itself, such as [Target].
type wireInput interface {
	// decodeWire reads the value of the named field. Its error is one line for the model.
	decodeWire(field string, raw json.RawMessage) error
	// schema is the JSON Schema of the value.
	schema() map[string]any
}

// decodeInput reads a member's input into a copy of zero.
func decodeInput(member string, raw json.RawMessage, zero any) (any, error) {
	fields, err := objectFields(raw)
	if err != nil {
		return nil, toolErrorf("The input of %s must be a JSON object.", member)
	}
	in := reflect.New(reflect.TypeOf(zero)).Elem()
	known := inputFields(in.Type())
	for _, name := range sortedKeys(fields) {
		if !slices.ContainsFunc(known, func(f inputField) bool { return f.name == name }) {
			return nil, toolErrorf("%s does not take %q. It takes %s.", member, shorten(name, 60), fieldList(known))
		}
	}
	for _, f := range known {
		value, given := fields[f.name]
		if given && string(bytes.TrimSpace(value)) == "null" {
			given = false
		}
		if !given {
			if f.tag.Get("need") == "true" {
				return nil, toolErrorf("%s needs %s.", member, f.name)
			}
			if value = json.RawMessage(f.tag.Get("default")); len(value) == 0 {
				continue
			}
		}
		if err := f.decode(in.FieldByIndex(f.index), value); err != nil {
			return nil, err
		}
	}
	return in.Interface(), nil
}

// objectFields splits a JSON object. An absent or null input is an empty one.
func objectFields(raw json.RawMessage) (map[string]json.RawMessage, error) {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var fields map[string]json.RawMessage
	err := json.Unmarshal(raw, &fields)
	return fields, err
}

type inputField struct {
	name  string
	index []int
	typ   reflect.Type
	tag   reflect.StructTag
}

// inputFields lists a struct's fields with those of embedded structs, in order, embedded ones last.
func inputFields(t reflect.Type) []inputField {
	var own, embedded []inputField
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			for _, e := range inputFields(f.Type) {
				e.index = append([]int{i}, e.index...)
				embedded = append(embedded, e)
			}
			continue
		}
		own = append(own, inputField{f.Tag.Get("json"), []int{i}, f.Type, f.Tag})
	}
	return append(own, embedded...)
}

func fieldList(fields []inputField) string {
	if len(fields) == 0 {
		return "no input"
	}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	if len(names) == 1 {
		return "only " + names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

func sortedKeys(m map[string]json.RawMessage) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (f inputField) decode(into reflect.Value, raw json.RawMessage) error {
	if w, ok := into.Addr().Interface().(wireInput); ok {
		return w.decodeWire(f.name, raw)
	}
	switch into.Kind() {
	case reflect.String:
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return toolErrorf("%s must be a string, not %s.", f.name, shown(raw))
		}
		if enum := f.tag.Get("enum"); enum != "" && !slices.Contains(strings.Split(enum, ","), s) {
			return toolErrorf("%s must be one of %s, not %s.", f.name, strings.ReplaceAll(enum, ",", ", "), shown(raw))
		}
		if s == "" && f.tag.Get("empty") != "true" {
			return toolErrorf("%s must not be empty.", f.name)
		}
		into.SetString(s)
		return nil
	case reflect.Int:
		n, err := wholeNumber(raw)
		if err != nil || f.outside(float64(n)) {
			return toolErrorf("%s must be an integer%s, not %s.", f.name, f.bounds(), shown(raw))
		}
		into.SetInt(int64(n))
		return nil
	case reflect.Float64:
		var n float64
		if json.Unmarshal(raw, &n) != nil || f.outside(n) {
			return toolErrorf("%s must be a number%s, not %s.", f.name, f.bounds(), shown(raw))
		}
		into.SetFloat(n)
		return nil
	case reflect.Slice:
		var given []*string
		if json.Unmarshal(raw, &given) != nil || slices.Contains(given, nil) {
			return toolErrorf("%s must be a list of strings, not %s.", f.name, shown(raw))
		}
		list := make([]string, len(given))
		for i, s := range given {
			list[i] = *s
		}
		into.Set(reflect.ValueOf(list))
		return nil
	}
	panic("pagehand: input field " + f.name + " has a type the decoder does not know")
}

// wholeNumber reads a JSON number without a fraction. 5.0 and 5e0 are whole; null is no number.
func wholeNumber(raw json.RawMessage) (int, error) {
	var n *float64
	if err := json.Unmarshal(raw, &n); err != nil {
		return 0, err
	}
	if n == nil || *n != math.Trunc(*n) || math.Abs(*n) > 1<<53 {
		return 0, fmt.Errorf("%s is not an integer", raw)
	}
	return int(*n), nil
}

func (f inputField) bound(tag string) (float64, bool) {
	n, err := strconv.ParseFloat(f.tag.Get(tag), 64)
	return n, err == nil
}

func (f inputField) outside(n float64) bool {
	low, hasLow := f.bound("min")
	high, hasHigh := f.bound("max")
	return hasLow && n < low || hasHigh && n > high
}

func (f inputField) bounds() string {
	low, high := f.tag.Get("min"), f.tag.Get("max")
	switch {
	case low != "" && high != "":
		return " from " + low + " to " + high
	case low != "":
		return " of at least " + low
	}
	return ""
}

// shown quotes a rejected value for an error message, bounded.
func shown(raw json.RawMessage) string {
	var compact bytes.Buffer
	if json.Compact(&compact, raw) == nil {
		raw = compact.Bytes()
	}
	return shorten(strings.ToValidUTF8(string(raw), "�"), 60)
}

func shorten(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return string(r[:most]) + "…"
}

// Target is where a pointer member acts (contract §3): a coordinate in viewport pixels, or a ref.
type Target struct {
	// Ref is set for a RefTarget, and empty for a CoordinateTarget.
	Ref  string
	X, Y int
}

// String is how messages name the target.
func (t Target) String() string {
	if t.Ref != "" {
		return "element " + t.Ref
	}
	return fmt.Sprintf("(%d, %d)", t.X, t.Y)
}

func (t *Target) decodeWire(field string, raw json.RawMessage) error {
	return t.read(field, raw, true, true)
}

func (t *Target) read(field string, raw json.RawMessage, coordinates, refs bool) error {
	shapes := map[bool]string{true: `{"type":"coordinate","x":640,"y":380}`}[coordinates]
	if refs {
		if shapes != "" {
			shapes += " or "
		}
		shapes += `{"type":"ref","ref":"ref_2"}`
	}
	fields, err := objectFields(raw)
	if err != nil || fields == nil {
		return toolErrorf("%s must be %s, not %s.", field, shapes, shown(raw))
	}
	var kind string
	if json.Unmarshal(fields["type"], &kind) != nil {
		return toolErrorf("%s must be %s: its type is missing.", field, shapes)
	}
	var allowed []string
	switch {
	case kind == "coordinate" && coordinates:
		allowed = []string{"type", "x", "y"}
		if t.X, err = wholeNumber(fields["x"]); err != nil {
			return toolErrorf("%s.x must be an integer, in viewport pixels.", field)
		}
		if t.Y, err = wholeNumber(fields["y"]); err != nil {
			return toolErrorf("%s.y must be an integer, in viewport pixels.", field)
		}
	case kind == "ref" && refs:
		allowed = []string{"type", "ref"}
		if json.Unmarshal(fields["ref"], &t.Ref) != nil || t.Ref == "" {
			return toolErrorf("%s.ref must be a reference such as \"ref_2\", from read_page or find.", field)
		}
	default:
		return toolErrorf("%s must be %s; the type %q is not accepted here.", field, shapes, shorten(kind, 40))
	}
	for _, name := range sortedKeys(fields) {
		if !slices.Contains(allowed, name) && string(bytes.TrimSpace(fields[name])) != "null" {
			return toolErrorf("%s does not take %q. It must be %s.", field, shorten(name, 60), shapes)
		}
	}
	return nil
}

func (Target) schema() map[string]any {
	return map[string]any{"oneOf": []any{CoordinateTarget{}.schema(), RefTarget{}.schema()}}
}

// CoordinateTarget is a target that must be a coordinate.
type CoordinateTarget struct{ Target }

func (t *CoordinateTarget) decodeWire(field string, raw json.RawMessage) error {
	return t.read(field, raw, true, false)
}

func (CoordinateTarget) schema() map[string]any {
	return map[string]any{
		"type":                 "object",
		"properties":           map[string]any{"type": map[string]any{"const": "coordinate"}, "x": map[string]any{"type": "integer", "minimum": 0}, "y": map[string]any{"type": "integer", "minimum": 0}},
		"required":             []string{"type", "x", "y"},
		"additionalProperties": false,
	}
}

// RefTarget is a target that must be a ref.
type RefTarget struct{ Target }

func (t *RefTarget) decodeWire(field string, raw json.RawMessage) error {
	return t.read(field, raw, false, true)
}

func (RefTarget) schema() map[string]any {
	return map[string]any{
		"type":                 "object",
		"properties":           map[string]any{"type": map[string]any{"const": "ref"}, "ref": map[string]any{"type": "string"}},
		"required":             []string{"type", "ref"},
		"additionalProperties": false,
	}
}

// Schema is the JSON Schema of the member's input, as a value for encoding/json.
func (m Member) Schema() map[string]any {
	properties := map[string]any{}
	required := []string{}
	for _, f := range inputFields(reflect.TypeOf(m.input)) {
		properties[f.name] = f.schema()
		if f.tag.Get("need") == "true" {
			required = append(required, f.name)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

func (f inputField) schema() map[string]any {
	schema := map[string]any{}
	if w, ok := reflect.New(f.typ).Interface().(wireInput); ok {
		schema = w.schema()
	} else {
		switch f.typ.Kind() {
		case reflect.String:
			schema["type"] = "string"
		case reflect.Int:
			schema["type"] = "integer"
		case reflect.Float64:
			schema["type"] = "number"
		case reflect.Slice:
			schema["type"], schema["items"] = "array", map[string]any{"type": "string"}
		}
	}
	if low, ok := f.bound("min"); ok {
		schema["minimum"] = low
	}
	if high, ok := f.bound("max"); ok {
		schema["maximum"] = high
	}
	if enum := f.tag.Get("enum"); enum != "" {
		schema["enum"] = strings.Split(enum, ",")
	}
	if value := f.tag.Get("default"); value != "" {
		schema["default"] = json.RawMessage(value)
	}
	if doc := f.tag.Get("doc"); doc != "" {
		schema["description"] = doc
	}
	return schema
}
