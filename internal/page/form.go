package page

import (
	"context"

	"github.com/pagehand/pagehand/internal/keys"
)

// Set is what became of a form element's value.
type Set struct {
	// Now is the value after the page reacted: a string, number, bool or list; nil when it is a secret or not known.
	Now any `json:"now"`
	// Secret tells that the value must not be shown; the field is filled.
	Secret any `json:"secret"`
	// Invalid is the browser's complaint about the value, empty when there is none.
	Invalid any `json:"invalid"`
	// Suggests tells that the field expects one of a list of suggestions, which Options names.
	Suggests bool     `json:"suggests"`
	Options  []string `json:"options"`
	// Note is a remark for the model.
	Note string `json:"note"`
}

// setAnswer is what the library's setValue answers.
type setAnswer struct {
	Set
	located
	NotFormElement string `json:"notFormElement"`
	ReadOnly       bool   `json:"readonly"`
	TypeInstead    bool   `json:"typeInstead"`
	Error          *struct{ Kind, Message string }
}

func (a setAnswer) problem(ref string) error {
	switch {
	case a.NotFormElement != "":
		return problemf("%s is no form element but %s. Use a textbox, checkbox, combobox or another control.", ref, a.NotFormElement)
	case a.ReadOnly:
		return problemf("%s is read-only.", ref)
	case a.Error != nil:
		return problemf("%s %s", ref, a.Error.Message)
	}
	return a.located.problem(ref)
}

// SetValue sets a form element: value is a string, float64 or bool.
func (p *Page) SetValue(ctx context.Context, ref string, value any) (Set, error) {
	w, n, err := p.refWorld(ref)
	if err != nil {
		return Set{}, err
	}
	var a setAnswer
	err = w.call(ctx, "setValue", &a, map[string]any{"ref": n, "value": value})
	if navigated(err) {
		return Set{}, nil // the page's own reaction to the value
	}
	if err != nil {
		return Set{}, err
	}
	if a.TypeInstead {
		return p.typeOver(ctx, w, n, ref, value)
	}
	return a.Set, a.problem(ref)
}

// typeOver replaces what the library has selected in a rich text editor, which follows trusted input only.
func (p *Page) typeOver(ctx context.Context, w *world, n int, ref string, value any) (Set, error) {
	text, ok := value.(string)
	if !ok {
		return Set{}, problemf("%s takes a text.", ref)
	}
	var err error
	if text == "" {
		var chords []keys.Chord
		if chords, err = keys.ParseSequence("Delete"); err == nil {
			err = p.PressKeys(ctx, chords)
		}
	} else {
		_, err = p.insert(text).Wait(ctx)
	}
	if err != nil {
		return Set{}, err
	}
	var read struct {
		Stale   bool   `json:"stale"`
		Matches bool   `json:"matches"`
		Now     string `json:"now"`
	}
	err = w.call(ctx, "readValue", &read, map[string]any{"ref": n, "value": text})
	if navigated(err) {
		return Set{}, nil
	}
	if err != nil {
		return Set{}, err
	}
	if read.Stale || !read.Matches {
		return Set{Now: read.Now}, problemf("%s did not keep the value: it now reads %q. Click it and use type instead.", ref, shorten(oneLine(read.Now), longestDialog))
	}
	return Set{Now: read.Now}, nil
}
