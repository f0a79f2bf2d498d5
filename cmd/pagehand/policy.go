package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/pagehand/pagehand"
	"github.com/pagehand/pagehand/egress"
	"github.com/pagehand/pagehand/policy"
)

// policyCmd has what helps to write a policy.
type policyCmd struct {
	Check   policyCheckCmd   `cmd:"" help:"Check a policy file and list its rules."`
	Explain policyExplainCmd `cmd:"" help:"Tell what a policy does with a call, rule by rule."`
	Print   policyPrintCmd   `cmd:"" help:"Print the shipped policy, which documents the format."`
}

// Names that stand for a policy where a file may be named.
const (
	shippedPolicy = "default"
	noPolicy      = "off"
)

// errPolicy marks a file that was read and is no policy.
var errPolicy = errors.New("it is not a policy")

// loadPolicy reads a policy file, or gives the shipped policy for "default" and nil, which allows everything, for "off". A file that is
// no policy is an [errPolicy].
func loadPolicy(name string) (*policy.Policy, error) {
	switch name {
	case shippedPolicy:
		return policy.Default(), nil
	case noPolicy:
		return nil, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	p, err := policy.Parse(bytes.TrimPrefix(data, byteOrderMark))
	if err == nil {
		err = p.CheckMembers(memberNames())
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", name, errPolicy, err)
	}
	return p, nil
}

func memberNames() []string {
	var names []string
	for _, m := range pagehand.Members() {
		names = append(names, m.Name)
	}
	return names
}

// policyCheckCmd checks a policy file.
type policyCheckCmd struct {
	File string `arg:"" placeholder:"FILE|default" help:"Policy file, or default for the shipped policy."`
}

// Help is shown by pagehand policy check --help.
func (*policyCheckCmd) Help() string {
	return `Examples:

    pagehand policy check policy.yaml
    pagehand policy check default

Each rule is a line: where it is, what it decides, its name and its reason; rules of the shipped policy that the file extends have no line. An error names the line that is wrong.

Exit status: 0 when it is a policy, 1 when it is not, 2 when the file can't be read.`
}

// Run lists the rules.
func (c *policyCheckCmd) Run(std *streams) error {
	p, err := loadPolicy(c.File)
	if errors.Is(err, errPolicy) {
		return &exitError{statusFailure, err}
	}
	if err != nil {
		return unusable(err)
	}
	table := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
	for _, r := range p.Rules() {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", lineNumber(r.Line), r.Decision, r.Name, r.Reason)
	}
	return table.Flush()
}

func lineNumber(line int) string {
	if line == 0 {
		return "shipped"
	}
	return fmt.Sprintf("line %d", line)
}

// policyExplainCmd tells what a policy does with an act.
type policyExplainCmd struct {
	Act    string `arg:"" optional:"" default:"-" placeholder:"ACT.json" help:"The act, as JSON. Default: standard input."`
	Policy string `placeholder:"FILE|default|off" default:"default" env:"-" help:"Policy file, default for the shipped policy, or off for none. Default: ${default}."`
	JSON   bool   `name:"json" help:"Print JSON."`
}

// Help is shown by pagehand policy explain --help.
func (*policyExplainCmd) Help() string {
	return `Example:

    echo '{"member":"left_click","url":"https://shop.example/cart","element":{"role":"button","name":"Pay now"}}' |
        pagehand policy explain --policy policy.yaml

An act is a call with what it acts on: member, input, url, host (by default the url's), tab, and element with role, name, text, type and form, which has action, method, fields and submit. Only member is needed. Each rule that was tried is a line, and the last one decided.

Exit status: 0 whatever the decision is, 2 when the act or the policy can't be used.`
}

// explained is what explain --json prints.
type explained struct {
	Act      string        `json:"act"`
	Decision string        `json:"decision"`
	Rule     string        `json:"rule"`
	Line     int           `json:"line,omitempty"`
	Reason   string        `json:"reason,omitempty"`
	Steps    []policy.Step `json:"steps"`
}

// Run prints the rules as they were tried and the verdict.
func (c *policyExplainCmd) Run(ctx context.Context, std *streams) error {
	p, err := loadPolicy(c.Policy)
	if err != nil {
		return unusable(err)
	}
	act, err := readAct(ctx, c.Act, std.in)
	if err != nil {
		return err
	}
	v, steps := p.Judge(act), p.Explain(act)
	if c.JSON {
		return newLineWriter(std.out).value(explained{act.String(), v.Decision.String(), v.Rule, v.Line, v.Reason, steps})
	}
	table := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
	for _, s := range steps {
		matches := "no"
		if s.Matched {
			matches = "yes"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", lineNumber(s.Line), s.Rule, matches, s.Because)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	reason := ""
	if v.Reason != "" {
		reason = ": " + v.Reason
	}
	_, err = fmt.Fprintf(std.out, "%s %s%s\n", v.Decision, act, reason)
	return err
}

// readAct reads an act strictly and completes where it happens.
func readAct(ctx context.Context, name string, stdin io.Reader) (policy.Act, error) {
	data, err := readDocument(ctx, name, stdin)
	if err != nil {
		return policy.Act{}, err
	}
	var act policy.Act
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	err = decoder.Decode(&act)
	if err == nil && decoder.More() {
		err = errors.New("there is more than one value")
	}
	if err == nil && act.Member == "" {
		err = errors.New("it has no member")
	}
	if err == nil && act.Host == "" && act.URL != "" {
		var u *egress.URL
		if u, err = egress.ParseURL(act.URL); err == nil {
			act.Host = u.Host
		}
	}
	if err != nil {
		return policy.Act{}, unusable(fmt.Errorf("the act: %w", err))
	}
	return act, nil
}

// policyPrintCmd prints the shipped policy.
type policyPrintCmd struct{}

// Run prints the file.
func (*policyPrintCmd) Run(std *streams) error {
	_, err := std.out.Write(policy.DefaultFile())
	return err
}
