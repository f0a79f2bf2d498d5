package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/internal/redact"
)

// reply is one reply of the model.
type reply struct {
	message  sdk.Message
	started  bool // its beginning has arrived
	stopped  map[int64]bool
	complete int   // how many of its blocks have arrived whole, from the first on: blocks may arrive side by side
	done     bool  // its end has arrived
	early    batch // the calls that were run while it streamed
	usage    Usage
}

// errCut is a stream that ended before the reply did.
var errCut = errors.New("the connection ended before the reply was complete")

// reply asks for a reply and repeats a request that failed in a way that may pass. Once a call of a broken reply has been run,
// nothing is repeated: what has arrived whole is the reply, so that no call is run twice.
func (r *run) reply(ctx context.Context) (*reply, error) {
	delay := r.o.RetryDelay
	for attempt := 0; ; attempt++ {
		reply, err := r.stream(ctx)
		switch {
		case err == nil:
			return reply, nil
		case len(reply.early.results) > 0:
			reply.message.Content = reply.message.Content[:reply.complete]
			r.note(fmt.Sprintf("The reply broke off (%s); the calls that had arrived stand.", brief(err)))
			return reply, nil
		case ctx.Err() != nil || attempt >= r.o.Retries || !passing(err):
			return nil, err
		}
		r.note(fmt.Sprintf("Asking again in %s: %s", delay, brief(err)))
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		delay *= 2
	}
}

// stream asks once and takes in what streams back. The reply is never nil.
func (r *run) stream(ctx context.Context) (*reply, error) {
	reply := &reply{stopped: map[int64]bool{}}
	request, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stream := r.o.Client.Messages.NewStreaming(request, r.request(), r.requestOptions(cancel)...)
	defer stream.Close()
	defer func() { r.spend(reply) }()
	for stream.Next() {
		event := stream.Current()
		if err := reply.misfit(event); err != nil {
			return reply, fmt.Errorf("%w: %w", errCut, err)
		}
		if event.Type == "content_block_start" && r.o.EarlyStart && r.outcome.Turns+1 < r.o.MaxTurns {
			r.startEarly(ctx, reply)
		}
		if err := reply.message.Accumulate(event); err != nil {
			return reply, fmt.Errorf("%w: %w", errCut, err)
		}
		switch event.Type {
		case "message_start":
			reply.started = true
		case "content_block_start":
			r.say(event.ContentBlock.Text)
		case "content_block_delta":
			r.say(event.Delta.Text)
		case "content_block_stop":
			for reply.stopped[event.Index] = true; reply.stopped[int64(reply.complete)]; {
				reply.complete++
			}
		case "message_stop":
			reply.done = reply.message.StopReason != ""
		}
	}
	switch err := stream.Err(); {
	case reply.done:
		reply.complete = len(reply.message.Content)
		return reply, nil
	case context.Cause(request) != nil:
		return reply, context.Cause(request)
	case err != nil:
		return reply, err
	}
	return reply, errCut
}

// misfit says why an event can't follow those before it. Nothing of what it would do to the blocks that are there must happen: calls of
// theirs may have been run.
func (p *reply) misfit(event sdk.MessageStreamEventUnion) error {
	switch {
	case event.Type == "message_start" && p.started:
		return errors.New("a second beginning")
	case event.Type == "content_block_start" && (event.Index != int64(len(p.message.Content)) || event.ContentBlock.Type == ""):
		return fmt.Errorf("a beginning of block %d that is out of place", event.Index)
	case event.Type == "content_block_start" && event.ContentBlock.Type == "tool_use" && (event.ContentBlock.ID == "" || p.has(event.ContentBlock.ID)):
		return fmt.Errorf("a call without an id of its own in block %d", event.Index)
	case strings.HasPrefix(event.Type, "content_block_") && (!p.started || p.stopped[event.Index]):
		return fmt.Errorf("an event of block %d that is out of place", event.Index)
	}
	return nil
}

func (p *reply) has(call string) bool {
	return slices.ContainsFunc(p.uses(), func(u contract.ToolUse) bool { return u.ID == call })
}

func (r *run) say(text string) {
	if text != "" {
		r.o.Observe(Said{text})
	}
}

// startEarly runs the calls that have arrived whole. It is called when another block begins: only then it is certain that the one
// before was not cut off by max_tokens.
func (r *run) startEarly(ctx context.Context, reply *reply) {
	for _, use := range callsIn(reply.message.Content[:reply.complete])[len(reply.early.results):] {
		r.call(ctx, &reply.early, use)
	}
}

// uses are the reply's calls, of the toolset and of other tools, in order.
func (p *reply) uses() []contract.ToolUse { return callsIn(p.message.Content) }

func callsIn(blocks []sdk.ContentBlockUnion) []contract.ToolUse {
	var uses []contract.ToolUse
	for _, block := range blocks {
		if block.Type == "tool_use" {
			uses = append(uses, contract.ToolUse{ID: block.ID, Name: block.Name, ToolsetName: block.ToolsetName, Input: block.Input})
		}
	}
	return uses
}

// half reports whether the last block is a call that max_tokens may have cut off: it looks whole when nothing of its input was left.
func (p *reply) half() bool {
	n := len(p.message.Content)
	limit := p.message.StopReason == sdk.StopReasonMaxTokens || p.message.StopReason == sdk.StopReasonModelContextWindowExceeded
	return limit && n > 0 && p.message.Content[n-1].Type == "tool_use"
}

// text is what the model said, its text blocks together.
func (p *reply) text() string {
	var texts []string
	for _, block := range p.message.Content {
		if block.Type == "text" && block.Text != "" {
			texts = append(texts, block.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// param is the reply as later requests send it back. The API refuses a blank text and thinking that was cut off.
func (p *reply) param() (message, error) {
	m := message{role: "assistant"}
	for _, block := range p.message.Content {
		if block.Type == "text" && strings.TrimSpace(block.Text) == "" || block.Type == "thinking" && block.Signature == "" {
			continue
		}
		raw, err := json.Marshal(block.ToParam())
		if err != nil {
			return m, fmt.Errorf("a %s block of the reply: %w", block.Type, err)
		}
		m.blocks = append(m.blocks, raw)
	}
	return m, nil
}

// whole is the API's response as it would have come without streaming.
func (p *reply) whole() json.RawMessage {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(p.message.RawJSON()), &fields); err != nil {
		fields = map[string]json.RawMessage{"type": json.RawMessage(`"message"`), "role": json.RawMessage(`"assistant"`)}
	}
	blocks := []json.RawMessage{}
	for _, block := range p.message.Content {
		blocks = append(blocks, json.RawMessage(block.RawJSON()))
	}
	fields["content"] = encode(blocks)
	return encode(fields)
}

// request is the next request.
func (r *run) request() sdk.MessageNewParams {
	params := r.params
	params.Messages = make([]sdk.MessageParam, len(r.conversation))
	for i, m := range r.conversation {
		// One breakpoint a turn, at the newest results: what was cached up to the last one is found from there.
		params.Messages[i] = param.Override[sdk.MessageParam](m.encode(i == len(r.conversation)-1 && m.role == "user"))
	}
	return params
}

func (r *run) requestOptions(cancel context.CancelCauseFunc) []option.RequestOption {
	options := []option.RequestOption{notIdle(r.o.Patience, cancel)}
	for _, beta := range r.betas {
		options = append(options, option.WithHeaderAdd("anthropic-beta", beta))
	}
	return options
}

// passing reports whether a failed request may succeed when it is repeated.
func passing(err error) bool {
	var failed *sdk.Error
	if !errors.As(err, &failed) {
		return !errors.Is(err, errRedirect) // the connection
	}
	switch failed.Type() {
	case sdk.ErrorTypeRateLimitError, sdk.ErrorTypeOverloadedError, sdk.ErrorTypeAPIError, sdk.ErrorTypeTimeoutError:
		return true
	case "":
		return failed.StatusCode >= http.StatusInternalServerError || slices.Contains([]int{http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests}, failed.StatusCode)
	}
	return false
}

// brief is an error in a few words, without secrets: the API's own type and message and not the request.
func brief(err error) string { return contract.CleanTitle(withoutSecrets(described(err))) }

// withoutSecrets takes what looks like a credential out of a text, passwords in addresses too, and every brand's key, which a server may
// repeat. It comes before a text is cut: half a key would not be found.
func withoutSecrets(text string) string {
	for _, b := range brands {
		if key := os.Getenv(b.keyVariable); b.keyVariable != "" && len(key) >= 8 { // a shorter one is none
			text = strings.ReplaceAll(text, key, redact.Mark)
		}
	}
	return redact.Text(text)
}

func described(err error) string {
	var failed *sdk.Error
	if errors.As(err, &failed) {
		var body struct {
			Error struct{ Type, Message string }
		}
		if json.Unmarshal([]byte(failed.RawJSON()), &body) == nil && body.Error.Type != "" {
			return body.Error.Type + ": " + body.Error.Message
		}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errCut
	}
	return err.Error()
}

// failure is an error that is fit to be shown and kept; its cause may hold secrets.
type failure struct {
	text  string
	cause error
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.cause }
