package contract

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// The documents' own turns (000, quick start and batched actions).
func TestDecodeTurnExamples(t *testing.T) {
	tests := []struct {
		file string
		want []ToolUse
	}{
		{"response.json", []ToolUse{
			{"toolu_01NRLabsLyVHZPKxbKvkfSMn", "navigate", "browser", json.RawMessage(`{ "url": "https://example.com/docs" }`)},
			{"toolu_01UvHU5cDyTZ2vXKf5wCkPqR", "read_page", "browser", json.RawMessage(`{ "filter": "interactive" }`)},
		}},
		{"batch.json", []ToolUse{
			{"toolu_01D7FLrfh4GYq7yT1ULFeyMV", "left_click", "browser", json.RawMessage(`{ "target": { "type": "ref", "ref": "ref_3" } }`)},
			{"toolu_01Ez4kLb1nQ2vXo8sJ9pWm3c", "type", "browser", json.RawMessage(`{ "text": "install" }`)},
			{"toolu_01FkP8rTz6uYh2mNq4LsXw7v", "key", "browser", json.RawMessage(`{ "text": "Enter" }`)},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			turn, err := DecodeTurn(readFile(t, tt.file))
			if err != nil {
				t.Fatal(err)
			}
			if want := (Turn{Calls: tt.want}); !reflect.DeepEqual(turn, want) {
				t.Errorf("got  %+v\nwant %+v", turn, want)
			}
		})
	}
}

const callA = `{"type":"tool_use","id":"a","name":"wait","toolset_name":"browser","input":{}}`

func TestDecodeTurn(t *testing.T) {
	tests := []struct {
		name, in string
		calls    string // "id:name input", joined with "; "
		others   string
	}{
		{"one block", callA, "a:wait {}", ""},
		{"white space around", "\n " + callA + "\r\n", "a:wait {}", ""},
		{"list", `[` + callA + `]`, "a:wait {}", ""},
		{"empty list", `[]`, "", ""},
		{"answer in text", `{"type":"message","role":"assistant","content":[{"type":"text","text":"Done."}],"stop_reason":"end_turn"}`, "", ""},
		{"answer as a string", `{"role":"assistant","content":"Done."}`, "", ""},
		{"other blocks are ignored", `[{"type":"thinking","thinking":"…"},{"type":"server_tool_use","id":"s","name":"web_search","input":{}},` + callA + `,{"type":"new_kind"}]`,
			"a:wait {}", ""},
		{"a custom tool named like a member", `[{"type":"tool_use","id":"c","name":"navigate","input":{"url":"x"}},` + callA + `]`, "a:wait {}", "c"},
		{"another toolset", `[{"type":"tool_use","id":"c","name":"screenshot","toolset_name":"computer","input":{}},` + callA + `]`, "a:wait {}", "c"},
		{"toolset_name null", `{"type":"tool_use","id":"c","name":"wait","toolset_name":null,"input":{}}`, "", "c"},
		{"ids of others may repeat", `[{"type":"tool_use","id":"c"},{"type":"tool_use","id":"c"}]`, "", "c c"},
		{"input missing", `{"type":"tool_use","id":"a","name":"new_tab","toolset_name":"browser"}`, "a:new_tab {}", ""},
		{"input null", `{"type":"tool_use","id":"a","name":"new_tab","toolset_name":"browser","input":null}`, "a:new_tab {}", ""},
		{"input not an object", `{"type":"tool_use","id":"a","name":"key","toolset_name":"browser","input":"Enter"}`, `a:key "Enter"`, ""},
		{"unknown member", `{"type":"tool_use","id":"a","name":"fly","toolset_name":"browser","input":{}}`, "a:fly {}", ""},
		{"same key in sibling objects", `{"type":"tool_use","id":"a","name":"left_click_drag","toolset_name":"browser","input":{"from":{"x":1},"target":{"x":1},"x":["x","x"]}}`,
			`a:left_click_drag {"from":{"x":1},"target":{"x":1},"x":["x","x"]}`, ""},
		{"other spelling of a key is another key", `{"type":"tool_use","id":"a","ID":"b","name":"wait","toolset_name":"browser"}`, "a:wait {}", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			turn, err := DecodeTurn([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			var calls []string
			for _, c := range turn.Calls {
				if c.ToolsetName != ToolsetName {
					t.Errorf("call of toolset %q", c.ToolsetName)
				}
				calls = append(calls, c.ID+":"+c.Name+" "+string(c.Input))
			}
			if got := strings.Join(calls, "; "); got != tt.calls {
				t.Errorf("calls %q, want %q", got, tt.calls)
			}
			if got := strings.Join(turn.Others, " "); got != tt.others {
				t.Errorf("others %q, want %q", got, tt.others)
			}
		})
	}
}

func TestDecodeTurnErrors(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"nothing", "", "not JSON: unexpected end of JSON input at line 1, column 1"},
		{"cut off", `{"role":`, "not JSON: unexpected end of JSON input at line 1, column 8"},
		{"syntax", "{\n  \"é\" 5}", "not JSON: invalid character '5' after object key at line 2, column 7"},
		{"words", "click it", "not JSON: invalid character 'c' looking for beginning of value at line 1, column 1"},
		{"two values", callA + "\n" + callA, "after top-level value at line 2, column 1"},
		{"UTF-16", "{\x00\"\x00\xff\xfe", "not JSON: the input is not valid UTF-8"},
		{"too deep", strings.Repeat("[", 20000), "exceeded max depth"},
		{"duplicate key", "{\"role\":\"assistant\",\n \"role\":\"user\",\"content\":[]}", `duplicate key "role" at line 2, column 7`},
		{"duplicate key in input", `{"type":"tool_use","id":"a","name":"navigate","toolset_name":"browser","input":{"url":"x","\u0075rl":"y"}}`, `duplicate key "url"`},
		{"duplicate key in a list", `[{"type":"text","text":"x","text":"y"}]`, `duplicate key "text"`},
		{"string", `"navigate"`, "not a turn: expected an API response"},
		{"null", `null`, "not a turn: expected an API response"},
		{"user message", `{"role":"user","content":[` + callA + `]}`, `not a turn: a message of role "user"; expected`},
		{"role not a string", `{"role":1,"content":[]}`, `a message of role ""`},
		{"API error", `{"type":"error","error":{"type":"overloaded_error"}}`, `not a turn: an object of type "error"; expected`},
		{"type not a string", `{"type":1,"content":[]}`, "not a turn: type is not a string"},
		{"object without content", `{"role":"assistant"}`, "not a turn: an object without content"},
		{"content an object", `{"role":"assistant","content":{}}`, "content is neither a string nor a list of blocks"},
		{"conversation", `[{"role":"assistant","content":[]}]`, "content block 1: no type"},
		{"block a string", `[` + callA + `,"x"]`, "the list holds something that is not a content block"},
		{"no id", `[{"type":"tool_use","name":"wait","toolset_name":"browser","input":{}}]`, "content block 1: tool_use without an id"},
		{"empty id", `{"type":"tool_use","id":"","name":"wait","toolset_name":"browser"}`, "tool_use without an id"},
		{"id a number", `{"type":"tool_use","id":7,"name":"wait","toolset_name":"browser"}`, "tool_use without an id"},
		{"no name", `{"type":"tool_use","id":"a","toolset_name":"browser"}`, `tool_use "a" without a name`},
		{"duplicate id", `[` + callA + `,` + callA + `]`, `content block 2: the id "a" is already another call's`},
		{"id of another tool's call", `[{"type":"tool_use","id":"a","name":"x"},` + callA + `]`, `the id "a" is already another call's`},
		{"another tool's call with a member's id", `[` + callA + `,{"type":"tool_use","id":"a","name":"x"}]`, `the id "a" is already another call's`},
		{"long key", `{"` + strings.Repeat("k", 1000) + `":1,"` + strings.Repeat("k", 1000) + `":1}`,
			`duplicate key "` + strings.Repeat("k", 64) + `"… at`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			turn, err := DecodeTurn([]byte(tt.in))
			if err == nil {
				t.Fatalf("accepted as %+v", turn)
			}
			if !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %q, want one line with %q", err, tt.want)
			}
		})
	}
}

// Whatever comes, DecodeTurn answers with a one-line error or with calls that can each be answered, and that mean the
// same when they are written and read again.
func FuzzDecodeTurn(f *testing.F) {
	for _, name := range []string{"response.json", "batch.json", "results_click.json"} {
		f.Add(readFile(f, name))
	}
	for _, seed := range []string{
		callA, `[` + callA + `,` + callA + `]`, `{"role":"assistant","content":"x"}`, `{"a":1,"a":2}`, `[[],{}]`, `"\ud800"`, "",
		`{"type":"tool_use","id":"\ud83d","name":"x","toolset_name":"browser","input":[1e999]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		turn, err := DecodeTurn(data)
		if err != nil {
			if strings.Contains(err.Error(), "\n") || len(err.Error()) > 1000 {
				t.Errorf("error is not one short line: %q", err)
			}
			return
		}
		ids := map[string]bool{}
		for _, call := range turn.Calls {
			if call.ID == "" || call.Name == "" || ids[call.ID] || !json.Valid(call.Input) {
				t.Errorf("unanswerable call %+v", call)
			}
			ids[call.ID] = true
		}
		if len(turn.Calls) == 0 {
			return
		}
		written, err := json.Marshal(turn.Calls)
		if err != nil {
			t.Fatal(err)
		}
		again, err := DecodeTurn(written)
		if err != nil {
			t.Fatalf("calls do not read back: %v", err)
		}
		rewritten, err := json.Marshal(again.Calls)
		if err != nil {
			t.Fatal(err)
		}
		if string(rewritten) != string(written) {
			t.Errorf("got %s, want %s", rewritten, written)
		}
	})
}
