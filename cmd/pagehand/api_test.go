package main

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestAPI serves a script until a signal ends it; the exit status tells whether anything was found.
func TestAPI(t *testing.T) {
	for _, test := range []struct {
		name, script, body string
		status             int
		told               string
	}{
		{"the default script", "", `{"model":"claude-sonnet-5","max_tokens":100,"tools":[{"type":"browser_toolset_20260801"}],"messages":[{"role":"user","content":"Go."}]}`, 0, "/transcripts"},
		{"a finding", "steps:\n  - calls: list_tabs\n", `{"model":"claude-sonnet-5","max_tokens":100,"messages":[{"role":"user","content":"Go."}]}`, 1, "list_tabs is to be called, and the request does not declare it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			args := []string{"api", "--record", filepath.Join(t.TempDir(), "new")}
			if test.script != "" {
				name := filepath.Join(t.TempDir(), "script.yaml")
				if err := os.WriteFile(name, []byte(test.script), 0o600); err != nil {
					t.Fatal(err)
				}
				args = append(args, "--script", name)
			}
			p := newProgram(t, args...)
			p.Stdout = nil
			out, err := p.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Start(); err != nil {
				t.Fatal(err)
			}
			address, err := bufio.NewReader(out).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			request, err := http.NewRequest(http.MethodPost, strings.TrimSpace(address)+"/v1/messages", strings.NewReader(test.body))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("X-Api-Key", "any")
			request.Header.Set("Anthropic-Version", "2023-06-01")
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(response.Body)
			response.Body.Close()
			if err != nil || response.StatusCode != http.StatusOK {
				t.Errorf("%d %s, %v", response.StatusCode, body, err)
			}
			if test.script == "" && !bytes.Contains(body, []byte(`/docs"`)) {
				t.Errorf("the site's address is not in %s", body)
			}
			if err := p.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			p.ends(t, test.status)
			if !strings.Contains(p.err.String(), test.told) {
				t.Errorf("told %s", p.err.String())
			}
		})
	}
}

func TestAPIUsage(t *testing.T) {
	folder := t.TempDir()
	file := func(name, text string) string {
		t.Helper()
		name = filepath.Join(folder, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--script", file("bad.yaml", "steps:\n  - say: x\n")}, "bad.yaml: line 2: a step has one of the keys"},
		{[]string{"--script", file("origin.yaml", "steps:\n  - end: '{{other}}'\n")}, "stand for the sample site, which takes --site"},
		{[]string{"--script", filepath.Join(folder, "missing.yaml")}, "no such file"},
		{[]string{"--addr", "0.0.0.0:0"}, "not a loopback address"},
		{[]string{"--addr", "x"}, "missing port"},
		{[]string{"--models", file("models.yaml", "x")}, "--models: "},
	} {
		var out, told bytes.Buffer
		status := run(append([]string{"api"}, test.args...), &streams{in: strings.NewReader(""), out: &out, err: &told})
		if status != statusUsage || !strings.Contains(told.String(), test.want) {
			t.Errorf("%v: exit status %d, %s", test.args, status, told.String())
		}
	}
}
