package page

import (
	"fmt"
	"strings"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/internal/cdp"
	"github.com/pagehand/pagehand/internal/redact"
)

const (
	mostEntries  = 1000    // kept of the console, and of the traffic
	mostLogBytes = 1 << 20 // of text kept in each
	longestEntry = 4 << 10 // of an entry as it arrives, in bytes
	longestLine  = 500     // of a line as it is read, in characters
	mostLookups  = 50      // console objects that are being looked into at once
	mostObjects  = 2000    // of the console that Chromium holds on to for us
)

// logs records what the tab's console said and what it requested since it was attached, for read_console and read_network. It goes on
// over navigations; the newest entries are kept, and how many older ones were dropped is counted.
type logs struct {
	console, traffic ring
	requests         map[network.RequestID]*request // of traffic, on their way; nil when it isn't recorded
	lookups          int                            // console objects being looked into
}

// record is one entry of a log.
type record interface {
	size() int
	line() string
}

// ring keeps the newest records.
type ring struct {
	records []record
	bytes   int
	dropped int
	place   string // where the tab navigated to since the last record
}

// marker is the line between the entries of two documents.
type marker string

func (m marker) size() int { return len(m) }
func (m marker) line() string {
	return "--- navigated to " + redact.URL(cleanURL(string(m), 300)) + " ---"
}

func (r *ring) add(e record) {
	if r.place != "" {
		m := marker(r.place)
		r.place = ""
		r.add(m)
	}
	r.records = append(r.records, e)
	r.bytes += e.size()
	for len(r.records) > mostEntries || r.bytes > mostLogBytes && len(r.records) > 1 {
		r.bytes -= r.records[0].size()
		if _, isMarker := r.records[0].(marker); !isMarker {
			r.dropped++
		}
		r.records[0] = nil
		r.records = r.records[1:]
	}
}

func (r *ring) last() record {
	if len(r.records) == 0 || r.place != "" {
		return nil
	}
	return r.records[len(r.records)-1]
}

// take empties the ring, but for the records that keep holds on to.
func (r *ring) take(keep func(record) bool) (records []record, dropped int) {
	records, dropped = r.records, r.dropped
	*r = ring{place: r.place}
	for _, e := range records {
		if keep(e) {
			r.records = append(r.records, e)
			r.bytes += e.size()
		}
	}
	return records, dropped
}

// lines renders records, outside the lock: redacting is the expensive part.
func lines(records []record, dropped int, what string) []string {
	var out []string
	if dropped > 0 {
		out = append(out, fmt.Sprintf("(%d older %s dropped)", dropped, what))
	}
	for _, e := range records {
		out = append(out, e.line())
	}
	return out
}

// TakeConsole hands over the console entries since the last time, oldest first, one clean, redacted line each, with a line at the
// top when older ones had to be dropped. Equal consecutive entries are one line that counts them. Nothing is recorded unless
// [Options].Console is set.
func (p *Page) TakeConsole() []string {
	p.mu.Lock()
	records, dropped := p.logs.console.take(func(record) bool { return false })
	for i, e := range records {
		if m, ok := e.(*message); ok {
			copied := *m // an answer about its objects may still come
			records[i] = &copied
		}
	}
	p.mu.Unlock()
	return lines(records, dropped, "entries were")
}

// TakeTraffic hands over the requests since the last time, oldest first, one clean, redacted line each. A request that has no answer yet
// is told as pending once, and again when it has ended. Nothing is recorded unless [Options].Traffic is set.
func (p *Page) TakeTraffic() []string {
	p.mu.Lock()
	records, dropped := p.logs.traffic.take(func(e record) bool {
		r, ok := e.(*request)
		return ok && !r.ended()
	})
	told := make([]record, 0, len(records))
	for _, e := range records {
		r, ok := e.(*request)
		if !ok {
			told = append(told, e)
			continue
		}
		if r.ended() || !r.told {
			copied := *r
			told = append(told, &copied)
		}
		r.told = true
	}
	p.mu.Unlock()
	return lines(told, dropped, "requests were")
}

// watchLogs records the console of a page's or frame's session, and its web sockets; other requests come by [Page.watchRequests].
func (p *Page) watchLogs(s *cdp.Session) {
	cdp.On(s, page.FrameNavigated, func(ev page.EventFrameNavigated) {
		top := ev.Frame.ID == p.main
		p.record(func(l *logs) {
			l.replaced(ev.Frame, top)
			if top && ev.Frame.URL != "about:blank" {
				where := cutBytes(ev.Frame.URL, longestEntry)
				l.console.place, l.traffic.place = where, where
			}
		})
	})
	if p.opts.Traffic {
		p.record(func(l *logs) {
			if l.requests == nil {
				l.requests = map[network.RequestID]*request{}
			}
		})
		p.watchSockets(s)
	}
	if p.opts.Console {
		source := ""
		if s != p.session {
			source = "frame"
		}
		p.watchConsole(s, source)
	}
}

// watchWorker records the console and the requests of a worker.
func (p *Page) watchWorker(s *cdp.Session) {
	if p.opts.Console {
		p.watchConsole(s, "worker")
	}
	if !p.opts.Traffic {
		return
	}
	p.watchSockets(s)
	cdp.On(s, network.RequestWillBeSent, func(ev network.EventRequestWillBeSent) { p.record(func(l *logs) { l.requested(ev) }) })
	cdp.On(s, network.ResponseReceived, func(ev network.EventResponseReceived) { p.record(func(l *logs) { l.responded(ev) }) })
	cdp.On(s, network.LoadingFinished, func(ev network.EventLoadingFinished) { p.record(func(l *logs) { l.finished(ev) }) })
	cdp.On(s, network.LoadingFailed, func(ev network.EventLoadingFailed) { p.record(func(l *logs) { l.failed(ev) }) })
	cdp.Post(s, network.Enable, network.EnableParams{})
}

// record changes the logs. Nobody waits for them, so it wakes nobody.
func (p *Page) record(change func(*logs)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.logs)
}

// watchConsole records console calls, uncaught exceptions and Chromium's own messages. source is "", "frame" or "worker".
func (p *Page) watchConsole(s *cdp.Session, source string) {
	// The contexts of child frames, by both names Chromium has for them. Only handlers use these, which run one at a time.
	ids, inFrame := map[string]runtime.ExecutionContextID{}, map[runtime.ExecutionContextID]bool{}
	from := func(id runtime.ExecutionContextID) string {
		if source == "" && inFrame[id] {
			return "frame"
		}
		return source
	}
	cdp.On(s, runtime.ExecutionContextCreated, func(ev runtime.EventExecutionContextCreated) {
		var aux struct {
			FrameID proto.FrameID `json:"frameId"`
		}
		if jsonv2.Unmarshal(ev.Context.AuxData, &aux) == nil && aux.FrameID != p.main {
			ids[ev.Context.UniqueID], inFrame[ev.Context.ID] = ev.Context.ID, true
		}
	})
	cdp.On(s, runtime.ExecutionContextDestroyed, func(ev runtime.EventExecutionContextDestroyed) {
		delete(inFrame, ids[ev.ExecutionContextUniqueID])
		delete(ids, ev.ExecutionContextUniqueID)
	})
	cdp.On(s, runtime.ExecutionContextsCleared, func(runtime.EventExecutionContextsCleared) {
		clear(ids)
		clear(inFrame)
	})
	objects := 0
	cdp.On(s, runtime.ConsoleAPICalled, func(ev runtime.EventConsoleAPICalled) {
		p.spoke(s, ev, from(ev.ExecutionContextID))
		for _, arg := range ev.Args {
			if arg.ObjectID != "" {
				objects++
			}
		}
		if objects >= mostObjects {
			objects = 0
			cdp.Post(s, runtime.DiscardConsoleEntries, proto.Empty{})
			cdp.Post(s, runtime.ReleaseObjectGroup, runtime.ReleaseObjectGroupParams{ObjectGroup: "console"})
		}
	})
	cdp.On(s, runtime.ExceptionThrown, func(ev runtime.EventExceptionThrown) {
		if d := ev.ExceptionDetails; d != nil {
			e := thrown(d, from(d.ExecutionContextID))
			p.record(func(l *logs) { l.said(e) })
		}
	})
	cdp.On(s, cdplog.EntryAdded, func(ev cdplog.EventEntryAdded) {
		if ev.Entry != nil && ev.Entry.WorkerID == "" { // what a worker says comes from its own session
			e := noted(ev.Entry, source)
			p.record(func(l *logs) { l.said(e) })
		}
	})
	cdp.Post(s, runtime.Enable, proto.Empty{})
	cdp.Post(s, cdplog.Enable, proto.Empty{})
}

// said adds a console entry, or counts it when it repeats the last one.
func (l *logs) said(e *message) {
	if last, ok := l.console.last().(*message); ok && last.equal(e) {
		last.times++
		return
	}
	l.console.add(e)
}

// cleanLine makes one clean line of page text, cut to so many characters.
func cleanLine(s string, most int) string { return shorten(contract.CleanTitle(s), most) }

// cleanURL makes an address fit for a line. Its user name and password go too.
func cleanURL(s string, most int) string { return shorten(contract.CleanURL(s), most) }

// cutBytes bounds a text as it arrives. What it cuts in two goes whole, so that half a credential is not taken for none.
func cutBytes(s string, most int) string {
	if len(s) <= most {
		return s
	}
	s = s[:most]
	if at := strings.LastIndexAny(s, " \t\r\n,;&"); at > most/2 {
		s = s[:at]
	}
	return strings.ToValidUTF8(s, "") + "…"
}
