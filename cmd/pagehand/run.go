package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/pagehand/pagehand/agent"
	"github.com/pagehand/pagehand/agent/mcptools"
	"github.com/pagehand/pagehand/models"
	"github.com/pagehand/pagehand/recording"
)

// runCmd gives a model a task and lets it work.
type runCmd struct {
	Task   string `arg:"" optional:"" help:"What to do. \"-\" reads it from standard input; with --resume it may be left out."`
	URL    string `placeholder:"URL" help:"Page to open first."`
	System path   `placeholder:"FILE" help:"System prompt."`
	Schema path   `placeholder:"FILE" help:"JSON schema: the answer is one JSON value that is valid against it."`
	Resume path   `placeholder:"FILE" help:"Transcript of an earlier run to continue. The new events are added to it."`
	Out    path   `placeholder:"DIR" help:"Folder for the transcript and the report. Default: a new one in the user's state folder."`

	Brand   agent.Brand `placeholder:"claude|haijun|vertex" enum:"claude,haijun,vertex" default:"claude" group:"Model:" help:"Whose API is used: with the key in ANTHROPIC_API_KEY or JUGLOW_API_KEY, or on Google Cloud with its default credentials. Default: ${default}."`
	BaseURL string      `placeholder:"URL" group:"Model:" help:"Another address of the API, such as that of pagehand api."`
	Model   string      `placeholder:"ID" group:"Model:" help:"Default: claude-opus-5-5 or haijun-opus-5-5, or the one of the transcript."`
	Models  path        `placeholder:"FILE" group:"Model:" help:"Models to add to the table of limits and prices, and to change in it (YAML)."`
	Project string      `placeholder:"ID" group:"Model:" help:"Google Cloud project. Default: ANTHROPIC_VERTEX_PROJECT_ID, or that of the credentials."`
	Region  string      `placeholder:"NAME" group:"Model:" help:"Google Cloud region. Default: CLOUD_ML_REGION, or global."`

	MaxTurns      int     `placeholder:"N" default:"100" group:"Limits of the run:" help:"Most replies of the model. Default: ${default}."`
	MaxTokens     int64   `placeholder:"N" group:"Limits of the run:" help:"Most tokens of a reply. Default: 16384."`
	BudgetTokens  int64   `placeholder:"N" group:"Limits of the run:" help:"Most tokens of the whole run, read, cached and written. Default: no bound."`
	BudgetDollars float64 `placeholder:"USD" group:"Limits of the run:" help:"Most that the whole run may cost, by the table of prices. Default: no bound."`

	Attach     agent.Attachment  `placeholder:"screenshot|tree" enum:"screenshot,tree," default:"" group:"Round trips:" help:"Add what the page looks like, or its tree, to the last result of each batch."`
	EarlyStart bool              `group:"Round trips:" help:"Start a call while the rest of the reply still streams."`
	OneCall    bool              `group:"Round trips:" help:"Let the model make only one call a turn."`
	MCP        map[string]string `name:"mcp" placeholder:"NAME=COMMAND" mapsep:"none" group:"Other tools:" help:"MCP server whose tools the model may use too, started by this command. It runs with your rights. Repeatable."`

	browserFlags
}

// Help is shown by pagehand run --help.
func (*runCmd) Help() string {
	return `Examples:

    pagehand run "What does the Pro plan cost on example.com?"
    pagehand run --url example.com --allow example.com --budget-dollars 0.50 "Find the cheapest plan."
    pagehand run --schema price.json "What does the Pro plan cost on example.com?" > price.json
    pagehand run --resume ~/.local/state/pagehand/runs/20261201-101500-42/run.jsonl "And the Team plan?"

The answer goes to standard output, everything else to standard error. Pages can try to talk the model into something: allow only the hosts that the task needs, and let the browser have no account that matters. A question of the model in the middle of the task is yours to answer; where nobody can be asked the answer is no.

Without a key you can try it on a model that you script yourself: see pagehand api.

The transcript (JSON Lines, readable by you only) and a report (HTML) stay in the folder that is printed at the end. They hold what the pages showed, but no keys. SIGINT ends the run, and --resume goes on with it later, in another browser.

Exit status: 0 when the model has answered, 1 when the run ended otherwise, 2 when the command line, the configuration or the key can't be used, 3 when no browser could be started, 130 or 143 when a signal came first.`
}

// Run gives the model the task.
func (c *runCmd) Run(ctx context.Context, std *streams, log *slog.Logger) (err error) {
	options, err := c.agentOptions(std)
	if err != nil {
		return unusable(err)
	}
	options.Logger = log
	if options.Client, err = c.client(ctx, std); err != nil {
		return unusable(err)
	}
	files, err := earlierFiles(string(c.Resume))
	if err != nil {
		return unusable(err)
	}
	defer func() { err = errors.Join(err, files.close()) }()
	options.Resume = files.earlier
	if c.Model == "" {
		options.Model = recordedModel(files.earlier, options.Model)
	}
	table, err := c.table()
	if err != nil {
		return unusable(err)
	}
	if facts, known := table.Lookup(options.Model); known {
		options.Facts = &facts
	}
	servers, err := c.connect(ctx, &options, log)
	defer func() { err = errors.Join(err, closeAll(servers)) }()
	if err != nil {
		return err
	}
	if err := options.Check(); err != nil {
		return unusable(err)
	}
	return c.work(ctx, std, log, options, files)
}

// work opens the browser and lets the model work in it.
func (c *runCmd) work(ctx context.Context, std *streams, log *slog.Logger, options agent.Options, files *runFiles) error {
	session, err := openLiving(ctx, &c.browserFlags, log, agent.Numbers(files.earlier), files.earlier != nil)
	if err != nil {
		return err
	}
	defer session.close()
	options.Session, options.Configs = session, session.configs
	task := c.Task
	if c.URL != "" {
		if task, err = session.open(ctx, c.URL, task); err != nil {
			return err
		}
	}
	if err := files.begin(string(c.Out)); err != nil {
		return unusable(err)
	}
	options.Recording = recording.NewWriter(files.transcript)
	view := newRunView(std.err)
	view.answerElsewhere = !isTerminal(std.out) || !isTerminal(std.err)
	options.Observe = view.observe
	if options.Ask != nil {
		options.Ask = view.asking(options.Ask)
	}
	view.begin(options.Model)
	outcome, err := agent.Run(ctx, task, options)
	if outcome == nil {
		return unusable(err)
	}
	if view.answerElsewhere {
		printAnswer(std.out, outcome)
	}
	view.end(outcome, err, files.paths())
	return verdict(ctx, outcome, err)
}

// agentOptions reads what the flags say about the run.
func (c *runCmd) agentOptions(std *streams) (agent.Options, error) {
	o := agent.Options{
		Model: c.Model, MaxTokens: c.MaxTokens, MaxTurns: c.MaxTurns, TokenBudget: c.BudgetTokens, DollarBudget: c.BudgetDollars,
		Attach: c.Attach, EarlyStart: c.EarlyStart, SerialCalls: c.OneCall,
	}
	if o.Model == "" {
		o.Model = c.Brand.DefaultModel()
	}
	if c.MaxTurns < 1 || c.MaxTokens < 0 || c.BudgetTokens < 0 || c.BudgetDollars < 0 {
		return o, errors.New("--max-turns must be at least 1, and --max-tokens, --budget-tokens and --budget-dollars must not be negative")
	}
	system, err := readFile(c.System, "--system")
	if err != nil {
		return o, err
	}
	o.System = string(system)
	if o.Schema, err = readFile(c.Schema, "--schema"); err != nil {
		return o, err
	}
	switch {
	case c.Task == "-":
		task, err := io.ReadAll(io.LimitReader(std.in, maxTask))
		if err != nil {
			return o, fmt.Errorf("read the task: %w", err)
		}
		c.Task = string(task)
	case isTerminal(std.in) && isTerminal(std.err):
		o.Ask = newPrompt(std.in, std.err).ask
	}
	if c.Task = strings.TrimSpace(c.Task); c.Task == "" && c.Resume == "" {
		return o, errors.New("there is no task; say what is to be done, as in: pagehand run \"What does the Pro plan cost on example.com?\"")
	}
	return o, nil
}

const maxTask = 1 << 20 // bytes

func readFile(name path, flag string) ([]byte, error) {
	if name == "" {
		return nil, nil
	}
	data, err := os.ReadFile(string(name))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	return data, nil
}

// client makes the API's client. Without a key it says how to get going.
func (c *runCmd) client(ctx context.Context, std *streams) (client agent.Client, err error) {
	client, err = agent.NewClient(ctx, agent.Access{Brand: c.Brand, BaseURL: c.BaseURL, Project: c.Project, Region: c.Region})
	if !errors.Is(err, agent.ErrNoKey) {
		return client, err
	}
	need := "gcloud auth application-default login"
	if variable := c.Brand.KeyVariable(); variable != "" {
		need = "export " + variable + "=..."
	}
	fmt.Fprintf(std.err, `To let a model work, pagehand needs access to its API:

    %s

To see how it works without a key, let a script play the model:

    pagehand api --site                   # prints the address of its API, and that of a sample site
    pagehand run --base-url http://127.0.0.1:PORT --url http://127.0.0.1:SITE --allow-private "What is to be had?"

`, need)
	return client, err
}

func (c *runCmd) table() (models.Table, error) {
	table := models.Known()
	changes, err := readFile(c.Models, "--models")
	if err != nil || changes == nil {
		return table, err
	}
	if table, err = table.Override(changes); err != nil {
		return table, fmt.Errorf("--models: %w", err)
	}
	return table, nil
}

// connect starts the MCP servers.
func (c *runCmd) connect(ctx context.Context, options *agent.Options, log *slog.Logger) ([]*mcptools.Server, error) {
	var servers []*mcptools.Server
	for _, name := range slices.Sorted(maps.Keys(c.MCP)) {
		server, err := mcptools.Connect(ctx, name, mcptools.Command(c.MCP[name], logWriter{log.With("server", name)}))
		if err != nil {
			return servers, unusable(fmt.Errorf("--mcp: %w", err))
		}
		servers = append(servers, server)
		options.Tools = append(options.Tools, server.Tools()...)
	}
	return servers, nil
}

func closeAll(servers []*mcptools.Server) error {
	var errs []error
	for _, s := range servers {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// logWriter logs what an MCP server writes to standard error.
type logWriter struct{ log *slog.Logger }

func (w logWriter) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		w.log.Info("MCP server", "line", strings.TrimSpace(line))
	}
	return len(p), nil
}

// recordedModel is the model of a transcript.
func recordedModel(events []recording.Event, fallback string) string {
	model := fallback
	for _, e := range events {
		var request struct{ Model string }
		if e.Type == recording.TypeRequest && json.Unmarshal(e.Request, &request) == nil && request.Model != "" {
			model = request.Model
		}
	}
	return model
}

func printAnswer(out io.Writer, outcome *agent.Outcome) {
	answer := outcome.Answer
	if outcome.JSON != nil {
		answer = string(outcome.JSON)
	}
	if answer = strings.TrimSpace(answer); answer != "" {
		fmt.Fprintln(out, answer)
	}
}

// verdict is the command's error for a run that ended without an answer.
func verdict(ctx context.Context, outcome *agent.Outcome, err error) error {
	switch {
	case err != nil:
		return err
	case outcome.Reason == agent.Interrupted:
		return context.Cause(ctx)
	case outcome.Reason == agent.EndTurn, outcome.Reason == agent.StopSequence:
		return nil
	}
	return fmt.Errorf("the run ended without an answer: %s", reasonInWords(outcome))
}

// reasonInWords says why a run ended.
func reasonInWords(o *agent.Outcome) string {
	switch o.Reason {
	case agent.EndTurn:
		return "the model has answered"
	case agent.StopSequence:
		return "a stop sequence"
	case agent.MaxTokens:
		return "the reply was cut off by its limit of tokens (--max-tokens)"
	case agent.ContextExceeded:
		return "the model's context window is full"
	case agent.Refusal:
		why := strings.TrimSpace(o.Refused.Category + " " + o.Refused.Explanation)
		if why != "" {
			why = " (" + why + ")"
		}
		return "the API's safety system stopped the reply" + why
	case agent.MaxTurns:
		return "the limit of turns is reached (--max-turns)"
	case agent.Budget:
		return "the budget is used up"
	case agent.Invalid:
		return "no answer was valid against the schema"
	case agent.Interrupted:
		return "interrupted"
	}
	return string(o.Reason)
}
