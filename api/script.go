package api

import (
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/pagehand/pagehand/script"
)

// Script says what the model does. Its format is in the package's description.
type Script struct {
	ops  []op
	mark string // tells its calls from those of other scripts
}

// kind says what an op does.
type kind int

const (
	turnOp  kind = iota // makes calls
	sayOp               // says something and waits for the user
	faultOp             // see fault
	whenOp              // goes on, or to an op unless something was read
	jumpOp              // goes to an op
	loopOp              // begins a round, or goes to an op when there are no more
)

// op is one instruction. A script is a list of them, so that a place in it is a number and the rounds of the repeats around it, and
// fits into the id of a call.
type op struct {
	kind kind
	line int
	turn script.Turn // turnOp; sayOp: what it says
	over bool        // sayOp: nothing follows
	when condition   // whenOp, loopOp
	to   int         // whenOp, jumpOp, loopOp
	most int         // loopOp: how many rounds
	loop int         // loopOp: how many repeats are around it
	play fault       // faultOp
}

// condition is about what the model has read since it last said or did something. The zero value never holds.
type condition struct{ reads, lacks string }

func (c condition) holds(read string) bool {
	if c == (condition{}) {
		return false
	}
	return strings.Contains(read, c.reads) && (c.lacks == "" || !strings.Contains(read, c.lacks))
}

// Limits of a script.
const (
	maxRounds = 1000
	maxDepth  = 8
)

// ParseScript reads a script in YAML. Its errors name the line.
func ParseScript(data []byte) (*Script, error) {
	tree, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, syntaxError(err)
	}
	var body ast.Node
	if len(tree.Docs) > 0 {
		body = tree.Docs[0].Body
	}
	if len(tree.Docs) > 1 {
		return nil, fmt.Errorf("line %d: a script is one document", tree.Docs[1].Start.Position.Line)
	}
	if body == nil || body.Type() == ast.CommentType {
		return nil, errors.New(`the script is empty; it begins with "steps:"`)
	}
	c := &compiler{}
	root, err := fieldsOf(body, "steps")
	if err == nil {
		err = root.needs("steps")
	}
	if err == nil {
		err = c.steps(root.get("steps"), 0)
	}
	if err != nil {
		return nil, err
	}
	c.script.mark = c.script.fingerprint()
	return &c.script, nil
}

// fingerprint is made of what a script does, without its texts: the sample site is at another address each time.
func (s *Script) fingerprint() string {
	h := fnv.New32()
	for _, o := range s.ops {
		fmt.Fprint(h, o.kind, o.to, o.most, o.play.name)
		for _, call := range o.turn.Calls {
			fmt.Fprint(h, call.Toolset, call.Name)
		}
	}
	return fmt.Sprintf("%04x", h.Sum32()&0xffff)
}

// syntaxError is the YAML parser's error in the form that all our errors have.
func syntaxError(err error) error {
	var at yaml.Error
	if errors.As(err, &at) {
		return fmt.Errorf("line %d: %s", at.GetToken().Position.Line, at.GetMessage())
	}
	return err
}

func lineOf(n ast.Node) int { return n.GetToken().Position.Line }

// compiler turns steps into ops.
type compiler struct{ script Script }

func (c *compiler) add(o op) int {
	c.script.ops = append(c.script.ops, o)
	return len(c.script.ops) - 1
}

// here is the index of the next op.
func (c *compiler) here() int { return len(c.script.ops) }

// steps compiles a list of steps, which is inside of so many repeats.
func (c *compiler) steps(n ast.Node, depth int) error {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		return fmt.Errorf("line %d: a list of steps is expected, each after a dash", lineOf(n))
	}
	for _, step := range list.Values {
		if err := c.step(step, depth); err != nil {
			return err
		}
	}
	return nil
}

func (c *compiler) step(n ast.Node, depth int) error {
	kinds := []struct {
		key     string
		others  []string
		compile func(f fields) error
	}{
		{"calls", nil, c.calls},
		{"ask", nil, func(f fields) error { return c.say(f, "ask", false) }},
		{"end", nil, func(f fields) error { return c.say(f, "end", true) }},
		{"when", []string{"then", "else"}, func(f fields) error { return c.when(f, depth) }},
		{"repeat", nil, func(f fields) error { return c.repeat(f, depth) }},
		{"fault", faultSettings, c.fault},
	}
	var keys []string
	for _, kind := range kinds {
		keys = append(keys, kind.key)
		if !hasKey(n, kind.key) {
			continue
		}
		f, err := fieldsOf(n, append([]string{kind.key}, kind.others...)...)
		if err != nil {
			return err
		}
		return kind.compile(f)
	}
	return fmt.Errorf("line %d: a step has one of the keys %s", lineOf(n), strings.Join(keys, ", "))
}

func (c *compiler) calls(f fields) error {
	text, line, err := f.block("calls")
	if err != nil {
		return err
	}
	turns, err := script.ParseTurns(text, line)
	if err != nil {
		return err
	}
	if len(turns) == 0 {
		return fmt.Errorf("line %d: no call", line)
	}
	for _, turn := range turns {
		if len(turn.Calls) == 0 {
			c.add(op{kind: sayOp, line: line, turn: turn})
			continue
		}
		for _, call := range turn.Calls {
			if call.Input[0] != '{' {
				return fmt.Errorf("line %d: the input of %s must be an object", call.Line, call.Name)
			}
		}
		c.add(op{kind: turnOp, line: turn.Calls[0].Line, turn: turn})
	}
	return nil
}

func (c *compiler) say(f fields, key string, over bool) error {
	text, err := f.text(key)
	if err == nil && strings.TrimSpace(text) == "" {
		err = fmt.Errorf("line %d: %s is empty", f.line(key), key)
	}
	if err != nil {
		return err
	}
	c.add(op{kind: sayOp, line: f.line(key), turn: script.Turn{Says: strings.TrimSpace(text)}, over: over})
	return nil
}

func (c *compiler) when(f fields, depth int) error {
	cond, err := readCondition(f.get("when"))
	if err != nil {
		return err
	}
	if err := f.needs("then"); err != nil {
		return err
	}
	test := c.add(op{kind: whenOp, line: f.at, when: cond})
	if err := c.steps(f.get("then"), depth); err != nil {
		return err
	}
	if !f.has("else") {
		c.script.ops[test].to = c.here()
		return nil
	}
	skip := c.add(op{kind: jumpOp, line: f.at})
	c.script.ops[test].to = c.here()
	if err := c.steps(f.get("else"), depth); err != nil {
		return err
	}
	c.script.ops[skip].to = c.here()
	return nil
}

func (c *compiler) repeat(f fields, depth int) error {
	f, err := fieldsOf(f.get("repeat"), "until", "most", "steps")
	if err != nil {
		return err
	}
	if err := f.needs("most", "steps"); err != nil {
		return err
	}
	if depth == maxDepth {
		return fmt.Errorf("line %d: more than %d repeats inside of each other", f.at, maxDepth)
	}
	o := op{kind: loopOp, line: f.at, loop: depth}
	if f.has("until") {
		if o.when, err = readCondition(f.get("until")); err != nil {
			return err
		}
	}
	if o.most, err = f.number("most", 1, maxRounds); err != nil {
		return err
	}
	begin := c.add(o)
	if err := c.steps(f.get("steps"), depth+1); err != nil {
		return err
	}
	c.add(op{kind: jumpOp, line: f.at, to: begin})
	c.script.ops[begin].to = c.here()
	return nil
}

func readCondition(n ast.Node) (condition, error) {
	f, err := fieldsOf(n, "reads", "lacks")
	if err != nil {
		return condition{}, err
	}
	if len(f.nodes) == 0 {
		return condition{}, fmt.Errorf("line %d: a condition has reads, lacks or both", f.at)
	}
	var c condition
	for key, to := range map[string]*string{"reads": &c.reads, "lacks": &c.lacks} {
		if !f.has(key) {
			continue
		}
		if *to, err = f.text(key); err != nil {
			return c, err
		}
		if *to == "" {
			return c, fmt.Errorf("line %d: %s is empty", f.line(key), key)
		}
	}
	return c, nil
}

func (c *compiler) fault(f fields) error {
	name, err := f.text("fault")
	if err != nil {
		return err
	}
	play, ok := faultNamed(name)
	if !ok {
		return fmt.Errorf("line %d: there is no fault %q; there are %s", f.line("fault"), name, strings.Join(faultNames(), ", "))
	}
	play.times = 1
	for key := range f.nodes {
		if key != "fault" && key != "times" && !slices.Contains(play.takes(), key) {
			return fmt.Errorf("line %d: the fault %s does not take %s", f.line(key), name, key)
		}
	}
	for key, to := range map[string]*int{"times": &play.times, "retry_after": &play.retryAfter, "after": &play.after, "pings": &play.pings} {
		if f.has(key) && err == nil {
			*to, err = f.number(key, 0, maxRounds)
		}
	}
	for key, to := range map[string]*string{"says": &play.says, "sequence": &play.sequence} {
		if f.has(key) && err == nil {
			*to, err = f.text(key)
		}
	}
	if f.has("every") && err == nil {
		play.every, err = f.duration("every")
	}
	if f.has("error") && err == nil {
		err = f.errorType(&play)
	}
	if err != nil {
		return err
	}
	c.add(op{kind: faultOp, line: f.line("fault"), play: play})
	return nil
}

// fields are the entries of a mapping.
type fields struct {
	at    int // line
	nodes map[string]ast.Node
	lines map[string]int
}

// fieldsOf reads a mapping that has no other keys than these.
func fieldsOf(n ast.Node, known ...string) (fields, error) {
	entries, ok := n.(ast.MapNode)
	if !ok {
		return fields{}, fmt.Errorf("line %d: a mapping is expected, with %s", lineOf(n), strings.Join(known, ", "))
	}
	f := fields{nodes: map[string]ast.Node{}, lines: map[string]int{}}
	for entry := entries.MapRange(); entry.Next(); {
		token := entry.Key().GetToken()
		if !slices.Contains(known, token.Value) {
			return f, fmt.Errorf("line %d: %s is not expected here; there may be %s", token.Position.Line, token.Value, strings.Join(known, ", "))
		}
		if f.at == 0 {
			f.at = token.Position.Line
		}
		f.nodes[token.Value] = entry.Value()
		f.lines[token.Value] = token.Position.Line
	}
	if f.at == 0 {
		f.at = lineOf(n)
	}
	return f, nil
}

func hasKey(n ast.Node, key string) bool {
	entries, ok := n.(ast.MapNode)
	if !ok {
		return false
	}
	for entry := entries.MapRange(); entry.Next(); {
		if entry.Key().GetToken().Value == key {
			return true
		}
	}
	return false
}

func (f fields) has(key string) bool     { return f.nodes[key] != nil }
func (f fields) get(key string) ast.Node { return f.nodes[key] }
func (f fields) line(key string) int     { return f.lines[key] }
func (f fields) fail(key, w string) error {
	return fmt.Errorf("line %d: %s must be %s", f.line(key), key, w)
}

func (f fields) needs(keys ...string) error {
	for _, key := range keys {
		if !f.has(key) {
			return fmt.Errorf("line %d: %s is missing", f.at, key)
		}
	}
	return nil
}

// text reads a text. Numbers and truth values are taken as they are written.
func (f fields) text(key string) (string, error) {
	switch n := f.get(key).(type) {
	case *ast.StringNode:
		return n.Value, nil
	case *ast.LiteralNode:
		return strings.TrimSuffix(n.Value.Value, "\n"), nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, nil
	}
	return "", f.fail(key, "a text")
}

// block reads a text whose lines are kept, with the number of its first line.
func (f fields) block(key string) (string, int, error) {
	switch n := f.get(key).(type) {
	case *ast.LiteralNode:
		if strings.HasPrefix(n.Start.Value, "|") {
			return n.Value.Value, n.Start.Position.Line + 1, nil
		}
	case *ast.StringNode:
		if !strings.Contains(n.Value, "\n") {
			return n.Value, lineOf(n), nil
		}
	}
	return "", 0, f.fail(key, `a block of lines after "|"`)
}

func (f fields) number(key string, least, most int) (int, error) {
	var value int
	n, ok := f.get(key).(*ast.IntegerNode)
	if !ok || yaml.NodeToValue(n, &value) != nil || value < least || value > most {
		return 0, f.fail(key, fmt.Sprintf("a whole number from %d to %d", least, most))
	}
	return value, nil
}

func (f fields) duration(key string) (time.Duration, error) {
	text, err := f.text(key)
	if err != nil {
		return 0, err
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > time.Minute {
		return 0, f.fail(key, "a time of at most a minute, such as 200ms")
	}
	return d, nil
}

func (f fields) errorType(play *fault) error {
	name, err := f.text("error")
	if err != nil {
		return err
	}
	kind, ok := errorKindNamed(name)
	if !ok {
		return f.fail("error", "a type of error, such as overloaded_error")
	}
	play.kind = kind
	return nil
}
