// Package mcptools gives the agent loop the tools of MCP servers.
//
// Trust: a server is chosen by the operator and runs with the rights of whoever started the loop. Its answers are not trusted: they are
// bounded, and reach only the model.
package mcptools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // for the size of a GIF
	_ "image/jpeg" // for the size of a JPEG
	_ "image/png"  // for the size of a PNG
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pagehand/pagehand/agent"
	"github.com/pagehand/pagehand/contract"
)

// Server is a connected MCP server. It is safe for concurrent use.
type Server struct {
	name    string
	session *mcp.ClientSession
	tools   []agent.Tool
}

// Command is the transport to a server that a shell command starts, on its standard input and output. It gets our environment without
// the keys of the API. What it writes to standard error goes to log.
func Command(command string, log io.Writer) mcp.Transport {
	cmd := exec.Command("/bin/sh", "-c", command)
	cmd.Stderr = log
	cmd.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return name == agent.Claude.KeyVariable() || name == agent.Haijun.KeyVariable()
	})
	return &mcp.CommandTransport{Command: cmd}
}

// Connect connects to a server and lists its tools. Each is called by the server's name, "__" and its own name. Close the server.
func Connect(ctx context.Context, name string, transport mcp.Transport) (*Server, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "pagehand", Version: "1"}, nil)
	session, err := client.Connect(ctx, transport, nil)
	if err != nil {
		return nil, fmt.Errorf("MCP server %s: %w", name, err)
	}
	s := &Server{name: name, session: session}
	for tool, err := range session.Tools(ctx, nil) {
		if err == nil {
			err = s.add(tool)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("MCP server %s: its tools: %w", name, err), session.Close())
		}
	}
	return s, nil
}

// Tools are the server's tools.
func (s *Server) Tools() []agent.Tool { return slices.Clone(s.tools) }

// Close ends the connection, and a server that a command started.
func (s *Server) Close() error { return s.session.Close() }

var notInNames = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

const maxName = 128 // of a tool, by the API

func (s *Server) add(tool *mcp.Tool) error {
	schema, err := json.Marshal(tool.InputSchema)
	if err != nil {
		return err
	}
	name := notInNames.ReplaceAllString(s.name+"__"+tool.Name, "_")
	s.tools = append(s.tools, agent.Tool{
		Name:        name[:min(len(name), maxName)],
		Description: tool.Description,
		InputSchema: schema,
		Run: func(ctx context.Context, input json.RawMessage) ([]contract.Block, error) {
			return s.call(ctx, tool.Name, input)
		},
	})
	return nil
}

func (s *Server) call(ctx context.Context, tool string, input json.RawMessage) ([]contract.Block, error) {
	result, err := s.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: input})
	if err != nil {
		return nil, fmt.Errorf("the MCP server %s did not answer: %w", s.name, err)
	}
	blocks := contentBlocks(result)
	if result.IsError {
		var texts []string
		for _, b := range blocks {
			if t, ok := b.(contract.Text); ok {
				texts = append(texts, t.Text)
			}
		}
		return nil, errors.New(strings.Join(texts, " "))
	}
	return blocks, nil
}

// maxText bounds the text of a result in characters, as a page reading is bounded.
const maxText = 50_000

// contentBlocks are the texts and images of a result. What the API would not take is replaced by a line that says so.
func contentBlocks(result *mcp.CallToolResult) []contract.Block {
	var blocks []contract.Block
	left := maxText
	say := func(text string) {
		if n := utf8.RuneCountInString(text); n > left {
			text = string([]rune(text)[:left]) + "\n[cut here: the result is too long]"
		}
		left = max(0, left-utf8.RuneCountInString(text))
		if text != "" {
			blocks = append(blocks, contract.Text{Text: text})
		}
	}
	for _, c := range result.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			say(c.Text)
		case *mcp.ImageContent:
			config, format, err := image.DecodeConfig(bytes.NewReader(c.Data))
			if err != nil || !contract.FitsImage(config.Width, config.Height) || max(config.Width, config.Height) > contract.ManyImagesEdge {
				say("[an image was left out: it is too large, or not PNG, JPEG or GIF]")
				continue
			}
			blocks = append(blocks, contract.Image{MediaType: "image/" + format, Data: c.Data})
		default:
			say(fmt.Sprintf("[content of the kind %T was left out]", c))
		}
	}
	if raw, err := json.Marshal(result.StructuredContent); len(blocks) == 0 && err == nil && result.StructuredContent != nil {
		say(string(raw))
	}
	if len(blocks) == 0 {
		say("(no output)")
	}
	return blocks
}
