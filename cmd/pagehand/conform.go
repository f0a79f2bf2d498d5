package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"time"

	"github.com/pagehand/pagehand/conform"
)

// conformCmd runs the conformance kit against an executor.
type conformCmd struct {
	Cmd     string       `placeholder:"'PROGRAM ARGS'" xor:"executor" help:"Executor to start: a command for the shell that reads and writes JSON Lines."`
	URL     string       `placeholder:"URL" xor:"executor" env:"PAGEHAND_CONFORM_URL" help:"Executor that runs: an address that answers POST requests."`
	Only    string       `name:"run" placeholder:"REGEX" help:"Run only the checks whose id, such as s1.halt-text, matches."`
	List    bool         `help:"Only list the checks."`
	JSON    bool         `name:"json" help:"Print the report as JSON, at the end."`
	JUnit   path         `name:"junit" placeholder:"FILE" help:"Also write the report as JUnit XML."`
	Timeout durationFlag `placeholder:"TIME" default:"60s" env:"PAGEHAND_CONFORM_TIMEOUT" help:"Most time for a check, such as 45s or 45. Default: ${default}."`

	Parallel int `placeholder:"N" default:"1" help:"With --cmd: how many executors to start, each for a part of the checks. Default: ${default}."`
}

// Help is shown by pagehand conform --help.
func (*conformCmd) Help() string {
	return `Examples:

    pagehand conform --cmd 'pagehand exec --lines --conform'
    pagehand conform --url http://127.0.0.1:8080/turns --junit conform.xml
    pagehand conform --cmd './my-executor' --run '^s5\.'

The executor takes one JSON value after the other, an assistant message or a control line, and answers each with one, as "pagehand exec --lines" does. The kit serves the pages that its checks need on loopback addresses. It first sends {"configure":{...}} with the addresses that calls may reach and what else a check needs, and {"reset":true} for a fresh session. An executor that answers these with an error is checked all the same, in one session; the checks that need settings of their own then count as not implemented.

Exit status: 0 when no check failed, 1 when one did or the executor does not answer, 2 when the command line can't be used.`
}

// errFailed has nothing to add to the report.
var errFailed = &exitError{status: statusFailure}

// Run runs the checks, and prints each as it is done unless the report is JSON.
func (c *conformCmd) Run(ctx context.Context, std *streams) error {
	checks, err := c.selected()
	if err != nil {
		return unusable(err)
	}
	if c.List {
		for _, check := range checks {
			fmt.Fprintf(std.out, "%s\t%s\n", check.ID, check.Title)
		}
		return nil
	}
	options := conform.Options{Checks: checks, Timeout: time.Duration(c.Timeout), Parallel: c.Parallel}
	if !c.JSON {
		options.Done = func(o conform.Outcome) { fmt.Fprintln(std.out, o) }
	}
	start := conform.HTTP(c.URL)
	switch {
	case c.Cmd != "":
		start = conform.Command(c.Cmd)
	case c.URL == "":
		return unusable(errors.New("name an executor with --cmd or --url"))
	case c.Parallel > 1:
		return unusable(errors.New("--parallel: the executor at --url is one, with one session"))
	}
	report, err := conform.Run(ctx, start, options)
	if err != nil {
		return err
	}
	if err := c.print(std, report); err != nil {
		return err
	}
	if report.Count(conform.Fail) > 0 {
		return errFailed
	}
	return nil
}

// selected are the checks that --run names, or all.
func (c *conformCmd) selected() ([]conform.Check, error) {
	pattern, err := regexp.Compile(c.Only)
	if err != nil {
		return nil, fmt.Errorf("--run: %w", err)
	}
	checks := slices.DeleteFunc(conform.Checks(), func(check conform.Check) bool { return !pattern.MatchString(check.ID) })
	if len(checks) == 0 {
		return nil, fmt.Errorf("--run: no check's id matches %q", c.Only)
	}
	return checks, nil
}

func (c *conformCmd) print(std *streams, report *conform.Report) error {
	if c.JUnit != "" {
		var b bytes.Buffer
		if err := report.WriteJUnit(&b); err != nil {
			return err
		}
		if err := os.WriteFile(string(c.JUnit), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	if c.JSON {
		return report.WriteJSON(std.out)
	}
	fmt.Fprintln(std.out)
	for _, o := range report.Outcomes {
		if o.Verdict == conform.Fail { // again, since many lines may have come after it
			fmt.Fprintln(std.out, o)
		}
	}
	fmt.Fprintln(std.out, report.Summary())
	return nil
}
