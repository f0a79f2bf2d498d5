package pagehand

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"syscall"

	"github.com/pagehand/pagehand/egress"
)

// startEgress gives the session its own way out of the browser, which holds everything that its pages ask for to the session's destinations.
func (s *Session) startEgress() error {
	proxy := &egress.Proxy{Rules: s.opts.Destinations, Observe: s.wentOut}
	if err := proxy.Start(); err != nil {
		return err
	}
	s.egress, s.page.WhyNot = proxy, s.whyNot
	return nil
}

// wentOut logs what the proxy decided. Hosts only: addresses may carry secrets.
func (s *Session) wentOut(d egress.Decision) {
	level, text := slog.LevelDebug, "connected"
	if d.Err != nil {
		text = "not connected"
	}
	if errors.As(d.Err, new(*egress.Refusal)) || errors.As(d.Err, new(egress.ProtocolError)) {
		level, text = slog.LevelInfo, "refused"
	}
	s.log.LogAttrs(context.Background(), level, "egress "+text, slog.String("host", d.Host), slog.Int("port", int(d.Port)), slog.Any("cause", d.Err))
}

// whyNot explains a request that failed at the proxy: see [page.Options].
func (s *Session) whyNot(address string) (refusal, code string) {
	url, err := egress.ParseURL(address)
	if err != nil {
		return "", ""
	}
	d, _ := s.egress.Verdict(url.Host, url.Port)
	var refused *egress.Refusal
	switch {
	case d.Err == nil:
		return "", ""
	case errors.As(d.Err, &refused):
		return refused.Reason, ""
	case errors.As(d.Err, new(*net.DNSError)):
		return "", "net::ERR_NAME_NOT_RESOLVED"
	case errors.Is(d.Err, syscall.ECONNREFUSED):
		return "", "net::ERR_CONNECTION_REFUSED"
	case errors.Is(d.Err, syscall.ECONNRESET):
		return "", "net::ERR_CONNECTION_RESET"
	case errors.Is(d.Err, syscall.EHOSTUNREACH), errors.Is(d.Err, syscall.ENETUNREACH):
		return "", "net::ERR_ADDRESS_UNREACHABLE"
	case errors.Is(d.Err, context.DeadlineExceeded):
		return "", "net::ERR_CONNECTION_TIMED_OUT"
	case errors.Is(d.Err, io.EOF), errors.Is(d.Err, io.ErrUnexpectedEOF):
		return "", "net::ERR_EMPTY_RESPONSE"
	}
	return "", "net::ERR_INVALID_RESPONSE"
}
