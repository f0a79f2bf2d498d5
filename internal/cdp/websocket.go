package cdp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/coder/websocket"
)

// mostMessage bounds one message of a remote browser, in bytes.
const mostMessage = 512 << 20

// DialWebSocket connects to a DevTools endpoint, ws:// or wss://, of a browser that somebody else runs. The context bounds the
// dialling only. The endpoint's address may hold a secret: errors do not repeat it.
func DialWebSocket(ctx context.Context, endpoint string, header http.Header) (*Conn, error) {
	ws, _, err := websocket.Dial(ctx, endpoint, &websocket.DialOptions{HTTPHeader: header, CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return nil, fmt.Errorf("connect to the browser's DevTools endpoint: %w", withoutAddress(err))
	}
	ws.SetReadLimit(mostMessage)
	life, end := context.WithCancel(context.Background())
	return NewConn(&socketStream{ws: ws, life: life, end: end}), nil
}

// withoutAddress keeps the cause of a failed dial and drops the address it names.
func withoutAddress(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}

// socketStream makes a web socket look like a pipe: each message ends with a NUL byte.
type socketStream struct {
	ws   *websocket.Conn
	life context.Context
	end  context.CancelFunc
	rest []byte // of the message being read
}

func (s *socketStream) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		_, msg, err := s.ws.Read(s.life)
		if err != nil {
			if websocket.CloseStatus(err) != -1 {
				err = io.EOF
			}
			return 0, err
		}
		s.rest = append(msg, 0)
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

func (s *socketStream) Write(p []byte) (int, error) {
	for msg := range bytes.SplitSeq(bytes.TrimSuffix(p, []byte{0}), []byte{0}) {
		if err := s.ws.Write(s.life, websocket.MessageText, msg); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

func (s *socketStream) Close() error {
	s.end()
	return s.ws.CloseNow()
}
