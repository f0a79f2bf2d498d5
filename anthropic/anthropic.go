// Package anthropic joins Pagehand with the Anthropic Go SDK: it takes the SDK's assistant message and gives the SDK's tool_result
// blocks, so that a program which already talks to the API needs a few lines more:
//
//	params.Tools = append(params.Tools, anthropic.Tool())
//	…
//	results := anthropic.RunTurn(ctx, session, message)
//	params.Messages = append(params.Messages, message.ToParam(), sdk.NewUserMessage(results...))
//
// A session that has other members than the defaults is declared with the same configs, so that the model knows what it may call:
//
//	configs, err := pagehand.Configs{}.Enable("read_console")
//	session, err := browser.NewSession(ctx, &pagehand.SessionOptions{Configs: configs})
//	params.Tools = append(params.Tools, anthropic.Tool(configs))
//
// It keeps no state. The core does not need the SDK; only this package imports it.
package anthropic

import (
	"context"
	"encoding/base64"
	"encoding/json"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/pagehand/pagehand"
	"github.com/pagehand/pagehand/contract"
)

// Tool is the toolset entry to declare in a request: with the default members, or with those that configs, one at most, leave enabled
// (contract §2). Give it what the session was given.
func Tool(configs ...pagehand.Configs) sdk.ToolUnionParam {
	entry := &sdk.BrowserToolset20260801Param{}
	for _, c := range configs {
		raw, err := json.Marshal(c)
		if err == nil {
			err = json.Unmarshal(raw, &entry.Configs)
		}
		if err != nil {
			panic(err) // names of members and booleans, in both
		}
	}
	return sdk.ToolUnionParam{OfBrowserToolset20260801: entry}
}

// Calls picks the toolset's member calls out of an assistant message, in order. Other tools' calls, also those with a member's name,
// are the application's.
func Calls(message *sdk.Message) []pagehand.Call {
	var calls []pagehand.Call
	for _, block := range message.Content {
		if block.Type != "tool_use" || block.ToolsetName != contract.ToolsetName {
			continue
		}
		use := block.AsToolUse()
		calls = append(calls, pagehand.Call{ID: use.ID, Name: use.Name, ToolsetName: use.ToolsetName, Input: use.Input})
	}
	return calls
}

// RunTurn runs the member calls of an assistant message and gives a tool_result for each, in order, for the next user message. An
// application adds the results of its other tools to the same message (contract §1). Without member calls it returns nil.
func RunTurn(ctx context.Context, s *pagehand.Session, message *sdk.Message) []sdk.ContentBlockParamUnion {
	var blocks []sdk.ContentBlockParamUnion
	for _, r := range s.RunTurn(ctx, Calls(message)) {
		result := Result(r)
		blocks = append(blocks, sdk.ContentBlockParamUnion{OfToolResult: &result})
	}
	return blocks
}

// Result turns a result into the SDK's type.
func Result(r pagehand.Result) sdk.ToolResultBlockParam {
	out := sdk.ToolResultBlockParam{ToolUseID: r.ToolUseID, ToolsetName: sdk.String(r.ToolsetName)}
	if r.IsError {
		out.IsError = sdk.Bool(true)
	}
	for _, block := range r.Content {
		out.Content = append(out.Content, content(block))
	}
	return out
}

func content(block contract.Block) sdk.ToolResultBlockParamContentUnion {
	switch b := block.(type) {
	case contract.Text:
		return sdk.ToolResultBlockParamContentUnion{OfText: &sdk.TextBlockParam{Text: b.Text}}
	case contract.Image:
		source := sdk.Base64ImageSourceParam{MediaType: sdk.Base64ImageSourceMediaType(b.MediaType), Data: base64.StdEncoding.EncodeToString(b.Data)}
		return sdk.ToolResultBlockParamContentUnion{OfImage: &sdk.ImageBlockParam{Source: sdk.ImageBlockParamSourceUnion{OfBase64: &source}}}
	case *contract.BrowserState:
		return sdk.ToolResultBlockParamContentUnion{OfBrowserState: state(b)}
	}
	panic("anthropic: a block of a kind that results do not have")
}

func state(s *contract.BrowserState) *sdk.BrowserStateBlockParam {
	out := &sdk.BrowserStateBlockParam{Tabs: []sdk.BrowserStateTabEntryParam{}} // an empty inventory is written, not left out
	for _, t := range s.Tabs {
		entry := sdk.BrowserStateTabEntryParam{TabID: t.TabID, Title: t.Title, URL: t.URL}
		if t.Active {
			entry.Active = sdk.Bool(true)
		}
		out.Tabs = append(out.Tabs, entry)
	}
	for _, c := range s.StateChanges {
		out.StateChanges = append(out.StateChanges, change(c))
	}
	return out
}

func change(c contract.StateChange) sdk.BrowserStateChangeUnionParam {
	switch c.Type {
	case contract.TabOpened:
		return sdk.BrowserStateChangeUnionParam{OfTabOpened: &sdk.BrowserStateChangeTabOpenedParam{TabID: c.TabID}}
	case contract.DownloadStarted:
		return sdk.BrowserStateChangeUnionParam{OfDownloadStarted: &sdk.BrowserStateChangeDownloadStartedParam{DownloadID: c.DownloadID, URL: c.URL}}
	case contract.DownloadCompleted:
		done := &sdk.BrowserStateChangeDownloadCompletedParam{DownloadID: c.DownloadID, URL: c.URL}
		if c.Path != "" {
			done.Path = sdk.String(c.Path)
		}
		if c.SizeBytes != nil {
			done.SizeBytes = sdk.Int(*c.SizeBytes)
		}
		return sdk.BrowserStateChangeUnionParam{OfDownloadCompleted: done}
	case contract.DownloadFailed:
		failed := &sdk.BrowserStateChangeDownloadFailedParam{DownloadID: c.DownloadID, URL: c.URL}
		if c.Error != "" {
			failed.Error = sdk.String(c.Error)
		}
		return sdk.BrowserStateChangeUnionParam{OfDownloadFailed: failed}
	}
	panic("anthropic: a state change of a kind that does not exist")
}
