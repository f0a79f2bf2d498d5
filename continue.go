package pagehand

import (
	"context"

	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/internal/page"
)

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
