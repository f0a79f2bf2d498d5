package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Bounds of the proxy. Chromium opens at most 32 connections to it for one session, so maxTunnels is met only by a stranger.
const (
	maxTunnels       = 256
	maxRequestHead   = 256 << 10 // bytes
	headTimeout      = 10 * time.Second
	dialTimeout      = 20 * time.Second
	fallbackDelay    = 250 * time.Millisecond // before the next address of a host is tried beside the first
	answerTimeout    = 120 * time.Second      // for the head of a plain answer
	tunnelIdle       = 10 * time.Minute
	tunnelFirstBytes = 30 * time.Second
)

// Proxy is the way out of a browser: an HTTP proxy that judges each request by its host, before any lookup, and each connection by the
// address that it really dials. Give every session its own, so that each is held to its own rules.
//
// A refused plain request gets its connection closed, because an answer would be shown as the host's own; a refused CONNECT gets 403.
// TLS passes through untouched, after its server name has been compared with the host that was asked for. Of other traffic only
// WebSocket handshakes pass.
type Proxy struct {
	// Rules say what may be reached.
	Rules *Rules
	// Upstream is the proxy of a company's network as http://HOST:PORT, with user name and password if need be. It looks names up
	// itself, so that only hosts and literal addresses are judged here. Nil dials directly.
	Upstream *url.URL
	// Observe is told each decision, from many goroutines. It must not block.
	Observe func(Decision)

	server    *http.Server
	transport *http.Transport
	forward   *httputil.ReverseProxy
	tunnels   chan struct{}
	listener  net.Listener
	open      sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	pipes    map[net.Conn]bool
	verdicts map[endpoint]Decision // the latest, of at most maxVerdicts destinations
}

const maxVerdicts = 512

// Decision is what became of a request for a destination.
type Decision struct {
	Time time.Time
	// Host is canonical, as in [URL]; what could not be read as a host is empty.
	Host string
	Port uint16
	// Addr is what was dialed; the zero value when nothing was.
	Addr netip.AddrPort
	// Err is nil for what was let through, a [*Refusal] for what the rules refuse, a [ProtocolError] for what is no proper request,
	// else why no connection came about.
	Err error
}

// ProtocolError says what is wrong with a request. Chromium makes none of these: a page's trick or a stranger does.
type ProtocolError string

func (e ProtocolError) Error() string { return string(e) }

// Start makes the proxy listen on a loopback port. Close ends it.
func (p *Proxy) Start() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("egress proxy: %w", err)
	}
	p.Serve(listener)
	return nil
}

// Serve takes connections from the listener, which it closes in the end, and returns at once.
func (p *Proxy) Serve(listener net.Listener) {
	p.listener = listener
	p.tunnels = make(chan struct{}, maxTunnels)
	p.pipes = map[net.Conn]bool{}
	p.verdicts = map[endpoint]Decision{}
	p.transport = &http.Transport{
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			if p.Upstream != nil {
				return (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", address)
			}
			return p.dialText(ctx, address)
		},
		DisableCompression:     true, // bytes pass as they come
		MaxIdleConnsPerHost:    6,
		IdleConnTimeout:        30 * time.Second,
		ResponseHeaderTimeout:  answerTimeout,
		MaxResponseHeaderBytes: maxRequestHead,
	}
	if p.Upstream != nil {
		p.transport.Proxy = http.ProxyURL(p.Upstream)
	}
	p.forward = &httputil.ReverseProxy{
		Rewrite:       p.target,
		Transport:     p.transport,
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0),
		ErrorHandler:  func(_ http.ResponseWriter, r *http.Request, err error) { p.failed(r, err) },
	}
	p.server = &http.Server{
		Handler:           http.HandlerFunc(p.serve),
		ReadHeaderTimeout: headTimeout,
		MaxHeaderBytes:    maxRequestHead,
		ErrorLog:          log.New(io.Discard, "", 0),
		ConnContext:       withLine,
	}
	p.server.SetKeepAlivesEnabled(false)                         // see lineListener; connections to the hosts are kept
	p.open.Go(func() { p.server.Serve(lineListener{listener}) }) // ends when the listener does
}

// Address is where it listens, for Chromium's --proxy-server and a browser context's proxyServer.
func (p *Proxy) Address() string { return "http://" + p.listener.Addr().String() }

// Close ends all connections and waits until they have ended.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	for c := range p.pipes {
		c.Close()
	}
	p.mu.Unlock()
	err := p.server.Close()
	p.transport.CloseIdleConnections()
	p.open.Wait()
	return err
}

// Verdict is the latest decision about a destination, and false when there was none. A navigation that failed asks it why.
func (p *Proxy) Verdict(host string, port uint16) (Decision, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d, ok := p.verdicts[endpoint{host, port}]
	return d, ok
}

func (p *Proxy) decide(d Decision) {
	d.Time = time.Now()
	p.mu.Lock()
	if len(p.verdicts) >= maxVerdicts {
		clear(p.verdicts)
	}
	p.verdicts[endpoint{d.Host, d.Port}] = d
	p.mu.Unlock()
	if p.Observe != nil {
		p.Observe(d)
	}
}

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect {
		p.connect(w, r)
		return
	}
	host, port, err := plainTarget(r)
	if err == nil {
		err = p.Rules.CheckName(host, port)
	}
	if err != nil {
		p.decide(Decision{Host: host, Port: port, Err: err})
		panic(http.ErrAbortHandler) // closes the connection
	}
	p.forward.ServeHTTP(w, r)
}

// target makes the request ask for just what the browser asked for.
func (p *Proxy) target(r *httputil.ProxyRequest) {
	rest := restOf(r.In.Context())
	if p.Upstream != nil || strings.HasPrefix(rest, "//") {
		rest = "//" + r.In.URL.Host + rest // in absolute form
	}
	r.Out.URL.Opaque, r.Out.URL.RawQuery = rest, ""
}

// plainTarget is the destination of a plain request, which must come in absolute form. A Host header beside it is replaced by the
// target's host (RFC 9112 §3.2.2), which is what net/http already did.
func plainTarget(r *http.Request) (host string, port uint16, err error) {
	switch {
	case r.URL.Scheme != "http" || r.URL.Host == "":
		return "", 0, ProtocolError("a request that is not in absolute form for http")
	case r.URL.User != nil:
		return "", 0, ProtocolError("a request with a user name in its target")
	}
	return authority(r.URL.Host, 80)
}

// authority reads "host", "host:port" or "[v6]:port" strictly: what has to be repaired first is refused. A port of 0 as the default
// means that the text must name one.
func authority(text string, defaultPort uint16) (host string, port uint16, err error) {
	bad := ProtocolError(fmt.Sprintf("%.80q is not a host and port", text))
	name, digits := text, ""
	if i := strings.LastIndexByte(text, ':'); i > strings.LastIndexByte(text, ']') {
		name, digits = text[:i], text[i+1:]
		n, err := strconv.ParseUint(digits, 10, 16)
		if err != nil || n == 0 || strconv.FormatUint(n, 10) != digits {
			return "", 0, bad
		}
		port = uint16(n)
	} else if port = defaultPort; port == 0 {
		return "", 0, bad
	}
	if inner, ok := strings.CutPrefix(name, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		addr, err := netip.ParseAddr(inner)
		if !ok || err != nil || !addr.Is6() || addr.Zone() != "" {
			return "", 0, bad
		}
		return addr.String(), port, nil
	}
	host, err = canonical(strings.ToLower(name))
	if err != nil || strings.Contains(name, ":") {
		return "", 0, bad
	}
	// What looks like a number is one to some resolvers: only the dotted form is an address, and nothing else may end in digits.
	last := host[strings.LastIndexByte(host, '.')+1:]
	if _, isAddr := addrOf(host); !isAddr && (isNumber(last)) {
		return "", 0, bad
	}
	return host, port, nil
}

func isNumber(label string) bool {
	if rest, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(rest, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

// failed ends a plain request that got no answer.
func (p *Proxy) failed(r *http.Request, err error) {
	if host, port, _ := plainTarget(r); r.Context().Err() == nil {
		var refusal *Refusal
		if errors.As(err, &refusal) {
			err = refusal
		}
		p.decide(Decision{Host: host, Port: port, Err: err})
	}
	panic(http.ErrAbortHandler)
}

func (p *Proxy) dialText(ctx context.Context, address string) (net.Conn, error) {
	host, port, err := authority(address, 0)
	if err != nil {
		return nil, err
	}
	return p.dial(ctx, host, port)
}

// dial connects to a host whose name has been judged. Every address that the host has is judged, and so is the one that is dialed, at
// the last moment before it is.
func (p *Proxy) dial(ctx context.Context, host string, port uint16) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	addrs, err := p.Rules.lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	for _, addr := range addrs {
		if err := p.Rules.CheckAddr(host, netip.AddrPortFrom(addr, port)); err != nil {
			return nil, err
		}
	}
	dialer := &net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		dialed, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		return p.Rules.CheckAddr(host, dialed)
	}}
	conn, err := race(ctx, addrs, func(ctx context.Context, addr netip.Addr) (net.Conn, error) {
		return dialer.DialContext(ctx, "tcp", netip.AddrPortFrom(addr, port).String())
	})
	if err == nil {
		dialed, _ := netip.ParseAddrPort(conn.RemoteAddr().String())
		p.decide(Decision{Host: host, Port: port, Addr: dialed})
	}
	return conn, err
}

// lookup gives the addresses of a canonical host, localhost's without asking anybody.
func (r *Rules) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, ok := addrOf(host); ok {
		return []netip.Addr{addr}, nil
	}
	if isLocalhost(host) {
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, nil
	}
	addrs, err := r.resolver.LookupNetIP(ctx, "ip", host)
	if err == nil && len(addrs) == 0 {
		err = &net.DNSError{Err: "no address", Name: host, IsNotFound: true}
	}
	return addrs, err
}

// race dials the addresses one after the other, the next as soon as one failed or has taken a while, and returns the first connection.
func race(ctx context.Context, addrs []netip.Addr, dial func(context.Context, netip.Addr) (net.Conn, error)) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type attempt struct {
		conn net.Conn
		err  error
	}
	done := make(chan attempt, len(addrs))
	started, running := 0, 0
	next := func() {
		addr := addrs[started]
		started++
		running++
		go func() {
			conn, err := dial(ctx, addr)
			done <- attempt{conn, err}
		}()
	}
	next()
	var first error
	for {
		var later <-chan time.Time
		var timer *time.Timer
		if started < len(addrs) {
			timer = time.NewTimer(fallbackDelay)
			later = timer.C
		}
		select {
		case a := <-done:
			running--
			if a.err == nil {
				go func() { // those that come too late are closed
					for range running {
						if late := <-done; late.err == nil {
							late.conn.Close()
						}
					}
				}()
				return a.conn, nil
			}
			if first == nil {
				first = a.err
			}
			if started < len(addrs) {
				next()
			} else if running == 0 {
				return nil, first
			}
		case <-later:
			next()
		}
		if timer != nil {
			timer.Stop()
		}
	}
}
