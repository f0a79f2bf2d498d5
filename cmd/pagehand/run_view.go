package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/pagehand/pagehand/agent"
	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/report"
)

// runView shows a run as it goes on: on a terminal as it happens, with a line for each call that is completed when the call is; elsewhere
// one plain line after the other.
type runView struct {
	out      io.Writer
	live     bool
	width    int
	paint    func(style, text string) string
	pictures pictureProtocol
	// answerElsewhere says that the model's last text is not to be shown here, because it is the answer and goes somewhere else.
	answerElsewhere bool

	text   strings.Builder // of the turn, what has not been shown
	column bool            // the last line is not at its end
	about  string          // of the call that runs
}

func newRunView(out io.Writer) *runView {
	v := &runView{out: out, width: 120, paint: func(_, text string) string { return text }}
	if !isTerminal(out) || os.Getenv("TERM") == "dumb" {
		return v
	}
	v.live = true
	v.pictures = terminalPictures(os.Getenv)
	if width, _, err := term.GetSize(int(out.(*os.File).Fd())); err == nil && width >= 40 {
		v.width = min(width, 140)
	}
	if coloured(out) {
		v.paint = func(style, text string) string { return "\x1b[" + style + "m" + text + "\x1b[0m" }
	}
	return v
}

func (v *runView) line(format string, args ...any) {
	v.endLine()
	fmt.Fprintf(v.out, format+"\n", args...)
}

func (v *runView) endLine() {
	if v.column {
		fmt.Fprintln(v.out)
		v.column = false
	}
}

func (v *runView) begin(model string) {
	v.line("%s", v.paint(dim, "pagehand run · "+model))
}

// observe shows an event.
func (v *runView) observe(e agent.Event) {
	switch e := e.(type) {
	case agent.TurnStarted:
		v.text.Reset()
	case agent.Said:
		v.said(e.Text)
	case agent.CallStarted:
		v.tell()
		v.started(e)
	case agent.CallDone:
		v.tell()
		v.done(e)
	case agent.TurnEnded:
		if e.Calls > 0 || !e.Final || !v.answerElsewhere {
			v.tell()
		}
		v.endLine()
		v.line("%s", v.paint(dim, turnLine(e)))
	case agent.Asked:
		v.tell()
		v.line("%s %s", v.paint(yellow, "answered:"), contract.CleanField(e.Answer))
	case agent.Noted:
		v.text.Reset() // what a reply that broke off has said is said again
		v.line("%s", v.paint(yellow, "· "+contract.CleanField(e.Text)))
	}
}

// said shows the model's text as it streams, or keeps it until it is whole.
func (v *runView) said(text string) {
	if !v.live {
		v.text.WriteString(text)
		return
	}
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			fmt.Fprintln(v.out)
			v.column = false
		}
		if line = contract.CleanField(line); line != "" { // the model may repeat what a page says, which must not steer the terminal
			fmt.Fprint(v.out, v.paint(bold, line))
			v.column = true
		}
	}
}

// tell shows the text that was kept.
func (v *runView) tell() {
	text := strings.TrimSpace(v.text.String())
	v.text.Reset()
	if text == "" {
		return
	}
	for line := range strings.SplitSeq(text, "\n") {
		v.line("%s", contract.CleanField(line))
	}
}

const timeWidth = 10

// callLine is a call, cut to the width that is left beside its time.
func (v *runView) callLine(use contract.ToolUse, about string) string {
	input := string(use.Input)
	var compact bytes.Buffer
	if err := json.Compact(&compact, use.Input); err == nil {
		input = compact.String()
	}
	if input == "{}" {
		input = ""
	}
	if about != "" {
		input += " " + about
	}
	name := contract.CleanField(use.Name)
	room := max(v.width-4-timeWidth-utf8.RuneCountInString(name), 10)
	input = cutTo(strings.TrimSpace(contract.CleanField(input)), room)
	line := strings.TrimSpace(v.paint(cyan, name) + " " + v.paint(dim, input))
	if v.live { // the times form a column
		line += strings.Repeat(" ", max(0, room-utf8.RuneCountInString(input)))
	}
	return line
}

func (v *runView) started(e agent.CallStarted) {
	v.endLine()
	v.about = e.About
	if v.live {
		fmt.Fprint(v.out, "  "+v.paint(dim, "…")+" "+v.callLine(e.Call, e.About))
		v.column = true
	}
}

// done completes the call's line and shows the first line of what the model reads.
func (v *runView) done(e agent.CallDone) {
	if v.live {
		fmt.Fprint(v.out, "\r\x1b[K")
		v.column = false
	}
	about := v.about
	v.about = ""
	mark, style := v.paint(green, "✓"), dim
	reads := firstLine(e.Call, e.Result)
	switch {
	case reads == contract.HaltText:
		mark, style = v.paint(yellow, "–"), yellow
	case e.Result.IsError:
		mark, style = v.paint(red, "✗"), red
	}
	took := ""
	if e.Took > 0 {
		took = fmt.Sprintf(" %*s", timeWidth-1, report.Duration(e.Took))
		if !v.live {
			took = " (" + report.Duration(e.Took) + ")"
		}
	}
	v.line("  %s %s%s", mark, v.callLine(e.Call, about), v.paint(dim, took))
	if reads != "" {
		v.line("    %s", v.paint(style, cutTo(contract.CleanField(reads), v.width-4)))
	}
	for _, b := range e.Result.Content {
		if image, ok := b.(contract.Image); ok && v.pictures != nil {
			v.pictures(v.out, image)
		}
	}
}

// firstLine is the first line of what the model reads of a result.
func firstLine(use contract.ToolUse, result contract.ToolResult) string {
	line, _, more := strings.Cut(strings.TrimSpace(new(contract.View).Render(use, result)), "\n")
	if more {
		line += " …"
	}
	return line
}

func turnLine(e agent.TurnEnded) string {
	parts := []string{fmt.Sprintf("turn %d", e.N), thousands(e.Context.Used) + " tokens in context"}
	if e.Context.Size > 0 {
		parts[1] += fmt.Sprintf(" (%.0f%%)", 100*e.Context.Share())
	}
	if e.Usage.Dollars > 0 {
		parts = append(parts, fmt.Sprintf("$%.4f", e.Usage.Dollars))
	}
	return strings.Join(parts, " · ")
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// thousands formats a number of tokens for people.
func thousands(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return fmt.Sprintf("%.2fM", float64(n)/1_000_000)
}

// asking makes room for a prompt.
func (v *runView) asking(ask func(context.Context, agent.Question) (string, error)) func(context.Context, agent.Question) (string, error) {
	return func(ctx context.Context, q agent.Question) (string, error) {
		v.tell()
		v.endLine()
		return ask(ctx, q)
	}
}

// end sums the run up.
func (v *runView) end(o *agent.Outcome, err error, files [][2]string) {
	v.endLine()
	mark := v.paint(green, "✓")
	if o.Reason != agent.EndTurn && o.Reason != agent.StopSequence {
		mark = v.paint(red, "✗")
	}
	reason := reasonInWords(o)
	if err != nil {
		reason = "failed"
	}
	v.line("\n%s %s", mark, contract.CleanField(reason))
	v.line("  %s, %s, %s", counted(o.Turns, "turn"), counted(o.Calls, "call"), report.Duration(o.Took))
	u := o.Usage
	cost := ""
	if u.Dollars > 0 {
		cost = fmt.Sprintf(", about $%.4f", u.Dollars)
	}
	v.line("  %s tokens: %s read, %s from the cache, %s into it, %s written%s", thousands(u.Total()), thousands(u.Input), thousands(u.CacheRead), thousands(u.CacheWrite), thousands(u.Output), cost)
	for _, f := range files {
		v.line("  %s %s", v.paint(dim, fmt.Sprintf("%-10s", f[0])), v.paint(cyan, f[1]))
	}
}
