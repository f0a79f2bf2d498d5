package pagehand_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pagehand/pagehand"
)

// TestParseConfigs: what the API takes is taken, and what it rejects is refused (contract §2 and §7).
func TestParseConfigs(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{ // the differences from the defaults, or the error
		``:                                    "",
		`null`:                                "",
		`{}`:                                  "",
		`{"type":"browser_toolset_20260801"}`: "",
		`{"type":"browser_toolset_20260801","configs":null}`:                "",
		`{"type":"browser_toolset_20260801","allowed_callers":["direct"]}`:  "",
		`{"type":"browser_toolset_20260801","configs":{"left_click":null}}`: "",
		`{"left_click":{"enabled":true},"read_console":{"enabled":false}}`:  "",
		`{"left_click":{"enabled":false},"read_console":{"enabled":true}}`:  "left_click=false read_console=true",
		`{"type":"browser_toolset_20260801","allowed_callers":["code"]}`:    `error: allowed_callers may only be ["direct"], not ["code"]`,
		`{"type":"browser_toolset_20260801","allowed_callers":"direct"}`:    `error: allowed_callers may only be ["direct"], not "direct"`,
		`{"type":"browser_toolset_20260801","name":"browser"}`:              `error: the toolset entry does not take "name"`,
		`{"type":"browser_toolset_20260801","strict":true}`:                 `error: the toolset entry does not take "strict"`,
		`{"type":{"enabled":false}}`:                                        "type=false",
		`{"type":"computer_20250124"}`:                                      "error: the entry's type",
		`{"fly":{}}`:                                                        `error: "fly" is no member`,
		`{"left_click":{"Enabled":false}}`:                                  `error: left_click does not take "Enabled"`,
		`{"left_click":{"enabled":"no"}}`:                                   `error: left_click: enabled must be true or false, not "no"`,
		`{"left_click":{"defer_loading":1}}`:                                "error: left_click: defer_loading must be true or false, not 1",
		`{"left_click":{"defer_loading":true}}`:                             "error: defer_loading must be the same",
		`[]`:                                                                "error: a JSON object is expected, and this is of type array",
		`{`:                                                                 "error: not JSON: ",
	} {
		configs, err := pagehand.ParseConfigs([]byte(data))
		got := configs.String()
		if err != nil {
			got = strings.Replace(err.Error(), "configs", "error", 1)
		}
		if raw, marshalErr := json.Marshal(configs); err == nil {
			if again, err := pagehand.ParseConfigs(raw); marshalErr != nil || err != nil || again.String() != got {
				t.Errorf("%s\n is marshalled as %s (%v), which reads as %q, %v", data, raw, marshalErr, again, err)
			}
		}
		if got != want && (err == nil || want == "" || !strings.HasPrefix(got, want)) {
			t.Errorf("%s\n got %q\nwant %q", data, got, want)
		}
	}
}
