package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/pagehand/pagehand/internal/chrome"
)

// doctorCmd examines this machine.
type doctorCmd struct {
	Browser string `placeholder:"PATH" help:"Browser to examine, a path or a name in PATH. Default: the one that is found."`
	JSON    bool   `name:"json" help:"Print JSON."`
}

// examination bounds how long the doctor waits for a browser that doesn't answer.
const examination = time.Minute

// Run prints the report. It fails when no browser can be started.
func (c *doctorCmd) Run(ctx context.Context, std *streams, log *slog.Logger) error {
	bounded, cancel := context.WithTimeout(ctx, examination)
	defer cancel()
	report := c.examine(bounded, log)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	write := writeReport
	if c.JSON {
		write = writeReportJSON
	}
	if err := write(std.out, report); err != nil {
		return err
	}
	if report.Status() == chrome.Fail {
		return &exitError{status: statusFailure}
	}
	return nil
}

func (c *doctorCmd) examine(ctx context.Context, log *slog.Logger) chrome.Report {
	options := chrome.Options{Logger: log}
	if c.Browser != "" {
		found, err := chrome.Find(c.Browser)
		if err != nil {
			return chrome.Report{Checks: []chrome.Check{{Name: "browser", Status: chrome.Fail, Text: err.Error() + "."}}}
		}
		options.Executable = found
	}
	return chrome.Examine(ctx, options)
}

// writeReport writes a line for each check, and what mends it below.
func writeReport(w io.Writer, report chrome.Report) error {
	const red, yellow, green, plain = "\x1b[31m", "\x1b[33m", "\x1b[32m", "\x1b[0m"
	marks := map[chrome.Status]string{chrome.OK: "✓", chrome.Warn: "!", chrome.Fail: "✗"}
	if coloured(w) {
		marks = map[chrome.Status]string{chrome.OK: green + "✓" + plain, chrome.Warn: yellow + "!" + plain, chrome.Fail: red + "✗" + plain}
	}
	for _, check := range report.Checks {
		text := fmt.Sprintf("%s %-14s %s\n", marks[check.Status], check.Name, check.Text)
		if check.Fix != "" {
			text += fmt.Sprintf("  %-14s Fix: %s\n", "", check.Fix)
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	return nil
}

// checkJSON is a check as doctor --json prints it.
type checkJSON struct {
	Name   string `json:"name"`
	Status string `json:"status"`
	Text   string `json:"text"`
	Fix    string `json:"fix,omitempty"`
}

func writeReportJSON(w io.Writer, report chrome.Report) error {
	checks := make([]checkJSON, 0, len(report.Checks))
	for _, c := range report.Checks {
		checks = append(checks, checkJSON{c.Name, c.Status.String(), c.Text, c.Fix})
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(struct {
		Status string      `json:"status"`
		Checks []checkJSON `json:"checks"`
	}{report.Status().String(), checks})
}
