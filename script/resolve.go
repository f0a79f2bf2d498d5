package script

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pagehand/pagehand/contract"
)

// Resolver finds the refs that a script names by description. A description stands in the place of a ref and is the element's role
// and its name in quotes, such as button "Search"; single quotes need no backslashes in JSON, and a number tells apart elements that
// are called alike: button 'Search' #2 is the second one. The same as an object: {"role": "button", "name": "Search", "nth": 2}. It means
// a line of the latest reading, a result of read_page or find.
//
// The zero value has no reading yet.
type Resolver struct {
	elements []element // of the latest reading, in its order
}

// element is a line of a reading that has a ref.
type element struct{ role, name, ref string }

func (e element) String() string { return fmt.Sprintf("%s %s", e.role, quoteName(e.name)) }

var (
	// readingLine is `  button "Pay \"now\"" [ref_3] focused`; a nameless element has no quotes.
	readingLine = regexp.MustCompile(`^\s*([^\s"']+)(?: "((?:[^"\\]|\\.)*)")? \[(ref_\d+)\]`)
	description = regexp.MustCompile(`^([^\s"']+) (?:"((?:[^"\\]|\\.)*)"|'([^']*)')(?: #([1-9]\d{0,5}))?$`)
	escapedRune = regexp.MustCompile(`\\(.)`)
)

func quoteName(name string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
}

func unescape(name string) string { return escapedRune.ReplaceAllString(name, "$1") }

// Observe remembers the result of a call if it is a reading.
func (r *Resolver) Observe(use contract.ToolUse, res contract.ToolResult) {
	if res.IsError || use.Name != "read_page" && use.Name != "find" {
		return
	}
	r.elements = nil
	for _, block := range res.Content {
		text, ok := block.(contract.Text)
		if !ok {
			continue
		}
		for line := range strings.Lines(text.Text) {
			if m := readingLine.FindStringSubmatch(line); m != nil {
				r.elements = append(r.elements, element{m[1], unescape(m[2]), m[3]})
			}
		}
	}
}

// Called returns the description of an element of the latest reading, button "Search", or nothing for a ref that isn't in it.
func (r *Resolver) Called(ref string) string {
	i := slices.IndexFunc(r.elements, func(e element) bool { return e.ref == ref })
	if i < 0 {
		return ""
	}
	return r.elements[i].String()
}

// Resolve returns the input with each description under a key "ref" replaced by the ref it means. All else, other strings under
// that key too, stays byte for byte. The error says what the latest reading has instead.
func (r *Resolver) Resolve(input json.RawMessage) (json.RawMessage, error) {
	refs, err := refValues(input)
	if err != nil {
		return nil, err
	}
	for _, at := range slices.Backward(refs) {
		wanted, ok, err := parseDescription(input[at.start:at.end])
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		ref, err := r.find(wanted)
		if err != nil {
			return nil, err
		}
		input = slices.Concat(input[:at.start], json.RawMessage(strconv.Quote(ref)), input[at.end:])
	}
	return input, nil
}

// wanted is an element that a script describes.
type wanted struct {
	element
	nth  int    // of the elements that are called so, counted from 1
	text string // as the script has it
}

// parseDescription reads what stands in the place of a ref; false means that it is no description, as is an object without a role.
func parseDescription(raw json.RawMessage) (wanted, bool, error) {
	if raw[0] == '"' {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return wanted{}, false, err
		}
		m := description.FindStringSubmatch(text)
		if m == nil {
			return wanted{}, false, nil
		}
		nth, _ := strconv.Atoi(m[4]) // the pattern admits only numbers
		return wanted{element{role: m[1], name: unescape(m[2]) + m[3]}, max(nth, 1), text}, true, nil
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(raw, &keys); err != nil || keys["role"] == nil {
		return wanted{}, false, err
	}
	fields := struct {
		Role, Name string
		Nth        int
	}{Nth: 1}
	strict := json.NewDecoder(bytes.NewReader(raw))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&fields); err != nil || fields.Nth < 1 {
		return wanted{}, false, fmt.Errorf(`%s does not describe an element: it takes a role, a name and an nth from 1`, raw)
	}
	return wanted{element{role: fields.Role, name: fields.Name}, fields.Nth, string(raw)}, true, nil
}

func (r *Resolver) find(w wanted) (string, error) {
	seen := 0
	for _, e := range r.elements {
		if e.role != w.role || e.name != w.name {
			continue
		}
		if seen++; seen == w.nth {
			return e.ref, nil
		}
	}
	return "", r.missing(w)
}

// missing says what could have been meant: elements of the same role or name, else the first ones.
func (r *Resolver) missing(w wanted) error {
	if len(r.elements) == 0 {
		return fmt.Errorf("no %s: the latest reading has no elements", w.text)
	}
	near := slices.DeleteFunc(slices.Clone(r.elements), func(e element) bool { return e.role != w.role && e.name != w.name })
	if len(near) == 0 {
		near = r.elements
	}
	const most = 8
	var names []string
	for _, e := range near[:min(len(near), most)] {
		names = append(names, e.String())
	}
	if len(near) > most {
		names = append(names, fmt.Sprintf("%d more", len(near)-most))
	}
	return fmt.Errorf("no %s in the latest reading, which has %s", w.text, strings.Join(names, ", "))
}

// refValue is the place of a string or an object under a key "ref".
type refValue struct{ start, end int64 }

func refValues(input json.RawMessage) ([]refValue, error) {
	type level struct {
		object bool
		key    bool  // a key comes next
		ref    int64 // an object that is the value of a key "ref" begins here; -1 for any other
	}
	var found []refValue
	var levels []level
	name := "" // the key whose value comes next
	tokens := json.NewDecoder(bytes.NewReader(input))
	tokens.UseNumber()
	for {
		start := tokens.InputOffset()
		token, err := tokens.Token()
		if err != nil {
			return nil, fmt.Errorf("the input is not JSON: %w", err)
		}
		end := tokens.InputOffset()
		if n := len(levels); n > 0 && levels[n-1].key {
			if text, ok := token.(string); ok {
				name, levels[n-1].key = text, false
				continue
			}
		}
		isRef := name == "ref"
		name = ""
		switch token {
		case json.Delim('{'), json.Delim('['):
			next := level{object: token == json.Delim('{'), ref: -1}
			next.key = next.object
			if isRef && next.object {
				next.ref = end - 1
			}
			levels = append(levels, next)
			continue
		case json.Delim('}'), json.Delim(']'):
			if at := levels[len(levels)-1].ref; at >= 0 {
				found = append(found, refValue{at, end})
			}
			levels = levels[:len(levels)-1]
		default:
			if _, text := token.(string); text && isRef {
				found = append(found, refValue{start + int64(bytes.IndexByte(input[start:end], '"')), end}) // after the colon and white space
			}
		}
		n := len(levels)
		if n == 0 {
			return found, nil
		}
		levels[n-1].key = levels[n-1].object
	}
}
