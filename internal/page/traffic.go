package page

import (
	"fmt"
	"strings"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"

	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/internal/cdp"
	"github.com/pagehand/pagehand/internal/redact"
)

// request is one entry of the traffic: a request and what became of it. Each step of a redirect is an entry of its own.
type request struct {
	id       network.RequestID
	method   string
	url      string
	started  proto.MonotonicTime // 0 when unknown
	finished proto.MonotonicTime
	status   int64
	mime     string
	bytes    float64 // received over the network
	cached   bool
	done     bool
	outcome  string // what became of it, in words, when it was not answered in full
	frame    proto.FrameID
	loader   proto.LoaderID // of the document that asked, empty for workers and web sockets
	told     bool           // as pending
}

func (r *request) ended() bool { return r.done || r.outcome != "" }

func (r *request) size() int { return len(r.url) + 128 }

// line is the request as the model reads it:
//
//	GET https://example.com/app.js 200 text/javascript 12 ms 3.4 kB
//	GET https://example.com/api failed: net::ERR_CONNECTION_REFUSED 3 ms
//	POST https://example.com/slow pending
//	GET https://example.com/beacon unanswered when the page was left
func (r *request) line() string {
	var b strings.Builder
	b.WriteString(cleanLine(r.method, 20) + " " + shorten(redact.URL(contract.CleanURL(r.url)), longestLine-120))
	if r.status > 0 {
		fmt.Fprintf(&b, " %d", r.status)
		if r.mime != "" {
			b.WriteString(" " + cleanLine(r.mime, 60))
		}
	}
	switch {
	case r.outcome != "":
		b.WriteString(" " + cleanLine(r.outcome, 80))
	case !r.done:
		b.WriteString(" pending")
	}
	if r.ended() && r.started > 0 && r.finished >= r.started {
		fmt.Fprintf(&b, " %.0f ms", (r.finished-r.started).Float64()*1000)
	}
	switch {
	case r.cached:
		b.WriteString(" (cached)")
	case r.done && r.bytes > 0:
		b.WriteString(" " + inBytes(r.bytes))
	}
	return b.String()
}

func inBytes(n float64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%.0f B", n)
	case n < 1e6:
		return fmt.Sprintf("%.1f kB", n/1e3)
	}
	return fmt.Sprintf("%.1f MB", n/1e6)
}

// start records a request, if traffic is recorded at all.
func (l *logs) start(r *request) {
	if l.requests == nil {
		return
	}
	l.traffic.add(r)
	l.requests[r.id] = r
	if len(l.requests) <= mostEntries {
		return
	}
	kept := map[network.RequestID]*request{} // of those that are still in the ring
	for _, e := range l.traffic.records {
		if r, ok := e.(*request); ok && !r.ended() {
			kept[r.id] = r
		}
	}
	l.requests = kept
}

func (l *logs) requested(ev network.EventRequestWillBeSent) {
	if ev.Request == nil || strings.HasPrefix(ev.Request.URL, "data:") {
		return // nothing travels
	}
	if r := l.requests[ev.RequestID]; r != nil && ev.RedirectResponse != nil {
		r.answered(ev.RedirectResponse)
		l.end(ev.RequestID, ev.Timestamp, func(r *request) { r.done = true })
	}
	l.start(&request{
		id: ev.RequestID, method: ev.Request.Method, url: cutBytes(ev.Request.URL, longestEntry), started: ev.Timestamp,
		frame: ev.FrameID, loader: ev.LoaderID,
	})
}

func (r *request) answered(res *network.Response) {
	r.status, r.mime = res.Status, cutBytes(res.MimeType, 200)
	r.cached = res.FromDiskCache || res.FromPrefetchCache
	r.bytes = res.EncodedDataLength
}

func (l *logs) responded(ev network.EventResponseReceived) {
	if r := l.requests[ev.RequestID]; r != nil && ev.Response != nil {
		r.answered(ev.Response)
	}
}

func (l *logs) finished(ev network.EventLoadingFinished) {
	l.end(ev.RequestID, ev.Timestamp, func(r *request) {
		r.done = true
		r.bytes = ev.EncodedDataLength
	})
}

func (l *logs) failed(ev network.EventLoadingFailed) {
	l.end(ev.RequestID, ev.Timestamp, func(r *request) {
		switch {
		case ev.BlockedReason != "":
			r.outcome = "failed: blocked (" + string(ev.BlockedReason) + ")"
		case ev.Canceled && (r.status == 204 || r.status == 205 || r.status == 304):
			r.done = true // it has no body that the page could have stopped
		case ev.Canceled || ev.ErrorText == "":
			r.outcome = "cancelled"
		default:
			r.outcome = "failed: " + cutBytes(ev.ErrorText, 200)
		}
	})
}

func (l *logs) end(id network.RequestID, at proto.MonotonicTime, how func(*request)) {
	r := l.requests[id]
	if r == nil {
		return
	}
	delete(l.requests, id)
	r.finished = at
	how(r)
}

// replaced ends what the earlier documents of a frame, or of the whole tab, still waited for: Chromium doesn't
// tell what becomes of it.
func (l *logs) replaced(doc *proto.Frame, tab bool) {
	for id, r := range l.requests {
		if r.loader != "" && r.loader != doc.LoaderID && (tab || r.frame == doc.ID) {
			delete(l.requests, id)
			r.outcome = "unanswered when the page was left"
		}
	}
}

// watchSockets records web sockets: pending while open, done when closed.
func (p *Page) watchSockets(s *cdp.Session) {
	cdp.On(s, network.WebSocketCreated, func(ev network.EventWebSocketCreated) {
		p.record(func(l *logs) {
			l.start(&request{id: ev.RequestID, method: "WebSocket", url: cutBytes(ev.URL, longestEntry)})
		})
	})
	cdp.On(s, network.WebSocketHandshakeResponseReceived, func(ev network.EventWebSocketHandshakeResponseReceived) {
		p.record(func(l *logs) {
			if r := l.requests[ev.RequestID]; r != nil && ev.Response != nil {
				r.status = ev.Response.Status
			}
		})
	})
	cdp.On(s, network.WebSocketFrameError, func(ev network.EventWebSocketFrameError) {
		p.record(func(l *logs) {
			l.end(ev.RequestID, ev.Timestamp, func(r *request) { r.outcome = "failed: " + cutBytes(ev.ErrorMessage, 200) })
		})
	})
	cdp.On(s, network.WebSocketClosed, func(ev network.EventWebSocketClosed) {
		p.record(func(l *logs) { l.end(ev.RequestID, ev.Timestamp, func(r *request) { r.done = true }) })
	})
}
