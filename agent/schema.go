package agent

import (
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pagehand/pagehand/contract"
)

// answerSchema is what the answer must be valid against.
type answerSchema struct {
	source   json.RawMessage
	resolved *jsonschema.Resolved
}

func newAnswerSchema(source json.RawMessage) (*answerSchema, error) {
	var schema jsonschema.Schema
	if err := json.Unmarshal(source, &schema); err != nil {
		return nil, fmt.Errorf("the schema of the answer: %w", err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("the schema of the answer: %w", err)
	}
	return &answerSchema{source, resolved}, nil
}

// request says in the task what the answer must be like. The API's own structured output is not asked for yet: it would hold for every
// text, and a model that can only write such JSON can't ask a question in the middle of the task.
func (s *answerSchema) request() string {
	return "When you are done, answer with one JSON value and nothing else, without a code fence. It must be valid against this JSON schema:\n" + string(s.source)
}

// parse reads the answer; the error says what is not valid.
func (s *answerSchema) parse(answer string) (json.RawMessage, error) {
	text := strings.TrimSpace(answer)
	if inner, ok := strings.CutPrefix(text, "```"); ok {
		text = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(inner, "json"), "```"))
	}
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	if err := s.resolved.Validate(value); err != nil {
		return nil, err
	}
	return json.RawMessage(text), nil
}

// maxReasks is how often an answer that isn't valid is sent back.
const maxReasks = 2

// checkAnswer ends the run with a valid answer, or sends one that isn't back and lets the API see to its form.
func (r *run) checkAnswer() (*message, Reason, error) {
	value, err := r.answers.parse(r.outcome.Answer)
	if err == nil {
		r.outcome.JSON = value
		return nil, EndTurn, nil
	}
	if r.reasked == maxReasks {
		return nil, Invalid, nil
	}
	r.reasked++
	var schema map[string]any
	if err := json.Unmarshal(r.answers.source, &schema); err == nil { // true and false are schemas too
		r.params.OutputConfig = sdk.OutputConfigParam{Format: sdk.JSONOutputFormatParam{Schema: schema}}
		if err := r.recordRequest(); err != nil {
			return nil, "", err
		}
	}
	why := contract.CleanField(err.Error())
	r.note("The answer is not valid and is asked for again: " + why)
	return new(userText("Your answer is not valid: " + why + "\n" + r.answers.request())), "", nil
}
