package api_test

import (
	"strings"
	"testing"

	"github.com/pagehand/pagehand/api"
)

func TestParseErrors(t *testing.T) {
	for _, test := range []struct{ name, script, want string }{
		{"empty", "", `it begins with "steps:"`},
		{"a comment", "# nothing\n", `it begins with "steps:"`},
		{"syntax", "steps: [", "line 1: "},
		{"two documents", "steps: []\n---\nsteps: []\n", "line 2: a script is one document"},
		{"no mapping", "- end: x\n", "line 1: a mapping is expected, with steps"},
		{"unknown key", "steps: []\nturns: []\n", "line 2: turns is not expected here; there may be steps"},
		{"no list", "steps:\n  end: x\n", "line 2: a list of steps is expected"},
		{"no step", "steps:\n  - end: x\n  - say: y\n", "line 3: a step has one of the keys calls, ask, end, when, repeat, fault"},
		{"a text as step", "steps:\n  - hello\n", "line 2: a step has one of the keys"},
		{"two keys", "steps:\n  - end: x\n    ask: y\n", "line 2: end is not expected here; there may be ask"},
		{"twice", "steps:\n  - end: x\n    end: y\n", "line 3: mapping key \"end\" already defined"},
		{"bad call", "steps:\n  - end: x\n  - calls: |\n      # Hm.\n\n      wait {\n", "line 6: the input of wait is not JSON"},
		{"no object", "steps:\n  - calls: |\n      wait 5\n", "line 3: the input of wait must be an object"},
		{"an expectation alone", "steps:\n  - calls: |\n\n      > x\n", "line 4: \">\" without a call above it"},
		{"no calls", "steps:\n  - calls: \"\"\n", "line 2: no call"},
		{"folded", "steps:\n  - calls: >\n      wait\n      wait\n", `line 2: calls must be a block of lines after "|"`},
		{"list of calls", "steps:\n  - calls: [wait]\n", `line 2: calls must be a block of lines`},
		{"says nothing", "steps:\n  - end: ' '\n", "line 2: end is empty"},
		{"no text", "steps:\n  - ask: [x]\n", "line 2: ask must be a text"},
		{"no condition", "steps:\n  - when: {}\n    then: []\n", "line 2: a condition has reads, lacks or both"},
		{"empty condition", "steps:\n  - when: {reads: ''}\n    then: []\n", "line 2: reads is empty"},
		{"a text as condition", "steps:\n  - when: yes\n    then: []\n", "line 2: a mapping is expected, with reads, lacks"},
		{"no then", "steps:\n  - when: {reads: x}\n", "line 2: then is missing"},
		{"inside then", "steps:\n  - when: {reads: x}\n    then:\n      - fault: x\n", "line 4: there is no fault \"x\"; there are invalid_request, "},
		{"inside else", "steps:\n  - when: {reads: x}\n    then: []\n    else:\n      - hm: x\n", "line 5: a step has"},
		{"no most", "steps:\n  - repeat: {until: {reads: x}, steps: []}\n", "line 2: most is missing"},
		{"no steps", "steps:\n  - repeat:\n      most: 2\n", "line 3: steps is missing"},
		{"too many rounds", "steps:\n  - repeat:\n      most: 1001\n      steps: []\n", "line 3: most must be a whole number from 1 to 1000"},
		{"no number", "steps:\n  - repeat: {most: x, steps: []}\n", "line 2: most must be a whole number"},
		{"too deep", "steps:\n  - " + strings.Repeat("repeat: {most: 1, steps: [{", 8) + "repeat: {most: 1, steps: []}" + strings.Repeat("}]}", 8) + "\n", "line 2: more than 8 repeats inside of each other"},
		{"another's setting", "steps:\n  - fault: overloaded\n    says: x\n", "line 3: the fault overloaded does not take says"},
		{"times", "steps:\n  - fault: overloaded\n    times: -1\n", "line 3: times must be a whole number from 0"},
		{"every", "steps:\n  - fault: slow\n    every: 2h\n", "line 3: every must be a time of at most a minute"},
		{"error", "steps:\n  - fault: error_event\n    error: x\n", "line 3: error must be a type of error"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := api.ParseScript([]byte(test.script))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want %s", err, test.want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("an error of two lines: %q", err)
			}
		})
	}
}

func TestDefaultScript(t *testing.T) {
	if _, err := api.ParseScript(api.DefaultScript); err != nil {
		t.Error(err)
	}
}

func FuzzParseScript(f *testing.F) {
	f.Add([]byte(twoTurns))
	f.Add(api.DefaultScript)
	f.Add([]byte("steps:\n  - repeat: {until: {reads: x}, most: 2, steps: [{fault: slow, every: 1s}]}\n  - when: &a {lacks: x}\n    then: *a\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := api.ParseScript(data); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("an error of two lines: %q", err)
		}
	})
}
