package cdp

import (
	"context"
	"fmt"
	"sync"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
)

// Session is a CDP session: the browser itself, a page, or a frame in a process of its own.
type Session struct {
	conn   *Conn
	id     string
	parent *Session
	done   chan struct{}

	mu       sync.Mutex
	handlers map[string][]*handler
	ended    error
}

type handler struct{ fn func(jsonv2.Value) }

func newSession(c *Conn, id string, parent *Session) *Session {
	return &Session{conn: c, id: id, parent: parent, done: make(chan struct{}), handlers: map[string][]*handler{}}
}

// ID is Chromium's name for the session, empty for the browser's own.
func (s *Session) ID() string { return s.id }

// Conn is the connection that carries the session.
func (s *Session) Conn() *Conn { return s.conn }

// Child is the session with that ID, nil when it has ended. A handler of Target.attachedToTarget finds the new one here.
func (s *Session) Child(id string) *Session {
	s.conn.mu.Lock()
	defer s.conn.mu.Unlock()
	return s.conn.sessions[id]
}

// Done is closed when the session has ended.
func (s *Session) Done() <-chan struct{} { return s.done }

// FailPending answers every waiting call of the session with cause. Chromium never answers what was on its way
// when a renderer crashed.
func (s *Session) FailPending(cause error) { s.conn.fail(s, cause) }

// Err is what ended the session: [ErrDetached], or [ErrClosed] when the connection ended; nil while it lasts.
func (s *Session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

func (s *Session) close(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended == nil {
		s.ended = cause
		close(s.done)
	}
}

func (s *Session) dispatch(method string, params jsonv2.Value) {
	s.mu.Lock()
	handlers := s.handlers[method]
	s.mu.Unlock()
	for _, h := range handlers {
		h.fn(params)
	}
}

// subscribe adds a handler. Handler lists are copied on change, so that dispatch needs no lock while it runs them.
func (s *Session) subscribe(method string, fn func(jsonv2.Value)) (cancel func()) {
	h := &handler{fn}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handlers[method] = append(append([]*handler(nil), s.handlers[method]...), h)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		var rest []*handler
		for _, other := range s.handlers[method] {
			if other != h {
				rest = append(rest, other)
			}
		}
		s.handlers[method] = rest
	}
}

// Call runs a command on the session and waits for its answer. It fails with the context's cause, with an [*Error]
// when Chromium refuses, with [ErrDetached] or [ErrClosed] when the other side is gone.
func Call[P, R any](ctx context.Context, s *Session, c proto.Command[P, R], params P) (R, error) {
	return Start(s, c, params).Wait(ctx)
}

// Post sends a command whose answer nobody needs. It never blocks, so handlers may use it.
func Post[P, R any](s *Session, c proto.Command[P, R], params P) {
	// A failure means that the session or connection has ended, which its owner learns by Done.
	_, _ = s.conn.send(s, c.Method, params, nil)
}

// Pending is a command on its way: several may be started before the first is waited for, and Chromium runs them in order.
type Pending[R any] struct {
	p   pending
	err error
}

// Start sends a command without waiting for its answer. It never blocks.
func Start[P, R any](s *Session, c proto.Command[P, R], params P) Pending[R] {
	p, err := s.conn.start(s, c.Method, params)
	return Pending[R]{p, err}
}

// Wait waits for the answer. Call it once.
func (p Pending[R]) Wait(ctx context.Context) (R, error) {
	var res R
	if p.err != nil {
		return res, p.err
	}
	raw, err := p.p.wait(ctx)
	if err != nil {
		return res, err
	}
	if err := jsonv2.Unmarshal(raw, &res, wireOptions); err != nil {
		return res, fmt.Errorf("%s: decode the answer: %w", p.p.w.method, err)
	}
	return res, nil
}

// Then sends a command and calls fn with its answer on the reading goroutine, in order with the events around it: fn must
// not block and must not [Call].
func Then[P, R any](s *Session, c proto.Command[P, R], params P, fn func(R, error)) {
	w := &waiter{session: s, method: c.Method, then: func(a answer) {
		var res R
		err := a.err
		if err == nil {
			err = jsonv2.Unmarshal(a.result, &res, wireOptions)
		}
		fn(res, err)
	}}
	if _, err := s.conn.send(s, c.Method, params, w); err != nil {
		var zero R
		fn(zero, err)
	}
}

// On calls fn for each such event of the session, on the reading goroutine: fn must not block and must not [Call].
// An event that does not decode is dropped. The returned function ends the subscription.
func On[E any](s *Session, e proto.Event[E], fn func(E)) (cancel func()) {
	return s.subscribe(e.Method, func(raw jsonv2.Value) {
		var ev E
		if jsonv2.Unmarshal(raw, &ev, wireOptions) == nil {
			fn(ev)
		}
	})
}
