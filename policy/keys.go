package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pagehand/pagehand/internal/keys"
)

// The prefixes of Enter and Space in a sequence after a key that moves the focus: Tab, or within a menu or a list an arrow.
const (
	afterTab   = "tab-"
	afterArrow = "arrow-"
)

// readKeys reads names of keys as the member key takes them, also Tab-Enter and the like.
func readKeys(f fields) ([]check, error) {
	texts, err := f.texts("keys")
	if err != nil {
		return nil, err
	}
	wanted := make([]string, len(texts))
	for i, t := range texts {
		prefix, name := "", t.text
		for _, p := range []string{afterTab, afterArrow} {
			if strings.HasPrefix(strings.ToLower(name), p) {
				prefix, name = p, name[len(p):]
			}
		}
		chord, err := keys.ParseChord(name)
		if err != nil || len(chord) != 1 || prefix != "" && !presses(keyName(chord[0])) {
			return nil, fmt.Errorf("line %d: %q is not the name of one key; Enter and Space may follow Tab- or Arrow-", t.line, t.text)
		}
		wanted[i] = prefix + keyName(chord[0])
	}
	return []check{{"keys", (*subject).pressed, func(s *subject) (string, bool) {
		return first(s.pressed(), func(key string) bool { return slices.Contains(wanted, key) })
	}}}, nil
}

func keyName(k keys.Key) string {
	if k.Key == " " {
		return "space"
	}
	return strings.ToLower(k.Key)
}

// presses tells the keys that press what has the focus.
func presses(key string) bool { return key == "enter" || key == "space" }

// pressed lists the keys that a call of key, hold_key or type presses, whatever modifiers are held. A text that the member does not take
// presses none: its call fails.
func (s *subject) pressed() []string {
	object, _ := s.input.(map[string]any)
	text, _ := object["text"].(string)
	switch s.Member {
	case "type":
		strokes, _ := keys.TypeEvents(text)
		var pressed []string
		for _, stroke := range strokes {
			if name := keyName(stroke.Key); presses(name) && !slices.Contains(pressed, name) {
				pressed = append(pressed, name)
			}
		}
		return pressed
	case "key", "hold_key":
		chords, _ := keys.ParseSequence(text)
		return inSequence(chords, repeated(object))
	}
	return nil
}

// repeated reports whether a sequence runs more than once, so that its end comes before its beginning.
func repeated(input map[string]any) bool {
	times, _ := input["repeat"].(float64)
	return times > 1
}

// inSequence names the keys of a sequence, and those that press something again with what moved the focus before them.
func inSequence(chords []keys.Chord, again bool) []string {
	if again {
		chords = slices.Concat(chords, chords)
	}
	var pressed []string
	var moved []string
	add := func(key string) {
		if !slices.Contains(pressed, key) {
			pressed = append(pressed, key)
		}
	}
	for _, chord := range chords {
		key := keyName(chord[len(chord)-1])
		add(key)
		switch {
		case key == "tab":
			moved = append(moved, afterTab)
		case strings.HasPrefix(key, "arrow"):
			moved = append(moved, afterArrow)
		case presses(key):
			for _, prefix := range moved {
				add(prefix + key)
			}
		}
	}
	return pressed
}

// first is the first of the entries that holds.
func first(entries []string, holds func(string) bool) (string, bool) {
	i := slices.IndexFunc(entries, holds)
	if i < 0 {
		return "", false
	}
	return entries[i], true
}
