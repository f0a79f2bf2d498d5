package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/pagehand/pagehand/anthropic"
	"github.com/pagehand/pagehand/api"
)

func client(url string, retries int) sdk.Client {
	return sdk.NewClient(option.WithoutEnvironmentDefaults(), option.WithBaseURL(url), option.WithAPIKey("any"), option.WithMaxRetries(retries))
}

func params(task string) sdk.MessageNewParams {
	return sdk.MessageNewParams{
		Model: "claude-sonnet-5", MaxTokens: 4096, StopSequences: []string{"STOP"},
		Tools:    []sdk.ToolUnionParam{anthropic.Tool(), sdk.ToolUnionParamOfTool(sdk.ToolInputSchemaParam{}, "get_weather")},
		Messages: []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock(task))},
	}
}

// deliver asks for a message in one of the two ways.
var deliver = map[string]func(sdk.Client, sdk.MessageNewParams) (*sdk.Message, error){
	"whole": func(c sdk.Client, p sdk.MessageNewParams) (*sdk.Message, error) {
		return c.Messages.New(context.Background(), p)
	},
	"streamed": func(c sdk.Client, p sdk.MessageNewParams) (*sdk.Message, error) {
		stream := c.Messages.NewStreaming(context.Background(), p)
		defer stream.Close()
		var m sdk.Message
		for stream.Next() {
			if err := m.Accumulate(stream.Current()); err != nil {
				return nil, err
			}
		}
		return &m, stream.Err()
	},
}

func TestSDK(t *testing.T) {
	for way, ask := range deliver {
		t.Run(way, func(t *testing.T) {
			server, url := serve(t, twoTurns)
			c, p := client(url, 0), params("Look.")
			answers := map[string]string{"read_page": reading, "key": "Error: gone"}
			var said []string
			for {
				m, err := ask(c, p)
				if err != nil {
					t.Fatal(err)
				}
				if m.Usage.InputTokens < 6000 || m.Usage.OutputTokens < 1 {
					t.Errorf("usage %s", m.Usage.RawJSON())
				}
				p.Messages = append(p.Messages, m.ToParam())
				var results []sdk.ContentBlockParamUnion
				for _, b := range m.Content {
					switch b.Type {
					case "text":
						said = append(said, b.Text)
					case "tool_use":
						answer, ok := answers[b.Name]
						if !ok {
							answer = "Done: " + string(b.Input)
						}
						said = append(said, b.Name+" "+string(b.Input))
						result := sdk.ToolResultBlockParam{ToolUseID: b.ID, Content: []sdk.ToolResultBlockParamContentUnion{{OfText: &sdk.TextBlockParam{Text: answer}}}}
						if b.ToolsetName != "" {
							result.ToolsetName = sdk.String(b.ToolsetName)
						}
						if strings.HasPrefix(answer, "Error: ") {
							result.IsError = sdk.Bool(true)
						}
						results = append(results, sdk.ContentBlockParamUnion{OfToolResult: &result})
					}
				}
				if m.StopReason != sdk.StopReasonToolUse {
					break
				}
				p.Messages = append(p.Messages, sdk.NewUserMessage(results...))
			}
			const want = `I look.;read_page {};get_weather {"city":"Oslo"};left_click {"target":{"type":"ref","ref":"ref_9"}};type {"text":"a"};key {"text":"Enter"};Done.`
			got := strings.Join(said, ";")
			if got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			noFindings(t, server)
		})
	}
}

// TestErrors plays each error of the API, and has the SDK repeat those that it repeats.
func TestErrors(t *testing.T) {
	for _, test := range []struct {
		fault   string
		status  int
		kind    sdk.ErrorType
		retried bool
	}{
		{"invalid_request", 400, sdk.ErrorTypeInvalidRequestError, false},
		{"authentication", 401, sdk.ErrorTypeAuthenticationError, false},
		{"billing", 402, sdk.ErrorTypeBillingError, false},
		{"permission", 403, sdk.ErrorTypePermissionError, false},
		{"not_found", 404, sdk.ErrorTypeNotFoundError, false},
		{"request_too_large", 413, "request_too_large", false},
		{"rate_limit", 429, sdk.ErrorTypeRateLimitError, true},
		{"api_error", 500, sdk.ErrorTypeAPIError, true},
		{"timeout", 504, sdk.ErrorTypeTimeoutError, true},
		{"overloaded_error", 529, sdk.ErrorTypeOverloadedError, true},
	} {
		t.Run(test.fault, func(t *testing.T) {
			t.Parallel()
			_, url := serve(t, "steps:\n  - fault: "+test.fault+"\n    retry_after: 1\n    times: 3\n  - end: Done.\n")
			once := client(url, 0)
			_, err := once.Messages.New(context.Background(), params("Go."))
			var failed *sdk.Error
			if !errors.As(err, &failed) {
				t.Fatal(err)
			}
			if failed.StatusCode != test.status || failed.Type() != test.kind || failed.RequestID != "req_00000001" {
				t.Errorf("got %d %s %s", failed.StatusCode, failed.Type(), failed.RequestID)
			}
			var body struct {
				RequestID string `json:"request_id"`
			}
			if err := json.Unmarshal([]byte(failed.RawJSON()), &body); err != nil || body.RequestID != failed.RequestID {
				t.Errorf("request id %q in %s", body.RequestID, failed.RawJSON())
			}
			if got := failed.Response.Header.Get("Retry-After"); got != "1" {
				t.Errorf("Retry-After %q", got)
			}
			quick := option.WithMiddleware(func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
				response, err := next(r)
				if err == nil {
					response.Header.Set("Retry-After-Ms", "1") // the SDK prefers it
				}
				return response, err
			})
			c := client(url, 2)
			m, err := c.Messages.New(context.Background(), params("Go."), quick)
			if test.retried != (err == nil) {
				t.Errorf("after retries: %v, %v", m, err)
			}
		})
	}
}

func TestCutStream(t *testing.T) {
	const script = `
steps:
  - fault: cut_stream
    after: 1
  - calls: |
      # I look.
      screenshot
      wait {"duration": 1}
  - fault: cut_stream
  - end: Done with everything there was.
`
	server, url := serve(t, script)
	c := client(url, 0)
	stream := c.Messages.NewStreaming(context.Background(), params("Go."))
	var got []string
	for stream.Next() {
		got = append(got, stream.Current().Type)
	}
	if err := stream.Err(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v", err)
	}
	if joined := strings.Join(got, " "); joined != "message_start content_block_start content_block_delta content_block_stop content_block_start" {
		t.Errorf("events %s", joined)
	}
	m, err := deliver["streamed"](c, params("Go."))
	if err != nil || len(m.Content) != 3 || !strings.HasSuffix(m.Content[1].ID, "_1a1") {
		t.Fatalf("%v: %+v", err, m)
	}
	noFindings(t, server)
	for _, way := range []string{"whole", "streamed"} {
		_, url := serve(t, "steps:\n  - fault: cut_stream\n  - end: Done.\n")
		if _, err := deliver[way](client(url, 0), params("Go.")); err == nil {
			t.Errorf("%s: no error", way)
		}
	}
}

func TestErrorEvent(t *testing.T) {
	for way, ask := range deliver {
		_, url := serve(t, "steps:\n  - fault: error_event\n    error: api_error\n  - calls: |\n      # Hm.\n      screenshot\n")
		_, err := ask(client(url, 0), params("Go."))
		var failed *sdk.Error
		if !errors.As(err, &failed) || failed.Type() != sdk.ErrorTypeAPIError {
			t.Errorf("%s: %v", way, err)
		}
		if m, err := ask(client(url, 0), params("Go.")); err != nil || len(m.Content) != 2 {
			t.Errorf("%s, again: %v", way, err)
		}
	}
}

func TestSlow(t *testing.T) {
	_, url := serve(t, "steps:\n  - fault: slow\n    pings: 4\n    every: 1ms\n  - end: Done.\n")
	response := postRaw(t, url, begin(t, url, "Go."), true)
	if n := strings.Count(response, "event: ping\n"); n != 5 {
		t.Errorf("%d pings in\n%s", n, response)
	}
	for way, ask := range deliver {
		_, url := serve(t, "steps:\n  - fault: slow\n    every: 1ms\n  - end: Done.\n")
		if m, err := ask(client(url, 0), params("Go.")); err != nil || m.Content[0].Text != "Done." {
			t.Errorf("%s: %v", way, err)
		}
	}
}

func TestStopReasons(t *testing.T) {
	for _, test := range []struct {
		fault, reason, text, sequence string
		back                          bool // the turn is sent back
	}{
		{"max_tokens", "max_tokens", "Done with everyt", "", true},
		{"context_window", "model_context_window_exceeded", "Done with everyt", "", false},
		{"model_context_window_exceeded", "model_context_window_exceeded", "Done with everyt", "", true},
		{"pause_turn\n    says: Wait.", "pause_turn", "Wait.", "", true},
		{"refusal", "refusal", "", "", false},
		{"refusal\n    says: I won't.", "refusal", "I won't.", "", false},
		{"stop_sequence", "stop_sequence", "So far so good.", "STOP", true},
		{"stop_sequence\n    sequence: END", "stop_sequence", "So far so good.", "END", true},
	} {
		for way, ask := range deliver {
			t.Run(test.fault+" "+way, func(t *testing.T) {
				server, url := serve(t, "steps:\n  - fault: "+test.fault+"\n  - end: Done with everything there was.\n")
				c, p := client(url, 0), params("Go.")
				m, err := ask(c, p)
				if err != nil {
					t.Fatal(err)
				}
				var text string
				for _, b := range m.Content {
					text += b.Text
				}
				if string(m.StopReason) != test.reason || text != test.text || m.StopSequence != test.sequence {
					t.Errorf("got %s %q %q", m.StopReason, text, m.StopSequence)
				}
				if (m.StopDetails.Type == "refusal") != (test.reason == "refusal") {
					t.Errorf("stop details %s", m.StopDetails.RawJSON())
				}
				if test.back {
					p.Messages = append(p.Messages, m.ToParam())
				}
				if test.back && test.reason != "pause_turn" {
					p.Messages = append(p.Messages, sdk.NewUserMessage(sdk.NewTextBlock("Go on.")))
				}
				if m, err = ask(c, p); err != nil || m.Content[0].Text != "Done with everything there was." || m.StopReason != sdk.StopReasonEndTurn {
					t.Errorf("then %+v, %v", m, err)
				}
				noFindings(t, server)
			})
		}
	}
}

func TestPausedTurnLost(t *testing.T) {
	server, url := serve(t, "steps:\n  - fault: pause_turn\n  - end: Done.\n")
	c := begin(t, url, "Go.")
	same(t, c.ask(), "This takes a while; I go on in a moment. | [pause_turn]")
	same(t, c.ask(), "Done. | [end_turn]")
	if got := findings(server); got != "line 2: the paused turn was not sent back as it was" {
		t.Errorf("findings %s", got)
	}
}

// TestMaxTokensInACall cuts the last call off. It is made again once the client goes on.
func TestMaxTokensInACall(t *testing.T) {
	for way, ask := range deliver {
		server, url := serve(t, "steps:\n  - fault: max_tokens\n  - calls: |\n      # I look.\n      screenshot\n      /get_weather {\"city\": \"Oslo, the capital\"}\n  - end: Done.\n")
		m, err := ask(client(url, 0), params("Go."))
		if err != nil || len(m.Content) != 3 || m.StopReason != sdk.StopReasonMaxTokens || string(m.Content[2].Input) != "{}" {
			t.Errorf("%s: %v, %+v", way, err, m)
		}
		c := begin(t, url, "Go.")
		c.last.Content = []block{{Type: "text", Text: "I look."}, {Type: "tool_use", ID: m.Content[2].ID, Name: "get_weather", Input: json.RawMessage("{}")}}
		same(t, c.results("Error: cut off"), `get_weather {"city":"Oslo, the capital"} | [tool_use]`)
		same(t, c.results("rain"), `Done. | [end_turn]`)
		noFindings(t, server)
	}
}

func TestModels(t *testing.T) {
	_, url := serve(t, "steps: []")
	c := client(url, 0)
	pages := c.Models.ListAutoPaging(context.Background(), sdk.ModelListParams{Limit: sdk.Int(5)})
	n, toolset := 0, false
	for pages.Next() {
		n++
		toolset = toolset || pages.Current().ID == "claude-sonnet-5"
	}
	if pages.Err() != nil || n < 10 || !toolset {
		t.Errorf("%d models, %v", n, pages.Err())
	}
	m, err := c.Models.Get(context.Background(), "claude-sonnet-5", sdk.ModelGetParams{})
	if err != nil || m.DisplayName != "Claude Sonnet 5" || m.MaxInputTokens != 1_000_000 {
		t.Errorf("%+v, %v", m, err)
	}
	_, err = c.Models.Get(context.Background(), "gpt-7", sdk.ModelGetParams{})
	var failed *sdk.Error
	if !errors.As(err, &failed) || failed.Type() != sdk.ErrorTypeNotFoundError {
		t.Errorf("an unknown model: %v", err)
	}
	back, err := c.Models.List(context.Background(), sdk.ModelListParams{Limit: sdk.Int(2), BeforeID: sdk.String("claude-sonnet-5")})
	if err != nil || len(back.Data) != 2 || !back.HasMore || back.Data[1].ID != "claude-sonnet-5-5" {
		t.Errorf("before: %+v, %v", back, err)
	}
}

func TestCountTokens(t *testing.T) {
	server, url := serve(t, "steps: []")
	count := func(p sdk.MessageCountTokensParams) int64 {
		t.Helper()
		p.Model = "claude-sonnet-5"
		c := client(url, 0)
		n, err := c.Messages.CountTokens(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		return n.InputTokens
	}
	user := func(text string) []sdk.MessageParam {
		return []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock(text))}
	}
	if got := count(sdk.MessageCountTokensParams{Messages: user(strings.Repeat("word ", 80))}); got != 104 {
		t.Errorf("400 bytes are %d tokens", got)
	}
	entry := sdk.MessageCountTokensToolUnionParam{OfBrowserToolset20260801: &sdk.BrowserToolset20260801Param{}}
	plain := count(sdk.MessageCountTokensParams{Messages: user("Go."), Tools: []sdk.MessageCountTokensToolUnionParam{entry}})
	if plain != 6615 {
		t.Errorf("the toolset is %d tokens", plain)
	}
	noFindings(t, server)
	if len(server.Transcripts()) != 0 {
		t.Error("counting began a conversation")
	}
}

// TestCache counts what a marked beginning has in common with the one of the request before.
func TestCache(t *testing.T) {
	_, url := serve(t, twoTurns)
	c, p := client(url, 0), params("Look.")
	p.CacheControl = sdk.CacheControlEphemeralParam{}
	p.Tools[0].OfBrowserToolset20260801.CacheControl = sdk.NewCacheControlEphemeralParam()
	mark := func() {
		blocks := p.Messages[len(p.Messages)-1].Content
		for i := range p.Messages {
			for j := range p.Messages[i].Content {
				if r := p.Messages[i].Content[j].OfToolResult; r != nil {
					r.CacheControl = sdk.CacheControlEphemeralParam{}
				}
			}
		}
		if r := blocks[len(blocks)-1].OfToolResult; r != nil {
			r.CacheControl = sdk.NewCacheControlEphemeralParam()
		}
	}
	first, err := c.Messages.New(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if u := first.Usage; u.CacheReadInputTokens != 0 || u.CacheCreationInputTokens != 6610 || u.InputTokens == 0 {
		t.Errorf("usage %s", u.RawJSON())
	}
	p.Messages = append(p.Messages, first.ToParam(), sdk.NewUserMessage(
		sdk.ContentBlockParamUnion{OfToolResult: &sdk.ToolResultBlockParam{ToolUseID: first.Content[1].ID, ToolsetName: sdk.String("browser"), Content: []sdk.ToolResultBlockParamContentUnion{{OfText: &sdk.TextBlockParam{Text: reading}}}}},
		sdk.NewToolResultBlock(first.Content[2].ID, "rain", false)))
	mark()
	second, err := c.Messages.New(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if u := second.Usage; u.CacheReadInputTokens != 6610 || u.CacheCreationInputTokens == 0 || u.InputTokens != 0 {
		t.Errorf("usage %s", u.RawJSON())
	}
	third, err := c.Messages.New(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if u := third.Usage; u.CacheCreationInputTokens != 0 || u.CacheReadInputTokens != second.Usage.CacheReadInputTokens+second.Usage.CacheCreationInputTokens {
		t.Errorf("usage %s", u.RawJSON())
	}
}

func TestUnknownModel(t *testing.T) {
	server, url := serveWith(t, api.Options{})
	p := params("Go.")
	p.Model = "claude-opus-99"
	c := client(url, 0)
	_, err := c.Messages.New(context.Background(), p)
	var failed *sdk.Error
	if !errors.As(err, &failed) || failed.Type() != sdk.ErrorTypeNotFoundError {
		t.Errorf("got %v", err)
	}
	if len(server.Findings()) == 0 {
		t.Error("no finding")
	}
}
