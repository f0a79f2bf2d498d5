package page

import (
	"context"
	"errors"
	"time"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"

	"github.com/pagehand/pagehand/internal/cdp"
	"github.com/pagehand/pagehand/internal/keys"
)

// Place is where a pointer acts: an element, or a point of the viewport in CSS pixels when Ref is empty.
type Place struct {
	Ref  string
	X, Y float64
}

// Button is a mouse button.
type Button = input.MouseButton

// The buttons of a mouse.
const (
	Left   = input.MouseButtonLeft
	Right  = input.MouseButtonRight
	Middle = input.MouseButtonMiddle
)

// heldBits are the buttons' bits in the events' "buttons".
var heldBits = map[Button]int64{input.MouseButtonLeft: 1, input.MouseButtonRight: 2, input.MouseButtonMiddle: 4}

// spot is a place resolved to a point of the tab's viewport, and the world that watches what input reaches there.
type spot struct {
	x, y  float64
	world *world
	on    string // what is there, for a coordinate: role, name and ref
	aria  bool   // the element says by aria-disabled that it is disabled

	downloads int // how many the tab has begun so far
}

// located is what the library's locate, at and throughFrame answer.
type located struct {
	Point        *struct{ X, Y float64 } `json:"point"`
	Stale        bool                    `json:"stale"`
	Detached     bool                    `json:"detached"`
	Disabled     string                  `json:"disabled"`
	Hidden       string                  `json:"hidden"`
	Blocked      string                  `json:"blocked"`
	Covered      *struct{ By string }    `json:"covered"`
	AriaDisabled bool                    `json:"ariaDisabled"`
}

// problem words why an element cannot be pointed at.
func (l located) problem(ref string) error {
	switch {
	case l.Stale, l.Detached:
		return staleRef(ref)
	case l.Disabled != "":
		return problemf("%s is disabled: %s. Do what enables it first.", ref, l.Disabled)
	case l.Blocked != "":
		return problemf("%s is blocked by the modal %s. Close that first, then retry.", ref, l.Blocked)
	case l.Covered != nil:
		return problemf("%s is covered by %s. Close it or scroll, then retry.", ref, l.Covered.By)
	case l.Hidden != "":
		return problemf("%s cannot be pointed at: %s. Read the page again to see what is visible.", ref, l.Hidden)
	}
	return nil
}

// locate brings an element into view and finds a point of it that takes the pointer, or says why there is none. For a coordinate
// it only notes what is there. forClick refuses disabled elements.
func (p *Page) locate(ctx context.Context, at Place, forClick bool) (spot, error) {
	if at.Ref == "" {
		return p.spotAt(ctx, at)
	}
	w, n, err := p.refWorld(at.Ref)
	if err != nil {
		return spot{}, err
	}
	var found located
	err = w.call(ctx, "locate", &found, map[string]any{"ref": n, "forClick": forClick, "watch": true})
	if navigated(err) {
		return spot{}, staleRef(at.Ref)
	}
	if err != nil {
		return spot{}, err
	}
	if found.Point == nil {
		return spot{}, found.problem(at.Ref)
	}
	s := spot{x: found.Point.X, y: found.Point.Y, world: w, aria: found.AriaDisabled, downloads: p.downloadsBegun()}
	// Up through the frames that scripts cannot look out of: those of other origins, and of other processes.
	for child := w.root; child != p.main; {
		var up located
		var next proto.FrameID
		err := p.inFrame(ctx, p.parentOf(child), func(parent *world) error {
			next = parent.root
			owner, err := p.frameOwner(ctx, parent, child)
			if err != nil {
				return err
			}
			return parent.call(ctx, "throughFrame", &up, owner, s.x, s.y)
		})
		if err != nil {
			return spot{}, err
		}
		child = next
		if up.Point == nil {
			return spot{}, up.problem(at.Ref)
		}
		s.x, s.y = up.Point.X, up.Point.Y
	}
	return s, nil
}

func (p *Page) spotAt(ctx context.Context, at Place) (spot, error) {
	s := spot{x: at.X, y: at.Y, downloads: p.downloadsBegun()}
	var under *struct {
		Describe string `json:"describe"`
	}
	err := p.inMainWorld(ctx, func(w *world) error {
		s.world = w
		return w.call(ctx, "at", &under, map[string]any{"x": at.X, "y": at.Y, "watch": true})
	})
	if under != nil {
		s.on = under.Describe
	}
	return s, err
}

func (p *Page) parentOf(id proto.FrameID) proto.FrameID {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f := p.frames[id]; f != nil && f.parent != "" {
		return f.parent
	}
	return p.main
}

// frameOwner is the element that shows a frame, in the world of the parent's document.
func (p *Page) frameOwner(ctx context.Context, parent *world, child proto.FrameID) (object, error) {
	owner, err := cdp.Call(ctx, parent.session, dom.GetFrameOwner, dom.GetFrameOwnerParams{FrameID: child})
	if err != nil {
		return object{}, err
	}
	res, err := cdp.Call(ctx, parent.session, dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: owner.BackendNodeID, ExecutionContextID: parent.context})
	if err != nil {
		return object{}, err
	}
	return object{res.Object.ObjectID}, nil
}

// Click is one press of a button, or several in quick succession, with a chord of modifiers held.
type Click struct {
	Button    Button
	Count     int
	Modifiers keys.Chord
}

// Hit says what an action of the pointer reached.
type Hit struct {
	// On is what was at the coordinate: role, name and ref. Empty for a ref, and where nothing is.
	On string
	// AriaDisabled tells that the element calls itself disabled, although a person could click it.
	AriaDisabled bool
}

// Click clicks at a place with real, trusted input. A failure that is no [Problem] leaves open whether the click arrived.
func (p *Page) Click(ctx context.Context, at Place, c Click) (Hit, error) {
	s, err := p.locate(ctx, at, true)
	if err != nil {
		return Hit{}, err
	}
	held := int64(c.Modifiers.Modifiers())
	sent := p.holdKeys(c.Modifiers)
	sent = append(sent, p.mouse(input.DispatchMouseEventTypeMouseMoved, s, mouseState{modifiers: held}))
	for n := 1; n <= c.Count; n++ {
		sent = append(sent,
			p.mouse(input.DispatchMouseEventTypeMousePressed, s, mouseState{button: c.Button, held: heldBits[c.Button], count: n, modifiers: held}),
			p.mouse(input.DispatchMouseEventTypeMouseReleased, s, mouseState{button: c.Button, count: n, modifiers: held}))
	}
	sent = append(sent, p.releaseKeys(c.Modifiers)...)
	if err := p.reached(ctx, s, at, "pointerup", c.Count, sent); err != nil {
		return Hit{}, err
	}
	return Hit{On: s.on, AriaDisabled: s.aria}, nil
}

// reached waits for input that has been sent and checks that it reached the element it was meant for.
func (p *Page) reached(ctx context.Context, s spot, at Place, until string, count int, sent []sending) error {
	var seen struct {
		Armed    bool   `json:"armed"`
		Reached  *bool  `json:"reached"`
		On       string `json:"on"`
		Unseen   bool   `json:"unseen"`
		Download bool   `json:"download"`
		Refused  bool   `json:"refused"`
	}
	look := func() error {
		return s.world.call(ctx, "landed", &seen, map[string]any{"until": until, "count": count})
	}
	err := look()
	for _, one := range sent {
		if _, err := one.Wait(ctx); err != nil {
			if p.closing(ctx, err) {
				return nil
			}
			return err
		}
	}
	if err == nil && seen.Unseen {
		seen.Unseen = false
		err = look() // the page was slow, but has handled the input now
	}
	if navigated(err) || p.closing(ctx, err) {
		return nil // the input led to another page, or closed this one
	}
	if err != nil {
		return err
	}
	if seen.Download {
		p.expectDownload(s.downloads)
	}
	if seen.Refused {
		p.Note("The browser does not open data: addresses as pages; the tab stays where it was.")
	}
	if at.Ref == "" || !seen.Armed {
		return nil
	}
	if seen.Unseen && until == "pointerup" {
		p.Note("No event of it was seen on the page: something kept it back. Look before you go on.")
	}
	if seen.Reached == nil {
		return nil
	}
	if !*seen.Reached {
		return problemf("The pointer reached %s instead of %s. Read the page to see what changed before you go on.", seen.On, at.Ref)
	}
	return nil
}

// closing tells whether a call failed because the tab is going away: Chromium may refuse what is on its way a moment before it
// says so.
func (p *Page) closing(ctx context.Context, err error) bool {
	if errors.Is(err, cdp.ErrDetached) {
		return true
	}
	var refused *cdp.Error
	if !errors.As(err, &refused) {
		return false
	}
	patience := time.NewTimer(expectPatience)
	defer patience.Stop()
	select {
	case <-p.session.Done():
		return true
	case <-patience.C:
	case <-ctx.Done():
	}
	return false
}

// sending is input on its way; Chromium answers when the page has handled it.
type sending = cdp.Pending[proto.Empty]

// mouseState is what a mouse event says beside its place.
type mouseState struct {
	button    Button
	held      int64 // bits of the buttons held
	count     int
	modifiers int64
}

func (p *Page) mouse(kind input.DispatchMouseEventType, s spot, m mouseState) sending {
	return cdp.Start(p.session, input.DispatchMouseEvent, input.DispatchMouseEventParams{
		Type: kind, X: s.x, Y: s.y, Button: m.button, Buttons: m.held, ClickCount: int64(m.count), Modifiers: m.modifiers,
	})
}

// Move moves the pointer to a place. button is the one held meanwhile, empty for none.
func (p *Page) Move(ctx context.Context, at Place, button Button) (Hit, error) {
	s, err := p.locate(ctx, at, false)
	if err != nil {
		return Hit{}, err
	}
	sent := []sending{p.mouse(input.DispatchMouseEventTypeMouseMoved, s, mouseState{button: button, held: heldBits[button]})}
	return Hit{On: s.on}, p.reached(ctx, s, at, "pointermove", 1, sent)
}

// Press presses or releases the left button at a point.
func (p *Page) Press(ctx context.Context, at Place, down bool) (Hit, error) {
	s, err := p.locate(ctx, at, false)
	if err != nil {
		return Hit{}, err
	}
	// Chromium begins a native drag only when the moves say which button is held.
	button, held := input.MouseButton(""), int64(0)
	if !down {
		button, held = input.MouseButtonLeft, 1
	}
	sent := []sending{p.mouse(input.DispatchMouseEventTypeMouseMoved, s, mouseState{button: button, held: held})}
	if down {
		sent = append(sent, p.mouse(input.DispatchMouseEventTypeMousePressed, s, mouseState{button: input.MouseButtonLeft, held: 1, count: 1}))
		return Hit{On: s.on}, p.reached(ctx, s, at, "pointerdown", 1, sent)
	}
	sent = append(sent, p.mouse(input.DispatchMouseEventTypeMouseReleased, s, mouseState{button: input.MouseButtonLeft, count: 1}))
	return Hit{On: s.on}, p.reached(ctx, s, at, "pointerup", 1, sent)
}

// dragSteps is how many moves a drag makes: sortable lists and native dragging need several, and a threshold.
const dragSteps = 12

// Drag presses the left button at one point, moves in steps to another and releases it there.
func (p *Page) Drag(ctx context.Context, from, to Place) (Hit, error) {
	start, err := p.locate(ctx, from, false)
	if err != nil {
		return Hit{}, err
	}
	steps := []sending{
		p.mouse(input.DispatchMouseEventTypeMouseMoved, start, mouseState{}),
		p.mouse(input.DispatchMouseEventTypeMousePressed, start, mouseState{button: input.MouseButtonLeft, held: 1, count: 1}),
	}
	if err := wait(ctx, steps); err != nil {
		return Hit{}, err
	}
	for i := 1; i <= dragSteps; i++ {
		part := float64(i) / dragSteps
		at := spot{x: start.x + (to.X-start.x)*part, y: start.y + (to.Y-start.y)*part}
		// One at a time: the page, or Chromium's own drag, takes each one in before the next.
		if err := wait(ctx, []sending{p.mouse(input.DispatchMouseEventTypeMouseMoved, at, mouseState{button: input.MouseButtonLeft, held: 1})}); err != nil {
			return Hit{}, err
		}
	}
	end := spot{x: to.X, y: to.Y}
	steps = []sending{
		p.mouse(input.DispatchMouseEventTypeMouseMoved, end, mouseState{button: input.MouseButtonLeft, held: 1}),
		p.mouse(input.DispatchMouseEventTypeMouseReleased, end, mouseState{button: input.MouseButtonLeft, count: 1}),
	}
	return Hit{On: start.on}, wait(ctx, steps)
}

func wait(ctx context.Context, sent []sending) error {
	for _, one := range sent {
		if _, err := one.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Scrolled is one thing that a wheel moved: the page, or an element by role, name and ref.
type Scrolled struct {
	What            string  `json:"describe"`
	DX, DY          float64 // CSS pixels
	Left, Top       float64
	MaxLeft, MaxTop float64
	Page            bool
}

// wheelParams are those of a wheel event, which Chromium accepts only with both deltas; cdproto's leave out a zero.
type wheelParams struct {
	Type   input.DispatchMouseEventType `json:"type"`
	X      float64                      `json:"x"`
	Y      float64                      `json:"y"`
	DeltaX float64                      `json:"deltaX"`
	DeltaY float64                      `json:"deltaY"`
}

var turnWheel = proto.Command[wheelParams, proto.Empty]{Method: input.CommandDispatchMouseEvent}

// Wheel turns the wheel at a point and tells what moved, nothing when nothing did; prevented tells that the page took the
// wheel for itself.
func (p *Page) Wheel(ctx context.Context, x, y, dx, dy float64) (moved []Scrolled, prevented bool, err error) {
	w, err := p.wheelWorld(ctx, x, y)
	if err != nil {
		return nil, false, err
	}
	// The answer comes when the page has had the wheel; only then is it clear whether it took it.
	wheel := wheelParams{Type: input.DispatchMouseEventTypeMouseWheel, X: x, Y: y, DeltaX: dx, DeltaY: dy}
	if _, err := cdp.Call(ctx, p.session, turnWheel, wheel); err != nil {
		return nil, false, err
	}
	var seen struct {
		Moved     []Scrolled `json:"moved"`
		Prevented bool       `json:"prevented"`
	}
	if err := w.call(ctx, "scrolled", &seen, map[string]any{"dx": dx, "dy": dy}); err != nil && !navigated(err) {
		return nil, false, err
	}
	// What watches for elements to come into view learns of it with the next frame.
	return seen.Moved, seen.Prevented, p.observe(ctx, "painted")
}

// wheelWorld remembers how far everything under a point is scrolled, in the process that the wheel will reach, and gives its world.
func (p *Page) wheelWorld(ctx context.Context, x, y float64) (*world, error) {
	id := p.main
	for {
		var seen struct {
			Frame *struct {
				Ref  int
				X, Y float64
			} `json:"frame"`
		}
		var w *world
		err := p.inFrame(ctx, id, func(in *world) error {
			w = in
			return in.call(ctx, "scrollState", &seen, map[string]any{"x": x, "y": y})
		})
		if err != nil || seen.Frame == nil {
			return w, err
		}
		child, err := p.frameShownBy(ctx, w, seen.Frame.Ref)
		if err != nil || child == "" {
			return w, err
		}
		id, x, y = child, seen.Frame.X, seen.Frame.Y
	}
}

// Reveal scrolls an element into view and tells whether it is there now.
func (p *Page) Reveal(ctx context.Context, ref string) error {
	w, n, err := p.refWorld(ref)
	if err != nil {
		return err
	}
	var seen struct {
		located
		OK     bool `json:"ok"`
		InView bool `json:"inView"`
	}
	err = w.call(ctx, "reveal", &seen, map[string]any{"ref": n})
	switch {
	case navigated(err):
		return staleRef(ref)
	case err != nil:
		return err
	case seen.problem(ref) != nil:
		return seen.problem(ref)
	case !seen.InView:
		return problemf("%s could not be scrolled into view.", ref)
	}
	return p.observe(ctx, "painted")
}
