package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/pagehand/pagehand"
	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/report"
)

// transcript prints turns as they are run, for people: what the model says and asks, how long it takes, what it reads.
type transcript struct {
	out   io.Writer
	paint func(style, text string) string
	view  string // "model", "json" or "both"
	width int    // of a line, in characters
	turns int
}

// The looks of text, as SGR parameters.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

func newTranscript(out io.Writer, view string, turns int) *transcript {
	t := &transcript{out: out, view: view, width: 120, turns: turns, paint: func(_, text string) string { return text }}
	if !coloured(out) {
		return t
	}
	t.paint = func(style, text string) string { return "\x1b[" + style + "m" + text + "\x1b[0m" }
	if width, _, err := term.GetSize(int(out.(*os.File).Fd())); err == nil && width >= 40 {
		t.width = min(width, 140)
	}
	return t
}

func (t *transcript) line(format string, args ...any) { fmt.Fprintf(t.out, format+"\n", args...) }

func (t *transcript) begin(environment []report.Fact) {
	t.line("%s", t.paint(bold, "Pagehand demo"))
	for _, f := range environment {
		t.line("%s %s", t.paint(dim, fmt.Sprintf("%-9s", f.Name)), f.Value)
	}
}

// turn prints how far the script is, and what the model says.
func (t *transcript) turn(n int, says string) {
	bar := t.paint(green, strings.Repeat("▰", n)) + t.paint(dim, strings.Repeat("▱", t.turns-n))
	t.line("\n%s %s", bar, t.paint(dim, fmt.Sprintf("turn %d/%d", n, t.turns)))
	for _, line := range wrapped(says, t.width) {
		t.line("%s", t.paint(bold, line))
	}
}

// asks prints a call without ending the line: the time follows when the call is done.
func (t *transcript) asks(use pagehand.Call, target string) {
	input := string(use.Input)
	var compact bytes.Buffer
	if err := json.Compact(&compact, use.Input); err == nil {
		input = compact.String()
	}
	if target != "" {
		input += "  " + target
	}
	const timeWidth = 10
	room := max(t.width-utf8.RuneCountInString(use.Name)-3-timeWidth, 10)
	input = cutTo(input, room)
	fmt.Fprintf(t.out, "\n  %s %s%s", t.paint(cyan, use.Name), t.paint(dim, input), strings.Repeat(" ", room-utf8.RuneCountInString(input)))
}

// reads prints the time of a call and what the model reads.
func (t *transcript) reads(e report.Event, text string) {
	style := ""
	switch {
	case text == contract.HaltText:
		style = yellow
	case e.Result.IsError:
		style = red
	}
	t.line("%s", t.paint(dim, fmt.Sprintf("%10s", report.Duration(e.Took))))
	if t.view != "json" {
		t.block(text, style)
	}
	if t.view != "model" {
		t.block(resultJSON(*e.Result), "")
	}
	if e.Problem != "" {
		t.line("    %s", t.paint(red, "✗ not as expected: "+e.Problem))
	}
}

const (
	longReading = 12 // a reading of more lines is shortened
	keptReading = 8  // to so many
)

var refTag = regexp.MustCompile(`\[ref_\d+\]`)

// block prints indented lines, shortened with a count.
func (t *transcript) block(text, style string) {
	lines := strings.Split(text, "\n")
	cut := 0
	if len(lines) > longReading {
		cut = len(lines) - keptReading
		lines = lines[:keptReading]
	}
	footer := false
	for _, line := range lines {
		footer = footer || line == "Tab Context:"
		line = cutTo(contract.CleanField(line), t.width-4) // what a page says must not steer the terminal
		switch {
		case style != "":
			line = t.paint(style, line)
		case footer:
			line = t.paint(dim, line)
		default:
			line = refTag.ReplaceAllStringFunc(line, func(ref string) string { return t.paint(green, ref) })
		}
		t.line("%s", strings.TrimRight("    "+line, " "))
	}
	if cut > 0 {
		t.line("    %s", t.paint(dim, fmt.Sprintf("… %d more lines", cut)))
	}
}

// end prints what the run came to.
func (t *transcript) end(events []report.Event, interrupted bool, took time.Duration, page, pictures string) {
	calls, failed, unexpected := 0, 0, 0
	var busy time.Duration
	for _, e := range events {
		if e.Result == nil {
			continue
		}
		calls++
		busy += e.Took
		if e.Result.IsError {
			failed++
		}
		if e.Problem != "" {
			unexpected++
		}
	}
	verdict := t.paint(green, "✓ every result is as the script expects")
	switch {
	case interrupted:
		verdict = "Interrupted: the rest of the script was not played."
	case unexpected > 0:
		verdict = t.paint(red, fmt.Sprintf("✗ %d of %d results are not as the script expects", unexpected, calls))
	}
	t.line("\n%s", verdict)
	t.line("  %d calls, %d errors among them, took %s of %s.", calls, failed, report.Duration(busy), report.Duration(took))
	t.line("\n  Report    %s", t.paint(cyan, page))
	t.line("  Pictures  %s", t.paint(cyan, pictures+string(filepath.Separator)))
}

// resultJSON is a result as it is sent, one field a line.
func resultJSON(r pagehand.Result) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(r); err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// cutTo shortens a text to so many characters.
func cutTo(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}

// wrapped breaks a text into lines at spaces.
func wrapped(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
