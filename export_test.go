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
