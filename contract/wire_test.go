package contract

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func decodeMessage(t testing.TB, name string) Message {
	t.Helper()
	var m Message
	if err := json.Unmarshal(readFile(t, name), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// The documents' own result messages come out byte for byte as they went in, apart from white space.
func TestMessageRoundTrip(t *testing.T) {
	for _, name := range []string{
		"results_quickstart.json", "results_new_tab.json", "results_click.json", "results_download.json",
	} {
		t.Run(name, func(t *testing.T) {
			got, err := json.Marshal(decodeMessage(t, name))
			if err != nil {
				t.Fatal(err)
			}
			var want bytes.Buffer
			if err := json.Compact(&want, readFile(t, name)); err != nil {
				t.Fatal(err)
			}
			if string(got) != want.String() {
				t.Errorf("got  %s\nwant %s", got, want.String())
			}
		})
	}
}

// Error results in the documents have content as a string; it is read as one text block.
func TestContentString(t *testing.T) {
	m := decodeMessage(t, "results_errors.json")
	want := []ToolResult{
		{
			ToolUseID: "toolu_01D7FLrfh4GYq7yT1ULFeyMV", ToolsetName: "browser", IsError: true,
			Content: []Block{Text{"Error: ref_3 is stale or not found on the current page. Re-read the page to get fresh references."}},
		},
		{
			ToolUseID: "toolu_01FkP8rTz6uYh2mNq4LsXw7v", ToolsetName: "browser", IsError: true,
			Content: []Block{Text{HaltText}},
		},
	}
	if !reflect.DeepEqual(m.Content, want) {
		t.Errorf("got %#v", m.Content)
	}
}

func TestMarshal(t *testing.T) {
	size := int64(0)
	tests := []struct {
		name string
		in   any
		want string
	}{
		{"call without input", ToolUse{ID: "a", Name: "new_tab", ToolsetName: ToolsetName},
			`{"type":"tool_use","id":"a","name":"new_tab","toolset_name":"browser","input":{}}`},
		{"result of another tool", ToolResult{ToolUseID: "a", Content: []Block{Text{"x"}}},
			`{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"x"}]}`},
		{"result without content", ToolResult{ToolUseID: "a", ToolsetName: ToolsetName, IsError: true},
			`{"type":"tool_result","tool_use_id":"a","toolset_name":"browser","is_error":true,"content":[]}`},
		{"no results", NewMessage(nil), `{"role":"user","content":[]}`},
		{"model view", Message{Role: "user", Content: []ToolResult{}, ModelView: "x"},
			`{"role":"user","content":[],"model_view":"x"}`},
		{"no tabs", &BrowserState{StateChanges: []StateChange{}}, `{"type":"browser_state","tabs":[]}`},
		{"empty image", Image{MediaType: "image/png"},
			`{"type":"image","source":{"type":"base64","media_type":"image/png","data":""}}`},
		{"only declared fields", StateChange{Type: TabOpened, TabID: "t", URL: "u", SizeBytes: &size},
			`{"type":"tab_opened","tab_id":"t"}`},
		{"download started", StateChange{Type: DownloadStarted, DownloadID: "d", URL: "u", Path: "p"},
			`{"type":"download_started","download_id":"d","url":"u"}`},
		{"empty download", StateChange{Type: DownloadCompleted, DownloadID: "d", SizeBytes: &size},
			`{"type":"download_completed","download_id":"d","url":"","size_bytes":0}`},
		{"download failed", StateChange{Type: DownloadFailed, DownloadID: "d", URL: "u", Error: "canceled"},
			`{"type":"download_failed","download_id":"d","url":"u","error":"canceled"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := json.Marshal(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	if _, err := json.Marshal(StateChange{Type: "tab_closed"}); err == nil {
		t.Error("an unknown state change was written")
	}
}

// Whether "<" is escaped is for the outermost encoder to say.
func TestMarshalLeavesHTML(t *testing.T) {
	result := ToolResult{ToolUseID: "a", Content: []Block{Text{"a < b & c"}}}
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(NewMessage([]ToolResult{result})); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `"a < b & c"`) {
		t.Errorf("got %s", b.String())
	}
}

func TestDecodeRefuses(t *testing.T) {
	result := func(content string) string {
		return `{"type":"tool_result","tool_use_id":"a","toolset_name":"browser","content":` + content + `}`
	}
	state := func(fields string) string { return result(`[{"type":"browser_state",` + fields + `}]`) }
	tests := []struct{ name, in, want string }{
		{"not a result", `{"type":"text","text":"x"}`, `a block of type "text" is not a tool_result`},
		{"number", result(`5`), "content is neither a string nor a list of blocks"},
		{"other block", result(`[{"type":"text","text":"x"},{"type":"document"}]`),
			`content block 2: type "document" is not text, image or browser_state`},
		{"null block", result(`[null]`), `content block 1: type "" is not`},
		{"text without text", result(`[{"type":"text"}]`), "a text block without text"},
		{"image by address", result(`[{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}]`),
			`source type "url" is not base64`},
		{"no inventory", state(`"state_changes":[]`), "tabs: nothing"},
		{"undeclared field of the block", state(`"tabs":[],"windows":[]`), `the field "windows"`},
		{"undeclared field of a tab", state(`"tabs":[{"tab_id":"1","title":"","url":"","index":0}]`), `tabs[0]: the field "index"`},
		{"other spelling", state(`"tabs":[{"Tab_ID":"1","title":"","url":""}]`), "tabs[0].tab_id: nothing"},
		{"undeclared field of a change", state(`"tabs":[],"state_changes":[{"type":"tab_opened","tab_id":"1","url":""}]`),
			`state_changes[0]: the field "url"`},
		{"path too early", state(`"tabs":[],"state_changes":[{"type":"download_started","download_id":"1","url":"","path":"/x"}]`),
			`the field "path"`},
		{"unknown change", state(`"tabs":[],"state_changes":[{"type":"tab_closed","tab_id":"1"}]`), `state_changes[0].type: "tab_closed"`},
		{"half a byte", state(`"tabs":[],"state_changes":[{"type":"download_completed","download_id":"1","url":"","size_bytes":0.5}]`),
			"size_bytes: 0.5"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var r ToolResult
			err := json.Unmarshal([]byte(tt.in), &r)
			if err == nil {
				t.Fatalf("accepted as %#v", r)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %q, want it to contain %q", err, tt.want)
			}
		})
	}
}
