package mcptools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/png"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pagehand/pagehand"
	"github.com/pagehand/pagehand/agent"
	"github.com/pagehand/pagehand/agent/mcptools"
	"github.com/pagehand/pagehand/api"
	"github.com/pagehand/pagehand/contract"
)

// asServer makes the test binary an MCP server.
const asServer = "TEST_AS_MCP_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) == "" {
		os.Exit(m.Run())
	}
	if err := newServer().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		os.Exit(1)
	}
}

type input struct {
	Text string `json:"text"`
}

func picture(side int) *mcp.ImageContent {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, side, 1))); err != nil {
		panic(err)
	}
	return &mcp.ImageContent{MIMEType: "image/png", Data: b.Bytes()}
}

func newServer() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	add := func(name string, answer func(in input) (*mcp.CallToolResult, any, error)) {
		mcp.AddTool(server, &mcp.Tool{Name: name, Description: "Does " + name + "."}, func(_ context.Context, _ *mcp.CallToolRequest, in input) (*mcp.CallToolResult, any, error) {
			return answer(in)
		})
	}
	add("echo", func(in input) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Text}, picture(10), picture(2001)}}, nil, nil
	})
	add("fail", func(in input) (*mcp.CallToolResult, any, error) { return nil, nil, errors.New("no " + in.Text) })
	add("long.one", func(input) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.Repeat("é", 60_000)}, &mcp.TextContent{Text: "more"}}}, nil, nil
	})
	add("silent", func(input) (*mcp.CallToolResult, any, error) { return &mcp.CallToolResult{}, nil, nil })
	return server
}

// connect connects to a server in memory.
func connect(t *testing.T) map[string]agent.Tool {
	ours, theirs := mcp.NewInMemoryTransports()
	session, err := newServer().Connect(t.Context(), theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	s, err := mcptools.Connect(t.Context(), "my server", ours)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	tools := map[string]agent.Tool{}
	for _, tool := range s.Tools() {
		tools[tool.Name] = tool
	}
	return tools
}

func TestTools(t *testing.T) {
	tools := connect(t)
	echo, ok := tools["my_server__echo"]
	if !ok || echo.Description != "Does echo." || !strings.Contains(string(echo.InputSchema), `"text"`) {
		t.Fatalf("tools %v", tools)
	}
	blocks, err := echo.Run(t.Context(), json.RawMessage(`{"text":"hello"}`))
	if err != nil || len(blocks) != 3 {
		t.Fatalf("%v, %v", blocks, err)
	}
	if blocks[0] != (contract.Block)(contract.Text{Text: "hello"}) || blocks[1].(contract.Image).MediaType != "image/png" {
		t.Errorf("blocks %v", blocks[:2])
	}
	if text := blocks[2].(contract.Text).Text; !strings.Contains(text, "left out") {
		t.Errorf("the image that is too large: %q", text)
	}
	if _, err := tools["my_server__fail"].Run(t.Context(), json.RawMessage(`{"text":"luck"}`)); err == nil || err.Error() != "no luck" {
		t.Errorf("an error of the tool: %v", err)
	}
	if _, err := echo.Run(t.Context(), json.RawMessage(`{"text":7}`)); err == nil {
		t.Error("input that doesn't fit is taken")
	}
	blocks, err = tools["my_server__long_one"].Run(t.Context(), json.RawMessage(`{"text":""}`))
	if err != nil || len([]rune(blocks[0].(contract.Text).Text)) > 50_100 {
		t.Errorf("a long text: %v", err)
	}
	blocks, err = tools["my_server__silent"].Run(t.Context(), json.RawMessage(`{"text":""}`))
	if err != nil || len(blocks) != 1 {
		t.Errorf("no output: %v, %v", blocks, err)
	}
}

func TestConnectFails(t *testing.T) {
	var log bytes.Buffer
	if _, err := mcptools.Connect(t.Context(), "broken", mcptools.Command("exit 1", &log)); err == nil || !strings.Contains(err.Error(), "MCP server broken") {
		t.Errorf("a program that ends: %v", err)
	}
}

// TestEnvironment sees to it that a server is not given the keys.
func TestEnvironment(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "secret-one")
	t.Setenv("JUGLOW_API_KEY", "secret-two")
	var log bytes.Buffer
	if _, err := mcptools.Connect(t.Context(), "env", mcptools.Command("env >&2; exit 1", &log)); err == nil {
		t.Fatal("connected")
	}
	if strings.Contains(log.String(), "secret-") || !strings.Contains(log.String(), "PATH=") {
		t.Errorf("environment:\n%s", log.String())
	}
}

// TestInLoop lets a scripted model use a member, a Go function and a tool of an MCP server that is another process, in one batch.
func TestInLoop(t *testing.T) {
	server, err := mcptools.Connect(t.Context(), "notes", mcptools.Command(asServer+"=1 exec "+os.Args[0], nil))
	if err != nil {
		t.Fatal(err)
	}
	own, err := agent.NewTool("list_tabs", "Not the toolset's.", func(context.Context, struct{}) (string, error) { return "mine", nil })
	if err != nil {
		t.Fatal(err)
	}
	plan, err := api.ParseScript([]byte(`
steps:
  - calls: |
      list_tabs
      > No tabs available
      /list_tabs
      > mine
      /notes__echo {"text": "hello"}
      > hello
      /notes__fail {"text": "luck"}
      ! no luck
  - end: Done.
`))
	if err != nil {
		t.Fatal(err)
	}
	local := api.New(api.Options{Script: plan})
	listener := httptest.NewServer(local)
	defer listener.Close()
	client := sdk.NewClient(option.WithoutEnvironmentDefaults(), option.WithAPIKey("k"), option.WithBaseURL(listener.URL))
	outcome, err := agent.Run(t.Context(), "Go.", agent.Options{Client: client, Model: "claude-sonnet-5", Session: noTabs{}, Tools: append(server.Tools(), own)})
	if err != nil || outcome.Answer != "Done." {
		t.Errorf("%+v, %v", outcome, err)
	}
	for _, f := range local.Findings() {
		t.Errorf("finding: %v", f)
	}
	if err := server.Close(); err != nil {
		t.Errorf("the server did not end by itself: %v", err)
	}
}

// noTabs is a session without tabs.
type noTabs struct{}

func (noTabs) Do(_ context.Context, c pagehand.Call) pagehand.Result {
	return pagehand.Result{ToolUseID: c.ID, ToolsetName: contract.ToolsetName, Content: []contract.Block{&contract.BrowserState{}}}
}
