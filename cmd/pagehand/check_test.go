package main

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pagehand/pagehand/check"
	"github.com/pagehand/pagehand/contract"
)

const (
	checkedCall   = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"wait","toolset_name":"browser","input":{"duration":1}}]}`
	checkedResult = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","toolset_name":"browser","content":"Waited\u001b[2J."}]}`
	checkedHead   = `"max_tokens":9,"tools":[{"type":"browser_toolset_20260801"}]`
)

// TestCheck says what the command prints and how it ends.
func TestCheck(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	folder := t.TempDir()
	own := filepath.Join(folder, "models.yaml")
	if err := os.WriteFile(own, []byte("- id: mine-1\n  toolset: true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	request := func(model, head string, messages ...string) string {
		return `{"model":"` + model + `",` + head + `,"messages":[` + strings.Join(messages, ",") + `]}`
	}
	valid := request("claude-opus-5", checkedHead, checkedCall, checkedResult)
	for _, test := range []struct {
		name     string
		args     []string
		in       string
		status   int
		out, err string // contained; empty: nothing at all
	}{
		{"accepted", nil, valid, 0, "", ""},
		{"a byte order mark", nil, "\ufeff" + valid, 0, "", ""},
		{"a list, not answered yet", nil, "[" + checkedCall + "]", 0, "", ""},
		{"a warning", nil, request("mine-1", checkedHead, checkedCall, checkedResult), 0, "warning: model: ", ""},
		{"a model of one's own", []string{"--models", own}, request("mine-1", checkedHead, checkedCall, checkedResult), 0, "", ""},
		{"rejected", nil, request("claude-opus-5", checkedHead, checkedCall), 1, "error: messages[0].content[0]: ", ""},
		{"a beta header", []string{"--beta", "x", "--beta", "fine-grained-tool-streaming-2025-05-14"}, valid, 1, "beta-fine-grained", ""},
		{"a recording", nil, `{"time":"2026-12-01T00:00:00Z","type":"message","message":` + checkedResult + "}\n", 1, "error: messages[0].content[0].tool_use_id", ""},
		{"as the model reads it", []string{"--view", "model"}, valid, 0, "[result of wait]\nWaited[2J.\n", ""},
		{"with findings", []string{"--view", "model"}, request("mine-1", checkedHead, checkedCall), 1, "[call wait]", "error: messages[0]"},
		{"JSON", []string{"--json"}, valid, 0, `{"kind":"request","findings":[]}`, ""},
		{"JSON with findings", []string{"--json", "--view", "model"}, request("claude-opus-5", checkedHead, checkedCall), 1, `"rule":"result-missing"`, ""},
		{"the rules", []string{"--rules"}, "", 0, "new-tab-opened ", ""},
		{"no JSON", nil, `{"a"`, 2, "", "not JSON"},
		{"something else", nil, `{}`, 2, "", "neither a request"},
		{"no file", []string{filepath.Join(folder, "none.json")}, "", 2, "", "none.json"},
		{"bad models", []string{"--models", filepath.Join(folder, "none.yaml")}, valid, 2, "", "--models"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out, complaints bytes.Buffer
			status := run(append([]string{"check"}, test.args...), &streams{in: strings.NewReader(test.in), out: &out, err: &complaints})
			if status != test.status {
				t.Errorf("status %d, want %d", status, test.status)
			}
			for got, want := range map[*bytes.Buffer]string{&out: test.out, &complaints: test.err} {
				if !strings.Contains(got.String(), want) || want == "" && got.Len() > 0 {
					t.Errorf("got %q, want %q", got, want)
				}
			}
		})
	}
}

// TestCheckRules says that the rules can be read by programs.
func TestCheckRules(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	var out, complaints bytes.Buffer
	run([]string{"check", "--rules", "--json"}, &streams{in: strings.NewReader(""), out: &out, err: &complaints})
	var rules []check.Rule
	if err := json.Unmarshal(out.Bytes(), &rules); err != nil || len(rules) != len(check.Rules()) {
		t.Errorf("%d rules: %v %s", len(rules), err, complaints.String())
	}
}

// inspectedTurn is a turn whose result has a text and opens a tab.
func inspectedTurn(name, opens string) ([]contract.ToolUse, []contract.ToolResult) {
	state := &contract.BrowserState{
		Tabs:         []contract.Tab{{TabID: opens, Active: true}},
		StateChanges: []contract.StateChange{{Type: contract.TabOpened, TabID: opens}},
	}
	use := contract.ToolUse{ID: "a", Name: name, ToolsetName: contract.ToolsetName, Input: json.RawMessage(`{}`)}
	if name == "wait" {
		use.Input = json.RawMessage(`{"duration":1}`)
	}
	return []contract.ToolUse{use}, []contract.ToolResult{{ToolUseID: "a", ToolsetName: contract.ToolsetName, Content: []contract.Block{contract.Text{Text: "Done."}, state}}}
}

// TestInspector says that a bad result is logged, and that another session begins anew.
func TestInspector(t *testing.T) {
	var log bytes.Buffer
	i := newInspector(newLogger(&log, slog.LevelDebug))
	i.turn(inspectedTurn("screenshot", "tab-1"))
	i.turn(nil, nil)
	i.another()
	i.turn(inspectedTurn("wait", "tab-1"))
	i.close()
	if got := strings.Count(log.String(), "\n"); got != 1 || !strings.Contains(log.String(), "screenshot-image") {
		t.Errorf("logged:\n%s", log.String())
	}
}
