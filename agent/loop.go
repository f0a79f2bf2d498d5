package agent

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/pagehand/pagehand/check"
	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/recording"
	"github.com/pagehand/pagehand/script"
)

// run is a run as it goes on.
type run struct {
	o       Options
	started time.Time
	meter   meter

	params  sdk.MessageNewParams // of every request, without its messages
	betas   []string
	tools   map[string]Tool
	answers *answerSchema // nil: text

	conversation []message
	checker      *check.Conversation
	refs         script.Resolver // what refs were called when they were read
	shrunk       int             // the messages before this one have been shrunk
	denied       bool            // a question was answered because nobody is there
	reasked      int             // how often an answer that is not valid was sent back
	outcome      Outcome
}

// loop asks and answers until the run ends.
func (r *run) loop(ctx context.Context) (Reason, error) {
	for {
		if reason := r.exhausted(); reason != "" {
			return reason, nil
		}
		if ctx.Err() != nil {
			return Interrupted, nil
		}
		r.prune()
		r.o.Observe(TurnStarted{r.outcome.Turns + 1})
		reply, err := r.reply(ctx)
		switch {
		case err != nil && ctx.Err() != nil:
			return Interrupted, nil
		case err != nil:
			return Failed, err
		}
		reason, err := r.take(ctx, reply)
		if reason != "" || err != nil {
			return reason, err
		}
	}
}

// take takes a reply into the conversation and answers it. A reason ends the run.
func (r *run) take(ctx context.Context, reply *reply) (Reason, error) {
	r.outcome.Turns++
	stop := Reason(reply.message.StopReason)
	if err := r.keepReply(reply); err != nil {
		return Failed, err
	}
	uses := reply.uses()
	if stop != Refusal && len(uses) > 0 {
		if err := r.add(r.answer(ctx, reply, uses)); err != nil {
			return Failed, err
		}
		full := stop == ContextExceeded && !r.shrinkOld(1)
		r.endTurn(reply, len(uses), full)
		if full {
			return ContextExceeded, nil
		}
		return "", nil
	}
	r.outcome.Answer = reply.text()
	next, reason, err := r.conclude(ctx, stop, reply)
	if err == nil && next != nil {
		err = r.add(*next)
	}
	if err != nil {
		reason = Failed
	}
	r.endTurn(reply, 0, reason != "")
	return reason, err
}

// conclude decides what follows a reply that asks for no call: a message from us, another request as it is, or the run's end.
func (r *run) conclude(ctx context.Context, stop Reason, reply *reply) (*message, Reason, error) {
	switch stop {
	case "pause_turn":
		return nil, "", nil // the API goes on where it paused
	case Refusal:
		details := reply.message.StopDetails
		r.outcome.Refused = Refused{string(details.Category), details.Explanation}
		return nil, Refusal, nil
	case MaxTokens, ContextExceeded:
		return nil, stop, nil
	}
	if question, ok := questionIn(r.outcome.Answer); ok && r.exhausted() == "" {
		answer, err := r.ask(ctx, question)
		switch {
		case ctx.Err() != nil:
			return nil, Interrupted, nil
		case err != nil:
			return nil, Failed, err
		case answer != "":
			return new(userText(answer)), "", nil
		}
	}
	if r.answers != nil {
		return r.checkAnswer()
	}
	return nil, stop, nil
}

// exhausted says which limit of the run is reached; empty: none.
func (r *run) exhausted() Reason {
	switch used := r.outcome.Usage; {
	case r.outcome.Turns >= r.o.MaxTurns:
		return MaxTurns
	case r.o.TokenBudget > 0 && used.Total() >= r.o.TokenBudget, r.o.DollarBudget > 0 && used.Dollars >= r.o.DollarBudget:
		return Budget
	}
	return ""
}

func (r *run) endTurn(reply *reply, calls int, final bool) {
	r.o.Observe(TurnEnded{N: r.outcome.Turns, Calls: calls, Final: final, Usage: reply.usage, Context: r.meter.window()})
}

// keepReply takes a reply into the conversation and the recording.
func (r *run) keepReply(reply *reply) error {
	if err := r.record(recording.Event{Type: recording.TypeMessage, Message: reply.whole()}); err != nil {
		return err
	}
	m, err := reply.param()
	if err != nil || len(m.blocks) == 0 {
		return err
	}
	r.join(m)
	return nil
}

// add takes a message of ours into the conversation and the recording.
func (r *run) add(m message) error {
	r.join(m)
	return r.record(recording.Event{Type: recording.TypeMessage, Message: m.encode(false)})
}

// join takes a message into the conversation, and returns what the API would have against it.
func (r *run) join(m message) []check.Finding {
	r.conversation = append(r.conversation, m)
	findings := r.checker.Add(m.encode(false))
	r.complain(findings)
	return findings
}

// complain tells the operator what the API would reject: it is an error of ours.
func (r *run) complain(findings []check.Finding) {
	for _, f := range findings {
		level := slog.LevelError
		if f.Warning {
			level = slog.LevelWarn
		}
		r.o.Logger.Log(context.Background(), level, "a message of this run breaks the contract", "finding", f.String())
	}
}

func (r *run) record(e recording.Event) error {
	if r.o.Recording == nil {
		return nil
	}
	return r.o.Recording.Write(e)
}

// note tells the observer and the recording.
func (r *run) note(text string) {
	r.o.Observe(Noted{text})
	if err := r.record(recording.Event{Type: recording.TypeNote, Note: text}); err != nil {
		r.o.Logger.Error("a note was not recorded", "note", text, "cause", err)
	}
}

// finish closes the books.
func (r *run) finish(reason Reason, cause error) (*Outcome, error) {
	r.outcome.Reason = reason
	r.outcome.Took = time.Since(r.started)
	r.outcome.Context = r.meter.window()
	used := r.outcome.Usage
	end := recording.End{
		Reason: string(reason), Turns: r.outcome.Turns, Calls: r.outcome.Calls,
		InputTokens: used.Input, CacheReadTokens: used.CacheRead, CacheWriteTokens: used.CacheWrite, OutputTokens: used.Output,
		CostUSD: used.Dollars,
	}
	if cause != nil {
		end.Error = brief(cause)
		cause = &failure{end.Error, cause}
	}
	err := r.record(recording.Event{Type: recording.TypeEnd, End: &end})
	return &r.outcome, errors.Join(cause, err)
}

// message is one message of the conversation. Its blocks are encoded once, since screenshots are large and every request sends them all.
type message struct {
	role   string
	blocks []json.RawMessage
}

func userText(texts ...string) message {
	m := message{role: "user"}
	for _, text := range texts {
		m.blocks = append(m.blocks, encode(contract.Text{Text: text}))
	}
	return m
}

// encode writes the message as the API takes it; marked, with a cache breakpoint at its end.
func (m message) encode(marked bool) json.RawMessage {
	var b strings.Builder
	b.WriteString(`{"role":"` + m.role + `","content":[`)
	for i, block := range m.blocks {
		if i > 0 {
			b.WriteByte(',')
		}
		if marked && i == len(m.blocks)-1 {
			b.Write(block[:len(block)-1])
			b.WriteString(`,"cache_control":{"type":"ephemeral"}}`)
			continue
		}
		b.Write(block)
	}
	b.WriteString(`]}`)
	return json.RawMessage(b.String())
}

// encode is the JSON of a block of ours, which always has one.
func encode(v any) json.RawMessage {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic(err)
	}
	return json.RawMessage(strings.TrimSuffix(b.String(), "\n"))
}
