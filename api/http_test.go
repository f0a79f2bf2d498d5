package api_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pagehand/pagehand/api"
	"github.com/pagehand/pagehand/check"
	"github.com/pagehand/pagehand/recording"
)

var update = flag.Bool("update", false, "write what is expected of streams anew")

// postRaw sends a conversation and returns the body of the answer.
func postRaw(t *testing.T, url string, c *talk, stream bool) string {
	t.Helper()
	c.more["stream"] = stream
	r, err := http.NewRequest(http.MethodPost, url+"/v1/messages", bytes.NewReader(c.body()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer any")
	r.Header.Set("Juglow-Version", "2023-06-01")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if got := response.Header.Get(api.UsageHeader); got != "estimated" {
		t.Errorf("%s: %q", api.UsageHeader, got)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// TestWire compares an answer with what the Messages API sends, byte for byte.
func TestWire(t *testing.T) {
	for name, stream := range map[string]bool{"stream.txt": true, "whole.json": false} {
		_, url := serve(t, "steps:\n  - calls: |\n      # I look at what is there, <b>now</b>.\n      read_page {\"filter\": \"interactive\"}\n      /get_weather {\"city\": \"Oslo, the capital of Norway\"}\n")
		got := postRaw(t, url, begin(t, url, "Look."), stream)
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: got\n%s", name, got)
		}
	}
}

func TestRefusals(t *testing.T) {
	server, url := serve(t, "steps:\n  - end: Done.\n")
	valid := string(begin(t, url, "Go.").body())
	for _, test := range []struct {
		name, method, path, body string
		header                   map[string]string // "-" takes one away
		status                   int
		kind, message            string
	}{
		{"no key", "POST", "/v1/messages", valid, map[string]string{"X-Api-Key": "-"}, 401, "authentication_error", "x-api-key header is required"},
		{"no version", "POST", "/v1/messages", valid, map[string]string{"Anthropic-Version": "-"}, 400, "invalid_request_error", "anthropic-version: header is required"},
		{"another version", "POST", "/v1/messages", valid, map[string]string{"Anthropic-Version": "2030-01-01"}, 400, "invalid_request_error", `anthropic-version: "2030-01-01" is not a valid version`},
		{"the other brand's", "POST", "/v1/messages", valid, map[string]string{"Anthropic-Version": "-", "Juglow-Version": "1"}, 400, "invalid_request_error", `juglow-version: "1" is not`},
		{"models without key", "GET", "/v1/models", "", map[string]string{"X-Api-Key": "-"}, 401, "authentication_error", ""},
		{"a model without version", "GET", "/v1/models/claude-sonnet-5", "", map[string]string{"Anthropic-Version": "-"}, 400, "invalid_request_error", ""},
		{"no JSON", "POST", "/v1/messages", "{", nil, 400, "invalid_request_error", "not JSON"},
		{"no messages", "POST", "/v1/messages", "{}", nil, 400, "invalid_request_error", "messages"},
		{"a list", "POST", "/v1/messages", "[]", nil, 400, "invalid_request_error", ""},
		{"no max_tokens", "POST", "/v1/messages", strings.Replace(valid, `"max_tokens":4096,`, "", 1), nil, 400, "invalid_request_error", "max_tokens"},
		{"a stream of another type", "POST", "/v1/messages", strings.Replace(valid, `"max_tokens"`, `"stream":"yes","max_tokens"`, 1), nil, 400, "invalid_request_error", "stream"},
		{"a name on the entry", "POST", "/v1/messages", strings.Replace(valid, `{"type":"browser_toolset_20260801"}`, `{"type":"browser_toolset_20260801","name":"browser"}`, 1), nil, 400, "invalid_request_error", "tools[0].name: "},
		{"a beta", "POST", "/v1/messages", valid, map[string]string{"Anthropic-Beta": "x, fine-grained-tool-streaming-2025-05-14"}, 400, "invalid_request_error", "beta"},
		{"a thread", "POST", "/v1/messages", strings.Replace(valid, `"max_tokens"`, `"thread":{"type":"create"},"max_tokens"`, 1), nil, 400, "invalid_request_error", "thread"},
		{"too large", "POST", "/v1/messages", strings.Repeat(" ", api.MaxBody+1), nil, 413, "request_too_large", "maximum size"},
		{"another method", "GET", "/v1/messages", "", nil, 405, "invalid_request_error", "Method Not Allowed"},
		{"posting models", "POST", "/v1/models", "", nil, 405, "invalid_request_error", "Method Not Allowed"},
		{"another path", "GET", "/v1/batches", "", nil, 404, "not_found_error", "Not found"},
		{"the root", "GET", "/", "", nil, 404, "not_found_error", "Not found"},
		{"no transcript", "GET", "/transcripts/x", "", nil, 404, "not_found_error", "x"},
		{"counting without key", "POST", "/v1/messages/count_tokens", valid, map[string]string{"X-Api-Key": "-"}, 401, "authentication_error", ""},
		{"counting what is rejected", "POST", "/v1/messages/count_tokens", strings.Replace(valid, `"content":"Go."`, `"content":[]`, 1), nil, 400, "invalid_request_error", "messages[0].content"},
		{"a limit", "GET", "/v1/models?limit=x", "", nil, 400, "invalid_request_error", "limit"},
		{"after what is not there", "GET", "/v1/models?after_id=x", "", nil, 400, "invalid_request_error", "after_id"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, err := http.NewRequest(test.method, url+test.path, strings.NewReader(test.body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("X-Api-Key", "any")
			r.Header.Set("Anthropic-Version", "2023-06-01")
			for name, value := range test.header {
				if value == "-" {
					r.Header.Del(name)
					continue
				}
				r.Header.Set(name, value)
			}
			got := do(t, r)
			if got.status != test.status || got.Error.Type != test.kind || !strings.Contains(got.Error.Message, test.message) {
				t.Errorf("got %d %s %q", got.status, got.Error.Type, got.Error.Message)
			}
			if got.RID == "" || got.RID != got.header.Get("Request-Id") {
				t.Errorf("request id %q and %q", got.RID, got.header.Get("Request-Id"))
			}
			if (got.header.Get("Allow") != "") != (test.status == 405) {
				t.Errorf("Allow: %q", got.header.Get("Allow"))
			}
		})
	}
	for _, f := range server.Findings() {
		if f.Rule == "" {
			t.Errorf("finding %+v", f)
		}
	}
}

func TestHost(t *testing.T) {
	server := api.New(api.Options{})
	for host, allowed := range map[string]bool{
		"127.0.0.1:8080": true, "127.9.0.1": true, "localhost": true, "LOCALHOST:1": true, "[::1]:80": true, "[::1]": true,
		"rebound.example:8080": false, "127.0.0.1.example": false, "10.0.0.1:80": false, "": false, "localhost.example": false, "0.0.0.0:80": false,
	} {
		r := httptest.NewRequest(http.MethodGet, "/transcripts", nil)
		r.Host = host
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		if (w.Code == http.StatusOK) != allowed {
			t.Errorf("%q: %d", host, w.Code)
		}
	}
}

func TestTranscripts(t *testing.T) {
	server, url := serve(t, twoTurns)
	c := begin(t, url, "Look.")
	c.ask()
	c.results("nothing", "rain")
	get := func(path string) string {
		t.Helper()
		response, err := http.Get(url + path)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	var all struct {
		Transcripts []api.Transcript
		Findings    []api.Finding
	}
	if err := json.Unmarshal([]byte(get("/transcripts")), &all); err != nil {
		t.Fatal(err)
	}
	if len(all.Transcripts) != 1 || len(all.Findings) != 1 || len(all.Transcripts[0].Findings) != 1 {
		t.Fatalf("got %+v", all)
	}
	text := get("/transcripts/" + all.Transcripts[0].ID)
	if !strings.HasPrefix(text, server.Transcripts()[0].Text) || !strings.HasSuffix(text, "[finding]\n"+all.Findings[0].Text+"\n") {
		t.Errorf("text\n%s", text)
	}
}

// TestRejected notes what the API would reject, with its conversation.
func TestRejected(t *testing.T) {
	server, url := serve(t, twoTurns)
	c := begin(t, url, "Look.")
	c.ask()
	c.take()
	c.messages = append(c.messages, message("user", "What?"))
	if got := c.ask(); got.status != 400 || !strings.Contains(got.Error.Message, "result-missing") || !strings.Contains(got.Error.Message, "(and 1 more)") {
		t.Errorf("got %+v", got)
	}
	if f := server.Findings(); len(f) != 2 || f[0].Rule != "result-missing" || f[0].Conversation == "" {
		t.Errorf("findings %+v", f)
	}
}

// TestRecording records two conversations: each is a file that the checker finds nothing in.
func TestRecording(t *testing.T) {
	folder := t.TempDir()
	script, err := api.ParseScript([]byte("steps:\n  - fault: overloaded\n" + strings.TrimPrefix(twoTurns, "\nsteps:\n")))
	if err != nil {
		t.Fatal(err)
	}
	server, url := serveWith(t, api.Options{Script: script, Record: folder})
	for range 2 {
		c := begin(t, url, "Look.")
		c.ask()
		c.ask()
		c.ask()
		c.results(reading, "rain")
		c.results("Clicked.", "Typed.", "Error: gone")
	}
	noFindings(t, server)
	files, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	if err != nil || len(files) != 2 {
		t.Fatalf("files %v, %v", files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	doc, err := check.Any(data, check.Options{})
	if err != nil || doc.Kind != check.KindRecording || len(doc.Findings) > 0 {
		t.Fatalf("%v: %+v", err, doc)
	}
	if got := doc.Conversation.Text(); got != server.Transcripts()[0].Text && got != server.Transcripts()[1].Text {
		t.Errorf("the recording reads\n%s", got)
	}
	var got []string
	for e, err := range recording.Read(bytes.NewReader(data)) {
		if err != nil {
			t.Fatal(err)
		}
		text := string(e.Type)
		if e.End != nil {
			text += " " + e.End.Reason
		}
		got = append(got, text+e.Note)
	}
	want := "request;message;noteAnswered with an error: overloaded_error: Overloaded;message;noteThe same request came again and got the same answer.;message;message;message;message;end end_turn"
	if joined := strings.Join(got, ";"); joined != want {
		t.Errorf("got  %s\nwant %s", joined, want)
	}
	if bytes.Contains(data, []byte("x-api-key")) {
		t.Error("a key is in the recording")
	}
}

// TestRecordingFails says so and goes on.
func TestRecordingFails(t *testing.T) {
	script, err := api.ParseScript([]byte("steps:\n  - end: Done.\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, url := serveWith(t, api.Options{Script: script, Record: filepath.Join(t.TempDir(), "missing")})
	same(t, begin(t, url, "Go.").ask(), "Done. | [end_turn]")
}
