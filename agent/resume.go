package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/pagehand/pagehand"
	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/recording"
)

// resume rebuilds the conversation of an earlier run from its recording, and answers the calls that the run's end left open.
func (r *run) resume() error {
	var last *reply
	ran := map[string]bool{} // the calls that had been answered, though maybe nobody kept the answer
	for _, e := range r.o.Resume {
		switch e.Type {
		case recording.TypeCall:
			if e.Call != nil {
				ran[e.Call.ID] = true
			}
		case recording.TypeMessage:
			var m message
			var err error
			open := last != nil && len(last.uses()) > 0
			if m, last, err = parseMessage(e.Message); err != nil {
				return fmt.Errorf("the recording: %w", err)
			}
			if open && m.role == "assistant" {
				return errors.New("the recording cannot be continued: the results of a turn are missing")
			}
			refused := last != nil && last.message.StopReason == sdk.StopReasonRefusal
			if len(m.blocks) == 0 || refused {
				continue
			}
			for _, block := range m.blocks {
				if block = bytes.TrimSpace(block); len(block) == 0 || block[0] != '{' {
					return errors.New("the recording: a message holds something that is not a content block")
				}
			}
			// A message that was lost or doubled would make every request one that the API rejects.
			for _, f := range r.join(m) {
				if !f.Warning {
					return fmt.Errorf("the recording cannot be continued: %s", f)
				}
			}
		}
	}
	switch {
	case len(r.conversation) == 0:
		return errors.New("the recording has no messages")
	case last != nil && last.message.StopReason != sdk.StopReasonRefusal && len(last.uses()) > 0:
		if err := r.add(r.answerOpen(last, ran)); err != nil {
			return err
		}
	}
	if len(r.betas) == 0 {
		r.shrinkOld(1) // nothing of it is cached any more
	}
	return nil
}

// answerOpen answers the calls of a reply after which the run was killed. Those that were run succeeded as far as anybody knows; from the
// first other one on the batch is halted.
func (r *run) answerOpen(last *reply, ran map[string]bool) message {
	var b batch
	m := message{role: "user"}
	for _, use := range last.uses() {
		if ran[use.ID] && !b.halted && !managesTabs(use.Name) {
			lost := contract.Text{Text: "This call was run, but the run was interrupted and its result is lost. Read the page to see its effect."}
			b.add(use, contract.ToolResult{ToolUseID: use.ID, ToolsetName: use.ToolsetName, Content: []contract.Block{lost}})
		} else {
			r.refuse(&b, use, "The run was interrupted at this call; whether it had an effect is unknown. Read the page before you go on.")
		}
		m.blocks = append(m.blocks, encode(b.results[len(b.results)-1]))
	}
	return m
}

// parseMessage reads a recorded message; the reply is nil for a message of ours.
func parseMessage(raw json.RawMessage) (message, *reply, error) {
	var head struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return message{}, nil, err
	}
	if head.Role == "assistant" {
		p := &reply{done: true}
		if err := json.Unmarshal(raw, &p.message); err != nil {
			return message{}, nil, err
		}
		m, err := p.param()
		return m, p, err
	}
	if bytes.HasPrefix(head.Content, []byte(`"`)) {
		var text string
		err := json.Unmarshal(head.Content, &text)
		return userText(text), nil, err
	}
	m := message{role: "user"}
	err := json.Unmarshal(head.Content, &m.blocks)
	return m, nil, err
}

var (
	refNumber = regexp.MustCompile(`\bref_([1-9][0-9]{0,6})\b`)
	tabNumber = regexp.MustCompile(`^tab-([1-9][0-9]{0,6})$`)
	dlNumber  = regexp.MustCompile(`^dl-([1-9][0-9]{0,6})$`)
)

// Numbers finds the highest numbers of tabs, references and downloads in a recording. A session that continues the run must give out
// higher ones, so that nothing the model remembers comes to mean something else (contract §3 and §5). A page may print a reference that
// never was; then some numbers are skipped.
func Numbers(events []recording.Event) pagehand.Numbers {
	var n pagehand.Numbers
	for _, e := range events {
		if e.Type != recording.TypeMessage {
			continue
		}
		var m struct {
			Content []json.RawMessage `json:"content"`
		}
		if err := json.Unmarshal(e.Message, &m); err != nil {
			continue // content that is a plain string is the person's
		}
		for _, block := range m.Content {
			var result contract.ToolResult
			if err := json.Unmarshal(block, &result); err != nil || result.ToolsetName != contract.ToolsetName {
				continue
			}
			for _, b := range result.Content {
				take(&n, b)
			}
		}
	}
	return n
}

func take(n *pagehand.Numbers, b contract.Block) {
	highest := func(at *int, pattern *regexp.Regexp, text string) {
		for _, match := range pattern.FindAllStringSubmatch(text, -1) {
			number, _ := strconv.Atoi(match[1]) // the pattern bounds it
			*at = max(*at, number)
		}
	}
	switch b := b.(type) {
	case contract.Text:
		highest(&n.Refs, refNumber, b.Text)
	case *contract.BrowserState:
		for _, t := range b.Tabs {
			highest(&n.Tabs, tabNumber, t.TabID)
		}
		for _, c := range b.StateChanges {
			highest(&n.Downloads, dlNumber, c.DownloadID)
		}
	}
}
