package pagehand_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pagehand/pagehand"
)

// TestCheckInput says what is wrong with inputs without a session.
func TestCheckInput(t *testing.T) {
	for _, test := range []struct{ member, input, want string }{
		{"new_tab", ``, ""},
		{"wait", `{"duration":0.5,"tab_id":null}`, ""},
		{"left_click", `{"target":{"type":"ref","ref":"ref_1"}}`, ""},
		{"wait", `{"duration":31}`, "duration must be a number from 0 to 30"},
		{"scroll", `{"target":{"type":"ref","ref":"ref_1"},"scroll_direction":"up"}`, "target must be"},
		{"new_tab", `{"url":"https://example.com"}`, `does not take "url"`},
		{"find", `[]`, "must be a JSON object"},
		{"teleport", `{}`, "Unknown or unimplemented member: teleport"},
	} {
		err := pagehand.CheckInput(test.member, json.RawMessage(test.input))
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s %s: %v, want %q", test.member, test.input, err, test.want)
		}
	}
}
