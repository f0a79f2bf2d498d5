package keys

import "strings"

// shortcuts are the editing commands of Cmd chords by code; held with Shift, "move" extends the selection.
var shortcuts = map[string]string{
	"KeyA": "selectAll", "KeyC": "copy", "KeyX": "cut", "KeyV": "paste", "KeyZ": "undo", "KeyY": "redo",
	"KeyB": "toggleBold", "KeyI": "toggleItalic", "KeyU": "toggleUnderline",
	"ArrowLeft": "moveToBeginningOfLine", "ArrowRight": "moveToEndOfLine",
	"ArrowUp": "moveToBeginningOfDocument", "ArrowDown": "moveToEndOfDocument",
	"Backspace": "deleteToBeginningOfLine", "Delete": "deleteToEndOfLine",
}

// ctrlShortcuts are what Ctrl does elsewhere and macOS leaves undone, where it differs from shortcuts.
var ctrlShortcuts = map[string]string{
	"ArrowLeft": "moveWordLeft", "ArrowRight": "moveWordRight",
	"ArrowUp": "moveParagraphBackward", "ArrowDown": "moveParagraphForward",
	"Home": "moveToBeginningOfDocument", "End": "moveToEndOfDocument",
	"Backspace": "deleteWordBackward", "Delete": "deleteWordForward",
}

// shiftShortcuts replace those of the same code when Shift is held too.
var shiftShortcuts = map[string]string{"KeyZ": "redo", "KeyV": "pasteAndMatchStyle"}

// EditingCommands are the Blink editing commands for `commands` of the key down of the chord's last key; nil for most
// chords. mac says that the browser runs on macOS.
//
// Elsewhere Blink binds Ctrl and the navigation keys itself (measured through DevTools in inputs, text areas and
// editors: a, c, x, v, z, y, b, i, u; Insert; arrows, Home, End, Backspace and Delete, with Ctrl and Shift), so only Cmd
// chords, which a model that thinks of a Mac sends, need a command. On macOS Blink leaves the clipboard, undo and the
// Cmd keys to the system, which input from DevTools does not pass, so Cmd needs all of them; and Ctrl acts as elsewhere,
// because "ctrl+a" from a model means select all and not the start of the line. A command replaces Blink's own binding.
func EditingCommands(c Chord, mac bool) []string {
	if len(c) == 0 {
		return nil
	}
	code, held := c[len(c)-1].Code, c.Modifiers()
	command := shortcuts[code]
	switch {
	case held&^Shift == Meta:
	case held&^Shift == Ctrl && mac:
		if own, ok := ctrlShortcuts[code]; ok {
			command = own
		}
	default:
		return nil
	}
	if held&Shift != 0 {
		if other, ok := shiftShortcuts[code]; ok {
			command = other
		} else if strings.HasPrefix(command, "move") {
			command += "AndModifySelection"
		}
	}
	if command == "" {
		return nil
	}
	return []string{command}
}
