package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/pagehand/pagehand"
)

//go:generate go test -run TestMembersPage -update .

// membersCmd lists the toolset.
type membersCmd struct {
	JSON bool `name:"json" help:"Print JSON, with the JSON Schema of each input."`
}

// Run prints a line for each member: its name, whether it is on by default, its input and what it does.
func (c *membersCmd) Run(std *streams) error {
	if c.JSON {
		return writeMembersJSON(std.out)
	}
	table := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
	for _, m := range pagehand.Members() {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", m.Name, onOff(m), m.Doc, strings.Join(fieldNames(m), ", "))
	}
	return table.Flush()
}

func onOff(m pagehand.Member) string {
	if m.Off {
		return "off"
	}
	return "on"
}

// memberJSON is a member as members --json prints it.
type memberJSON struct {
	Name          string         `json:"name"`
	On            bool           `json:"on"`
	TabManagement bool           `json:"tab_management"`
	Description   string         `json:"description"`
	InputSchema   map[string]any `json:"input_schema"`
}

func writeMembersJSON(w io.Writer) error {
	var list []memberJSON
	for _, m := range pagehand.Members() {
		list = append(list, memberJSON{m.Name, !m.Off, m.TabManagement, m.Doc, m.Schema()})
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(list)
}

// fieldNames lists a member's input fields, those it needs first and tab_id last; one that may be left out ends in "?".
func fieldNames(m pagehand.Member) []string {
	properties, required := fieldsOf(m)
	optional := slices.DeleteFunc(slices.Collect(maps.Keys(properties)), func(name string) bool { return slices.Contains(required, name) })
	slices.SortFunc(optional, func(a, b string) int {
		return cmp.Or(cmp.Compare(last(a), last(b)), cmp.Compare(a, b))
	})
	names := slices.Clone(required)
	for _, name := range optional {
		names = append(names, name+"?")
	}
	return names
}

// last ranks tab_id, which nearly every member takes, behind the other fields.
func last(field string) int {
	if field == "tab_id" {
		return 1
	}
	return 0
}

func fieldsOf(m pagehand.Member) (properties map[string]any, required []string) {
	schema := m.Schema()
	return schema["properties"].(map[string]any), schema["required"].([]string)
}
