package pagehand

import (
	"context"
	"errors"

	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/internal/cdp"
	"github.com/pagehand/pagehand/internal/chrome"
	"github.com/pagehand/pagehand/internal/page"
)

// ReplaceSession opens a session in the place of old, whose browser has ended (see [Browser.Done]), and closes old. It has old's
// options and one empty tab; tabs, cookies and staged files are gone.
//
// Nothing that a model remembers of old comes to mean something else: the numbers of tabs, references and downloads go on, as do
// the limits on downloads. The first result that carries text says that the browser was restarted, and the first
// one that may carries the new inventory of tabs.
func (b *Browser) ReplaceSession(ctx context.Context, old *Session) (*Session, error) {
	old.calls.Lock()
	defer old.calls.Unlock()
	select {
	case <-old.browser.Done():
		old.log.Warn("the browser ended and its session is replaced", "cause", old.browser.epitaph())
	default:
	}
	if err := old.Close(); err != nil {
		old.log.Error("something of a replaced session is left", "cause", err)
	}
	return b.newSession(ctx, old.opts, old)
}

// Numbers are the highest numbers that an earlier session gave out: tab-N, ref_N and dl-N.
type Numbers struct{ Tabs, Refs, Downloads int }

// ContinueSession opens a session for a conversation that began in another program, as [Browser.ReplaceSession] does in the same one:
// the numbers of tabs, references and downloads go on after those that the model knows, and the first results say that the browser was
// restarted and list its tabs.
func (b *Browser) ContinueSession(ctx context.Context, opts *SessionOptions, after Numbers) (*Session, error) {
	if opts == nil {
		opts = &SessionOptions{}
	}
	earlier := &Session{
		count:     after.Tabs,
		page:      page.Options{Refs: page.NewRefsAfter(after.Refs)},
		downloads: &downloads{count: after.Downloads},
		reported:  contract.BrowserState{Tabs: []contract.Tab{}}, // so that the new inventory differs from it
	}
	return b.newSession(ctx, *opts, earlier)
}

// epitaph says why a browser ended, without the noise that Chromium printed before.
func (b *Browser) epitaph() string {
	err := b.cause(cdp.ErrClosed)
	var ended *chrome.EndError
	if errors.As(err, &ended) {
		b.log.Debug("the browser's last output", "lines", ended.Output)
		return ended.Status
	}
	return err.Error()
}

// inherit takes over what the model knows of a closed session.
func (s *Session) inherit(old *Session) {
	s.page.Refs = old.page.Refs
	s.downloads.inherit(old.downloads)
	old.mu.Lock()
	defer old.mu.Unlock()
	s.count = old.count
	s.reported = old.reported
	s.remark("The browser had to be restarted; earlier tabs and references are gone.")
}

// inherit goes on counting where closed downloads stopped. Those that were on their way have failed.
func (d *downloads) inherit(old *downloads) {
	old.mu.Lock()
	defer old.mu.Unlock()
	d.count, d.bytes, d.pending, d.all = old.count, old.bytes, old.pending, old.all
	for _, dl := range old.active {
		d.report(contract.StateChange{Type: contract.DownloadFailed, DownloadID: dl.id, URL: dl.url, Error: "The browser ended."})
	}
}
