package script_test

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestResolveObject(t *testing.T) {
	for _, test := range []struct{ name, input, want, problem string }{
		{"role and name", `{"target":{"type":"ref","ref":{"role":"button","name":"Search"}},"x":1}`, `{"target":{"type":"ref","ref":"ref_5"},"x":1}`, ""},
		{"the second", `{"ref": { "nth": 2, "name": "Search", "role": "button" } , "y": [{"ref":"link 'Documentation'"}]}`, `{"ref": "ref_9" , "y": [{"ref":"ref_1"}]}`, ""},
		{"nameless", `{"ref":{"role":"textbox"}}`, `{"ref":"ref_10"}`, ""},
		{"quotes", `{"ref":{"role":"button","name":"Say \"hi\" \\ 'bye'"}}`, `{"ref":"ref_4"}`, ""},
		{"another object", `{"ref":{"name":"Search"},"z":{"ref":{}}}`, `{"ref":{"name":"Search"},"z":{"ref":{}}}`, ""},
		{"a list", `{"ref":[{"role":"button","name":"Search"}]}`, `{"ref":[{"role":"button","name":"Search"}]}`, ""},
		{"missing", `{"ref":{"role":"link","name":"Docs"}}`, "", `no {"role":"link","name":"Docs"} in the latest reading, which has link "Documentation"`},
		{"too few", `{"ref":{"role":"button","name":"Search","nth":3}}`, "", "in the latest reading"},
		{"nth", `{"ref":{"role":"button","name":"Search","nth":0}}`, "", "does not describe an element"},
		{"another key", `{"ref":{"role":"button","title":"Search"}}`, "", "does not describe an element"},
		{"no text", `{"ref":{"role":5}}`, "", "does not describe an element"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := observed().Resolve(json.RawMessage(test.input))
			if test.problem != "" {
				if err == nil || !strings.Contains(err.Error(), test.problem) {
					t.Errorf("got %v, want %s", err, test.problem)
				}
				return
			}
			if err != nil || string(got) != test.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, test.want)
			}
		})
	}
}
