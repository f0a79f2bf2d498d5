package page

import (
	"context"
	"errors"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"

	"github.com/pagehand/pagehand/internal/cdp"
)

// Region is a rectangle of the viewport, in CSS pixels.
type Region struct{ X, Y, Width, Height float64 }

// errEmpty is what a capture without data means; it must not reach the model as an image.
var errEmpty = errors.New("empty picture from the browser")

// Capture takes a PNG picture of the whole viewport when scale is 1 and region is the viewport, the quick way; else of a region,
// rendered at scale picture pixels per CSS pixel, so that it is really sharper and not blown up.
func (p *Page) Capture(ctx context.Context, region Region, scale float64) ([]byte, error) {
	params := page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatPng, OptimizeForSpeed: new(true)}
	whole := region == Region{0, 0, float64(p.opts.Width), float64(p.opts.Height)}
	if !whole || scale != p.opts.Scale {
		// The clip is in pixels of the document, and its scale multiplies the device's.
		m, err := cdp.Call(ctx, p.session, page.GetLayoutMetrics, proto.Empty{})
		if err != nil {
			return nil, err
		}
		params.Clip = &page.Viewport{
			X: m.CSSVisualViewport.PageX + region.X, Y: m.CSSVisualViewport.PageY + region.Y,
			Width: region.Width, Height: region.Height, Scale: scale / p.opts.Scale,
		}
	}
	res, err := cdp.Call(ctx, p.session, page.CaptureScreenshot, params)
	if err != nil {
		return nil, err
	}
	if len(res.Data) == 0 {
		return nil, errEmpty
	}
	return res.Data, nil
}

// BringToFront makes the tab the one in front of its window.
func (p *Page) BringToFront(ctx context.Context) error {
	_, err := cdp.Call(ctx, p.session, page.BringToFront, proto.Empty{})
	return err
}
