package pagehand

import (
	"context"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/systeminfo"

	"github.com/pagehand/pagehand/internal/cdp"
)

// PIDs are the ids of the browser's processes of a kind: "browser", "renderer", "GPU".
func (b *Browser) PIDs(ctx context.Context, kind string) ([]int, error) {
	res, err := cdp.Call(ctx, b.conn.Root(), systeminfo.GetProcessInfo, proto.Empty{})
	if err != nil {
		return nil, err
	}
	var ids []int
	for _, p := range res.ProcessInfo {
		if p.Type == kind {
			ids = append(ids, int(p.ID))
		}
	}
	return ids, nil
}

// OpenUnasked opens a tab that no call asked for, as a page may.
func (s *Session) OpenUnasked(ctx context.Context) error {
	_, err := s.openTab(ctx)
	return err
}

// LimitTabs sets how many tabs may be open at a time, instead of the contract's 100.
func (s *Session) LimitTabs(n int) { s.tabLimit = n }
