// Package page drives one tab of Chromium: its frames, navigation, input, pictures and readings.
//
// A [Page] keeps what Chromium reports of the tab (frames, loads, requests, dialogs) up to date in event handlers, which run on the
// connection's reading goroutine, and waits for conditions over that state. Scripts run in an isolated world of their own that pages cannot
// see or patch; what they return is page content all the same, so it is bounded and cleaned. Methods are safe for concurrent use, but input
// of two callers to one page mixes: the session runs its calls one at a time.
package page

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"github.com/pagehand/pagehand/internal/cdp"
)

// Options says how tabs of a session look and behave. They hold for every document and frame of the tab.
type Options struct {
	// Width and Height are the viewport in CSS pixels; Scale is the device scale factor.
	Width, Height int
	Scale         float64
	Emulation     Emulation
	// AcceptDialogs accepts alert, confirm and prompt instead of dismissing them. beforeunload is always accepted.
	AcceptDialogs bool
	// Console and Traffic record console entries and requests for read_console and read_network.
	Console, Traffic bool
	// Refs are the session's element references.
	Refs *Refs
	// WhyNot says what the egress proxy knows of a failed request: as a sentence part why it refused the address, or the network error
	// that kept it from connecting (net::ERR_…). Both are empty when it knows nothing. Nil without a proxy.
	WhyNot func(url string) (refusal, code string)
	// Log receives what no caller is told.
	Log *slog.Logger
}

// ErrCrashed is the cause when the tab's renderer died.
var ErrCrashed = errors.New("the tab crashed")

// ErrDialogs is the cause when a call was given up because the page opened dialogs without end.
var ErrDialogs = errors.New("the page opens dialogs without end")

// Problem is a failure that the model can understand and act on. Its text is one line and names what to do next.
type Problem struct{ Text string }

func (p *Problem) Error() string { return p.Text }

func problemf(format string, args ...any) error { return &Problem{fmt.Sprintf(format, args...)} }

// Page is one tab.
type Page struct {
	session *cdp.Session
	opts    *Options
	main    proto.FrameID
	running chan struct{} // closed when the tab has been set up and runs

	mu        sync.Mutex
	changed   chan struct{} // closed and replaced whenever the state below changes
	frames    map[proto.FrameID]*frame
	worlds    map[proto.LoaderID]*world
	loads     map[proto.LoaderID]*load
	pending   map[proto.FrameID]navigation
	expected  expected
	stayed    bool // a navigation of the tab came to nothing, or to a download that has not begun
	downloads int  // begun in the tab
	clock     int  // counts navigations and requests, so that "since" can be asked
	flights   map[network.RequestID]flight
	notes     notes
	logs      logs
	title     string
	dialogs   int  // opened since the running call began
	turnover  int  // documents shown since the last call began
	crashed   bool // the renderer died

	recovering bool // the ladder is being climbed
	ending     bool // we are ending the renderer
	stuck      bool // the page kept the running call from leaving it
}

// Attach takes over the tab behind a new CDP session, which waits for the debugger or not. It only sends: call it from the
// handler that learns of the session, so that no event is missed.
func Attach(s *cdp.Session, info *target.Info, opts *Options) *Page {
	p := &Page{
		session: s,
		opts:    opts,
		main:    proto.FrameID(info.TargetID),
		changed: make(chan struct{}),
		running: make(chan struct{}),
		frames:  map[proto.FrameID]*frame{},
		worlds:  map[proto.LoaderID]*world{},
		loads:   map[proto.LoaderID]*load{},
		pending: map[proto.FrameID]navigation{},
		flights: map[network.RequestID]flight{},
	}
	p.frames[p.main] = &frame{id: p.main, session: s, url: info.URL}
	cdp.On(s, inspector.TargetCrashed, func(inspector.EventTargetCrashed) { p.crash() })
	cdp.Post(s, inspector.Enable, proto.Empty{})
	size := emulation.SetDeviceMetricsOverrideParams{Width: int64(opts.Width), Height: int64(opts.Height), DeviceScaleFactor: opts.Scale}
	cdp.Post(s, emulation.SetDeviceMetricsOverride, size)
	cdp.Post(s, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	p.setUp(s)
	installLibrary(s)
	cdp.Then(s, runtime.RunIfWaitingForDebugger, proto.Empty{}, func(proto.Empty, error) { close(p.running) })
	return p
}

// Running waits until the tab has been set up. A navigation before that would race with it, in two processes of Chromium.
func (p *Page) Running(ctx context.Context) error {
	select {
	case <-p.running:
		return nil
	case <-p.session.Done():
		return p.session.Err()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// setUp prepares a CDP session of the tab, its own or that of a frame in another process, which the caller lets run then.
func (p *Page) setUp(s *cdp.Session) {
	p.watchFrames(s)
	p.watchRequests(s)
	p.watchDialogs(s)
	p.watchLogs(s)
	cdp.Post(s, page.Enable, page.EnableParams{})
	cdp.Post(s, page.SetLifecycleEventsEnabled, page.SetLifecycleEventsEnabledParams{Enabled: true})
	cdp.Post(s, network.Enable, network.EnableParams{})
	p.opts.Emulation.apply(s)
	yes := true
	cdp.On(s, target.AttachedToTarget, func(ev target.EventAttachedToTarget) { p.attached(s, ev) })
	cdp.Post(s, target.SetAutoAttach, target.SetAutoAttachParams{AutoAttach: true, WaitForDebuggerOnStart: true, Flatten: &yes})
	cdp.Then(s, page.GetFrameTree, proto.Empty{}, func(res page.GetFrameTreeResult, err error) {
		if err == nil {
			p.update(func() { p.addTree(s, res.FrameTree) })
		}
	})
}

// attached takes over a child of a session: a frame in a process of its own, or a worker, which is only let run.
func (p *Page) attached(parent *cdp.Session, ev target.EventAttachedToTarget) {
	s := parent.Child(string(ev.SessionID))
	if s == nil {
		return
	}
	if ev.TargetInfo.Type != "iframe" {
		p.watchWorker(s)
		cdp.Post(s, runtime.RunIfWaitingForDebugger, proto.Empty{})
		return
	}
	id := proto.FrameID(ev.TargetInfo.TargetID)
	p.update(func() {
		f := p.frames[id]
		if f == nil {
			f = &frame{id: id, parent: ev.TargetInfo.ParentFrameID}
			p.addFrame(f)
		}
		f.session, f.loader = s, "" // its document is told by the new session
	})
	cdp.On(s, inspector.TargetCrashed, func(inspector.EventTargetCrashed) {
		p.update(func() { p.removeFrame(id) })
		s.FailPending(cdp.ErrDetached)
	})
	cdp.Post(s, inspector.Enable, proto.Empty{})
	p.setUp(s)
	cdp.Post(s, runtime.RunIfWaitingForDebugger, proto.Empty{})
}

// Gone is closed when the tab has been closed.
func (p *Page) Gone() <-chan struct{} { return p.session.Done() }

// Ending tells whether a call is ending the tab's renderer, which will then die without a loss.
func (p *Page) Ending() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ending
}

// Title is the last known title, as the page gave it.
func (p *Page) Title() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.title
}

// Retitled records what Chromium reports of the tab's title. It comes late, perhaps of the document before, and is the address where the page
// has no title.
func (p *Page) Retitled(info *target.Info) {
	p.update(func() {
		if f := p.frames[p.main]; info.URL == f.url && !isAddress(info.Title, info.URL) {
			p.title = info.Title
		}
	})
}

// isAddress tells whether a title is only what Chromium shows of an address.
func isAddress(title, address string) bool {
	bare := func(s string) string {
		if decoded, err := url.PathUnescape(s); err == nil {
			s = decoded
		}
		for _, prefix := range []string{"https://", "http://", "www."} {
			s = strings.TrimPrefix(s, prefix)
		}
		return strings.TrimSuffix(s, "/")
	}
	return bare(title) == bare(address)
}

// URL is the address of the document that the tab shows, for an error page the one that could not be loaded. A new tab whose first
// navigation came to nothing shows about:blank, though Chromium gives no address for it.
func (p *Page) URL() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if address := p.frames[p.main].address(); address != "" {
		return address
	}
	return "about:blank"
}

// update changes the state and wakes everyone who waits for it.
func (p *Page) update(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	close(p.changed)
	p.changed = make(chan struct{})
}

// await waits until cond, which is called with the state locked, holds. It fails with the context's cause, or when the tab is gone.
func (p *Page) await(ctx context.Context, cond func() bool) error {
	for {
		p.mu.Lock()
		ok, crashed, storm, changed := cond(), p.crashed, p.storming(), p.changed
		p.mu.Unlock()
		if ok {
			return nil
		}
		if crashed {
			return ErrCrashed
		}
		if storm {
			return ErrDialogs
		}
		select {
		case <-changed:
		case <-p.session.Done():
			return p.session.Err()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
