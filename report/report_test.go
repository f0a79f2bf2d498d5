package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"image"
	"image/png"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/pagehand/pagehand/contract"
)

func text(s string) contract.Text { return contract.Text{Text: s} }

func result(isError bool, blocks ...contract.Block) *contract.ToolResult {
	return &contract.ToolResult{ToolsetName: contract.ToolsetName, IsError: isError, Content: blocks}
}

func use(name, input string) contract.ToolUse {
	return contract.ToolUse{ID: "toolu_1", Name: name, ToolsetName: contract.ToolsetName, Input: json.RawMessage(input)}
}

func picturePNG(t *testing.T) contract.Image {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 40, 30))); err != nil {
		t.Fatal(err)
	}
	return contract.Image{MediaType: "image/png", Data: b.Bytes()}
}

func written(t *testing.T, run Run) string {
	t.Helper()
	var b strings.Builder
	if err := Write(&b, run); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// outline is what a reader sees of the report's parts, in order: the text of each element with one of the tags or classes.
func outline(t *testing.T, page string, wanted ...string) []string {
	t.Helper()
	tree, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for n := range tree.Descendants() {
		for _, name := range wanted {
			if n.Type == html.ElementNode && (n.Data == name || hasClass(n, name)) {
				lines = append(lines, name+": "+textOf(n))
			}
		}
	}
	return lines
}

func hasClass(n *html.Node, class string) bool {
	for _, a := range n.Attr {
		if a.Key == "class" && strings.Contains(" "+a.Val+" ", " "+class+" ") {
			return true
		}
	}
	return false
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data + " ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func TestWrite(t *testing.T) {
	docs := &contract.BrowserState{Tabs: []contract.Tab{{TabID: "tab-1", Title: "Docs", URL: "https://example.com/docs", Active: true}}}
	opened := &contract.BrowserState{
		Tabs:         append([]contract.Tab{{TabID: "tab-2", Title: "Pricing", URL: "https://example.com/pricing"}}, docs.Tabs...),
		StateChanges: []contract.StateChange{{Type: contract.TabOpened, TabID: "tab-2"}},
	}
	page := written(t, Run{
		Title:       "A run",
		Started:     time.Date(2026, 7, 1, 9, 30, 0, 0, time.UTC),
		Took:        3 * time.Second,
		Environment: []Fact{{"Browser", "Chromium 1.2"}},
		Events: []Event{
			{Turn: 1, Says: "I'll open it."},
			{Turn: 1, Call: use("navigate", `{"url":"https://example.com/docs"}`), Result: result(false, text("Navigated."), docs), Took: 250 * time.Millisecond},
			{Turn: 1, Call: use("screenshot", `{}`), Result: result(false, picturePNG(t)), Took: 50 * time.Millisecond},
			{Turn: 2, Call: use("left_click", `{"target":{"type":"ref","ref":"ref_5"}}`), Note: `link "Pricing"`, Result: result(false, text("Clicked element ref_5."), opened), Took: time.Millisecond},
			{Turn: 2, Call: use("list_tabs", `{}`), Result: result(false, docs), Problem: "a tab is missing"},
			{Turn: 3, Call: use("key", `{"text":"Enter"}`), Result: result(true, text("Error: no."))},
			{Turn: 3, Call: use("wait", `{"duration":1}`), Result: result(true, text(contract.HaltText))},
			{Turn: 4, Call: use("find", `{"query":"x"}`)},
			{Turn: 5, Says: "Done."},
		},
	})
	got := strings.Join(outline(t, page, "h1", "totals", "environment", "problems", "h2", "badge", "blockquote", "h3", "input", "note", "text", "footer", "figcaption", "problem", "td"), "\n")
	want := `h1: A run
totals: turns 5 calls 7 picture 1 errors 3 in calls 301 ms
environment: Browser Chromium 1.2 Started 1 July 2026, 09:30:00 UTC Whole run 3.00 s
problems: 1 result was not as expected.
h2: Turn 1
badge: batch of 2
blockquote: I'll open it.
h3: navigate 250 ms
input: { "url": "https://example.com/docs" }
text: Navigated.
footer: Tab Context: - Executed on tab_id: tab-1 - Available tabs: • tab_id tab-1: "Docs" (https://example.com/docs)
h3: screenshot 50 ms
input: {}
figcaption: 40 × 30 px, 0 KB
h2: Turn 2
badge: batch of 2
h3: left_click 1 ms
input: { "target": { "type": "ref" , "ref": "ref_5" } }
note: link "Pricing"
text: Clicked element ref_5.
footer: Tab Context: - Executed on tab_id: tab-1 - Available tabs: • tab_id tab-2: "Pricing" (https://example.com/pricing) • tab_id tab-1: "Docs" (https://example.com/docs)
badge: tab_opened tab-2
h3: list_tabs <1 ms
input: {}
text: Available tabs: • tab_id tab-1: "Docs" (https://example.com/docs) (current)
problem: Not as expected: a tab is missing
h2: Turn 3
badge: batch of 2
h3: key <1 ms
input: { "text": "Enter" }
text: Error: no.
h3: wait not run
input: { "duration": 1 }
text: Not executed: an earlier action in this turn failed.
h2: Turn 4
h3: find not answered
input: { "query": "x" }
h2: Turn 5
blockquote: Done.
h2: Tabs at the end
td: tab-1
td: Docs active
badge: active
td: https://example.com/docs`
	if got != want {
		t.Errorf("got\n%s\n\nwant\n%s", got, want)
	}
}

func TestLongReadingIsFolded(t *testing.T) {
	reading := strings.TrimSuffix(strings.Repeat("link \"a\" [ref_1]\n", foldedLines+10), "\n")
	page := written(t, Run{Events: []Event{{Turn: 1, Call: use("read_page", "{}"), Result: result(false, text(reading))}}})
	if got := strings.Count(page, `<span class="ref">[ref_1]</span>`); got != foldedLines+10 {
		t.Errorf("%d lines with a ref, want %d", got, foldedLines+10)
	}
	if got := outline(t, page, "summary"); len(got) != 1 || got[0] != "summary: 14 more lines" {
		t.Errorf("folded as %q", got)
	}
}

// TestHostileStrings puts markup, scripts and addresses wherever a page, a model or a caller could have put them.
func TestHostileStrings(t *testing.T) {
	const evil = `"'></pre></script><script>alert(1)</script><img src=x onerror=alert(2)><a href="javascript:alert(3)">` + "\u2028`{{.}}"
	state := &contract.BrowserState{
		Tabs:         []contract.Tab{{TabID: evil, Title: evil, URL: "javascript:" + evil, Active: true}},
		StateChanges: []contract.StateChange{{Type: contract.DownloadFailed, DownloadID: evil, URL: evil, Error: evil}},
	}
	input, err := json.Marshal(map[string]string{evil: evil})
	if err != nil {
		t.Fatal(err)
	}
	page := written(t, Run{
		Title: evil, Intro: evil, Environment: []Fact{{evil, evil}},
		Events: []Event{
			{Turn: 1, Says: evil},
			{
				Turn: 1, Call: use(evil, string(input)), Note: evil, Problem: evil,
				Result: result(false, text(evil+"\n"+strings.Repeat(evil+"\n", 30)), contract.Image{MediaType: "text/html", Data: []byte(evil)}, contract.Image{MediaType: "image/png", Data: []byte(evil)}, state),
			},
			{Turn: 1, Call: use("x", evil), Result: result(true, text(evil))},
		},
	})
	tree, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	images := 0
	source := regexp.MustCompile(`^data:image/png;base64,[A-Za-z0-9+/]+=*$`)
	for n := range tree.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "script", "iframe", "object", "embed", "link", "base", "form":
			t.Errorf("the report has a <%s>", n.Data)
		case "img":
			images++
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" || n.Data == "a" && a.Key == "href" && !strings.HasPrefix(a.Val, "#turn-") || a.Key == "src" && !source.MatchString(a.Val) {
				t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
			}
		}
	}
	if images != 1 {
		t.Errorf("%d images, want the one that is a picture", images)
	}
	if n := strings.Count(page, "alert(2)"); n < 40 {
		t.Errorf("the strings appear %d times: some are not shown", n)
	}
}

// TestSelfContained says that nothing in the template or the style would load something.
func TestSelfContained(t *testing.T) {
	for _, part := range []string{page, style} {
		if m := regexp.MustCompile(`(?i)https?:|@import|url\(|<script|<link`).FindString(part); m != "" {
			t.Errorf("found %q", m)
		}
	}
	if !strings.Contains(page, `content="default-src 'none'`) {
		t.Error("no content security policy")
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "<1 ms", 1500 * time.Microsecond: "1 ms", 999 * time.Millisecond: "999 ms", 1240 * time.Millisecond: "1.24 s",
		59999 * time.Millisecond: "60.00 s", 125400 * time.Millisecond: "2 min 5 s",
	} {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%v) = %q, want %q", d, got, want)
		}
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestWriteError(t *testing.T) {
	if err := Write(fullDisk{}, Run{}); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("got %v", err)
	}
}
