// Package keys turns what a model writes for key, hold_key, type and a click's modifiers (contract §4) into the key
// events of a US keyboard. It is pure: no browser, no state, safe for concurrent use. Its input is model output and not
// trusted; every error is a [ParseError] whose one line is meant for the model.
package keys

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Modifiers is a set of held modifier keys, with the bit values of CDP's Input domain.
type Modifiers int

// The modifier bits of Input.dispatchKeyEvent and Input.dispatchMouseEvent.
const (
	Alt   Modifiers = 1
	Ctrl  Modifiers = 2
	Meta  Modifiers = 4
	Shift Modifiers = 8
)

// Key is one key as it is pressed under the modifiers of its chord. The fields are those of a DOM KeyboardEvent.
type Key struct {
	// Key is the event's key: "a", "A", "Enter".
	Key string
	// Code is the physical key, "KeyA". It is empty for a character that no key of a US keyboard produces: the caller
	// inserts Text instead of pressing a key.
	Code string
	// KeyCode is CDP's windowsVirtualKeyCode and the event's keyCode; 0 without Code.
	KeyCode int
	// Location is 0 (standard), 1 (left), 2 (right) or 3 (numeric keypad). CDP's location takes 1 and 2 only; 3 is its
	// isKeypad, without which Chromium reports another location (measured).
	Location int
	// Text is what the press types: "\r" for Enter, "" for a key that types nothing and while Ctrl, Alt or Meta is held.
	Text string
	// Modifier is the bit that the key itself sets while it is down; 0 for all other keys.
	Modifier Modifiers
}

// Chord is one or more keys held together: press them in order, release them in reverse. All but the last are
// modifier keys; the last may be one too.
type Chord []Key

// Modifiers are the bits of all modifier keys of the chord.
func (c Chord) Modifiers() Modifiers {
	var held Modifiers
	for _, k := range c {
		held |= k.Modifier
	}
	return held
}

// ParseError says in one line what is wrong with a text of the model and what is allowed.
type ParseError string

func (e ParseError) Error() string { return string(e) }

const chordHelp = `join modifiers and one key with "+", such as "ctrl+a"; the plus key itself is "+" or "plus", so "ctrl++"`

// ParseSequence reads the text of a key call: chords separated by white space, each of them keys joined by "+". A text of
// one single character is that key, so " " is the space bar, "+" the plus key, "\n" Enter and "\t" Tab.
//
// Names are those of the DOM ("ArrowLeft", "KeyA", "Numpad1"), of X ("Return", "Page_Up", "KP_Add", "exclam") and what
// people say ("esc", "cmd", "up"), in any case. A chord is what a hand does on a US keyboard:
//   - Shift gives the shifted character: "shift+a" is A, "shift+1" is "!".
//   - A character that needs Shift gets it: "A" and "!" are Shift and the key. Except a letter beside Ctrl, Alt or Meta,
//     where case is only a habit of writing: "ctrl+A" is "ctrl+a".
//   - Any other printable character is a key without a Code.
//
// The error is a [ParseError].
func ParseSequence(text string) ([]Chord, error) {
	words := fields(text)
	if len(words) == 0 {
		return nil, ParseError(`text names no key. Use for example "Enter", "ctrl+a" or "Tab Tab".`)
	}
	chords := make([]Chord, 0, len(words))
	for _, word := range words {
		chord, err := parseChord(word)
		if err != nil {
			return nil, err
		}
		chords = append(chords, chord)
	}
	return chords, nil
}

// ParseChord reads the text of a hold_key call: as [ParseSequence], but exactly one chord.
func ParseChord(text string) (Chord, error) {
	if len(fields(text)) > 1 {
		return nil, ParseError(fmt.Sprintf(`%s is a sequence. Name one key or chord to hold, such as "a" or "ctrl+a".`, quote(text)))
	}
	chords, err := ParseSequence(text)
	if err != nil {
		return nil, err
	}
	return chords[0], nil
}

// ParseModifiers reads the modifiers of a click: modifier names joined by "+", such as "ctrl+shift". An empty text is no
// modifier. The error is a [ParseError].
func ParseModifiers(text string) (Chord, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, nil
	}
	var chord Chord
	for name := range strings.SplitSeq(text, "+") {
		k, ok := named[strings.ToLower(strings.TrimSpace(name))]
		if !ok || k.Modifier == 0 {
			return nil, ParseError(fmt.Sprintf(`%s is not a modifier. Use ctrl, alt, shift, meta, or several joined with "+", such as "ctrl+shift".`, quote(name)))
		}
		chord = chord.hold(k)
	}
	return chord, nil
}

// fields splits a text into chords, sparing a text that is one white-space character.
func fields(text string) []string {
	if utf8.RuneCountInString(text) == 1 {
		return []string{text}
	}
	return strings.Fields(text)
}

func parseChord(word string) (Chord, error) {
	names := strings.Split(word, "+")
	switch {
	case word == "+":
		names = []string{"+"}
	case strings.HasSuffix(word, "++"): // the last key is plus
		names = append(names[:len(names)-2], "+")
	}
	var chord Chord
	for i, name := range names {
		if name == "" {
			return nil, ParseError(fmt.Sprintf("%s lacks a key beside a \"+\"; %s.", quote(word), chordHelp))
		}
		k, ok := lookup(name)
		if !ok {
			return nil, unknown(name)
		}
		if i == len(names)-1 {
			return chord.finish(k), nil
		}
		if !k.holds() {
			return nil, ParseError(fmt.Sprintf("%s in %s is not a modifier; %s.", quote(name), quote(word), chordHelp))
		}
		chord = chord.hold(k)
	}
	return chord, nil
}

// lookup finds the key of one name or character.
func lookup(name string) (Key, bool) {
	character := norm.NFC.String(name)
	r, size := utf8.DecodeRuneInString(character)
	if size != len(character) {
		k, ok := named[strings.ToLower(name)]
		return k, ok
	}
	if k, ok := characters[r]; ok {
		return k, true
	}
	return Key{Key: character, Text: character}, r > unicode.MaxASCII && r != utf8.RuneError && unicode.IsGraphic(r)
}

// holds reports whether the key may be held in a chord. AltGr has no bit in CDP, and none is needed on a US keyboard.
func (k Key) holds() bool { return k.Modifier != 0 || k.Key == "AltGraph" }

// hold adds a modifier key, once: a second key of the same kind changes nothing.
func (c Chord) hold(k Key) Chord {
	if k.Modifier != 0 && c.Modifiers()&k.Modifier != 0 {
		return c
	}
	return append(c, k)
}

// finish adds the last key as it is under the modifiers already held.
func (c Chord) finish(k Key) Chord {
	if k.holds() {
		return c.hold(k)
	}
	held := c.Modifiers()
	shortcut := held &^ Shift
	switch {
	case held&Shift != 0:
		k, _ = k.swap(shiftedOf)
	case shortcut != 0 && strings.HasPrefix(k.Code, "Key"):
		k, _ = k.swap(plainOf)
	case k.needsShift():
		c = append(c, named["shift"])
	}
	if shortcut != 0 {
		k.Text = ""
	}
	return append(c, k)
}

// Stroke is one step of typing a text: a key, or, when Insert is not empty, a run of characters to insert at once.
type Stroke struct {
	// Key is the key to press. Enter stands for a line break: what breaks a line is the caller's to decide.
	Key Key
	// Modifiers are the bits of the key's events: Shift for "A" and "!". Typing presses no Shift key of its own.
	Modifiers Modifiers
	// Insert is text without a key: maximal runs, so that no emoji and no combining sequence is ever split.
	Insert string
}

// TypeEvents splits the text of a type call into strokes: printable ASCII as keys, "\n", "\r\n" and "\r" as Enter, all
// else inserted. A tab is inserted as well: the text is literal (contract §4), and the Tab key would move the focus, so
// that the rest of the text lands in another field. Whoever wants to move on says so with key "Tab". Other control
// characters are a [ParseError]; invalid UTF-8 becomes U+FFFD.
func TypeEvents(text string) ([]Stroke, error) {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n")
	var strokes []Stroke
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		next, _ := utf8.DecodeRuneInString(text[size:])
		k, ok := characters[r]
		switch {
		case r == '\n' || r == '\r':
			strokes = append(strokes, Stroke{Key: k})
		case unicode.IsControl(r) && r != '\t':
			return nil, ParseError(fmt.Sprintf(`text holds the control character %U, which cannot be typed. Press keys such as Backspace with key.`, r))
		case ok && r != '\t' && !extends(next):
			stroke := Stroke{Key: k}
			if k.needsShift() {
				stroke.Modifiers = Shift
			}
			strokes = append(strokes, stroke)
		default:
			size = runLength(text, size)
			strokes = append(strokes, Stroke{Insert: text[:size]})
		}
		text = text[size:]
	}
	return strokes, nil
}

// runLength is how many bytes of text belong to the run that starts with its first size bytes: up to the next control
// character or the next ASCII character that is not the base of a combining sequence.
func runLength(text string, size int) int {
	for size < len(text) {
		r, n := utf8.DecodeRuneInString(text[size:])
		next, _ := utf8.DecodeRuneInString(text[size+n:])
		if unicode.IsControl(r) || r < utf8.RuneSelf && !extends(next) {
			break
		}
		size += n
	}
	return size
}

// extends reports whether r belongs to the character before it: a combining mark (accents, variation selectors, the
// keycap of "1️⃣") or a zero-width joiner.
func extends(r rune) bool { return unicode.IsMark(r) || r == '\u200d' }

func unknown(name string) ParseError {
	return ParseError(fmt.Sprintf(`Unknown key %s. Use a single character, one of %s, or a chord such as "ctrl+a". To enter text use type.`,
		quote(name), acceptedNames))
}

// quote shows a piece of the model's text on one line, bounded.
func quote(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		s = string(slices.Concat(r[:most], []rune{'…'}))
	}
	return fmt.Sprintf("%q", s)
}
