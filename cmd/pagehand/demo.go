package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pagehand/pagehand"
	"github.com/pagehand/pagehand/check"
	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/egress"
	"github.com/pagehand/pagehand/report"
	"github.com/pagehand/pagehand/script"
	"github.com/pagehand/pagehand/site"
)

//go:embed demo.txtar
var demoScript string

// demoCmd plays a script of turns against the sample site.
type demoCmd struct {
	Out     path   `placeholder:"DIR" help:"Folder for the report, the pictures and the downloads. Default: a new temporary one."`
	View    string `placeholder:"model|json|both" enum:"model,json,both" default:"model" help:"Print the text that the model reads, the results, or both. Default: ${default}."`
	Browser string `placeholder:"PATH" help:"Browser to start, a path or a name in PATH. Default: the one that is found."`
	Headful bool   `help:"Show its windows. Needs a display."`
}

// Help is shown by pagehand demo --help.
func (*demoCmd) Help() string {
	return `It starts the sample site on loopback ports, which are all that the browser's calls may reach, and plays a script in a real Chromium: what a model might ask, and what it reads. At the end it writes a report.

Exit status: 0 when every result was as the script expects, 1 when one was not, 3 when no browser could be started, 130 or 143 when a signal interrupted it.`
}

// Run plays the script and writes the report, also when the script breaks off.
func (c *demoCmd) Run(ctx context.Context, std *streams, log *slog.Logger) error {
	started := time.Now()
	folder, err := demoFolder(string(c.Out))
	if err != nil {
		return err
	}
	pictures, err := newAlbum(filepath.Join(folder, "pictures"))
	if err != nil {
		return err
	}
	shop, err := site.Start(ctx, "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer shop.Close()
	plan, err := script.Parse([]byte(strings.NewReplacer("{{origin}}", shop.URL(), "{{other}}", shop.OtherHostURL()).Replace(demoScript)))
	if err != nil {
		return fmt.Errorf("demo.txtar: %w", err)
	}
	flags := browserFlags{Browser: c.Browser, Headful: c.Headful}
	browser, err := flags.launch(ctx, log)
	if err != nil {
		return err
	}
	defer func() {
		if err := browser.Close(); err != nil {
			log.Error("something of the browser is left", "error", err)
		}
	}()
	session, err := openDemo(ctx, browser, shop, filepath.Join(folder, "downloads"))
	if err != nil {
		return err
	}
	version, err := browser.Version(ctx)
	if err != nil {
		return err
	}

	d := &demo{session: session, pictures: pictures, conversation: check.NewConversation(check.Options{}), out: newTranscript(std.out, c.View, len(plan.Turns))}
	environment := []report.Fact{{Name: "Browser", Value: version}, {Name: "Pagehand", Value: versionNumber()}, {Name: "Site", Value: shop.URL()}}
	d.out.begin(environment)
	broken := d.play(ctx, plan)
	page := filepath.Join(folder, "report.html")
	err = saveReport(page, report.Run{
		Title:       "Pagehand demo",
		Intro:       "A scripted model at work in a real Chromium, on the sample site: what it said and asked on the left, what it read on the right.",
		Started:     started,
		Took:        time.Since(started),
		Environment: environment,
		Events:      d.events,
	})
	if err != nil {
		return err
	}
	d.out.end(d.events, broken != nil && ctx.Err() != nil, time.Since(started), page, pictures.dir)
	if broken != nil {
		return broken
	}
	if d.unexpected > 0 {
		return fmt.Errorf("%d of %d results were not as expected", d.unexpected, d.calls)
	}
	return nil
}

// demoFolder makes the folder for what the demo leaves behind, and its downloads folder.
func demoFolder(out string) (string, error) {
	if out == "" {
		var err error
		if out, err = os.MkdirTemp("", "pagehand-demo-"); err != nil {
			return "", err
		}
	}
	out, err := filepath.Abs(out)
	if err != nil {
		return "", err
	}
	return out, os.MkdirAll(filepath.Join(out, "downloads"), 0o700)
}

// openDemo opens a session that may reach the site and nothing else.
func openDemo(ctx context.Context, browser *pagehand.Browser, shop *site.Site, downloads string) (*pagehand.Session, error) {
	var own []string
	for _, url := range []string{shop.URL(), shop.SecondPortURL(), shop.OtherHostURL()} {
		own = append(own, strings.TrimPrefix(url, "http://"))
	}
	rules, err := egress.Parse(egress.Options{Allow: []string{}, AllowPrivateAt: own})
	if err != nil {
		return nil, err
	}
	session, err := browser.NewSession(ctx, &pagehand.SessionOptions{Destinations: rules, Downloads: downloads, ExposeDownloads: true})
	return session, openingError(ctx, err)
}

func saveReport(name string, run report.Run) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(report.Write(file, run), file.Close())
}

// demo is a script being played.
type demo struct {
	session  *pagehand.Session
	pictures *album
	out      *transcript

	refs         script.Resolver
	view         contract.View
	conversation *check.Conversation
	calls        int
	events       []report.Event
	unexpected   int // results that were not as the script or the contract expects
}

// play plays the turns. What a page does differently from the script is noted and does not stop it.
func (d *demo) play(ctx context.Context, plan *script.Script) error {
	for i, turn := range plan.Turns {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		d.out.turn(i+1, turn.Says)
		if turn.Says != "" {
			d.events = append(d.events, report.Event{Turn: i + 1, Says: turn.Says})
		}
		if err := d.batch(ctx, i+1, turn.Calls); err != nil {
			return err
		}
	}
	return nil
}

// batch runs the calls of one turn and shows each as it runs.
func (d *demo) batch(ctx context.Context, turn int, asked []script.Call) error {
	uses, notes := make([]pagehand.Call, len(asked)), make([]string, len(asked))
	for i, a := range asked {
		input, err := d.refs.Resolve(a.Input) // before the first call: a model names what it has read before it asks
		if err != nil {
			return fmt.Errorf("demo.txtar: line %d: %w", a.Line, err)
		}
		d.calls++
		uses[i] = pagehand.Call{ID: fmt.Sprintf("toolu_%03d", d.calls), Name: a.Name, ToolsetName: contract.ToolsetName, Input: input}
		notes[i] = d.target(input)
	}
	ask := func(i int) time.Time {
		if i < len(uses) {
			d.out.asks(uses[i], notes[i])
		}
		return time.Now()
	}
	started := ask(0)
	var results []pagehand.Result
	for use, result := range d.session.Each(ctx, uses) {
		i := len(results)
		results = append(results, result)
		event := report.Event{Turn: turn, Call: use, Result: &result, Took: time.Since(started), Note: notes[i]}
		reads := d.view.Render(use, result)
		if err := asked[i].Check(reads, result.IsError); err != nil && ctx.Err() == nil { // an interrupted call is none of the script's
			event.Problem = err.Error()
			d.unexpected++
		}
		d.out.reads(event, reads)
		d.events = append(d.events, event)
		d.refs.Observe(use, result)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		started = ask(i + 1)
	}
	for _, f := range d.conversation.Turn(uses, results) {
		d.unexpected++
		d.out.line("    %s", d.out.paint(red, "✗ not as the contract has it: "+f.String()))
	}
	if err := d.pictures.add(uses, results); err != nil {
		return fmt.Errorf("write an image: %w", err)
	}
	return nil
}

// target is what the ref of an input was called when it was read, or nothing.
func (d *demo) target(input json.RawMessage) string {
	var in struct {
		Target struct {
			Ref string `json:"ref"`
		} `json:"target"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return ""
	}
	return d.refs.Called(in.Target.Ref)
}
