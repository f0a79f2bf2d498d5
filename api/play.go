package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pagehand/pagehand/check"
	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/script"
)

// answer is what the model answers to a request, and how that is delivered.
type answer struct {
	says     string
	calls    []contract.ToolUse
	cut      bool // the last call is cut off
	stop     string
	sequence string
	over     bool // the script has nothing to add

	refused *fault  // an error is the answer
	broken  *fault  // the stream breaks off
	slow    []fault // pings come first

	played   []string // the faults that this plays: see player.played
	findings []Finding
}

// player finds the answer to one request. It is used once.
type player struct {
	script       *Script
	request      *request
	conversation string         // its id
	played       map[string]int // how often the faults of the conversation have been played before, by their positions

	refs    script.Resolver
	attempt int // how many replies have been broken off here
	answer  answer
}

// play finds the answer.
func (p *player) play() answer {
	at, made := p.replay()
	tail, _ := lastAssistant(p.request.read)
	read := p.request.read[tail.to:]
	switch {
	case !p.expected(read):
	case made && at.calls < len(p.script.ops[at.op].turn.Calls):
		p.turn(at)
	case made:
		p.goOn(at.next(), textOf(read))
	default:
		p.goOn(at, textOf(read))
	}
	p.demand()
	if p.answer.limit(p.request.MaxTokens) {
		p.answer.stop, p.answer.sequence, p.answer.over = "max_tokens", "", false
	}
	return p.answer
}

// next is the place after an op.
func (p position) next() position {
	p.op++
	p.calls = 0
	return p
}

// replay finds the position from what the assistant did so far. True means that the op there is a turn of which calls were made.
// Turns that are not of the script are passed over.
func (p *player) replay() (at position, made bool) {
	read := p.request.read
	from := 0 // what was read since the assistant's last turn
	for i, r := range read {
		switch r.Role {
		case check.Call:
			if id, ok := p.script.parseCallID(r.ID); ok {
				at, made = id.at, true
			}
		case check.Assistant:
			start := at
			if made {
				start = at.next()
			}
			op, ok := p.script.walk(&start, textOf(read[from:i]), func(op, position) bool { return false })
			if ok && op.kind == sayOp && strings.TrimSpace(r.Text) == op.turn.Says {
				at, made = p.script.after(start), false
			}
		default:
			if i > 0 && isAssistant(read[i-1]) {
				from = i
			}
			p.refs.Observe(observed(r))
		}
	}
	return at, made
}

// observed is a result as a resolver takes it. What the API renders below it looks like no reading.
func observed(r check.Reading) (contract.ToolUse, contract.ToolResult) {
	if r.Toolset != contract.ToolsetName {
		return contract.ToolUse{}, contract.ToolResult{}
	}
	return contract.ToolUse{Name: r.Name}, contract.ToolResult{IsError: r.IsError, Content: []contract.Block{contract.Text{Text: r.Text}}}
}

// after is the place after something that was said.
func (s *Script) after(at position) position {
	if s.ops[at.op].over {
		return position{op: len(s.ops)}
	}
	return at.next()
}

// expected compares the results of the last turn with what the script expects. If they differ the turn ends.
func (p *player) expected(read []check.Reading) bool {
	for _, r := range read {
		id, ok := p.script.parseCallID(r.ID)
		if !ok || id.cut || r.Role != check.Result {
			continue
		}
		call := p.script.ops[id.at.op].turn.Calls[id.at.calls-1]
		err := call.Check(r.Text, r.IsError)
		if err == nil && (call.Exact != "" || len(call.Shapes) > 0) {
			var result contract.ToolResult
			if result, err = p.request.resultOf(r.ID); err == nil {
				err = call.CheckShapes(result)
			}
		}
		if err != nil {
			p.fail(call.Line, err.Error())
			return false
		}
	}
	return true
}

// overText is what the model says when the script has ended.
const overText = "The script is over."

// maxSteps bounds the ops between two turns: only repeats without a turn come near it.
const maxSteps = 100_000

// walk follows the script to the next op that does something, of those faults only that are played. False means that there is none, and
// at is then the op at fault, or the end.
func (s *Script) walk(at *position, read string, plays func(op, position) bool) (op, bool) {
	for range maxSteps {
		if at.op >= len(s.ops) {
			return op{}, false
		}
		o := s.ops[at.op]
		switch o.kind {
		case turnOp, sayOp:
			return o, true
		case faultOp:
			if plays(o, *at) {
				return o, true
			}
			*at = at.next()
		case whenOp:
			*at = at.next()
			if !o.when.holds(read) {
				at.op = o.to
			}
		case jumpOp:
			at.op = o.to
		case loopOp:
			begun := &at.rounds[o.loop]
			switch {
			case o.when.holds(read) || *begun == o.most && o.when == condition{}:
				*begun, at.op = 0, o.to
			case *begun == o.most:
				return o, false
			default:
				*begun++
				*at = at.next()
			}
		}
	}
	return s.ops[at.op], false
}

// goOn plays from a position on.
func (p *player) goOn(at position, read string) {
	var halved *fault
	for {
		o, ok := p.script.walk(&at, read, p.plays)
		switch {
		case !ok && at.op >= len(p.script.ops):
			p.answer.says, p.answer.stop, p.answer.over = overText, "end_turn", true
			return
		case !ok && o.kind == loopOp && at.rounds[o.loop] == o.most:
			p.fail(o.line, fmt.Sprintf("what the repeat waits for was not read in %d rounds", o.most))
			return
		case !ok:
			p.fail(o.line, "the script goes round without a turn")
			return
		case o.kind == faultOp:
			if p.fault(o.play, at, &halved) {
				return
			}
			at = at.next()
			continue
		case o.kind == sayOp:
			p.answer.says, p.answer.stop = o.turn.Says, "end_turn"
			p.answer.over = p.script.after(at).op >= len(p.script.ops)
		case o.kind == turnOp:
			p.turn(at)
		}
		if halved != nil && len(p.answer.findings) == 0 {
			p.answer.halve()
			p.answer.stop, p.answer.over = halved.stop, false
		}
		return
	}
}

// plays reports whether a fault is played now.
func (p *player) plays(o op, at position) bool {
	played := p.played[at.String()]
	if o.play.effect == breakOff {
		p.attempt += played
	}
	if played < o.play.times {
		return true
	}
	if played > 0 && o.play.stop == "pause_turn" && !p.sentBack(o.play.says) {
		p.find(o.line, "the paused turn was not sent back as it was")
	}
	return false
}

// sentBack reports whether the assistant's last turn has this text.
func (p *player) sentBack(text string) bool {
	tail, _ := lastAssistant(p.request.read)
	return slices.ContainsFunc(p.request.read[tail.from:tail.to], func(r check.Reading) bool {
		return r.Role == check.Assistant && strings.TrimSpace(r.Text) == strings.TrimSpace(text)
	})
}

// fault plays a fault. True means that it is the answer; else it changes how the next turn is answered.
func (p *player) fault(f fault, at position, halved **fault) bool {
	p.answer.played = append(p.answer.played, at.String())
	switch f.effect {
	case refuse:
		p.answer.refused = &f
		return true
	case conclude:
		p.answer.says, p.answer.stop = f.says, f.stop
		if f.stop == "stop_sequence" {
			p.answer.sequence = f.sequence
			if f.sequence == "" && len(p.request.StopSequences) > 0 {
				p.answer.sequence = p.request.StopSequences[0]
			}
		}
		return true
	case breakOff:
		p.answer.broken = &f
	case halve:
		*halved = &f
	case delay:
		p.answer.slow = append(p.answer.slow, f)
	}
	return false
}

// turn makes the calls of a turn that have not been made yet.
func (p *player) turn(at position) {
	turn := p.script.ops[at.op].turn
	if at.calls == 0 {
		p.answer.says = turn.Says
	}
	p.answer.stop = "tool_use"
	for i, call := range turn.Calls[at.calls:] {
		if i == 1 && p.request.ToolChoice.DisableParallel {
			return
		}
		at.calls++
		input, err := p.refs.Resolve(call.Input)
		if err != nil {
			p.fail(call.Line, err.Error())
			return
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, input); err != nil {
			p.fail(call.Line, err.Error())
			return
		}
		use := contract.ToolUse{ID: callID{script: p.script.mark, conversation: p.conversation, at: at, attempt: p.attempt}.String(), Name: call.Name, ToolsetName: call.Toolset, Input: compact.Bytes()}
		if !call.Foreign {
			use.ToolsetName = contract.ToolsetName
		}
		if !p.request.declares(use) {
			p.fail(call.Line, call.Name+" is to be called, and the request does not declare it")
			return
		}
		p.answer.calls = append(p.answer.calls, use)
	}
}

// demand compares the answer with tool_choice.
func (p *player) demand() {
	choice, calls := p.request.ToolChoice, p.answer.calls
	if p.answer.refused != nil || len(p.answer.findings) > 0 {
		return
	}
	switch {
	case choice.Type == "none" && len(calls) > 0:
		p.fail(0, "the script makes a call, and tool_choice allows none")
	case choice.Type == "any" && len(calls) == 0, choice.Type == "tool" && (len(calls) == 0 || calls[0].Name != choice.Name):
		p.fail(0, "tool_choice asks for a call that the script does not make here")
	}
}

// find notes what was not as expected. A line of 0 is none of the script's.
func (p *player) find(line int, text string) string {
	if prefix := fmt.Sprintf("line %d: ", line); line > 0 && !strings.HasPrefix(text, prefix) {
		text = prefix + text
	}
	p.answer.findings = append(p.answer.findings, Finding{Line: line, Text: text})
	return text
}

// fail notes what was not as expected, and ends the turn with a text that says so.
func (p *player) fail(line int, text string) {
	p.answer.says = "I stop here, because something is not as the script expects.\n" + p.find(line, text)
	p.answer.calls, p.answer.stop, p.answer.sequence, p.answer.over = nil, "end_turn", "", true
}
