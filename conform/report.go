package conform

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
)

// Report is what a run came to.
type Report struct {
	Started  time.Time
	Took     time.Duration
	Outcomes []Outcome // in the order of the checks
}

// Count is how many checks have a verdict.
func (r *Report) Count(v Verdict) int {
	n := 0
	for _, o := range r.Outcomes {
		if o.Verdict == v {
			n++
		}
	}
	return n
}

// Summary is the counts as one line.
func (r *Report) Summary() string {
	return fmt.Sprintf("%d passed, %d failed, %d not implemented, in %.1f s", r.Count(Pass), r.Count(Fail), r.Count(NotImplemented), r.Took.Seconds())
}

// String is an outcome as one line, with the reason below it unless the check passed.
func (o Outcome) String() string {
	line := fmt.Sprintf("%-15s %s %s: %s", o.Verdict, o.Section(), o.name(), o.Title)
	if o.Reason != "" {
		line += "\n" + strings.Repeat(" ", 16) + o.Reason
	}
	return line
}

// name is the check's name in its section.
func (c Check) name() string {
	_, name, _ := strings.Cut(c.ID, ".")
	return name
}

// WriteJSON writes the report as one JSON object.
func (r *Report) WriteJSON(w io.Writer) error {
	type check struct {
		ID      string  `json:"id"`
		Section string  `json:"section"`
		Title   string  `json:"title"`
		Verdict Verdict `json:"verdict"`
		Reason  string  `json:"reason,omitempty"`
		Seconds float64 `json:"seconds"`
	}
	checks := make([]check, len(r.Outcomes))
	for i, o := range r.Outcomes {
		checks[i] = check{o.ID, o.Section(), o.Title, o.Verdict, o.Reason, o.Took.Seconds()}
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(map[string]any{
		"passed": r.Count(Pass), "failed": r.Count(Fail), "not_implemented": r.Count(NotImplemented), "seconds": r.Took.Seconds(), "checks": checks,
	})
}

type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name      string      `xml:"name,attr"`
	Tests     int         `xml:"tests,attr"`
	Failures  int         `xml:"failures,attr"`
	Skipped   int         `xml:"skipped,attr"`
	Time      string      `xml:"time,attr"`
	Timestamp string      `xml:"timestamp,attr"`
	Cases     []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string     `xml:"classname,attr"`
	Name    string     `xml:"name,attr"`
	Time    string     `xml:"time,attr"`
	Failure *junitNote `xml:"failure"`
	Skipped *junitNote `xml:"skipped"`
}

type junitNote struct {
	Message string `xml:"message,attr"`
}

// WriteJUnit writes the report as JUnit XML: sections are the classes, and what is not implemented is skipped.
func (r *Report) WriteJUnit(w io.Writer) error {
	suite := junitSuite{
		Name: "browser toolset conformance", Tests: len(r.Outcomes), Failures: r.Count(Fail), Skipped: r.Count(NotImplemented),
		Time: seconds(r.Took), Timestamp: r.Started.UTC().Format("2006-01-02T15:04:05"),
	}
	for _, o := range r.Outcomes {
		c := junitCase{Class: o.Section(), Name: o.name() + ": " + o.Title, Time: seconds(o.Took)}
		switch o.Verdict {
		case Fail:
			c.Failure = &junitNote{o.Reason}
		case NotImplemented:
			c.Skipped = &junitNote{o.Reason}
		}
		suite.Cases = append(suite.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(junitSuites{Suites: []junitSuite{suite}}); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
