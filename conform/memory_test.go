package conform_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/html"

	"github.com/pagehand/pagehand/conform"
	"github.com/pagehand/pagehand/contract"
)

// memory is an executor without a browser: it loads pages over HTTP, runs no scripts, and knows of layout only that what follows a tall
// element is below the fold. It does what the contract says, unless it is told a fault.
type memory struct {
	fault    string
	settings conform.Settings
	session  *session
}

// session is what a reset replaces.
type session struct {
	tabs     []*tab
	active   *tab
	opened   int // tabs ever
	refs     int // ever
	shots    int
	reported string
	fresh    []string // tabs that the running call opened

	mu        sync.Mutex
	downloads int
	pending   []change
}

type change = map[string]any

type tab struct {
	id      string
	history []*page
	at      int
}

type page struct {
	url, title string
	body       *html.Node
	refs       map[*html.Node]int
	values     map[*html.Node]string
	focus      *html.Node
}

// failure is an error for the model, without its prefix.
type failure string

func (f failure) Error() string { return string(f) }

func failf(format string, args ...any) error { return failure(fmt.Sprintf(format, args...)) }

func inMemory(fault string) conform.Start {
	return func(context.Context) (conform.Executor, error) {
		m := &memory{fault: fault}
		m.reset()
		return m, nil
	}
}

func (m *memory) is(fault string) bool { return m.fault == fault }

func (m *memory) Close() error { return nil }

// allowed tells whether a host may be reached: what the settings list, and before there are any, everything.
func (m *memory) allowed(host string) bool {
	return m.is("every host is allowed") || m.settings.Hosts == nil || slices.Contains(m.settings.Hosts, host)
}

func (m *memory) reset() {
	m.session = &session{}
	m.session.active = m.session.open(blank())
}

func blank() *page { return newPage("about:blank", &html.Node{Type: html.DocumentNode}) }

func newPage(address string, document *html.Node) *page {
	p := &page{url: address, body: document, refs: map[*html.Node]int{}, values: map[*html.Node]string{}}
	for n := range document.Descendants() {
		if n.Data == "title" && n.Type == html.ElementNode {
			p.title = text(n)
		}
	}
	return p
}

func (s *session) open(p *page) *tab {
	s.opened++
	t := &tab{id: fmt.Sprintf("t%d", s.opened), history: []*page{p}}
	s.tabs = append(s.tabs, t)
	return t
}

func (t *tab) page() *page { return t.history[t.at] }

func (t *tab) load(p *page) {
	t.history = append(t.history[:t.at+1], p)
	t.at++
}

// Exchange answers a turn or a control line.
func (m *memory) Exchange(ctx context.Context, value []byte) ([]byte, error) {
	control, err := conform.ParseControl(value)
	switch {
	case err != nil || control != nil && m.is("no configure"):
		return []byte(`{"error":{"type":"invalid_input","message":"not a turn"}}`), nil
	case control != nil && control.Configure != nil:
		m.settings = *control.Configure
		m.reset()
		return []byte(`{"ok":true}`), nil
	case control != nil && m.is("no reset"):
		return []byte(`{"error":{"message":"no reset"}}`), nil
	case control != nil:
		m.reset()
		return []byte(`{"ok":true}`), nil
	case m.is("silent"):
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	var message struct{ Content []json.RawMessage }
	if err := json.Unmarshal(value, &message); err != nil {
		return nil, err
	}
	results, failed := []any{}, false
	for _, raw := range message.Content {
		var use contract.ToolUse
		if json.Unmarshal(raw, &use) != nil {
			continue // text
		}
		if use.ToolsetName != contract.ToolsetName && !(m.is("runs custom tools") && use.ToolsetName == "" || m.is("answers foreign calls") && use.Name == "get_weather" || m.is("runs other toolsets") && use.ToolsetName == "computer") {
			continue
		}
		result := m.answer(use, failed)
		if failed && m.is("drops halted calls") {
			continue
		}
		results = append(results, result)
		failed = failed || result["is_error"] == true
	}
	if len(results) == 0 && m.is("answers where nothing was asked") {
		results = append(results, map[string]any{"type": "tool_result", "tool_use_id": "toolu_x", "toolset_name": "browser", "content": "Nothing to do."})
	}
	if m.is("reverses results") {
		slices.Reverse(results)
	}
	answer := map[string]any{"role": "user", "content": results}
	if m.is("answers as assistant") {
		answer["role"] = "assistant"
	}
	return json.Marshal(answer)
}

// answer runs a call and makes its result.
func (m *memory) answer(use contract.ToolUse, failedBefore bool) map[string]any {
	result := map[string]any{"type": "tool_result", "tool_use_id": use.ID, "toolset_name": "browser"}
	refuse := func(message string) map[string]any {
		result["is_error"], result["content"] = true, []any{textBlock(message)}
		if m.is("errors as success") {
			delete(result, "is_error")
		}
		if m.is("state on errors") && !failedBefore {
			result["content"] = append(result["content"].([]any), m.state(use.Name))
		}
		if m.is("errors without toolset_name") {
			delete(result, "toolset_name")
		}
		return result
	}
	if failedBefore && !m.is("goes on after a failure") {
		switch {
		case m.is("another halt text"):
			return refuse("Error: Not executed.")
		case m.is("halted calls succeed"):
			result["content"] = contract.HaltText
			return result
		}
		return refuse(contract.HaltText)
	}
	m.session.fresh = nil
	blocks, err := m.run(use)
	if err != nil {
		if m.is("errors without prefix") {
			return refuse(err.Error())
		}
		if m.is("loses downloads on errors") {
			m.session.take()
		}
		return refuse("Error: " + err.Error())
	}
	if m.is("wrong id") && use.Name == "hover" {
		result["tool_use_id"] = "toolu_other"
	}
	result["content"] = m.withState(use.Name, blocks)
	return result
}

func textBlock(s string) map[string]any { return map[string]any{"type": "text", "text": s} }

var tabMembers = []string{"new_tab", "list_tabs", "switch_tab", "close_tab"}

// withState adds the browser_state where it belongs.
func (m *memory) withState(member string, blocks []any) []any {
	state := m.state(member)
	tabs, _ := json.Marshal(state["tabs"])
	changed := string(tabs) != m.session.reported || state["state_changes"] != nil
	m.session.reported = string(tabs)
	switch {
	case m.is("lists tabs as text") && member == "list_tabs":
		return []any{textBlock("Available tabs:\n" + string(tabs))}
	case m.is("text beside new tabs") && member == "new_tab":
		return []any{textBlock("Opened."), state}
	case m.is("nothing for the same tab") && member == "switch_tab" && !changed:
		return []any{textBlock("It is active already.")}
	case slices.Contains(tabMembers, member):
		return []any{state}
	case m.is("screenshot state without text") && member == "screenshot":
		return append(blocks, state)
	case !changed || m.is("no state on navigation") && member == "navigate":
		return blocks
	case member == "screenshot":
		blocks = append([]any{textBlock("Screenshot captured.")}, blocks...)
	case m.is("renders the footer") && len(m.session.active.history) > 2:
		blocks[0].(map[string]any)["text"] = blocks[0].(map[string]any)["text"].(string) + "\n\nTab Context:\n- Executed on tab_id: " + m.session.active.id
	case m.is("two states") && len(m.session.tabs) > 1:
		blocks = append(blocks, state)
	}
	return append(blocks, state)
}

func (m *memory) state(member string) map[string]any {
	s := m.session
	tabs := []any{}
	for _, t := range s.tabs {
		if m.is("tabs as a delta") && t != s.active {
			continue
		}
		p := t.page()
		entry := map[string]any{"tab_id": t.id, "title": m.title(p.title), "url": contract.CleanURL(p.url)}
		if m.is("keeps userinfo") {
			entry["url"] = p.url
		}
		if t == s.active {
			entry["active"] = true
		}
		tabs = append(tabs, entry)
	}
	state := map[string]any{"type": "browser_state", "tabs": tabs}
	var changes []change
	for _, id := range s.fresh {
		if m.is("popups are not reported") && member != "new_tab" || m.is("new tabs are not reported") && member == "new_tab" {
			continue
		}
		changes = append(changes, change{"type": "tab_opened", "tab_id": id})
	}
	if m.is("popups are reported again") && s.opened > 1 && member == "list_tabs" {
		changes = append(changes, change{"type": "tab_opened", "tab_id": s.tabs[len(s.tabs)-1].id})
	}
	downloads := s.take()
	if m.is("downloads end twice") && len(downloads) > 0 && downloads[0]["type"] == "download_completed" {
		s.pending = downloads
	}
	if changes = append(changes, downloads...); len(changes) > 0 || m.is("empty state_changes") && member == "list_tabs" {
		state["state_changes"] = append([]change{}, changes...)
	}
	return state
}

func (s *session) take() []change {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.pending
	s.pending = nil
	return taken
}

func (m *memory) title(t string) string {
	switch {
	case m.is("titles are not cut"):
		return strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x2028 || r == 0x2029 {
				return -1
			}
			return r
		}, t)
	case m.is("titles keep control characters") && len(t) < 4096:
		return strings.NewReplacer("\u2028", " ", "\u2029", " ", "\n", " ").Replace(t)
	case m.is("titles keep line separators") && len(t) < 4096:
		return strings.ReplaceAll(t, "\n", " ")
	case m.is("titles are cut in bytes") && len(t) > 4096:
		return t[:4095]
	case m.is("titles are escaped"):
		return html.EscapeString(contract.CleanTitle(t))
	}
	return contract.CleanTitle(t)
}

func (m *memory) tab(id string) *tab {
	for _, t := range m.session.tabs {
		if t.id == id {
			return t
		}
	}
	return nil
}

func say(format string, args ...any) ([]any, error) {
	return []any{textBlock(fmt.Sprintf(format, args...))}, nil
}

// call does what a member does.
func (m *memory) call(name string, in map[string]any) ([]any, error) {
	t := m.session.active
	if id, ok := in["tab_id"].(string); ok {
		t = m.tab(id)
		if m.is("a tab_id activates") {
			m.session.active = t
		}
	}
	if slices.Contains(tabMembers, name) {
		return nil, m.manage(name, t)
	}
	if t == nil {
		return nil, failf("t%d is not open. Call list_tabs to see the open tabs.", m.session.opened)
	}
	switch name {
	case "navigate":
		return m.navigate(t, in["url"].(string))
	case "screenshot":
		m.session.shots++
		w, h := m.frame()
		if m.is("screenshots grow") {
			w += m.session.shots
		}
		return picture(w, h)
	case "zoom":
		return m.zoom(in["region"].([]any))
	case "read_page":
		return m.read(t, in)
	case "find":
		return m.find(t, in["query"].(string))
	case "get_page_text":
		return m.pageText(t)
	case "type":
		if p := t.page(); p.focus != nil {
			p.values[p.focus] = p.value(p.focus) + in["text"].(string)
		}
		return say("Typed.")
	case "wait":
		return say("Waited.")
	case "key", "hold_key":
		return pressKeys(name, in["text"].(string))
	}
	return m.point(t, name, in)
}

func pressKeys(name, keys string) ([]any, error) {
	chords := strings.Fields(keys)
	if name == "hold_key" && len(chords) != 1 {
		return nil, failure("hold_key takes no sequence.")
	}
	for _, chord := range chords {
		for key := range strings.SplitSeq(chord, "+") {
			if len(key) > 1 && !slices.Contains([]string{"shift", "Shift", "ctrl", "alt", "meta", "Enter", "Tab", "Home", "End", "Backspace", "Escape"}, key) {
				return nil, failf("There is no key %s.", key)
			}
		}
	}
	return say("Pressed %s.", keys)
}

func (m *memory) manage(name string, t *tab) error {
	s := m.session
	switch name {
	case "new_tab":
		opened := s.open(blank())
		s.fresh = []string{opened.id}
		if !m.is("new tabs stay behind") {
			s.active = opened
		}
	case "switch_tab":
		s.active = t
	case "close_tab":
		if len(s.tabs) == 1 && m.is("the last tab stays") {
			return failure("The last tab can't be closed.")
		}
		s.tabs = slices.DeleteFunc(s.tabs, func(o *tab) bool { return o == t })
		if m.is("tab ids are reused") {
			s.opened--
		}
		if s.active == t && !m.is("no tab becomes active") {
			s.active = nil
			if len(s.tabs) > 0 {
				s.active = s.tabs[len(s.tabs)-1]
			}
		}
		if s.active != t && m.is("closing activates the first") && len(s.tabs) > 0 {
			s.active = s.tabs[0]
		}
	}
	return nil
}

func picture(w, h int) ([]any, error) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		return nil, err
	}
	return []any{map[string]any{"type": "image", "source": map[string]any{"type": "base64", "media_type": "image/png", "data": b.Bytes()}}}, nil
}

func (m *memory) zoom(region []any) ([]any, error) {
	w, h := int(region[2].(float64)-region[0].(float64)), int(region[3].(float64)-region[1].(float64))
	frameW, frameH := m.frame()
	switch {
	case m.is("zoom is stretched"):
		return picture(frameW, frameH)
	case m.is("zoom only crops"):
		return picture(w, h)
	}
	scale := min(float64(frameW)/float64(w), float64(frameH)/float64(h))
	return picture(int(math.Round(float64(w)*scale)), int(math.Round(float64(h)*scale)))
}

const refused = failure("Navigation refused. Only http and https URLs are allowed.")

func (m *memory) navigate(t *tab, address string) ([]any, error) {
	step := map[string]int{"back": -1, "forward": 1}[address]
	switch {
	case step != 0 && (t.at+step < 0 || t.at+step >= len(t.history)):
		return nil, failure("There is no such page in this tab's history.")
	case step != 0:
		if !m.is("history does not move") {
			t.at += step
		}
		return say("Navigated to %s", t.page().url)
	case address == "reload":
		address = t.page().url
	}
	parsed, err := m.address(address)
	if err != nil {
		return nil, err
	}
	if before := *parsed; t.page().url != "" {
		before.Fragment = ""
		if current, _, _ := strings.Cut(t.page().url, "#"); parsed.Fragment != "" && before.String() == current {
			t.page().url = parsed.String()
			return say("Navigated to %s", parsed)
		}
	}
	asked := parsed.String()
	p, err := m.fetch(parsed)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return say("The address is a download.")
	}
	t.load(p)
	switch {
	case m.is("navigate names the asked address"):
		return say("Navigated to %s", asked)
	case m.is("navigate is silent"):
		return say("Done.")
	}
	return say("Navigated to %s", contract.CleanURL(p.url))
}

// address reads an address nearly as a browser does.
func (m *memory) address(given string) (*url.URL, error) {
	clean := strings.TrimFunc(given, func(r rune) bool { return r <= ' ' })
	clean = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(clean)
	scheme, rest, ok := strings.Cut(clean, ":")
	scheme = strings.ToLower(scheme)
	switch {
	case m.is("schemes are judged by prefix") && strings.HasPrefix(given, "http") && scheme != "http":
		return nil, failure("Navigation failed.")
	case m.is("about:blank is allowed") && given == "about:blank":
		return &url.URL{Scheme: "http", Host: "127.0.0.1:1"}, failure("Navigation to about:blank failed.")
	case m.is("another refusal") && scheme == "file":
		return nil, failure("Only http and https URLs are allowed.")
	case m.is("no scheme means http") && !strings.Contains(clean, "://") && strings.Contains(scheme, "."):
		return nil, failf("Navigation to http://%s failed.", clean)
	case !ok || strings.Contains(scheme, ".") || scheme == "localhost":
		return nil, failf("Navigation to https://%s failed: the server does not speak TLS.", clean)
	case scheme != "http" && scheme != "https":
		return nil, refused
	}
	parsed, err := url.Parse(scheme + ":" + rest)
	if err != nil {
		return nil, failf("Navigation refused: %v is no address.", given)
	}
	if !m.allowed(parsed.Host) {
		return nil, failf("Navigation refused: %s is not allowed.", parsed.Host)
	}
	return parsed, nil
}

// fetch loads a page; nil without an error is a download.
func (m *memory) fetch(address *url.URL) (*page, error) {
	limit := 30 * time.Second
	if m.settings.Timeout > 0 {
		limit = time.Duration(m.settings.Timeout * float64(time.Second))
	}
	ctx, cancel := context.WithCancel(context.Background())
	timer := time.AfterFunc(limit, cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return nil, failf("Navigation to %s failed.", address)
	}
	response, err := http.DefaultClient.Do(request)
	switch {
	case ctx.Err() != nil && m.is("another timeout text"):
		return nil, failure("Timed out.")
	case ctx.Err() != nil:
		return nil, failf("Navigation to %s timed out after %g seconds. The page may be unavailable.", address, limit.Seconds())
	case err != nil:
		return nil, failf("Navigation to %s failed.", address)
	}
	final := response.Request.URL
	if !m.allowed(final.Host) && !m.is("redirects are not checked") {
		response.Body.Close()
		return nil, failf("Navigation refused: %s is not allowed.", final.Host)
	}
	if response.Header.Get("Content-Disposition") != "" {
		timer.Stop()
		told := final.String()
		if m.is("downloads tell the first address") {
			told = address.String()
		}
		m.session.download(contract.CleanDownloadURL(told), told, m, response)
		return nil, nil
	}
	defer cancel()
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, failf("Navigation to %s timed out after %g seconds. The page may be unavailable.", address, limit.Seconds())
	}
	document, err := html.Parse(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return newPage(final.String(), document), nil
}

func (s *session) download(clean, raw string, m *memory, response *http.Response) {
	if m.is("downloads keep credentials") {
		clean = raw
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.downloads++
	id := fmt.Sprintf("d%d", s.downloads)
	if m.is("downloads share an id") {
		id = "d"
	}
	if !m.is("downloads do not start") {
		s.pending = append(s.pending, change{"type": "download_started", "download_id": id, "url": clean})
	}
	go func() {
		defer response.Body.Close()
		size, err := io.Copy(io.Discard, response.Body)
		end := change{"type": "download_completed", "download_id": id, "url": clean, "size_bytes": size}
		switch {
		case err != nil && !m.is("broken downloads complete"):
			end = change{"type": "download_failed", "download_id": id, "url": clean, "error": "It broke off."}
		case m.is("sizes are wrong"):
			end["size_bytes"] = size / 2
		case m.is("undeclared fields"):
			end["mime_type"] = "text/csv"
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.pending = slices.DeleteFunc(s.pending, func(c change) bool { return c["download_id"] == id })
		s.pending = append(s.pending, end)
	}()
}

// element finds what a ref means in a tab.
func (m *memory) element(t *tab, ref string) (*html.Node, error) {
	pages := []*page{t.page()}
	if m.is("refs outlive navigation") {
		pages = t.history
	}
	if m.is("refs work on every tab") {
		for _, other := range m.session.tabs {
			pages = append(pages, other.page())
		}
	}
	for _, p := range pages {
		for n, number := range p.refs {
			if ref == fmt.Sprintf("ref_%d", number) {
				return n, nil
			}
		}
	}
	switch {
	case m.is("stale refs are not named"):
		return nil, failure("The ref is stale or not found on the current page. Re-read the page to get fresh references.")
	case m.is("another stale text"):
		return nil, failf("%s is stale.", ref)
	}
	return nil, failf("%s is stale or not found on the current page. Re-read the page to get fresh references.", contract.CleanField(ref))
}

// point does what the members do that have a target.
func (m *memory) point(t *tab, name string, in map[string]any) ([]any, error) {
	target := in["target"].(map[string]any)
	ref, ok := target["ref"].(string)
	if !ok {
		return m.act(t, name, t.page().cover(), "there", in)
	}
	n, err := m.element(t, ref)
	if err != nil {
		return nil, err
	}
	return m.act(t, name, n, "element "+ref, in)
}

// cover is the link that fills the viewport, if there is one.
func (p *page) cover() *html.Node {
	for n := range p.body.Descendants() {
		if n.Data == "a" && strings.Contains(attribute(n, "style"), "inset:0") {
			return n
		}
	}
	return nil
}

func (m *memory) act(t *tab, name string, n *html.Node, where string, in map[string]any) ([]any, error) {
	p := t.page()
	switch name {
	case "form_input":
		return m.setValue(p, n, in["value"])
	case "left_click":
		if n != nil {
			if err := m.follow(t, n, in); err != nil {
				return nil, err
			}
		}
		return say("Clicked %s.", where)
	}
	return say("Done %s.", where)
}

// follow does what a click does.
func (m *memory) follow(t *tab, n *html.Node, in map[string]any) error {
	p := t.page()
	if n.Data != "a" {
		p.focus = n
		return nil
	}
	base, err := url.Parse(p.url)
	if err != nil {
		return err
	}
	address, err := base.Parse(attribute(n, "href"))
	if err != nil {
		return err
	}
	next, err := m.fetch(address)
	if err != nil || next == nil {
		return err
	}
	if attribute(n, "target") != "_blank" && in["modifiers"] != "ctrl" {
		t.load(next)
		return nil
	}
	popup := m.session.open(next)
	m.session.fresh = append(m.session.fresh, popup.id)
	if m.is("popups become active") {
		m.session.active = popup
	}
	return nil
}

func (m *memory) setValue(p *page, n *html.Node, value any) ([]any, error) {
	switch {
	case n.Data != "input" && n.Data != "textarea" && n.Data != "select" && !m.is("anything is set"):
		return nil, failure("It is no form element.")
	case has(n, "disabled") && !m.is("disabled fields are set"):
		return nil, failure("It is disabled.")
	}
	p.values[n] = fmt.Sprint(value)
	if attribute(n, "type") == "password" && !m.is("passwords are told") {
		return say("Set it. Its value is not shown.")
	}
	return say("Set it to %v.", value)
}

func (p *page) value(n *html.Node) string {
	if v, ok := p.values[n]; ok {
		return v
	}
	return attribute(n, "value")
}
