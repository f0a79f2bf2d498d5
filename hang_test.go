package pagehand_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pagehand/pagehand"
	"github.com/pagehand/pagehand/egress"
	"github.com/pagehand/pagehand/internal/browsertest"
)

// TestSlowHostilePages runs what pages do to hang a browser (security.md ), on a click. Whatever becomes of that
// click, the session can be used at once.
func TestSlowHostilePages(t *testing.T) {
	if os.Getenv("PAGEHAND_SLOW") == "" {
		t.Skip("slow: PAGEHAND_SLOW=1 runs it")
	}
	attacks := []struct {
		name, script string
		leaving      bool // the attack is on navigations, so the first one may fail
	}{
		{name: "alerts", script: `for (;;) alert(1)`},
		{name: "confirms", script: `for (let i = 0; i < 1e5; i++) confirm(i)`},
		{name: "prompts", script: `for (;;) { try { prompt(1) } catch {} }`},
		{name: "alerts by timer", script: `setInterval(() => alert(1), 0)`, leaving: true},
		{name: "prints", script: `for (let i = 0; i < 1e5; i++) print()`},
		{name: "loop", script: `for (;;);`},
		{name: "loop that catches", script: `(function f() { try { for (;;); } finally { f() } })()`},
		{name: "microtasks", script: `(function f() { Promise.resolve().then(f) })()`},
		{name: "regular expression", script: `/(a+)+$/.test('a'.repeat(60) + 'b')`},
		{name: "timers that loop", script: `for (let i = 0; i < 9; i++) setInterval(() => { for (;;); }, 0)`},
		{name: "timers that take turns", script: `for (let i = 0; i < 9; i++) setInterval(() => { for (const end = Date.now() + 900; Date.now() < end;); }, 0)`},
		{name: "frames that loop", script: `(function f() { requestAnimationFrame(f); for (;;); })()`},
		{name: "synchronous request", script: `const x = new XMLHttpRequest(); x.open('GET', '/hang', false); x.send()`},
		{name: "beforeunload", script: `onbeforeunload = () => { for (;;); }`, leaving: true},
		{name: "beforeunload dialogs", script: `onbeforeunload = (e) => { e.preventDefault(); for (;;) alert(1) }`, leaving: true},
		{name: "unload", script: `onpagehide = onunload = () => { for (;;); }`, leaving: true},
		{name: "popups", script: `for (;;) window.open('about:blank', Math.random())`},
		{name: "pushState", script: `for (;;) history.pushState(1, '', '?' + Math.random())`},
		{name: "navigations", script: `setInterval(() => location.href = '?' + Math.random(), 0)`},
		{name: "fragments", script: `for (;;) location.hash = Math.random()`},
		{name: "document.write", script: `for (;;) document.write('<p>x')`},
		{name: "elements", script: `for (;;) document.body.append(document.createElement('p'))`},
		{name: "titles", script: `for (;;) document.title = 'x'.repeat(1e5) + Math.random()`},
		{name: "layout", script: `document.body.innerHTML = '<table><tr><td>'.repeat(400) + 'x'.repeat(1000); for (let i = 0; ; i++) { document.body.style.width = 500 + i % 300 + 'px'; document.body.offsetHeight }`},
		{name: "text", script: `document.body.textContent = 'x '.repeat(2e7)`},
		{name: "same-process frame", script: `document.body.append(document.createElement('iframe')); frames[0].setTimeout('for(;;);', 0)`},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/hang", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/free", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>Free</title><button>Free</button>")
	})
	mux.HandleFunc("/attack/{n}", func(w http.ResponseWriter, r *http.Request) {
		var n int
		fmt.Sscan(r.PathValue("n"), &n)
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<title>Attack</title><body><button onclick=go()>Go</button><script>function go() { %s }</script>", attacks[n].script)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	b, err := pagehand.Launch(t.Context(), nil) // of its own: some of these keep the browser's own process busy
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	for n, attack := range attacks {
		t.Run(attack.name, func(t *testing.T) {
			s := testSession(t, b, 2*time.Second)
			if _, failed := ask(s, "navigate", `{"url":"%s/attack/%d"}`, server.URL, n); failed {
				t.Fatal("the page did not open")
			}
			text, _ := ask(s, "left_click", `{"target":{"type":"coordinate","x":20,"y":20}}`)
			t.Log(text)
			if text, failed := ask(s, "get_page_text", `{}`); failed {
				t.Errorf("get_page_text afterwards: %s", text)
			}
			text, failed := ask(s, "navigate", `{"url":"%s/free"}`, server.URL)
			if failed && attack.leaving {
				t.Log(text)
				text, failed = ask(s, "navigate", `{"url":"%s/free"}`, server.URL)
			}
			if failed || !strings.HasPrefix(text, "Navigated") {
				t.Errorf("navigate afterwards: %s", text)
			}
			if text, _ := ask(s, "read_page", `{}`); !strings.HasPrefix(text, `button "Free"`) {
				t.Errorf("read_page afterwards: %s", text)
			}
		})
	}
}

// TestAsksThePerson lets pages ask for what only a person could give (security.md X-09): nothing waits for it.
func TestAsksThePerson(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("/auth", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Basic realm="Staff"`)
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, "<title>No</title><p>Staff only")
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<title>Page</title><body><button onclick="%s">Go</button><input type=file hidden id=f>`, r.URL.Query().Get("do"))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s := testSession(t, browsertest.Browser(t), 0)
	denied := "Error: Navigation to " + server.URL + "/auth failed: the page requires HTTP authentication, a user name and password for \"Staff\" (HTTP 401)."
	if text, _ := ask(s, "navigate", `{"url":"%s/auth"}`, server.URL); text != denied {
		t.Errorf("navigate to a page with HTTP authentication: %s", text)
	}
	for _, test := range []struct{ script, note string }{
		{"fetch('/auth')", ""}, // never answered: Chromium waits for a person
		{"f.click()", "\nThe page opened a file chooser. It was closed; use file_upload on the file input instead."},
		{"f.showPicker()", "\nThe page opened a file chooser. It was closed; use file_upload on the file input instead."},
		{"showOpenFilePicker()", "\nThe page opened a file chooser. It was closed; use file_upload on the file input instead."},
		{"navigator.geolocation.getCurrentPosition(() => {})", ""},
		{"Notification.requestPermission()", ""},
		{"navigator.mediaDevices.getUserMedia({audio: true})", ""},
		{"navigator.clipboard.readText()", ""},
		{"document.body.requestFullscreen()", ""},
		{"document.body.requestPointerLock()", ""},
		{"location = 'mailto:someone@example.com'", ""},
		{"print()", "\nThe page asked to print; nothing was printed."},
	} {
		if text, failed := ask(s, "navigate", `{"url":"%s/?do=%s"}`, server.URL, url.QueryEscape(test.script)); failed {
			t.Errorf("%s: %s", test.script, text)
		}
		want := `Clicked (20, 20), on button "Go"`
		if text, _ := ask(s, "left_click", `{"target":{"type":"coordinate","x":20,"y":20}}`); !strings.HasPrefix(text, want) || !strings.Contains(text, test.note) {
			t.Errorf("%s: %s", test.script, text)
		}
		if text, failed := ask(s, "screenshot", `{}`); failed {
			t.Errorf("%s: screenshot afterwards: %s", test.script, text)
		}
	}
}

func testSession(t *testing.T, b *pagehand.Browser, timeout time.Duration) *pagehand.Session {
	t.Helper()
	rules, err := egress.Parse(egress.Options{AllowPrivate: true})
	if err != nil {
		t.Fatal(err)
	}
	s, err := b.NewSession(t.Context(), &pagehand.SessionOptions{Destinations: rules, Timeout: timeout, Logger: testLogger(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// ask makes one call and gives what the model would read first, and whether it is an error.
func ask(s *pagehand.Session, member, format string, args ...any) (string, bool) {
	c := call(1, member, fmt.Sprintf(format, args...))
	r := s.Do(context.Background(), c)
	return told(c, r), r.IsError
}

// testLogger shows what the session tells its operator.
func testLogger(t *testing.T) *slog.Logger { return slog.New(slog.NewTextHandler(t.Output(), nil)) }
