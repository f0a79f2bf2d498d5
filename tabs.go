package pagehand

import (
	"context"

	"github.com/chromedp/cdproto/target"

	"github.com/pagehand/pagehand/internal/cdp"
)

var tabMembers = []Member{
	onSession("new_tab", "Open a tab and make it the active one.", newTab),
	onSession("list_tabs", "List the open tabs.", listTabs),
	onSession("switch_tab", "Make a tab the active one.", switchTab),
	onSession("close_tab", "Close a tab.", closeTab),
}

type noInput struct{}

func newTab(ctx context.Context, s *Session, _ noInput) error {
	if len(s.Tabs()) >= s.tabLimit {
		return toolErrorf("%d tabs are open, which is the most there may be. Close one with close_tab first.", s.tabLimit)
	}
	t, err := s.openTab(ctx)
	if err != nil {
		return err
	}
	s.activate(t)
	return nil
}

// listTabs has nothing to do: the tabs are the result.
func listTabs(context.Context, *Session, noInput) error { return nil }

type namedTabInput struct {
	TabID string `json:"tab_id" need:"true" doc:"The tab, as list_tabs names it."`
}

func switchTab(_ context.Context, s *Session, in namedTabInput) error {
	t, err := s.tab(in.TabID)
	if err != nil {
		return err
	}
	s.activate(t)
	return nil
}

func closeTab(ctx context.Context, s *Session, in namedTabInput) error {
	t, err := s.tab(in.TabID)
	if err != nil {
		return err
	}
	return t.close(ctx)
}

// close closes a tab and waits until it is gone.
func (t *tab) close(ctx context.Context) error {
	s := t.session
	s.mu.Lock()
	t.asked = true
	s.mu.Unlock()
	if _, err := cdp.Call(ctx, s.browser.conn.Root(), target.CloseTarget, target.CloseTargetParams{TargetID: t.target}); err != nil {
		return err
	}
	// Chromium answers before the tab is gone.
	select {
	case <-t.page.Gone():
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	s.lost(target.SessionID(t.cdp.ID()))
	return nil
}
