package page

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/chromedp/cdproto/input"

	"github.com/pagehand/pagehand/internal/cdp"
	"github.com/pagehand/pagehand/internal/keys"
)

// Focus is where the keyboard goes.
type Focus struct {
	// Kind is "single-line", "multi-line", "editor" (rich text), "control" for another element, or "none".
	Kind string `json:"kind"`
	// On is the focused element's role, name and ref; empty for none.
	On string `json:"describe"`
	// Type is the type of an input, such as "text" or "date".
	Type string `json:"type"`
	// Ref is its number, for comparing.
	Ref int `json:"ref"`
	// Suggests tells that the page shows suggestions for what is typed.
	Suggests bool `json:"suggests"`
	// ReadOnly tells that the field refuses typing.
	ReadOnly bool `json:"readonly"`
}

// Focused tells where the keyboard goes.
func (p *Page) Focused(ctx context.Context) (Focus, error) {
	id := p.main
	for {
		var seen Focus
		var w *world
		err := p.inFrame(ctx, id, func(in *world) error {
			w = in
			return in.call(ctx, "focusState", &seen)
		})
		if err != nil || seen.Kind != "frame" {
			return seen, err
		}
		child, err := p.frameShownBy(ctx, w, seen.Ref)
		if err != nil || child == "" {
			return seen, err
		}
		id = child
	}
}

// editingOn tells keys which platform's shortcuts the browser lacks.
var editingOn = runtime.GOOS == "darwin"

// keyEvent sends one key event. kind is keyDown, rawKeyDown or keyUp.
func (p *Page) keyEvent(kind input.DispatchKeyEventType, k keys.Key, held keys.Modifiers, repeat bool, commands []string) sending {
	params := input.DispatchKeyEventParams{
		Type: kind, Modifiers: int64(held), Key: k.Key, Code: k.Code,
		WindowsVirtualKeyCode: int64(k.KeyCode), NativeVirtualKeyCode: int64(k.KeyCode),
		AutoRepeat: &repeat, Commands: commands,
	}
	if k.Location == 3 {
		params.IsKeypad = new(true)
	} else {
		params.Location = int64(k.Location)
	}
	if kind == input.DispatchKeyEventTypeKeyDown {
		params.Text, params.UnmodifiedText = k.Text, k.Text
	}
	return cdp.Start(p.session, input.DispatchKeyEvent, params)
}

// down is the type of event that a pressed key makes: with text when it types some.
func down(k keys.Key) input.DispatchKeyEventType {
	if k.Text == "" {
		return input.DispatchKeyEventTypeRawKeyDown
	}
	return input.DispatchKeyEventTypeKeyDown
}

// holdKeys presses the keys of a chord of modifiers, in order.
func (p *Page) holdKeys(chord keys.Chord) []sending {
	var sent []sending
	var held keys.Modifiers
	for _, k := range chord {
		held |= k.Modifier
		sent = append(sent, p.keyEvent(down(k), k, held, false, nil))
	}
	return sent
}

// releaseKeys releases the keys of a chord, in reverse.
func (p *Page) releaseKeys(chord keys.Chord) []sending {
	var sent []sending
	held := chord.Modifiers()
	for i := len(chord) - 1; i >= 0; i-- {
		k := chord[i]
		held &^= k.Modifier
		sent = append(sent, p.keyEvent(input.DispatchKeyEventTypeKeyUp, k, held, false, nil))
	}
	return sent
}

// press sends a whole chord: its modifiers down, its key down and up, its modifiers up.
func (p *Page) press(chord keys.Chord, release bool) []sending {
	last := chord[len(chord)-1]
	if last.Code == "" { // a character that no key has
		return []sending{p.insert(last.Text)}
	}
	before := chord[:len(chord)-1]
	sent := p.holdKeys(before)
	sent = append(sent, p.keyEvent(down(last), last, chord.Modifiers(), false, keys.EditingCommands(chord, editingOn)))
	if release {
		sent = append(sent, p.releaseKeys(chord)...)
	}
	return sent
}

func (p *Page) insert(text string) sending {
	return cdp.Start(p.session, input.InsertText, input.InsertTextParams{Text: text})
}

// Press presses chords one after the other.
func (p *Page) PressKeys(ctx context.Context, chords []keys.Chord) error {
	for _, chord := range chords {
		if err := wait(ctx, p.press(chord, true)); err != nil {
			return err
		}
	}
	return nil
}

// A held key repeats as a keyboard does: after repeatDelay, every repeatEvery.
const (
	repeatDelay = 500 * time.Millisecond
	repeatEvery = 33 * time.Millisecond
)

// Hold holds a chord for a while. The key is released also when the context ends first.
func (p *Page) Hold(ctx context.Context, chord keys.Chord, d time.Duration) error {
	last := chord[len(chord)-1]
	if last.Code == "" {
		return problemf("%q is no key of a keyboard, so it cannot be held. Use type to enter it.", last.Text)
	}
	err := wait(ctx, p.press(chord, false))
	if err == nil {
		err = p.repeat(ctx, last, chord.Modifiers(), d)
	}
	return errors.Join(err, wait(context.WithoutCancel(ctx), p.releaseKeys(chord)))
}

func (p *Page) repeat(ctx context.Context, k keys.Key, held keys.Modifiers, d time.Duration) error {
	end := time.NewTimer(d)
	defer end.Stop()
	next := time.NewTimer(repeatDelay)
	defer next.Stop()
	for {
		select {
		case <-end.C:
			return nil
		case <-p.session.Done():
			return p.session.Err()
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-next.C:
			if k.Modifier == 0 { // modifiers do not repeat
				if err := wait(ctx, []sending{p.keyEvent(down(k), k, held, true, nil)}); err != nil {
					return err
				}
			}
			next.Reset(repeatEvery)
		}
	}
}

// Type types a text at the focus: printable ASCII with key events, all else inserted. breakLine is pressed for each line break;
// in a single-line field that is Enter.
func (p *Page) Type(ctx context.Context, strokes []keys.Stroke, breakLine keys.Chord) error {
	var sent []sending
	for _, s := range strokes {
		switch {
		case s.Insert != "":
			sent = append(sent, p.insert(s.Insert))
		case s.Key.Key == "Enter":
			sent = append(sent, p.press(breakLine, true)...)
		default:
			sent = append(sent, p.keyEvent(down(s.Key), s.Key, s.Modifiers, false, nil), p.keyEvent(input.DispatchKeyEventTypeKeyUp, s.Key, s.Modifiers, false, nil))
		}
		// Enough on its way to keep the browser busy, not so much that a cancelled call leaves a long tail.
		if len(sent) > 256 {
			if err := wait(ctx, sent); err != nil {
				return err
			}
			sent = sent[:0]
		}
	}
	return wait(ctx, sent)
}
