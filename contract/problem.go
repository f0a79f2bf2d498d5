package contract

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// StateRule names a rule that the API applies to a browser_state block (contract §5 and §7).
type StateRule string

// The rules of a browser_state block that need neither its call nor the conversation.
const (
	StateShape      StateRule = "state-shape"       // a field is missing or of another type
	StateField      StateRule = "state-field"       // a field is not declared
	StateTabs       StateRule = "state-tabs"        // more than MaxTabs tabs
	StateChanges    StateRule = "state-changes"     // more than MaxStateChanges changes
	StateNoChanges  StateRule = "state-no-changes"  // state_changes is an empty list
	StateActive     StateRule = "state-active"      // not exactly one active tab
	StateText       StateRule = "state-text"        // a string longer than MaxField
	StateControl    StateRule = "state-control"     // a string with a control character or a line separator
	TabIDEmpty      StateRule = "tab-id-empty"      //
	TabIDTwice      StateRule = "tab-id-twice"      // two tabs of the same tab_id
	ChangeKind      StateRule = "change-type"       // an entry of state_changes of an unknown type
	TabOpenedListed StateRule = "tab-opened-listed" // tab_opened names a tab that is not in tabs
	TabOpenedTwice  StateRule = "tab-opened-twice"  //
	DownloadIDEmpty StateRule = "download-id-empty" //
	DownloadTwice   StateRule = "download-twice"    // two changes of one download_id
	DownloadSize    StateRule = "download-size"     // size_bytes is negative
)

// Problem is something in a browser_state block that the API rejects.
type Problem struct {
	Rule StateRule
	// Path is the place within the block, such as "tabs[2].title". Empty means the block itself.
	Path string
	// Got says what is there, Want what must be there.
	Got, Want string
}

// Error is one line.
func (p Problem) Error() string {
	where := "browser_state"
	if p.Path != "" {
		where += ": " + p.Path
	}
	return fmt.Sprintf("%s: %s; there must be %s", where, p.Got, p.Want)
}

// CheckState reads a browser_state block and lists everything in it that the API rejects. What is in the strings and lists is looked
// at only when the shape is right. The block is nil when data is no JSON object.
func CheckState(data []byte) (*BrowserState, []Problem) {
	var r stateReader
	state := r.state(data)
	if state == nil || slices.ContainsFunc(r.problems, func(p Problem) bool { return p.Rule == StateShape }) {
		return state, r.problems
	}
	type place struct {
		rule StateRule
		path string
	}
	told := make(map[place]bool, len(r.problems))
	for _, p := range r.problems {
		told[place{p.Rule, p.Path}] = true
	}
	for _, p := range state.Problems() {
		if !told[place{p.Rule, p.Path}] {
			r.problems = append(r.problems, p)
		}
	}
	return state, r.problems
}

// Validate returns the first of [BrowserState.Problems], or nil.
func (s *BrowserState) Validate() error {
	if problems := s.Problems(); len(problems) > 0 {
		return problems[0]
	}
	return nil
}

// Problems lists what the API rejects in the block (contract §5). An empty StateChanges that is not nil is among it. Rules that need
// the call or the conversation are not checked here.
func (s *BrowserState) Problems() []Problem {
	var list problems
	if n := len(s.Tabs); n > MaxTabs {
		list.add(StateTabs, "tabs", fmt.Sprintf("%d tabs", n), fmt.Sprintf("at most %d", MaxTabs))
	}
	switch n := len(s.StateChanges); {
	case n > MaxStateChanges:
		list.add(StateChanges, "state_changes", fmt.Sprintf("%d state changes", n), fmt.Sprintf("at most %d", MaxStateChanges))
	case n == 0 && s.StateChanges != nil:
		list.add(StateNoChanges, "state_changes", "an empty list", "a change, or no such field")
	}
	open := make(map[string]bool, len(s.Tabs))
	active := 0
	for i, tab := range s.Tabs {
		path := fmt.Sprintf("tabs[%d].", i)
		switch {
		case tab.TabID == "":
			list.add(TabIDEmpty, path+"tab_id", "an empty tab_id", "a text")
		case open[tab.TabID]:
			list.add(TabIDTwice, path+"tab_id", "a second tab "+quote(tab.TabID), "a tab_id of its own")
		}
		open[tab.TabID] = true
		list.text(path+"tab_id", tab.TabID)
		list.text(path+"title", tab.Title)
		list.text(path+"url", tab.URL)
		if tab.Active {
			active++
		}
	}
	if len(s.Tabs) > 0 && active != 1 {
		list.add(StateActive, "tabs", fmt.Sprintf("%d active tabs", active), "exactly one")
	}
	opened, downloads := map[string]bool{}, map[string]bool{}
	for i, change := range s.StateChanges {
		path := fmt.Sprintf("state_changes[%d].", i)
		list.change(path, change)
		switch {
		case change.Type == TabOpened && opened[change.TabID]:
			list.add(TabOpenedTwice, path+"tab_id", "a second tab_opened for "+quote(change.TabID), "one for a tab")
		case change.Type == TabOpened:
			opened[change.TabID] = true
			if !open[change.TabID] {
				list.add(TabOpenedListed, path+"tab_id", quote(change.TabID)+", which is not in tabs", "a tab of the inventory")
			}
		case change.DownloadID != "" && downloads[change.DownloadID]:
			list.add(DownloadTwice, path+"download_id", "a second change for "+quote(change.DownloadID), "one for a download_id")
		default:
			downloads[change.DownloadID] = true
		}
	}
	return list
}

type problems []Problem

func (l *problems) add(rule StateRule, path, got, want string) {
	*l = append(*l, Problem{rule, path, got, want})
}

// change checks one entry by itself.
func (l *problems) change(path string, c StateChange) {
	declared := StateChange{Type: c.Type}
	switch c.Type {
	case TabOpened:
		declared.TabID = c.TabID
	case DownloadStarted, DownloadCompleted, DownloadFailed:
		declared.DownloadID, declared.URL = c.DownloadID, c.URL
		if c.DownloadID == "" {
			l.add(DownloadIDEmpty, path+"download_id", "an empty download_id", "a text")
		}
	default:
		l.add(ChangeKind, path+"type", quote(string(c.Type)), changeTypes)
		return
	}
	switch c.Type {
	case DownloadCompleted:
		declared.Path, declared.SizeBytes = c.Path, c.SizeBytes
	case DownloadFailed:
		declared.Error = c.Error
	}
	if c != declared {
		l.add(StateField, strings.TrimSuffix(path, "."), "a field that "+string(c.Type)+" does not declare", "none")
	}
	if c.SizeBytes != nil && *c.SizeBytes < 0 {
		l.add(DownloadSize, path+"size_bytes", strconv.FormatInt(*c.SizeBytes, 10), "no negative number")
	}
	l.text(path+"download_id", c.DownloadID)
	l.text(path+"url", c.URL)
	l.text(path+"path", c.Path)
	l.text(path+"error", c.Error)
}

const changeTypes = "tab_opened, download_started, download_completed or download_failed"

func (l *problems) text(path, s string) {
	if problem, bad := CheckField(s); bad {
		problem.Path = path
		*l = append(*l, problem)
	}
}

// CheckField says what the API rejects in a string of a browser_state block, and in the tab_id of a switch_tab and close_tab call,
// which it renders (contract §5). False means nothing.
func CheckField(s string) (Problem, bool) {
	if !utf8.ValidString(s) {
		return Problem{Rule: StateControl, Got: "invalid UTF-8", Want: "text"}, true
	}
	if n := utf8.RuneCountInString(s); n > MaxField {
		return Problem{Rule: StateText, Got: fmt.Sprintf("%d characters", n), Want: fmt.Sprintf("at most %d", MaxField)}, true
	}
	if at := strings.IndexFunc(s, breaksLine); at >= 0 {
		r, _ := utf8.DecodeRuneInString(s[at:])
		return Problem{Rule: StateControl, Got: fmt.Sprintf("%U", r), Want: "no control character and no line separator"}, true
	}
	return Problem{}, false
}

// breaksLine reports the characters that the API refuses in a browser_state: controls and Unicode's line and paragraph
// separators.
func breaksLine(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

// stateReader reads a block as strictly as the API does, and notes what is wrong with its shape.
type stateReader struct{ problems problems }

func (r *stateReader) state(data []byte) *BrowserState {
	o, ok := r.object(data, "")
	if !ok {
		return nil
	}
	r.fields(o, "", []string{"type", "tabs"}, []string{"state_changes", "cache_control"})
	s := &BrowserState{}
	for i, raw := range r.list(o, "tabs") {
		s.Tabs = append(s.Tabs, r.tab(raw, fmt.Sprintf("tabs[%d]", i)))
	}
	if !o.has("state_changes") {
		return s
	}
	s.StateChanges = []StateChange{}
	for i, raw := range r.list(o, "state_changes") {
		s.StateChanges = append(s.StateChanges, r.change(raw, fmt.Sprintf("state_changes[%d]", i)))
	}
	return s
}

func (r *stateReader) tab(raw json.RawMessage, path string) Tab {
	o, ok := r.object(raw, path)
	if !ok {
		return Tab{}
	}
	r.fields(o, path, []string{"tab_id", "title", "url"}, []string{"active"})
	t := Tab{TabID: r.text(o, path, "tab_id"), Title: r.text(o, path, "title"), URL: r.text(o, path, "url")}
	if o.has("active") && json.Unmarshal(o["active"], &t.Active) != nil {
		r.problems.add(StateShape, path+".active", shown(o["active"]), "true or false")
	}
	return t
}

func (r *stateReader) change(raw json.RawMessage, path string) StateChange {
	o, ok := r.object(raw, path)
	if !ok {
		return StateChange{}
	}
	c := StateChange{Type: ChangeType(r.text(o, path, "type"))}
	required := []string{"type", "download_id", "url"}
	var optional []string
	switch c.Type {
	case TabOpened:
		required = []string{"type", "tab_id"}
	case DownloadStarted:
	case DownloadCompleted:
		optional = []string{"path", "size_bytes"}
	case DownloadFailed:
		optional = []string{"error"}
	default:
		r.problems.add(ChangeKind, path+".type", shown(o["type"]), changeTypes)
		return c
	}
	r.fields(o, path, required, optional)
	for _, name := range append(required, optional...) {
		switch name {
		case "tab_id":
			c.TabID = r.text(o, path, name)
		case "download_id":
			c.DownloadID = r.text(o, path, name)
		case "url":
			c.URL = r.text(o, path, name)
		case "path":
			c.Path = r.text(o, path, name)
		case "error":
			c.Error = r.text(o, path, name)
		case "size_bytes":
			if o.has(name) && json.Unmarshal(o[name], &c.SizeBytes) != nil {
				r.problems.add(StateShape, path+".size_bytes", shown(o[name]), "an integer")
			}
		}
	}
	return c
}

func (r *stateReader) object(raw json.RawMessage, path string) (object, bool) {
	var o object
	if json.Unmarshal(raw, &o) != nil || o == nil {
		r.problems.add(StateShape, path, shown(raw), "an object")
		return nil, false
	}
	return o, true
}

// fields notes which fields of an object are missing and which are not declared.
func (r *stateReader) fields(o object, path string, required, optional []string) {
	if path != "" {
		path += "."
	}
	for _, name := range required {
		if !o.has(name) {
			r.problems.add(StateShape, path+name, "nothing", "a value")
		}
	}
	var undeclared []string
	for name := range o {
		if !slices.Contains(required, name) && !slices.Contains(optional, name) {
			undeclared = append(undeclared, name)
		}
	}
	slices.Sort(undeclared)
	for _, name := range undeclared {
		r.problems.add(StateField, strings.TrimSuffix(path, "."), "the field "+quote(name), "only "+strings.Join(append(required, optional...), ", "))
	}
}

func (r *stateReader) list(o object, name string) []json.RawMessage {
	var list []json.RawMessage
	if o.has(name) && json.Unmarshal(o[name], &list) != nil {
		r.problems.add(StateShape, name, shown(o[name]), "a list")
	}
	return list
}

func (r *stateReader) text(o object, path, name string) string {
	s, ok := o.text(name)
	if !ok && o.has(name) {
		r.problems.add(StateShape, path+"."+name, shown(o[name]), "a text")
	}
	return s
}

// shown quotes a value of any type for a one-line message, bounded.
func shown(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil && !isAbsent(raw) {
		return quote(s)
	}
	const limit = 64
	text := []rune(strings.Join(strings.Fields(string(raw)), " "))
	if len(text) > limit {
		return string(text[:limit]) + "…"
	}
	return string(text)
}
