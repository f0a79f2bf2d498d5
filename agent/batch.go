package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pagehand/pagehand"
	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/recording"
)

// batch is what has been answered of a reply's calls.
type batch struct {
	uses    []contract.ToolUse
	results []contract.ToolResult
	halted  bool // a member call failed, so no later one is run (contract §1)
}

func (b *batch) add(use contract.ToolUse, result contract.ToolResult) {
	b.uses = append(b.uses, use)
	b.results = append(b.results, result)
	b.halted = b.halted || result.IsError && isMember(use)
}

func isMember(use contract.ToolUse) bool { return use.ToolsetName == contract.ToolsetName }

// answer answers every call of a reply that has not been answered while it streamed, and makes the message to the model.
func (r *run) answer(ctx context.Context, reply *reply, uses []contract.ToolUse) message {
	b := reply.early
	limit := r.exhausted()
	for i := len(b.results); i < len(uses); i++ {
		switch use := uses[i]; {
		case reply.half() && i == len(uses)-1:
			r.refuse(&b, use, "Not run: the reply was cut off here by its token limit, so that the call may be incomplete. Ask for it again.")
		case ctx.Err() != nil:
			r.refuse(&b, use, "Not run: the person interrupted the run.")
		case limit != "":
			r.refuse(&b, use, "Not run: the run has reached its limit ("+string(limit)+").")
		default:
			r.call(ctx, &b, use)
		}
	}
	if ctx.Err() == nil && limit == "" {
		r.attach(ctx, &b)
	}
	m := message{role: "user"}
	for _, result := range b.results {
		m.blocks = append(m.blocks, encode(result))
	}
	if !reply.done {
		m.blocks = append(m.blocks, userText("Your reply was cut off by a network failure after these calls. They have been run; what came after them in your reply was not received.").blocks...)
	}
	return m
}

// call runs a call, unless it is a member's and the batch is halted.
func (r *run) call(ctx context.Context, b *batch, use contract.ToolUse) {
	if b.halted && isMember(use) {
		r.refuse(b, use, "")
		return
	}
	about := r.about(use.Input)
	r.o.Observe(CallStarted{use, about})
	started := time.Now()
	result := r.dispatch(ctx, use)
	took := time.Since(started)
	b.add(use, result)
	r.answered(CallDone{use, result, took}, about)
	if isMember(use) {
		r.refs.Observe(use, result)
	}
}

// dispatch runs a call where it belongs, by its toolset and its name (contract §1).
func (r *run) dispatch(ctx context.Context, use contract.ToolUse) contract.ToolResult {
	if isMember(use) {
		return r.o.Session.Do(ctx, use)
	}
	result := contract.ToolResult{ToolUseID: use.ID, ToolsetName: use.ToolsetName}
	tool, ok := r.tools[use.Name]
	if !ok || use.ToolsetName != "" {
		return failed(result, "There is no tool "+contract.CleanTitle(quoted(use))+". Use only the tools that are declared.")
	}
	content, err := tool.Run(ctx, use.Input)
	if err != nil {
		r.o.Logger.Info("a tool failed", "tool", use.Name, "cause", withoutSecrets(err.Error()))
		return failed(result, contract.CleanField(err.Error()))
	}
	result.Content = sendable(content)
	return result
}

// maxToolText bounds the texts of another tool's result, in bytes: what is sent is sent again with every request.
const maxToolText = 1 << 20

// sendable makes of what a tool returned what the API accepts: no blank text, and texts that together have a bound.
func sendable(content []contract.Block) []contract.Block {
	var blocks []contract.Block
	room, left := maxToolText, 0
	for _, block := range content {
		text, ok := block.(contract.Text)
		if !ok {
			blocks = append(blocks, block)
			continue
		}
		if len(text.Text) > room {
			cut := strings.ToValidUTF8(text.Text[:room], "")
			left += len(text.Text) - len(cut)
			text.Text = cut
		}
		room -= len(text.Text)
		if strings.TrimSpace(text.Text) != "" {
			blocks = append(blocks, text)
		}
	}
	switch {
	case left > 0:
		blocks = append(blocks, contract.Text{Text: fmt.Sprintf("[The texts of this result were cut: %d bytes more.]", left)})
	case len(blocks) == 0:
		blocks = append(blocks, contract.Text{Text: "(no output)"})
	}
	return blocks
}

func quoted(use contract.ToolUse) string {
	if use.ToolsetName == "" {
		return fmt.Sprintf("%q", use.Name)
	}
	return fmt.Sprintf("%q of the toolset %q", use.Name, use.ToolsetName)
}

// refuse answers a call that is not run. A member call of a halted batch gets the contract's text.
func (r *run) refuse(b *batch, use contract.ToolUse, why string) {
	result := contract.ToolResult{ToolUseID: use.ID, ToolsetName: use.ToolsetName}
	if b.halted && isMember(use) {
		result.IsError = true
		result.Content = []contract.Block{contract.Text{Text: contract.HaltText}}
	} else {
		result = failed(result, why)
	}
	b.add(use, result)
	r.answered(CallDone{Call: use, Result: result}, "")
}

func failed(result contract.ToolResult, why string) contract.ToolResult {
	result.IsError = true
	result.Content = []contract.Block{contract.Text{Text: "Error: " + why}}
	return result
}

// answered counts a call and tells of it.
func (r *run) answered(done CallDone, about string) {
	r.outcome.Calls++
	r.o.Observe(done)
	call := recording.Call{ID: done.Call.ID, TookMS: done.Took.Milliseconds(), Note: about}
	if err := r.record(recording.Event{Type: recording.TypeCall, Call: &call}); err != nil {
		r.o.Logger.Error("a call was not recorded", "call", done.Call.ID, "cause", err)
	}
}

// about is what the ref of a call was called when it was read; empty when it has none.
func (r *run) about(input json.RawMessage) string {
	var in struct {
		Ref    string `json:"ref"`
		Target struct {
			Ref string `json:"ref"`
		} `json:"target"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return ""
	}
	return r.refs.Called(in.Target.Ref + in.Ref)
}

// Attachment is an observation that is added to the last result of each batch.
type Attachment string

// The observations.
const (
	AttachNothing    Attachment = ""
	AttachScreenshot Attachment = "screenshot"
	AttachTree       Attachment = "tree"
)

// attach adds the observation to the last successful result of the batch that isn't a tab-management result (contract §1). When there
// is none, or the result is such an observation itself, or the observation fails, nothing is attached.
func (r *run) attach(ctx context.Context, b *batch) {
	member := map[Attachment]string{AttachScreenshot: "screenshot", AttachTree: "read_page"}[r.o.Attach]
	last := -1
	for i, use := range b.uses {
		if isMember(use) && !b.results[i].IsError && !managesTabs(use.Name) {
			last = i
		}
	}
	if member == "" || last < 0 || b.uses[last].Name == member && last == len(b.uses)-1 {
		return
	}
	use := contract.ToolUse{ID: b.uses[last].ID, Name: member, ToolsetName: contract.ToolsetName, Input: json.RawMessage("{}")}
	seen := r.o.Session.Do(ctx, use)
	if seen.IsError {
		return
	}
	r.refs.Observe(use, seen)
	merged := &b.results[last]
	for _, block := range seen.Content {
		switch block := block.(type) {
		case *contract.BrowserState:
			merged.Content = withState(merged.Content, block)
		default:
			if member == "screenshot" && isText(block) {
				continue // it only says that the picture was taken
			}
			merged.Content = append(merged.Content, block)
		}
	}
}

// managesTabs reports whether a member's result must be one browser_state block and nothing else (contract §4).
func managesTabs(name string) bool {
	return slices.ContainsFunc(pagehand.Members(), func(m pagehand.Member) bool { return m.Name == name && m.TabManagement })
}

func isText(b contract.Block) bool {
	_, ok := b.(contract.Text)
	return ok
}

// withState puts a later browser_state into a result, which may hold only one: the later tabs, and what changed up to each of them.
func withState(content []contract.Block, later *contract.BrowserState) []contract.Block {
	i := slices.IndexFunc(content, func(b contract.Block) bool { _, ok := b.(*contract.BrowserState); return ok })
	if i < 0 {
		return append(content, later)
	}
	earlier := content[i].(*contract.BrowserState)
	merged := &contract.BrowserState{Tabs: later.Tabs}
	for _, c := range earlier.StateChanges {
		if c.Type == contract.TabOpened && !slices.ContainsFunc(later.Tabs, func(t contract.Tab) bool { return t.TabID == c.TabID }) {
			continue // closed again
		}
		told := slices.ContainsFunc(later.StateChanges, func(l contract.StateChange) bool {
			return c.DownloadID != "" && l.DownloadID == c.DownloadID
		})
		if !told {
			merged.StateChanges = append(merged.StateChanges, c)
		}
	}
	merged.StateChanges = append(merged.StateChanges, later.StateChanges...)
	content = slices.Clone(content)
	content[i] = merged
	return content
}
