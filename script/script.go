// Package script is the project's notation for scripted calls: what a model might say and ask, and what it should then read. The
// demo plays such a script, behaviour tests are made of them.
//
// A script is a txtar archive whose file "calls" holds one call a line, a member's name and its input:
//
//	# I'll search the documentation.
//	find {"query": "search field"}
//
//	# There it is.
//	left_click {"target": {"type": "ref", "ref": "textbox 'Search docs'"}}
//	type {"text": "install"}
//	> Typed
//	left_click {"target": {"type": "ref", "ref": "ref_999"}}
//	! stale or not found
//
// A blank line ends a turn; the calls of one turn form a batch. Lines that begin with "#" are what the model says in the turn that
// follows. An input may be left out, which means {}. A ref may be named by what was read: see [Resolver]. A call of another tool, which
// an executor leaves to the application, is written with its toolset before a slash: computer/screenshot, or /screenshot without one.
//
// Below a call stands what is expected of its result:
//
//	> text    it contains the text
//	- text    it does not
//	= text    its own text is exactly this, without what the API renders below it
//	! text    it is an error, and contains the text if one is given
//	? shape   its blocks have the shape: see [Call.CheckShapes]
//
// Scripts are written by us and trusted; what pages say is not, and only ever compared.
package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/tools/txtar"
)

// Script is a parsed script.
type Script struct {
	// Turns are what the file "calls" holds, in order.
	Turns []Turn
	// Files are the other files of the archive, by name.
	Files map[string][]byte
}

// Turn is what the model says and asks at once. One that only says something has no calls.
type Turn struct {
	Says  string // one line; empty when the model says nothing
	Calls []Call
}

// Call is one call, and what its result should be.
type Call struct {
	// Line is the call's line in the archive, counted from 1.
	Line int
	// Name is the member's, which may be one that does not exist.
	Name string
	// Foreign says that the call is not a member's but of another tool, whose toolset_name is Toolset unless that is empty.
	Foreign bool
	Toolset string
	// Input is a JSON value as it is written in the script: see [Resolver.Resolve].
	Input json.RawMessage
	// Fails says that an error is expected.
	Fails bool
	// Contains are texts that the model must read in the result.
	Contains []string
	// Lacks are texts that it must not read there.
	Lacks []string
	// Exact is the whole text of the result's own blocks. Empty: any.
	Exact string
	// Shapes are what the result's blocks must be like: see [Call.CheckShapes].
	Shapes []string
}

// Check compares what came back with what the script expects of a call without "!" lines: no error; with them: an error; and what must
// and must not be read. reads is what the model reads. The error names the line.
func (c Call) Check(reads string, isError bool) error {
	switch {
	case isError && !c.Fails:
		return fmt.Errorf("line %d: %s failed: %s", c.Line, c.Name, reads)
	case !isError && c.Fails:
		return fmt.Errorf("line %d: %s succeeded, though an error was expected", c.Line, c.Name)
	}
	for _, text := range c.Contains {
		if !strings.Contains(reads, text) {
			return fmt.Errorf("line %d: the result of %s does not contain %q", c.Line, c.Name, text)
		}
	}
	for _, text := range c.Lacks {
		if strings.Contains(reads, text) {
			return fmt.Errorf("line %d: the result of %s contains %q", c.Line, c.Name, text)
		}
	}
	return nil
}

const callsFile = "calls"

// Parse reads a script. Its errors name the line.
func Parse(data []byte) (*Script, error) {
	archive := txtar.Parse(data)
	s := &Script{Files: map[string][]byte{}}
	var calls []byte
	first, found := 0, false                               // of the lines of the calls
	line := bytes.Count(archive.Comment, []byte("\n")) + 1 // of the marker of the file at hand
	for _, f := range archive.Files {
		_, twice := s.Files[f.Name]
		switch {
		case twice || found && f.Name == callsFile:
			return nil, fmt.Errorf("line %d: a second file %q", line, f.Name)
		case f.Name == callsFile:
			calls, first, found = f.Data, line+1, true
		default:
			s.Files[f.Name] = f.Data
		}
		line += 1 + bytes.Count(f.Data, []byte("\n"))
	}
	if !found {
		return nil, fmt.Errorf("no file %q", callsFile)
	}
	var err error
	s.Turns, err = ParseTurns(string(calls), first)
	return s, err
}

// ParseTurns reads turns, whose first line is counted as this one. Its errors name the line.
func ParseTurns(text string, line int) ([]Turn, error) {
	var turns []Turn
	var turn Turn
	end := func() {
		if turn.Says != "" || len(turn.Calls) > 0 {
			turns = append(turns, turn)
		}
		turn = Turn{}
	}
	for raw := range strings.Lines(text) {
		content := strings.TrimSpace(raw)
		mark, rest := content, ""
		if content != "" {
			mark, rest = content[:1], strings.TrimSpace(content[1:])
		}
		var err error
		switch mark {
		case "":
			end()
		case "#":
			if len(turn.Calls) > 0 {
				end()
			}
			turn.Says = strings.TrimSpace(turn.Says + " " + rest)
		case ">", "!", "-", "=", "?":
			err = turn.expect(mark, rest)
		default:
			err = turn.call(content, line)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		line++
	}
	end()
	return turns, nil
}

// expect adds an expectation to the call above it.
func (t *Turn) expect(mark, text string) error {
	if len(t.Calls) == 0 {
		return fmt.Errorf("%q without a call above it", mark)
	}
	c := &t.Calls[len(t.Calls)-1]
	if text == "" && mark != "!" {
		return fmt.Errorf("%q without a text", mark)
	}
	switch mark {
	case "!":
		c.Fails = true
		if text != "" {
			c.Contains = append(c.Contains, text)
		}
	case ">":
		c.Contains = append(c.Contains, text)
	case "-":
		c.Lacks = append(c.Lacks, text)
	case "=":
		c.Exact = text
	case "?":
		if _, _, err := shapeOf(text); err != nil {
			return err
		}
		c.Shapes = append(c.Shapes, text)
	}
	return nil
}

func (t *Turn) call(content string, line int) error {
	name, input, _ := strings.Cut(content, " ")
	if strings.ContainsAny(name, `{}[]"`) {
		return errors.New("a call is a member's name, a space and its input")
	}
	input = strings.TrimSpace(input)
	if input == "" {
		input = "{}"
	}
	var value json.RawMessage
	if err := json.Unmarshal([]byte(input), &value); err != nil {
		return fmt.Errorf("the input of %s is not JSON: %w", name, err)
	}
	call := Call{Line: line, Name: name, Input: value}
	if toolset, rest, foreign := strings.Cut(name, "/"); foreign {
		call.Name, call.Foreign, call.Toolset = rest, true, toolset
	}
	t.Calls = append(t.Calls, call)
	return nil
}
