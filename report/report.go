// Package report writes what happened in a session as one HTML file for people: what the model said and asked, what it read, the
// pictures, the tabs, the times.
//
// The file needs nothing but itself: no script runs in it, nothing is loaded, and its content security policy forbids both. All
// strings of a run are taken for hostile, since pages supply most of them, and are escaped.
package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/pagehand/pagehand/contract"
)

// Run is what a report shows. The events may come from a session as it runs or from a recording of one.
type Run struct {
	// Title is the headline.
	Title string
	// Intro is a sentence or two below it; may be empty.
	Intro string
	// Started is when the run began. The zero time is not shown.
	Started time.Time
	// Took is how long it lasted, with everything between the calls. Zero means the calls' times together.
	Took time.Duration
	// Environment names what the run ran on, such as the browser and its version.
	Environment []Fact
	// Events are what happened, in order.
	Events []Event
}

// Fact is one line of a run's environment.
type Fact struct{ Name, Value string }

// Event is one thing that happened in a turn: something that was said, or a call with its result.
type Event struct {
	// Turn numbers the assistant message that the event belongs to. Events of one turn follow each other.
	Turn int
	// Says is what the model said; then there is no call.
	Says string
	// Aside is what somebody else said: the person's answer, a remark on the run. Then there is no call either.
	Aside string
	// Call is what the model asked for.
	Call contract.ToolUse
	// Result answers the call. Nil means that it was never answered.
	Result *contract.ToolResult
	// Took is the time from the call to its result.
	Took time.Duration
	// Note is a remark for the reader, such as the name of the element that the call's ref means; may be empty.
	Note string
	// Problem says that the result is not what was expected, and how; empty if it is, or if nothing was.
	Problem string
}

var (
	//go:embed report.html
	page string
	//go:embed report.css
	style string

	layout = template.Must(template.New("report").Funcs(template.FuncMap{
		"style":    func() template.CSS { return template.CSS(style) },
		"duration": Duration,
	}).Parse(page))
)

// Write writes the report.
func Write(w io.Writer, run Run) error {
	if err := layout.Execute(w, newDocument(run)); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// Duration formats a time for people: "8 ms", "1.24 s", "2 min 5 s".
func Duration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "<1 ms"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	d = d.Round(time.Second)
	return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
}

// document is a run as the template shows it.
type document struct {
	Run
	Turns  []turn
	Totals totals
	Tabs   []contract.Tab // at the end
}

type totals struct {
	Calls, Errors, Images, Problems int
	Busy                            time.Duration // the calls' times together
}

type turn struct {
	Number int
	Says   []string
	Calls  []call
	Asides []string
	Took   time.Duration
}

// Batch says that the model asked for several calls at once.
func (t turn) Batch() bool { return len(t.Calls) > 1 }

// About is what the turn is about: what the model said, else what it asked.
func (t turn) About() string {
	if len(t.Says) > 0 {
		return t.Says[0]
	}
	var names []string
	for _, c := range t.Calls {
		names = append(names, c.Call.Name)
	}
	return strings.Join(slices.Compact(names), ", ")
}

// Failed reports whether a call of the turn has an error.
func (t turn) Failed() bool {
	return slices.ContainsFunc(t.Calls, func(c call) bool { return c.Kind != "ok" })
}

func newDocument(run Run) document {
	d := document{Run: run}
	var view contract.View
	for _, e := range run.Events {
		if len(d.Turns) == 0 || d.Turns[len(d.Turns)-1].Number != e.Turn {
			d.Turns = append(d.Turns, turn{Number: e.Turn})
		}
		t := &d.Turns[len(d.Turns)-1]
		if e.Says != "" || e.Aside != "" {
			t.say(e)
			continue
		}
		c := newCall(e, &view)
		t.Calls = append(t.Calls, c)
		t.Took += e.Took
		d.count(c)
	}
	if d.Took == 0 {
		d.Took = d.Totals.Busy
	}
	return d
}

func (t *turn) say(e Event) {
	if e.Says != "" {
		t.Says = append(t.Says, e.Says)
	}
	if e.Aside != "" {
		t.Asides = append(t.Asides, e.Aside)
	}
}

func (d *document) count(c call) {
	d.Totals.Calls++
	d.Totals.Images += len(c.Images)
	d.Totals.Busy += c.Took
	if c.Kind != "ok" {
		d.Totals.Errors++
	}
	if c.Problem != "" {
		d.Totals.Problems++
	}
	if c.State != nil {
		d.Tabs = c.State.Tabs
	}
}
