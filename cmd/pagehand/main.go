// Command pagehand executes calls of the browser toolset in a real Chromium.
//
// It wires the packages together and holds no logic of theirs. Each subcommand is a type in a file of its own: a field of [cli]
// registers it, its Run method does the work. The command line, PAGEHAND_* variables, a configuration file and defaults fill the
// same flags, in this order of precedence.
//
// Results go to standard output. Everything else goes to standard error, where an error is one line, and the exit status says
// what kind of error it was: see [status].
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	_ "time/tzdata" // time zones are checked also where the system has no list of them

	"github.com/alecthomas/kong"
)

// cli is the grammar of the command line.
type cli struct {
	Config   path             `placeholder:"FILE" help:"Configuration file (YAML): one \"flag: value\" a line, named as here without the dashes. Default: pagehand/config.yaml in the user's configuration folder."`
	Version  kong.VersionFlag `env:"-" help:"Print the version."`
	LogLevel slog.Level       `default:"warn" placeholder:"LEVEL" help:"What is logged on standard error: debug, info, warn or error. Default: ${default}."`

	Exec    execCmd    `cmd:"" help:"Run the browser calls of a turn, or of many turns, and print their results."`
	Run     runCmd     `cmd:"" help:"Give a model a task and let it work in a browser."`
	Check   checkCmd   `cmd:"" help:"Check a conversation with the API's rules, or print it as the model reads it."`
	Api     apiCmd     `cmd:"" help:"Serve a local Messages API with a scripted model, to test clients with."`
	Conform conformCmd `cmd:"" help:"Check any executor of the toolset against the contract."`
	Policy  policyCmd  `cmd:"" help:"Check, explain and print policies: which calls go on, are asked about or refused."`
	Demo    demoCmd    `cmd:"" help:"Run a scripted set of turns on the sample site and write a report."`
	Site    siteCmd    `cmd:"" help:"Serve the sample site on a loopback port and print its address."`
	Doctor  doctorCmd  `cmd:"" help:"Examine whether browsers can be started here, and name the command that fixes what is missing."`
	Members membersCmd `cmd:"" help:"List the toolset's members."`
	About   versionCmd `cmd:"" name:"version" help:"Print the version."`
}

func main() {
	os.Exit(run(os.Args[1:], &streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}))
}

// streams are where a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run runs one command line and returns the exit status.
func run(args []string, std *streams) int {
	if len(args) == 0 {
		return usage(std)
	}
	var c cli
	parser := newParser(&c, std)
	selected, err := parser.Parse(args)
	if err == nil {
		ctx, stop := untilSignal(context.Background())
		defer stop()
		selected.BindTo(ctx, (*context.Context)(nil))
		err = selected.Run(std, newLogger(std.err, c.LogLevel))
	}
	if text := complaint(err); text != "" {
		fmt.Fprintln(std.err, "pagehand: "+text)
	}
	return status(err)
}

// usage prints the help where nothing was asked for, which is an error.
func usage(std *streams) int {
	parser := newParser(&cli{}, &streams{out: std.err, err: std.err})
	nothing, err := kong.Trace(parser, nil)
	if err == nil {
		err = nothing.PrintUsage(false)
	}
	if err != nil {
		fmt.Fprintln(std.err, "pagehand: "+err.Error())
	}
	return statusUsage
}

// newParser builds the command line's parser. The grammar is ours, so an error in it is a bug.
func newParser(c *cli, std *streams) *kong.Kong {
	parser, err := kong.New(c,
		kong.Name("pagehand"),
		kong.Description("Pagehand executes the calls of the browser toolset in a real Chromium. Every flag can also be set by a variable (--max-chars by PAGEHAND_MAX_CHARS) and in a configuration file; the command line comes first, then the variable, then the file."),
		kong.DefaultEnvars("PAGEHAND"),
		kong.ValueFormatter(func(v *kong.Value) string { return v.Help }), // without each flag's variable
		kong.Writers(std.out, std.err),
		kong.Vars{"version": "pagehand " + versionNumber()},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		panic(err)
	}
	return parser
}

// The exit statuses. A signal that ended the work before it was done leads to 128 plus its number, as in a shell.
const (
	statusFailure   = 1 // something went wrong that none of the others names
	statusUsage     = 2 // the command line, the configuration or the input can't be used
	statusNoBrowser = 3 // no browser could be started
)

// exitError is an error with the exit status it leads to. Without an error inside, the command has already said everything.
type exitError struct {
	status int
	err    error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// unusable marks an error as one in what the caller gave us.
func unusable(err error) error { return &exitError{statusUsage, err} }

// status is the exit status that an error leads to.
func status(err error) int {
	var exit *exitError
	var signal *signalError
	var parse *kong.ParseError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &signal):
		return signal.status()
	case errors.As(err, &exit):
		return exit.status
	case errors.As(err, &parse):
		return statusUsage
	}
	return statusFailure
}

// complaint is what the operator reads of an error: one line, or nothing when he asked for the end himself.
func complaint(err error) string {
	var signal *signalError
	if err == nil || errors.As(err, &signal) {
		return ""
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}
