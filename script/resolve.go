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
// are called alike: button 'Search' #2 is the second one. It means a line of the latest reading, a result of read_page or find.
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
		ref, err := r.find(at.text)
		if err != nil {
			return nil, err
		}
		if ref != at.text {
			input = slices.Concat(input[:at.start], json.RawMessage(strconv.Quote(ref)), input[at.end:])
		}
	}
	return input, nil
}

// find returns the ref that a description means; what is no description means itself.
func (r *Resolver) find(text string) (string, error) {
	m := description.FindStringSubmatch(text)
	if m == nil {
		return text, nil
	}
	want := element{role: m[1], name: unescape(m[2]) + m[3]}
	nth, _ := strconv.Atoi(m[4]) // the pattern admits only numbers
	skip := max(nth, 1) - 1
	for _, e := range r.elements {
		if e.role != want.role || e.name != want.name {
			continue
		}
		if skip == 0 {
			return e.ref, nil
		}
		skip--
	}
	return "", r.missing(text, want)
}

// missing says what could have been meant: elements of the same role or name, else the first ones.
func (r *Resolver) missing(text string, want element) error {
	if len(r.elements) == 0 {
		return fmt.Errorf("no %s: the latest reading has no elements", text)
	}
	near := slices.DeleteFunc(slices.Clone(r.elements), func(e element) bool { return e.role != want.role && e.name != want.name })
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
	return fmt.Errorf("no %s in the latest reading, which has %s", text, strings.Join(names, ", "))
}

// refValue is a string under a key "ref": its bytes in the input, quotes included, and what it says.
type refValue struct {
	start, end int64
	text       string
}

func refValues(input json.RawMessage) ([]refValue, error) {
	var found []refValue
	var object []bool // of each open level: is it an object?
	key, name := false, ""
	tokens := json.NewDecoder(bytes.NewReader(input))
	tokens.UseNumber()
	for {
		start := tokens.InputOffset()
		token, err := tokens.Token()
		if err != nil {
			return nil, fmt.Errorf("the input is not JSON: %w", err)
		}
		switch token := token.(type) {
		case json.Delim:
			if token == '{' || token == '[' {
				object = append(object, token == '{')
			} else {
				object = object[:len(object)-1]
			}
			key = len(object) > 0 && object[len(object)-1]
			name = ""
		case string:
			if key {
				name, key = token, false
				continue
			}
			if name == "ref" {
				end := tokens.InputOffset()
				start += int64(bytes.IndexByte(input[start:end], '"')) // after the colon and white space
				found = append(found, refValue{start, end, token})
			}
			key = len(object) > 0 && object[len(object)-1]
		default:
			key = len(object) > 0 && object[len(object)-1]
		}
		if len(object) == 0 {
			return found, nil
		}
	}
}
