package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRunUnusable looks at what is told before any browser is started.
func TestRunUnusable(t *testing.T) {
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "JUGLOW_API_KEY", "JUGLOW_BASE_URL"} {
		t.Setenv(name, "")
	}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.WriteFile(bad, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	const local = "--base-url=http://127.0.0.1:1"
	for _, tt := range []struct {
		args []string
		want []string
	}{
		{[]string{"Go."}, []string{"export ANTHROPIC_API_KEY=...", "pagehand api --site", "pagehand: agent: no API key: ANTHROPIC_API_KEY is not set"}},
		{[]string{"Go.", "--brand=haijun"}, []string{"export JUGLOW_API_KEY=..."}},
		{[]string{local}, []string{"there is no task"}},
		{[]string{local, "Go.", "--max-turns=0"}, []string{"--max-turns must be at least 1"}},
		{[]string{local, "Go.", "--brand=other"}, []string{"--brand"}},
		{[]string{local, "Go.", "--system=" + bad + "-not-there"}, []string{"--system"}},
		{[]string{local, "Go.", "--models=" + bad}, []string{"--models"}},
		{[]string{local, "Go.", "--resume=" + bad}, []string{"--resume"}},
		{[]string{local, "Go.", "--mcp=x=exit 1"}, []string{"MCP server x"}},
		{[]string{local, "Go.", "--schema=" + bad}, []string{"the schema of the answer"}},
		{[]string{local, "Go.", "--budget-dollars=1", "--model=unheard-of"}, []string{"the price of unheard-of is not known"}},
	} {
		var out, complaints bytes.Buffer
		status := run(append([]string{"run"}, tt.args...), &streams{in: strings.NewReader(""), out: &out, err: &complaints})
		if status != statusUsage || out.Len() > 0 {
			t.Errorf("%v: exit status %d, output %q", tt.args, status, out.String())
		}
		for _, want := range tt.want {
			if !strings.Contains(complaints.String(), want) {
				t.Errorf("%v: %q is not in\n%s", tt.args, want, complaints.String())
			}
		}
	}
}
