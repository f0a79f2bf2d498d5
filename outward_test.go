package pagehand_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"github.com/pagehand/pagehand"
	"github.com/pagehand/pagehand/egress"
	"github.com/pagehand/pagehand/internal/browsertest"
)

// channels are ways by which a page asks for things, each of which would reach {{other}} (security.md E-04 to E-06).
const channels = `<title>waiting</title>
<link rel="stylesheet" href="{{other}}/css"><link rel="preload" as="image" href="{{other}}/preload"><link rel="prefetch" href="{{other}}/prefetch">
<link rel="icon" href="{{other}}/icon"><link rel="manifest" href="{{other}}/manifest"><link rel="preconnect" href="{{other}}">
<style>@font-face{font-family:f;src:url({{other}}/font)} p{font-family:f}</style><p>Text</p>
<img src="{{other}}/img"><iframe src="{{other}}/frame"></iframe><object data="{{other}}/object"></object><video src="{{other}}/video"></video>
<script src="{{other}}/script"></script>
<script>
const other = '{{other}}', ws = other.replace('http', 'ws');
navigator.sendBeacon(other + '/beacon');
new EventSource(other + '/events');
new WebSocket(ws + '/socket');
new Worker(URL.createObjectURL(new Blob(['importScripts("' + other + '/worker"); fetch("' + other + '/inworker")'])));
try { const peer = new RTCPeerConnection({iceServers: [{urls: 'stun:' + location.hostname + ':' + new URL(other).port}]}); peer.createDataChannel('x'); peer.createOffer().then(o => peer.setLocalDescription(o)); } catch {}
window.open(other + '/opened');
const own = new WebSocket(location.href.replace('http', 'ws') + 'echo');
own.onopen = () => own.send('hello');
own.onmessage = (m) => Promise.allSettled([fetch(other + '/fetch'), fetch(other + '/nocors', {mode: 'no-cors'}), fetch('/redirect', {mode: 'no-cors'}), import(other + '/module')])
	.then((all) => { document.title = m.data + ': ' + all.map((r) => r.status).join(' '); });
</script>`

// TestEgressOfPages holds that a page reaches what the session may reach, WebSockets included, and nothing else by any channel.
func TestEgressOfPages(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var hits []string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		hits = append(hits, r.URL.Path)
	}))
	t.Cleanup(other.Close)
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, strings.ReplaceAll(channels, "{{other}}", other.URL))
	})
	mux.Handle("/redirect", http.RedirectHandler(other.URL+"/redirected", http.StatusFound))
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer c.CloseNow()
		if kind, data, err := c.Read(r.Context()); err == nil {
			_ = c.Write(r.Context(), kind, data)
		}
		c.Close(websocket.StatusNormalClosure, "")
	})
	mux.HandleFunc("/target", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.RequestURI) })
	site := httptest.NewServer(mux)
	t.Cleanup(site.Close)
	at, err := url.Parse(site.URL)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := egress.Parse(egress.Options{Allow: []string{}, AllowPrivateAt: []string{at.Host}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := browsertest.Browser(t).NewSession(t.Context(), &pagehand.SessionOptions{Destinations: rules})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if text, failed := ask(s, "navigate", `{"url":"%s"}`, site.URL); failed {
		t.Fatal(text)
	}
	const want = "hello: rejected rejected rejected rejected"
	for range 50 { // each call waits for what the page still asks for
		if s.Tabs()[0].Title == want {
			break
		}
		ask(s, "wait", `{"duration":0.1}`)
	}
	if title := s.Tabs()[0].Title; title != want {
		t.Errorf("title %q, want %q", title, want)
	}
	text, failed := ask(s, "navigate", `{"url":"%s/redirect"}`, site.URL)
	if !failed || !strings.Contains(text, "refused: 127.0.0.1 is a loopback address") {
		t.Errorf("a redirect: %s", text)
	}
	if text, failed := ask(s, "navigate", `{"url":"%s/target?q=100%%25&x=y;z=1"}`, site.URL); failed {
		t.Error(text)
	}
	if text, _ := ask(s, "get_page_text", `{}`); !strings.Contains(text, "/target?q=100%25&x=y;z=1") {
		t.Errorf("the host was asked for %s", text)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(hits) > 0 {
		t.Errorf("reached: %q", hits)
	}
}
