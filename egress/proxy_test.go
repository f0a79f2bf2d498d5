package egress

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// watched is a proxy with what it decided.
type watched struct {
	Proxy
	mu        sync.Mutex
	decisions []Decision
}

func startProxy(t *testing.T, opts Options) *watched {
	t.Helper()
	w := &watched{}
	w.Rules = mustParse(t, opts)
	w.Observe = func(d Decision) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.decisions = append(w.decisions, d)
	}
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func (w *watched) last() Decision {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.decisions) == 0 {
		return Decision{}
	}
	return w.decisions[len(w.decisions)-1]
}

func (w *watched) client() *http.Client {
	address, _ := url.Parse(w.Address())
	return &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(address), TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
}

// say sends bytes to the proxy and returns all that comes back.
func (w *watched) say(t *testing.T, text string) string {
	t.Helper()
	conn, err := net.Dial("tcp", w.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(5 * time.Second))
	io.WriteString(conn, text)
	answer, _ := io.ReadAll(conn)
	return string(answer)
}

// recorder is a server that counts what reaches it.
type recorder struct {
	*httptest.Server
	mu   sync.Mutex
	hits []string
}

func newRecorder(t *testing.T, secure bool) *recorder {
	r := &recorder{}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.mu.Lock()
		r.hits = append(r.hits, q.Host+q.URL.Path)
		r.mu.Unlock()
		fmt.Fprint(w, "reached")
	}))
	if secure {
		r.StartTLS()
	} else {
		r.Start()
	}
	t.Cleanup(r.Close)
	return r
}

func (r *recorder) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.hits)
}

func (r *recorder) address() string { return r.Listener.Addr().String() }

func (r *recorder) port() string { return fmt.Sprint(netip.MustParseAddrPort(r.address()).Port()) }

func TestProxyPasses(t *testing.T) {
	for _, secure := range []bool{false, true} {
		site := newRecorder(t, secure)
		p := startProxy(t, Options{AllowPrivateAt: []string{site.address()}})
		res, err := p.client().Get(site.URL + "/a")
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if string(body) != "reached" {
			t.Errorf("read %q", body)
		}
		if d := p.last(); d.Err != nil || d.Addr.String() != site.address() {
			t.Errorf("decision: %+v", d)
		}
	}
}

// TestProxyRefuses_E01 holds that nothing is dialed for what the rules refuse, plain or in a tunnel.
func TestProxyRefuses_E01(t *testing.T) {
	for _, secure := range []bool{false, true} {
		site := newRecorder(t, secure)
		p := startProxy(t, Options{})
		for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "[::1]", "0.0.0.0"} {
			res, err := p.client().Get(strings.Replace(site.URL, "127.0.0.1", host, 1))
			if err == nil {
				res.Body.Close()
				t.Errorf("%s: answered %s", host, res.Status)
			}
			if !errors.As(p.last().Err, new(*Refusal)) {
				t.Errorf("%s: decision %+v", host, p.last())
			}
		}
		if site.count() > 0 {
			t.Errorf("reached: %q", site.hits)
		}
	}
}

// turning is a resolver that gives an answer after the other.
type turning struct {
	answers [][]netip.Addr
	asked   int
}

func (r *turning) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	a := r.answers[min(r.asked, len(r.answers)-1)]
	r.asked++
	return a, nil
}

// TestRebinding_E03 holds that what was judged is what is dialed: a name that resolves to something else the next time is judged anew.
func TestRebinding_E03(t *testing.T) {
	site := newRecorder(t, false)
	blocked := netip.MustParseAddr("127.0.0.1")
	fine := netip.MustParseAddr("192.0.2.1") // never dialed: the second answer has the blocked one too
	for _, answers := range [][][]netip.Addr{
		{{blocked}},
		{{fine, blocked}},
		{{netip.MustParseAddr("::ffff:127.0.0.1")}},
		{{netip.MustParseAddr("169.254.169.254")}},
	} {
		names := &turning{answers: answers}
		p := startProxy(t, Options{Allow: []string{"rebind.example:*"}, Resolver: names})
		for range 2 {
			res, err := p.client().Get("http://rebind.example:" + site.port() + "/")
			if err == nil {
				res.Body.Close()
				t.Errorf("%v: answered %s", answers, res.Status)
			}
			if !errors.As(p.last().Err, new(*Refusal)) {
				t.Errorf("%v: decision %+v", answers, p.last())
			}
		}
	}
	if site.count() > 0 {
		t.Errorf("reached: %q", site.hits)
	}
}

// TestExemptName holds that an exempted name may be at a private address.
func TestExemptName(t *testing.T) {
	site := newRecorder(t, false)
	p := startProxy(t, Options{Allow: []string{"name.example:*"}, AllowPrivateAt: []string{"name.example:" + site.port()}, Resolver: &turning{answers: [][]netip.Addr{{netip.MustParseAddr("127.0.0.1")}}}})
	if res, err := p.client().Get("http://name.example:" + site.port() + "/"); err != nil {
		t.Errorf("an exempted name: %v", err)
	} else {
		res.Body.Close()
	}
}

// TestNamesAsData_E07 holds that a refused name is never looked up.
func TestNamesAsData_E07(t *testing.T) {
	names := newZone()
	p := startProxy(t, Options{Allow: []string{"example.com"}, Resolver: names})
	for _, u := range []string{"http://secret-123.evil.example/", "https://secret-123.evil.example/", "http://example.com.evil.example/"} {
		if res, err := p.client().Get(u); err == nil {
			res.Body.Close()
			t.Errorf("%s: %s", u, res.Status)
		}
	}
	if len(names.asked) > 0 {
		t.Errorf("looked up: %q", names.asked)
	}
}

// TestProxyBytes_E08 sends what no browser sends.
func TestProxyBytes_E08(t *testing.T) {
	site := newRecorder(t, false)
	p := startProxy(t, Options{AllowPrivateAt: []string{site.address()}})
	for name, text := range map[string]string{
		"origin form":            "GET / HTTP/1.1\r\nHost: " + site.address() + "\r\n\r\n",
		"https in absolute form": "GET https://" + site.address() + "/ HTTP/1.1\r\nHost: " + site.address() + "\r\n\r\n",
		"user name":              "GET http://u:p@" + site.address() + "/ HTTP/1.1\r\nHost: " + site.address() + "\r\n\r\n",
		"port 22":                "CONNECT example.com:22 HTTP/1.1\r\nHost: example.com:22\r\n\r\n",
		"no port":                "CONNECT example.com HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"port 0":                 "CONNECT 127.0.0.1:0 HTTP/1.1\r\nHost: 127.0.0.1:0\r\n\r\n",
		"a decimal address":      "CONNECT 2130706433:" + site.port() + " HTTP/1.1\r\nHost: a\r\n\r\n",
		"a hexadecimal address":  "CONNECT 0x7f.1:" + site.port() + " HTTP/1.1\r\nHost: a\r\n\r\n",
		"a NUL":                  "CONNECT 127.0.0.1\x00.example.com:" + site.port() + " HTTP/1.1\r\nHost: a\r\n\r\n",
		"an at sign":             "CONNECT example.com@" + site.address() + " HTTP/1.1\r\nHost: a\r\n\r\n",
		"a zone":                 "CONNECT [fe80::1%25lo]:" + site.port() + " HTTP/1.1\r\nHost: a\r\n\r\n",
		"itself":                 "CONNECT " + p.listener.Addr().String() + " HTTP/1.1\r\nHost: a\r\n\r\n",
		"no HTTP":                "\x00\x01\x02\x03\r\n\r\n",
	} {
		if answer := p.say(t, text); strings.Contains(answer, " 200 ") || strings.Contains(answer, "reached") {
			t.Errorf("%s: answered %q", name, answer)
		}
	}
	if site.count() > 0 {
		t.Errorf("reached: %q", site.hits)
	}
}

// TestForeignHost_E08 holds that a Host header cannot name another site of the server that was judged.
func TestForeignHost_E08(t *testing.T) {
	site := newRecorder(t, false)
	p := startProxy(t, Options{AllowPrivateAt: []string{site.address()}})
	p.say(t, "GET http://"+site.address()+"/x HTTP/1.1\r\nHost: secret.example\r\nConnection: close\r\n\r\n")
	if want := site.address() + "/x"; len(site.hits) != 1 || site.hits[0] != want {
		t.Errorf("reached: %q, want %s", site.hits, want)
	}
}

// TestTunnel_E08 holds that a tunnel is for TLS with its host, or for a WebSocket with it, and for nothing else.
func TestTunnel_E08(t *testing.T) {
	site := newRecorder(t, true)
	plain := newRecorder(t, false)
	p := startProxy(t, Options{AllowPrivateAt: []string{site.address(), plain.address(), "name.example:" + site.port()}, Resolver: &turning{answers: [][]netip.Addr{{netip.MustParseAddr("127.0.0.1")}}}})
	tunnel := func(target string) (net.Conn, error) {
		conn, err := net.Dial("tcp", p.listener.Addr().String())
		if err != nil {
			return nil, err
		}
		conn.SetDeadline(time.Now().Add(5 * time.Second))
		fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target)
		res, err := http.ReadResponse(bufio.NewReader(io.LimitReader(conn, int64(len("HTTP/1.1 200 Connection established\r\n\r\n")))), &http.Request{Method: http.MethodConnect})
		if err == nil && res.StatusCode != http.StatusOK {
			err = errors.New(res.Status)
		}
		return conn, err
	}
	for _, test := range []struct {
		target, name string
		passes       bool
	}{
		{"name.example:" + site.port(), "name.example", true},
		{"name.example:" + site.port(), "NAME.example", true},
		{"name.example:" + site.port(), "other.example", false},
		{"name.example:" + site.port(), "", false},
		{site.address(), "", true},
		{site.address(), "name.example", false},
	} {
		conn, err := tunnel(test.target)
		if err != nil {
			t.Fatal(err)
		}
		err = tls.Client(conn, &tls.Config{ServerName: test.name, InsecureSkipVerify: true}).Handshake()
		if (err == nil) != test.passes {
			t.Errorf("%s for %q: %v", test.target, test.name, err)
		}
		conn.Close()
	}
	for text, passes := range map[string]bool{
		"GET / HTTP/1.1\r\nHost: " + plain.address() + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n": true,
		"GET / HTTP/1.1\r\nHost: other.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n":           false,
		"GET / HTTP/1.1\r\nHost: " + plain.address() + "\r\n\r\n":                                              false,
		"SSH-2.0-OpenSSH_9.2\r\n":       false,
		"\x16\x03\x01\x00\x05hello":     false,
		"\x00\x01\x00\x00\x21\x12\xa4B": false,
	} {
		before := plain.count()
		conn, err := tunnel(plain.address())
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(conn, text)
		answer := make([]byte, 12)
		n, _ := io.ReadFull(conn, answer)
		conn.Close()
		if got := bytes.HasPrefix(answer[:n], []byte("HTTP/1.1 ")); got != passes || plain.count() > before != passes {
			t.Errorf("%q: answered %q", text, answer[:n])
		}
	}
}

// TestProxyTellsWhy holds that a failed navigation can say what was wrong.
func TestProxyTellsWhy(t *testing.T) {
	dead := newRecorder(t, false)
	address := dead.address()
	dead.Close()
	p := startProxy(t, Options{AllowPrivateAt: []string{address}, Allow: []string{"nowhere.example"}, Resolver: newZone()})
	for _, u := range []string{"http://" + address, "https://" + address} {
		if res, err := p.client().Get(u); err == nil {
			res.Body.Close()
			t.Errorf("%s answered", u)
		}
		at := netip.MustParseAddrPort(address)
		if d, ok := p.Verdict(at.Addr().String(), at.Port()); !ok || !strings.Contains(fmt.Sprint(d.Err), "refused") {
			t.Errorf("%s: %+v", u, d)
		}
	}
	if res, err := p.client().Get("http://nowhere.example/"); err == nil {
		res.Body.Close()
	}
	if d, ok := p.Verdict("nowhere.example", 80); !ok || d.Err == nil || errors.As(d.Err, new(*Refusal)) {
		t.Errorf("a name without an address: %+v", d)
	}
}

// TestUpstream goes through a second proxy.
func TestUpstream(t *testing.T) {
	for _, secure := range []bool{false, true} {
		site := newRecorder(t, secure)
		company := startProxy(t, Options{AllowPrivateAt: []string{site.address()}})
		p := &Proxy{Rules: mustParse(t, Options{AllowPrivateAt: []string{site.address()}})}
		p.Upstream, _ = url.Parse(company.Address())
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		address, _ := url.Parse(p.Address())
		c := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(address), TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
		res, err := c.Get(site.URL)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if company.last().Addr.String() != site.address() {
			t.Errorf("the upstream proxy was not asked: %+v", company.last())
		}
	}
}

// TestProxyCloses holds that nothing is left: no tunnel, no goroutine that waits for one.
func TestProxyCloses(t *testing.T) {
	site := newRecorder(t, true)
	p := startProxy(t, Options{AllowPrivateAt: []string{site.address()}})
	conn, err := net.Dial("tcp", p.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", site.address(), site.address())
	conn.Read(make([]byte, 1)) // the tunnel stands
	p.Close()                  // returns, so all have ended
	conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	if _, err := io.Copy(io.Discard, conn); errors.As(err, new(net.Error)) && err.(net.Error).Timeout() {
		t.Error("the tunnel is still open")
	}
}

// TestTargetsPassAsTheyAre holds that the host is asked for just what the browser asks for.
func TestTargetsPassAsTheyAre(t *testing.T) {
	raw, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	go func() {
		for {
			c, err := raw.Accept()
			if err != nil {
				return
			}
			line, _ := bufio.NewReader(c).ReadString('\n')
			fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nX-Line: %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", strings.TrimSpace(line))
			c.Close()
		}
	}()
	at := raw.Addr().String()
	company := startProxy(t, Options{AllowPrivateAt: []string{at}})
	direct := startProxy(t, Options{AllowPrivateAt: []string{at}})
	through := &Proxy{Rules: mustParse(t, Options{AllowPrivateAt: []string{at}})}
	through.Upstream, _ = url.Parse(company.Address())
	if err := through.Start(); err != nil {
		t.Fatal(err)
	}
	defer through.Close()
	for _, target := range []string{"/", "/ok?q=100%&x=y;z=1", "/?a=1;b=2&c=%zz", "/a%2Fb|c", "/a%2fb^c", "/50%", "/%", "//twice//x", "/a/../b", "/?", "/x??&&=", "/%C3%a4'\"<>"} {
		for name, p := range map[string]*Proxy{"direct": &direct.Proxy, "upstream": through} {
			answer := (&watched{Proxy: Proxy{listener: p.listener}}).say(t, "GET http://"+at+target+" HTTP/1.1\r\nHost: "+at+"\r\n\r\n")
			_, seen, _ := strings.Cut(answer, "X-Line: ")
			seen, _, _ = strings.Cut(seen, "\r\n")
			if seen != "GET "+target+" HTTP/1.1" && seen != "GET http://"+at+target+" HTTP/1.1" {
				t.Errorf("%s: %s became %q", name, target, seen)
			}
		}
	}
	if answer := direct.say(t, "GET http://"+at+"?x=1 HTTP/1.1\r\nHost: "+at+"\r\n\r\n"); !strings.Contains(answer, "X-Line: GET /?x=1 HTTP/1.1") {
		t.Errorf("a query without a path: %q", answer)
	}
}
