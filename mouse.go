package pagehand

import (
	"context"
	"fmt"
	"strings"

	"github.com/pagehand/pagehand/internal/keys"
	"github.com/pagehand/pagehand/internal/page"
)

var mouseMembers = []Member{
	onTab("left_click", "Click a point or an element.", clicker("Clicked", page.Left, 1)),
	onTab("right_click", "Click a point or an element with the right button.", clicker("Right-clicked", page.Right, 1)),
	onTab("middle_click", "Click a point or an element with the middle button.", clicker("Middle-clicked", page.Middle, 1)),
	onTab("double_click", "Double-click a point or an element.", clicker("Double-clicked", page.Left, 2)),
	onTab("triple_click", "Click a point or an element three times, which selects a line or paragraph.", clicker("Triple-clicked", page.Left, 3)),
	onTab("hover", "Move the pointer over a point or an element without clicking.", hover),
	onTab("left_click_drag", "Drag from one point to another with the left button.", drag),
	onTab("left_mouse_down", "Press the left button at a point and keep it down.", leftMouseDown),
	onTab("left_mouse_up", "Release the left button at a point.", leftMouseUp),
	onTab("mouse_move", "Move the pointer to a point.", mouseMove),
	onTab("scroll", "Turn the mouse wheel at a point.", scroll),
	onTab("scroll_to", "Scroll an element into view.", scrollTo),
}

// place resolves a target of the model's to a place on the page.
func (t *tab) place(target Target) (page.Place, error) {
	if target.Ref != "" {
		return page.Place{Ref: target.Ref}, nil
	}
	x, y, err := t.session.toViewport(target)
	return page.Place{X: x, Y: y}, err
}

// point moves, presses or clicks at a target, waits for what comes of it, and words it: "Clicked element ref_2."
func (t *tab) point(ctx context.Context, verb string, target Target, action func(page.Place) (page.Hit, error)) (output, error) {
	at, err := t.place(target)
	if err != nil {
		return output{}, err
	}
	var hit page.Hit
	settled, err := t.act(ctx, func() error {
		hit, err = action(at)
		return err
	})
	if err != nil {
		return output{}, err
	}
	text := fmt.Sprintf("%s %s", verb, target)
	if hit.On != "" {
		text += ", on " + hit.On
	}
	text += "."
	if hit.AriaDisabled {
		text += " It is marked as disabled (aria-disabled)."
	}
	return say(text + t.outcome(settled))
}

// outcome tells where an action led, when that is elsewhere.
func (t *tab) outcome(s page.Settled) string {
	var b strings.Builder
	switch {
	case s.Failure != "":
		fmt.Fprintf(&b, "\nThe page it led to could not be loaded: %s.", s.Failure)
	case s.Loading:
		b.WriteString("\nStill loading.")
	case s.Pending > 0:
		fmt.Fprintf(&b, "\nStill busy: %s pending.", count(s.Pending, "request"))
	}
	return b.String()
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

type clickInput struct {
	Target    Target `json:"target" need:"true" doc:"Where to click."`
	Modifiers string `json:"modifiers" empty:"true" doc:"Modifier keys held during the click, such as shift or ctrl+shift."`
	tabInput
}

// clicker makes the handler of a clicking member.
func clicker(verb string, button page.Button, times int) func(context.Context, *tab, clickInput) (output, error) {
	return func(ctx context.Context, t *tab, in clickInput) (output, error) {
		modifiers, err := keys.ParseModifiers(in.Modifiers)
		if err != nil {
			return output{}, &ToolError{"modifiers: " + err.Error(), err}
		}
		return t.point(ctx, verb, in.Target, func(at page.Place) (page.Hit, error) {
			return t.page.Click(ctx, at, page.Click{Button: button, Count: times, Modifiers: modifiers})
		})
	}
}

type hoverInput struct {
	Target Target `json:"target" need:"true" doc:"Where to move the pointer."`
	tabInput
}

func hover(ctx context.Context, t *tab, in hoverInput) (output, error) {
	return t.point(ctx, "Moved the pointer to", in.Target, func(at page.Place) (page.Hit, error) { return t.page.Move(ctx, at, t.held()) })
}

type pointInput struct {
	Target CoordinateTarget `json:"target" need:"true" doc:"The point, in viewport pixels."`
	tabInput
}

func mouseMove(ctx context.Context, t *tab, in pointInput) (output, error) {
	return hover(ctx, t, hoverInput{in.Target.Target, in.tabInput})
}

func leftMouseDown(ctx context.Context, t *tab, in pointInput) (output, error) {
	out, err := t.point(ctx, "Pressed the left button at", in.Target.Target, func(at page.Place) (page.Hit, error) { return t.page.Press(ctx, at, true) })
	if err == nil {
		t.down = true
	}
	return out, err
}

func leftMouseUp(ctx context.Context, t *tab, in pointInput) (output, error) {
	t.down = false
	return t.point(ctx, "Released the left button at", in.Target.Target, func(at page.Place) (page.Hit, error) { return t.page.Press(ctx, at, false) })
}

// held is the button that left_mouse_down keeps down.
func (t *tab) held() page.Button {
	if t.down {
		return page.Left
	}
	return ""
}

type dragInput struct {
	From   CoordinateTarget `json:"from" need:"true" doc:"Where to press the button."`
	Target CoordinateTarget `json:"target" need:"true" doc:"Where to release it."`
	tabInput
}

func drag(ctx context.Context, t *tab, in dragInput) (output, error) {
	to, err := t.place(in.Target.Target)
	if err != nil {
		return output{}, err
	}
	from, err := t.place(in.From.Target)
	if err != nil {
		return output{}, err
	}
	var hit page.Hit
	settled, err := t.act(ctx, func() error {
		hit, err = t.page.Drag(ctx, from, to)
		return err
	})
	if err != nil {
		return output{}, err
	}
	text := fmt.Sprintf("Dragged from %s to %s", in.From, in.Target)
	if hit.On != "" {
		text += ", starting on " + hit.On
	}
	return say(text + "." + t.outcome(settled))
}

// notch is how far one notch of a wheel scrolls, in CSS pixels.
const notch = 100

type scrollInput struct {
	Target    CoordinateTarget `json:"target" need:"true" doc:"Where the pointer is, in viewport pixels."`
	Direction string           `json:"scroll_direction" need:"true" enum:"up,down,left,right" doc:"Which way to scroll."`
	Amount    int              `json:"scroll_amount" min:"1" max:"10" default:"3" doc:"How many notches of the wheel."`
	tabInput
}

func scroll(ctx context.Context, t *tab, in scrollInput) (output, error) {
	at, err := t.place(in.Target.Target)
	if err != nil {
		return output{}, err
	}
	var dx, dy float64
	switch in.Direction {
	case "up":
		dy = -notch
	case "down":
		dy = notch
	case "left":
		dx = -notch
	case "right":
		dx = notch
	}
	var moved []page.Scrolled
	var prevented bool
	settled, err := t.act(ctx, func() error {
		moved, prevented, err = t.page.Wheel(ctx, at.X, at.Y, dx*float64(in.Amount), dy*float64(in.Amount))
		return err
	})
	if err != nil {
		return output{}, err
	}
	return say(scrolledText(in, moved, prevented) + t.outcome(settled))
}

func scrolledText(in scrollInput, moved []page.Scrolled, prevented bool) string {
	if len(moved) == 0 {
		if prevented {
			return fmt.Sprintf("Turned the wheel %s at %s; the page took it for itself and nothing scrolled.", in.Direction, in.Target)
		}
		return fmt.Sprintf("Nothing moved: what is at %s cannot scroll %s any further.", in.Target, in.Direction)
	}
	parts := make([]string, len(moved))
	for i, m := range moved {
		by, at, end := m.DY, m.Top, m.MaxTop
		if m.DX != 0 {
			by, at, end = m.DX, m.Left, m.MaxLeft
		}
		if by < 0 {
			by = -by
		}
		parts[i] = fmt.Sprintf("%s by %.0f pixels, to %.0f of %.0f", m.What, by, at, end)
	}
	return fmt.Sprintf("Scrolled %s: %s.", in.Direction, strings.Join(parts, "; "))
}

type scrollToInput struct {
	Target RefTarget `json:"target" need:"true" doc:"The element."`
	tabInput
}

func scrollTo(ctx context.Context, t *tab, in scrollToInput) (output, error) {
	settled, err := t.act(ctx, func() error { return t.page.Reveal(ctx, in.Target.Ref) })
	if err != nil {
		return output{}, err
	}
	return say(fmt.Sprintf("Scrolled %s into view.", in.Target) + t.outcome(settled))
}
