package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/pagehand/pagehand/contract"
)

// What is written piece by piece is what encoding/json makes of the contract's types.
func TestMessage(t *testing.T) {
	size := int64(7)
	state := &contract.BrowserState{
		Tabs:         []contract.Tab{{TabID: "tab-1", Title: `<"Docs">`, URL: "https://example.com/?a=1&b=2", Active: true}},
		StateChanges: []contract.StateChange{{Type: contract.DownloadCompleted, DownloadID: "dl-1", URL: "https://example.com/f", SizeBytes: &size}},
	}
	for name, m := range map[string]contract.Message{
		"no results": contract.NewMessage(nil),
		"every block": {Role: "user", ModelView: "a <b> & \"c\"\n", Content: []contract.ToolResult{
			{ToolUseID: `toolu_"1"`, ToolsetName: "browser", Content: []contract.Block{
				contract.Text{Text: "<button> \u2028 ☃ \x00 " + strings.Repeat("long ", 100_000)}, contract.Image{MediaType: "image/png", Data: []byte("\x89PNG…")}, state,
			}},
			{ToolUseID: "toolu_2", ToolsetName: "browser", IsError: true, Content: []contract.Block{contract.Text{Text: contract.HaltText}}},
			{ToolUseID: "toolu_3", Content: []contract.Block{contract.Image{MediaType: "image/jpeg"}}},
			{ToolUseID: "toolu_4"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var want, got bytes.Buffer
			plain := json.NewEncoder(&want)
			plain.SetEscapeHTML(false)
			if err := plain.Encode(m); err != nil {
				t.Fatal(err)
			}
			if err := newLineWriter(&got).message(m); err != nil {
				t.Fatal(err)
			}
			if got.String() != want.String() {
				t.Errorf("got\n%.2000s\nwant\n%.2000s", got.String(), want.String())
			}
		})
	}
}

func BenchmarkMessage(b *testing.B) {
	m := contract.NewMessage([]contract.ToolResult{{ToolUseID: "toolu_1", ToolsetName: "browser", Content: []contract.Block{
		contract.Text{Text: "Screenshot captured."}, contract.Image{MediaType: "image/png", Data: bytes.Repeat([]byte("picture "), 128<<10)},
	}}})
	b.Run("pieces", func(b *testing.B) {
		var out bytes.Buffer
		w := newLineWriter(&out)
		for b.Loop() {
			out.Reset()
			if err := w.message(m); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("nested", func(b *testing.B) {
		var out bytes.Buffer
		for b.Loop() {
			out.Reset()
			encoder := json.NewEncoder(&out)
			encoder.SetEscapeHTML(false)
			if err := encoder.Encode(m); err != nil {
				b.Fatal(err)
			}
		}
	})
}
