package conform_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pagehand/pagehand/conform"
)

// asExecutor makes the test binary an executor that reads and writes lines, with this fault.
const asExecutor = "TEST_AS_EXECUTOR"

func TestMain(m *testing.M) {
	fault, ok := os.LookupEnv(asExecutor)
	if !ok {
		os.Exit(m.Run())
	}
	if err := serveLines(fault); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serveLines answers lines until the input ends. Some faults are those of a program.
func serveLines(fault string) error {
	executor, err := inMemory(fault)(context.Background())
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		answer, err := executor.Exchange(context.Background(), lines.Bytes())
		switch {
		case err != nil:
			return err
		case fault == "dies of clicks" && bytes.Contains(lines.Bytes(), []byte(`"left_click"`)):
			return fmt.Errorf("out of luck")
		case fault == "hangs on clicks" && bytes.Contains(lines.Bytes(), []byte(`"left_click"`)):
			select {}
		case fault == "talks" && bytes.Contains(lines.Bytes(), []byte(`"left_click"`)):
			answer = append(answer, "\nlog: clicked"...)
		case fault == "no JSON" && bytes.Contains(lines.Bytes(), []byte(`"left_click"`)):
			answer = []byte("clicked")
		}
		fmt.Printf("%s\n", answer)
	}
	return lines.Err()
}

func asCommand(fault string) conform.Start {
	return conform.Command(fmt.Sprintf("%s='%s' '%s'", asExecutor, fault, os.Args[0]))
}

// TestCommand runs a check that clicks between two that don't: what happens to the program in one does not reach the others.
func TestCommand(t *testing.T) {
	ids := []string{"s1.one-result", "s3.ref-click", "s4.page-text"}
	for _, test := range []struct{ fault, want string }{
		{"", ""},
		{"dies of clicks", "the executor ended; it said: out of luck"},
		{"hangs on clicks", "the check took too long"},
		{"talks", "a line that nobody asked for: log: clicked"},
		{"no JSON", "no user message: clicked"},
	} {
		t.Run(test.fault, func(t *testing.T) {
			report, err := conform.Run(context.Background(), asCommand(test.fault), conform.Options{Checks: named(t, ids), Timeout: 2 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range report.Outcomes {
				want, reason := conform.Pass, ""
				if o.ID == "s3.ref-click" && test.want != "" {
					want, reason = conform.Fail, test.want
				}
				if o.Verdict != want || !strings.Contains(o.Reason, reason) {
					t.Error(o)
				}
			}
		})
	}
}

// TestCommandEnds checks that what an executor started ends with it, though it does not look at its input.
func TestCommandEnds(t *testing.T) {
	executor, err := conform.Command("read line; sleep 1000 & echo $!; wait")(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	pid, err := executor.Exchange(ctx, []byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := executor.Close(); err != nil {
		t.Fatal(err)
	}
	for { // until the kernel has ended it
		status, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/stat")
		if err != nil || strings.Contains(string(status), ") Z ") {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("process %s still runs: %s", pid, status)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestNeverAnswers(t *testing.T) {
	for _, test := range []struct{ command, want string }{
		{"no-such-program", "not found"},
		{"exit 3", "the executor ended"},
	} {
		_, err := conform.Run(context.Background(), conform.Command(test.command), conform.Options{Checks: named(t, controls)})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.command, err, test.want)
		}
	}
}

func TestHTTP(t *testing.T) {
	executor, err := inMemory("")(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		value, err := io.ReadAll(r.Body)
		if err == nil {
			value, err = executor.Exchange(r.Context(), value)
		}
		if err != nil || r.Method != http.MethodPost {
			http.Error(w, "no", http.StatusInternalServerError)
			return
		}
		w.Write(value)
	}))
	defer server.Close()
	for _, o := range run(t, conform.HTTP(server.URL), named(t, controls)).Outcomes {
		if o.Verdict != conform.Pass {
			t.Error(o)
		}
	}
}

// TestWithoutControl runs checks on executors that do not obey the control lines.
func TestWithoutControl(t *testing.T) {
	plain := []string{"s1.halt-nothing-runs", "s4.close-tab-last", "s4.new-tab", "s5.popup", "s8.page-instructions"}
	settled := []string{"s2.disabled", "s3.screenshot-fits-wide"}
	for _, test := range []struct {
		fault   string
		settled conform.Verdict
	}{
		{"no reset", conform.Pass},
		{"no configure", conform.NotImplemented},
	} {
		t.Run(test.fault, func(t *testing.T) {
			for _, o := range run(t, inMemory(test.fault), named(t, append(plain, settled...))).Outcomes {
				want := conform.Pass
				if o.ID == settled[0] || o.ID == settled[1] {
					want = test.settled
				}
				if o.Verdict != want {
					t.Error(o)
				}
			}
		})
	}
}

// TestNotImplemented checks that a member which an executor does not offer fails no check.
func TestNotImplemented(t *testing.T) {
	for _, o := range run(t, inMemory("no find"), named(t, []string{"s4.find-nothing", "s4.page-text"})).Outcomes {
		want, reason := conform.Pass, ""
		if o.ID == "s4.find-nothing" {
			want, reason = conform.NotImplemented, "find is not enabled in this environment."
		}
		if o.Verdict != want || o.Reason != reason {
			t.Error(o)
		}
	}
}

func TestReport(t *testing.T) {
	report := &conform.Report{Took: 1500 * time.Millisecond}
	for i, check := range named(t, controls[:3]) {
		o := conform.Outcome{Check: check, Verdict: conform.Pass, Took: 250 * time.Millisecond}
		switch i {
		case 1:
			o.Verdict, o.Reason = conform.Fail, `it is <not> "that"`
		case 2:
			o.Verdict, o.Reason = conform.NotImplemented, "no zoom"
		}
		report.Outcomes = append(report.Outcomes, o)
	}
	if got, want := report.Summary(), "1 passed, 1 failed, 1 not implemented, in 1.5 s"; got != want {
		t.Errorf("the summary is %q, want %q", got, want)
	}
	if got, want := report.Outcomes[0].String(), "pass            §4 find-nothing: find that finds nothing says so, and is no error."; got != want {
		t.Errorf("a line is %q, want %q", got, want)
	}
	var b bytes.Buffer
	if err := report.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var asJSON struct {
		Passed, Failed int
		Checks         []struct{ ID, Section, Verdict, Reason string }
	}
	if err := json.Unmarshal(b.Bytes(), &asJSON); err != nil {
		t.Fatal(err)
	}
	if c := asJSON.Checks; asJSON.Passed != 1 || asJSON.Failed != 1 || len(c) != 3 || c[1].Reason != report.Outcomes[1].Reason || c[0].Section != "§4" || c[2].Verdict != "not implemented" {
		t.Errorf("as JSON: %s", b.String())
	}
	b.Reset()
	if err := report.WriteJUnit(&b); err != nil {
		t.Fatal(err)
	}
	var asXML struct {
		Suite struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Skipped  int `xml:"skipped,attr"`
			Cases    []struct {
				Class   string `xml:"classname,attr"`
				Failure *struct {
					Message string `xml:"message,attr"`
				} `xml:"failure"`
				Skipped *struct{} `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(b.Bytes(), &asXML); err != nil {
		t.Fatal(err)
	}
	if s := asXML.Suite; s.Tests != 3 || s.Failures != 1 || s.Skipped != 1 || s.Cases[1].Failure.Message != report.Outcomes[1].Reason || s.Cases[2].Skipped == nil || s.Cases[0].Failure != nil {
		t.Errorf("as XML: %s", b.String())
	}
}
