package pagehand

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/cdproto/target"

	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/internal/cdp"
	"github.com/pagehand/pagehand/internal/page"
)

// Call is one member call: a tool_use block of the toolset.
type Call = contract.ToolUse

// Result answers a call: a tool_result block, always one that the API accepts.
type Result = contract.ToolResult

// RunTurn answers the calls of one turn: in order, one at a time, each with one result. The first failure halts the batch, and
// everything after it gets the contract's halt text without touching the browser (contract §1).
func (s *Session) RunTurn(ctx context.Context, calls []Call) []Result {
	results := make([]Result, 0, len(calls))
	for _, r := range s.Each(ctx, calls) {
		results = append(results, r)
	}
	return results
}

// Each runs a turn as [Session.RunTurn] does and yields each call with its result as soon as there is one. Calls that the
// caller does not wait for are not run.
func (s *Session) Each(ctx context.Context, calls []Call) iter.Seq2[Call, Result] {
	return func(yield func(Call, Result) bool) {
		halted := false
		for _, c := range calls {
			r := failure(c, contract.HaltText)
			if !halted {
				r = s.Do(ctx, c)
			}
			halted = halted || r.IsError
			if !yield(c, r) {
				return
			}
		}
	}
}

// Do runs one call. Whatever goes wrong is a result, with is_error and one line of text for the model.
func (s *Session) Do(ctx context.Context, c Call) Result {
	s.calls.Lock()
	defer s.calls.Unlock()
	s.mu.Lock()
	s.fresh = nil
	s.mu.Unlock()

	started := time.Now()
	m, out, err := s.run(ctx, c)
	if err != nil {
		var te *ToolError
		if !errors.As(err, &te) {
			te = explain(c.Name, nil, s.opts.Timeout, err)
		}
		s.log.LogAttrs(ctx, slog.LevelInfo, "call failed", slog.String("member", c.Name), slog.String("error", te.Message), slog.Any("cause", te.Err), slog.Duration("took", time.Since(started)))
		return failure(c, "Error: "+contract.CleanField(te.Message))
	}
	s.log.LogAttrs(ctx, slog.LevelDebug, "call done", slog.String("member", c.Name), slog.Duration("took", time.Since(started)))
	return s.result(c, m, out)
}

// run looks the member up, reads its input and calls its handler within the call's deadline.
func (s *Session) run(ctx context.Context, c Call) (Member, output, error) {
	m, known := memberNamed(c.Name)
	if !known {
		return m, output{}, unknownMember(c.Name)
	}
	if !s.opts.Configs.enabled(m.Name) {
		return m, output{}, toolErrorf("%s is not enabled in this environment.", m.Name)
	}
	input, err := m.decode(c.Input)
	if err != nil {
		return m, output{}, err
	}
	patience := s.opts.Timeout
	if t, ok := input.(taker); ok {
		patience += t.takes()
	}
	bounded, cancel := context.WithTimeoutCause(ctx, patience, errDeadline)
	defer cancel()
	var t *tab
	if chooser, ok := input.(tabChooser); ok {
		if t, err = s.tab(chooser.chosenTab()); err != nil {
			return m, output{}, err
		}
		t.page.BeginCall()
	}
	out, err := m.run(bounded, s, input)
	if err == nil {
		return m, out, nil
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		err = errors.Join(context.Canceled, err) // whatever the caller's cause is
	}
	te := explain(m.Name, t, patience, err)
	if t != nil && (bounded.Err() != nil || errors.Is(err, page.ErrDialogs)) {
		te = &ToolError{te.Message + t.recover(context.WithoutCancel(ctx)), te.Err}
	}
	return m, output{}, te
}

// recover makes a tab usable again whose call failed because its page does not answer, and says what that took if it was more than ending
// its scripts.
func (t *tab) recover(ctx context.Context) string {
	switch r := t.page.Recover(ctx); r {
	case page.PageLeft, page.ProcessEnded:
		return fmt.Sprintf(" The page hung and was left; %s shows about:blank.", t.id)
	case page.Lost:
		return t.session.giveUp(ctx, t)
	}
	return ""
}

// giveUp drops a tab that nothing could free, whether or not Chromium closes it in time, and makes sure that there is a tab to go on in.
func (s *Session) giveUp(ctx context.Context, t *tab) string {
	ctx, cancel := context.WithTimeout(ctx, defaultTimeout)
	defer cancel()
	s.mu.Lock()
	t.asked = true
	s.mu.Unlock()
	cdp.Post(s.browser.conn.Root(), target.CloseTarget, target.CloseTargetParams{TargetID: t.target})
	s.lost(target.SessionID(t.cdp.ID()))
	text := fmt.Sprintf(" The page hung and %s was closed.", t.id)
	if len(s.Tabs()) > 0 {
		return text
	}
	fresh, err := s.openTab(ctx)
	if err != nil {
		s.log.Error("no tab could be opened in the place of a hung one", "cause", err)
		return text
	}
	s.activate(fresh)
	return text + fmt.Sprintf(" %s is open in its place.", fresh.id)
}

func failure(c Call, text string) Result {
	return Result{ToolUseID: c.ID, ToolsetName: contract.ToolsetName, IsError: true, Content: []contract.Block{contract.Text{Text: text}}}
}

// result makes the blocks of a successful call (contract §4 and §5).
func (s *Session) result(c Call, m Member, out output) Result {
	r := Result{ToolUseID: c.ID, ToolsetName: contract.ToolsetName}
	state, changed := s.state(m)
	if m.TabManagement {
		r.Content = []contract.Block{state}
		return r
	}
	if m.Name == "screenshot" && changed {
		out.text = "Screenshot captured."
	}
	text := strings.Join(append([]string{out.text}, s.takeRemarks()...), "\n")
	text = strings.Trim(text, "\n")
	if out.image != nil {
		r.Content = append(r.Content, contract.Image{MediaType: "image/png", Data: out.image})
	}
	if text != "" {
		r.Content = append([]contract.Block{contract.Text{Text: text}}, r.Content...)
	}
	if changed {
		r.Content = append(r.Content, state)
	}
	return r
}

// state is the inventory after a call, and whether the result must carry it: because something about the tabs changed, or
// because there are state changes to report.
func (s *Session) state(m Member) (*contract.BrowserState, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.inventory()
	for _, t := range s.fresh {
		switch {
		case !slices.Contains(s.tabs, t):
		case m.Name == "new_tab" && t != s.active:
			// A new_tab result names the new tab only; a popup at the same moment just appears.
		default:
			state.StateChanges = append(state.StateChanges, contract.StateChange{Type: contract.TabOpened, TabID: t.id})
		}
	}
	state.StateChanges = append(state.StateChanges, s.downloads.take(200-len(state.StateChanges))...)
	changed := len(state.StateChanges) > 0 || !slices.Equal(state.Tabs, s.reported.Tabs)
	s.reported = contract.BrowserState{Tabs: state.Tabs}
	return &state, changed
}

// takeRemarks hands over what happened beside the call: closed tabs, dialogs.
func (s *Session) takeRemarks() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := s.remarks
	s.remarks = nil
	for _, t := range s.tabs {
		for _, note := range t.page.TakeNotes() {
			if t != s.active {
				note = "In " + t.id + ": " + note
			}
			lines = append(lines, contract.CleanField(note))
		}
	}
	return lines
}

// act runs an action of a member in a tab and waits for what it sets going.
func (t *tab) act(ctx context.Context, action func() error) (page.Settled, error) {
	mark := t.page.Mark()
	if err := action(); err != nil {
		return page.Settled{}, err
	}
	settled, err := t.page.Settle(ctx, mark)
	if errors.Is(err, cdp.ErrDetached) {
		return settled, nil // the action made the page close its tab, which the result tells
	}
	if err != nil {
		return settled, err
	}
	return settled, t.session.awaitPopups(ctx, mark.At())
}

// awaitPopups waits, bounded, until tabs that this call opened show their page.
func (s *Session) awaitPopups(ctx context.Context, from time.Time) error {
	s.mu.Lock()
	fresh := slices.Clone(s.fresh)
	s.mu.Unlock()
	for _, t := range fresh {
		if err := t.page.AwaitOpening(ctx, from); err != nil && ctx.Err() != nil {
			return err
		}
	}
	return nil
}
