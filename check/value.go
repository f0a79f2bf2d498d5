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

// parse reads a JSON value whose place is path, and reports keys that occur twice to found. An error says that it is no JSON.
func parse(data []byte, path string, found *findings) (*value, error) {
	if err := contract.CheckSyntax(data); err != nil {
		return nil, err
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

// maxPath bounds the steps of a path that is shown: the outer and the inner ones count.
const maxPath = 64

// path is the value's place in the input, its middle left out when it is very deep.
func (v *value) path() string {
	var steps []*value // from the inside
	for at := v; at != nil; at = at.parent {
		steps = append(steps, at)
	}
	var b strings.Builder
	for i := len(steps) - 1; i >= 0; i-- {
		if len(steps) > maxPath && i == len(steps)-maxPath/2 {
			b.WriteString("…")
			i = maxPath/2 - 1
		}
		steps[i].step(&b)
	}
	return b.String()
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

// findings collects what is found.
type findings []Finding

// add notes a finding at a value.
func (f *findings) add(rule string, at *value, got, want string) {
	if len(*f) >= maxFindings {
		return // a path takes its time
	}
	f.addAt(rule, at.path(), got, want)
}

// maxFindings bounds what is noted of one input.
const maxFindings = 1000

// addAt notes a finding at a path.
func (f *findings) addAt(rule, path, got, want string) {
	if len(*f) >= maxFindings {
		return
	}
	*f = append(*f, Finding{Rule: rule, Path: path, Got: got, Want: want, Warning: ruleOf(rule).Warning})
}

// wrong notes a field that must be there, or be of another type.
func (f *findings) wrong(rule string, object *value, name, want string) {
	path := object.path()
	if path != "" {
		path += "."
	}
	f.addAt(rule, path+name, object.get(name).show(), want)
}
