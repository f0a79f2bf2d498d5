package pagehand_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pagehand/pagehand"
	"github.com/pagehand/pagehand/egress"
)

// TestHostilePages runs what pages do to hang a browser (security.md ), on a click. Whatever becomes of that
// click, the session can be used at once.
func TestHostilePages(t *testing.T) {
	attacks := []struct{ name, script string }{ // those that begin when the page is left have a name with "unload"
		{"alerts", `for (;;) alert(1)`},
		{"confirms", `for (let i = 0; i < 1e5; i++) confirm(i)`},
		{"prompts", `for (;;) { try { prompt(1) } catch {} }`},
		{"alerts by timer", `setInterval(() => alert(1), 0)`},
		{"prints", `for (let i = 0; i < 1e5; i++) print()`},
		{"loop", `for (;;);`},
		{"loop that catches", `(function f() { try { for (;;); } finally { f() } })()`},
		{"microtasks", `(function f() { Promise.resolve().then(f) })()`},
		{"regular expression", `/(a+)+$/.test('a'.repeat(60) + 'b')`},
		{"timers that loop", `for (let i = 0; i < 9; i++) setInterval(() => { for (;;); }, 0)`},
		{"timers that take turns", `for (let i = 0; i < 9; i++) setInterval(() => { for (const end = Date.now() + 900; Date.now() < end;); }, 0)`},
		{"frames that loop", `(function f() { requestAnimationFrame(f); for (;;); })()`},
		{"synchronous request", `const x = new XMLHttpRequest(); x.open('GET', '/hang', false); x.send()`},
		{"beforeunload", `onbeforeunload = () => { for (;;); }`},
		{"beforeunload dialogs", `onbeforeunload = (e) => { e.preventDefault(); for (;;) alert(1) }`},
		{"unload", `onpagehide = onunload = () => { for (;;); }`},
		{"popups", `for (;;) open('about:blank', Math.random())`},
		{"pushState", `for (;;) history.pushState(1, '', '?' + Math.random())`},
		{"navigations", `setInterval(() => location.href = '?' + Math.random(), 0)`},
		{"fragments", `for (;;) location.hash = Math.random()`},
		{"document.write", `for (;;) document.write('<p>x')`},
		{"elements", `for (;;) document.body.append(document.createElement('p'))`},
		{"titles", `for (;;) document.title = 'x'.repeat(1e5) + Math.random()`},
		{"layout", `document.body.innerHTML = '<table><tr><td>'.repeat(400) + 'x'.repeat(1000); for (let i = 0; ; i++) { document.body.style.width = 500 + i % 300 + 'px'; document.body.offsetHeight }`},
		{"text", `document.body.textContent = 'x '.repeat(2e7)`},
		{"same-process frame", `document.body.append(document.createElement('iframe')); frames[0].setTimeout('for(;;);', 0)`},
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
			s := hostileSession(t, b)
			if _, failed := ask(s, "navigate", `{"url":"%s/attack/%d"}`, server.URL, n); failed {
				t.Fatal("the page did not open")
			}
			text, _ := ask(s, "left_click", `{"target":{"type":"coordinate","x":20,"y":20}}`)
			t.Log(text)
			if text, failed := ask(s, "get_page_text", `{}`); failed {
				t.Errorf("get_page_text afterwards: %s", text)
			}
			text, failed := ask(s, "navigate", `{"url":"%s/free"}`, server.URL)
			if failed && strings.Contains(attack.name, "unload") {
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

func hostileSession(t *testing.T, b *pagehand.Browser) *pagehand.Session {
	t.Helper()
	rules, err := egress.Parse(egress.Options{AllowPrivate: true})
	if err != nil {
		t.Fatal(err)
	}
	s, err := b.NewSession(t.Context(), &pagehand.SessionOptions{Destinations: rules, Timeout: 2 * time.Second, Logger: testLogger(t)})
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
