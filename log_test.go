package pagehand_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pagehand/pagehand"
	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/internal/browsertest"
)

// openSession opens a session that may reach the test's own servers, with a page of h.
func openSession(t *testing.T, h http.Handler, options pagehand.SessionOptions, enable ...string) (*pagehand.Session, string) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	var err error
	if options.Configs, err = pagehand.Configs.Enable(pagehand.Configs{}, enable...); err != nil {
		t.Fatal(err)
	}
	s := newSession(t, browsertest.Browser(t), options)
	succeed(t, s, "navigate", fmt.Sprintf(`{"url":%q}`, server.URL))
	return s, server.URL
}

// succeed makes a call that must succeed and gives its text.
func succeed(t *testing.T, s *pagehand.Session, name, input string) string {
	t.Helper()
	c := call(1, name, input)
	r := s.Do(context.Background(), c)
	text := told(c, r)
	if r.IsError {
		t.Fatalf("%s %s: %s", name, input, text)
	}
	return text
}

func TestReadNetwork(t *testing.T) {
	mux := http.NewServeMux()
	page := func(w http.ResponseWriter, body string) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, `<!doctype html><link rel=icon href="data:,">`+body)
	}
	slow := make(chan struct{})
	t.Cleanup(func() { close(slow) })
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		page(w, `<script>
			fetch('/api?token=hunter2&q=1', {method: 'POST', body: 'x'}).then(() => fetch('/old')).then(() => fetch('/missing'))
				.then(() => new Worker('/worker.js').onmessage = () => { fetch('/slow'); setTimeout(() => location = '/next', 100) })
		</script>`)
	})
	mux.HandleFunc("/next", func(w http.ResponseWriter, r *http.Request) { page(w, "next") })
	mux.HandleFunc("/api", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/old", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/new", http.StatusFound) })
	mux.HandleFunc("/new", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "new") })
	mux.HandleFunc("/missing", http.NotFound)
	mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-slow:
		case <-r.Context().Done():
		}
	})
	mux.HandleFunc("/worker.js", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		io.WriteString(w, `fetch('/from-worker').finally(() => postMessage(0))`)
	})
	mux.HandleFunc("/from-worker", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "{}") })

	s, origin := openSession(t, mux, pagehand.SessionOptions{}, "read_network")
	succeed(t, s, "wait", `{"duration":2}`)
	got := succeed(t, s, "read_network", "{}")
	const end = `( \d+ ms)( \d+(\.\d)? k?B)?`
	for _, want := range []string{
		`GET {{origin}}/ 200 text/html` + end,
		`--- navigated to {{origin}}/ ---`,
		`POST {{origin}}/api\?token=\[redacted\]&q=1 204` + end,
		`GET {{origin}}/old 302( text/html)?` + end,
		`GET {{origin}}/new 200 text/plain` + end,
		`GET {{origin}}/missing 404 text/plain` + end,
		`GET {{origin}}/worker.js 200 text/javascript` + end,
		`GET {{origin}}/from-worker 200 text/plain` + end,
		`GET {{origin}}/slow unanswered when the page was left`,
		`GET {{origin}}/next 200 text/html` + end,
	} {
		want = "(?m)^" + strings.ReplaceAll(want, "{{origin}}", regexp.QuoteMeta(origin)) + "$"
		if n := len(regexp.MustCompile(want).FindAllString(got, -1)); n != 1 {
			t.Errorf("%d lines match %s in\n%s", n, want, got)
		}
	}
	if again := succeed(t, s, "read_network", "{}"); !strings.HasPrefix(again, "No requests were recorded since the last reading") {
		t.Errorf("the second reading says %q", again)
	}
}

func TestScriptValueIsBounded(t *testing.T) {
	s, _ := openSession(t, http.NotFoundHandler(), pagehand.SessionOptions{}, "javascript_exec")
	for _, code := range []string{`'é'.repeat(2e8)`, `await 0; 'é'.repeat(2e8)`, `Array(1e7).fill('text')`, `'🙂'.repeat(1e6)`, `throw 'x'.repeat(1e8)`} {
		c := call(1, "javascript_exec", fmt.Sprintf(`{"text":%q}`, code))
		text := told(c, s.Do(context.Background(), c))
		if n := len([]rune(text)); n > 50_000 || n < 500 || !strings.Contains(text, "…") {
			t.Errorf("%s: %d characters, ending in %q", code, n, text[max(0, len(text)-60):])
		}
	}
}

// FR-064: every download is told, and complete.
func TestDownloads(t *testing.T) {
	dir := t.TempDir()
	s, _ := openSession(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/file" {
			w.Header().Set("Content-Disposition", `attachment; filename="../up.csv"`)
			io.WriteString(w, "a;b")
			return
		}
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, `<!doctype html><button id=b>Delayed report</button> <a href="data:text/plain,hello" download="note.txt">Note</a>
			<a id=g download="../../big.bin">Big</a> <a href="/file?token=hunter2">File</a><script>
			g.href = URL.createObjectURL(new Blob([new Uint8Array(3e6)]));
			b.onclick = () => setTimeout(() => { const a = document.createElement('a'); a.href = URL.createObjectURL(new Blob(['a,b\n1,2\n3,4']));
				a.download = 'report.csv'; a.click() }, 300)</script>`)
	}), pagehand.SessionOptions{Downloads: dir, ExposeDownloads: true})
	succeed(t, s, "read_page", "{}")
	var changes []contract.StateChange
	note := func(name, input string) {
		r := s.Do(context.Background(), call(1, name, input))
		if r.IsError {
			t.Fatalf("%s: %s", name, told(call(1, name, input), r))
		}
		for _, b := range r.Content {
			if state, ok := b.(*contract.BrowserState); ok {
				changes = append(changes, state.StateChanges...)
			}
		}
	}
	for ref := 1; ref <= 4; ref++ {
		note("left_click", fmt.Sprintf(`{"target":{"type":"ref","ref":"ref_%d"}}`, ref))
	}
	done := map[string]contract.StateChange{}
	for range 50 {
		note("wait", `{"duration":0.2}`)
		for _, c := range changes {
			if c.Type == contract.DownloadCompleted {
				done[filepath.Base(c.Path)] = c
			}
		}
		if len(done) == 4 {
			break
		}
	}
	for name, size := range map[string]int64{"report.csv": 11, "note.txt": 5, "_.._big.bin": 3_000_000, "_up.csv": 3} {
		c, ok := done[name]
		if !ok {
			t.Errorf("%s is not told as completed, only %v", name, changes)
			continue
		}
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Size() != size || *c.SizeBytes != size || info.Mode() != 0o600 || c.Path != filepath.Join(dir, name) {
			t.Errorf("%s: %+v, %v; told %+v", name, info, err, c)
		}
		if strings.Contains(c.URL, "hunter2") {
			t.Errorf("%s is told with its token: %s", name, c.URL)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
