package agent

import (
	"encoding/json"
	"errors"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/pagehand/pagehand/check"
	"github.com/pagehand/pagehand/models"
	"github.com/pagehand/pagehand/recording"
)

// defaultMaxTokens bounds a reply.
const defaultMaxTokens = 16_384

// prepare makes the request and the conversation up to the first reply.
func (r *run) prepare(task string) error {
	most := r.o.MaxTokens
	if most == 0 {
		most = defaultMaxTokens
		if facts := r.meter.facts; facts != nil && facts.MaxOutput > 0 {
			most = min(most, int64(facts.MaxOutput))
		}
	}
	r.params = sdk.MessageNewParams{Model: sdk.Model(r.o.Model), MaxTokens: most}
	if r.o.System != "" {
		r.params.System = []sdk.TextBlockParam{{Text: r.o.System}}
	}
	if r.o.SerialCalls {
		r.params.ToolChoice = sdk.ToolChoiceUnionParam{OfAuto: &sdk.ToolChoiceAutoParam{DisableParallelToolUse: sdk.Bool(true)}}
	}
	if r.o.Schema != nil {
		var err error
		if r.answers, err = newAnswerSchema(r.o.Schema); err != nil {
			return err
		}
	}
	r.manageContext()
	r.checker = check.NewConversation(check.Options{Betas: r.betas, Models: r.lookup})
	if err := r.declare(); err != nil {
		return err
	}
	if r.o.Adjust != nil {
		r.o.Adjust(&r.params)
	}
	if err := r.recordRequest(); err != nil {
		return err
	}
	return r.open(task)
}

// lookup tells the checker what is known of the model.
func (r *run) lookup(id string) (models.Model, bool) {
	if facts := r.meter.facts; facts != nil && id == r.o.Model {
		return *facts, true
	}
	return models.Lookup(id)
}

// open begins the conversation, or takes up an earlier one.
func (r *run) open(task string) error {
	if r.o.Resume != nil {
		if err := r.resume(); err != nil {
			return err
		}
	}
	if task == "" {
		if len(r.conversation) == 0 {
			return errors.New("there is no task")
		}
		return nil
	}
	texts := []string{task}
	if r.answers != nil {
		texts = append(texts, r.answers.request())
	}
	return r.add(userText(texts...))
}

// recordRequest records what all requests from here on have in common.
func (r *run) recordRequest() error {
	raw, err := json.Marshal(r.params)
	if err != nil {
		return err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return err
	}
	delete(fields, "messages")
	if len(r.betas) > 0 {
		fields["betas"] = encode(r.betas)
	}
	request := encode(fields)
	delete(fields, "betas") // they are headers
	r.complain(r.checker.SetRequest(encode(fields)))
	return r.record(recording.Event{Type: recording.TypeRequest, Request: request})
}
