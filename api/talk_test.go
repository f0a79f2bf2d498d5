package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pagehand/pagehand/api"
)

// serve starts a server with a script.
func serve(t *testing.T, script string) (*api.Server, string) {
	t.Helper()
	parsed, err := api.ParseScript([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	return serveWith(t, api.Options{Script: parsed})
}

func serveWith(t *testing.T, o api.Options) (*api.Server, string) {
	t.Helper()
	server := api.New(o)
	listener := httptest.NewServer(server)
	t.Cleanup(listener.Close)
	return server, listener.URL
}

// block is a content block of a reply.
type block struct {
	Type        string          `json:"type"`
	Text        string          `json:"text,omitempty"`
	ID          string          `json:"id,omitempty"`
	Name        string          `json:"name,omitempty"`
	ToolsetName string          `json:"toolset_name,omitempty"`
	Input       json.RawMessage `json:"input,omitempty"`
}

// reply is what the server answered: a message or an error.
type reply struct {
	status  int
	header  http.Header
	ID      string
	Content []block
	Stop    string  `json:"stop_reason"`
	Seq     *string `json:"stop_sequence"`
	Usage   map[string]any
	Error   struct{ Type, Message string }
	RID     string `json:"request_id"`
}

// String is the reply in short: what is said, the calls and the stop reason.
func (r reply) String() string {
	if r.Error.Type != "" {
		return fmt.Sprintf("%d %s", r.status, r.Error.Type)
	}
	var parts []string
	for _, b := range r.Content {
		switch b.Type {
		case "text":
			parts = append(parts, b.Text)
		case "tool_use":
			parts = append(parts, strings.TrimSuffix(fmt.Sprintf("%s %s", b.Name, b.Input), " {}"))
		}
	}
	return strings.Join(append(parts, "["+r.Stop+"]"), " | ")
}

// talk is a client with a conversation, which speaks JSON itself.
type talk struct {
	t        *testing.T
	url      string
	messages []any
	more     map[string]any // of the request
	last     reply
}

func begin(t *testing.T, url, task string) *talk {
	return &talk{t: t, url: url, messages: []any{message("user", task)}, more: map[string]any{}}
}

func message(role string, content any) map[string]any {
	return map[string]any{"role": role, "content": content}
}

func (c *talk) body() []byte {
	c.t.Helper()
	body := map[string]any{
		"model": "claude-sonnet-5", "max_tokens": 4096, "messages": c.messages,
		"tools": []any{
			map[string]any{"type": "browser_toolset_20260801"},
			map[string]any{"name": "get_weather", "input_schema": map[string]any{"type": "object"}},
		},
	}
	for key, value := range c.more {
		body[key] = value
	}
	data, err := json.Marshal(body)
	if err != nil {
		c.t.Fatal(err)
	}
	return data
}

// ask sends the conversation as it is.
func (c *talk) ask() reply {
	c.t.Helper()
	c.last = post(c.t, c.url+"/v1/messages", c.body())
	return c.last
}

// take takes the last reply into the conversation.
func (c *talk) take() *talk {
	c.messages = append(c.messages, message("assistant", c.last.Content))
	return c
}

// says lets the user say something after the last reply.
func (c *talk) says(text string) reply {
	c.t.Helper()
	c.take()
	c.messages = append(c.messages, message("user", text))
	return c.ask()
}

// results answers the calls of the last reply, each with its text; "Error: " begins an error.
func (c *talk) results(texts ...string) reply {
	c.t.Helper()
	c.take()
	var blocks []any
	for _, b := range c.last.Content {
		if b.Type != "tool_use" {
			continue
		}
		result := map[string]any{"type": "tool_result", "tool_use_id": b.ID, "content": texts[len(blocks)]}
		if b.ToolsetName != "" {
			result["toolset_name"] = b.ToolsetName
		}
		if strings.HasPrefix(texts[len(blocks)], "Error: ") || strings.HasPrefix(texts[len(blocks)], "Not executed") {
			result["is_error"] = true
		}
		blocks = append(blocks, result)
	}
	if len(blocks) != len(texts) {
		c.t.Fatalf("%d results for %s", len(texts), c.last)
	}
	c.messages = append(c.messages, message("user", blocks))
	return c.ask()
}

func post(t *testing.T, url string, body []byte) reply {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Api-Key", "any")
	r.Header.Set("Anthropic-Version", "2023-06-01")
	return do(t, r)
}

func do(t *testing.T, r *http.Request) reply {
	t.Helper()
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	out := reply{status: response.StatusCode, header: response.Header}
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return out
}

func same(t *testing.T, got fmt.Stringer, want string) {
	t.Helper()
	if got.String() != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// findings are the texts of what was found.
func findings(s *api.Server) string {
	var texts []string
	for _, f := range s.Findings() {
		texts = append(texts, f.Text)
	}
	return strings.Join(texts, "\n")
}

func noFindings(t *testing.T, s *api.Server) {
	t.Helper()
	if got := findings(s); got != "" {
		t.Errorf("findings: %s", got)
	}
}
