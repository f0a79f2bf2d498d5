package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/pagehand/pagehand"
	"github.com/pagehand/pagehand/conform"
	"github.com/pagehand/pagehand/contract"
)

// execCmd runs turns: JSON in, JSON out.
type execCmd struct {
	File   string `arg:"" optional:"" default:"-" help:"What to run. Default: standard input."`
	Lines  bool   `help:"Run one JSON value a line in one session, and answer each with one line, until the input ends."`
	URL    string `placeholder:"URL" help:"Page to open first."`
	View   string `placeholder:"json|model|both" enum:"json,model,both" default:"json" help:"Print the message, the text that the model will read, or the message with that text as model_view. Default: ${default}."`
	Images path   `placeholder:"DIR" help:"Also write each image of the results into this folder, as NUMBER-MEMBER-ID.png with the id of the call."`

	Conform bool `help:"With --lines: also obey the control lines of pagehand conform, which widen what calls may do. Never with input that a model wrote."`

	browserFlags
}

// Help is shown by pagehand exec --help.
func (*execCmd) Help() string {
	return `Examples, with what the model asked in turn.json, and with a turn a line:

    pagehand exec turn.json
    pagehand exec --lines --view model < turns.jsonl
    pagehand exec --allow docs.example.com --enable file_upload --uploads ./files < turn.json

The input is an API response, an assistant message, an array of content blocks or one tool_use block, of at most 16 MiB. The output is the user message with the results of its browser calls. Blocks of other tools are left to your application: they are not answered, and their ids are listed on standard error. A turn without browser calls is answered by a message whose content is an empty list: there is nothing to send.

With --downloads each file that is saved is told on standard error as well, under the id that the results give it: "pagehand: dl-2 is orders (1).csv". With --images each picture is a file of that folder, named by a running number, the member and the id of the call: 001-screenshot-toolu_01A.png.

With --lines an empty line is passed over, and a line that can't be used is answered by {"error":{"type":"invalid_input","message":"..."}}, and with --view model each line is {"text":"..."}. When the browser dies, the call that was running fails, and the next line starts another browser: its first result tells the model that earlier tabs and references are gone.

A call that fails is a result like any other. The page of --url must open: if it is refused or does not load, nothing is run. SIGINT and SIGTERM let the turn that is running finish; a second one does not wait.

Exit status: 0 when all of the input was answered, 1 for a failure such as a --url that does not open, 2 when the command line, the configuration or the input can't be used, 3 when no browser could be started, 130 or 143 when a signal came first.`
}

// Run starts the browser before it reads the input, because that takes the longest.
func (c *execCmd) Run(ctx context.Context, std *streams, log *slog.Logger) error {
	if c.Conform && !c.Lines {
		return unusable(errors.New("--conform needs --lines"))
	}
	options, err := c.sessionOptions(log)
	if err != nil {
		return err
	}
	in, err := openInput(c.File, std.in)
	if err != nil {
		return unusable(err)
	}
	defer in.Close()
	images, err := newAlbum(string(c.Images))
	if err != nil {
		return unusable(fmt.Errorf("--images: %w", err))
	}
	x := &execution{
		launch: func(ctx context.Context) (*pagehand.Browser, error) { return c.launch(ctx, log) },
		log:    log,
		images: images,
		out:    newLineWriter(std.out),
		err:    std.err,
		lines:  c.Lines,
		view:   c.View,
		checks: newInspector(log),
	}
	defer x.checks.close()
	if c.Downloads != "" {
		x.saved = map[string]bool{}
	}
	if c.Conform {
		x.options = options
	}
	if x.browser, err = x.launch(ctx); err != nil {
		return err
	}
	defer x.close()
	ctx, cancel := context.WithCancel(ctx)
	x.opening = begin(func() (*pagehand.Session, error) { return c.open(ctx, x.browser, options) })
	defer func() {
		cancel()
		<-x.opening.done
	}()
	input := values(ctx, in, c.Lines)
	if c.Lines {
		return x.runLines(ctx, input)
	}
	return x.runOne(ctx, input)
}

func openInput(name string, stdin io.Reader) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(stdin), nil
	}
	return os.Open(name)
}

// open opens the session, and in it the page of --url.
func (c *execCmd) open(ctx context.Context, browser *pagehand.Browser, options *pagehand.SessionOptions) (*pagehand.Session, error) {
	session, err := browser.NewSession(ctx, options)
	if err := openingError(ctx, err); err != nil || c.URL == "" {
		return session, err
	}
	if err := session.Open(ctx, c.URL); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fmt.Errorf("--url: %w", err)
	}
	return session, nil
}

// opening is a session that is being opened in the background.
type opening struct {
	done    chan struct{} // closed when session and err are set
	session *pagehand.Session
	err     error
}

func begin(open func() (*pagehand.Session, error)) *opening {
	o := &opening{done: make(chan struct{})}
	go func() {
		defer close(o.done)
		o.session, o.err = open()
	}()
	return o
}

// execution is one run of exec.
type execution struct {
	launch  func(context.Context) (*pagehand.Browser, error)
	log     *slog.Logger
	browser *pagehand.Browser
	opening *opening          // of the first session
	session *pagehand.Session // nil until it is awaited
	images  *album
	out     *lineWriter
	err     io.Writer
	lines   bool
	view    string
	model   contract.View   // over the whole session
	saved   map[string]bool // paths of the downloads that standard error has told; nil when they are not kept
	checks  *inspector      // of what is printed

	options *pagehand.SessionOptions // of the session; nil unless control lines are obeyed
	spare   *opening                 // of the session after the next reset, or nil
}

// runOne runs the only value of the input. It is read before the browser is waited for: bad input is told at once.
func (x *execution) runOne(ctx context.Context, input <-chan value) error {
	var in value
	select {
	case in = <-input:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	turn, err := decode(in)
	if err != nil {
		return unusable(err)
	}
	if err := x.await(ctx); err != nil {
		return err
	}
	return x.answer(ctx, turn)
}

// runLines runs one value after the other. The browser is waited for first: that it can't start is told at once.
func (x *execution) runLines(ctx context.Context, input <-chan value) error {
	if err := x.await(ctx); err != nil {
		return err
	}
	for ctx.Err() == nil {
		select {
		case in, more := <-input:
			if !more {
				return nil
			}
			if err := x.revive(ctx); err != nil {
				return err
			}
			if err := x.line(ctx, in); err != nil {
				return err
			}
		case <-ctx.Done():
		}
	}
	return context.Cause(ctx)
}

func (x *execution) line(ctx context.Context, in value) error {
	if in.err != nil && !errors.Is(in.err, errTooLong) {
		return unusable(fmt.Errorf("read the input: %w", in.err))
	}
	if x.options != nil {
		switch control, err := conform.ParseControl(in.data); {
		case err != nil:
			return x.refuse(err)
		case control != nil:
			return x.obey(ctx, control)
		}
	}
	turn, err := decode(in)
	if err != nil {
		return x.refuse(err)
	}
	return x.answer(ctx, turn)
}

// badLine answers a line that can't be used.
type badLine struct {
	Error badLineError `json:"error"`
}

type badLineError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

func decode(in value) (contract.Turn, error) {
	if in.err != nil {
		return contract.Turn{}, in.err
	}
	return contract.DecodeTurn(in.data)
}

// await waits for the session.
func (x *execution) await(ctx context.Context) error {
	select {
	case <-x.opening.done:
		x.session = x.opening.session
		return x.opening.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// revive starts another browser when the browser has ended, and goes on there in the session's place.
func (x *execution) revive(ctx context.Context) error {
	select {
	case <-x.browser.Done():
	default:
		return nil
	}
	browser, err := x.launch(ctx)
	if err != nil {
		return err
	}
	session, err := browser.ReplaceSession(ctx, x.session)
	x.close()
	x.browser, x.session = browser, session
	return openingError(ctx, err)
}

// close ends the browser.
func (x *execution) close() {
	defer x.dropSpare()
	defer x.tellDownloads() // those that were being saved at the end
	if err := x.browser.Close(); err != nil {
		x.log.Error("something of the browser is left", "error", err)
	}
}

// answer runs a turn and prints its results. A signal doesn't reach the calls: what has begun is finished.
func (x *execution) answer(ctx context.Context, turn contract.Turn) error {
	if len(turn.Others) > 0 {
		fmt.Fprintf(x.err, "pagehand: left to your application: %s\n", contract.CleanTitle(strings.Join(turn.Others, ", ")))
	}
	results := x.session.RunTurn(context.WithoutCancel(ctx), turn.Calls)
	x.tellDownloads()
	if err := x.images.add(turn.Calls, results); err != nil {
		return fmt.Errorf("write an image: %w", err)
	}
	defer x.checks.turn(turn.Calls, results) // when they are printed
	message := contract.NewMessage(results)
	if x.view == "json" {
		return x.out.message(message)
	}
	text := x.read(turn.Calls, results)
	switch {
	case x.view == "both":
		message.ModelView = text
		return x.out.message(message)
	case x.lines:
		return x.out.value(struct {
			Text string `json:"text"`
		}{text})
	}
	return x.out.text(text)
}

// tellDownloads names the file of each download that has been saved since the last time: the model, and so the results, may not know it.
func (x *execution) tellDownloads() {
	if x.saved == nil || x.session == nil {
		return
	}
	for _, d := range x.session.Downloads() {
		if d.Path != "" && !x.saved[d.Path] {
			x.saved[d.Path] = true
			fmt.Fprintf(x.err, "pagehand: %s is %s\n", d.ID, filepath.Base(d.Path))
		}
	}
}

// read is what the model reads of a turn's results, with an empty line between two.
func (x *execution) read(calls []contract.ToolUse, results []contract.ToolResult) string {
	texts := make([]string, len(results))
	for i, r := range results {
		texts[i] = x.model.Render(calls[i], r)
	}
	return strings.Join(texts, "\n\n")
}
