package page

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"

	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/internal/cdp"
)

// loadPatience is how long a committed document may go on loading before a navigation counts as done all the same.
const loadPatience = 10 * time.Second

// load is what is known of one document's loading.
type load struct {
	asked     bool // the server has been asked for it
	committed int  // the clock when it was committed, 0 before
	ready     bool
	loaded    bool
	status    int    // of HTTP, 0 when there was none
	mime      string // of the answer
	realm     string // what HTTP authentication is asked for, as the server names it
	failure   string // net::ERR_… when it failed
	url       string // that was asked for last, after redirects
	refusal   string // why the egress proxy refused that, as a sentence part
	download  bool   // it became a download instead
}

// navigation is one under way in a frame: asked for by the page, or started.
type navigation struct {
	loader proto.LoaderID // empty while it is only asked for
	url    string
	since  int
}

// load gives the record of a document, and makes it. The oldest are forgotten: they only serve while a load is watched.
func (p *Page) load(id proto.LoaderID) *load {
	l := p.loads[id]
	if l == nil {
		l = &load{}
		p.loads[id] = l
		p.prune()
	}
	return l
}

// prune bounds what is remembered of documents that no frame shows any more.
func (p *Page) prune() {
	const most = 500
	if len(p.loads) < most {
		return
	}
	shown := map[proto.LoaderID]bool{}
	for _, f := range p.frames {
		shown[f.loader] = true
	}
	for _, n := range p.pending {
		shown[n.loader] = true
	}
	for id := range p.loads {
		if !shown[id] {
			delete(p.loads, id)
		}
	}
	for id := range p.worlds {
		if !shown[id] {
			delete(p.worlds, id)
		}
	}
}

func (p *Page) watchLoads(s *cdp.Session) {
	cdp.On(s, page.LifecycleEvent, func(ev page.EventLifecycleEvent) {
		switch ev.Name {
		case "DOMContentLoaded":
			p.update(func() { p.load(ev.LoaderID).ready = true })
		case "load":
			p.update(func() {
				l := p.load(ev.LoaderID)
				l.ready, l.loaded = true, true
			})
		}
	})
	cdp.On(s, page.FrameRequestedNavigation, func(ev page.EventFrameRequestedNavigation) {
		switch ev.Disposition {
		case page.ClientNavigationDispositionCurrentTab:
		case page.ClientNavigationDispositionNewTab, page.ClientNavigationDispositionNewWindow:
			p.update(func() { p.expect(&p.expected.tab) })
			return
		case page.ClientNavigationDispositionDownload:
			p.update(func() { p.expect(&p.expected.download) })
			return
		default:
			return
		}
		p.update(func() {
			p.clock++
			if _, started := p.pending[ev.FrameID]; !started {
				p.pending[ev.FrameID] = navigation{url: ev.URL, since: p.clock}
			}
		})
	})
	cdp.On(s, page.WindowOpen, func(page.EventWindowOpen) { p.update(func() { p.expect(&p.expected.tab) }) })
	cdp.On(s, page.FrameStartedNavigating, func(ev page.EventFrameStartedNavigating) {
		switch ev.NavigationType {
		case page.FrameStartedNavigatingNavigationTypeSameDocument, page.FrameStartedNavigatingNavigationTypeHistorySameDocument:
			return // it is over at once
		}
		p.update(func() {
			p.clock++
			p.pending[ev.FrameID] = navigation{loader: ev.LoaderID, url: ev.URL, since: p.clock}
			if p.pending[ev.FrameID].external() {
				p.notes.add(fmt.Sprintf("The page asked for another program to open %q; that was refused.", shorten(oneLine(ev.URL), 200)))
			}
		})
	})
	cdp.On(s, page.FrameStoppedLoading, func(ev page.EventFrameStoppedLoading) {
		// A restored page is reported as no longer loading before it is reported as navigated to, so only what never
		// started ends here.
		p.update(func() {
			if p.pending[ev.FrameID].loader == "" {
				delete(p.pending, ev.FrameID)
			}
		})
	})
}

// internal are the schemes of addresses that the browser opens itself, or refuses by itself.
var internal = map[string]bool{
	"http": true, "https": true, "about": true, "data": true, "blob": true, "filesystem": true, "javascript": true, "file": true, "ftp": true,
	"view-source": true, "chrome": true, "chrome-error": true, "chrome-extension": true, "chrome-untrusted": true, "devtools": true,
}

// external tells whether the address is for another program of the machine, which no page may start: mailto:, tel: and the like.
func (n navigation) external() bool {
	scheme, _, _ := strings.Cut(n.url, ":")
	return !internal[strings.ToLower(scheme)]
}

// failed records that a document's request ended without one. Chromium then commits an error page under the same loader, which ends the
// navigation, unless it was aborted.
func (p *Page) failed(loader proto.LoaderID, reason string) {
	l := p.load(loader)
	l.failure = reason
	if p.opts.WhyNot != nil && byProxy[reason] {
		refusal, code := p.opts.WhyNot(l.url)
		l.refusal, l.failure = refusal, cmp.Or(code, reason)
	}
	if reason != "net::ERR_ABORTED" {
		return
	}
	for id, n := range p.pending {
		if n.loader != loader {
			continue
		}
		delete(p.pending, id)
		p.stayed = p.stayed || id == p.main
		switch {
		case l.status == 204, l.status == 205, n.external():
		case n.refusedData(l.mime):
			p.notes.add("The browser does not open data: addresses in a tab of their own; the tab stays as it was.")
		default:
			p.expect(&p.expected.download) // that is how a navigation to a download ends
		}
	}
}

// refusedData tells whether this is a data: address that Chromium could show, which it refuses in a tab (and does not tell us). Any other
// MIME type becomes a download.
func (n navigation) refusedData(mime string) bool {
	return strings.HasPrefix(n.url, "data:") && (mime == "text/html" || mime == "text/plain" || strings.HasPrefix(mime, "image/"))
}

// Downloading tells the page that a download has begun in one of its frames, which a navigation of it may have turned out to be.
func (p *Page) Downloading(id proto.FrameID) {
	p.update(func() {
		if n, ok := p.pending[id]; ok && n.loader != "" {
			p.load(n.loader).download = true
		}
		p.expected.download = 0
		p.downloads++
		p.stayed = p.stayed && id != p.main
		delete(p.pending, id)
	})
}

// HasFrame tells whether a frame is one of the tab's.
func (p *Page) HasFrame(id proto.FrameID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.frames[id] != nil
}

// Arrival says where a navigation ended.
type Arrival struct {
	URL      string
	Status   int    // of HTTP, 0 when there was none
	Loading  bool   // committed, but still loading after the wait
	Download bool   // the answer is a download; the tab stays where it was
	Stayed   bool   // the server sent no content (204, 205); the tab stays where it was
	Failure  string // why there is no page, as a sentence part; the tab shows Chromium's error page, or stays where it was
	Refused  bool   // it failed because the egress proxy refused URL
}

// blame notes why a document could not be loaded.
func (a *Arrival) blame(l *load) {
	a.Failure = l.reason()
	if a.Refused = l.refusal != ""; a.Refused {
		a.URL = l.url
	}
}

// Navigate loads an address. When nothing has been committed by the context's deadline, loading is stopped and the context's cause returned.
func (p *Page) Navigate(ctx context.Context, url string) (Arrival, error) {
	from := p.Mark()
	defer p.free(ctx)()
	res, err := cdp.Call(ctx, p.session, page.Navigate, page.NavigateParams{URL: url})
	if err != nil {
		if ctx.Err() != nil {
			cdp.Post(p.session, page.StopLoading, proto.Empty{})
		}
		return Arrival{}, err
	}
	if res.IsDownload || res.ErrorText == "net::ERR_ABORTED" {
		if err := p.await(ctx, func() bool { return p.expected.download == 0 }); err != nil {
			return Arrival{}, err
		}
		return p.aborted(res, url), nil
	}
	if res.LoaderID == "" {
		if err := p.arrivedWithin(ctx, from); err != nil {
			return Arrival{}, err
		}
		return p.arrival(ctx)
	}
	if res.ErrorText != "" {
		a := Arrival{URL: url}
		err := p.await(ctx, func() bool {
			a.blame(p.load(res.LoaderID))
			return p.frames[p.main].loader == res.LoaderID
		})
		a.Failure = cmp.Or(a.Failure, failureText(res.ErrorText))
		return a, err
	}
	if err := p.arrived(ctx, from); err != nil {
		return Arrival{}, err
	}
	return p.arrival(ctx)
}

// arrivalPatience bounds the wait, after a document has been loaded, for what its scripts have asked the server for meanwhile.
const arrivalPatience = 2 * time.Second

// arrived waits until the tab's document has been loaded and painted once, and for what its scripts have asked the server for until
// then: before that many a page is empty. A page that is busy, or waits for long, is not waited for.
func (p *Page) arrived(ctx context.Context, from Mark) error {
	if err := p.loaded(ctx, from.at); err != nil || time.Since(from.at) > loadPatience {
		return err
	}
	patience, cancel := context.WithTimeoutCause(ctx, arrivalPatience, errStillLoading)
	defer cancel()
	err := p.observe(patience, "painted")
	if err == nil {
		err = p.await(patience, func() bool { return p.flyingSince(from.clock) == 0 })
	}
	if errors.Is(err, errRestless) || ctx.Err() == nil && errors.Is(context.Cause(patience), errStillLoading) {
		return nil
	}
	return err
}

// aborted tells what became of a navigation that Chromium calls aborted.
func (p *Page) aborted(res page.NavigateResult, url string) Arrival {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.load(res.LoaderID)
	if l.status == 204 || l.status == 205 {
		return Arrival{Stayed: true, Status: l.status, URL: url}
	}
	if l.download || res.IsDownload {
		return Arrival{Download: true, URL: url}
	}
	return Arrival{Failure: failureText("net::ERR_ABORTED"), URL: url}
}

// loaded waits until the tab's document, and any that replaces it meanwhile, has been loaded, at most loadPatience from started. Only
// the end of the context is an error.
func (p *Page) loaded(ctx context.Context, started time.Time) error {
	patience, cancel := context.WithDeadlineCause(ctx, started.Add(loadPatience), errStillLoading)
	defer cancel()
	err := p.await(patience, func() bool {
		if _, moving := p.pending[p.main]; moving {
			return false
		}
		return p.load(p.frames[p.main].loader).loaded
	})
	if errors.Is(err, errStillLoading) {
		return nil
	}
	return err
}

var errStillLoading = errors.New("still loading")

// arrival tells where the tab is. The title comes from the browser's process, so that a page that is busy does not hold it up.
func (p *Page) arrival(ctx context.Context) (Arrival, error) {
	h, err := cdp.Call(ctx, p.session, page.GetNavigationHistory, proto.Empty{})
	if err != nil && !navigated(err) {
		return Arrival{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := int(h.CurrentIndex); i >= 0 && i < len(h.Entries) && !isAddress(h.Entries[i].Title, h.Entries[i].URL) {
		p.title = h.Entries[i].Title
	}
	f := p.frames[p.main]
	l := p.load(f.loader)
	a := Arrival{URL: f.address(), Status: l.status}
	if f.unreachable != "" {
		a.blame(l)
	} else {
		a.Loading = !l.loaded
	}
	return a, nil
}

// Direction of a history move.
type Direction int

// Back and Forward move by one entry.
const (
	Back    Direction = -1
	Forward Direction = 1
)

// HistoryTarget is the address that a history move would lead to. It is a [Problem] when there is none.
func (p *Page) HistoryTarget(ctx context.Context, d Direction) (string, int64, error) {
	h, err := cdp.Call(ctx, p.session, page.GetNavigationHistory, proto.Empty{})
	if err != nil {
		return "", 0, err
	}
	i := int(h.CurrentIndex) + int(d)
	if i < 0 || i >= len(h.Entries) || (i == 0 && d == Back && isInitial(h.Entries[0].URL)) {
		if d == Back {
			return "", 0, problemf("There is no previous page in this tab's history.")
		}
		return "", 0, problemf("There is no next page in this tab's history.")
	}
	return h.Entries[i].URL, h.Entries[i].ID, nil
}

// isInitial tells the empty document that a new tab starts with, which is no page to go back to.
func isInitial(url string) bool { return url == "" || url == "about:blank" }

// GoTo moves to an entry of the tab's history.
func (p *Page) GoTo(ctx context.Context, entry int64) (Arrival, error) {
	return p.move(ctx, func() error {
		_, err := cdp.Call(ctx, p.session, page.NavigateToHistoryEntry, page.NavigateToHistoryEntryParams{EntryID: entry})
		return err
	})
}

// Reload loads the tab's document again.
func (p *Page) Reload(ctx context.Context) (Arrival, error) {
	return p.move(ctx, func() error {
		_, err := cdp.Call(ctx, p.session, page.Reload, page.ReloadParams{})
		return err
	})
}

// arrivedWithin waits until the page has gone to another place of its document, which it does after the navigation's answer. A page that
// is busy is not waited for.
func (p *Page) arrivedWithin(ctx context.Context, from Mark) error {
	patience, cancel := context.WithTimeoutCause(ctx, arrivalPatience, errStillLoading)
	defer cancel()
	err := p.await(patience, func() bool { return p.frames[p.main].moved > from.clock })
	if ctx.Err() == nil && errors.Is(context.Cause(patience), errStillLoading) {
		return nil
	}
	return err
}

// move runs a command that starts a navigation and waits for its end.
func (p *Page) move(ctx context.Context, command func() error) (Arrival, error) {
	from := p.Mark()
	if err := command(); err != nil {
		return Arrival{}, err
	}
	defer p.free(ctx)()
	err := p.await(ctx, func() bool {
		_, moving := p.pending[p.main]
		return p.clock > from.clock && !moving
	})
	if err == nil {
		err = p.arrived(ctx, from)
	}
	if err != nil {
		if ctx.Err() != nil {
			cdp.Post(p.session, page.StopLoading, proto.Empty{})
		}
		return Arrival{}, err
	}
	return p.arrival(ctx)
}

// failureText words a network error for the model.
func failureText(code string) string {
	code = strings.TrimPrefix(code, "net::")
	for _, row := range failures {
		if strings.HasPrefix(code, row.prefix) {
			return row.text + " (" + code + ")"
		}
	}
	return code
}

// byProxy are the errors that Chromium takes what the egress proxy does for.
var byProxy = map[string]bool{"net::ERR_TUNNEL_CONNECTION_FAILED": true, "net::ERR_EMPTY_RESPONSE": true, "net::ERR_PROXY_CONNECTION_FAILED": true}

// failures are the network errors that models meet, the more special prefix first.
var failures = []struct{ prefix, text string }{
	{"ERR_NAME_NOT_RESOLVED", "the host name could not be resolved"},
	{"ERR_CONNECTION_REFUSED", "the server refused the connection"},
	{"ERR_CONNECTION_RESET", "the server reset the connection"},
	{"ERR_CONNECTION_CLOSED", "the server closed the connection"},
	{"ERR_CONNECTION_TIMED_OUT", "the connection timed out"},
	{"ERR_EMPTY_RESPONSE", "the server sent no answer"},
	{"ERR_INVALID_RESPONSE", "the server sent an invalid answer"},
	{"ERR_INVALID_HTTP_RESPONSE", "the server sent something that is not HTTP"},
	{"ERR_RESPONSE_HEADERS_", "the server sent invalid headers"},
	{"ERR_TOO_MANY_REDIRECTS", "the server redirected too many times"},
	{"ERR_UNSAFE_PORT", "the browser does not connect to this port"},
	{"ERR_UNSAFE_REDIRECT", "the server redirected to an address the browser refuses"},
	{"ERR_CERT_", "the server's certificate is not valid"},
	{"ERR_SSL_", "the secure connection failed"},
	{"ERR_TUNNEL_CONNECTION_FAILED", "the proxy refused the connection"},
	{"ERR_PROXY_", "the proxy connection failed"},
	{"ERR_INTERNET_DISCONNECTED", "there is no network"},
	{"ERR_ADDRESS_UNREACHABLE", "the server's address cannot be reached"},
	{"ERR_NETWORK_CHANGED", "the network changed"},
	{"ERR_BLOCKED_BY_RESPONSE", "the server's headers forbid showing it here"},
	{"ERR_BLOCKED_BY_", "the browser blocked the page"},
	{"ERR_HTTP_RESPONSE_CODE_FAILURE", "the server answered with an error and no page"},
	{"ERR_INVALID_AUTH_CREDENTIALS", "the page requires HTTP authentication, a user name and password"},
	{"ERR_ABORTED", "the navigation was aborted"},
	{"ERR_TIMED_OUT", "the server did not answer in time"},
}

// reason words why the document could not be loaded, as a sentence part. Empty when that is not known.
func (l *load) reason() string {
	switch {
	case l.failure == "":
		return ""
	case l.refusal != "":
		return l.refusal
	case l.status != http.StatusUnauthorized:
		return failureText(l.failure)
	case l.realm == "":
		return "the page requires HTTP authentication, a user name and password (HTTP 401)"
	}
	return fmt.Sprintf("the page requires HTTP authentication, a user name and password for %q (HTTP 401)", l.realm)
}

// realmParameter finds the realm in a challenge (RFC 9110, section 11.2): quoted, with escapes, or a token.
var (
	realmParameter = regexp.MustCompile(`(?i)\brealm\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))`)
	escaped        = regexp.MustCompile(`\\(.)`)
)

// realm is the name by which a server asks for HTTP authentication, cleaned and bounded.
func realm(headers network.Headers) string {
	for name, value := range headers {
		if !strings.EqualFold(name, "WWW-Authenticate") {
			continue
		}
		if m := realmParameter.FindStringSubmatch(fmt.Sprint(value)); m != nil {
			quoted := escaped.ReplaceAllString(m[1], "$1")
			return shorten(contract.CleanTitle(cmp.Or(quoted, m[2])), 100)
		}
	}
	return ""
}

func (p *Page) watchRequests(s *cdp.Session) {
	cdp.On(s, network.RequestWillBeSent, func(ev network.EventRequestWillBeSent) {
		p.update(func() { p.requested(ev) })
	})
	cdp.On(s, network.ResponseReceived, func(ev network.EventResponseReceived) {
		p.update(func() { p.responded(ev) })
	})
	cdp.On(s, network.LoadingFinished, func(ev network.EventLoadingFinished) {
		p.update(func() {
			p.landed(ev.RequestID)
			p.logs.finished(ev)
		})
	})
	cdp.On(s, network.LoadingFailed, func(ev network.EventLoadingFailed) {
		p.update(func() {
			p.landed(ev.RequestID)
			p.failed(proto.LoaderID(ev.RequestID), ev.ErrorText)
			p.logs.failed(ev)
		})
	})
}

// flight is a request that the page waits for.
type flight struct {
	since int
	kind  network.ResourceType
	url   string
}

// awaited are the kinds of requests whose answer usually changes what the page says. Pictures, media, pings, event streams
// and web sockets are not waited for.
var awaited = map[network.ResourceType]bool{
	network.ResourceTypeXHR: true, network.ResourceTypeFetch: true, network.ResourceTypeScript: true,
	network.ResourceTypeStylesheet: true, network.ResourceTypeDocument: true,
}

func (p *Page) requested(ev network.EventRequestWillBeSent) {
	p.logs.requested(ev)
	if ev.RequestID == network.RequestID(ev.LoaderID) {
		l := p.load(ev.LoaderID)
		l.asked, l.url = true, ev.Request.URL
	}
	if !awaited[ev.Type] || ev.RequestID == network.RequestID(ev.LoaderID) && ev.FrameID == p.main {
		return // the tab's own document is a navigation, not a request of the page
	}
	if _, redirected := p.flights[ev.RequestID]; redirected {
		return
	}
	const most = 5000 // a page that starts more at once is not waited for
	if len(p.flights) < most {
		p.clock++
		p.flights[ev.RequestID] = flight{since: p.clock, kind: ev.Type, url: ev.Request.URL}
	}
}

func (p *Page) responded(ev network.EventResponseReceived) {
	p.logs.responded(ev)
	if ev.Response == nil {
		return
	}
	if ev.Type == network.ResourceTypeDocument && ev.RequestID == network.RequestID(ev.LoaderID) {
		l := p.load(ev.LoaderID)
		l.status, l.mime = int(ev.Response.Status), ev.Response.MimeType
		if l.status == http.StatusUnauthorized {
			l.realm = realm(ev.Response.Headers)
		}
	}
	if ev.Response.MimeType == "text/event-stream" {
		p.landed(ev.RequestID) // it never ends
	}
}

// landed ends a flight. The clock moves, so that a wait which looks only at what started since its own beginning sees the change.
func (p *Page) landed(id network.RequestID) { delete(p.flights, id) }
