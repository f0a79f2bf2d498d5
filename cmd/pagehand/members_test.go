package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pagehand/pagehand"
)

var update = flag.Bool("update", false, "rewrite docs/members.md")

const membersPage = "../../docs/members.md"

// The page of the documentation is made from the table of members.
func TestMembersPage(t *testing.T) {
	want := renderMembersPage()
	if *update {
		if err := os.MkdirAll("../../docs", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(membersPage, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(membersPage)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("docs/members.md is stale: run go generate ./cmd/pagehand")
	}
}

func renderMembersPage() []byte {
	var b bytes.Buffer
	b.WriteString("# The toolset's members\n\nMade by `go generate ./cmd/pagehand` from the table that the executor runs by; `pagehand members` prints the same.\n\n" +
		"A member that is off does nothing until the toolset entry enables it. A field that ends in `?` may be left out.\n\n" +
		"A coordinate target is `{\"type\": \"coordinate\", \"x\": 640, \"y\": 380}`, in viewport pixels. A ref target is `{\"type\": \"ref\", \"ref\": \"ref_2\"}`, with a ref that read_page or find gave.\n\n" +
		"| Member | Default | What it does |\n|---|---|---|\n")
	for _, m := range pagehand.Members() {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s |\n", m.Name, m.Name, onOff(m), cell(m.Doc))
	}
	for _, m := range pagehand.Members() {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", m.Name, m.Doc)
		properties, _ := fieldsOf(m)
		if len(properties) == 0 {
			b.WriteString("\nIt takes no input.\n")
			continue
		}
		b.WriteString("\n| Field | Value | Meaning |\n|---|---|---|\n")
		for _, field := range fieldNames(m) {
			schema := properties[strings.TrimSuffix(field, "?")].(map[string]any)
			meaning, _ := schema["description"].(string)
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", field, cell(valueOf(schema)), cell(meaning))
		}
	}
	return b.Bytes()
}

// valueOf describes what a JSON Schema of a field allows.
func valueOf(schema map[string]any) string {
	if alternatives, ok := schema["oneOf"].([]any); ok {
		var texts []string
		for _, alternative := range alternatives {
			texts = append(texts, valueOf(alternative.(map[string]any)))
		}
		return strings.Join(texts, " or ")
	}
	if properties, ok := schema["properties"].(map[string]any); ok {
		return fmt.Sprint(properties["type"].(map[string]any)["const"], " target")
	}
	text := fmt.Sprint(schema["type"])
	if kinds, ok := schema["type"].([]string); ok {
		text = strings.Join(kinds, " or ")
	}
	if items, ok := schema["items"].(map[string]any); ok {
		text = fmt.Sprintf("list of %ss", items["type"])
		if n, ok := schema["minItems"]; ok {
			text = fmt.Sprintf("list of %v %ss", n, items["type"])
		}
	}
	if enum, ok := schema["enum"].([]string); ok {
		text = "`" + strings.Join(enum, "`, `") + "`"
	}
	low, hasLow := schema["minimum"]
	high, hasHigh := schema["maximum"]
	switch {
	case hasLow && hasHigh:
		text += fmt.Sprintf(" from %v to %v", low, high)
	case hasLow:
		text += fmt.Sprintf(" of at least %v", low)
	}
	if value, ok := schema["default"]; ok {
		text += fmt.Sprintf(", default `%s`", value)
	}
	return text
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

func TestMembersJSON(t *testing.T) {
	var out bytes.Buffer
	if err := (&membersCmd{JSON: true}).Run(&streams{out: &out}); err != nil {
		t.Fatal(err)
	}
	var list []memberJSON
	if err := json.Unmarshal(out.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 31 || !slices.ContainsFunc(list, func(m memberJSON) bool { return m.Name == "javascript_exec" && !m.On }) {
		t.Errorf("got %d members", len(list))
	}
}
