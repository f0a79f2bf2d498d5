package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
)

func TestConsoleCountsEqualEntries(t *testing.T) {
	p := &Page{}
	say := func(m message) { m.times = 1; p.record(func(l *logs) { l.said(&m) }) }
	for range 3 {
		say(message{level: "log", text: "tick", place: "a.js:1:1"})
	}
	say(message{level: "error", text: "tick", place: "a.js:1:1"})
	say(message{level: "log", text: "tick", place: "a.js:1:1"})
	for range 2 {
		say(message{level: "log", text: "{a:Object}", single: true})
	}
	want := []string{"[log] tick (x3) (a.js:1:1)", "[error] tick (a.js:1:1)", "[log] tick (a.js:1:1)", "[log] {a:Object}", "[log] {a:Object}"}
	if got := p.TakeConsole(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := p.TakeConsole(); len(got) != 0 {
		t.Errorf("the second reading repeats %q", got)
	}
}

// floods are bounded, and what was dropped is told.
func TestX08ConsoleFlood(t *testing.T) {
	p := &Page{}
	for i := range mostEntries + 10 {
		p.record(func(l *logs) { l.said(&message{level: "log", text: fmt.Sprint("line ", i), times: 1}) })
	}
	got := p.TakeConsole()
	if len(got) != mostEntries+1 || got[0] != "(10 older entries were dropped)" || got[1] != "[log] line 10" {
		t.Errorf("%d lines, first %q", len(got), got[:2])
	}
	long := strings.Repeat("long ", longestEntry)
	for i := range mostEntries {
		p.record(func(l *logs) {
			l.said(&message{level: "log", text: cutBytes(fmt.Sprint(i, long), longestEntry), times: 1})
		})
	}
	if p.logs.console.bytes > mostLogBytes {
		t.Errorf("%d bytes are kept, at most %d should be", p.logs.console.bytes, mostLogBytes)
	}
	for _, line := range p.TakeConsole() {
		if n := len([]rune(line)); n > longestLine+1 {
			t.Fatalf("a line has %d characters", n)
		}
	}
}

// a credential is gone, also where a line or an entry is cut.
func TestR01ConsoleCut(t *testing.T) {
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	for _, n := range []int{0, longestLine - 60, longestLine - 30, longestLine - 10, longestEntry - 30, longestEntry - 5} {
		text := strings.Repeat("x", n) + " " + secret + " tail"
		m := &message{level: "log", text: cutBytes(text, longestEntry), times: 1}
		if line := m.line(); strings.Contains(line, "0123456789abc") {
			t.Errorf("after %d characters the key is in %q", n, line[max(0, len(line)-80):])
		}
	}
	m := &message{level: "log", text: "sk-proj-Ab12\u200bCd34Ef56Gh78\u202eIj90", times: 1}
	if line := m.line(); line != "[log] [redacted]" {
		t.Errorf("a key split by invisible characters gives %q", line)
	}
}

func TestTraffic(t *testing.T) {
	p := &Page{}
	p.logs.requests = map[network.RequestID]*request{}
	ask := func(id, url string, from *network.Response) {
		p.record(func(l *logs) {
			l.requested(network.EventRequestWillBeSent{RequestID: network.RequestID(id), Request: &network.Request{Method: "GET", URL: url}, Timestamp: 1, RedirectResponse: from})
		})
	}
	answer := func(id string, status int64, mime string) {
		p.record(func(l *logs) {
			l.responded(network.EventResponseReceived{RequestID: network.RequestID(id), Response: &network.Response{Status: status, MimeType: mime}})
		})
	}
	expect := func(want ...string) {
		t.Helper()
		if got := p.TakeTraffic(); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	ask("1", "https://u:p@a.test/?token=hunter2&q=1", nil)
	ask("2", "https://a.test/old", nil)
	ask("2", "https://a.test/new", &network.Response{Status: 301, MimeType: ""})
	ask("3", "https://a.test/slow", nil)
	ask("4", "data:text/plain,nothing", nil)
	ask("5", "https://a.test/refused", nil)
	answer("1", 200, "text/html")
	p.record(func(l *logs) {
		l.finished(network.EventLoadingFinished{RequestID: "1", Timestamp: 1.012, EncodedDataLength: 3400})
		l.failed(network.EventLoadingFailed{RequestID: "5", Timestamp: 1.003, ErrorText: "net::ERR_CONNECTION_REFUSED"})
	})
	expect(
		"GET https://a.test/?token=[redacted]&q=1 200 text/html 12 ms 3.4 kB",
		"GET https://a.test/old 301 0 ms",
		"GET https://a.test/new pending",
		"GET https://a.test/slow pending",
		"GET https://a.test/refused failed: net::ERR_CONNECTION_REFUSED 3 ms",
	)
	expect() // pending ones are told once
	answer("3", 204, "")
	p.record(func(l *logs) {
		l.console.place, l.traffic.place = "https://b.test/", "https://b.test/"
		l.finished(network.EventLoadingFinished{RequestID: "3", Timestamp: 2})
	})
	ask("6", "https://b.test/", nil)
	expect("GET https://a.test/slow 204 1000 ms", "--- navigated to https://b.test/ ---", "GET https://b.test/ pending")
}

func TestX08TrafficFlood(t *testing.T) {
	p := &Page{}
	p.logs.requests = map[network.RequestID]*request{}
	for i := range 3 * mostEntries {
		p.record(func(l *logs) {
			l.requested(network.EventRequestWillBeSent{RequestID: network.RequestID(fmt.Sprint(i)), Request: &network.Request{Method: "GET", URL: "https://a.test/"}})
		})
	}
	if n := len(p.logs.requests); n > mostEntries+1 {
		t.Errorf("%d requests are remembered", n)
	}
	if got := p.TakeTraffic(); len(got) != mostEntries+1 || got[0] != fmt.Sprintf("(%d older requests were dropped)", 2*mostEntries) {
		t.Errorf("%d lines, first %q", len(got), got[0])
	}
}

func TestNothingIsRecordedUnasked(t *testing.T) {
	p := &Page{}
	p.logs.requested(network.EventRequestWillBeSent{RequestID: "1", Request: &network.Request{Method: "GET", URL: "https://a.test/"}})
	p.logs.finished(network.EventLoadingFinished{RequestID: "1"})
	if got := p.TakeTraffic(); len(got) != 0 {
		t.Errorf("recorded %q", got)
	}
}

func TestConsoleText(t *testing.T) {
	str := func(s string) *runtime.RemoteObject {
		return &runtime.RemoteObject{Type: runtime.RemoteObjectTypeString, Value: fmt.Appendf(nil, "%q", s)}
	}
	num := func(n string) *runtime.RemoteObject {
		return &runtime.RemoteObject{Type: runtime.RemoteObjectTypeNumber, Value: []byte(n)}
	}
	for _, c := range []struct {
		args []*runtime.RemoteObject
		want string
	}{
		{nil, ""},
		{[]*runtime.RemoteObject{str("100% sure")}, "100% sure"},
		{[]*runtime.RemoteObject{str("%d%% of %s"), num("5"), str("all"), str("rest")}, "5% of all rest"},
		{[]*runtime.RemoteObject{str("%s and %s"), str("one")}, "one and %s"},
		{[]*runtime.RemoteObject{num("1"), str("%s"), num("2")}, "1 %s 2"},
		{[]*runtime.RemoteObject{{Type: runtime.RemoteObjectTypeNumber, UnserializableValue: "NaN"}, {Type: runtime.RemoteObjectTypeUndefined}}, "NaN undefined"},
	} {
		if got := consoleText(c.args); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestShortURL(t *testing.T) {
	for url, want := range map[string]string{
		"":                                "script",
		"https://a.test/js/app.js?v=1#x":  "app.js",
		"https://a.test/":                 "a.test/",
		"https://a.test/docs/":            "docs",
		"about:srcdoc":                    "about:srcdoc",
		"data:text/javascript,1":          "data",
		"blob:https://a.test/3f2504e0-4f": "blob",
	} {
		if got := shortURL(url); got != want {
			t.Errorf("shortURL(%q) = %q, want %q", url, got, want)
		}
	}
}

func TestAccepts(t *testing.T) {
	for _, c := range []struct {
		accept, name string
		want         bool
	}{
		{"", "a.txt", true},
		{"image/*", "a.png", true},
		{"image/*", "a.txt", false},
		{".csv, .TXT", "a.txt", true},
		{".csv", "a.txt", false},
		{"text/plain", "a.txt", true},
		{"*/*", "a", true},
		{"application/pdf", "a.unknown-kind", true},
	} {
		if got := accepts(c.accept, c.name); got != c.want {
			t.Errorf("accepts(%q, %q) = %v", c.accept, c.name, got)
		}
	}
}
