package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pagehand/pagehand/conform"
)

// ourselves is the command of our own executor for the kit.
func ourselves(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("%s=1 XDG_CONFIG_HOME='%s' '%s' exec --lines --conform", asProgram, t.TempDir(), os.Args[0])
}

// TestConformance runs the whole kit against our own executor.
func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes minutes")
	}
	checks := conform.Checks()
	report, err := conform.Run(context.Background(), conform.Command(ourselves(t)), conform.Options{Checks: checks, Parallel: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range report.Outcomes {
		if o.Verdict != conform.Pass {
			t.Error(o)
		}
	}
	t.Log(report.Summary())
}

func TestConformCommand(t *testing.T) {
	file := filepath.Join(t.TempDir(), "junit.xml")
	p := newProgram(t, "conform", "--cmd", ourselves(t), "--run", `^s1\.(halt-text|one-result)$`, "--json", "--junit", file)
	p.ends(t, 0)
	var report struct {
		Passed int `json:"passed"`
		Checks []struct{ ID, Verdict string }
	}
	if err := json.Unmarshal(p.out.Bytes(), &report); err != nil || report.Passed != 2 || len(report.Checks) != 2 || report.Checks[0].ID != "s1.halt-text" {
		t.Errorf("the report is %s (%v)", p.out.String(), err)
	}
	if junit, err := os.ReadFile(file); err != nil || !strings.Contains(string(junit), `tests="2"`) {
		t.Errorf("the JUnit report is %s (%v)", junit, err)
	}
}

func TestConformCommandLine(t *testing.T) {
	for _, test := range []struct {
		name   string
		args   []string
		status int
		out    string
		err    string
	}{
		{"list", []string{"--list", "--run", "^s1.halt-text$"}, 0, "s1.halt-text\tCalls after a failed one", ""},
		{"a check that fails", []string{"--cmd", `cat`, "--run", "^s1.halt-text$"}, 1, "0 passed, 1 failed", ""},
		{"no executor", nil, statusUsage, "", "--cmd or --url"},
		{"both", []string{"--cmd", "cat", "--url", "http://127.0.0.1:9"}, statusUsage, "", "--cmd"},
		{"no such check", []string{"--cmd", "cat", "--run", "^none$"}, statusUsage, "", "no check's id matches"},
		{"bad pattern", []string{"--cmd", "cat", "--run", "("}, statusUsage, "", "--run"},
		{"no such program", []string{"--cmd", "no-such-program"}, 1, "", "not found"},
		{"nobody there", []string{"--url", "http://127.0.0.1:9/"}, 1, "", "refused"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newProgram(t, append([]string{"conform"}, test.args...)...)
			p.ends(t, test.status)
			if !strings.Contains(p.out.String(), test.out) || !strings.Contains(p.err.String(), test.err) {
				t.Errorf("it printed %q and said %q", p.out.String(), p.err.String())
			}
		})
	}
}

// TestControlLines checks who may widen what calls do, and that a fresh session is one.
func TestControlLines(t *testing.T) {
	const configure = `{"configure":{"hosts":["127.0.0.1:9"],"configs":{"javascript_exec":{"enabled":true}}}}` + "\n"
	run := call("javascript_exec", `{"text":"6 * 7"}`)
	t.Run("without the flag", func(t *testing.T) {
		p := newProgram(t, "exec", "--lines")
		ask, answer := p.converse(t)
		for _, line := range []string{configure, `{"reset":true}` + "\n"} {
			ask(line)
			if got := answer(); !strings.Contains(got, `"invalid_input"`) {
				t.Errorf("%s was answered by %s", line, got)
			}
		}
		ask(run)
		if got := answer(); !strings.Contains(got, "not enabled in this environment") {
			t.Errorf("the call was answered by %s", got)
		}
		p.in.Close()
		p.ends(t, 0)
	})
	t.Run("with the flag", func(t *testing.T) {
		p := newProgram(t, "exec", "--lines", "--conform")
		ask, answer := p.converse(t)
		for _, step := range []struct{ line, want string }{
			{run, "not enabled in this environment"},
			{configure, `{"ok":true}`},
			{run, "42"},
			{call("new_tab", "{}"), `"tab-2"`},
			{`{"reset":true}` + "\n", `{"ok":true}`},
			{call("list_tabs", "{}"), `"tabs":[{"tab_id":"tab-1","title":"","url":"about:blank","active":true}]}`},
			{run, "42"},
			{`{"reset":true}` + "\n", `{"ok":true}`},
			{`{"configure":{"hosts":[]}}` + "\n", `{"ok":true}`},
			{run, "not enabled in this environment"},
			{`{"configure":{"hosts":["nonsense"]}}` + "\n", `"invalid_input"`},
			{`{"configure":{"hosts":[],"shell":"sh"}}` + "\n", `unknown field`},
			{`{"configure":{"hosts":[],"configs":{"fly":{}}}}` + "\n", `no member`},
			{`{"configure":{"hosts":[],"viewport":[1,1]}}` + "\n", `viewport`},
			{`{"configure":{"hosts":[],"dialogs":"ask"}}` + "\n", `dialogs`},
			{`{"configure":{"hosts":[]},"reset":true}` + "\n", `control line`},
			{call("list_tabs", "{}"), `"tab-1"`},
		} {
			ask(step.line)
			if got := answer(); !strings.Contains(got, step.want) {
				t.Errorf("%s was answered by %s", strings.TrimSpace(step.line), got)
			}
		}
		p.in.Close()
		p.ends(t, 0)
	})
}
