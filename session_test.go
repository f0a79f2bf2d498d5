package pagehand_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/pagehand/pagehand"
	"github.com/pagehand/pagehand/check"
	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/egress"
	"github.com/pagehand/pagehand/internal/browsertest"
	"github.com/pagehand/pagehand/internal/chrome"
)

// newSession opens a session that may reach the tests' own servers.
func newSession(t *testing.T, b *pagehand.Browser, o pagehand.SessionOptions) *pagehand.Session {
	t.Helper()
	rules, err := egress.Parse(egress.Options{AllowPrivate: true})
	if err != nil {
		t.Fatal(err)
	}
	o.Destinations = rules
	s, err := b.NewSession(t.Context(), &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func serveHTML(t *testing.T, html string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, html)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestTurnHalts: the first failure of any kind halts the batch, and every call is answered (contract §1).
func TestTurnHalts(t *testing.T) {
	t.Parallel()
	s := newSession(t, browsertest.Browser(t), pagehand.SessionOptions{})
	url := serveHTML(t, `<title>T</title><button onclick="document.title += '!'">Go</button>`)
	for name, failing := range map[string]pagehand.Call{
		"bad input": call(2, "left_click", `{"target":5}`),
		"disabled":  call(2, "javascript_exec", `{"text":"1"}`),
		"unknown":   call(2, "fly", `{}`),
		"refused":   call(2, "navigate", `{"url":"file:///etc/passwd"}`),
		"no object": call(2, "screenshot", `[1]`),
		"stale":     call(2, "scroll_to", `{"target":{"type":"ref","ref":"ref_77"}}`),
	} {
		calls := []pagehand.Call{
			call(1, "navigate", fmt.Sprintf(`{"url":%q}`, url)), failing,
			call(3, "left_click", `{"target":{"type":"coordinate","x":20,"y":20}}`), call(4, "list_tabs", `{}`),
		}
		results := s.RunTurn(t.Context(), calls)
		for _, f := range check.NewConversation(check.Options{}).Turn(calls, results) {
			t.Errorf("%s: %s", name, f)
		}
		if len(results) != 4 {
			t.Fatalf("%s: %d results for 4 calls", name, len(results))
		}
		for i, r := range results {
			text := new(contract.View).Render(calls[i], r)
			switch {
			case r.ToolUseID != fmt.Sprintf("toolu_%d", i+1) || r.ToolsetName != contract.ToolsetName || r.IsError != (i > 0):
				t.Errorf("%s: result %d is %+v", name, i, r)
			case i == 1 && !strings.HasPrefix(text, "Error: "), i > 1 && text != contract.HaltText:
				t.Errorf("%s: result %d says %q", name, i, text)
			case i > 0 && len(r.Content) != 1:
				t.Errorf("%s: an error result has %d blocks", name, len(r.Content))
			}
		}
		if title := s.Tabs()[0].Title; title != "T" {
			t.Errorf("%s: the call after the failure touched the page: title %q", name, title)
		}
	}
}

// TestTurnState: a browser_state comes with the call during which something changed, and only then (contract §5).
func TestTurnState(t *testing.T) {
	t.Parallel()
	s := newSession(t, browsertest.Browser(t), pagehand.SessionOptions{})
	url := serveHTML(t, `<title>T</title><button onclick="document.title += '!'">Go</button><p>Text</p>`)
	results := s.RunTurn(t.Context(), []pagehand.Call{
		call(1, "navigate", fmt.Sprintf(`{"url":%q}`, url)), call(2, "get_page_text", `{}`), call(3, "screenshot", `{}`),
		call(4, "left_click", `{"target":{"type":"coordinate","x":20,"y":20}}`), call(5, "screenshot", `{}`), call(6, "list_tabs", `{}`), call(7, "new_tab", `{}`),
	})
	want := []string{"text state", "text", "image", "text state", "image", "state", "state"}
	for i, r := range results {
		var kinds []string
		for _, block := range r.Content {
			switch block.(type) {
			case contract.Text:
				kinds = append(kinds, "text")
			case contract.Image:
				kinds = append(kinds, "image")
			case *contract.BrowserState:
				kinds = append(kinds, "state")
			}
		}
		if got := strings.Join(kinds, " "); got != want[i] {
			t.Errorf("result %d has %s, want %s", i+1, got, want[i])
		}
	}
	opened := results[6].Content[0].(*contract.BrowserState)
	if len(opened.StateChanges) != 1 || opened.StateChanges[0].TabID != "tab-2" {
		t.Errorf("new_tab reports %+v", opened.StateChanges)
	}
}

// TestTabLimit: a tab beyond the limit is refused, whoever opens it, and the page that asks for it goes on (contract §5).
func TestTabLimit(t *testing.T) {
	t.Parallel()
	s := newSession(t, browsertest.Browser(t), pagehand.SessionOptions{Timeout: 10 * time.Second})
	url := serveHTML(t, `<title>T</title><button onclick="window.open(location); document.title = 'went on'">Open</button>`)
	s.LimitTabs(2)
	succeed(t, s, "new_tab", `{}`)
	if r := s.Do(t.Context(), call(1, "new_tab", `{}`)); !r.IsError {
		t.Errorf("new_tab: %d tabs are open", len(s.Tabs()))
	}
	succeed(t, s, "navigate", fmt.Sprintf(`{"url":%q}`, url))
	succeed(t, s, "left_click", `{"target":{"type":"coordinate","x":20,"y":20}}`)
	tabs := s.Tabs()
	if len(tabs) != 2 || tabs[1].Title != "went on" {
		t.Errorf("after a popup: %d tabs, the last with title %q", len(tabs), tabs[len(tabs)-1].Title)
	}
}

// TestImpossibleOptions: what no tab can look like is an error of the operator's.
func TestImpossibleOptions(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]pagehand.SessionOptions{
		"no height":   {Viewport: pagehand.Size{Width: 800}},
		"too wide":    {Viewport: pagehand.Size{Width: 10_001, Height: 600}},
		"no locale":   {Locale: "!!"},
		"no room":     {MaxChars: 199},
		"tiny scale":  {Scale: 0.01},
		"scale NaN":   {Scale: math.NaN()},
		"scale below": {Scale: -1},
	} {
		if s, err := browsertest.Browser(t).NewSession(t.Context(), &o); err == nil {
			t.Errorf("%s: accepted", name)
			s.Close()
		}
	}
}

// TestFirstTabIsActive: a tab that appears while none is open is active without being asked for, since one of the tabs of a browser_state
// must be (contract §5).
func TestFirstTabIsActive(t *testing.T) {
	t.Parallel()
	s := newSession(t, browsertest.Browser(t), pagehand.SessionOptions{})
	succeed(t, s, "close_tab", `{"tab_id":"tab-1"}`)
	if err := s.OpenUnasked(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := (&contract.BrowserState{Tabs: s.Tabs()}).Validate(); err != nil {
		t.Error(err)
	}
}

// TestSessionsShareNothing: cookies, storage, cache and references of one session are not another's.
func TestSessionsShareNothing(t *testing.T) {
	t.Parallel()
	b := browsertest.Browser(t)
	url := serveHTML(t, `<title>T</title><button>Go</button><p id=out></p><script>
		out.textContent = 'cookie [' + document.cookie + '] storage [' + localStorage.x + ']';
		document.cookie = 'who=me'; localStorage.x = 'mine'</script>`)
	first, second := newSession(t, b, pagehand.SessionOptions{}), newSession(t, b, pagehand.SessionOptions{})
	navigate := fmt.Sprintf(`{"url":%q}`, url)
	succeed(t, first, "navigate", navigate)
	succeed(t, first, "read_page", `{}`)
	succeed(t, first, "navigate", navigate)
	if text := succeed(t, first, "get_page_text", `{}`); !strings.Contains(text, "cookie [who=me] storage [mine]") {
		t.Errorf("a session lost its own state: %q", text)
	}
	succeed(t, second, "navigate", navigate)
	if text := succeed(t, second, "get_page_text", `{}`); !strings.Contains(text, "cookie [] storage [undefined]") {
		t.Errorf("a session sees another's state: %q", text)
	}
	foreign := call(1, "left_click", `{"target":{"type":"ref","ref":"ref_1"}}`)
	if r := second.Do(t.Context(), foreign); !r.IsError {
		t.Errorf("a session used another's reference: %q", told(foreign, r))
	}
}

// TestLooksLikeABrowser: no word gives the headless browser away, and the emulation holds over navigations.
func TestLooksLikeABrowser(t *testing.T) {
	t.Parallel()
	page := serveHTML(t, `<title>T</title><p id=out></p><script>
		const say = async () => { const brands = navigator.userAgentData ? navigator.userAgentData.brands.map((b) => b.brand).join() : '';
		const worker = await new Promise((r) => { new Worker(URL.createObjectURL(new Blob(['postMessage(navigator.userAgent)']))).onmessage = (e) => r(e.data) });
		out.textContent = [/Headless/.test(navigator.userAgent + brands + worker), /Chrome/.test(worker), navigator.language, Intl.DateTimeFormat().resolvedOptions().timeZone,
			(1234.5).toLocaleString(), matchMedia('(prefers-color-scheme: dark)').matches, innerWidth, innerHeight, devicePixelRatio].join(' ') }; say()</script>`)
	s := newSession(t, browsertest.Browser(t), pagehand.SessionOptions{
		Locale: "de-CH", Timezone: "Asia/Tokyo", ColorScheme: "dark", Viewport: pagehand.Size{Width: 800, Height: 600}, Scale: 2,
	})
	for range 2 {
		succeed(t, s, "navigate", fmt.Sprintf(`{"url":%q}`, page))
		succeed(t, s, "wait", `{"duration":0.3}`)
		if got, want := succeed(t, s, "get_page_text", `{}`), "false true de-CH Asia/Tokyo 1'234.5 true 800 600 2"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if got := succeed(t, s, "screenshot", `{}`); got != "(image 800x600)" {
		t.Errorf("screenshot: %s", got)
	}
}

// TestConnect drives a browser through a DevTools web socket, which the test itself puts in front of a pipe.
func TestConnect(t *testing.T) {
	exe, err := chrome.Find("")
	if err != nil {
		t.Fatal(err)
	}
	proc, err := chrome.Launch(t.Context(), chrome.Options{Executable: exe})
	if err != nil {
		t.Fatal(err)
	}
	defer proc.Close(context.WithoutCancel(t.Context()))
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		ws.SetReadLimit(-1)
		go func() {
			for in := bufio.NewReader(proc.Pipe()); ; {
				msg, err := in.ReadBytes(0)
				if err != nil || ws.Write(r.Context(), websocket.MessageText, msg[:len(msg)-1]) != nil {
					return
				}
			}
		}()
		for {
			_, msg, err := ws.Read(r.Context())
			if err != nil {
				return
			}
			proc.Pipe().Write(append(msg, 0))
		}
	}))
	defer endpoint.Close()

	b, err := pagehand.Connect(t.Context(), "ws"+strings.TrimPrefix(endpoint.URL, "http"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	s := newSession(t, b, pagehand.SessionOptions{})
	succeed(t, s, "navigate", fmt.Sprintf(`{"url":%q}`, serveHTML(t, `<title>T</title><button>Go</button>`)))
	if got := succeed(t, s, "read_page", `{}`); got != `button "Go" [ref_1]` {
		t.Errorf("read_page: %s", got)
	}
	if _, err := pagehand.Connect(t.Context(), "ws://127.0.0.1:1/secret", nil); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("dialling nobody: %v", err)
	}
}
