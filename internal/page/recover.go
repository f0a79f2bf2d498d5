package page

import (
	"context"
	"errors"
	"time"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"github.com/pagehand/pagehand/internal/cdp"
)

// Recovery is what it took to make a tab answer again: the rung of the ladder that [Page.Recover] had to climb to.
type Recovery int

const (
	// NotHung means that the tab answered: the call was slow for another reason, and nothing was touched.
	NotHung Recovery = iota
	// ScriptEnded means that the script which kept the page busy was ended.
	ScriptEnded
	// ScriptsStopped means that scripts were turned off for a moment, because ending one only let the next begin.
	ScriptsStopped
	// PageLeft means that the tab was sent to about:blank.
	PageLeft
	// ProcessEnded means that the process which renders the tab was ended, and the tab sent to about:blank.
	ProcessEnded
	// Lost means that nothing helped. The tab has to be closed.
	Lost
)

// patienceAfter is how long a tab may take to answer after each rung. A wrong verdict costs nothing on the first rungs, and the page on
// the later ones.
var patienceAfter = map[Recovery]time.Duration{
	NotHung:        500 * time.Millisecond,
	ScriptEnded:    500 * time.Millisecond,
	ScriptsStopped: 1500 * time.Millisecond,
	PageLeft:       2 * time.Second,
	ProcessEnded:   10 * time.Second, // seen: 7.5 s, behind a beforeunload handler that never ended
}

// Recover makes a tab answer again whose call ran out of time or was cancelled, by the mildest means that works, and tells which
// that was. It takes fifteen seconds at the very worst, and next to none when the page answers.
//
// Each rung is needed. Ending the script does for loops, microtasks and regular expressions, but not for timers that start
// the next loop, nor where the page is not in a script: a synchronous request, a layout. A tight loop of dialogs cannot be ended
// either, because V8 looks for interruptions only once in many turns, and each turn waits for a dialog. Leaving the page frees
// all of these, unless beforeunload handlers or a flood of navigations are in the way. Ending the process frees those: the tab and
// its CDP session live on. Chromium ends it itself, so that no other session's process can be hit by mistake.
func (p *Page) Recover(ctx context.Context) Recovery {
	p.update(func() { p.recovering = true })
	defer p.update(func() {
		if p.dialogs > mostDialogs {
			p.notes = notes{} // the failed call tells of them
		}
		p.recovering, p.dialogs, p.stuck = false, 0, false
	})
	rungs := []struct {
		reached Recovery
		climb   func(context.Context, []*cdp.Session)
	}{
		{NotHung, func(context.Context, []*cdp.Session) {}},
		{ScriptEnded, p.endScripts},
		{ScriptsStopped, p.stopScripts},
		{PageLeft, p.leave},
		{ProcessEnded, p.endProcess},
	}
	hung := p.sessions()
	for _, rung := range rungs {
		bounded, cancel := context.WithTimeout(ctx, patienceAfter[rung.reached])
		rung.climb(bounded, hung)
		hung = p.hung(bounded)
		if len(hung) == 0 && rung.reached != NotHung && errors.Is(p.observe(bounded, "turned"), context.DeadlineExceeded) {
			hung = p.sessions()[:1] // it answers between two tasks, but does not get on
		}
		cancel()
		if p.ended() || len(hung) == 0 && (rung.reached >= PageLeft || !p.stuckNow()) {
			return rung.reached
		}
	}
	return Lost
}

// stuckNow tells whether the page kept the tab from leaving it. It would do so again, so freeing it is not enough.
func (p *Page) stuckNow() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stuck
}

// ended tells whether there is nothing left to recover.
func (p *Page) ended() bool {
	select {
	case <-p.session.Done():
		return true
	default:
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.crashed
	}
}

// sessions are the CDP sessions of the tab's processes, its own first.
func (p *Page) sessions() []*cdp.Session {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := []*cdp.Session{p.session}
	seen := map[*cdp.Session]bool{p.session: true}
	for _, f := range p.frames {
		if f.session != nil && !seen[f.session] {
			seen[f.session] = true
			list = append(list, f.session)
		}
	}
	return list
}

// hung are those of the tab's sessions whose page does not answer before the context ends. Two questions are asked of each: between two tasks
// of a page that does nothing but hang, one may get through.
func (p *Page) hung(ctx context.Context) []*cdp.Session {
	sessions := p.sessions()
	asked := make([][2]cdp.Pending[runtime.EvaluateResult], len(sessions))
	for i, s := range sessions {
		ask := func(expression string) cdp.Pending[runtime.EvaluateResult] {
			return cdp.Start(s, runtime.Evaluate, runtime.EvaluateParams{Expression: expression, ReturnByValue: new(true), Silent: new(true)})
		}
		asked[i] = [2]cdp.Pending[runtime.EvaluateResult]{ask("1"), ask("2")}
	}
	var hung []*cdp.Session
	for i, s := range sessions {
		_, first := asked[i][0].Wait(ctx)
		_, second := asked[i][1].Wait(ctx)
		if errors.Is(second, context.DeadlineExceeded) || errors.Is(first, context.DeadlineExceeded) {
			hung = append(hung, s)
		}
	}
	return hung
}

// endScripts ends the scripts that run now. Where none runs it does nothing.
func (p *Page) endScripts(_ context.Context, hung []*cdp.Session) {
	for _, s := range hung {
		cdp.Post(s, runtime.TerminateExecution, proto.Empty{})
	}
}

// stopScripts turns scripts off until the page has come to rest, so that what would start the next loop runs into nothing.
func (p *Page) stopScripts(ctx context.Context, hung []*cdp.Session) {
	for _, s := range hung {
		cdp.Post(s, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	}
	p.endScripts(ctx, hung)
	rest, cancel := context.WithTimeout(ctx, patienceAfter[ScriptEnded])
	defer cancel()
	p.hung(rest)
	for _, s := range hung {
		cdp.Post(s, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: false})
	}
}

// leave sends the tab to an empty page, for which Chromium takes another process.
func (p *Page) leave(ctx context.Context, _ []*cdp.Session) {
	cdp.Post(p.session, page.StopLoading, proto.Empty{})
	res, err := cdp.Call(ctx, p.session, page.Navigate, page.NavigateParams{URL: "about:blank"})
	if err == nil {
		err = p.await(ctx, func() bool { return p.frames[p.main].loader == res.LoaderID })
	}
	if err != nil {
		p.opts.Log.Warn("a hung page could not be left", "cause", err)
	}
}

// endProcess ends the process that renders the tab, and gives the tab an empty page in a new one.
func (p *Page) endProcess(ctx context.Context, _ []*cdp.Session) {
	p.update(func() { p.ending = true })
	// Chromium keeps commands back while a navigation to another process is under way, this one too.
	cdp.Post(p.session, page.StopLoading, proto.Empty{})
	cdp.Post(p.session, page.Crash, proto.Empty{})
	if err := p.await(ctx, func() bool { return !p.ending }); err != nil {
		p.opts.Log.Warn("the process of a hung page could not be ended", "cause", err)
		return
	}
	p.leave(ctx, nil)
}

// crash notes that the renderer of the tab died, and fails what is on its way, since Chromium never answers it. When we ended it, the
// tab lives on without a document; otherwise the session that owns the tab drops it.
func (p *Page) crash() {
	p.update(func() {
		p.crashed = !p.ending
		p.ending = false
		clear(p.worlds)
		clear(p.flights)
		for id := range p.frames {
			p.removeFrame(id)
		}
		p.frames[p.main].loader = ""
	})
	p.failPending(ErrCrashed)
}

// failPending fails every command on its way to the tab.
func (p *Page) failPending(cause error) {
	for _, s := range p.sessions() {
		s.FailPending(cause)
	}
}

// leavePatience is how long a document may take to let itself be left, before a script that keeps it is ended.
const leavePatience = 2 * time.Second

// free makes sure that the tab's document lets itself be left: beforeunload and unload handlers that never return are ended, one after the
// other. Call the result when the navigation is over.
func (p *Page) free(ctx context.Context) (over func()) {
	patience := leavePatience
	if end, ok := ctx.Deadline(); ok {
		patience = min(patience, time.Until(end)/4)
	}
	p.mu.Lock()
	from := p.frames[p.main].loader
	p.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		tick := time.NewTicker(patience)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			p.mu.Lock()
			left := p.frames[p.main].loader != from
			next := p.load(p.pending[p.main].loader)
			p.mu.Unlock()
			if left {
				return
			}
			if next.asked && next.status == 0 {
				continue // it is the server that takes its time; meanwhile Chromium keeps our questions back
			}
			bounded, cancel := context.WithTimeout(ctx, patienceAfter[NotHung])
			hung := p.hung(bounded)
			cancel()
			if len(hung) > 0 && ctx.Err() == nil {
				p.update(func() { p.stuck = true })
				p.endScripts(ctx, hung)
			}
		}
	}()
	return cancel
}
