package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/pagehand/pagehand/check"
	"github.com/pagehand/pagehand/models"
)

// maxDocument bounds what check reads, in bytes: a recording of a long run holds many pictures.
const maxDocument = 256 << 20

// checkCmd checks a conversation with the API's rules.
type checkCmd struct {
	File   string   `arg:"" optional:"" default:"-" help:"What to check. Default: standard input."`
	JSON   bool     `name:"json" help:"Print the findings as JSON."`
	View   string   `placeholder:"findings|model" enum:"findings,model" default:"findings" help:"Print the findings, or the conversation as the model reads it; then the findings are on standard error. Default: ${default}."`
	Beta   []string `placeholder:"NAME" help:"A beta header of the request. May be repeated."`
	Models path     `placeholder:"FILE" help:"YAML file with models that are not known here, or are different by now."`
	Rules  bool     `help:"Print the rules, and check nothing."`
}

// Help is shown by pagehand check --help.
func (*checkCmd) Help() string {
	return `Examples:

    pagehand check request.json
    pagehand check --view model transcript.jsonl
    pagehand check --rules

The input is the body of a Messages request, a list of messages, or a recording (JSON Lines), of at most 256 MiB. Each finding is a line: an error, for which the API would reject the request, or a warning, for which it would not; where it is; what is there; what must be there; and the rule. With --json the output is {"kind":...,"findings":[...]}, and with --view model too it has "readings": the pieces of the conversation.

The rules are the toolset's; of what else the API wants of a request only the shape of messages is checked.

Exit status: 0 when none is broken for which the API would reject it, also with warnings; 1 when one is; 2 when the command line or the input can't be used.`
}

// Run checks the input and prints what is found.
func (c *checkCmd) Run(ctx context.Context, std *streams) error {
	if c.Rules {
		return c.printRules(std.out)
	}
	table, err := modelTable(string(c.Models))
	if err != nil {
		return unusable(fmt.Errorf("--models: %w", err))
	}
	data, err := readDocument(ctx, c.File, std.in)
	if err != nil {
		return err
	}
	document, err := check.Any(data, check.Options{Betas: c.Beta, Models: table.Lookup})
	if err != nil {
		return unusable(err)
	}
	if err := c.print(std, document); err != nil {
		return err
	}
	if check.Rejected(document.Findings) {
		return &exitError{status: statusFailure}
	}
	return nil
}

func modelTable(file string) (models.Table, error) {
	if file == "" {
		return models.Known(), nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return models.Table{}, err
	}
	return models.Known().Override(data)
}

// readDocument reads a whole file. A signal ends the wait for standard input.
func readDocument(ctx context.Context, name string, stdin io.Reader) ([]byte, error) {
	in, err := openInput(name, stdin)
	if err != nil {
		return nil, unusable(err)
	}
	defer in.Close()
	type content struct {
		data []byte
		err  error
	}
	read := make(chan content, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(in, maxDocument+1))
		read <- content{data, err}
	}()
	select {
	case all := <-read:
		switch {
		case all.err != nil:
			return nil, unusable(all.err)
		case len(all.data) > maxDocument:
			return nil, unusable(fmt.Errorf("the input is longer than %d MiB", maxDocument>>20))
		}
		return bytes.TrimPrefix(all.data, byteOrderMark), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// checked is what check --json prints.
type checked struct {
	Kind     check.Kind      `json:"kind"`
	Findings []check.Finding `json:"findings"`
	Readings []check.Reading `json:"readings,omitempty"`
}

func (c *checkCmd) print(std *streams, d *check.Document) error {
	if c.JSON {
		out := checked{Kind: d.Kind, Findings: append([]check.Finding{}, d.Findings...)}
		if c.View == "model" {
			out.Readings = d.Conversation.View()
		}
		return newLineWriter(std.out).value(out)
	}
	findings := std.out
	if c.View == "model" {
		if _, err := io.WriteString(std.out, printable(d.Conversation.Text())); err != nil {
			return err
		}
		findings = std.err
	}
	return printFindings(findings, d.Findings)
}

func printFindings(out io.Writer, findings []check.Finding) error {
	for _, f := range findings {
		if _, err := fmt.Fprintln(out, f); err != nil {
			return err
		}
	}
	return nil
}

// printable drops what would control a terminal. The lines stay.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}

func (c *checkCmd) printRules(out io.Writer) error {
	if c.JSON {
		return newLineWriter(out).value(check.Rules())
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, r := range check.Rules() {
		kind := "error"
		if r.Warning {
			kind = "warning"
		}
		fmt.Fprintf(table, "%s\t%s\t§%s\t%s\n", r.ID, kind, r.Section, r.Text)
	}
	return table.Flush()
}
