package conform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/pagehand/pagehand/check"
	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/script"
)

// play is one check being run.
type play struct {
	*runner
	check  Check
	values *values

	view         contract.View
	conversation *check.Conversation
}

func (p *play) run(ctx context.Context) error {
	if p.check.page() {
		open := script.Call{Name: "navigate", Input: json.RawMessage(`{"url":"{{origin}}/page.html"}`)}
		if err := p.turn(ctx, script.Turn{Calls: []script.Call{open}}); err != nil {
			return err
		}
	}
	for _, turn := range p.check.script.Turns {
		if err := p.turn(ctx, turn); err != nil {
			return err
		}
	}
	return nil
}

// turn runs a turn. What its calls and expectations stand for is what was known before it, as it is for a model.
func (p *play) turn(ctx context.Context, turn script.Turn) error {
	uses, asked := make([]contract.ToolUse, len(turn.Calls)), make([]script.Call, len(turn.Calls))
	for i, call := range turn.Calls {
		input, err := p.values.input(call.Input)
		if err != nil {
			return fmt.Errorf("%s: %w", p.check.where(call.Line), err)
		}
		uses[i] = p.use(call.Name, string(input))
		if call.Foreign {
			uses[i].ToolsetName = call.Toolset
		}
		if asked[i], err = p.expected(call); err != nil {
			return fmt.Errorf("%s: %w", p.check.where(call.Line), err)
		}
	}
	message, err := assistant(uses, turn.Says)
	if err != nil {
		return err
	}
	data, err := p.exchange(ctx, message)
	if err != nil {
		return err
	}
	results, err := userResults(data)
	if err != nil {
		return err
	}
	if err := p.accepted(message, uses, results); err != nil {
		line := 0
		if len(turn.Calls) > 0 {
			line = turn.Calls[0].Line
		}
		return fmt.Errorf("%s: %w", p.check.where(line), err)
	}
	return p.judge(uses, asked, results)
}

// accepted checks that the API would take the results of a turn, and what else package check knows of them. The calls are the kit's and wrong
// where they should be, so what is found in them does not count. The results of other tools are the application's: the kit adds them.
func (p *play) accepted(message []byte, uses []contract.ToolUse, results []json.RawMessage) error {
	p.conversation.Add(message)
	var content []json.RawMessage
	for _, use := range uses {
		switch {
		case use.ToolsetName != contract.ToolsetName:
			other, err := json.Marshal(contract.ToolResult{ToolUseID: use.ID, ToolsetName: use.ToolsetName, Content: []contract.Block{contract.Text{Text: "done"}}})
			if err != nil {
				return err
			}
			content = append(content, other)
		case len(results) > 0:
			content, results = append(content, results[0]), results[1:]
		}
	}
	content = append(content, results...)
	if len(content) == 0 {
		return nil
	}
	answer, err := json.Marshal(map[string]any{"role": "user", "content": content})
	if err != nil {
		return err
	}
	if found := p.conversation.Add(answer); len(found) > 0 {
		return errors.New(found[0].String())
	}
	return nil
}

// expected replaces the placeholders of what is expected.
func (p *play) expected(call script.Call) (script.Call, error) {
	var failure error
	expand := func(texts []string) []string {
		expanded := make([]string, len(texts))
		for i, text := range texts {
			var err error
			expanded[i], err = p.values.expand(text)
			failure = errors.Join(failure, err)
		}
		return expanded
	}
	call.Contains, call.Lacks, call.Shapes, call.Exact = expand(call.Contains), expand(call.Lacks), expand(call.Shapes), expand([]string{call.Exact})[0]
	return call, failure
}

// judge compares the results of a turn with what the script expects.
func (p *play) judge(uses []contract.ToolUse, asked []script.Call, raw []json.RawMessage) error {
	for i, use := range uses {
		if asked[i].Foreign {
			continue
		}
		var res contract.ToolResult
		if err := json.Unmarshal(raw[0], &res); err != nil {
			return fmt.Errorf("%s: %w", p.check.where(asked[i].Line), err)
		}
		raw = raw[1:]
		if lacks := unavailable(use, res); lacks != nil && !asked[i].Fails {
			return lacks
		}
		p.values.observe(use, res)
		reads := p.view.Render(use, res)
		err := asked[i].Check(reads, res.IsError)
		if err == nil {
			err = asked[i].CheckShapes(res)
		}
		if err == nil && p.check.needs.Downloads {
			err = saved(res)
		}
		if err != nil {
			return fmt.Errorf("%s: %w; the model reads: %s", p.check.file, err, excerpt([]byte(reads)))
		}
	}
	return nil
}

// saved checks that the files of finished downloads are where the result says, if it does.
func saved(res contract.ToolResult) error {
	for _, block := range res.Content {
		state, ok := block.(*contract.BrowserState)
		if !ok {
			continue
		}
		for _, change := range state.StateChanges {
			if change.Path == "" {
				continue
			}
			info, err := os.Stat(change.Path)
			if err != nil {
				return fmt.Errorf("the file of a download can't be read: %w", err)
			}
			if change.SizeBytes != nil && info.Size() != *change.SizeBytes {
				return fmt.Errorf("the file of a download has %d bytes, told were %d", info.Size(), *change.SizeBytes)
			}
		}
	}
	return nil
}

// unavailable recognizes the contract's answers of members that an executor does not offer.
func unavailable(use contract.ToolUse, res contract.ToolResult) error {
	if !res.IsError {
		return nil
	}
	text, _ := res.Content[0].(contract.Text) // an error has a text, or was not accepted
	switch text.Text {
	case fmt.Sprintf("Error: %s is not enabled in this environment.", use.Name), "Error: Unknown or unimplemented member: " + use.Name:
		return &missing{strings.TrimPrefix(text.Text, "Error: ")}
	}
	return nil
}

// assistant makes the message of a turn.
func assistant(uses []contract.ToolUse, says string) ([]byte, error) {
	content := []any{}
	if says != "" {
		content = append(content, contract.Text{Text: says})
	}
	for _, use := range uses {
		content = append(content, use)
	}
	return json.Marshal(map[string]any{"role": "assistant", "content": content})
}

// userResults reads the answer to a turn.
func userResults(data []byte) ([]json.RawMessage, error) {
	var message struct {
		Role    string            `json:"role"`
		Content []json.RawMessage `json:"content"`
		Error   json.RawMessage   `json:"error"`
	}
	switch err := json.Unmarshal(data, &message); {
	case err != nil:
		return nil, fmt.Errorf("the answer is no user message: %s", excerpt(data))
	case message.Error != nil:
		return nil, fmt.Errorf("a turn was answered by an error: %s", excerpt(message.Error))
	case message.Role != "user" || message.Content == nil:
		return nil, fmt.Errorf("the answer is no user message: %s", excerpt(data))
	}
	return message.Content, nil
}
