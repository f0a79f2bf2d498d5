package page

import (
	"context"
	"time"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"

	"github.com/pagehand/pagehand/internal/cdp"
)

// Recover frees a tab whose call ran out of time, so that the next call works: whatever script runs there is ended.
func (p *Page) Recover(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	for _, s := range p.sessions() {
		if _, err := cdp.Call(ctx, s, runtime.TerminateExecution, proto.Empty{}); err != nil {
			p.opts.Log.Warn("script could not be ended", "cause", err)
		}
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
