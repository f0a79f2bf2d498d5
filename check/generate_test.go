package check

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/pagehand/pagehand"
	"github.com/pagehand/pagehand/contract"
)

type (
	object = map[string]any
	array  = []any
)

// generator makes valid requests of many shapes: a model and an executor without a browser.
type generator struct {
	*rand.Rand
	ids, tabIDs, downloadIDs int
	tabs                     []contract.Tab
	running                  []string // downloads
	pending                  array    // changes that no result has told yet
	viewport                 image.Point
	enabled                  map[string]bool
	disabled                 []string
	custom, computer         bool
}

func newGenerator(seed uint64) *generator {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 7)), viewport: image.Pt(640, 400), enabled: map[string]bool{}}
	if g.chance(0.3) {
		g.viewport = image.Pt(375, 300)
	}
	g.open()
	return g
}

func (g *generator) chance(p float64) bool { return g.Float64() < p }

func oneOf[T any](g *generator, of ...T) T { return of[g.IntN(len(of))] }

func (g *generator) id() string {
	g.ids++
	return fmt.Sprintf("toolu_%04d", g.ids)
}

// open opens a tab and makes it active.
func (g *generator) open() contract.Tab {
	g.tabIDs++
	for i := range g.tabs {
		g.tabs[i].Active = false
	}
	tab := contract.Tab{TabID: fmt.Sprintf("tab-%d", g.tabIDs), URL: "about:blank", Active: true}
	g.tabs = append(g.tabs, tab)
	return tab
}

func (g *generator) activate(id string) {
	for i := range g.tabs {
		g.tabs[i].Active = g.tabs[i].TabID == id
	}
}

func (g *generator) active() *contract.Tab {
	return &g.tabs[slices.IndexFunc(g.tabs, func(t contract.Tab) bool { return t.Active })]
}

// state is the browser_state block of a result, with the changes that are due.
func (g *generator) state(changes ...any) object {
	tabs := array{}
	for _, t := range g.tabs {
		tab := object{"tab_id": t.TabID, "title": t.Title, "url": t.URL}
		if t.Active || g.chance(0.1) {
			tab["active"] = t.Active
		}
		tabs = append(tabs, tab)
	}
	block := object{"type": "browser_state", "tabs": tabs}
	if changes = append(changes, g.pending...); len(changes) > 0 {
		block["state_changes"] = array(changes)
	}
	g.pending = nil
	return block
}

func text(s string) object { return object{"type": "text", "text": s} }

// picture is an image block of a size in one of the formats.
func picture(size image.Point, format string) object {
	return object{"type": "image", "source": object{"type": "base64", "media_type": "image/" + format, "data": encoded(size, format)}}
}

var pictures sync.Map

func encoded(size image.Point, format string) string {
	key := fmt.Sprint(size, format)
	if data, ok := pictures.Load(key); ok {
		return data.(string)
	}
	var b bytes.Buffer
	plain := image.NewPaletted(image.Rectangle{Max: size}, color.Palette{color.White, color.Black})
	switch format {
	case "png":
		png.Encode(&b, plain)
	case "jpeg":
		jpeg.Encode(&b, plain, nil)
	case "gif":
		gif.Encode(&b, plain, nil)
	case "webp":
		b.WriteString("RIFF\x20\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00")
		for _, n := range []int{size.X - 1, size.Y - 1} {
			b.Write([]byte{byte(n), byte(n >> 8), byte(n >> 16)})
		}
	}
	data := base64.StdEncoding.EncodeToString(b.Bytes())
	pictures.Store(key, data)
	return data
}

// request makes a valid request.
func (g *generator) request() object {
	entry := g.entry()
	tools := array{entry}
	if g.chance(0.6) {
		g.custom = true
		tools = append(tools, object{"name": "navigate", "input_schema": object{"type": "object"}}, object{"name": "lookup", "input_schema": object{"type": "object"}})
	}
	if g.chance(0.3) {
		g.computer = true
		tools = append(tools, object{"type": "computer_toolset_20260801"})
	}
	g.Shuffle(len(tools), func(i, k int) { tools[i], tools[k] = tools[k], tools[i] })
	body := object{"model": oneOf(g, "claude-opus-5", "claude-sonnet-5-20260801", "haijun-opus-5-5", "claude-fable-5-1"), "max_tokens": 2048, "tools": tools}
	if g.chance(0.2) {
		body["tool_choice"] = oneOf(g, object{"type": "auto"}, object{"type": "any"}, object{"type": "auto", "disable_parallel_tool_use": false})
	}
	body["messages"] = g.conversation(3 + g.IntN(6))
	return body
}

func (g *generator) entry() object {
	entry := object{"type": contract.ToolsetType}
	configs := object{}
	for _, m := range pagehand.Members() {
		on := !m.Off
		switch {
		case g.chance(0.15) && m.Name != "read_page":
			on = !on
			configs[m.Name] = object{"enabled": on}
		case g.chance(0.05):
			configs[m.Name] = oneOf[any](g, object{"enabled": on, "defer_loading": false}, object{}, nil, object{"enabled": nil})
		}
		if on {
			g.enabled[m.Name] = true
		} else {
			g.disabled = append(g.disabled, m.Name)
		}
	}
	if len(configs) > 0 {
		entry["configs"] = configs
	}
	if g.chance(0.3) {
		entry["cache_control"] = object{"type": "ephemeral"}
	}
	if g.chance(0.3) {
		entry["allowed_callers"] = array{"direct"}
	}
	return entry
}

// conversation makes turns, and an answer at the end.
func (g *generator) conversation(turns int) array {
	messages := array{object{"role": "user", "content": oneOf[any](g, "Find the price of the blue lamp.", array{text("Find the price of the blue lamp.")})}}
	for range turns {
		said, results := g.turn()
		messages = append(messages, object{"role": "assistant", "content": said}, object{"role": "user", "content": results})
	}
	if g.chance(0.5) {
		messages = append(messages, object{"role": "assistant", "content": "It costs 40 euros."}, object{"role": "user", "content": "Thank you."})
	}
	return messages
}

// turn makes the blocks of an assistant message with calls, and those of the message that answers it.
func (g *generator) turn() (said, results array) {
	if g.chance(0.4) {
		said = append(said, text("I'll look."))
	}
	failed := false
	for range 1 + g.IntN(5) {
		use := object{"type": "tool_use", "id": g.id()}
		result := object{"type": "tool_result", "tool_use_id": use["id"]}
		switch {
		case g.custom && g.chance(0.2):
			use["name"], use["input"] = oneOf(g, "navigate", "lookup"), object{"anything": true}
			result["content"] = oneOf[any](g, "found", array{text("found")}, array{text("found"), picture(image.Pt(30, 20), "png")})
			if g.chance(0.2) {
				result["is_error"] = true
				result["content"] = "no such thing"
			}
		case g.computer && g.chance(0.2):
			use["name"], use["toolset_name"], use["input"] = "screenshot", "computer", object{}
			result["toolset_name"], result["content"] = "computer", array{picture(image.Pt(64, 48), "png")}
		default:
			use["toolset_name"], result["toolset_name"] = "browser", "browser"
			g.member(use, result, failed)
			failed = failed || result["is_error"] == true
		}
		said, results = append(said, use), append(results, result)
	}
	if g.chance(0.2) {
		results = append(results, text("Hurry up."))
	}
	return said, results
}

// failure is a call that an executor answers with an error.
type failure struct {
	name  string
	input object
	text  string
}

func (g *generator) failure() failure {
	failures := []failure{
		{"left_click", object{"target": object{"type": "ref", "ref": "ref_99"}}, "Error: ref_99 is stale or not found on the current page. Re-read the page to get fresh references."},
		{"scroll", object{"scroll_amount": 11}, "Error: scroll_amount must be an integer from 1 to 10, not 11."},
		{"wait", object{"duration": -1}, "Error: duration must be a number from 0 to 30, not -1."},
		{"navigate", object{"url": "file:///etc/passwd"}, "Error: Navigation refused. Only http and https URLs are allowed."},
		{"teleport", object{}, "Error: Unknown or unimplemented member: teleport"},
		{"switch_tab", object{"tab_id": "tab-999"}, "Error: tab-999 is not open. Call list_tabs to see the open tabs."},
	}
	if len(g.disabled) > 0 {
		name := oneOf(g, g.disabled...)
		failures = append(failures, failure{name, object{}, "Error: " + name + " is not enabled in this environment."})
	}
	return oneOf(g, failures...)
}

// member makes a call of a member and its result.
func (g *generator) member(use, result object, halted bool) {
	if halted || g.chance(0.08) {
		f := g.failure()
		use["name"], use["input"] = f.name, f.input
		if halted {
			f.text = contract.HaltText
		}
		result["is_error"], result["content"] = true, oneOf[any](g, f.text, array{text(f.text)})
		return
	}
	for {
		name, input, content := g.success()
		if !g.enabled[name] {
			continue
		}
		use["name"], use["input"], result["content"] = name, input, content
		if g.chance(0.1) {
			result["is_error"] = false
		}
		return
	}
}

func (g *generator) success() (name string, input object, content any) {
	input = object{}
	name = oneOf(g, "navigate", "screenshot", "zoom", "left_click", "type", "key", "scroll", "read_page", "find", "get_page_text", "form_input", "wait", "new_tab", "list_tabs", "switch_tab", "close_tab")
	if !g.enabled[name] {
		return name, nil, nil
	}
	x, y := g.IntN(g.viewport.X), g.IntN(g.viewport.Y)
	point := object{"type": "coordinate", "x": x, "y": y}
	ref := object{"type": "ref", "ref": fmt.Sprintf("ref_%d", 1+g.IntN(20))}
	said := ""
	switch name {
	case "navigate":
		input["url"] = "https://example.com/docs"
		*g.active() = contract.Tab{TabID: g.active().TabID, Title: `The "docs"`, URL: fmt.Sprintf("https://example.com/docs/%d", g.IntN(9)), Active: true}
		said = "Navigated to " + g.active().URL
	case "screenshot":
		if !g.chance(0.6) {
			return name, input, array{picture(g.viewport, oneOf(g, "png", "jpeg", "gif", "webp"))}
		}
		return name, input, array{picture(g.viewport, "png"), text("Screenshot captured."), g.state()}
	case "zoom":
		input["region"] = array{0, 0, x + 1, y + 1}
		return name, input, oneOf(g, array{picture(g.viewport, "png")}, array{text("Zoomed."), picture(g.viewport, "jpeg")})
	case "left_click":
		input["target"] = oneOf(g, point, ref)
		said = "Clicked."
		g.event()
	case "type":
		input["text"], said = "lamp", "Typed 4 characters."
	case "key":
		input["text"], input["repeat"], said = "Enter", 2, "Pressed Enter."
	case "scroll":
		input["target"], input["scroll_direction"], said = point, "down", "Scrolled."
	case "read_page", "find":
		if input["filter"] = "interactive"; name == "find" {
			input = object{"query": "search"}
		}
		said = "textbox \"Search docs\" [ref_3]\nbutton \"Search\" [ref_4]"
	case "get_page_text":
		said = "Blue lamp\n40 euros"
	case "form_input":
		input["target"], input["value"], said = ref, oneOf[any](g, "x", 3, true), "Set."
	case "wait":
		input["duration"], said = 0.5, "Waited."
	case "new_tab":
		tab := g.open()
		return name, input, array{g.state(object{"type": "tab_opened", "tab_id": tab.TabID})}
	case "list_tabs":
		return name, input, array{g.state()}
	case "switch_tab":
		input["tab_id"] = oneOf(g, g.tabs...).TabID
		g.activate(input["tab_id"].(string))
		return name, input, array{g.state()}
	case "close_tab":
		if len(g.tabs) == 1 {
			g.open()
		}
		i := g.IntN(len(g.tabs))
		closed := g.tabs[i]
		g.tabs = slices.Delete(g.tabs, i, i+1)
		if closed.Active {
			g.activate(g.tabs[0].TabID)
		}
		input["tab_id"] = closed.TabID
		return name, input, array{g.state()}
	}
	if g.chance(0.3) {
		input["tab_id"] = g.active().TabID
	}
	if len(g.pending) == 0 && g.chance(0.4) {
		return name, input, oneOf[any](g, said, array{text(said)})
	}
	blocks := array{text(said), g.state()}
	if g.chance(0.2) {
		blocks = append(blocks, picture(g.viewport, "png"))
	}
	return name, input, blocks
}

// event lets a click open a popup or move a download on.
func (g *generator) event() {
	switch g.IntN(6) {
	case 0:
		g.tabIDs++
		id := fmt.Sprintf("tab-%d", g.tabIDs)
		g.tabs = append(g.tabs, contract.Tab{TabID: id, Title: "Popup", URL: "https://example.com/popup"})
		g.pending = append(g.pending, object{"type": "tab_opened", "tab_id": id})
	case 1:
		g.downloadIDs++
		id := fmt.Sprintf("dl-%d", g.downloadIDs)
		g.running = append(g.running, id)
		g.pending = append(g.pending, object{"type": "download_started", "download_id": id, "url": "https://example.com/a.csv"})
	case 2:
		if len(g.running) == 0 {
			return
		}
		done := object{"type": "download_completed", "download_id": g.running[0], "url": "https://example.com/a.csv", "path": "/home/user/downloads/a.csv", "size_bytes": 48213}
		if g.chance(0.3) {
			done = object{"type": "download_failed", "download_id": g.running[0], "url": "https://example.com/a.csv", "error": "canceled"}
		}
		g.running = g.running[1:]
		g.pending = append(g.pending, done)
	}
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// generate makes a valid request, whose values are those that encoding/json decodes into.
func generate(t testing.TB, seed uint64) object {
	var body object
	if err := json.Unmarshal(marshal(t, newGenerator(seed).request()), &body); err != nil {
		t.Fatal(err)
	}
	return body
}

// TestValid says that what is valid is accepted without any finding: whole, message by message and as a recording.
func TestValid(t *testing.T) {
	const seeds = 300
	kinds := map[Kind]bool{}
	for seed := range uint64(seeds) {
		body := generate(t, seed)
		data := marshal(t, body)
		for _, f := range Request(data, Options{}) {
			t.Errorf("seed %d: %s", seed, f)
		}
		c := NewConversation(Options{})
		messages := body["messages"].(array)
		var lines bytes.Buffer
		delete(body, "messages")
		fmt.Fprintf(&lines, `{"time":"2026-12-01T00:00:00Z","type":"request","request":%s}`+"\n", marshal(t, body))
		found := c.SetRequest(marshal(t, body))
		for _, m := range messages {
			found = append(found, c.Add(marshal(t, m))...)
			fmt.Fprintf(&lines, `{"time":"2026-12-01T00:00:00Z","type":"message","message":%s}`+"\n", marshal(t, m))
		}
		for _, f := range found {
			t.Errorf("seed %d, one by one: %s", seed, f)
		}
		for _, document := range [][]byte{data, marshal(t, messages), lines.Bytes()} {
			d, err := Any(document, Options{})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			kinds[d.Kind] = true
			for _, f := range d.Findings {
				t.Errorf("seed %d, %s: %s", seed, d.Kind, f)
			}
			if got, want := d.Conversation.Text(), c.Text(); got != want {
				t.Errorf("seed %d: the %s reads\n%s\nand one by one\n%s", seed, d.Kind, got, want)
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, data[:min(len(data), 4000)])
		}
	}
	if len(kinds) != 3 {
		t.Errorf("kinds %v", kinds)
	}
}
