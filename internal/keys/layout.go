package keys

import (
	"strconv"
	"strings"
)

// symbols are the keys of a US layout beside the letters: code, virtual key code, characters without and with Shift.
var symbols = []struct {
	code           string
	keyCode        int
	plain, shifted rune
}{
	{"Digit0", '0', '0', ')'}, {"Digit1", '1', '1', '!'}, {"Digit2", '2', '2', '@'}, {"Digit3", '3', '3', '#'},
	{"Digit4", '4', '4', '$'}, {"Digit5", '5', '5', '%'}, {"Digit6", '6', '6', '^'}, {"Digit7", '7', '7', '&'},
	{"Digit8", '8', '8', '*'}, {"Digit9", '9', '9', '('},
	{"Semicolon", 186, ';', ':'}, {"Equal", 187, '=', '+'}, {"Comma", 188, ',', '<'}, {"Minus", 189, '-', '_'},
	{"Period", 190, '.', '>'}, {"Slash", 191, '/', '?'}, {"Backquote", 192, '`', '~'}, {"BracketLeft", 219, '[', '{'},
	{"Backslash", 220, '\\', '|'}, {"BracketRight", 221, ']', '}'}, {"Quote", 222, '\'', '"'},
}

// keysyms are the names of characters in X, as xdotool and so many models write them.
var keysyms = map[string]rune{
	"exclam": '!', "quotedbl": '"', "numbersign": '#', "dollar": '$', "percent": '%', "ampersand": '&', "apostrophe": '\'',
	"quoteright": '\'', "parenleft": '(', "parenright": ')', "asterisk": '*', "plus": '+', "comma": ',', "minus": '-',
	"period": '.', "slash": '/', "colon": ':', "semicolon": ';', "less": '<', "equal": '=', "greater": '>', "question": '?',
	"at": '@', "bracketleft": '[', "backslash": '\\', "bracketright": ']', "asciicircum": '^', "underscore": '_', "grave": '`',
	"quoteleft": '`', "braceleft": '{', "bar": '|', "braceright": '}', "asciitilde": '~',
}

// functional are the keys with a name, each with all names it answers to.
var functional = []struct {
	names string
	key   Key
}{
	{"Enter Return", Key{Key: "Enter", Code: "Enter", KeyCode: 13, Text: "\r"}},
	{"Tab", Key{Key: "Tab", Code: "Tab", KeyCode: 9}},
	{"Space Spacebar", Key{Key: " ", Code: "Space", KeyCode: 32, Text: " "}},
	{"Escape Esc", Key{Key: "Escape", Code: "Escape", KeyCode: 27}},
	{"Backspace Back_Space", Key{Key: "Backspace", Code: "Backspace", KeyCode: 8}},
	{"Delete Del", Key{Key: "Delete", Code: "Delete", KeyCode: 46}},
	{"Insert Ins", Key{Key: "Insert", Code: "Insert", KeyCode: 45}},
	{"Home", Key{Key: "Home", Code: "Home", KeyCode: 36}},
	{"End", Key{Key: "End", Code: "End", KeyCode: 35}},
	{"PageUp Page_Up PgUp Prior", Key{Key: "PageUp", Code: "PageUp", KeyCode: 33}},
	{"PageDown Page_Down PgDown PgDn Next", Key{Key: "PageDown", Code: "PageDown", KeyCode: 34}},
	{"ArrowLeft Left Left_Arrow LeftArrow", Key{Key: "ArrowLeft", Code: "ArrowLeft", KeyCode: 37}},
	{"ArrowUp Up Up_Arrow UpArrow", Key{Key: "ArrowUp", Code: "ArrowUp", KeyCode: 38}},
	{"ArrowRight Right Right_Arrow RightArrow", Key{Key: "ArrowRight", Code: "ArrowRight", KeyCode: 39}},
	{"ArrowDown Down Down_Arrow DownArrow", Key{Key: "ArrowDown", Code: "ArrowDown", KeyCode: 40}},
	{"CapsLock Caps_Lock", Key{Key: "CapsLock", Code: "CapsLock", KeyCode: 20}},
	{"NumLock Num_Lock", Key{Key: "NumLock", Code: "NumLock", KeyCode: 144}},
	{"ScrollLock Scroll_Lock", Key{Key: "ScrollLock", Code: "ScrollLock", KeyCode: 145}},
	{"PrintScreen Print_Screen PrtSc Print Sys_Req", Key{Key: "PrintScreen", Code: "PrintScreen", KeyCode: 44}},
	{"Pause Break", Key{Key: "Pause", Code: "Pause", KeyCode: 19}},
	{"ContextMenu Menu Apps", Key{Key: "ContextMenu", Code: "ContextMenu", KeyCode: 93}},

	{"Control ControlLeft Control_L Ctrl ControlOrMeta CommandOrControl CmdOrCtrl", Key{Key: "Control", Code: "ControlLeft", KeyCode: 17, Location: 1, Modifier: Ctrl}},
	{"ControlRight Control_R", Key{Key: "Control", Code: "ControlRight", KeyCode: 17, Location: 2, Modifier: Ctrl}},
	{"Alt AltLeft Alt_L Option Opt", Key{Key: "Alt", Code: "AltLeft", KeyCode: 18, Location: 1, Modifier: Alt}},
	{"AltRight Alt_R", Key{Key: "Alt", Code: "AltRight", KeyCode: 18, Location: 2, Modifier: Alt}},
	{"AltGraph AltGr ISO_Level3_Shift Mode_switch", Key{Key: "AltGraph", Code: "AltRight", KeyCode: 225, Location: 2}},
	{"Shift ShiftLeft Shift_L", Key{Key: "Shift", Code: "ShiftLeft", KeyCode: 16, Location: 1, Modifier: Shift}},
	{"ShiftRight Shift_R", Key{Key: "Shift", Code: "ShiftRight", KeyCode: 16, Location: 2, Modifier: Shift}},
	{"Meta MetaLeft Meta_L Command Cmd Super Super_L Win Windows OS", Key{Key: "Meta", Code: "MetaLeft", KeyCode: 91, Location: 1, Modifier: Meta}},
	{"MetaRight Meta_R Super_R", Key{Key: "Meta", Code: "MetaRight", KeyCode: 92, Location: 2, Modifier: Meta}},

	{"NumpadEnter KP_Enter", Key{Key: "Enter", Code: "NumpadEnter", KeyCode: 13, Location: 3, Text: "\r"}},
	{"NumpadAdd KP_Add", Key{Key: "+", Code: "NumpadAdd", KeyCode: 107, Location: 3, Text: "+"}},
	{"NumpadSubtract KP_Subtract", Key{Key: "-", Code: "NumpadSubtract", KeyCode: 109, Location: 3, Text: "-"}},
	{"NumpadMultiply KP_Multiply", Key{Key: "*", Code: "NumpadMultiply", KeyCode: 106, Location: 3, Text: "*"}},
	{"NumpadDivide KP_Divide", Key{Key: "/", Code: "NumpadDivide", KeyCode: 111, Location: 3, Text: "/"}},
	{"NumpadDecimal KP_Decimal", Key{Key: ".", Code: "NumpadDecimal", KeyCode: 110, Location: 3, Text: "."}},
	{"NumpadEqual KP_Equal", Key{Key: "=", Code: "NumpadEqual", KeyCode: 187, Location: 3, Text: "="}},
	{"KP_Home", Key{Key: "Home", Code: "Numpad7", KeyCode: 36, Location: 3}},
	{"KP_End", Key{Key: "End", Code: "Numpad1", KeyCode: 35, Location: 3}},
	{"KP_Up", Key{Key: "ArrowUp", Code: "Numpad8", KeyCode: 38, Location: 3}},
	{"KP_Down", Key{Key: "ArrowDown", Code: "Numpad2", KeyCode: 40, Location: 3}},
	{"KP_Left", Key{Key: "ArrowLeft", Code: "Numpad4", KeyCode: 37, Location: 3}},
	{"KP_Right", Key{Key: "ArrowRight", Code: "Numpad6", KeyCode: 39, Location: 3}},
	{"KP_Page_Up KP_Prior", Key{Key: "PageUp", Code: "Numpad9", KeyCode: 33, Location: 3}},
	{"KP_Page_Down KP_Next", Key{Key: "PageDown", Code: "Numpad3", KeyCode: 34, Location: 3}},
	{"KP_Insert", Key{Key: "Insert", Code: "Numpad0", KeyCode: 45, Location: 3}},
	{"KP_Delete", Key{Key: "Delete", Code: "NumpadDecimal", KeyCode: 46, Location: 3}},

	{"AudioVolumeMute XF86AudioMute", Key{Key: "AudioVolumeMute", Code: "AudioVolumeMute", KeyCode: 173}},
	{"AudioVolumeDown XF86AudioLowerVolume", Key{Key: "AudioVolumeDown", Code: "AudioVolumeDown", KeyCode: 174}},
	{"AudioVolumeUp XF86AudioRaiseVolume", Key{Key: "AudioVolumeUp", Code: "AudioVolumeUp", KeyCode: 175}},
	{"MediaTrackNext XF86AudioNext", Key{Key: "MediaTrackNext", Code: "MediaTrackNext", KeyCode: 176}},
	{"MediaTrackPrevious XF86AudioPrev", Key{Key: "MediaTrackPrevious", Code: "MediaTrackPrevious", KeyCode: 177}},
	{"MediaStop XF86AudioStop", Key{Key: "MediaStop", Code: "MediaStop", KeyCode: 178}},
	{"MediaPlayPause XF86AudioPlay XF86AudioPause", Key{Key: "MediaPlayPause", Code: "MediaPlayPause", KeyCode: 179}},
}

// acceptedNames is what an error says about the keys with a name, without their aliases.
const acceptedNames = "Enter, Tab, Escape, Backspace, Delete, Insert, Space, ArrowLeft, ArrowRight, ArrowUp, ArrowDown, Home, End, " +
	"PageUp, PageDown, F1-F24, CapsLock, NumLock, ScrollLock, PrintScreen, Pause, ContextMenu, Numpad0-Numpad9, ctrl, alt, shift, meta"

// The layout in the forms that parsing looks up; init fills them from the tables above and nothing changes them later.
var (
	named      = map[string]Key{} // by lower-case name
	characters = map[rune]Key{}   // what types printable ASCII, "\n", "\r" and "\t"; with Shift where it needs Shift
	shiftedOf  = map[rune]rune{}  // 'a' → 'A', '1' → '!'
	plainOf    = map[rune]rune{}  // the reverse
)

func init() {
	pair := func(code string, keyCode int, plain, shifted rune) {
		for _, r := range []rune{plain, shifted} {
			characters[r] = Key{Key: string(r), Code: code, KeyCode: keyCode, Text: string(r)}
		}
		named[strings.ToLower(code)] = characters[plain]
		shiftedOf[plain], plainOf[shifted] = shifted, plain
	}
	for upper := 'A'; upper <= 'Z'; upper++ {
		pair("Key"+string(upper), int(upper), upper+'a'-'A', upper)
	}
	for _, s := range symbols {
		pair(s.code, s.keyCode, s.plain, s.shifted)
	}
	for name, r := range keysyms {
		named[name] = characters[r]
	}
	for _, f := range functional {
		for name := range strings.FieldsSeq(f.names) {
			named[strings.ToLower(name)] = f.key
		}
	}
	characters[' '], characters['\t'] = named["space"], named["tab"]
	characters['\n'], characters['\r'] = named["enter"], named["enter"]
	for i := 1; i <= 24; i++ {
		name := "F" + strconv.Itoa(i)
		named[strings.ToLower(name)] = Key{Key: name, Code: name, KeyCode: 111 + i}
	}
	for i := range 10 {
		digit := strconv.Itoa(i)
		named["numpad"+digit] = Key{Key: digit, Code: "Numpad" + digit, KeyCode: 96 + i, Location: 3, Text: digit}
		named["kp_"+digit] = named["numpad"+digit]
	}
}

// needsShift reports whether the key is a character that a US keyboard types only with Shift.
func (k Key) needsShift() bool {
	_, ok := k.swap(plainOf)
	return ok
}

// swap returns the same key with the other state of Shift. The numeric keypad has no such pair.
func (k Key) swap(pairs map[rune]rune) (Key, bool) {
	if len(k.Key) != 1 || k.Location != 0 {
		return k, false
	}
	other, ok := pairs[rune(k.Key[0])]
	if !ok {
		return k, false
	}
	return characters[other], true
}
