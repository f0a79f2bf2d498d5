package models

import (
	"math"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
)

func TestLookup(t *testing.T) {
	for id, want := range map[string]string{
		"claude-sonnet-5":           "claude-sonnet-5",
		"claude-sonnet-5-20260801":  "claude-sonnet-5",
		"claude-sonnet-5@20260801":  "claude-sonnet-5",
		"claude-opus-4-8@default":   "claude-opus-4-8",
		"claude-opus-5-latest":      "claude-opus-5",
		"claude-opus-5-5":           "claude-opus-5-5",
		"haijun-opus-5-5":           "haijun-opus-5-5",
		"claude-opus-5-5-2026080":   "",
		"claude-sonnet-5-20260801x": "",
		"claude-sonnet":             "",
		"":                          "",
		"-":                         "",
	} {
		m, ok := Lookup(id)
		if m.ID != want || ok != (want != "") {
			t.Errorf("Lookup(%q) = %q, %v, want %q", id, m.ID, ok, want)
		}
	}
}

// TestIDs says that ids are spelled as the SDK spells them, and that the table has all of the SDK's that are not on their way out.
func TestIDs(t *testing.T) {
	for _, id := range []string{
		sdk.ModelClaudeHaiku5_5, sdk.ModelClaudeSonnet5_5, sdk.ModelClaudeFable5_1, sdk.ModelClaudeOpus5_5, sdk.ModelClaudeMythos5_1,
		sdk.ModelClaudeSonnet5, sdk.ModelClaudeFable5, sdk.ModelClaudeMythos5, sdk.ModelClaudeOpus5, sdk.ModelClaudeOpus4_8,
	} {
		if m, ok := Lookup(id); !ok || !m.Toolset || m.Brand != Claude || !m.Price.Known() {
			t.Errorf("%s: %+v", id, m)
		}
	}
	for _, id := range []string{
		sdk.ModelClaudeOpus4_7, sdk.ModelClaudeOpus4_6, sdk.ModelClaudeSonnet4_6, sdk.ModelClaudeHaiku4_5, sdk.ModelClaudeHaiku4_5_20251001,
		sdk.ModelClaudeOpus4_5, sdk.ModelClaudeOpus4_5_20251101,
	} {
		if m, ok := Lookup(id); !ok || m.Toolset {
			t.Errorf("%s has no toolset: %+v", id, m)
		}
	}
	seen := map[string]bool{}
	for _, m := range All() {
		if seen[m.ID] || m.Name == "" || m.Brand == "" || !strings.HasPrefix(m.ID, string(m.Brand)+"-") {
			t.Errorf("entry %+v", m)
		}
		seen[m.ID] = true
	}
}

func TestCost(t *testing.T) {
	sonnet, _ := Lookup("claude-sonnet-5")
	haiku, _ := Lookup("claude-haiku-5-5")
	other, _ := Lookup("haijun-sonnet-5")
	for _, test := range []struct {
		name  string
		price Price
		usage Usage
		want  float64
		known bool
	}{
		{"plain", sonnet.Price, Usage{Input: 1_000_000, Output: 100_000}, 3, true},
		{"cached", sonnet.Price, Usage{CacheWrite: 1_000_000, CacheWriteHour: 1_000_000, CacheRead: 1_000_000}, 2.5 + 4 + 0.2, true},
		{"short", haiku.Price, Usage{Input: 100_000}, 0.01, true},
		{"long, by what is cached", haiku.Price, Usage{Input: 50_000, CacheRead: 50_001}, (50_000*0.5 + 50_001*0.05) / 1e6, true},
		{"unknown", other.Price, Usage{Input: 1}, 0, false},
	} {
		got, known := test.price.Cost(test.usage)
		if math.Abs(got-test.want) > 1e-9 || known != test.known {
			t.Errorf("%s: %v, %v, want %v, %v", test.name, got, known, test.want, test.known)
		}
	}
}

func TestOverride(t *testing.T) {
	table, err := Known().Override([]byte(`
- id: claude-opus-5
  price: {input: 4, output: 20}
- id: haijun-opus-6
  toolset: true
  image: {long_edge: 3000}
`))
	if err != nil {
		t.Fatal(err)
	}
	opus, _ := table.Lookup("claude-opus-5")
	if opus.Price.Input != 4 || opus.Price.Output != 20 || opus.Price.CacheRead != 0.5 || opus.ContextWindow != million || !opus.Toolset {
		t.Errorf("a known model keeps what isn't named: %+v", opus)
	}
	six, ok := table.Lookup("haijun-opus-6-20270101")
	if !ok || six.Brand != Haijun || !six.Toolset || six.Image.LongEdge != 3000 || six.Image.ManyEdge != 2000 || six.Price.Known() {
		t.Errorf("a new model: %+v", six)
	}
	if before, _ := Lookup("claude-opus-5"); before.Price.Input != 5 {
		t.Error("the known table has changed")
	}
	if empty, err := Known().Override(nil); err != nil || len(empty.All()) != len(All()) {
		t.Errorf("an empty document: %v", err)
	}
	for _, bad := range []string{"- name: x", "- id: x\n  prize: 3", "id: x", "- id: [1]", "- id: x\n  price: {input: cheap}"} {
		if _, err := Known().Override([]byte(bad)); err == nil || strings.Contains(err.Error(), "panic") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
