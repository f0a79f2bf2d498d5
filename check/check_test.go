package check

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pagehand/pagehand"
	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/models"
)

// TestRules says that the table is fit for print and that the contract package's rules are in it.
func TestRules(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rules() {
		if seen[r.ID] || r.ID != strings.ToLower(r.ID) || r.Section == "" || !strings.HasSuffix(r.Text, ".") && !strings.HasSuffix(r.Text, ")") {
			t.Errorf("%+v", r)
		}
		seen[r.ID] = true
	}
	for _, id := range []contract.StateRule{
		contract.StateShape, contract.StateField, contract.StateTabs, contract.StateChanges, contract.StateNoChanges, contract.StateActive, contract.StateText,
		contract.StateControl, contract.TabIDEmpty, contract.TabIDTwice, contract.ChangeKind, contract.TabOpenedListed, contract.TabOpenedTwice,
		contract.DownloadIDEmpty, contract.DownloadTwice, contract.DownloadSize,
	} {
		if !seen[string(id)] {
			t.Errorf("no rule %s", id)
		}
	}
}

// TestFinding says where and how a finding tells.
func TestFinding(t *testing.T) {
	body := `{"model":"claude-opus-5","max_tokens":1,"tools":[{"type":"browser_toolset_20260801","configs":{"a b":{}}}],"messages":[
		{"role":"user","content":"x"},
		{"role":"assistant","content":[{"type":"text","text":"y"},{"type":"tool_use","id":"a","name":"wait","toolset_name":"browser","input":{"duration":1}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","toolset_name":"browser","content":[
			{"type":"text","text":"Waited."},{"type":"browser_state","tabs":[{"tab_id":"1","title":"a\nb","url":""}]}]}]}]}`
	var got []string
	for _, f := range Request([]byte(body), Options{}) {
		got = append(got, f.String())
	}
	want := []string{
		`error: tools[0].configs["a b"]: the key "a b"; there must be a member's name [configs-member, contract §7]`,
		`error: messages[2].content[0].content[1].tabs[0].title: U+000A; there must be no control character and no line separator [state-control, contract §5]`,
		`error: messages[2].content[0].content[1].tabs: 0 active tabs; there must be exactly one [state-active, contract §7]`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestPairing goes through what results may be in which order.
func TestPairing(t *testing.T) {
	call := func(id string) string {
		return `{"type":"tool_use","id":"` + id + `","name":"wait","toolset_name":"browser","input":{"duration":1}}`
	}
	result := func(id string) string {
		return `{"type":"tool_result","tool_use_id":"` + id + `","toolset_name":"browser","content":"Waited."}`
	}
	asks := func(blocks ...string) string {
		return `{"role":"assistant","content":[` + strings.Join(blocks, ",") + `]}`
	}
	tells := func(blocks ...string) string { return `{"role":"user","content":[` + strings.Join(blocks, ",") + `]}` }
	for _, test := range []struct {
		name     string
		messages []string
		want     []string // rules
	}{
		{"in order", []string{asks(call("a"), call("b")), tells(result("a"), result("b"))}, nil},
		{"not answered yet", []string{asks(call("a"))}, nil},
		{"a text after", []string{asks(call("a")), tells(result("a"), `{"type":"text","text":"x"}`)}, nil},
		{"a paused turn", []string{asks(call("a")), asks(call("b")), tells(result("a"), result("b"))}, nil},
		{"two messages", []string{asks(call("a"), call("b")), tells(result("a")), tells(result("b"))}, []string{"result-one-message"}},
		{"other order", []string{asks(call("a"), call("b")), tells(result("b"), result("a"))}, []string{"result-order"}},
		{"none", []string{asks(call("a")), tells(`{"type":"text","text":"x"}`)}, []string{"result-missing"}},
		{"a turn too late", []string{asks(call("a")), tells(`{"type":"text","text":"x"}`), asks(call("b")), tells(result("b"), result("a"))}, []string{"result-missing", "result-unknown"}},
		{"out of nowhere", []string{tells(result("a"))}, []string{"result-unknown"}},
		{"twice", []string{asks(call("a")), tells(result("a"), result("a"))}, []string{"result-twice"}},
		{"one id for two", []string{asks(call("a"), call("a")), tells(result("a"))}, []string{"call-id", "result-missing"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, err := Any([]byte("["+strings.Join(test.messages, ",")+"]"), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := rulesOf(d.Findings); !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", d.Findings, test.want)
			}
		})
	}
}

func rulesOf(found []Finding) []string {
	var ids []string
	for _, f := range found {
		ids = append(ids, f.Rule)
	}
	return ids
}

// TestConfigs says that a toolset entry is accepted here if and only if a session accepts it.
func TestConfigs(t *testing.T) {
	entries := []string{
		`{}`, `{"configs":null}`, `{"configs":{}}`, `{"configs":{"find":null}}`, `{"configs":{"find":{}}}`, `{"configs":{"find":{"enabled":null}}}`,
		`{"configs":{"find":{"enabled":false}}}`, `{"configs":{"read_console":{"enabled":true}}}`, `{"configs":{"find":{"defer_loading":false}}}`,
		`{"cache_control":{"type":"ephemeral"}}`, `{"allowed_callers":["direct"]}`, `{"allowed_callers":null}`,
		`{"configs":[]}`, `{"configs":5}`, `{"configs":{"find":5}}`, `{"configs":{"find":{"enabled":1}}}`, `{"configs":{"find":{"enabled":"true"}}}`, `{"configs":{"Find":{}}}`,
		`{"configs":{"find":{"x":1}}}`, `{"configs":{"find":{"defer_loading":true}}}`, `{"configs":{"read_console":{"enabled":true,"defer_loading":true}}}`,
		`{"allowed_callers":["code_execution_20260120"]}`, `{"allowed_callers":"direct"}`, `{"strict":true}`, `{"name":"browser"}`, `{"defer_loading":true}`, `{"x":1}`,
	}
	for _, entry := range entries {
		entry = `{"type":"browser_toolset_20260801"` + strings.Replace(strings.Replace(entry, "{", ",", 1), ",}", "}", 1)
		_, err := pagehand.ParseConfigs([]byte(entry))
		found := NewConversation(Options{}).SetRequest([]byte(`{"tools":[` + entry + `]}`))
		if Rejected(found) != (err != nil) {
			t.Errorf("%s: found %v, a session says %v", entry, found, err)
		}
	}
}

// TestImageSize reads the sizes of all formats, from files made by other programs.
func TestImageSize(t *testing.T) {
	files := map[string]string{
		"lossy":    "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA",
		"lossless": "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==",
		"alpha":    "UklGRkoAAABXRUJQVlA4WAoAAAAQAAAAAAAAAAAAQUxQSAwAAAARBxAR/Q9ERP8DAABWUDggGAAAABQBAJ0BKgEAAQAAAP4AAA3AAP7mtQAAAA==",
	}
	for name, data := range files {
		raw, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			t.Fatal(err)
		}
		if size, format, err := imageSize(raw); err != nil || size != image.Pt(1, 1) || format != "image/webp" {
			t.Errorf("%s: %v, %s, %v", name, size, format, err)
		}
		for n := range raw {
			if _, _, err := imageSize(raw[:n]); err != nil {
				continue
			}
			if n < 30 {
				t.Errorf("%s: %d bytes have a size", name, n)
			}
		}
	}
	for _, format := range []string{"png", "jpeg", "gif", "webp"} {
		raw, _ := base64.StdEncoding.DecodeString(encoded(image.Pt(300, 17), format))
		if size, media, err := imageSize(raw); err != nil || size != image.Pt(300, 17) || media != "image/"+format {
			t.Errorf("%s: %v, %s, %v", format, size, media, err)
		}
	}
}

// TestModels says that limits are the model's, and that the table can be replaced.
func TestModels(t *testing.T) {
	small := models.Model{ID: "small-1", Toolset: true, Image: models.ImageLimits{LongEdge: 100, VisualTokens: 1000, Many: 1, ManyEdge: 50, Count: 3}}
	o := Options{Models: models.Known().With(small).Lookup}
	c := NewConversation(o)
	if found := c.SetRequest([]byte(`{"model":"small-1","tools":[{"type":"browser_toolset_20260801"}]}`)); len(found) > 0 {
		t.Errorf("found %v", found)
	}
	c.Add([]byte(`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"screenshot","toolset_name":"browser","input":{}}]}`))
	result := object{"role": "user", "content": array{object{"type": "tool_result", "tool_use_id": "a", "toolset_name": "browser", "content": array{
		picture(image.Pt(101, 10), "png"), picture(image.Pt(60, 10), "png"), picture(image.Pt(50, 50), "png"), picture(image.Pt(1, 1), "png"),
	}}}}
	got := rulesOf(c.Add(marshal(t, result)))
	if want := []string{"image-size", "image-many", "image-many", "image-count"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestAny says what can't be used.
func TestAny(t *testing.T) {
	event := `{"time":"2026-12-01T00:00:00Z","type":"note","note":"x"}`
	for _, bad := range []string{"", "  ", "x", "5", `"x"`, "null", "{}", `{"role":"user","content":"x"}`, event + "\nx\n" + event + "\n", "{}\n{}\n", "[[", "[]]"} {
		if d, err := Any([]byte(bad), Options{}); err == nil {
			t.Errorf("%q is a %s with %v", bad, d.Kind, d.Findings)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %q is not one line", bad, err)
		}
	}
	for good, want := range map[string]Kind{
		"[]": KindMessages, ` {"messages":[]}`: KindRequest, event: KindRecording, event + "\n" + event: KindRecording, event + "\n" + event[:20]: KindRecording,
	} {
		if d, err := Any([]byte(good), Options{}); err != nil || d.Kind != want {
			t.Errorf("%q: %+v, %v", good, d, err)
		}
	}
	d, err := Any([]byte(`[{"role":"user","content":"x","role":"user"}]`), Options{})
	if err != nil || len(d.Findings) != 1 || d.Findings[0].Path != "messages[0].role" {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestBetaOption says that a beta header counts as one in the body.
func TestBetaOption(t *testing.T) {
	body := marshal(t, generate(t, 1))
	if got := rulesOf(Request(body, Options{Betas: []string{"context-management-2025-06-27", fineGrainedBeta}})); !slices.Equal(got, []string{"beta-fine-grained"}) {
		t.Errorf("got %v", got)
	}
}

// TestView says what a reading holds.
func TestView(t *testing.T) {
	d, err := Any([]byte(`[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"wait","toolset_name":"browser","input":{"duration": 1}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","toolset_name":"browser","is_error":true,"content":"Error: no."}]}]`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []Reading{
		{Message: 0, Role: Call, ID: "a", Toolset: "browser", Name: "wait", Text: `{"duration": 1}`},
		{Message: 1, Role: Result, ID: "a", Toolset: "browser", Name: "wait", IsError: true, Text: "Error: no."},
	}
	if got := d.Conversation.View(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

// FuzzAny says that no input brings the checker down, and that a finding is always one line of a known rule.
func FuzzAny(f *testing.F) {
	for seed := range uint64(8) {
		g := newGenerator(seed)
		g.viewport = image.Pt(9, 9) // small seeds
		body := g.request()
		data, err := json.Marshal(body)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		messages, _ := json.Marshal(body["messages"])
		f.Add(messages)
	}
	f.Add([]byte(`{"time":"2026-12-01T00:00:00Z","type":"message","message":{"role":"user","content":[{"type":"tool_result"}]}}`))
	f.Add([]byte(`[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"close_tab","toolset_name":"browser","input":[]}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[null,{"type":"image"}]}]}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := Any(data, Options{})
		if err != nil {
			return
		}
		for _, finding := range d.Findings {
			line := finding.String()
			if strings.ContainsAny(line, "\n\r\x1b") || len(line) > 4000 && len(finding.Path) < 1000 {
				t.Errorf("a finding is not a short line: %q", line)
			}
		}
		if again, err := Any(data, Options{}); err != nil || !reflect.DeepEqual(again.Findings, d.Findings) || again.Conversation.Text() != d.Conversation.Text() {
			t.Errorf("another run finds something else: %v", err)
		}
		if d.Kind == KindRequest && !reflect.DeepEqual(Request(data, Options{}), d.Findings) {
			t.Error("Request finds something else")
		}
	})
}

// BenchmarkAdd adds a turn with a large screenshot.
func BenchmarkAdd(b *testing.B) {
	noise := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("0123456789abcdef"), 20_000))
	shot := encoded(image.Pt(1280, 800), "png")
	message := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","toolset_name":"browser","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` +
		strings.TrimRight(shot, "=") + noise + `"}}]}]}`
	for b.Loop() {
		c := NewConversation(Options{})
		c.Add([]byte(`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"screenshot","toolset_name":"browser","input":{}}]}`))
		c.Add([]byte(message))
	}
}

// TestDeepAndWide says that findings are bounded in number and in length, and that warnings hide no error.
func TestDeepAndWide(t *testing.T) {
	nest := func(depth int, key, inside string) string {
		return strings.Repeat(`{"`+key+`":`, depth) + inside + strings.Repeat("}", depth)
	}
	twice := `{"x":1` + strings.Repeat(`,"x":1`, 5000) + `}`
	found := Request([]byte(`{"model":5,"a":`+nest(900, strings.Repeat("é", 200), twice)+`}`), Options{})
	if len(found) < maxFindings+3 || len(found) > maxFindings+10 || !Rejected(found) {
		t.Fatalf("%d findings, rejected: %t", len(found), Rejected(found))
	}
	for _, f := range found {
		if len(f.Path) > maxPath+10 || !utf8.ValidString(f.Path) {
			t.Fatalf("a path of %d bytes: %q", len(f.Path), f.Path)
		}
	}
	if last := found[len(found)-1].Got; !strings.HasSuffix(last, "(and 4000 more findings, which are not listed)") {
		t.Errorf("the last finding: %s", last)
	}
	if got := rulesOf(Request([]byte(nest(maxDepth, "a", "1")), Options{})); slices.Contains(got, "json") {
		t.Errorf("%d levels: %v", maxDepth, got)
	}
	if got := rulesOf(Request([]byte(nest(maxDepth+1, "a", `"{"`)), Options{})); !slices.Equal(got, []string{"json"}) {
		t.Errorf("%d levels: %v", maxDepth+1, got)
	}
}

// TestAccepted goes through what looks wrong and is not.
func TestAccepted(t *testing.T) {
	for name, rest := range map[string]string{
		"nothing said last":          `"messages":[{"role":"user","content":"x"},{"role":"assistant","content":""}]`,
		"no block said last":         `"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[]}]`,
		"no answer, only the cache":  `"max_tokens":0,"messages":[{"role":"user","content":"x"}]`,
		"not strict":                 `"tools":[{"type":"browser_toolset_20260801","strict":false}],"messages":[{"role":"user","content":"x"}]`,
		"a tool of another toolset":  `"tools":[{"type":"mcp_toolset"}],"tool_choice":{"type":"tool","name":"y"},"messages":[{"role":"user","content":"x"}]`,
		"a tool of a member's name":  `"tools":[{"type":"browser_toolset_20260801"},{"name":"wait"}],"tool_choice":{"type":"tool","name":"wait"},"messages":[{"role":"user","content":"x"}]`,
		"a result without any words": `"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"y","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]`,
	} {
		body := `{"model":"claude-sonnet-5",` + rest + `}`
		if !strings.Contains(rest, "max_tokens") {
			body = strings.Replace(body, "{", `{"max_tokens":1,`, 1)
		}
		if found := Request([]byte(body), Options{}); len(found) > 0 {
			t.Errorf("%s: %v", name, found)
		}
	}
}

// TestTabInput: switch_tab and close_tab succeed for the id of a tab and nothing else (contract §5).
func TestTabInput(t *testing.T) {
	for input, want := range map[string]bool{`{"tab_id":"tab-1"}`: false, `{"tab_id":""}`: true, `{"tab_id":5}`: true, `{}`: true} {
		body := `{"model":"claude-sonnet-5","max_tokens":0,"tools":[{"type":"browser_toolset_20260801"}],"messages":[{"role":"user","content":"Go."},
			{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"switch_tab","toolset_name":"browser","input":` + input + `}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","toolset_name":"browser","content":[
				{"type":"browser_state","tabs":[{"tab_id":"tab-1","title":"T","url":"http://x/","active":true}]}]}]}]}`
		findings := Request([]byte(body), Options{})
		if Rejected(findings) != want {
			t.Errorf("%s: %v", input, findings)
		}
	}
}
