package anthropic_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/pagehand/pagehand"
	"github.com/pagehand/pagehand/anthropic"
	"github.com/pagehand/pagehand/contract"
)

// TestCalls leaves other tools' calls alone, also one that is named like a member.
func TestCalls(t *testing.T) {
	var message sdk.Message
	err := json.Unmarshal([]byte(`{"type":"message","role":"assistant","stop_reason":"tool_use","content":[
		{"type":"text","text":"Let me look."},
		{"type":"tool_use","id":"toolu_1","name":"screenshot","input":{},"caller":{"type":"direct"}},
		{"type":"tool_use","id":"toolu_2","name":"screenshot","toolset_name":"computer","input":{},"caller":{"type":"direct"}},
		{"type":"tool_use","id":"toolu_3","name":"left_click","toolset_name":"browser","input":{"target":{"type":"ref","ref":"ref_2"}},"caller":{"type":"direct"}}]}`), &message)
	if err != nil {
		t.Fatal(err)
	}
	want := []pagehand.Call{{ID: "toolu_3", Name: "left_click", ToolsetName: "browser", Input: json.RawMessage(`{"target":{"type":"ref","ref":"ref_2"}}`)}}
	if got := anthropic.Calls(&message); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestResult holds the SDK's JSON against our own, which the contract package tests.
func TestResult(t *testing.T) {
	size := int64(48213)
	results := []pagehand.Result{
		{ToolUseID: "toolu_1", ToolsetName: "browser", IsError: true, Content: []contract.Block{contract.Text{Text: "Error: no"}}},
		{ToolUseID: "toolu_2", ToolsetName: "browser", Content: []contract.Block{&contract.BrowserState{Tabs: []contract.Tab{}}}},
		{ToolUseID: "toolu_3", ToolsetName: "browser", Content: []contract.Block{
			contract.Text{Text: "Screenshot captured."},
			contract.Image{MediaType: "image/png", Data: []byte("png")},
			&contract.BrowserState{
				Tabs: []contract.Tab{{TabID: "tab-1", Title: "One", URL: "https://example.com/", Active: true}, {TabID: "tab-2"}},
				StateChanges: []contract.StateChange{
					{Type: contract.TabOpened, TabID: "tab-2"},
					{Type: contract.DownloadStarted, DownloadID: "dl-1", URL: "https://example.com/a"},
					{Type: contract.DownloadCompleted, DownloadID: "dl-2", URL: "https://example.com/b", Path: "/d/b", SizeBytes: &size},
					{Type: contract.DownloadFailed, DownloadID: "dl-3", URL: "https://example.com/c", Error: "cancelled"},
				},
			},
		}},
	}
	for _, r := range results {
		if got, want := parsed(t, anthropic.Result(r)), parsed(t, r); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %v\nwant %v", r.ToolUseID, got, want)
		}
	}
}

func TestTool(t *testing.T) {
	want := map[string]any{"type": contract.ToolsetType}
	for _, tool := range []sdk.ToolUnionParam{anthropic.Tool(), anthropic.Tool(pagehand.Configs{})} {
		if got := parsed(t, tool); !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	// Every member turned the other way round arrives, and reads as the same configs again.
	changed := map[string]any{}
	for _, m := range pagehand.Members() {
		changed[m.Name] = map[string]any{"enabled": m.Off}
	}
	raw, err := json.Marshal(changed)
	if err != nil {
		t.Fatal(err)
	}
	configs, err := pagehand.ParseConfigs(raw)
	if err != nil {
		t.Fatal(err)
	}
	want["configs"] = changed
	if got := parsed(t, anthropic.Tool(configs)); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func parsed(t *testing.T, v any) any {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestMembers holds our table against the SDK's list of members.
func TestMembers(t *testing.T) {
	var want, got []string
	configs := reflect.TypeFor[sdk.BrowserToolsetConfigsParam]()
	for i := range configs.NumField() {
		if name, _, _ := strings.Cut(configs.Field(i).Tag.Get("json"), ","); name != "" {
			want = append(want, name)
		}
	}
	for _, m := range pagehand.Members() {
		got = append(got, m.Name)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) || len(got) != 31 {
		t.Errorf("our %d members %v\nthe SDK's %d %v", len(got), got, len(want), want)
	}
}
