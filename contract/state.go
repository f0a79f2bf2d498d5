package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a browser_state block (contract §5).
const (
	// MaxField is the most characters (code points) in each string of the block.
	MaxField = 4096
	// MaxTabs is the most tabs one block lists.
	MaxTabs = 100
	// MaxStateChanges is the most state changes one block reports.
	MaxStateChanges = 200
)

// BrowserState is the browser_state block: the browser's tabs after a call and what the call changed (contract §5). A
// result carries at most one, an error result none.
type BrowserState struct {
	// Tabs is the full inventory, never a delta; nil is written as [].
	Tabs []Tab `json:"tabs"`
	// StateChanges is left out of the JSON when it is empty: the API rejects an empty list.
	StateChanges []StateChange `json:"state_changes,omitempty"`
}

// Tab is one open tab. Title and URL are the page's own and may be empty; see [CleanTitle] and [CleanURL].
type Tab struct {
	TabID  string `json:"tab_id"`
	Title  string `json:"title"`
	URL    string `json:"url"`
	Active bool   `json:"active,omitempty"`
}

// ChangeType is the type of a state change; it decides which fields the change has.
type ChangeType string

// The types of state changes and their fields (contract §5).
const (
	// TabOpened has TabID: a tab that the call opened and that is still open. The tab must be in the inventory.
	TabOpened ChangeType = "tab_opened"
	// DownloadStarted has DownloadID and URL.
	DownloadStarted ChangeType = "download_started"
	// DownloadCompleted has DownloadID, URL, and optionally Path and SizeBytes.
	DownloadCompleted ChangeType = "download_completed"
	// DownloadFailed has DownloadID, URL, and optionally Error.
	DownloadFailed ChangeType = "download_failed"
)

// StateChange is something that happened during a call. Only the fields that its Type declares are written; Validate
// reports any other that is set.
type StateChange struct {
	Type       ChangeType `json:"type"`
	TabID      string     `json:"tab_id"`
	DownloadID string     `json:"download_id"`
	// URL is the download's final address; see [CleanDownloadURL].
	URL string `json:"url"`
	// Path is where the file lies, for other tools of the same environment. Empty means absent.
	Path string `json:"path"`
	// SizeBytes is the file's size in bytes. Nil means absent.
	SizeBytes *int64 `json:"size_bytes"`
	// Error says why a download failed. Empty means absent.
	Error string `json:"error"`
}

// Active returns the active tab, and false when there is none.
func (s *BrowserState) Active() (Tab, bool) {
	for _, tab := range s.Tabs {
		if tab.Active {
			return tab, true
		}
	}
	return Tab{}, false
}

// MarshalJSON writes the block with its type.
func (s *BrowserState) MarshalJSON() ([]byte, error) {
	type fields BrowserState
	f := fields(*s)
	if f.Tabs == nil {
		f.Tabs = []Tab{}
	}
	return marshal(struct {
		Type string `json:"type"`
		fields
	}{"browser_state", f})
}

// UnmarshalJSON reads a browser_state block and refuses undeclared fields, as the API does. An empty state_changes list
// is kept, for Validate to report.
func (s *BrowserState) UnmarshalJSON(data []byte) error {
	type fields BrowserState
	var f fields
	if err := decodeStrict(data, &f, []string{"type", "tabs"}, []string{"state_changes", "cache_control"}); err != nil {
		return fmt.Errorf("browser_state: %w", err)
	}
	*s = BrowserState(f)
	return nil
}

// UnmarshalJSON reads an entry of tabs and refuses undeclared fields.
func (t *Tab) UnmarshalJSON(data []byte) error {
	type fields Tab
	var f fields
	if err := decodeStrict(data, &f, []string{"tab_id", "title", "url"}, []string{"active"}); err != nil {
		return fmt.Errorf("tabs entry: %w", err)
	}
	*t = Tab(f)
	return nil
}

// MarshalJSON writes the fields that the change's type declares. An unknown type is an error.
func (c StateChange) MarshalJSON() ([]byte, error) {
	type download struct {
		Type       ChangeType `json:"type"`
		DownloadID string     `json:"download_id"`
		URL        string     `json:"url"`
	}
	d := download{c.Type, c.DownloadID, c.URL}
	switch c.Type {
	case TabOpened:
		return marshal(struct {
			Type  ChangeType `json:"type"`
			TabID string     `json:"tab_id"`
		}{c.Type, c.TabID})
	case DownloadStarted:
		return marshal(d)
	case DownloadCompleted:
		return marshal(struct {
			download
			Path      string `json:"path,omitempty"`
			SizeBytes *int64 `json:"size_bytes,omitempty"`
		}{d, c.Path, c.SizeBytes})
	case DownloadFailed:
		return marshal(struct {
			download
			Error string `json:"error,omitempty"`
		}{d, c.Error})
	default:
		return nil, fmt.Errorf("unknown state change type %s", quote(string(c.Type)))
	}
}

// UnmarshalJSON reads an entry of state_changes and refuses a type that is not one of the four and any field that the
// type does not declare.
func (c *StateChange) UnmarshalJSON(data []byte) error {
	var o object
	if err := json.Unmarshal(data, &o); err != nil {
		return errors.New("state_changes entry: not an object")
	}
	required := []string{"type", "download_id", "url"}
	var optional []string
	kind, _ := o.text("type")
	switch ChangeType(kind) {
	case TabOpened:
		required = []string{"type", "tab_id"}
	case DownloadStarted:
	case DownloadCompleted:
		optional = []string{"path", "size_bytes"}
	case DownloadFailed:
		optional = []string{"error"}
	default:
		return fmt.Errorf("state_changes entry: unknown type %s", quote(kind))
	}
	type fields StateChange
	var f fields
	if err := decodeStrict(data, &f, required, optional); err != nil {
		return fmt.Errorf("state_changes entry (%s): %w", kind, err)
	}
	*c = StateChange(f)
	return nil
}

// Validate reports the first rule of contract §5 that the block breaks: counts, lengths and characters, tab ids (present,
// unique), exactly one active tab unless there is none, tab_opened naming a listed tab, one change per download, only
// declared fields. A nil Tabs counts as empty; an empty StateChanges that is not nil is an error. Rules that need the
// call or the conversation are not checked here.
func (s *BrowserState) Validate() error {
	if len(s.Tabs) > MaxTabs {
		return fmt.Errorf("browser_state: %d tabs, at most %d are allowed", len(s.Tabs), MaxTabs)
	}
	if s.StateChanges != nil && len(s.StateChanges) == 0 {
		return errors.New("browser_state: state_changes is empty, leave it out")
	}
	if len(s.StateChanges) > MaxStateChanges {
		return fmt.Errorf("browser_state: %d state changes, at most %d are allowed", len(s.StateChanges), MaxStateChanges)
	}
	open := make(map[string]bool, len(s.Tabs))
	active := 0
	for i, tab := range s.Tabs {
		if err := tab.validate(); err != nil {
			return fmt.Errorf("browser_state: tabs[%d]: %w", i, err)
		}
		if open[tab.TabID] {
			return fmt.Errorf("browser_state: tabs[%d]: duplicate tab_id %s", i, quote(tab.TabID))
		}
		open[tab.TabID] = true
		if tab.Active {
			active++
		}
	}
	if len(s.Tabs) > 0 && active != 1 {
		return fmt.Errorf("browser_state: %d active tabs, exactly one is required", active)
	}
	opened, downloads := map[string]bool{}, map[string]bool{}
	for i, change := range s.StateChanges {
		if err := change.validate(); err != nil {
			return fmt.Errorf("browser_state: state_changes[%d]: %w", i, err)
		}
		id, seen := change.DownloadID, downloads
		if change.Type == TabOpened {
			id, seen = change.TabID, opened
			if !open[id] {
				return fmt.Errorf("browser_state: state_changes[%d]: tab_opened names %s, which is not in tabs", i, quote(id))
			}
		}
		if seen[id] {
			return fmt.Errorf("browser_state: state_changes[%d]: a second change for %s", i, quote(id))
		}
		seen[id] = true
	}
	return nil
}

func (t Tab) validate() error {
	if t.TabID == "" {
		return errors.New("tab_id is empty")
	}
	return checkFields(field{"tab_id", t.TabID}, field{"title", t.Title}, field{"url", t.URL})
}

func (c StateChange) validate() error {
	declared := StateChange{Type: c.Type}
	switch c.Type {
	case TabOpened:
		declared.TabID = c.TabID
	case DownloadStarted, DownloadCompleted, DownloadFailed:
		if c.DownloadID == "" {
			return errors.New("download_id is empty")
		}
		declared.DownloadID, declared.URL = c.DownloadID, c.URL
	default:
		return fmt.Errorf("unknown type %s", quote(string(c.Type)))
	}
	switch c.Type {
	case DownloadCompleted:
		declared.Path, declared.SizeBytes = c.Path, c.SizeBytes
	case DownloadFailed:
		declared.Error = c.Error
	}
	if c != declared {
		return fmt.Errorf("a field is set that %s does not declare", c.Type)
	}
	if c.SizeBytes != nil && *c.SizeBytes < 0 {
		return fmt.Errorf("size_bytes is %d, it must not be negative", *c.SizeBytes)
	}
	return checkFields(field{"download_id", c.DownloadID}, field{"url", c.URL}, field{"path", c.Path}, field{"error", c.Error})
}

type field struct{ name, value string }

func checkFields(fields ...field) error {
	for _, f := range fields {
		if !utf8.ValidString(f.value) {
			return fmt.Errorf("%s is not valid UTF-8", f.name)
		}
		if n := utf8.RuneCountInString(f.value); n > MaxField {
			return fmt.Errorf("%s has %d characters, at most %d are allowed", f.name, n, MaxField)
		}
		if at := strings.IndexFunc(f.value, breaksLine); at >= 0 {
			r, _ := utf8.DecodeRuneInString(f.value[at:])
			return fmt.Errorf("%s holds %U, a control character or line separator", f.name, r)
		}
	}
	return nil
}

// breaksLine reports the characters that the API refuses in a browser_state: controls and Unicode's line and paragraph
// separators.
func breaksLine(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }
