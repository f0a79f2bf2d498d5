package keys

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// show writes a chord as "Shift A:KeyA/65(A)": keys in order, the last with code, keyCode, location and text.
func show(c Chord) string {
	var out []string
	for _, k := range c[:len(c)-1] {
		out = append(out, k.Key)
	}
	k := c[len(c)-1]
	last := fmt.Sprintf("%s:%s/%d", k.Key, k.Code, k.KeyCode)
	if k.Location != 0 {
		last += fmt.Sprintf("@%d", k.Location)
	}
	if k.Text != "" {
		last += fmt.Sprintf("(%s)", k.Text)
	}
	return strings.Join(append(out, last), " ")
}

func TestParseSequence(t *testing.T) {
	for text, want := range map[string]string{
		"a":                   "a:KeyA/65(a)",
		"A":                   "Shift A:KeyA/65(A)",
		"5":                   "5:Digit5/53(5)",
		"!":                   "Shift !:Digit1/49(!)",
		"+":                   "Shift +:Equal/187(+)",
		"plus":                "Shift +:Equal/187(+)",
		"-":                   "-:Minus/189(-)",
		"\"":                  "Shift \":Quote/222(\")",
		" ":                   " :Space/32( )",
		"space":               " :Space/32( )",
		"\n":                  "Enter:Enter/13(\r)",
		"\t":                  "Tab:Tab/9",
		"shift+a":             "Shift A:KeyA/65(A)",
		"shift+A":             "Shift A:KeyA/65(A)",
		"shift+1":             "Shift !:Digit1/49(!)",
		"shift+!":             "Shift !:Digit1/49(!)",
		"shift++":             "Shift +:Equal/187(+)",
		"shift+Enter":         "Shift Enter:Enter/13(\r)",
		"shift+Tab":           "Shift Tab:Tab/9",
		"ctrl+a":              "Control a:KeyA/65",
		"ctrl+A":              "Control a:KeyA/65",
		"ctrl+shift+k":        "Control Shift K:KeyK/75",
		"shift+ctrl+k":        "Shift Control K:KeyK/75",
		"ctrl++":              "Control Shift +:Equal/187",
		"ctrl+plus":           "Control Shift +:Equal/187",
		"ctrl+-":              "Control -:Minus/189",
		"ctrl+Enter":          "Control Enter:Enter/13",
		"ctrl+control_r+x":    "Control x:KeyX/88",
		"Control_L+c":         "Control c:KeyC/67",
		"ControlOrMeta+c":     "Control c:KeyC/67",
		"cmd+v":               "Meta v:KeyV/86",
		"Super_L+v":           "Meta v:KeyV/86",
		"option+f4":           "Alt F4:F4/115",
		"AltGr+e":             "AltGraph e:KeyE/69(e)",
		"shift":               "Shift:ShiftLeft/16@1",
		"ctrl+shift":          "Control Shift:ShiftLeft/16@1",
		"Alt_R":               "Alt:AltRight/18@2",
		"ISO_Level3_Shift":    "AltGraph:AltRight/225@2",
		"RETURN":              "Enter:Enter/13(\r)",
		"Esc":                 "Escape:Escape/27",
		"Page_Down":           "PageDown:PageDown/34",
		"Next":                "PageDown:PageDown/34",
		"left":                "ArrowLeft:ArrowLeft/37",
		"F24":                 "F24:F24/135",
		"KeyA":                "a:KeyA/65(a)",
		"Digit5":              "5:Digit5/53(5)",
		"KP_5":                "5:Numpad5/101@3(5)",
		"shift+Numpad5":       "Shift 5:Numpad5/101@3(5)",
		"KP_Add":              "+:NumpadAdd/107@3(+)",
		"shift+KP_Home":       "Shift Home:Numpad7/36@3",
		"asciitilde":          "Shift ~:Backquote/192(~)",
		"Menu":                "ContextMenu:ContextMenu/93",
		"é":                   "é:/0(é)",
		"e\u0301":             "é:/0(é)",
		"ß":                   "ß:/0(ß)",
		"ctrl+é":              "Control é:/0",
		"日":                   "日:/0(日)",
		"Backspace Backspace": "Backspace:Backspace/8, Backspace:Backspace/8",
		" ctrl+a  Delete ":    "Control a:KeyA/65, Delete:Delete/46",
		"+ + ctrl++":          "Shift +:Equal/187(+), Shift +:Equal/187(+), Control Shift +:Equal/187",
	} {
		chords, err := ParseSequence(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		var got []string
		for _, c := range chords {
			got = append(got, show(c))
		}
		if got := strings.Join(got, ", "); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func TestParseSequenceErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "text names no key.",
		"  ":                     "text names no key.",
		"Foo":                    `Unknown key "Foo". Use a single character, one of Enter, Tab, `,
		"a Foo":                  `Unknown key "Foo".`,
		"ctrl+Foo":               `Unknown key "Foo".`,
		"F25":                    `Unknown key "F25".`,
		"日本":                     `Unknown key "日本".`,
		"\x01":                   `Unknown key "\x01".`,
		"\u202e":                 `Unknown key "\u202e".`,
		"\xff":                   `Unknown key "\xff".`,
		"ctrl+":                  `"ctrl+" lacks a key beside a "+";`,
		"+a":                     `"+a" lacks a key beside a "+";`,
		"++":                     `"++" lacks a key beside a "+";`,
		"ctrl+++":                `"ctrl+++" lacks a key beside a "+";`,
		"a+b":                    `"a" in "a+b" is not a modifier;`,
		"Enter+ctrl":             `"Enter" in "Enter+ctrl" is not a modifier;`,
		strings.Repeat("x", 1e4): `Unknown key "` + strings.Repeat("x", 40) + `…".`,
	} {
		_, err := ParseSequence(text)
		if parseErr := ParseError(""); !errors.As(err, &parseErr) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s…", text, err, want)
		}
	}
}

func TestParseChord(t *testing.T) {
	if c, err := ParseChord(" ctrl+shift+Tab "); err != nil || show(c) != "Control Shift Tab:Tab/9" {
		t.Errorf("got %v, %v", c, err)
	}
	if c, err := ParseChord(" "); err != nil || show(c) != " :Space/32( )" {
		t.Errorf("got %v, %v", c, err)
	}
	for text, want := range map[string]string{"a b": `"a b" is a sequence.`, "": "text names no key.", "Foo": "Unknown key"} {
		if _, err := ParseChord(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s…", text, err, want)
		}
	}
}

func TestParseModifiers(t *testing.T) {
	for text, want := range map[string]Modifiers{
		"": 0, "shift": Shift, "ctrl+shift": Ctrl | Shift, "CMD": Meta, "alt + Control_R": Alt | Ctrl, "shift+shift": Shift,
	} {
		c, err := ParseModifiers(text)
		if err != nil || c.Modifiers() != want {
			t.Errorf("%q: got %v, %v, want %v", text, c, err, want)
		}
	}
	for _, text := range []string{"a", "ctrl+a", "ctrl+", "+", "Enter", "AltGr", "ctrl shift"} {
		if _, err := ParseModifiers(text); err == nil || !strings.Contains(err.Error(), " is not a modifier. Use ctrl,") {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

// TestPrintableASCII checks that each printable character is a key of its own, that naming it and typing it agree, and
// that Shift and its plain partner reach every shifted one.
func TestPrintableASCII(t *testing.T) {
	seen := map[string]rune{}
	for r := ' '; r <= '~'; r++ {
		text := string(r)
		chords, err := ParseSequence(text)
		if err != nil {
			t.Fatalf("%q: %v", r, err)
		}
		chord := chords[0]
		k := chord[len(chord)-1]
		if k.Key != text || k.Text != text || k.Code == "" || k.KeyCode == 0 || k.Location != 0 || k.Modifier != 0 {
			t.Errorf("%q: %+v", r, k)
		}
		id := fmt.Sprint(k.Code, k.KeyCode, chord.Modifiers())
		if other, ok := seen[id]; ok {
			t.Errorf("%q and %q are both %s", r, other, id)
		}
		seen[id] = r
		strokes, err := TypeEvents(text)
		if want := []Stroke{{Key: k, Modifiers: chord.Modifiers()}}; err != nil || !reflect.DeepEqual(strokes, want) {
			t.Errorf("type %q: got %+v, %v, want %+v", r, strokes, err, want)
		}
		plain, shifted := r, plainOf[r] != 0
		if shifted {
			plain = plainOf[r]
			if partner, err := ParseChord("shift+" + string(plain)); err != nil || !reflect.DeepEqual(partner, chord) {
				t.Errorf("shift+%c: got %v, %v, want %v", plain, partner, err, chord)
			}
		}
		if (chord.Modifiers() == Shift) != shifted || k.KeyCode != characters[plain].KeyCode {
			t.Errorf("%q: shift %v, plain %q: %+v", r, shifted, plain, chord)
		}
		if ctrl, err := ParseChord("ctrl+" + text); r != ' ' && (err != nil || ctrl[len(ctrl)-1].Text != "") {
			t.Errorf("ctrl+%c types: %v, %v", r, ctrl, err)
		}
	}
}

func TestNames(t *testing.T) {
	for name, k := range named {
		if name != strings.ToLower(name) || k.Key == "" || k.Code == "" || k.KeyCode == 0 {
			t.Errorf("%q: %+v", name, k)
		}
	}
	for name := range strings.SplitSeq(acceptedNames, ", ") {
		for name := range strings.SplitSeq(name, "-") {
			if _, ok := lookup(name); !ok {
				t.Errorf("the error offers %q, which is unknown", name)
			}
		}
	}
}

func TestTypeEvents(t *testing.T) {
	const family = "👩‍👩‍👧‍👦"
	for text, want := range map[string][]string{
		"":                    nil,
		"aB":                  {"a", "shift B"},
		"a\nb\r\nc\rd":        {"a", "Enter", "b", "Enter", "c", "Enter", "d"},
		"a\tb":                {"a", "insert \t", "b"},
		"日本語 " + family + "!": {"insert 日本語", " ", "insert " + family, "shift !"},
		"cafe\u0301s":         {"c", "a", "f", "insert e\u0301", "s"},
		"e\u0301e\u0301e":     {"insert e\u0301e\u0301", "e"},
		"1\ufe0f\u20e3 2":     {"insert 1\ufe0f\u20e3", " ", "2"},
		"é\n\u0301":           {"insert é", "Enter", "insert \u0301"},
		"🇩🇪🇫🇷x":               {"insert 🇩🇪🇫🇷", "x"},
		"a\xffb":              {"a", "insert \ufffd", "b"},
	} {
		strokes, err := TypeEvents(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		var got []string
		for _, s := range strokes {
			switch {
			case s.Insert != "":
				got = append(got, "insert "+s.Insert)
			case s.Modifiers == Shift:
				got = append(got, "shift "+s.Key.Key)
			default:
				got = append(got, s.Key.Key)
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{"a\x00b", "\x1b[2J", "\x7f", "é\u0085", "\b"} {
		if _, err := TypeEvents(text); err == nil || !strings.HasPrefix(err.Error(), "text holds the control character U+") {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func TestEditingCommands(t *testing.T) {
	for _, tt := range []struct{ chord, linux, mac string }{
		{"a", "", ""},
		{"shift+ArrowLeft", "", ""},
		{"meta", "", ""},
		{"ctrl+a", "", "selectAll"},
		{"ctrl+z", "", "undo"},
		{"ctrl+shift+z", "", "redo"},
		{"ctrl+y", "", "redo"},
		{"ctrl+ArrowLeft", "", "moveWordLeft"},
		{"ctrl+shift+End", "", "moveToEndOfDocumentAndModifySelection"},
		{"ctrl+Backspace", "", "deleteWordBackward"},
		{"ctrl+k", "", ""},
		{"ctrl+alt+a", "", ""},
		{"alt+ArrowLeft", "", ""},
		{"cmd+a", "selectAll", "selectAll"},
		{"cmd+c", "copy", "copy"},
		{"cmd+x", "cut", "cut"},
		{"cmd+v", "paste", "paste"},
		{"cmd+shift+v", "pasteAndMatchStyle", "pasteAndMatchStyle"},
		{"cmd+shift+z", "redo", "redo"},
		{"cmd+shift+ArrowLeft", "moveToBeginningOfLineAndModifySelection", "moveToBeginningOfLineAndModifySelection"},
		{"cmd+k", "", ""},
	} {
		c, err := ParseChord(tt.chord)
		if err != nil {
			t.Fatal(err)
		}
		for mac, want := range map[bool]string{false: tt.linux, true: tt.mac} {
			if got := strings.Join(EditingCommands(c, mac), " "); got != want {
				t.Errorf("%s, mac %v: got %q, want %q", tt.chord, mac, got, want)
			}
		}
	}
	if got := EditingCommands(nil, true); got != nil {
		t.Errorf("no chord: got %q", got)
	}
}

func FuzzParseSequence(f *testing.F) {
	for _, text := range []string{"Enter", "ctrl+shift+k", "+", "ctrl++", "Backspace Backspace", " ", "é", "shift+1", "a+b", "\x00", "++ +"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		chords, err := ParseSequence(text)
		if err != nil {
			if msg := err.Error(); len(msg) > 1200 || strings.ContainsAny(msg, "\n\r") || !utf8.ValidString(msg) {
				t.Fatalf("%q: bad error %q", text, msg)
			}
			return
		}
		if len(chords) == 0 {
			t.Fatalf("%q: neither chord nor error", text)
		}
		for _, c := range chords {
			var held Modifiers
			for i, k := range c {
				if i < len(c)-1 && !k.holds() {
					t.Fatalf("%q: %v holds %q", text, c, k.Key)
				}
				if held&k.Modifier != 0 {
					t.Fatalf("%q: %v presses a modifier twice", text, c)
				}
				held |= k.Modifier
			}
			k := c[len(c)-1]
			if k.Key == "" || (k.Code == "") != (k.KeyCode == 0) || held&^Shift != 0 && k.Text != "" {
				t.Fatalf("%q: bad key %+v", text, k)
			}
		}
	})
}
