package api_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

const twoTurns = `
steps:
  - calls: |
      # I look.
      read_page
      > textbox "Search"
      /get_weather {"city": "Oslo"}

      left_click {"target": {"type": "ref", "ref": {"role": "button", "name": "Go", "nth": 2}}}
      type {"text": "a"}
      key {"text": "Enter"}
      ! gone
  - end: Done.
`

const reading = "textbox \"Search\" [ref_4]\nbutton \"Go\" [ref_5]\nbutton \"Go\" [ref_9]"

func TestPlay(t *testing.T) {
	server, url := serve(t, twoTurns)
	c := begin(t, url, "Look.")
	same(t, c.ask(), `I look. | read_page | get_weather {"city":"Oslo"} | [tool_use]`)
	if a, b := c.last.Content[1], c.last.Content[2]; a.ToolsetName != "browser" || b.ToolsetName != "" {
		t.Errorf("toolset names %q and %q", a.ToolsetName, b.ToolsetName)
	}
	same(t, c.results(reading, "rain"), `left_click {"target":{"type":"ref","ref":"ref_9"}} | type {"text":"a"} | key {"text":"Enter"} | [tool_use]`)
	same(t, c.results("Clicked.", "Typed.", "Error: gone"), `Done. | [end_turn]`)
	same(t, c.says("And now?"), `The script is over. | [end_turn]`)
	noFindings(t, server)
	transcripts := server.Transcripts()
	if len(transcripts) != 1 || !transcripts[0].Over || transcripts[0].Requests != 4 {
		t.Fatalf("transcripts %+v", transcripts)
	}
	for _, want := range []string{"[user]\nLook.\n", "[call get_weather (tool)] {\"city\":\"Oslo\"}\n", "[result of read_page]\n" + reading, "[error of key]\nError: gone\n", "[assistant]\nThe script is over.\n"} {
		if !strings.Contains(transcripts[0].Text, want) {
			t.Errorf("%q is not in the transcript:\n%s", want, transcripts[0].Text)
		}
	}
}

// TestRepeatedRequest sends each request twice; pruned, old contents make no difference either.
func TestRepeatedRequest(t *testing.T) {
	server, url := serve(t, twoTurns)
	c := begin(t, url, "Look.")
	again := func() {
		t.Helper()
		first := c.last
		second := c.ask()
		same(t, second, first.String())
		for i := range first.Content {
			if first.Content[i].ID != second.Content[i].ID {
				t.Errorf("id %s became %s", first.Content[i].ID, second.Content[i].ID)
			}
		}
	}
	c.ask()
	again()
	c.results(reading, "rain")
	again()
	for _, block := range c.messages[2].(map[string]any)["content"].([]any) {
		block.(map[string]any)["content"] = "[old result]"
	}
	c.messages[0] = message("user", "A summary of what was before.")
	same(t, c.results("Clicked.", "Typed.", "Error: gone"), `Done. | [end_turn]`)
	again()
	noFindings(t, server)
	if n := len(server.Transcripts()); n != 1 {
		t.Errorf("%d conversations", n)
	}
}

func TestUnexpected(t *testing.T) {
	for _, test := range []struct {
		name    string
		results []string
		more    map[string]any
		want    string
	}{
		{"not read", []string{"nothing", "rain"}, nil, `line 5: the result of read_page does not contain "textbox \"Search\""`},
		{"failed", []string{"Error: no page", "rain"}, nil, `line 5: read_page failed: Error: no page`},
		{"no element", []string{"textbox \"Search\" [ref_4]", "rain"}, nil, `line 9: no {"role": "button", "name": "Go", "nth": 2} in the latest reading, which has textbox "Search"`},
		{"no tools", nil, map[string]any{"tools": []any{}}, `line 5: read_page is to be called, and the request does not declare it`},
		{"no choice", nil, map[string]any{"tool_choice": map[string]any{"type": "none"}}, `the script makes a call, and tool_choice allows none`},
		{"another choice", nil, map[string]any{"tool_choice": map[string]any{"type": "tool", "name": "get_weather"}}, `tool_choice asks for a call that the script does not make here`},
	} {
		t.Run(test.name, func(t *testing.T) {
			server, url := serve(t, twoTurns)
			c := begin(t, url, "Look.")
			c.more = test.more
			c.ask()
			if test.results != nil {
				c.results(test.results...)
				c.ask()
			}
			same(t, c.last, "I stop here, because something is not as the script expects.\n"+test.want+" | [end_turn]")
			if got := findings(server); got != test.want {
				t.Errorf("findings %s", got)
			}
			if f := server.Findings()[0]; f.Conversation != server.Transcripts()[0].ID || f.Request == "" {
				t.Errorf("finding %+v", f)
			}
		})
	}
}

func TestShapes(t *testing.T) {
	server, url := serve(t, "steps:\n  - calls: |\n      wait {\"duration\": 1}\n      = Waited.\n      ? blocks text\n      wait\n      = Waited!\n")
	c := begin(t, url, "Wait.")
	c.ask()
	c.results("Waited.", "Waited.")
	if got := findings(server); !strings.Contains(got, `line 6: the text of wait is "Waited.", not "Waited!"`) {
		t.Errorf("findings %s", got)
	}
}

// TestWays checks where a script goes, by the calls it makes.
func TestWays(t *testing.T) {
	const script = `
steps:
  - when: {reads: quickly}
    then: []
    else:
      - calls: wait {"duration":0.1}
  - repeat:
      until: {reads: "24 entries", lacks: error}
      most: 3
      steps:
        - calls: scroll
        - repeat:
            most: 2
            steps:
              - calls: screenshot
  - ask: Shall I?
  - when: {reads: "yes"}
    then:
      - calls: get_page_text
    else:
      - when: {lacks: maybe}
        then: [{end: Then not.}]
  - end: End.
`
	for _, test := range []struct{ name, task, answers, want string }{
		{"all", "look", "1|2|3|24 entries|yes|5", "wait {\"duration\":0.1};scroll;screenshot;screenshot;Shall I?;get_page_text;End."},
		{"at once", "quickly 24 entries", "no", "Shall I?;Then not."},
		{"an error", "quickly 24 entries error", "1|2|24 entries|maybe", "scroll;screenshot;screenshot;Shall I?;End."},
		{"never", "quickly", "1|2|3|4|5|6|7|8|9", "scroll;screenshot;screenshot;scroll;screenshot;screenshot;scroll;screenshot;screenshot;" +
			"I stop here, because something is not as the script expects.\nline 8: what the repeat waits for was not read in 3 rounds"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, url := serve(t, script)
			c := begin(t, url, test.task)
			c.ask()
			var got []string
			ids := map[string]bool{}
			for _, answer := range append(strings.Split(test.answers, "|"), "") {
				text, _, _ := strings.Cut(c.last.String(), " | ")
				got = append(got, text)
				if c.last.Stop != "tool_use" {
					c.says(answer)
					continue
				}
				if id := c.last.Content[0].ID; ids[id] {
					t.Errorf("the id %s came again", id)
				} else {
					ids[id] = true
				}
				c.results(answer)
			}
			if joined := strings.Join(got, ";"); joined != test.want {
				t.Errorf("got  %s\nwant %s", joined, test.want)
			}
		})
	}
}

func TestRoundWithoutTurn(t *testing.T) {
	server, url := serve(t, `
steps:
  - repeat:
      most: 1000
      steps:
        - repeat: {most: 1000, steps: []}
`)
	begin(t, url, "Go.").ask()
	if got := findings(server); !strings.Contains(got, "goes round without a turn") {
		t.Errorf("findings %s", got)
	}
}

func TestOneCallATurn(t *testing.T) {
	server, url := serve(t, strings.ReplaceAll(twoTurns, "! gone", "> ok"))
	c := begin(t, url, "Look.")
	c.more["tool_choice"] = map[string]any{"type": "auto", "disable_parallel_tool_use": true}
	same(t, c.ask(), "I look. | read_page | [tool_use]")
	same(t, c.results(reading), `get_weather {"city":"Oslo"} | [tool_use]`)
	same(t, c.results("rain"), `left_click {"target":{"type":"ref","ref":"ref_9"}} | [tool_use]`)
	same(t, c.results("Clicked."), `type {"text":"a"} | [tool_use]`)
	c.more = nil
	same(t, c.results("Typed."), `key {"text":"Enter"} | [tool_use]`)
	same(t, c.results("ok"), `Done. | [end_turn]`)
	noFindings(t, server)
}

func TestMaxTokens(t *testing.T) {
	server, url := serve(t, `
steps:
  - calls: |
      # Twelve characters.
      wait {"duration": 1}
      type {"text": "a long text, which has a lot of tokens, so that it does not fit into what the request leaves room for"}
  - end: A longer text that says what the task was about, and that it is done.
`)
	c := begin(t, url, "Go.")
	c.more["max_tokens"] = 40
	same(t, c.ask(), `Twelve characters. | wait {"duration":1} | type | [max_tokens]`)
	c.more["max_tokens"] = 1000
	same(t, c.results("Waited.", "Error: Not run."), `type {"text":"a long text, which has a lot of tokens, so that it does not fit into what the request leaves room for"} | [tool_use]`)
	c.more["max_tokens"] = 5
	same(t, c.results("Typed."), "A longer text that s | [max_tokens]")
	c.more["max_tokens"] = 1000
	same(t, c.ask(), "A longer text that says what the task was about, and that it is done. | [end_turn]")
	noFindings(t, server)
}

// TestAnotherScript continues a conversation with a server whose script is another one: it begins at its beginning.
func TestAnotherScript(t *testing.T) {
	_, url := serve(t, twoTurns)
	c := begin(t, url, "Look.")
	c.ask()
	c.results(reading, "rain")
	next, url := serve(t, "steps:\n  - calls: get_page_text\n  - end: Here.\n")
	c.url = url
	same(t, c.results("Clicked.", "Typed.", "Error: gone"), "get_page_text | [tool_use]")
	noFindings(t, next)

	_, url = serve(t, strings.ReplaceAll(twoTurns, "Done.", "Done again."))
	c = begin(t, url, "Look.")
	c.ask()
	_, c.url = serve(t, twoTurns)
	same(t, c.results(reading, "rain"), `left_click {"target":{"type":"ref","ref":"ref_9"}} | type {"text":"a"} | key {"text":"Enter"} | [tool_use]`)
}

// TestConcurrent plays conversations side by side, each with a fault at the beginning.
func TestConcurrent(t *testing.T) {
	server, url := serve(t, "steps:\n  - fault: overloaded\n  - repeat: {most: 5, steps: [{calls: screenshot}]}\n  - end: Done.\n")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			c := begin(t, url, fmt.Sprint("Task ", i))
			same(t, c.ask(), "529 overloaded_error")
			c.ask()
			for range 5 {
				same(t, c.last, "screenshot | [tool_use]")
				c.results("[shown]")
			}
			same(t, c.last, "Done. | [end_turn]")
		})
	}
	all.Wait()
	if n := len(server.Transcripts()); n != 8 {
		t.Errorf("%d conversations", n)
	}
}

// TestSameBeginning runs a task again: that is another conversation, with its faults.
func TestSameBeginning(t *testing.T) {
	server, url := serve(t, "steps:\n  - fault: overloaded\n  - calls: wait\n  - end: Done.\n")
	for range 2 {
		c := begin(t, url, "Wait.")
		same(t, c.ask(), "529 overloaded_error")
		same(t, c.ask(), "wait | [tool_use]")
		same(t, c.results("Waited."), "Done. | [end_turn]")
	}
	for _, user := range []string{"a", "b"} {
		c := begin(t, url, "Together.")
		c.more["metadata"] = map[string]any{"user_id": user}
		same(t, c.ask(), "529 overloaded_error")
	}
	if n := len(server.Transcripts()); n != 4 {
		t.Errorf("%d conversations", n)
	}
}
