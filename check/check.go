// Package check is the API's half of the toolset's contract: it says what the API would reject in a request, what an executor owes
// beyond that, and what the model reads of each result. It uses no browser and no network.
//
// Everything is a [Finding] of a [Rule]; [Rules] lists them. A rule is an error when the API rejects the request for it
// (contract §2, §5 and §7), and a warning when the API lets it pass but the contract asks for something else: what the executor owes
// to the model, such as the halt text after a failure.
//
// [Request] checks the body of a Messages request, [Any] also a list of messages and a recording. A [Conversation] is checked message
// by message, and renders what the model reads of it (contract §6).
//
// Concurrency: functions are safe for concurrent use; a [Conversation] belongs to one goroutine at a time.
//
// Trust: nothing. Time and memory are linear in the input, which the caller bounds. What is nested deeper than 1,000 levels is refused;
// of an input at most 1,000 errors and 1,000 warnings are listed, each quoting at most a line. What the model reads is given as it is, with
// whatever control characters a page or an executor put there.
package check

import (
	"fmt"

	"github.com/pagehand/pagehand/models"
)

// Finding is one place where a rule is broken.
type Finding struct {
	// Rule is the id of the rule.
	Rule string `json:"rule"`
	// Path is the place, such as "messages[3].content[1].content[0].tabs". Empty means the whole input.
	Path string `json:"path"`
	// Got says what is there, Want what must be there. Each is one line.
	Got  string `json:"got"`
	Want string `json:"want"`
	// Warning tells that the API does not reject the request for it.
	Warning bool `json:"warning,omitempty"`
}

// String is the finding as one line.
func (f Finding) String() string {
	kind, path := "error", f.Path
	if f.Warning {
		kind = "warning"
	}
	if path == "" {
		path = "the input"
	}
	return fmt.Sprintf("%s: %s: %s; there must be %s [%s, contract §%s]", kind, path, f.Got, f.Want, f.Rule, ruleOf(f.Rule).Section)
}

// Rejected reports whether the API would reject what has these findings.
func Rejected(findings []Finding) bool {
	for _, f := range findings {
		if !f.Warning {
			return true
		}
	}
	return false
}

// Options are what a check needs to know beside the input. The zero value is ready to use.
type Options struct {
	// Betas are the beta headers of the request.
	Betas []string
	// Models looks up a model. Nil means [models.Lookup].
	Models func(id string) (models.Model, bool)
	// Forget keeps nothing for [Conversation.View] and [Conversation.Text], so that a conversation can go on for ever.
	Forget bool
}

func (o Options) model(id string) (models.Model, bool) {
	if o.Models == nil {
		return models.Lookup(id)
	}
	return o.Models(id)
}
