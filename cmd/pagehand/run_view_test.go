package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pagehand/pagehand/agent"
	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/recording"
)

func memberCall(name, input string) contract.ToolUse {
	return contract.ToolUse{ID: "toolu_1", Name: name, ToolsetName: contract.ToolsetName, Input: []byte(input)}
}

func memberResult(isError bool, text string) contract.ToolResult {
	return contract.ToolResult{ToolUseID: "toolu_1", ToolsetName: contract.ToolsetName, IsError: isError, Content: []contract.Block{contract.Text{Text: text}}}
}

// seen are the events of a short run.
var seen = []agent.Event{
	agent.TurnStarted{N: 1},
	agent.Said{Text: "I \x1b[2Jlook"},
	agent.Noted{Text: "Asking again in 1s: overloaded"},
	agent.Said{Text: "I \x1b[2Jlook\nat it."},
	agent.CallStarted{Call: memberCall("left_click", `{"target": {"type":"ref","ref":"ref_2"}}`), About: `button "Pay"`},
	agent.CallDone{Call: memberCall("left_click", `{"target": {"type":"ref","ref":"ref_2"}}`), Result: memberResult(true, "Error: \x1b]0;x\acovered"), Took: 1500 * time.Millisecond},
	agent.CallDone{Call: memberCall("screenshot", `{}`), Result: memberResult(true, contract.HaltText)},
	agent.TurnEnded{N: 1, Calls: 2, Usage: agent.Usage{Dollars: 0.01}, Context: agent.Window{Used: 12_345, Size: 200_000}},
	agent.TurnStarted{N: 2},
	agent.Said{Text: "Shall I?"},
	agent.Asked{Answer: "no"},
	agent.TurnEnded{N: 2},
	agent.TurnStarted{N: 3},
	agent.Said{Text: "Done."},
	agent.TurnEnded{N: 3, Final: true},
}

func TestRunViewPlain(t *testing.T) {
	var out bytes.Buffer
	v := newRunView(&out)
	v.answerElsewhere = true
	v.begin("m")
	for _, e := range seen {
		v.observe(e)
	}
	v.end(&agent.Outcome{Reason: agent.EndTurn, Turns: 3, Calls: 2, Took: 2 * time.Second, Usage: agent.Usage{Input: 1_234_567, CacheRead: 10, Output: 20, Dollars: 0.5}}, nil, [][2]string{{"transcript", "/t"}})
	const want = `pagehand run · m
· Asking again in 1s: overloaded
I [2Jlook
at it.
  ✗ left_click {"target":{"type":"ref","ref":"ref_2"}} button "Pay" (1.50 s)
    Error: ]0;xcovered
  – screenshot
    Not executed: an earlier action in this turn failed.
turn 1 · 12.3k tokens in context (6%) · $0.0100
Shall I?
answered: no
turn 2 · 0 tokens in context
turn 3 · 0 tokens in context

✓ the model has answered
  3 turns, 2 calls, 2.00 s
  1.23M tokens: 1.23M read, 10 from the cache, 0 into it, 20 written, about $0.5000
  transcript /t
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestRunViewLive reads what a terminal of 60 columns would show at the end.
func TestRunViewLive(t *testing.T) {
	var out bytes.Buffer
	v := newRunView(&out)
	v.live, v.width = true, 60
	for _, e := range seen {
		v.observe(e)
	}
	escapes := regexp.MustCompile(`\r\x1b\[K`)
	if rest := escapes.ReplaceAllString(out.String(), ""); strings.ContainsAny(rest, "\x1b\a\r") {
		t.Errorf("the terminal is steered by what the page or the model says: %q", rest)
	}
	var lines []string
	for line := range strings.Lines(out.String()) {
		parts := escapes.Split(strings.TrimSuffix(line, "\n"), -1)
		lines = append(lines, strings.TrimRight(parts[len(parts)-1], " "))
	}
	want := []string{
		"I [2Jlook",
		"· Asking again in 1s: overloaded",
		"I [2Jlook",
		"at it.",
		`  ✗ left_click {"target":{"type":"ref","ref":"ref_…    1.50 s`,
		"    Error: ]0;xcovered",
		"  – screenshot",
		"    Not executed: an earlier action in this turn failed.",
		"turn 1 · 12.3k tokens in context (6%) · $0.0100",
		"Shall I?",
		"answered: no",
		"turn 2 · 0 tokens in context",
		"Done.",
		"turn 3 · 0 tokens in context",
	}
	if strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	if !strings.Contains(out.String(), "  … left_click") {
		t.Error("the call is not shown while it runs")
	}
}

func TestTerminalPictures(t *testing.T) {
	picture := contract.Image{MediaType: "image/png", Data: bytes.Repeat([]byte("picture"), 1000)}
	for _, tt := range []struct {
		env  map[string]string
		want string // how it begins
	}{
		{map[string]string{"TERM": "xterm-256color"}, ""},
		{map[string]string{"TERM": "xterm-kitty"}, "\x1b_Ga=T,f=100,q=2,c=48,m=1;"},
		{map[string]string{"TERM_PROGRAM": "ghostty"}, "\x1b_G"},
		{map[string]string{"TERM_PROGRAM": "iTerm.app"}, "\x1b]1337;File=inline=1;size=7000;"},
		{map[string]string{"TERM_PROGRAM": "iTerm.app", "TMUX": "/x"}, ""},
		{map[string]string{"KITTY_WINDOW_ID": "1", "TERM": "screen-256color"}, ""},
	} {
		var out bytes.Buffer
		if show := terminalPictures(func(name string) string { return tt.env[name] }); show != nil {
			show(&out, picture)
		}
		if !strings.HasPrefix(out.String(), tt.want) || (tt.want == "") != (out.Len() == 0) {
			t.Errorf("%v: %.60q", tt.env, out.String())
		}
		if strings.HasPrefix(tt.want, "\x1b_G") {
			chunks := regexp.MustCompile(`\x1b_G[^;]*;([^\x1b]*)\x1b\\`).FindAllStringSubmatch(out.String(), -1)
			var data strings.Builder
			for _, c := range chunks {
				data.WriteString(c[1])
			}
			if got, err := base64.StdEncoding.DecodeString(data.String()); err != nil || !bytes.Equal(got, picture.Data) || len(chunks) != 3 {
				t.Errorf("%v: %d chunks, %v", tt.env, len(chunks), err)
			}
		}
	}
}

func TestPrompt(t *testing.T) {
	var out bytes.Buffer
	p := newPrompt(strings.NewReader(" no, never \n"), &out)
	for _, want := range []string{"no, never", ""} { // then the input is at its end
		if got, err := p.ask(t.Context(), agent.Question{}); err != nil || got != want {
			t.Errorf("got %q, %v", got, err)
		}
	}
	never, _, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer never.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	if _, err := newPrompt(never, &out).ask(ctx, agent.Question{}); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
}

func TestResumedFile(t *testing.T) {
	const whole = `{"time":"2026-12-01T00:00:00Z","type":"message","message":{"role":"user","content":"Go."}}`
	for name, tt := range map[string]struct {
		data string
		want string // what is there before the next event
	}{
		"whole":              {whole + "\n", whole + "\n"},
		"without line break": {whole, whole + "\n"},
		"killed in a line":   {whole + "\n" + `{"type":"no`, whole + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "run.jsonl")
			if err := os.WriteFile(file, []byte(tt.data), 0o600); err != nil {
				t.Fatal(err)
			}
			files, err := earlierFiles(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := recording.NewWriter(files.transcript).Write(recording.Event{Type: recording.TypeNote, Note: "b"}); err != nil {
				t.Fatal(err)
			}
			if err := files.close(); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(file)
			if rest, ok := strings.CutPrefix(string(data), tt.want); err != nil || !ok || !strings.HasSuffix(rest, "\"note\":\"b\"}\n") || strings.Count(rest, "\n") != 1 {
				t.Errorf("the file holds %q, %v", data, err)
			}
		})
	}
	for _, other := range []string{"no\n{}\n", "a note without a line break", `{"type":"no`, ""} {
		file := filepath.Join(t.TempDir(), "other")
		if err := os.WriteFile(file, []byte(other), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := earlierFiles(file); err == nil {
			t.Errorf("%q is continued", other)
		}
		if data, err := os.ReadFile(file); err != nil || string(data) != other {
			t.Errorf("%q became %q, %v", other, data, err)
		}
	}
}
