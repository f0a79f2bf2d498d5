package script_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/script"
)

const example = `A script.
-- page.html --
<p>One
-- calls --

# I'll search
# the docs.
find {"query": "search"}
> textbox

# A batch.
left_click {"target": {"type": "ref", "ref": "textbox 'Search'"}}
  type {"text": "a # b"}  
! focus
> Error
key
!
# Shapes.
computer/screenshot {"x":1}
/find
zoom
> big
- small
= exactly this
? image 10x5
? no changes
# Done.
-- want --
x
`

func TestParse(t *testing.T) {
	s, err := script.Parse([]byte(example))
	if err != nil {
		t.Fatal(err)
	}
	want := &script.Script{
		Turns: []script.Turn{
			{Says: "I'll search the docs.", Calls: []script.Call{
				{Line: 8, Name: "find", Input: json.RawMessage(`{"query": "search"}`), Contains: []string{"textbox"}},
			}},
			{Says: "A batch.", Calls: []script.Call{
				{Line: 12, Name: "left_click", Input: json.RawMessage(`{"target": {"type": "ref", "ref": "textbox 'Search'"}}`)},
				{Line: 13, Name: "type", Input: json.RawMessage(`{"text": "a # b"}`), Fails: true, Contains: []string{"focus", "Error"}},
				{Line: 16, Name: "key", Input: json.RawMessage(`{}`), Fails: true},
			}},
			{Says: "Shapes.", Calls: []script.Call{
				{Line: 19, Name: "screenshot", Foreign: true, Toolset: "computer", Input: json.RawMessage(`{"x":1}`)},
				{Line: 20, Name: "find", Foreign: true, Input: json.RawMessage(`{}`)},
				{Line: 21, Name: "zoom", Input: json.RawMessage(`{}`), Contains: []string{"big"}, Lacks: []string{"small"}, Exact: "exactly this", Shapes: []string{"image 10x5", "no changes"}},
			}},
			{Says: "Done."},
		},
		Files: map[string][]byte{"page.html": []byte("<p>One\n"), "want": []byte("x\n")},
	}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("got  %+v\nwant %+v", s, want)
	}
}

func TestParseErrors(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"no calls", "-- page.html --\n", `no file "calls"`},
		{"empty", "", `no file "calls"`},
		{"two calls files", "-- calls --\nwait\n-- calls --\n", `line 3: a second file "calls"`},
		{"two files", "a\n-- p --\nx\n-- p --\n-- calls --\n", `line 4: a second file "p"`},
		{"bad input", "-- p --\nx\n-- calls --\nwait\n\ntype {\"text\":}\n", "line 6: the input of type is not JSON"},
		{"two values", "-- calls --\ntype {} {}\n", "line 2: the input of type is not JSON"},
		{"no member", "-- calls --\n{\"text\":\"x\"}\n", "line 2: a call is"},
		{"nothing to expect of", "-- calls --\nwait\n\n> x\n", `line 4: ">" without a call`},
		{"nothing expected", "-- calls --\nwait\n>\n", `line 3: ">" without a text`},
		{"no shape", "-- calls --\nwait\n? round\n", `line 3: no shape is called "round"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := script.Parse([]byte(test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	plain := script.Call{Line: 7, Name: "find", Contains: []string{"one", "two"}}
	failing := script.Call{Line: 7, Name: "find", Contains: []string{"stale"}, Fails: true}
	lacking := script.Call{Line: 7, Name: "find", Lacks: []string{"secret"}}
	for _, test := range []struct {
		call    script.Call
		reads   string
		isError bool
		want    string
	}{
		{plain, "two one", false, ""},
		{plain, "one", false, `line 7: the result of find does not contain "two"`},
		{plain, "Error: one two", true, "line 7: find failed: Error: one two"},
		{failing, "Error: stale", true, ""},
		{failing, "Error: gone", true, `line 7: the result of find does not contain "stale"`},
		{failing, "stale", false, "line 7: find succeeded"},
		{lacking, "open", false, ""},
		{lacking, "a secret", false, `line 7: the result of find contains "secret"`},
	} {
		got := ""
		if err := test.call.Check(test.reads, test.isError); err != nil {
			got = err.Error()
		}
		if got != test.want && (test.want == "" || !strings.HasPrefix(got, test.want)) {
			t.Errorf("Check(%q, %t) = %q, want %q", test.reads, test.isError, got, test.want)
		}
	}
}

const reading = `banner
  link "Documentation" [ref_1]
  textbox "Search docs" [ref_3] focused
  button "Say \"hi\" \\ 'bye'" [ref_4]
  button "Search" [ref_5]
region "Results"
  button "Search" [ref_9] url=/x [ref_77]
  textbox [ref_10]
  "button "Fake" [ref_66]"`

// observed is a resolver that has seen the reading.
func observed() *script.Resolver {
	var r script.Resolver
	r.Observe(contract.ToolUse{Name: "read_page"}, contract.ToolResult{Content: []contract.Block{contract.Text{Text: reading}}})
	return &r
}

func TestResolve(t *testing.T) {
	for _, test := range []struct{ name, input, want string }{
		{"by name", `{"target": {"ref": "textbox 'Search docs'"}}`, `{"target": {"ref": "ref_3"}}`},
		{"double quotes", `{"ref":"link \"Documentation\""}`, `{"ref":"ref_1"}`},
		{"the first of two", `{"ref":"button 'Search'"}`, `{"ref":"ref_5"}`},
		{"the second", `{"ref":"button 'Search' #2"}`, `{"ref":"ref_9"}`},
		{"quotes and backslashes", `{"ref":"button \"Say \\\"hi\\\" \\\\ 'bye'\""}`, `{"ref":"ref_4"}`},
		{"nameless", `{"ref":"textbox ''"}`, `{"ref":"ref_10"}`},
		{"several, nothing else touched", `{ "a":[{"ref" : "button 'Search' #2","x":1e3}],"ref":  "link 'Documentation'", "y":"button 'Search'"}`, `{ "a":[{"ref" : "ref_9","x":1e3}],"ref":  "ref_1", "y":"button 'Search'"}`},
		{"a ref", `{"ref":"ref_12"}`, `{"ref":"ref_12"}`},
		{"no description", `{"ref":"5", "x":{"ref":null}, "z":["ref"]}`, `{"ref":"5", "x":{"ref":null}, "z":["ref"]}`},
		{"a value named ref", `["ref", "link 'Documentation'"]`, `["ref", "link 'Documentation'"]`},
		{"no object", `"link 'Documentation'"`, `"link 'Documentation'"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := observed().Resolve(json.RawMessage(test.input))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestResolveErrors(t *testing.T) {
	for _, test := range []struct{ name, input, want string }{
		{"same role", `{"ref":"link 'Docs'"}`, `no link 'Docs' in the latest reading, which has link "Documentation"`},
		{"same name", `{"ref":"link 'Search docs'"}`, `which has link "Documentation", textbox "Search docs"`},
		{"too few", `{"ref":"button 'Search' #3"}`, `no button 'Search' #3 in the latest reading`},
		{"inside a quoted text", `{"ref":"button 'Fake'"}`, "no button 'Fake'"},
		{"second ref of a line", `{"ref":"button '/x'"}`, "no button '/x'"},
		{"not JSON", `{"ref":`, "not JSON"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := observed().Resolve(json.RawMessage(test.input))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestObserve(t *testing.T) {
	const input = `{"ref":"textbox 'Search docs'"}`
	text := contract.ToolResult{Content: []contract.Block{contract.Text{Text: `link "Other" [ref_20]`}}}
	for _, test := range []struct {
		name  string
		use   contract.ToolUse
		res   contract.ToolResult
		stays bool
	}{
		{"an action", contract.ToolUse{Name: "left_click"}, text, true},
		{"a failed reading", contract.ToolUse{Name: "read_page"}, contract.ToolResult{IsError: true, Content: text.Content}, true},
		{"another reading", contract.ToolUse{Name: "find"}, text, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := observed()
			r.Observe(test.use, test.res)
			if _, err := r.Resolve(json.RawMessage(input)); (err == nil) != test.stays {
				t.Errorf("the reading stays: %t, want %t", err == nil, test.stays)
			}
		})
	}
	if got := observed().Called("ref_4"); got != `button "Say \"hi\" \\ 'bye'"` {
		t.Errorf("Called = %s", got)
	}
	if got := observed().Called("ref_66"); got != "" {
		t.Errorf("Called = %s, want nothing", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(example))
	f.Add([]byte("-- calls --\nwait\n> x\n"))
	f.Add([]byte("-- calls --\r\nwait {}\r\n\r\n# x\r\n-- a --\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := script.Parse(data)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("an error of two lines: %q", err)
			}
			return
		}
		lines := strings.Split(string(data), "\n")
		for _, turn := range s.Turns {
			for _, c := range turn.Calls {
				if !json.Valid(c.Input) {
					t.Errorf("line %d: invalid input %q", c.Line, c.Input)
				}
				name := c.Name
				if c.Foreign {
					name = c.Toolset + "/" + c.Name
				}
				if !strings.HasPrefix(strings.TrimSpace(lines[c.Line-1]), name) {
					t.Errorf("line %d is %q, not a call of %q", c.Line, lines[c.Line-1], c.Name)
				}
			}
		}
	})
}

func FuzzResolve(f *testing.F) {
	f.Add(reading, `{"target":{"type":"ref","ref":"button 'Search' #2"}}`)
	f.Add(`a "\\" [ref_1]`, `[{"ref":"a \"\\\\\""},{"ref":1}]`)
	f.Fuzz(func(t *testing.T, text, input string) {
		var r script.Resolver
		r.Observe(contract.ToolUse{Name: "find"}, contract.ToolResult{Content: []contract.Block{contract.Text{Text: text}}})
		got, err := r.Resolve(json.RawMessage(input))
		if err != nil || !json.Valid([]byte(input)) {
			return
		}
		if !json.Valid(got) {
			t.Errorf("%q became %q", input, got)
		}
		again, err := r.Resolve(got)
		if err != nil || string(again) != string(got) {
			t.Errorf("resolved twice, %q became %q: %v", got, again, err)
		}
	})
}
