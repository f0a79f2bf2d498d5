package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/pagehand/pagehand/contract"
)

// value is a JSON value that knows its place.
type value struct {
	parent *value
	name   string // of the field; of a root: its path
	index  int    // in the list; -1 for a field
	raw    json.RawMessage
	fields []*value // of an object, in order; of two with the same name both
	items  []*value // of a list
}

// maxDepth bounds how many lists and objects are around a value: no request comes near it.
const maxDepth = 1000

// parse reads a JSON value whose place is path, and reports keys that occur twice to found. An error says that it is no JSON, or that it
// is nested too deep.
func parse(data []byte, path string, found *findings) (*value, error) {
	if err := contract.CheckSyntax(data); err != nil {
		return nil, err
	}
	if tooDeep(data) {
		return nil, fmt.Errorf("the JSON is nested deeper than %d levels", maxDepth)
	}
	v := &value{name: path, index: -1}
	v.read(data, found)
	return v, nil
}

// read takes a valid value from the beginning of data and returns what follows it.
func (v *value) read(data []byte, found *findings) []byte {
	data = skipSpace(data)
	rest := data
	switch data[0] {
	case '{':
		seen := map[string]bool{}
		for rest = skipSpace(rest[1:]); rest[0] != '}'; rest = skipSpace(rest) {
			if rest[0] == ',' {
				rest = skipSpace(rest[1:])
			}
			n := stringEnd(rest)
			field := &value{parent: v, name: unquote(rest[:n]), index: -1}
			rest = skipSpace(rest[n:])
			rest = field.read(rest[1:], found) // after the colon
			if seen[field.name] {
				found.add("json-duplicate-key", field, "a second "+quote(field.name)+" in one object", "each key once")
			}
			seen[field.name] = true
			v.fields = append(v.fields, field)
		}
		rest = rest[1:]
	case '[':
		for rest = skipSpace(rest[1:]); rest[0] != ']'; rest = skipSpace(rest) {
			if rest[0] == ',' {
				rest = rest[1:]
			}
			item := &value{parent: v, index: len(v.items)}
			rest = item.read(rest, found)
			v.items = append(v.items, item)
		}
		rest = rest[1:]
	case '"':
		rest = rest[stringEnd(rest):]
	default:
		n := bytes.IndexAny(rest, ",]} \t\r\n")
		if n < 0 {
			n = len(rest)
		}
		rest = rest[n:]
	}
	v.raw = json.RawMessage(data[:len(data)-len(rest)])
	return rest
}

// tooDeep reports whether valid JSON is nested deeper than maxDepth.
func tooDeep(data []byte) bool {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			i += stringEnd(data[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if depth > maxDepth {
			return true
		}
	}
	return false
}

func skipSpace(data []byte) []byte { return bytes.TrimLeft(data, " \t\r\n") }

// stringEnd is the length of the string that data begins with.
func stringEnd(data []byte) int {
	for i := 1; ; {
		n := bytes.IndexAny(data[i:], `"\`)
		if data[i+n] == '"' {
			return i + n + 1
		}
		i += n + 2
	}
}

func unquote(raw []byte) string {
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return ""
	}
	return s
}

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// maxPath bounds the bytes of a path that is shown, and maxSteps its steps: the outer and the inner ones count.
const (
	maxPath  = 500
	maxSteps = 64
)

// path is the value's place in the input, its middle left out when it is very deep.
func (v *value) path() string {
	var steps []*value // from the inside
	for at := v; at != nil; at = at.parent {
		steps = append(steps, at)
	}
	var b strings.Builder
	for i := len(steps) - 1; i >= 0; i-- {
		if len(steps) > maxSteps && i == len(steps)-maxSteps/2 {
			b.WriteString("…")
			i = maxSteps/2 - 1
		}
		steps[i].step(&b)
	}
	path := b.String()
	if len(path) > maxPath {
		path = strings.ToValidUTF8(path[:maxPath/2], "") + "…" + strings.ToValidUTF8(path[len(path)-maxPath/2:], "")
	}
	return path
}

// step writes the last step of the path.
func (v *value) step(b *strings.Builder) {
	switch {
	case v.parent == nil:
		b.WriteString(v.name)
	case v.index >= 0:
		b.WriteString("[" + strconv.Itoa(v.index) + "]")
	case !plainName.MatchString(v.name) || len(v.name) > 80:
		b.WriteString("[" + quote(v.name) + "]")
	default:
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(v.name)
	}
}

// get returns a field, and nil when it is absent or null. Of a key that occurs twice the last counts. It may be asked of nil.
func (v *value) get(name string) *value {
	if v == nil {
		return nil
	}
	for i := len(v.fields) - 1; i >= 0; i-- {
		if f := v.fields[i]; f.name == name {
			if f.isNull() {
				return nil
			}
			return f
		}
	}
	return nil
}

func (v *value) isNull() bool   { return v == nil || v.raw[0] == 'n' }
func (v *value) isObject() bool { return v != nil && v.raw[0] == '{' }
func (v *value) isList() bool   { return v != nil && v.raw[0] == '[' }
func (v *value) isText() bool   { return v != nil && v.raw[0] == '"' }
func (v *value) isBool() bool   { return v != nil && (v.raw[0] == 't' || v.raw[0] == 'f') }
func (v *value) isTrue() bool   { return v != nil && v.raw[0] == 't' }

// text is the value of a string, and empty for anything else.
func (v *value) text() string {
	if !v.isText() {
		return ""
	}
	return unquote(v.raw)
}

// whole reads an integer.
func (v *value) whole() (int, bool) {
	if v == nil {
		return 0, false
	}
	n, err := strconv.Atoi(string(v.raw))
	return n, err == nil
}

// show is the value in a finding: one line, bounded.
func (v *value) show() string {
	switch {
	case v == nil:
		return "nothing"
	case v.isText():
		return quote(v.text())
	case v.isObject() && v.get("type").isText():
		return "an object of type " + quote(v.get("type").text())
	case v.isObject():
		return "an object"
	case v.isList():
		return fmt.Sprintf("a list of %d", len(v.items))
	}
	return shorten(string(v.raw))
}

// quote quotes a text for a finding: one line, bounded.
func quote(s string) string {
	short := shorten(s)
	if short == s {
		return strconv.Quote(s)
	}
	return strconv.Quote(strings.TrimSuffix(short, "…")) + "…"
}

func shorten(s string) string {
	const limit = 80
	n := 0
	for at := range s {
		if n == limit {
			return s[:at] + "…"
		}
		n++
	}
	return s
}

// maxFindings bounds the errors and the warnings that are noted of one input: many warnings hide no error.
const maxFindings = 1000

// findings collects what is found.
type findings struct {
	noted            []Finding
	errors, warnings int // also those that were not noted
}

// add notes a finding at a value.
func (f *findings) add(rule string, at *value, got, want string) {
	if f.counts(rule) {
		f.note(rule, at.path(), got, want)
	}
}

// addAt notes a finding at a path.
func (f *findings) addAt(rule, path, got, want string) {
	if f.counts(rule) {
		f.note(rule, path, got, want)
	}
}

// wrong notes a field that must be there, or be of another type.
func (f *findings) wrong(rule string, object *value, name, want string) {
	if !f.counts(rule) {
		return
	}
	path := object.path()
	if path != "" {
		path += "."
	}
	f.note(rule, path+name, object.get(name).show(), want)
}

// counts counts a finding, and reports whether it is to be noted.
func (f *findings) counts(rule string) bool {
	n := &f.errors
	if ruleOf(rule).Warning {
		n = &f.warnings
	}
	*n++
	return *n <= maxFindings
}

func (f *findings) note(rule, path, got, want string) {
	f.noted = append(f.noted, Finding{Rule: rule, Path: path, Got: got, Want: want, Warning: ruleOf(rule).Warning})
}

// list returns what was noted. The last finding says how many more there are.
func (f *findings) list() []Finding {
	if more := f.errors + f.warnings - len(f.noted); more > 0 {
		f.noted[len(f.noted)-1].Got += fmt.Sprintf(" (and %d more findings, which are not listed)", more)
	}
	return f.noted
}
