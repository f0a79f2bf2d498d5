// Package agent closes the loop: a task in, an answer out. It asks a model through the Anthropic Go SDK, runs the calls of each reply
// (the toolset's in a browser session, other tools' in theirs), sends the results back, and goes on until the model has answered or a
// limit is reached.
//
// A run works on one goroutine: calls, observers and questions never overlap. What happened can be kept in a recording, from which the
// run can be continued: see [Options.Resume].
//
// Trust: the model's text and the tools' results are not believed. They reach nothing but the model and the observer, who must not take
// them for instructions or for text that is safe on a terminal.
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/pagehand/pagehand"
	"github.com/pagehand/pagehand/models"
	"github.com/pagehand/pagehand/recording"
)

// Session runs one member call and answers it, whatever goes wrong. A [*pagehand.Session] is one.
type Session interface {
	Do(ctx context.Context, c pagehand.Call) pagehand.Result
}

// Options say how a run works. Client, Model and Session are needed; the zero value of everything else works.
type Options struct {
	// Client talks to the API; see [NewClient].
	Client Client
	// Model is the model's id.
	Model string
	// Facts are what is known of the model: its window, limits and price. Nil means the entry of package models, if there is one.
	Facts *models.Model

	// Session runs the toolset's calls.
	Session Session
	// Configs are the toolset entry's, and should be the session's.
	Configs pagehand.Configs
	// Tools are declared beside the toolset. They may have members' names (contract §1).
	Tools []Tool

	// System is the system prompt. Empty: none.
	System string
	// Schema is a JSON schema (draft 2020-12) that the answer must be valid against. Nil: the answer is text.
	Schema json.RawMessage
	// MaxTokens bounds each reply, in tokens. Zero: 16,384, or less where the model gives less.
	MaxTokens int64
	// MaxTurns bounds the replies. Zero: 100.
	MaxTurns int
	// TokenBudget bounds the tokens of the whole run, read, cached and written together. Zero: no bound. Budgets are checked between
	// requests, so the last reply may exceed them.
	TokenBudget int64
	// DollarBudget bounds its price in US dollars. Zero: no bound. It needs a model whose price is known.
	DollarBudget float64
	// Adjust changes what all requests have in common before the first is sent, such as the temperature. Nil: it stays.
	Adjust func(*sdk.MessageNewParams)

	// Ask hands a question of the model to a person and returns the answer; an empty one ends the run, and the question is what the
	// model answered. Nil: nobody is there, and the answer is no. See [Question].
	Ask func(ctx context.Context, q Question) (string, error)
	// Observe is told what happens as it happens. Nil: nobody is.
	Observe func(Event)
	// Recording keeps what happened. Nil: nothing is kept.
	Recording *recording.Writer
	// Resume is the recording of an earlier run, which this one continues. The session must not give out the numbers of tabs and
	// references that the earlier one gave out: see [Numbers].
	Resume []recording.Event

	// Attach adds an observation to the last result of each batch, which saves the model from asking for it.
	Attach Attachment
	// EarlyStart runs a call as soon as it has arrived, while the rest of the reply still streams (contract §1).
	EarlyStart bool
	// SerialCalls limits the model to one call a turn.
	SerialCalls bool

	// Retries is how often a request is repeated that failed in a way that may pass, beyond the SDK's own retries. Zero: 3; negative:
	// never.
	Retries int
	// RetryDelay is the pause before the first such repetition; it doubles with each. Zero: one second.
	RetryDelay time.Duration
	// Patience is how long the API may stay silent before a request counts as failed. Zero: five minutes.
	Patience time.Duration
	// Logger receives what no caller is told. Nil discards it.
	Logger *slog.Logger
}

// Reason says why a run ended: a stop reason of the API, or one of ours.
type Reason string

// The reasons. The model has answered only with the first two.
const (
	EndTurn         Reason = "end_turn"                      // the model has answered
	StopSequence    Reason = "stop_sequence"                 // one that Adjust has set
	MaxTokens       Reason = "max_tokens"                    // the answer was cut off
	Refusal         Reason = "refusal"                       // see Outcome.Refused
	ContextExceeded Reason = "model_context_window_exceeded" // the conversation doesn't fit the model's window any more
	MaxTurns        Reason = "max_turns"                     // Options.MaxTurns
	Budget          Reason = "budget"                        // Options.TokenBudget or DollarBudget
	Invalid         Reason = "invalid_answer"                // no answer was valid against Options.Schema
	Interrupted     Reason = "interrupted"                   // the context was cancelled
	Failed          Reason = "error"                         // Run returned an error
)

// Outcome is how a run ended.
type Outcome struct {
	Reason Reason
	// Answer is the text of the model's last reply; for [MaxTokens] and [ContextExceeded] it is cut off.
	Answer string
	// JSON is the answer's value when Options.Schema is set and the answer is valid.
	JSON json.RawMessage
	// Refused says why, for [Refusal].
	Refused Refused
	// Turns and Calls count the replies, and the calls that were answered.
	Turns, Calls int
	// Usage is what all requests together used.
	Usage Usage
	// Context is how full the model's window was at the end.
	Context Window
	// Took is the time from the start to the end.
	Took time.Duration
}

// Refused is why the model's safety system stopped the reply. Both may be empty.
type Refused struct{ Category, Explanation string }

// Run gives the model a task and lets it work until it has answered, a limit is reached or ctx is cancelled. With Options.Resume the
// task is what the person says next, and may be empty.
//
// The outcome is nil only when the options can't be used. An error comes with it when the API failed for good; then Reason is [Failed].
// Its text is one line without secrets; the SDK's error inside has everything, the request too.
// Everything that happened up to the end has been recorded.
func Run(ctx context.Context, task string, o Options) (*Outcome, error) {
	r, err := newRun(task, o)
	if err != nil {
		return nil, err
	}
	return r.finish(r.loop(ctx))
}

// Check says what is wrong with the options, before there is a session.
func (o Options) Check() error {
	o.Session, o.Recording, o.Resume = nobodys{}, nil, nil
	_, err := newRun("any", o)
	return err
}

// nobodys stands for a session that isn't there yet.
type nobodys struct{ Session }

// newRun checks the options and prepares the conversation.
func newRun(task string, o Options) (*run, error) {
	if o.Model == "" || o.Session == nil {
		return nil, errors.New("agent: a model and a session are needed")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Observe == nil {
		o.Observe = func(Event) {}
	}
	if o.MaxTurns == 0 {
		o.MaxTurns = 100
	}
	if o.Retries == 0 {
		o.Retries = 3
	}
	if o.RetryDelay == 0 {
		o.RetryDelay = time.Second
	}
	if o.Patience == 0 {
		o.Patience = 5 * time.Minute
	}
	facts := o.Facts
	if facts == nil {
		if known, ok := models.Lookup(o.Model); ok {
			facts = &known
		}
	}
	if o.DollarBudget > 0 && (facts == nil || !facts.Price.Known()) {
		return nil, fmt.Errorf("agent: the price of %s is not known, so a budget in dollars can't be kept", o.Model)
	}
	r := &run{o: o, started: time.Now(), meter: meter{facts: facts}}
	if err := r.prepare(task); err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	return r, nil
}
