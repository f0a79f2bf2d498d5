package contract

import "fmt"

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

// UnmarshalJSON reads a browser_state block and refuses a shape that the API refuses: undeclared and missing fields, and values of
// another type. An empty state_changes list is kept, for Validate to report.
func (s *BrowserState) UnmarshalJSON(data []byte) error {
	var r stateReader
	state := r.state(data)
	if len(r.problems) > 0 {
		return r.problems[0]
	}
	*s = *state
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
