package egress

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// connect serves a CONNECT: the way of TLS and of WebSockets.
func (p *Proxy) connect(w http.ResponseWriter, r *http.Request) {
	host, port, err := authority(r.RequestURI, 0) // as it came: net/http would take a user name off
	if err == nil {
		err = p.Rules.CheckName(host, port)
	}
	if err != nil {
		p.refuse(w, host, port, err, http.StatusForbidden)
		return
	}
	select {
	case p.tunnels <- struct{}{}:
		defer func() { <-p.tunnels }()
	default:
		p.refuse(w, host, port, fmt.Errorf("more than %d tunnels", maxTunnels), http.StatusServiceUnavailable)
		return
	}
	server, err := p.dialTunnel(r.Context(), host, port)
	if err != nil {
		status := http.StatusBadGateway
		if errors.As(err, new(*Refusal)) {
			status = http.StatusForbidden
		}
		p.refuse(w, host, port, err, status)
		return
	}
	defer server.Close()
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer client.Close()
	if !p.track(client, server) {
		return
	}
	defer p.untrack(client, server)
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	client.SetDeadline(time.Now().Add(tunnelFirstBytes))
	first, err := opening(&replayed{client, buffered.Reader}, host, port)
	if err != nil {
		var wrong ProtocolError
		if errors.As(err, &wrong) {
			p.decide(Decision{Host: host, Port: port, Err: wrong})
		}
		return
	}
	client.SetDeadline(time.Time{})
	relay(client, io.MultiReader(bytes.NewReader(first), buffered.Reader), server)
}

func (p *Proxy) refuse(w http.ResponseWriter, host string, port uint16, err error, status int) {
	p.decide(Decision{Host: host, Port: port, Err: err})
	w.Header().Set("Connection", "close")
	w.WriteHeader(status)
}

// track takes the connections of a tunnel among those that Close ends, and reports false when it already has.
func (p *Proxy) track(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.open.Add(1)
	for _, c := range conns {
		p.pipes[c] = true
	}
	return true
}

func (p *Proxy) untrack(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		delete(p.pipes, c)
	}
	p.open.Done()
}

// dialTunnel connects to the destination, or to the upstream proxy and through it.
func (p *Proxy) dialTunnel(ctx context.Context, host string, port uint16) (net.Conn, error) {
	if p.Upstream == nil {
		return p.dial(ctx, host, port)
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", hostPort(p.Upstream.Hostname(), p.Upstream.Port()))
	if err != nil {
		return nil, fmt.Errorf("upstream proxy: %w", err)
	}
	target := hostPort(host, fmt.Sprint(port))
	head := "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n"
	if user := p.Upstream.User; user != nil {
		password, _ := user.Password()
		head += "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password)) + "\r\n"
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	if _, err := io.WriteString(conn, head+"\r\n"); err != nil {
		conn.Close()
		return nil, fmt.Errorf("upstream proxy: %w", err)
	}
	answer := bufio.NewReader(io.LimitReader(conn, maxRequestHead))
	res, err := http.ReadResponse(answer, &http.Request{Method: http.MethodConnect})
	switch {
	case err != nil:
		err = fmt.Errorf("upstream proxy: %w", err)
	case res.StatusCode != http.StatusOK:
		err = fmt.Errorf("upstream proxy: %s", res.Status)
	case answer.Buffered() > 0:
		err = errors.New("upstream proxy: data before the tunnel's first bytes")
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	p.decide(Decision{Host: host, Port: port})
	return conn, nil
}

func hostPort(host, port string) string {
	if port == "" {
		port = "80"
	}
	return net.JoinHostPort(host, port)
}

// replayed is a connection some of whose bytes are in a buffer already.
type replayed struct {
	net.Conn
	in *bufio.Reader
}

func (c *replayed) Read(b []byte) (int, error) { return c.in.Read(b) }

// opening reads the first bytes that a client sends through a tunnel, and returns them when they are what the tunnel is for: a TLS
// greeting for the host, or a WebSocket's handshake with it.
func opening(client net.Conn, host string, port uint16) ([]byte, error) {
	var seen bytes.Buffer
	in := bufio.NewReader(io.TeeReader(client, &seen))
	kind, err := in.Peek(1)
	if err != nil {
		return nil, err
	}
	const handshake = 0x16 // TLS record type
	if kind[0] == handshake {
		err = checkTLS(client, in, host)
	} else {
		err = checkWebSocket(in, host, port)
	}
	return seen.Bytes(), err
}

var errGreeted = errors.New("the greeting has been read")

// checkTLS reads a greeting with the standard library's own parser: the name that it finds there is the one a server would.
func checkTLS(client net.Conn, in *bufio.Reader, host string) error {
	var name string
	config := &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		name = hello.ServerName
		return nil, errGreeted
	}}
	err := tls.Server(&mute{&replayed{client, in}}, config).Handshake()
	if !errors.Is(err, errGreeted) {
		if errors.As(err, new(net.Error)) || errors.Is(err, io.EOF) {
			return err
		}
		return ProtocolError("a tunnel whose first bytes are no proper TLS greeting")
	}
	_, isAddr := addrOf(host)
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if name != host && !(isAddr && name == "") {
		return ProtocolError(fmt.Sprintf("a TLS greeting for %.80q in a tunnel to %s", name, host))
	}
	return nil
}

// mute swallows what is written: the alert after the greeting is not for the client.
type mute struct{ net.Conn }

func (mute) Write(b []byte) (int, error) { return len(b), nil }

func checkWebSocket(in *bufio.Reader, host string, port uint16) error {
	if kind, err := in.Peek(4); err != nil || string(kind) != "GET " {
		return ProtocolError("a tunnel for something that is neither TLS nor a WebSocket")
	}
	r, err := http.ReadRequest(bufio.NewReader(io.LimitReader(in, maxRequestHead)))
	if err != nil {
		return ProtocolError("a tunnel whose first bytes are no proper request")
	}
	named, namedPort, err := authority(r.Host, 80)
	if err != nil || named != host || namedPort != port {
		return ProtocolError("a WebSocket's Host header that differs from the tunnel's host")
	}
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		return ProtocolError("a tunnel for plain HTTP")
	}
	return nil
}

// relay carries bytes both ways until one side has ended and the other too, or nothing has moved for a long time.
func relay(client net.Conn, fromClient io.Reader, server net.Conn) {
	alive := time.AfterFunc(tunnelIdle, func() {
		client.Close()
		server.Close()
	})
	defer alive.Stop()
	pass := func(to net.Conn, from io.Reader) {
		io.Copy(to, &ticking{from, alive})
		if half, ok := to.(interface{ CloseWrite() error }); ok {
			half.CloseWrite()
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		pass(client, server)
		client.SetReadDeadline(time.Now().Add(headTimeout)) // a client that says no more is not waited for
	}()
	pass(server, fromClient)
	<-done
}

// ticking puts the end of an idle tunnel off with each read.
type ticking struct {
	io.Reader
	alive *time.Timer
}

func (t *ticking) Read(b []byte) (int, error) {
	n, err := t.Reader.Read(b)
	t.alive.Reset(tunnelIdle)
	return n, err
}
