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
	"strconv"
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

	in    io.WriteCloser // of converse
	lines *bufio.Scanner // of converse
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

// converse starts the program and returns functions that send it lines and wait for one.
func (p *program) converse(t *testing.T) (ask func(lines string), answer func() string) {
	t.Helper()
	var out io.Reader
	var err error
	if p.in, err = p.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	p.Stdout = nil
	if out, err = p.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewScanner(out)
	ask = func(lines string) {
		t.Helper()
		if _, err := io.WriteString(p.in, lines); err != nil {
			t.Fatal(err)
		}
	}
	answer = func() string {
		t.Helper()
		if !p.lines.Scan() {
			t.Fatalf("no answer: %v; standard error: %s", p.lines.Err(), p.err.String())
		}
		return p.lines.Text()
	}
	return ask, answer
}

// call is a line that calls a member.
func call(member, input string) string {
	return fmt.Sprintf(`{"type":"tool_use","id":"toolu_1","name":%q,"toolset_name":"browser","input":%s}`+"\n", member, input)
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
	for _, command := range p.processes(t) {
		t.Errorf("still running: %s", command)
	}
}

// processes are the commands of the running processes that name the program's temporary folder, the browser's among them, by process id.
func (p *program) processes(t *testing.T) map[int]string {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	commands := map[int]string{}
	for _, name := range names {
		command, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(command, []byte(p.temp)) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil {
			t.Fatal(err)
		}
		commands[pid] = string(bytes.ReplaceAll(command, []byte{0}, []byte{' '}))
	}
	return commands
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
	data, err := os.Open(filepath.Join(images, "001-screenshot-toolu_2.png"))
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
	ask, answer := p.converse(t)
	ask(call("navigate", `{"url":"`+server.URL+`/"}`))
	if got := answer(); !strings.HasPrefix(got, `{"text":"Navigated to http://`) || !strings.Contains(got, `tab_id tab-1: \"A page\"`) {
		t.Errorf("got %s", got)
	}
	for bad, want := range map[string]string{
		"{oops\n": `{"error":{"type":"invalid_input","message":"not JSON: `,
		"[{}]\n":  `{"error":{"type":"invalid_input","message":"content block 1: `,
	} {
		ask(bad)
		if got := answer(); !strings.HasPrefix(got, want) {
			t.Errorf("%q: got %s", bad, got)
		}
	}
	ask("\n" + `{"role":"assistant","content":"Nothing to do."}` + "\n") // an empty line gets no answer
	if got := answer(); got != `{"text":""}` {
		t.Errorf("a turn without calls: got %s", got)
	}
	ask(call("get_page_text", "{}"))
	if got := answer(); got != `{"text":"Hello"}` {
		t.Errorf("the session did not go on, or the footer came twice: %s", got)
	}

	ask(call("navigate", `{"url":"`+server.URL+`/slow"}`))
	<-asked
	if err := p.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	close(release)
	if got := answer(); !strings.Contains(got, "Navigated to") {
		t.Errorf("the running line was not finished: %s", got)
	}
	if p.lines.Scan() {
		t.Errorf("more came after the signal: %s", p.lines.Text())
	}
	p.ends(t, 130)
	if p.err.Len() > 0 {
		t.Errorf("standard error is %q", p.err.String())
	}
}

// A browser that dies fails the call that is running; the next line has another one, in which nothing means what it meant before.
func TestExecLinesBrowserDies(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/never" {
			asked <- struct{}{}
			<-r.Context().Done()
		}
		io.WriteString(w, "<title>A page</title><button>Go</button>")
	}))
	t.Cleanup(server.Close)

	p := newProgram(t, "exec", "--lines", "--view", "model", "--allow-private="+hostOf(server.URL))
	ask, answer := p.converse(t)
	page, read := call("navigate", `{"url":"`+server.URL+`/"}`), call("read_page", "{}")
	ask(page + read)
	for _, want := range []string{`Navigated to`, `button \"Go\" [ref_1]`} {
		if got := answer(); !strings.Contains(got, want) {
			t.Fatalf("no %s in %s", want, got)
		}
	}
	first := p.browser(t)

	const dead = `{"text":"Error: The browser is not running any more. Call list_tabs, then open the page again."}`
	ask(call("navigate", `{"url":"`+server.URL+`/never"}`))
	<-asked
	syscall.Kill(-first, syscall.SIGKILL)
	if got := answer(); got != dead {
		t.Errorf("the call that was running: %s", got)
	}
	const restarted = "The browser had to be restarted; earlier tabs and references are gone."
	ask(call("left_click", `{"target":{"type":"ref","ref":"ref_1"}}`) + page + read)
	if got := answer(); !strings.HasPrefix(got, `{"text":"Error: ref_1 is stale`) {
		t.Errorf("an earlier reference: %s", got)
	}
	if got := answer(); !strings.Contains(got, restarted) || !strings.Contains(got, `tab_id tab-2: \"A page\"`) || strings.Contains(got, "tab-1") {
		t.Errorf("the first success: %s", got)
	}
	if got := answer(); !strings.Contains(got, `button \"Go\" [ref_2]`) || strings.Contains(got, restarted) {
		t.Errorf("the second success: %s", got)
	}

	// It may also die between two lines.
	second := p.browser(t)
	if second == first {
		t.Fatal("it is still the first browser")
	}
	syscall.Kill(-second, syscall.SIGKILL)
	got := dead
	for got == dead { // until the program has heard of it
		ask(call("get_page_text", "{}"))
		got = answer()
	}
	if !strings.Contains(got, restarted) || !strings.Contains(got, `tab_id tab-3: \"\" (about:blank)`) {
		t.Errorf("after a death between two lines: %s", got)
	}
	p.in.Close()
	p.ends(t, 0)
	if n := strings.Count(p.err.String(), "\n"); n != 2 || !strings.Contains(p.err.String(), "signal: killed") {
		t.Errorf("standard error is %q, want a line for each browser that died", p.err.String())
	}
}

// browser is the process id of the program's browser, which is also that of its process group.
func (p *program) browser(t *testing.T) int {
	t.Helper()
	for pid, command := range p.processes(t) {
		if strings.Contains(command, "--remote-debugging-pipe") && !strings.Contains(command, "--type=") {
			return pid
		}
	}
	t.Fatal("no browser is running")
	return 0
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

	other := newProgram(t, "doctor", "--browser", "/bin/ls")
	other.ends(t, statusFailure)
	if got := other.out.String(); !strings.Contains(got, "does not work: the browser ended by itself") || strings.Contains(got, "pipe") || strings.Contains(got, "EOF") {
		t.Errorf("got %q", got)
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

// Nothing asked for is an error, answered by the help; --version is one line.
func TestNothingAsked(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	p.ends(t, statusUsage)
	if p.out.Len() > 0 || !strings.HasPrefix(p.err.String(), "Usage: pagehand <command>") {
		t.Errorf("standard output %q, standard error %q", p.out.String(), p.err.String())
	}
	p = newProgram(t, "--version")
	p.ends(t, 0)
	if got := p.out.String(); !strings.HasPrefix(got, "pagehand ") || strings.Count(got, "\n") != 1 {
		t.Errorf("--version: %q", got)
	}
}

func TestHeadfulWithoutDisplay(t *testing.T) {
	t.Parallel()
	p := newProgram(t, "exec", "--headful")
	p.Env = append(p.Env, "DISPLAY=", "WAYLAND_DISPLAY=")
	p.ends(t, statusNoBrowser)
	p.said(t, "xvfb-run")
}

// The operator learns which file a download is, also when the model is told no paths.
func TestExecDownloads(t *testing.T) {
	t.Parallel()
	url, folder := shop(t), t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "price-list.csv"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p := newProgram(t, "exec", "--lines", "--allow-private="+hostOf(url), "--downloads", folder)
	p.Stdin = strings.NewReader(call("navigate", `{"url":"`+url+`/pricing/price-list.csv"}`) + call("wait", `{"duration":0.1}`))
	p.ends(t, 0)
	if got, want := p.err.String(), "pagehand: dl-1 is price-list (1).csv\n"; got != want {
		t.Errorf("standard error is %q, want %q", got, want)
	}
	if out := p.out.String(); !strings.Contains(out, `"download_id":"dl-1"`) || strings.Contains(out, folder) {
		t.Errorf("the results are %s", out)
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
