package script_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/script"
)

// redPicture is red, and blue at (3, 2).
func redPicture(t *testing.T, w, h int) contract.Image {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range m.Pix {
		m.Pix[i] = []uint8{0xcc, 0, 0, 0xff}[i%4]
	}
	m.Set(3, 2, color.RGBA{0, 0, 0xff, 0xff})
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return contract.Image{MediaType: "image/png", Data: b.Bytes()}
}

func TestCheckShapes(t *testing.T) {
	bytes8 := int64(8)
	state := &contract.BrowserState{
		Tabs: []contract.Tab{{TabID: "a", Title: "One"}, {TabID: "b", Title: "日本", URL: "http://x/", Active: true}},
		StateChanges: []contract.StateChange{
			{Type: contract.TabOpened, TabID: "b"},
			{Type: contract.DownloadCompleted, DownloadID: "d", SizeBytes: &bytes8},
		},
	}
	text, caption := contract.Text{Text: "Hello\nyou"}, contract.Text{Text: "Screenshot captured."}
	picture := redPicture(t, 8, 4)
	for _, test := range []struct {
		shape  string
		blocks []contract.Block
		want   string // in the error; empty: none
	}{
		{"blocks text image browser_state", []contract.Block{text, picture, state}, ""},
		{"blocks browser_state", []contract.Block{text, state}, `its blocks are "text browser_state"`},
		{"browser_state", []contract.Block{text, state}, ""},
		{"browser_state", []contract.Block{text}, "no browser_state"},
		{"no browser_state", []contract.Block{text}, ""},
		{"no browser_state", []contract.Block{state}, "has a browser_state"},
		{"tabs 2", []contract.Block{state}, ""},
		{"tabs 3", []contract.Block{state}, "lists 2 tabs"},
		{"tabs 2", []contract.Block{text}, "no browser_state"},
		{"active b", []contract.Block{state}, ""},
		{"active a", []contract.Block{state}, `it is "b"`},
		{"active a", []contract.Block{&contract.BrowserState{}}, "no tab is active"},
		{"active not a", []contract.Block{state}, ""},
		{"active not b", []contract.Block{state}, "b is active"},
		{"title 日本", []contract.Block{state}, ""},
		{"title One", []contract.Block{state}, `it is "日本"`},
		{"title within 3", []contract.Block{state}, ""},
		{"title within 1", []contract.Block{state}, "has 2 characters"},
		{"title within 9", []contract.Block{state}, "has 2 characters"},
		{"title within x", []contract.Block{state}, `"x" is not a number`},
		{"url http://x/", []contract.Block{state}, ""},
		{"url within 9", []contract.Block{state}, ""},
		{"changes tab_opened download_completed", []contract.Block{state}, ""},
		{"changes tab_opened", []contract.Block{state}, `its state changes are "tab_opened download_completed"`},
		{"changes tab_opened", []contract.Block{text}, "no browser_state"},
		{"no changes", []contract.Block{text}, ""},
		{"no changes", []contract.Block{state}, "its state changes are"},
		{"opens active", []contract.Block{state}, ""},
		{"opens active", []contract.Block{&contract.BrowserState{Tabs: state.Tabs}}, "b is active, opened are []"},
		{"size 8", []contract.Block{state}, ""},
		{"size 9", []contract.Block{state}, "has 8 bytes"},
		{"size 9", []contract.Block{&contract.BrowserState{}}, "no finished download"},
		{"image", []contract.Block{text, picture}, ""},
		{"image", []contract.Block{text}, "has 0 images"},
		{"image", []contract.Block{contract.Image{Data: []byte("x")}}, "unknown format"},
		{"image 8x4", []contract.Block{picture}, ""},
		{"image 8x5", []contract.Block{picture}, "it is 8x4"},
		{"image within 8x9", []contract.Block{picture}, ""},
		{"image within 9x9", []contract.Block{picture}, "it is 8x4"},
		{"image within 8x3", []contract.Block{picture}, "it is 8x4"},
		{"image ratio 2:1", []contract.Block{picture}, ""},
		{"image ratio 1:2", []contract.Block{picture}, "it is 8x4"},
		{"pixel 3,2 0000ff", []contract.Block{picture}, ""},
		{"pixel 0,0 d00808", []contract.Block{picture}, ""},
		{"pixel 0,0 0000ff", []contract.Block{picture}, "it is cc0000 there"},
		{"pixel 0,0 red", []contract.Block{picture}, "invalid syntax"},
		{"captured", []contract.Block{picture}, ""},
		{"captured", []contract.Block{caption, picture, state}, ""},
		{"captured", []contract.Block{picture, state}, "a browser_state and the text"},
		{"has text", []contract.Block{text}, ""},
		{"has text", []contract.Block{contract.Text{Text: " \n"}, state}, "it has none"},
		{"starts Hello", []contract.Block{text}, ""},
		{"starts you", []contract.Block{text}, "it is"},
		{"characters 9", []contract.Block{text}, ""},
		{"characters 8", []contract.Block{text}, "it has 9"},
		{"lines 2", []contract.Block{text}, ""},
		{"lines 1", []contract.Block{text}, "it has 2"},
	} {
		c := script.Call{Line: 7, Name: "zoom", Shapes: []string{test.shape}}
		got := ""
		if err := c.CheckShapes(contract.ToolResult{Content: test.blocks}); err != nil {
			got = err.Error()
		}
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) || got != "" && !strings.HasPrefix(got, "line 7: ") {
			t.Errorf("%s: %q, want %q", test.shape, got, test.want)
		}
	}
}

func TestCheckExact(t *testing.T) {
	c := script.Call{Line: 7, Name: "wait", Exact: "Waited."}
	if err := c.CheckShapes(contract.ToolResult{Content: []contract.Block{contract.Text{Text: "Waited."}}}); err != nil {
		t.Error(err)
	}
	err := c.CheckShapes(contract.ToolResult{Content: []contract.Block{contract.Text{Text: "Waited. Twice."}}})
	if err == nil || !strings.Contains(err.Error(), `"Waited. Twice.", not "Waited."`) {
		t.Errorf("got %v", err)
	}
}
