package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/site"
)

// asProgram makes the test binary the program itself.
const asProgram = "TEST_AS_PAGEHAND"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// program is the program as another process.
type program struct {
	*exec.Cmd
	out, err bytes.Buffer
	temp     string
}

// newProgram prepares a run with its own folder for temporary files, which the browser's user can enter, and no configuration.
func newProgram(t *testing.T, args ...string) *program {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	temp, err := os.MkdirTemp("", "pagehand-test-")
	if err == nil {
		err = os.Chmod(temp, 0o711)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(temp) })
	p := &program{Cmd: exec.CommandContext(ctx, os.Args[0], args...), temp: temp}
	p.Env = append(os.Environ(), asProgram+"=1", "TMPDIR="+p.temp, "XDG_CONFIG_HOME="+t.TempDir())
	p.Stdout, p.Stderr = &p.out, &p.err
	return p
}

// ends runs the program to its end and checks its exit status and that nothing is left of it.
func (p *program) ends(t *testing.T, status int) {
	t.Helper()
	if p.Process == nil {
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
	}
	var exit *exec.ExitError
	if err := p.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if got := p.ProcessState.ExitCode(); got != status {
		t.Errorf("exit status %d, want %d; it said %q", got, status, p.err.String())
	}
	left, err := os.ReadDir(p.temp)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range commands {
		if command, err := os.ReadFile(name); err == nil && bytes.Contains(command, []byte(p.temp)) {
			t.Errorf("still running: %s", bytes.ReplaceAll(command, []byte{0}, []byte{' '}))
		}
	}
}

// said checks that standard error is one line with these words.
func (p *program) said(t *testing.T, words string) {
	t.Helper()
	text := p.err.String()
	if !strings.Contains(text, words) || strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "pagehand: ") {
		t.Errorf("standard error is %q, want one line with %q", text, words)
	}
}

func shop(t *testing.T) string {
	t.Helper()
	s, err := site.Start(context.Background(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s.URL()
}

// hostOf is what --allow-private takes to let calls reach a test server.
func hostOf(url string) string { return strings.TrimPrefix(url, "http://") }

func TestExecTurn(t *testing.T) {
	t.Parallel()
	url := shop(t)
	file := filepath.Join(t.TempDir(), "response.json")
	response := `{"type": "message", "role": "assistant", "stop_reason": "tool_use", "content": [
		{"type": "text", "text": "Let me look."},
		{"type": "tool_use", "id": "toolu_1", "name": "find", "toolset_name": "browser", "input": {"query": "search field"}},
		{"type": "tool_use", "id": "toolu_weather", "name": "get_weather", "input": {}},
		{"type": "tool_use", "id": "toolu_2", "name": "screenshot", "toolset_name": "browser", "input": {}},
		{"type": "tool_use", "id": "toolu_3", "name": "left_click", "toolset_name": "browser", "input": {"target": {"type": "ref", "ref": "ref_999"}}},
		{"type": "tool_use", "id": "toolu_4", "name": "wait", "toolset_name": "browser", "input": {"duration": 30}}]}`
	if err := os.WriteFile(file, []byte(response), 0o600); err != nil {
		t.Fatal(err)
	}
	images := filepath.Join(t.TempDir(), "images")
	p := newProgram(t, "exec", file, "--url", url, "--allow-private="+hostOf(url), "--view", "both", "--images", images)
	p.ends(t, 0)
	p.said(t, "left to your application: toolu_weather")

	var message contract.Message
	if err := json.Unmarshal(p.out.Bytes(), &message); err != nil {
		t.Fatalf("%v in %q", err, p.out.String())
	}
	if message.Role != "user" || len(message.Content) != 4 {
		t.Fatalf("got %d results of role %q", len(message.Content), message.Role)
	}
	for i, failed := range []bool{false, false, true, true} {
		r := message.Content[i]
		if want := fmt.Sprint("toolu_", i+1); r.ToolUseID != want || r.ToolsetName != "browser" || r.IsError != failed {
			t.Errorf("result %d: got %+v, want id %s and is_error %t", i+1, r, want, failed)
		}
	}
	for _, want := range []string{`textbox "Search goods and docs" [ref_1]`, "[image: image/png, 1280x720]", "Error: ref_999 is stale or not found", contract.HaltText} {
		if !strings.Contains(message.ModelView, want) {
			t.Errorf("no %q in model_view %q", want, message.ModelView)
		}
	}
	data, err := os.Open(filepath.Join(images, "001-screenshot.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	if picture, err := png.DecodeConfig(data); err != nil || picture.Width != 1280 || picture.Height != 720 {
		t.Errorf("the image is %dx%d, %v", picture.Width, picture.Height, err)
	}
}

// A session of lines goes on after a bad one, and a signal lets the running line finish.
func TestExecLines(t *testing.T) {
	t.Parallel()
	asked, release := make(chan struct{}, 1), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			asked <- struct{}{}
			<-release
		}
		io.WriteString(w, "<title>A page</title><h1>Hello</h1>")
	}))
	t.Cleanup(server.Close)

	p := newProgram(t, "exec", "--lines", "--view", "model", "--allow-private="+hostOf(server.URL))
	in, err := p.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.Stdout = nil
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	answer := func() string {
		t.Helper()
		if !lines.Scan() {
			t.Fatalf("no answer: %v; standard error: %s", lines.Err(), p.err.String())
		}
		return lines.Text()
	}
	call := `{"type":"tool_use","id":"toolu_1","name":"%s","toolset_name":"browser","input":{%s}}` + "\n"

	fmt.Fprintf(in, call, "navigate", `"url":"`+server.URL+`/"`)
	if got := answer(); !strings.HasPrefix(got, `{"text":"Navigated to http://`) || !strings.Contains(got, `tab_id tab-1: \"A page\"`) {
		t.Errorf("got %s", got)
	}
	for bad, want := range map[string]string{
		"{oops\n": `{"error":{"type":"invalid_input","message":"not JSON: `,
		"\n":      `{"error":{"type":"invalid_input","message":"not JSON: `,
		"[{}]\n":  `{"error":{"type":"invalid_input","message":"content block 1: `,
	} {
		io.WriteString(in, bad)
		if got := answer(); !strings.HasPrefix(got, want) {
			t.Errorf("%q: got %s", bad, got)
		}
	}
	io.WriteString(in, `{"role":"assistant","content":"Nothing to do."}`+"\n")
	if got := answer(); got != `{"text":""}` {
		t.Errorf("a turn without calls: got %s", got)
	}
	fmt.Fprintf(in, call, "get_page_text", "")
	if got := answer(); got != `{"text":"Hello"}` {
		t.Errorf("the session did not go on, or the footer came twice: %s", got)
	}

	fmt.Fprintf(in, call, "navigate", `"url":"`+server.URL+`/slow"`)
	<-asked
	if err := p.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	close(release)
	if got := answer(); !strings.Contains(got, "Navigated to") {
		t.Errorf("the running line was not finished: %s", got)
	}
	if lines.Scan() {
		t.Errorf("more came after the signal: %s", lines.Text())
	}
	p.ends(t, 130)
	if p.err.Len() > 0 {
		t.Errorf("standard error is %q", p.err.String())
	}
}

func TestExecStatus(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "browser")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name   string
		args   []string
		in     string
		status int
		said   string
	}{
		{"not JSON", nil, "oops", statusUsage, "not JSON"},
		{"no turn", nil, `{"role":"user","content":[]}`, statusUsage, "a message of role"},
		{"no file", []string{"/nonexistent"}, "", statusUsage, "open /nonexistent"},
		{"no such flag", []string{"--fly"}, "", statusUsage, "unknown flag --fly"},
		{"no browser there", []string{"--browser", "/nonexistent"}, "[]", statusNoBrowser, "/nonexistent"},
		{"no browser at all", []string{"--browser", script}, "[]", statusNoBrowser, script},
		{"a browser that dies", []string{"--browser", "/bin/false"}, "[]", statusNoBrowser, "exit status 1"},
		{"a browser that dies before lines", []string{"--lines", "--browser", "/bin/false"}, "", statusNoBrowser, "exit status 1"},
		{"a page that is refused", []string{"--url", "http://127.0.0.1:1/"}, "[]", statusFailure, "--url: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newProgram(t, append([]string{"exec"}, test.args...)...)
			p.Stdin = strings.NewReader(test.in)
			p.ends(t, test.status)
			p.said(t, test.said)
			if p.out.Len() > 0 {
				t.Errorf("standard output is %q", p.out.String())
			}
		})
	}
}

func TestSite(t *testing.T) {
	t.Parallel()
	p := newProgram(t, "site")
	p.Stdout = nil
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatal("no address")
	}
	response, err := http.Get(lines.Text())
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("got %s", response.Status)
	}
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.ends(t, 0)
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	p := newProgram(t, "doctor", "--json")
	p.ends(t, 0)
	var report struct {
		Status string
		Checks []checkJSON
	}
	if err := json.Unmarshal(p.out.Bytes(), &report); err != nil || report.Status == "fail" || len(report.Checks) == 0 {
		t.Errorf("got %v from %s", err, p.out.String())
	}

	broken := newProgram(t, "doctor", "--browser", "/nonexistent")
	broken.ends(t, statusFailure)
	if got := broken.out.String(); !strings.HasPrefix(got, "✗ browser ") || strings.Contains(got, "\x1b") {
		t.Errorf("got %q", got)
	}
	if broken.err.Len() > 0 {
		t.Errorf("standard error is %q", broken.err.String())
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	p := newProgram(t, "version")
	p.ends(t, 0)
	for _, want := range []string{"pagehand ", "commit ", "go1.", "browser_toolset_20260801"} {
		if !strings.Contains(p.out.String(), want) {
			t.Errorf("no %q in %q", want, p.out.String())
		}
	}
}
