// Package site is the embedded sample site: Harbor Goods, a small shop with
// documentation and one page for every kind of thing a browser is asked to do
// (forms, login, frames, shadow roots, drag and drop, canvas, endless lists,
// dialogs, uploads, downloads, failing requests).
//
// It needs nothing but itself: no page loads anything from another origin,
// apart from the frames page, which asks the site's own second port and second
// host. Handlers hold no per-visitor state (the cart lives in a cookie) and are
// safe for concurrent use. The site trusts nothing a request says, yet it is a
// fixture with a published password: [Start] therefore serves loopback
// addresses only.
package site

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// Site is a running sample site. Make one with [Start].
type Site struct {
	url, secondPort, otherHost string

	cancel  context.CancelFunc // ends the requests being served
	servers []*http.Server
	serving sync.WaitGroup
	close   func() error
}

// Start serves the sample site on addr, "127.0.0.1:0" for instance; the host
// must be a loopback address or "localhost". It also opens two more loopback
// listeners for the frames page: another port of 127.0.0.1 and a port of
// 127.0.0.2. Where the system has no 127.0.0.2 (macOS without an alias), the
// other host is "localhost".
//
// The site serves until Close is called or ctx ends.
func Start(ctx context.Context, addr string) (*Site, error) {
	if err := checkLoopback(addr); err != nil {
		return nil, err
	}
	main, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("sample site: %w", err)
	}
	second, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("sample site, second port: %w", err), main.Close())
	}
	other, otherURL, err := listenOtherHost()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("sample site, other host: %w", err), main.Close(), second.Close())
	}

	s := &Site{
		url:        "http://" + main.Addr().String(),
		secondPort: "http://" + second.Addr().String(),
		otherHost:  otherURL,
	}
	handler := newHandler(origins{SecondPort: s.secondPort, OtherHost: s.otherHost})
	requests, cancel := context.WithCancel(ctx)
	s.cancel = cancel
	s.close = sync.OnceValue(s.shutdown)
	for _, l := range []net.Listener{main, second, other} {
		srv := &http.Server{
			Handler:           handler,
			ReadHeaderTimeout: 10 * time.Second,
			BaseContext:       func(net.Listener) context.Context { return requests },
		}
		s.servers = append(s.servers, srv)
		s.serving.Go(func() { _ = srv.Serve(l) }) // returns ErrServerClosed after Close
	}
	context.AfterFunc(requests, func() { _ = s.Close() }) // its error belongs to whoever calls Close
	return s, nil
}

// URL is the site's address without a trailing slash, "http://127.0.0.1:8080".
func (s *Site) URL() string { return s.url }

// SecondPortURL is the same host on another port: another origin, but the same
// site, so a browser keeps its frames in the same process.
func (s *Site) SecondPortURL() string { return s.secondPort }

// OtherHostURL is the same content on another host: another site, so a browser
// with site isolation gives its frames a process of their own.
func (s *Site) OtherHostURL() string { return s.otherHost }

// Close stops the site, also requests that are being served, and waits until
// its listeners are gone. Further calls do nothing and return the same error.
func (s *Site) Close() error { return s.close() }

func (s *Site) shutdown() error {
	s.cancel()
	var errs []error
	for _, srv := range s.servers {
		errs = append(errs, srv.Close())
	}
	s.serving.Wait()
	return errors.Join(errs...)
}

// Handler returns the sample site as a plain handler, for httptest servers. Its
// frames page has the frames of its own origin only.
func Handler() http.Handler { return newHandler(origins{}) }

// origins are the other addresses of the same site; empty when there are none.
type origins struct{ SecondPort, OtherHost string }

func checkLoopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("sample site: %w", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("sample site: %q is not a loopback address; the site serves loopback only", addr)
	}
	return nil
}

func listenOtherHost() (l net.Listener, url string, err error) {
	if l, err = net.Listen("tcp", "127.0.0.2:0"); err == nil {
		return l, "http://" + l.Addr().String(), nil
	}
	if l, err = net.Listen("tcp", "localhost:0"); err != nil {
		return nil, "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return l, "http://" + net.JoinHostPort("localhost", port), err
}
