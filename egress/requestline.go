package egress

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
)

// lineListener accepts connections that each carry one request, and keeps its target as it came: net/http would decode and encode a path
// anew, which names another resource on some servers, and would answer one that it can't decode itself.
type lineListener struct{ net.Listener }

func (l lineListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &lineConn{Conn: c}, nil
}

// lineConn is a connection from whose first line path and query of a plain target have been taken.
type lineConn struct {
	net.Conn
	unread []byte // of the line that has been read
	done   bool   // the line has been read
	rest   string // what stood behind the host: path and query
}

const maxRequestLine = 128 << 10 // bytes

func (c *lineConn) Read(b []byte) (int, error) {
	if !c.done {
		if err := c.readLine(); err != nil {
			return 0, err
		}
	}
	if len(c.unread) > 0 {
		n := copy(b, c.unread)
		c.unread = c.unread[n:]
		return n, nil
	}
	return c.Conn.Read(b)
}

// CloseWrite ends one direction, as that of a [net.TCPConn].
func (c *lineConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Conn.Close()
}

// readLine reads up to the end of the first line, and maybe beyond.
func (c *lineConn) readLine() error {
	var head []byte
	chunk := make([]byte, 4<<10)
	for {
		n, err := c.Conn.Read(chunk)
		head = append(head, chunk[:n]...)
		end := bytes.IndexByte(head, '\n')
		if end < 0 && err == nil && len(head) < maxRequestLine {
			continue
		}
		if len(head) == 0 {
			return err
		}
		c.done, c.unread = true, head
		if end >= 0 {
			c.unread = append(c.shorten(string(head[:end])), head[end:]...)
		}
		if err == io.EOF {
			err = nil // the next read says it again
		}
		return err
	}
}

// shorten takes path and query off a request line for a plain target. Any other line stays as it is.
func (c *lineConn) shorten(line string) []byte {
	method, after, ok := strings.Cut(line, " ")
	target, protocol, more := strings.Cut(after, " ")
	host, isPlain := strings.CutPrefix(target, "http://")
	at := strings.IndexAny(host, "/?")
	if !ok || !more || !isPlain || at < 0 || strings.IndexFunc(host, func(r rune) bool { return r <= ' ' || r > '~' || r == '#' }) >= 0 {
		return []byte(line)
	}
	c.rest = host[at:]
	if c.rest[0] == '?' {
		c.rest = "/" + c.rest
	}
	return []byte(method + " http://" + host[:at] + "/ " + protocol)
}

type lineConnKey struct{}

func withLine(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, lineConnKey{}, c)
}

// restOf is path and query of a plain request, byte for byte.
func restOf(ctx context.Context) string {
	if c, ok := ctx.Value(lineConnKey{}).(*lineConn); ok && c.rest != "" {
		return c.rest
	}
	return "/"
}
