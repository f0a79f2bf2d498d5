package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

// encodeNested is what Encode must give: encoding/json's own way.
func encodeNested(t testing.TB, m Message) string {
	t.Helper()
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(m); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestEncode(t *testing.T) {
	size := int64(7)
	state := &BrowserState{
		Tabs:         []Tab{{TabID: "tab-1", Title: `<"Docs">`, URL: "https://example.com/?a=1&b=2", Active: true}},
		StateChanges: []StateChange{{Type: DownloadCompleted, DownloadID: "dl-1", URL: "https://example.com/f", SizeBytes: &size}},
	}
	for name, m := range map[string]Message{
		"no results": NewMessage(nil),
		"every block": {Role: "user", ModelView: "a <b> & \"c\"\n", Content: []ToolResult{
			{ToolUseID: `toolu_"1"`, ToolsetName: "browser", Content: []Block{
				Text{"<button> \u2028 ☃ \x00 \xff " + strings.Repeat("long ", 100_000)}, Image{MediaType: "image/png", Data: []byte("\x89PNG…")}, state,
			}},
			{ToolUseID: "toolu_2", ToolsetName: "browser", IsError: true, Content: []Block{Text{HaltText}}},
			{ToolUseID: "toolu_3", Content: []Block{Image{MediaType: "image/jpeg"}}},
			{ToolUseID: "toolu_4"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			if err := m.Encode(&got); err != nil {
				t.Fatal(err)
			}
			if want := encodeNested(t, m); got.String() != want {
				t.Errorf("got\n%.2000s\nwant\n%.2000s", got.String(), want)
			}
		})
	}
}

func TestEncodeFails(t *testing.T) {
	r, w := io.Pipe()
	r.Close()
	if err := NewMessage(nil).Encode(w); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v from a writer that fails", err)
	}
	unknown := &BrowserState{StateChanges: []StateChange{{Type: "tab_closed"}}}
	err := NewMessage([]ToolResult{{Content: []Block{unknown, Text{"after"}}}}).Encode(io.Discard)
	if err == nil || !strings.Contains(err.Error(), "tab_closed") {
		t.Errorf("got %v of a change that does not exist", err)
	}
}

func BenchmarkEncode(b *testing.B) {
	m := NewMessage([]ToolResult{{ToolUseID: "toolu_1", ToolsetName: "browser", Content: []Block{
		Text{"Screenshot captured."}, Image{MediaType: "image/png", Data: bytes.Repeat([]byte("picture "), 128<<10)},
	}}})
	b.Run("pieces", func(b *testing.B) {
		for b.Loop() {
			if err := m.Encode(io.Discard); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("nested", func(b *testing.B) {
		for b.Loop() {
			encodeNested(b, m)
		}
	})
}
