package pagehand

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pagehand/pagehand/internal/keys"
	"github.com/pagehand/pagehand/internal/page"
)

var keyboardMembers = []Member{
	onTab("type", "Type a text into what has the focus.", typeText),
	onTab("key", "Press a key, a chord or a sequence of them.", pressKeys),
	onTab("hold_key", "Hold a key or chord for some seconds.", holdKey),
}

type typeInput struct {
	Text string `json:"text" need:"true" doc:"The literal text. A line break presses Enter in a single-line field and breaks the line elsewhere."`
	tabInput
}

func typeText(ctx context.Context, t *tab, in typeInput) (output, error) {
	strokes, err := keys.TypeEvents(in.Text)
	if err != nil {
		return output{}, &ToolError{err.Error(), err}
	}
	focus, err := t.page.Focused(ctx)
	if err != nil {
		return output{}, err
	}
	if focus.ReadOnly {
		return output{}, toolErrorf("%s has the focus and is read-only, so nothing was typed. Click a field that takes text first.", focus.On)
	}
	// Editors break a line with Shift+Enter where Enter alone may send what was written.
	breakLine := "Enter"
	if focus.Kind == "editor" {
		breakLine = "shift+Enter"
	}
	chord, err := keys.ParseChord(breakLine)
	if err != nil {
		return output{}, err
	}
	settled, err := t.act(ctx, func() error { return t.page.Type(ctx, strokes, chord) })
	if err != nil {
		return output{}, err
	}
	text := fmt.Sprintf("Typed %s", count(utf8.RuneCountInString(in.Text), "character"))
	switch {
	case focus.Kind == "none":
		text += ". No field has the focus; the page received the keys."
	case focus.Kind == "control":
		text += fmt.Sprintf(". %s has the focus and takes no text; it received the keys.", focus.On)
	case focus.On != "":
		text += " into " + focus.On + "."
	default:
		text += "."
	}
	if inParts[focus.Type] {
		text += " This field takes keys part by part, in the order it shows them; form_input sets it as a whole."
	}
	if focus.Suggests {
		text += " The field offers suggestions; read the page to choose one."
	}
	return say(text + t.focusMoved(ctx, focus, settled) + t.outcome(settled))
}

// inParts are the types of inputs that take a day, a month or an hour at a time.
var inParts = map[string]bool{"date": true, "time": true, "month": true, "week": true, "datetime-local": true}

// focusMoved tells when a page that stayed has moved the focus while it was typed into: some of the text may have gone elsewhere.
func (t *tab) focusMoved(ctx context.Context, from page.Focus, settled page.Settled) string {
	if settled.Navigated || settled.Loading {
		return ""
	}
	now, err := t.page.Focused(ctx)
	switch {
	case err != nil || now.Ref == from.Ref:
		return ""
	case now.Kind == "none":
		return " The page took the focus away from it."
	}
	return fmt.Sprintf(" The page moved the focus to %s.", now.On)
}

type keyInput struct {
	Text   string `json:"text" need:"true" doc:"A key such as Enter, a chord such as ctrl+a, or a space-separated sequence of them."`
	Repeat int    `json:"repeat" min:"1" max:"100" default:"1" doc:"How many times to press the whole sequence."`
	tabInput
}

func pressKeys(ctx context.Context, t *tab, in keyInput) (output, error) {
	chords, err := keys.ParseSequence(in.Text)
	if err != nil {
		return output{}, &ToolError{err.Error(), err}
	}
	settled, err := t.act(ctx, func() error {
		for range in.Repeat {
			if err := t.page.PressKeys(ctx, chords); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return output{}, err
	}
	text := "Pressed " + shorten(in.Text, 200)
	if in.Repeat > 1 {
		text += fmt.Sprintf(" %d times", in.Repeat)
	}
	return say(text + "." + t.outcome(settled))
}

type holdKeyInput struct {
	Text     string  `json:"text" need:"true" doc:"A key or chord."`
	Duration float64 `json:"duration" need:"true" min:"0" max:"30" doc:"How long, in seconds."`
	tabInput
}

func (in holdKeyInput) takes() time.Duration { return seconds(in.Duration) }

func holdKey(ctx context.Context, t *tab, in holdKeyInput) (output, error) {
	chord, err := keys.ParseChord(in.Text)
	if err != nil {
		return output{}, &ToolError{err.Error(), err}
	}
	settled, err := t.act(ctx, func() error { return t.page.Hold(ctx, chord, in.takes()) })
	if err != nil {
		return output{}, err
	}
	return say(fmt.Sprintf("Held %s for %s.", shorten(strings.TrimSpace(in.Text), 200), inWords(in.takes())) + t.outcome(settled))
}
