package cdp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	proto "github.com/chromedp/cdproto/cdp"
	"go.uber.org/goleak"

	"github.com/pagehand/pagehand/internal/cdp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The commands and events of these tests.
type (
	echoParams struct {
		Value string `json:"value,omitempty"`
	}
	echoResult struct {
		Value string `json:"value"`
	}
	tickEvent struct{ N int }
)

var (
	echo = proto.Command[echoParams, echoResult]{Method: "Test.echo"}
	tick = proto.Event[tickEvent]{Method: "Test.tick"}
)

// command is what the peer reads.
type command struct {
	ID        int64      `json:"id"`
	SessionID string     `json:"sessionId"`
	Method    string     `json:"method"`
	Params    echoParams `json:"params"`
}

// peer plays Chromium: it reads commands and writes what a test tells it to.
type peer struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

// connect gives a connection and the peer at its other end. Both are closed with the test.
func connect(t *testing.T) (*cdp.Conn, *peer) {
	t.Helper()
	ours, theirs := net.Pipe()
	c := cdp.NewConn(ours)
	t.Cleanup(func() {
		theirs.Close()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c, &peer{t, theirs, bufio.NewReader(theirs)}
}

func (p *peer) read() command {
	p.t.Helper()
	raw, err := p.in.ReadBytes(0)
	if err != nil {
		p.t.Errorf("the peer reads: %v", err)
		return command{}
	}
	var c command
	if err := json.Unmarshal(raw[:len(raw)-1], &c); err != nil {
		p.t.Errorf("the peer reads %q: %v", raw, err)
	}
	return c
}

func (p *peer) write(format string, args ...any) {
	p.t.Helper()
	if _, err := p.conn.Write(append(fmt.Appendf(nil, format, args...), 0)); err != nil {
		p.t.Errorf("the peer writes: %v", err)
	}
}

func (p *peer) answer(c command) { p.write(`{"id":%d,"result":{"value":%q}}`, c.ID, c.Params.Value) }

// serve answers every command until the connection ends.
func (p *peer) serve() {
	for {
		raw, err := p.in.ReadBytes(0)
		if err != nil {
			return
		}
		var c command
		if json.Unmarshal(raw[:len(raw)-1], &c) != nil {
			return
		}
		if _, err := p.conn.Write(append(fmt.Appendf(nil, `{"id":%d,"result":{"value":%q}}`, c.ID, c.Params.Value), 0)); err != nil {
			return
		}
	}
}

func call(c *cdp.Session, value string) (string, error) {
	res, err := cdp.Call(context.Background(), c, echo, echoParams{value})
	return res.Value, err
}

// TestCallFails is about every way in which a command gets no result: each is an error at once, never a wait.
func TestCallFails(t *testing.T) {
	for _, test := range []struct {
		name string
		peer func(*peer)
		want error
		text string
	}{
		{"refused", func(p *peer) { p.write(`{"id":%d,"error":{"code":-32000,"message":"No","data":"why"}}`, p.read().ID) }, nil, "Test.echo: No (why)"},
		{"result of another shape", func(p *peer) { p.write(`{"id":%d,"result":{"value":[]}}`, p.read().ID) }, nil, "Test.echo: decode the answer"},
		{"no result", func(p *peer) { p.write(`{"id":%d}`, p.read().ID) }, nil, "Test.echo: decode the answer"},
		{"end of the pipe", func(p *peer) { p.read(); p.conn.Close() }, cdp.ErrClosed, ""},
		{"half a message", func(p *peer) { fmt.Fprintf(p.conn, `{"id":%d,`, p.read().ID); p.conn.Close() }, cdp.ErrClosed, ""},
		{"garbage", func(p *peer) { p.read(); p.write("\xff{]") }, cdp.ErrClosed, "unreadable message of 3 bytes"},
		{"an empty message", func(p *peer) { p.read(); p.write("") }, cdp.ErrClosed, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, p := connect(t)
			var peering sync.WaitGroup
			peering.Go(func() { test.peer(p) })
			_, err := call(c.Root(), "x")
			peering.Wait()
			if err == nil || test.want != nil && !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("got %v, want %v %q", err, test.want, test.text)
			}
		})
	}
}

func TestCallGivesUp(t *testing.T) {
	c, p := connect(t)
	cause := errors.New("the caller's reason")
	ctx, cancel := context.WithCancelCause(t.Context())
	pending := cdp.Start(c.Root(), echo, echoParams{"late"})
	late := p.read()
	cancel(cause)
	if _, err := pending.Wait(ctx); !errors.Is(err, cause) {
		t.Errorf("got %v, want the context's cause", err)
	}
	p.answer(late) // nobody waits for it
	go p.serve()
	if got, err := call(c.Root(), "next"); got != "next" || err != nil {
		t.Errorf("the next call: %q, %v", got, err)
	}
}

func TestAnswersOutOfOrder(t *testing.T) {
	c, p := connect(t)
	first, second := cdp.Start(c.Root(), echo, echoParams{"1"}), cdp.Start(c.Root(), echo, echoParams{"2"})
	a, b := p.read(), p.read()
	p.answer(b)
	p.write(`{"id":99,"result":{}}`) // never asked
	p.answer(a)
	for want, pending := range map[string]cdp.Pending[echoResult]{"1": first, "2": second} {
		if res, err := pending.Wait(t.Context()); res.Value != want || err != nil {
			t.Errorf("got %q, %v, want %q", res.Value, err, want)
		}
	}
}

func TestEventsComeBeforeTheAnswer(t *testing.T) {
	c, p := connect(t)
	const flood = 20_000
	seen := 0 // needs no lock: that is the promise
	cdp.On(c.Root(), tick, func(ev tickEvent) {
		if ev.N != seen {
			t.Errorf("event %d came as number %d", ev.N, seen)
		}
		seen++
		if ev.N%1000 == 0 {
			cdp.Post(c.Root(), echo, echoParams{"from a handler"})
		}
	})
	var peering sync.WaitGroup
	peering.Go(func() {
		asked := p.read()
		posted := make(chan struct{})
		go func() {
			defer close(posted)
			for range flood / 1000 {
				p.read()
			}
		}()
		for n := range flood {
			p.write(`{"method":"Test.tick","params":{"N":%d}}`, n)
		}
		p.answer(asked)
		<-posted
	})
	if _, err := call(c.Root(), "x"); err != nil {
		t.Fatal(err)
	}
	if seen != flood {
		t.Errorf("%d events were handled before the answer, want %d", seen, flood)
	}
	peering.Wait()
}

func TestUnsubscribe(t *testing.T) {
	c, p := connect(t)
	go p.serve()
	seen := 0
	var cancel func()
	cancel = cdp.On(c.Root(), tick, func(tickEvent) { seen++; cancel() })
	p.write(`{"method":"Test.tick","params":{"N":1}}`)
	p.write(`{"method":"Test.tick","params":{"N":"not a number"}}`)
	p.write(`{"method":"Test.tick","params":{"N":2}}`)
	if _, err := call(c.Root(), "x"); err != nil {
		t.Fatal(err)
	}
	if seen != 1 {
		t.Errorf("the handler ran %d times, want once", seen)
	}
}

func TestLargeMessage(t *testing.T) {
	c, p := connect(t)
	large := strings.Repeat("0123456789", 5<<20)
	go func() {
		p.answer(command{ID: p.read().ID, Params: echoParams{large}})
		p.serve()
	}()
	if got, err := call(c.Root(), "x"); got != large || err != nil {
		t.Errorf("got %d bytes, %v, want %d", len(got), err, len(large))
	}
	if got, err := call(c.Root(), "small"); got != "small" || err != nil {
		t.Errorf("the next call: %.20q, %v", got, err)
	}
}

// TestHostileText is about lone surrogates and invalid UTF-8 in what a page says: they must not end the connection.
func TestHostileText(t *testing.T) {
	c, p := connect(t)
	go func() {
		p.write(`{"id":%d,"result":{"value":"a\ud800b`+"\xff"+`c"}}`, p.read().ID)
		p.serve()
	}()
	if got, err := call(c.Root(), "x"); !strings.HasPrefix(got, "a") || !strings.HasSuffix(got, "c") || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := call(c.Root(), "next"); err != nil {
		t.Errorf("the next call: %v", err)
	}
}

func TestSessions(t *testing.T) {
	c, p := connect(t)
	attached := make(chan *cdp.Session, 1)
	cdp.On(c.Root(), proto.Event[struct {
		SessionID string `json:"sessionId"`
	}]{Method: "Target.attachedToTarget"}, func(ev struct {
		SessionID string `json:"sessionId"`
	}) {
		attached <- c.Root().Child(ev.SessionID)
	})
	p.write(`{"method":"Target.attachedToTarget","params":{"sessionId":"S"}}`)
	s := <-attached
	pending := cdp.Start(s, echo, echoParams{"x"})
	if got := p.read(); got.SessionID != "S" {
		t.Errorf("the command went to session %q", got.SessionID)
	}
	p.write(`{"method":"Target.detachedFromTarget","params":{"sessionId":"S"}}`)
	if _, err := pending.Wait(t.Context()); !errors.Is(err, cdp.ErrDetached) {
		t.Errorf("the call on its way: %v, want ErrDetached", err)
	}
	<-s.Done()
	if _, err := call(s, "x"); !errors.Is(err, cdp.ErrDetached) {
		t.Errorf("a call afterwards: %v, want ErrDetached", err)
	}
	p.write(`{"sessionId":"S","method":"Test.tick","params":{}}`) // nobody's
	go p.serve()
	if _, err := call(c.Root(), "x"); err != nil {
		t.Errorf("a call on the browser's session: %v", err)
	}
}

func TestFailPending(t *testing.T) {
	c, p := connect(t)
	crashed := errors.New("crashed")
	pending := cdp.Start(c.Root(), echo, echoParams{"x"})
	then := make(chan error, 1)
	cdp.Then(c.Root(), echo, echoParams{"y"}, func(_ echoResult, err error) { then <- err })
	p.read()
	p.read()
	c.Root().FailPending(crashed)
	if _, err := pending.Wait(t.Context()); !errors.Is(err, crashed) {
		t.Errorf("got %v, want the cause", err)
	}
	if err := <-then; !errors.Is(err, crashed) {
		t.Errorf("Then got %v, want the cause", err)
	}
	go p.serve()
	if _, err := call(c.Root(), "x"); err != nil {
		t.Errorf("the session must live on: %v", err)
	}
}

func TestConcurrentCalls(t *testing.T) {
	c, p := connect(t)
	var ticks atomic.Int64
	cdp.On(c.Root(), tick, func(tickEvent) { ticks.Add(1); cdp.Post(c.Root(), echo, echoParams{}) })
	go p.serve()
	var calls sync.WaitGroup
	for i := range 20 {
		calls.Go(func() {
			for j := range 100 {
				value := fmt.Sprint(i, j)
				if got, err := call(c.Root(), value); got != value || err != nil {
					t.Errorf("got %q, %v, want %q", got, err, value)
					return
				}
			}
		})
	}
	calls.Wait()
}

func TestClose(t *testing.T) {
	c, p := connect(t)
	var calls sync.WaitGroup
	for range 10 {
		pending := cdp.Start(c.Root(), echo, echoParams{"x"})
		p.read()
		calls.Go(func() {
			if _, err := pending.Wait(context.Background()); !errors.Is(err, cdp.ErrClosed) {
				t.Errorf("a call on its way: %v, want ErrClosed", err)
			}
		})
	}
	for range 3 {
		calls.Go(func() { c.Close() })
	}
	calls.Wait()
	<-c.Done()
	<-c.Root().Done()
	if _, err := call(c.Root(), "x"); !errors.Is(err, cdp.ErrClosed) {
		t.Errorf("a call afterwards: %v, want ErrClosed", err)
	}
	if !errors.Is(c.Err(), cdp.ErrClosed) {
		t.Errorf("Err: %v", c.Err())
	}
	cdp.Post(c.Root(), echo, echoParams{}) // says nothing
}
