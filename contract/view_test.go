package contract

import (
	"bytes"
	"encoding/json"
	"image"
	"image/jpeg"
	"image/png"
	"testing"
)

const (
	// The footer and the list of the documents' two tabs (000, tab context on other results; tab-management results).
	twoTabsFooter = `Tab Context:
- Executed on tab_id: tab-1
- Available tabs:
  • tab_id tab-1: "Documentation" (https://example.com/docs)
  • tab_id tab-2: "Pricing" (https://example.com/pricing)`
	twoTabsList = `Available tabs:
  • tab_id tab-1: "Documentation" (https://example.com/docs) (current)
  • tab_id tab-2: "Pricing" (https://example.com/pricing)`
	// 000, reporting downloads.
	completedLine = `Download completed with download_id: dl-1, URL: "https://example.com/pricing/price-list.csv". Saved to "/home/user/downloads/price-list.csv". Size: 48213 bytes.`
)

func call(name, input string) ToolUse {
	return ToolUse{ID: "toolu_1", Name: name, ToolsetName: ToolsetName, Input: json.RawMessage(input)}
}

func result(content ...Block) ToolResult {
	return ToolResult{ToolUseID: "toolu_1", ToolsetName: ToolsetName, Content: content}
}

func encoded(t *testing.T, encode func(*bytes.Buffer, image.Image) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b, image.NewGray(image.Rect(0, 0, 1280, 720))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The documents' own results and the text they say the model sees.
func TestRenderExamples(t *testing.T) {
	tests := []struct {
		file, member string
		want         string // of the file's first result
	}{
		{"results_quickstart.json", "navigate", `Navigated to https://example.com/docs

Tab Context:
- Executed on tab_id: tab-1
- Available tabs:
  • tab_id tab-1: "Documentation" (https://example.com/docs)`},
		{"results_click.json", "left_click", "Clicked element ref_5.\n\n" + twoTabsFooter},
		{"results_new_tab.json", "new_tab", "Created new tab with tab_id: tab-3, URL: about:blank. It is now the current tab."},
		{"results_errors.json", "left_click", "Error: ref_3 is stale or not found on the current page. Re-read the page to get fresh references."},
		{"results_download.json", "screenshot", `[image: image/png, 1x1]
Screenshot captured.

` + completedLine + `

Tab Context:
- Executed on tab_id: tab-2
- Available tabs:
  • tab_id tab-1: "Documentation" (https://example.com/docs)
  • tab_id tab-2: "Pricing" (https://example.com/pricing)`},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			if got := new(View).Render(call(tt.member, `{}`), decodeMessage(t, tt.file).Content[0]); got != tt.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}

// Contract §6, one result of a new conversation.
func TestRender(t *testing.T) {
	size := int64(0)
	two := &BrowserState{Tabs: twoTabs()}
	pngImage := Image{"image/png", encoded(t, func(b *bytes.Buffer, i image.Image) error { return png.Encode(b, i) })}
	jpegImage := Image{"image/jpeg", encoded(t, func(b *bytes.Buffer, i image.Image) error { return jpeg.Encode(b, i, nil) })}
	started := StateChange{Type: DownloadStarted, DownloadID: "dl-1", URL: "https://example.com/a.csv"}
	const startedLine = `Download started with download_id: dl-1, URL: "https://example.com/a.csv".`
	downloading := &BrowserState{Tabs: twoTabs(), StateChanges: []StateChange{started}}

	tests := []struct {
		name string
		use  ToolUse
		res  ToolResult
		want string
	}{
		{"switch_tab", call("switch_tab", `{"tab_id":"tab-1"}`), result(two), "Switched to tab tab-1"},
		{"close_tab", call("close_tab", `{"tab_id":"tab-3"}`), result(two), "Closed tab tab-3"},
		{"list_tabs", call("list_tabs", `{}`), result(two), twoTabsList},
		{"list_tabs without tabs", call("list_tabs", `{}`), result(&BrowserState{}), "No tabs available"},
		{"tab management with a download", call("list_tabs", `{}`), result(downloading), twoTabsList + "\n\n" + startedLine},
		{"failed tab management", call("switch_tab", `{"tab_id":"tab-9"}`),
			ToolResult{IsError: true, Content: []Block{Text{"Error: tab-9 is not open. Call list_tabs to see the open tabs."}}},
			"Error: tab-9 is not open. Call list_tabs to see the open tabs."},

		{"text only", call("find", `{}`), result(Text{"No match."}), "No match."},
		{"no content", call("find", `{}`), result(), ""},
		{"footer", call("left_click", `{}`), result(Text{"Clicked."}, two), "Clicked.\n\n" + twoTabsFooter},
		{"footer of a call that names its tab", call("left_click", `{"tab_id":"tab-2"}`), result(Text{"Clicked."}, two), `Clicked.

Tab Context:
- Executed on tab_id: tab-2
- Available tabs:
  • tab_id tab-1: "Documentation" (https://example.com/docs)
  • tab_id tab-2: "Pricing" (https://example.com/pricing)`},
		{"tab_id null", call("left_click", `{"tab_id":null}`), result(Text{"Clicked."}, two), "Clicked.\n\n" + twoTabsFooter},
		{"another key", call("left_click", `{"Tab_ID":"tab-2"}`), result(Text{"Clicked."}, two), "Clicked.\n\n" + twoTabsFooter},
		{"state before text", call("left_click", `{}`), result(two, Text{"Clicked."}), "Clicked.\n\n" + twoTabsFooter},
		{"image after text", call("left_click", `{}`), result(Text{"Clicked."}, pngImage, two),
			"Clicked.\n\n" + twoTabsFooter + "\n[image: image/png, 1280x720]"},
		{"footer after the last text", call("left_click", `{}`), result(Text{"One."}, jpegImage, Text{"Two."}, two),
			"One.\n[image: image/jpeg, 1280x720]\nTwo.\n\n" + twoTabsFooter},
		{"image only", call("screenshot", `{}`), result(pngImage, two), "[image: image/png, 1280x720]"},
		{"unknown image", call("screenshot", `{}`), result(Image{"image/webp", []byte("RIFF")}), "[image: image/webp, 4 bytes]"},
		{"zoom", call("zoom", `{}`), result(Text{"Zoomed."}, pngImage, two), "Zoomed.\n[image: image/png, 1280x720]"},
		{"no tabs left", call("left_click", `{}`), result(Text{"Clicked."}, &BrowserState{}), "Clicked."},
		{"no tabs left, tab named", call("left_click", `{"tab_id":"tab-1"}`), result(Text{"Clicked."}, &BrowserState{}),
			"Clicked.\n\nTab Context:\n- Executed on tab_id: tab-1\n- Available tabs:"},
		{"escapes", call("navigate", `{}`),
			result(Text{"x"}, &BrowserState{Tabs: []Tab{{TabID: "1", Title: `a "b" \c é <`, URL: `https://example.com/"\`, Active: true}}}),
			"x\n\nTab Context:\n- Executed on tab_id: 1\n- Available tabs:\n  • tab_id 1: \"a \\\"b\\\" \\\\c é <\" (https://example.com/\"\\)"},

		{"download", call("left_click", `{}`), result(Text{"Clicked."}, downloading), "Clicked.\n\n" + startedLine + "\n\n" + twoTabsFooter},
		{"download without text", call("screenshot", `{}`), result(pngImage, downloading),
			"[image: image/png, 1280x720]\n" + startedLine + "\n\n" + twoTabsFooter},
		{"download during zoom", call("zoom", `{}`), result(pngImage, downloading), "[image: image/png, 1280x720]\n" + startedLine},
		{"downloads in order", call("wait", `{}`), result(Text{"Waited."}, &BrowserState{StateChanges: []StateChange{
			{Type: DownloadFailed, DownloadID: "dl-2", URL: `https://example.com/"\`, Error: `"net\err"`},
			{Type: DownloadFailed, DownloadID: "dl-3", URL: "u"},
			{Type: DownloadCompleted, DownloadID: "dl-1", URL: "u", SizeBytes: &size},
			{Type: DownloadCompleted, DownloadID: "dl-4", URL: "u", Path: `/a"b`},
		}}), `Waited.

Download failed with download_id: dl-2, URL: "https://example.com/\"\\". Error: "\"net\\err\"".
Download failed with download_id: dl-3, URL: "u".
Download completed with download_id: dl-1, URL: "u". Size: 0 bytes.
Download completed with download_id: dl-4, URL: "u". Saved to "/a\"b".`},
		{"error", call("navigate", `{}`), ToolResult{IsError: true, Content: []Block{Text{HaltText}}}, HaltText},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := new(View).Render(tt.use, tt.res); got != tt.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}

// Contract §6: which results show the footer, over one conversation.
func TestRenderDeduplicates(t *testing.T) {
	one := []Tab{{TabID: "tab-1", Title: "Documentation", URL: "https://example.com/docs", Active: true}}
	two := twoTabs()
	switched := twoTabs()
	switched[0].Active, switched[1].Active = false, true
	renamed := twoTabs()
	renamed[1].Title = "Prices"
	opened := []StateChange{{Type: TabOpened, TabID: "tab-2"}}

	var v View
	steps := []struct {
		name   string
		use    ToolUse
		res    ToolResult
		footer bool
	}{
		{"image only is not remembered", call("screenshot", `{}`), result(Image{}, &BrowserState{Tabs: one}), false},
		{"first", call("navigate", `{}`), result(Text{"x"}, &BrowserState{Tabs: one}), true},
		{"identical", call("left_click", `{}`), result(Text{"x"}, &BrowserState{Tabs: one}), false},
		{"identical, named", call("left_click", `{"tab_id":"tab-1"}`), result(Text{"x"}, &BrowserState{Tabs: one}), false},
		{"zoom is not remembered", call("zoom", `{}`), result(Text{"x"}, &BrowserState{Tabs: two}), false},
		{"an error shows nothing", call("left_click", `{}`), ToolResult{IsError: true, Content: []Block{Text{"Error: x"}}}, false},
		{"new_tab is not remembered", call("new_tab", `{}`), result(&BrowserState{Tabs: two, StateChanges: opened}), false},
		{"changed", call("wait", `{}`), result(Text{"x"}, &BrowserState{Tabs: two, StateChanges: opened}), true},
		{"without a block", call("wait", `{}`), result(Text{"x"}), false},
		{"identical without its change", call("wait", `{}`), result(Text{"x"}, &BrowserState{Tabs: two}), false},
		{"other active tab", call("wait", `{}`), result(Text{"x"}, &BrowserState{Tabs: switched}), true},
		{"new title", call("wait", `{}`), result(Text{"x"}, &BrowserState{Tabs: renamed}), true},
		{"no tabs, unnamed, not remembered", call("wait", `{}`), result(Text{"x"}, &BrowserState{}), false},
		{"back", call("wait", `{}`), result(Text{"x"}, &BrowserState{Tabs: renamed}), false},
	}
	for _, step := range steps {
		text := v.Render(step.use, step.res)
		if got := bytes.Contains([]byte(text), []byte("Tab Context:")); got != step.footer {
			t.Errorf("%s: footer %v, want %v in:\n%s", step.name, got, step.footer, text)
		}
	}

	// The remembered tabs are the view's own: a caller that reuses its slice is seen.
	renamed[0].URL = "https://example.com/other"
	if text := v.Render(call("wait", `{}`), result(Text{"x"}, &BrowserState{Tabs: renamed})); text == "x" {
		t.Error("a change made in the caller's slice was taken for the tabs already shown")
	}
}
