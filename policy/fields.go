package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// fields are the entries of a mapping.
type fields struct {
	at    int // line
	order []string
	nodes map[string]ast.Node
	lines map[string]int
}

func lineOf(n ast.Node) int {
	if n == nil || n.GetToken() == nil {
		return 0
	}
	return n.GetToken().Position.Line
}

// fieldsOf reads a mapping that has no other keys than these, or any if none are given.
func fieldsOf(n ast.Node, known ...string) (fields, error) {
	f := fields{at: lineOf(n), nodes: map[string]ast.Node{}, lines: map[string]int{}}
	entries, ok := n.(ast.MapNode)
	if !ok {
		with := ""
		if len(known) > 0 {
			with = ", with " + strings.Join(known, ", ")
		}
		return f, fmt.Errorf("line %d: a mapping is expected%s", f.at, with)
	}
	for each := entries.MapRange(); each.Next(); {
		token := each.Key().GetToken()
		line := token.Position.Line
		if len(known) > 0 && !slices.Contains(known, token.Value) {
			return f, fmt.Errorf("line %d: %s is not expected here; there may be %s", line, token.Value, strings.Join(known, ", "))
		}
		if f.has(token.Value) {
			return f, fmt.Errorf("line %d: %s is there twice", line, token.Value)
		}
		if len(f.order) == 0 {
			f.at = line
		}
		f.order = append(f.order, token.Value)
		f.nodes[token.Value] = each.Value()
		f.lines[token.Value] = line
	}
	if len(f.order) == 0 {
		return f, fmt.Errorf("line %d: the mapping is empty", f.at)
	}
	return f, nil
}

func (f fields) has(key string) bool { return f.nodes[key] != nil }

func (f fields) fail(key, want string) error {
	return fmt.Errorf("line %d: %s must be %s", f.lines[key], key, want)
}

func (f fields) decision(key string) (Decision, error) {
	if !f.has(key) {
		return Deny, fmt.Errorf("line %d: %s is missing; it is allow, ask or deny", f.at, key)
	}
	name, err := f.text(key)
	if err != nil {
		return Deny, err
	}
	i := slices.Index(decisionNames, name)
	if i < 0 {
		return Deny, f.fail(key, "allow, ask or deny")
	}
	return Decision(i), nil
}

func (f fields) text(key string) (string, error) {
	text, ok := textOf(f.nodes[key])
	if !ok {
		return "", f.fail(key, "a text")
	}
	return text, nil
}

func textOf(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, strings.TrimSpace(n.Value) != ""
	case *ast.LiteralNode:
		text := strings.TrimSpace(n.Value.Value)
		return text, text != ""
	}
	return "", false
}

func (f fields) list(key string) ([]ast.Node, error) {
	list, ok := f.nodes[key].(*ast.SequenceNode)
	if !ok || len(list.Values) == 0 {
		return nil, f.fail(key, "a list that is not empty")
	}
	return list.Values, nil
}

// texts reads a text or a list of texts.
func (f fields) texts(key string) ([]entry, error) {
	if text, ok := textOf(f.nodes[key]); ok {
		return []entry{{text, lineOf(f.nodes[key])}}, nil
	}
	list, err := f.list(key)
	if err != nil {
		return nil, f.fail(key, "a text or a list of texts")
	}
	texts := make([]entry, len(list))
	for i, n := range list {
		text, ok := textOf(n)
		if !ok {
			return nil, fmt.Errorf("line %d: %s holds something that is not a text; put quotes around it", max(lineOf(n), f.lines[key]), key)
		}
		texts[i] = entry{text, lineOf(n)}
	}
	return texts, nil
}
