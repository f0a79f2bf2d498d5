package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pagehand/pagehand/api"
	"github.com/pagehand/pagehand/check"
	"github.com/pagehand/pagehand/site"
)

// localAPI serves a scripted model; {{shop}} in the script is the sample site's address.
func localAPI(t *testing.T, script string) (base, shop string, server *api.Server) {
	t.Helper()
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"} {
		t.Setenv(name, "")
	}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	goods, err := site.Start(context.Background(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { goods.Close() })
	plan, err := api.ParseScript([]byte(strings.ReplaceAll(script, "{{shop}}", goods.URL())))
	if err != nil {
		t.Fatal(err)
	}
	server = api.New(api.Options{Script: plan})
	listener := httptest.NewServer(server)
	t.Cleanup(listener.Close)
	t.Cleanup(func() {
		for _, f := range server.Findings() {
			t.Errorf("finding: %v", f)
		}
	})
	return listener.URL, goods.URL(), server
}

const shopping = `
steps:
  - calls: |
      # I look for the mug.
      find {"query": "search field"}
      > textbox "Search goods and docs"
      screenshot
  - fault: overloaded
  - calls: |
      left_click {"target": {"type": "ref", "ref": "textbox 'Search goods and docs'"}}
      type {"text": "mug\n"}
      get_page_text
      > Enamel mug
  - fault: cut_stream
  - calls: |
      left_click {"target": {"type": "ref", "ref": "ref_999"}}
      ! stale
      screenshot
      ! Not executed
  - ask: The page tells me to send your list to x@example.com. Did you ask for that?
  - fault: max_tokens
  - calls: |
      list_tabs
      screenshot
  - end: The enamel mug costs $14.
`

// TestRun lets the scripted model work on the sample site, through faults, and continues the run later in another browser.
func TestRun(t *testing.T) {
	base, shop, _ := localAPI(t, shopping)
	folder := t.TempDir()
	var out, told bytes.Buffer
	args := []string{"run", "--base-url=" + base, "--allow-private", "--out=" + folder, "--attach=screenshot", "--url=" + shop, "What does the mug cost?"}
	if status := run(args, &streams{in: strings.NewReader(""), out: &out, err: &told}); status != 0 {
		t.Fatalf("exit status %d\n%s", status, told.String())
	}
	if got := out.String(); got != "The enamel mug costs $14.\n" {
		t.Errorf("answer %q", got)
	}
	transcript, page := filepath.Join(folder, "run.jsonl"), filepath.Join(folder, "run.html")
	for _, want := range []string{
		"pagehand run · claude-opus-5-5\n", "I look for the mug.\n", "  ✓ find {\"query\":\"search field\"} (", "    textbox \"Search goods and docs\" [ref_1] …\n",
		"  ✓ left_click {\"target\":{\"type\":\"ref\",\"ref\":\"ref_1\"}} textbox \"Search goods and docs\" (",
		"· Asking again in 1s: the connection ended before the reply was complete\n",
		"  ✗ left_click", "    Error: ref_999 is stale", "  – screenshot\n", "Did you ask for that?\nanswered: Nobody can be asked",
		"✓ the model has answered\n", "tokens in context (", transcript, page,
	} {
		if !strings.Contains(told.String(), want) {
			t.Errorf("%q is not in the output", want)
		}
	}
	if t.Failed() {
		t.Logf("output:\n%s", told.String())
	}
	if strings.ContainsAny(told.String(), "\x1b\r") {
		t.Error("the output has escape sequences, though it is no terminal")
	}
	checkTranscript(t, transcript)
	html, err := os.ReadFile(page)
	if err != nil || !bytes.Contains(html, []byte("<h1>What does the mug cost?</h1>")) || bytes.Count(html, []byte("data:image/png;base64,")) < 2 {
		t.Errorf("the report has %d bytes: %v", len(html), err)
	}

	// Another API, another browser, the same conversation.
	next, _, _ := localAPI(t, `
steps:
  - calls: |
      list_tabs
      > tab-2
  - end: It is still $14.
`)
	out.Reset()
	told.Reset()
	args = []string{"run", "--base-url=" + next, "--allow-private", "--resume=" + transcript, "Look again."}
	if status := run(args, &streams{in: strings.NewReader(""), out: &out, err: &told}); status != 0 || out.String() != "It is still $14.\n" {
		t.Fatalf("exit status %d, answer %q\n%s", status, out.String(), told.String())
	}
	checkTranscript(t, transcript)
}

// checkTranscript sees to it that the API would accept the whole conversation, and that only its owner can read it.
func checkTranscript(t *testing.T, name string) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := check.Any(data, check.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range doc.Findings {
		t.Errorf("the transcript: %v", f)
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestRunSchema(t *testing.T) {
	base, _, _ := localAPI(t, `
steps:
  - ask: It costs $14.
  - ask: '{"price": "14"}'
  - end: '{"price": 14}'
`)
	folder := t.TempDir()
	schema := filepath.Join(folder, "schema.json")
	if err := os.WriteFile(schema, []byte(`{"type":"object","properties":{"price":{"type":"number"}},"required":["price"],"additionalProperties":false}`), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, told bytes.Buffer
	status := run([]string{"run", "--base-url=" + base, "--out=" + folder, "--schema=" + schema, "What does the mug cost?"}, &streams{in: strings.NewReader(""), out: &out, err: &told})
	if status != 0 || out.String() != "{\"price\": 14}\n" || strings.Count(told.String(), "The answer is not valid") != 2 {
		t.Errorf("exit status %d, answer %q\n%s", status, out.String(), told.String())
	}
}

// TestRunInterrupted ends a run by a signal in the middle of a call, and continues it.
func TestRunInterrupted(t *testing.T) {
	reached := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(reached)
		<-r.Context().Done()
	}))
	defer slow.Close()
	base, _, _ := localAPI(t, `
steps:
  - calls: |
      navigate {"url": "`+slow.URL+`/"}
      ! cancelled
      list_tabs
      ! Not executed
  - end: Done.
`)
	folder := t.TempDir()
	p := newProgram(t, "run", "--base-url="+base, "--allow-private", "--out="+folder, "Wait.")
	transcript := filepath.Join(folder, "run.jsonl")
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	<-reached
	if err := p.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	p.ends(t, 130)
	data, err := os.ReadFile(transcript)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"navigate was cancelled.", "Not executed: an earlier action in this turn failed.", `"reason":"interrupted"`} {
		if !bytes.Contains(data, []byte(want)) {
			t.Errorf("%q is not in the transcript", want)
		}
	}
	if !strings.Contains(p.err.String(), transcript) {
		t.Errorf("the transcript is not named:\n%s", p.err.String())
	}
	var out, told bytes.Buffer
	if status := run([]string{"run", "--base-url=" + base, "--resume=" + transcript}, &streams{in: strings.NewReader(""), out: &out, err: &told}); status != 0 || out.String() != "Done.\n" {
		t.Fatalf("exit status %d, answer %q\n%s", status, out.String(), told.String())
	}
	var last struct {
		End struct{ Reason string }
	}
	data, err = os.ReadFile(transcript)
	lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	if err != nil || json.Unmarshal(lines[len(lines)-1], &last) != nil || last.End.Reason != "end_turn" {
		t.Errorf("the transcript ends with %s", lines[len(lines)-1])
	}
	checkTranscript(t, transcript)
}
