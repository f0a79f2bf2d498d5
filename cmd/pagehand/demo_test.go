package main

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pagehand/pagehand"
	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/report"
	"github.com/pagehand/pagehand/script"
)

// TestDemo plays the whole demo: its script says what every result must contain.
func TestDemo(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	folder := t.TempDir()
	var out, complaints bytes.Buffer
	if status := run([]string{"demo", "--out", folder}, &streams{in: strings.NewReader(""), out: &out, err: &complaints}); status != 0 {
		t.Fatalf("exit status %d\n%s\n%s", status, complaints.String(), out.String())
	}
	page := filepath.Join(folder, "report.html")
	for _, want := range []string{"turn 1/", "every result is as the script expects", page, filepath.Join(folder, "pictures")} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output does not contain %q", want)
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("the output has escape sequences, though it is no terminal")
	}
	html, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	pictures, err := filepath.Glob(filepath.Join(folder, "pictures", "*.png"))
	if err != nil || len(pictures) == 0 {
		t.Fatalf("no pictures: %v", err)
	}
	if n := bytes.Count(html, []byte("data:image/png;base64,")); n != len(pictures) {
		t.Errorf("%d images in the report, %d files", n, len(pictures))
	}
	for _, name := range []string{"price-list.csv", "slow.bin"} {
		if _, err := os.Stat(filepath.Join(folder, "downloads", name)); err != nil {
			t.Error(err)
		}
	}
}

// TestDemoInterrupted: a signal ends the demo between its calls, and it says so instead of calling it a failure.
func TestDemoInterrupted(t *testing.T) {
	t.Parallel()
	p := newProgram(t, "demo", "--out", t.TempDir())
	p.Stdout = nil
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	text, asked := "", false
	for lines := bufio.NewScanner(out); lines.Scan(); {
		text += lines.Text() + "\n"
		if !asked && strings.Contains(text, "turn 2/") {
			asked = true
			if err := p.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.ends(t, 130)
	if !strings.Contains(text, "\nInterrupted: the rest of the script was not played.\n") || strings.Contains(text, "✗") || p.err.Len() > 0 {
		t.Errorf("it said %q and %q", text, p.err.String())
	}
}

// TestDemoScript says that the demo shows what it is meant to: without a browser.
func TestDemoScript(t *testing.T) {
	plan, err := script.Parse([]byte(demoScript))
	if err != nil {
		t.Fatal(err)
	}
	asked, failing := map[string]bool{}, 0
	for _, turn := range plan.Turns {
		if turn.Says == "" {
			t.Errorf("the turn of line %d says nothing", turn.Calls[0].Line)
		}
		for _, c := range turn.Calls {
			asked[c.Name] = true
			if c.Fails {
				failing++
			}
		}
	}
	if failing < 2 {
		t.Errorf("%d calls fail, want one that halts a batch", failing)
	}
	for _, m := range pagehand.Members() {
		switch m.Name {
		case "right_click", "middle_click", "double_click", "triple_click", "hover", "scroll_to", "hold_key", "new_tab":
			continue // no different to look at
		}
		if !m.Off && !asked[m.Name] {
			t.Errorf("the demo never calls %s", m.Name)
		}
	}
}

func TestTranscript(t *testing.T) {
	var out bytes.Buffer
	tr := newTranscript(&out, "both", 4)
	tr.width = 60
	tr.turn(1, "I will say more than fits into one line of sixty characters.")
	use := pagehand.Call{Name: "find", Input: []byte(`{ "query": "x" }`)}
	tr.asks(use, "")
	result := pagehand.Result{ToolUseID: "toolu_1", ToolsetName: contract.ToolsetName, IsError: true, Content: []contract.Block{contract.Text{Text: "Error: \x1b[2Jno."}}}
	tr.reads(report.Event{Call: use, Result: &result, Problem: "line 3: no"}, "Error: \x1b[2Jno."+strings.Repeat("\nmore", longReading))
	const want = `
▰▱▱▱ turn 1/4
I will say more than fits into one line of sixty characters.

  find {"query":"x"}                                   <1 ms
    Error: [2Jno.
    more
    more
    more
    more
    more
    more
    more
    … 5 more lines
    {
      "type": "tool_result",
      "tool_use_id": "toolu_1",
      "toolset_name": "browser",
      "is_error": true,
      "content": [
        {
          "type": "text",
          "text": "Error: \u001b[2Jno."
        }
      ]
    }
    ✗ not as expected: line 3: no
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := wrapped("one two three", 8); len(got) != 2 || got[0] != "one two" || got[1] != "three" {
		t.Errorf("wrapped into %q", got)
	}
}
