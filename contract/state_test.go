package contract

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func twoTabs() []Tab {
	return []Tab{
		{TabID: "tab-1", Title: "Documentation", URL: "https://example.com/docs", Active: true},
		{TabID: "tab-2", Title: "Pricing", URL: "https://example.com/pricing"},
	}
}

func manyTabs(n int) []Tab {
	tabs := make([]Tab, n)
	for i := range tabs {
		tabs[i].TabID = fmt.Sprintf("tab-%d", i+1)
	}
	tabs[0].Active = true
	return tabs
}

func manyDownloads(n int) []StateChange {
	changes := make([]StateChange, n)
	for i := range changes {
		changes[i] = StateChange{Type: DownloadStarted, DownloadID: fmt.Sprintf("dl-%d", i+1)}
	}
	return changes
}

// Contract §5.
func TestValidate(t *testing.T) {
	size, negative := int64(0), int64(-1)
	long := strings.Repeat("é", MaxField)
	tests := []struct {
		name    string
		tabs    []Tab
		changes []StateChange
		want    string // in the error; empty when the block is valid
	}{
		{"two tabs", twoTabs(), nil, ""},
		{"no tabs", nil, nil, ""},
		{"blank tab", []Tab{{TabID: "1", Active: true}}, nil, ""},
		{"a download without tabs", nil, []StateChange{{Type: DownloadCompleted, DownloadID: "d", SizeBytes: &size}}, ""},
		{"longest title", []Tab{{TabID: "1", Title: long, Active: true}}, nil, ""},
		{"most of everything", manyTabs(MaxTabs), manyDownloads(MaxStateChanges), ""},
		{"a download id equal to a tab id", twoTabs(),
			[]StateChange{{Type: TabOpened, TabID: "tab-2"}, {Type: DownloadFailed, DownloadID: "tab-2"}}, ""},

		{"101 tabs", manyTabs(MaxTabs + 1), nil, "101 tabs; there must be at most 100"},
		{"201 changes", nil, manyDownloads(MaxStateChanges + 1), "201 state changes; there must be at most 200"},
		{"empty changes", twoTabs(), []StateChange{}, "state_changes: an empty list"},
		{"no active tab", []Tab{{TabID: "1"}}, nil, "0 active tabs"},
		{"two active tabs", []Tab{{TabID: "1", Active: true}, {TabID: "2", Active: true}}, nil, "2 active tabs"},
		{"empty tab id", []Tab{{Active: true}}, nil, "tabs[0].tab_id: an empty tab_id"},
		{"duplicate tab id", []Tab{{TabID: "1", Active: true}, {TabID: "1"}}, nil, `tabs[1].tab_id: a second tab "1"`},
		{"long title", []Tab{{TabID: "1", Title: long + "x", Active: true}}, nil, "title: 4097 characters"},
		{"long url", []Tab{{TabID: "1", URL: long + "x", Active: true}}, nil, "url: 4097 characters"},
		{"long tab id", []Tab{{TabID: long + "x", Active: true}}, nil, "tab_id: 4097 characters"},
		{"newline", []Tab{{TabID: "1", Title: "a\nb", Active: true}}, nil, "title: U+000A"},
		{"C1 control", []Tab{{TabID: "1", Title: "a\u0085b", Active: true}}, nil, "title: U+0085"},
		{"line separator", []Tab{{TabID: "1", URL: "a\u2028b", Active: true}}, nil, "url: U+2028"},
		{"invalid UTF-8", []Tab{{TabID: "1", Title: "a\xffb", Active: true}}, nil, "title: invalid UTF-8"},
		{"opened tab not listed", twoTabs(), []StateChange{{Type: TabOpened, TabID: "tab-9"}}, `"tab-9", which is not in tabs`},
		{"opened twice", twoTabs(), []StateChange{{Type: TabOpened, TabID: "tab-2"}, {Type: TabOpened, TabID: "tab-2"}},
			`state_changes[1].tab_id: a second tab_opened for "tab-2"`},
		{"two changes of a download", nil,
			[]StateChange{{Type: DownloadStarted, DownloadID: "d"}, {Type: DownloadCompleted, DownloadID: "d"}},
			`a second change for "d"`},
		{"empty download id", nil, []StateChange{{Type: DownloadStarted}}, "an empty download_id"},
		{"negative size", nil, []StateChange{{Type: DownloadCompleted, DownloadID: "d", SizeBytes: &negative}}, "size_bytes: -1"},
		{"undeclared path", nil, []StateChange{{Type: DownloadFailed, DownloadID: "d", Path: "/x"}},
			"a field that download_failed does not declare"},
		{"undeclared url", twoTabs(), []StateChange{{Type: TabOpened, TabID: "tab-1", URL: "u"}},
			"a field that tab_opened does not declare"},
		{"unknown type", nil, []StateChange{{Type: "tab_closed"}}, `state_changes[0].type: "tab_closed"`},
		{"control in path", nil, []StateChange{{Type: DownloadCompleted, DownloadID: "d", Path: "a\tb"}}, "path: U+0009"},
		{"separator in error", nil, []StateChange{{Type: DownloadFailed, DownloadID: "d", Error: "\u2029"}}, "error: U+2029"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := (&BrowserState{Tabs: tt.tabs, StateChanges: tt.changes}).Validate()
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestActive(t *testing.T) {
	state := &BrowserState{Tabs: twoTabs()}
	if tab, ok := state.Active(); !ok || tab.TabID != "tab-1" {
		t.Errorf("got %v, %v", tab, ok)
	}
	if tab, ok := new(BrowserState).Active(); ok {
		t.Errorf("got %v without tabs", tab)
	}
}

// FuzzCheckState says that the two ways to check a block agree, and that one without problems is still without them when it is
// written again.
func FuzzCheckState(f *testing.F) {
	f.Add([]byte(`{"type":"browser_state","tabs":[{"tab_id":"tab-1","title":"","url":"","active":true}],"state_changes":[{"type":"tab_opened","tab_id":"tab-1"}]}`))
	f.Add([]byte(`{"type":"browser_state","tabs":[],"state_changes":[{"type":"download_completed","download_id":"d","url":"","size_bytes":5}]}`))
	f.Add([]byte(`{"type":"browser_state","tabs":null,"state_changes":[{"type":"download_failed","path":"x"}],"x":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		state, problems := CheckState(data)
		var decoded BrowserState
		err := json.Unmarshal(data, &decoded)
		if err == nil {
			err = decoded.Validate()
		}
		if (err == nil) != (len(problems) == 0) {
			t.Fatalf("decoding says %v, checking %v", err, problems)
		}
		if err != nil {
			return
		}
		again, err := json.Marshal(state)
		if err != nil {
			t.Fatal(err)
		}
		if _, problems := CheckState(again); len(problems) > 0 {
			t.Fatalf("%s: %v", again, problems)
		}
	})
}
