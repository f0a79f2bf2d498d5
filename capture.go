package pagehand

import (
	"context"
	"encoding/json"

	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/internal/page"
)

var captureMembers = []Member{
	onTab("screenshot", "Take a picture of the viewport.", screenshot),
	onTab("zoom", "Take a closer picture of a part of the viewport.", zoom),
}

// Frame is the pixel space that the model sees and points in: the viewport, scaled down where it would be over the API's
// image limits (contract §3). Coordinates are scaled back up by the inverse.
func (s *Session) Frame() Size {
	w, h := contract.FitSize(s.opts.Viewport.Width, s.opts.Viewport.Height)
	return Size{w, h}
}

// frameScale is how many frame pixels one CSS pixel takes; at most 1. The longer side tells it exactly, the shorter one is
// rounded to whole pixels.
func (s *Session) frameScale() float64 {
	f, v := s.Frame(), s.opts.Viewport
	return float64(max(f.Width, f.Height)) / float64(max(v.Width, v.Height))
}

// perPixel is how many CSS pixels one frame pixel stands for, along each side.
func (s *Session) perPixel() (x, y float64) {
	f, v := s.Frame(), s.opts.Viewport
	return float64(v.Width) / float64(f.Width), float64(v.Height) / float64(f.Height)
}

// toViewport turns a coordinate of the model's into CSS pixels of the viewport.
func (s *Session) toViewport(t Target) (x, y float64, err error) {
	f := s.Frame()
	if t.X < 0 || t.X >= f.Width || t.Y < 0 || t.Y >= f.Height {
		return 0, 0, toolErrorf("(%d, %d) is outside the viewport: x must be from 0 to %d and y from 0 to %d.", t.X, t.Y, f.Width-1, f.Height-1)
	}
	// The middle of a frame pixel is the middle of the viewport pixels it stands for.
	perX, perY := s.perPixel()
	return (float64(t.X)+0.5)*perX - 0.5, (float64(t.Y)+0.5)*perY - 0.5, nil
}

func screenshot(ctx context.Context, t *tab, _ tabInput) (output, error) {
	v := t.session.opts.Viewport
	image, err := t.page.Capture(ctx, page.Region{Width: float64(v.Width), Height: float64(v.Height)}, t.session.frameScale())
	if err != nil {
		return output{}, err
	}
	return output{image: image}, t.page.Refresh(ctx)
}

// region is a rectangle of the viewport: x0, y0, x1, y1 in frame pixels.
type region [4]int

func (r *region) decodeWire(field string, raw json.RawMessage) error {
	const form = "[x0, y0, x1, y1], four integers in viewport pixels"
	var numbers []json.RawMessage
	if json.Unmarshal(raw, &numbers) != nil || len(numbers) != len(r) {
		return toolErrorf("%s must be %s, not %s.", field, form, shown(raw))
	}
	for i, n := range numbers {
		var err error
		if r[i], err = wholeNumber(n); err != nil {
			return toolErrorf("%s must be %s, not %s.", field, form, shown(raw))
		}
	}
	return nil
}

func (region) schema() map[string]any {
	return map[string]any{"type": "array", "items": map[string]any{"type": "integer", "minimum": 0}, "minItems": 4, "maxItems": 4}
}

type zoomInput struct {
	Region region `json:"region" need:"true" doc:"The part to show: x0, y0, x1, y1 in viewport pixels."`
	tabInput
}

// zoom renders the region at a higher scale, so that it is really sharper. Its picture keeps the region's shape and fits the
// screenshot's size.
func zoom(ctx context.Context, t *tab, in zoomInput) (output, error) {
	s := t.session
	f, r := s.Frame(), in.Region
	if r[0] < 0 || r[1] < 0 || r[2] > f.Width || r[3] > f.Height || r[0] >= r[2] || r[1] >= r[3] {
		return output{}, toolErrorf("region must lie inside the viewport with x0 < x1 and y0 < y1: x from 0 to %d, y from 0 to %d; got [%d, %d, %d, %d].", f.Width, f.Height, r[0], r[1], r[2], r[3])
	}
	perX, perY := s.perPixel()
	view := page.Region{
		X: float64(r[0]) * perX, Y: float64(r[1]) * perY,
		Width: float64(r[2]-r[0]) * perX, Height: float64(r[3]-r[1]) * perY,
	}
	image, err := t.page.Capture(ctx, view, min(float64(f.Width)/view.Width, float64(f.Height)/view.Height))
	if err != nil {
		return output{}, err
	}
	return output{image: image}, t.page.Refresh(ctx)
}
