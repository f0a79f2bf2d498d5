package cdp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/chromedp/cdproto/cdp/jsonv2"
)

// ErrClosed is the cause of every call that fails because the connection ended: Chromium exited, crashed or was closed.
var ErrClosed = errors.New("the connection to the browser is closed")

// ErrDetached is the cause of every call that fails because its CDP session ended: the tab or frame is gone.
var ErrDetached = errors.New("the page is gone")

// Error is a refusal by Chromium of one command.
type Error struct {
	Method  string
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    string `json:"data"`
}

func (e *Error) Error() string {
	if e.Data != "" {
		return fmt.Sprintf("%s: %s (%s)", e.Method, e.Message, e.Data)
	}
	return fmt.Sprintf("%s: %s", e.Method, e.Message)
}

// wireOptions keep lone surrogates and other invalid text of hostile pages from breaking a message.
var wireOptions = jsonv2.JoinOptions(jsonv2.DefaultOptionsV2(), jsonv2.AllowInvalidUTF8(true))

// readBuffer is how much of the pipe is read at once, and the largest buffer kept between messages.
const readBuffer = 1 << 20

// Conn is a connection to one browser.
type Conn struct {
	rw   io.ReadWriteCloser
	root *Session

	mu       sync.Mutex
	wake     *sync.Cond // signalled when out grows or the connection ends
	next     int64
	waiting  map[int64]*waiter
	sessions map[string]*Session
	out      []byte // messages not yet written, NUL-terminated
	err      error

	done    chan struct{} // closed when both goroutines have ended
	running sync.WaitGroup
}

// waiter is a command on its way.
type waiter struct {
	session *Session
	method  string
	answer  chan answer  // buffered: the reader never waits for the caller
	then    func(answer) // set instead of answer: called on the reading goroutine
}

func (w *waiter) give(a answer) {
	if w.then != nil {
		w.then(a)
		return
	}
	w.answer <- a
}

type answer struct {
	result jsonv2.Value
	err    error
}

// message is the protocol's envelope, in both directions.
type message struct {
	ID        int64        `json:"id,omitzero"`
	SessionID string       `json:"sessionId,omitzero"`
	Method    string       `json:"method,omitzero"`
	Params    jsonv2.Value `json:"params,omitzero"`
	Result    jsonv2.Value `json:"result,omitzero"`
	Error     *Error       `json:"error,omitzero"`
}

// NewConn starts speaking over rw, whose messages end with a NUL byte. Close it with [Conn.Close].
func NewConn(rw io.ReadWriteCloser) *Conn {
	c := &Conn{rw: rw, waiting: map[int64]*waiter{}, sessions: map[string]*Session{}, done: make(chan struct{})}
	c.wake = sync.NewCond(&c.mu)
	c.root = newSession(c, "", nil)
	c.sessions[""] = c.root
	c.running.Add(2)
	go c.read()
	go c.write()
	go func() { c.running.Wait(); close(c.done) }()
	return c
}

// Root is the browser's own session.
func (c *Conn) Root() *Session { return c.root }

// Done is closed when the connection has ended.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err tells why the connection ended, nil while it lives.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close ends the connection and waits for its goroutines. Calls on their way fail with [ErrClosed].
func (c *Conn) Close() error {
	c.end(ErrClosed)
	<-c.done
	return nil
}

// end closes the pipe once and fails everything that waits.
func (c *Conn) end(cause error) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	c.err = cause
	waiting := c.waiting
	c.waiting = map[int64]*waiter{}
	sessions := c.sessions
	c.sessions = map[string]*Session{}
	c.wake.Broadcast()
	c.mu.Unlock()

	c.rw.Close()
	for _, w := range waiting {
		w.give(answer{err: fmt.Errorf("%s: %w", w.method, cause)})
	}
	for _, s := range sessions {
		s.close(cause)
	}
}

// read handles messages until the pipe ends.
func (c *Conn) read() {
	defer c.running.Done()
	in := bufio.NewReaderSize(c.rw, readBuffer)
	var long []byte // a message larger than the buffer, so far
	for {
		part, err := in.ReadSlice(0)
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long, part...)
			continue
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = ErrClosed
			} else {
				err = fmt.Errorf("%w: %w", ErrClosed, err)
			}
			c.end(err)
			return
		}
		msg := part[:len(part)-1]
		if long != nil {
			msg = append(long, msg...)
			long = nil
		}
		if err := c.handle(msg); err != nil {
			c.end(err)
			return
		}
	}
}

// handle takes one message: an answer to its caller, an event to the handlers of its session. raw is valid only during the call.
func (c *Conn) handle(raw []byte) error {
	var m message
	if err := jsonv2.Unmarshal(raw, &m, wireOptions); err != nil {
		return fmt.Errorf("%w: unreadable message of %d bytes: %w", ErrClosed, len(raw), err)
	}
	if m.ID != 0 {
		c.mu.Lock()
		w := c.waiting[m.ID]
		delete(c.waiting, m.ID)
		c.mu.Unlock()
		if w == nil {
			return nil // its caller gave up
		}
		if m.Error != nil {
			m.Error.Method = w.method
			w.give(answer{err: m.Error})
			return nil
		}
		w.give(answer{result: m.Result})
		return nil
	}
	if m.Method == "Target.attachedToTarget" {
		c.attached(m)
	}
	c.mu.Lock()
	s := c.sessions[m.SessionID]
	c.mu.Unlock()
	if s != nil {
		s.dispatch(m.Method, m.Params)
	}
	if m.Method == "Target.detachedFromTarget" {
		c.detached(m)
	}
	return nil
}

// attached makes the session known before any handler, or any message of the new session, needs it.
func (c *Conn) attached(m message) {
	var ev struct {
		SessionID string `json:"sessionId"`
	}
	if jsonv2.Unmarshal(m.Params, &ev, wireOptions) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.sessions[ev.SessionID] = newSession(c, ev.SessionID, c.sessions[m.SessionID])
	}
}

func (c *Conn) detached(m message) {
	var ev struct {
		SessionID string `json:"sessionId"`
	}
	if jsonv2.Unmarshal(m.Params, &ev, wireOptions) != nil {
		return
	}
	c.mu.Lock()
	s := c.sessions[ev.SessionID]
	delete(c.sessions, ev.SessionID)
	c.mu.Unlock()
	if s != nil {
		c.fail(s, ErrDetached)
		s.close(ErrDetached)
	}
}

// fail answers every waiting call of s with cause.
func (c *Conn) fail(s *Session, cause error) {
	c.mu.Lock()
	var failed []*waiter
	for id, w := range c.waiting {
		if w.session == s {
			delete(c.waiting, id)
			failed = append(failed, w)
		}
	}
	c.mu.Unlock()
	for _, w := range failed {
		w.give(answer{err: fmt.Errorf("%s: %w", w.method, cause)})
	}
}

// write sends queued messages, as many at once as there are.
func (c *Conn) write() {
	defer c.running.Done()
	var batch []byte
	for {
		c.mu.Lock()
		for len(c.out) == 0 && c.err == nil {
			c.wake.Wait()
		}
		if c.err != nil {
			c.mu.Unlock()
			return
		}
		batch, c.out = c.out, batch[:0]
		c.mu.Unlock()
		if _, err := c.rw.Write(batch); err != nil {
			c.end(fmt.Errorf("%w: %w", ErrClosed, err))
			return
		}
		if cap(batch) > readBuffer {
			batch = nil
		}
	}
}

// send queues a command. A nil w means that nobody wants the answer.
func (c *Conn) send(s *Session, method string, params any, w *waiter) (int64, error) {
	raw, err := jsonv2.Marshal(params, wireOptions)
	if err != nil {
		return 0, fmt.Errorf("%s: encode: %w", method, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, fmt.Errorf("%s: %w", method, c.err)
	}
	if cause := s.Err(); cause != nil {
		return 0, fmt.Errorf("%s: %w", method, cause)
	}
	c.next++
	msg := message{ID: c.next, SessionID: s.id, Method: method}
	if !bytes.Equal(raw, []byte("{}")) {
		msg.Params = raw
	}
	encoded, err := jsonv2.Marshal(msg, wireOptions)
	if err != nil {
		return 0, fmt.Errorf("%s: encode: %w", method, err)
	}
	if w != nil {
		c.waiting[c.next] = w
	}
	c.out = append(append(c.out, encoded...), 0)
	c.wake.Signal()
	return c.next, nil
}

// forget drops a call whose caller gave up.
func (c *Conn) forget(id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
}

// pending is a command on its way.
type pending struct {
	conn *Conn
	id   int64
	w    *waiter
}

func (c *Conn) start(s *Session, method string, params any) (pending, error) {
	w := &waiter{session: s, method: method, answer: make(chan answer, 1)}
	id, err := c.send(s, method, params, w)
	return pending{c, id, w}, err
}

func (p pending) wait(ctx context.Context) (jsonv2.Value, error) {
	select {
	case a := <-p.w.answer:
		return a.result, a.err
	case <-ctx.Done():
		p.conn.forget(p.id)
		return nil, fmt.Errorf("%s: %w", p.w.method, context.Cause(ctx))
	}
}
