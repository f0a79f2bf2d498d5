package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pagehand/pagehand"
	"github.com/pagehand/pagehand/contract"
)

// Tool is a tool beside the toolset: a Go function ([NewTool]), or a tool of an MCP server (package mcptools).
type Tool struct {
	// Name may be a member's, but not that of the toolset, "browser".
	Name        string
	Description string
	// InputSchema is a JSON schema of type object.
	InputSchema json.RawMessage
	// Run answers a call with text and image blocks. What its error says is told to the model. It runs where the program runs, with all
	// that the program may do, on an input that the model has chosen under the influence of pages.
	Run func(ctx context.Context, input json.RawMessage) ([]contract.Block, error)
}

// NewTool makes a tool of a function. In is a struct; its fields' json tags name the inputs and their jsonschema tags describe them. An
// input that doesn't fit is an error for the model, and the function is not called.
func NewTool[In any](name, description string, fn func(ctx context.Context, in In) (string, error)) (Tool, error) {
	schema, err := jsonschema.For[In](nil)
	if err != nil {
		return Tool{}, fmt.Errorf("agent: tool %s: %w", name, err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return Tool{}, fmt.Errorf("agent: tool %s: %w", name, err)
	}
	run := func(ctx context.Context, input json.RawMessage) ([]contract.Block, error) {
		var value any
		var in In
		if err := json.Unmarshal(input, &value); err != nil {
			return nil, fmt.Errorf("the input is not JSON: %w", err)
		}
		if err := resolved.Validate(value); err != nil {
			return nil, fmt.Errorf("the input is not what %s takes: %w", name, err)
		}
		if err := json.Unmarshal(input, &in); err != nil {
			return nil, fmt.Errorf("the input is not what %s takes: %w", name, err)
		}
		text, err := fn(ctx, in)
		if err != nil {
			return nil, err
		}
		return []contract.Block{contract.Text{Text: text}}, nil
	}
	return Tool{Name: name, Description: description, InputSchema: encode(schema), Run: run}, nil
}

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)

// declare checks the tools and writes the list of them: the toolset's entry comes last and carries the cache breakpoint, so that all of
// them are cached.
func (r *run) declare() error {
	r.tools = map[string]Tool{}
	for _, tool := range r.o.Tools {
		switch _, twice := r.tools[tool.Name]; {
		case !toolName.MatchString(tool.Name):
			return fmt.Errorf("tool %q: a name has letters, digits, _ and -, at most 128", tool.Name)
		case tool.Name == contract.ToolsetName:
			return fmt.Errorf("no tool may be named %q beside the toolset", tool.Name)
		case twice:
			return fmt.Errorf("two tools are named %q", tool.Name)
		case tool.Run == nil:
			return errors.New("tool " + tool.Name + " has no function")
		}
		r.tools[tool.Name] = tool
		var schema map[string]json.RawMessage
		if err := json.Unmarshal(tool.InputSchema, &schema); err != nil || string(schema["type"]) != `"object"` {
			return fmt.Errorf("tool %s: its input schema is not one of type object", tool.Name)
		}
		entry := sdk.ToolParam{Name: tool.Name, InputSchema: param.Override[sdk.ToolInputSchemaParam](tool.InputSchema)}
		if tool.Description != "" {
			entry.Description = sdk.String(tool.Description)
		}
		r.params.Tools = append(r.params.Tools, sdk.ToolUnionParam{OfTool: &entry})
	}
	r.params.Tools = append(r.params.Tools, sdk.ToolUnionParam{OfBrowserToolset20260801: new(toolset(r.o.Configs))})
	return nil
}

// toolset is the toolset's entry (contract §2).
func toolset(configs pagehand.Configs) sdk.BrowserToolset20260801Param {
	enabled := map[string]bool{}
	for _, name := range configs.Enabled() {
		enabled[name] = true
	}
	changed := map[string]any{}
	for _, m := range pagehand.Members() {
		if enabled[m.Name] == m.Off {
			changed[m.Name] = map[string]bool{"enabled": enabled[m.Name]}
		}
	}
	entry := sdk.BrowserToolset20260801Param{CacheControl: sdk.NewCacheControlEphemeralParam()}
	if len(changed) > 0 {
		entry.Configs = param.Override[sdk.BrowserToolsetConfigsParam](changed)
	}
	return entry
}
