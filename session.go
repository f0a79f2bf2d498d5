package pagehand

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/chromedp/cdproto/browser"
	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/egress"
	"github.com/pagehand/pagehand/internal/cdp"
	"github.com/pagehand/pagehand/internal/chrome"
	"github.com/pagehand/pagehand/internal/page"
)

// Size is a size in pixels.
type Size struct{ Width, Height int }

// Position is a place on earth: degrees, and the accuracy in metres.
type Position struct{ Latitude, Longitude, Accuracy float64 }

// SessionOptions say what a session may do and how its tabs look. The zero value is a session as the contract describes it:
// the default members, the public internet, 1280×720.
type SessionOptions struct {
	// Configs are the "configs" of the toolset entry (contract §2). Nil means the defaults.
	Configs Configs
	// Viewport is the size of every tab in CSS pixels. Zero means 1280×720.
	Viewport Size
	// Scale is the device scale factor. Zero means 1.
	Scale float64
	// UserAgent replaces the browser's. Empty means its own, without the word "Headless".
	UserAgent string
	// Locale is a BCP 47 tag such as "de-CH". Empty means the browser's.
	Locale string
	// Timezone is an IANA name such as "Europe/Zurich". Empty means the browser's.
	Timezone string
	// Geolocation is what pages learn that are allowed to ask. Nil means nothing.
	Geolocation *Position
	// ColorScheme is "light" or "dark". Empty means the browser's.
	ColorScheme string
	// AcceptDialogs accepts alert, confirm and prompt. The default dismisses them.
	AcceptDialogs bool
	// Destinations are what the session's pages may reach. A browser that we started has no other way to the network; in one that we
	// only connected to they bind navigate alone. Nil means the public internet.
	Destinations *egress.Rules
	// UploadRoots are the directories that file_upload takes paths from. None means that there are none.
	UploadRoots []string
	// Documents are the files staged for file_upload's document_ids, by id.
	Documents map[string]string
	// Downloads is the directory that downloads are moved into. Empty means a private one that is removed with the session.
	Downloads string
	// ExposeDownloads reports the paths of downloads: only where another tool can read them (contract §5).
	ExposeDownloads bool
	// Timeout bounds each call; a call's own duration is added. Zero means 30 seconds.
	Timeout time.Duration
	// MaxChars bounds what read_page and get_page_text return, in code points, the note about a cut included: at least [MinMaxChars].
	// Zero means 50,000; negative means no bound, which is for logs and measurements only.
	MaxChars int
	// Logger receives what no caller is told. Nil means the browser's.
	Logger *slog.Logger
}

// MinMaxChars is the least that [SessionOptions].MaxChars may be: a smaller reading would hold little but the note that it was cut.
const MinMaxChars = 200

const (
	defaultTimeout  = 30 * time.Second
	defaultMaxChars = 50_000
)

// Session is one caller's use of a browser: tabs, references and downloads of its own, in a browser context that shares
// nothing with another session's. It runs one call at a time; its methods are safe for concurrent use.
type Session struct {
	browser *Browser
	opts    SessionOptions
	page    page.Options
	context proto.BrowserContextID
	log     *slog.Logger

	uploads   *uploads
	downloads *downloads
	egress    *egress.Proxy // nil in a browser that we did not start

	calls sync.Mutex // held while a call runs: the contract's "in order, one at a time"

	mu       sync.Mutex
	tabs     []*tab // in the order they opened
	active   *tab
	front    map[browser.WindowID]*tab // the tab that we brought to the front of a window which several share
	fresh    []*tab                    // opened since the running call began
	lastID   string                    // the tab that was active last, for messages when none is
	count    int                       // of tabs ever opened
	tabLimit int                       // of tabs at a time
	closed   bool
	arrived  chan struct{} // closed and replaced when a tab appears
	reported contract.BrowserState
	remarks  []string

	temporary string // a download directory of our own
}

// tab is one tab that the model can name.
type tab struct {
	id      string
	session *Session
	page    *page.Page
	cdp     *cdp.Session
	target  target.ID
	asked   bool             // a call asked to close it
	window  browser.WindowID // 0 while it is not known
	down    bool             // left_mouse_down keeps the button down
}

// NewSession opens a session with one empty tab.
func (b *Browser) NewSession(ctx context.Context, opts *SessionOptions) (*Session, error) {
	if opts == nil {
		opts = &SessionOptions{}
	}
	return b.newSession(ctx, *opts, nil)
}

// newSession opens a session, in the place of another unless that is nil.
func (b *Browser) newSession(ctx context.Context, opts SessionOptions, replaced *Session) (*Session, error) {
	s := &Session{browser: b, opts: opts, tabLimit: contract.MaxTabs, arrived: make(chan struct{}), front: map[browser.WindowID]*tab{}, log: b.log}
	if err := s.prepare(ctx); err != nil {
		return nil, b.cause(err)
	}
	if replaced != nil {
		s.inherit(replaced)
	}
	if err := s.open(ctx); err != nil {
		s.Close()
		return nil, b.cause(fmt.Errorf("open a session: %w", err))
	}
	return s, nil
}

// prepare fills in the defaults and checks what the operator asked for.
func (s *Session) prepare(ctx context.Context) error {
	o := &s.opts
	if o.Viewport == (Size{}) {
		o.Viewport = Size{1280, 720}
	}
	// Smaller windows than that are sometimes never painted.
	if min(o.Viewport.Width, o.Viewport.Height) < 100 || max(o.Viewport.Width, o.Viewport.Height) > 10_000 {
		return fmt.Errorf("viewport %dx%d: each side must be from 100 to 10000", o.Viewport.Width, o.Viewport.Height)
	}
	if _, err := time.LoadLocation(o.Timezone); err != nil {
		return fmt.Errorf("timezone: %w", err)
	}
	if o.Locale != "" {
		if err := chrome.CheckLocale(o.Locale); err != nil {
			return fmt.Errorf("locale: %w", err)
		}
	}
	if o.Scale == 0 {
		o.Scale = 1
	}
	if !(o.Scale >= 0.1 && o.Scale <= 10) { // so that NaN is refused too
		return fmt.Errorf("device scale factor %g: it must be from 0.1 to 10", o.Scale)
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.MaxChars == 0 {
		o.MaxChars = defaultMaxChars
	}
	if o.MaxChars > 0 && o.MaxChars < MinMaxChars {
		return fmt.Errorf("readings of at most %d characters: the bound must be at least %d", o.MaxChars, MinMaxChars)
	}
	if o.Logger != nil {
		s.log = o.Logger
	}
	if o.Destinations == nil {
		rules, err := egress.Parse(egress.Options{})
		if err != nil {
			return err
		}
		o.Destinations = rules
	}
	agent, err := s.browser.userAgent(ctx)
	if err != nil {
		return err
	}
	if o.UserAgent != "" {
		agent = o.UserAgent
	}
	s.page = page.Options{
		Width: o.Viewport.Width, Height: o.Viewport.Height, Scale: o.Scale,
		Emulation: page.Emulation{
			UserAgent:   agent,
			Metadata:    s.browser.clientHints(agent),
			Timezone:    o.Timezone,
			ColorScheme: o.ColorScheme,
		},
		AcceptDialogs: o.AcceptDialogs,
		Console:       o.Configs.enabled("read_console"),
		Traffic:       o.Configs.enabled("read_network"),
		Refs:          page.NewRefs(),
		Log:           s.log,
	}
	if o.Locale != "" {
		s.page.Emulation.Locale = o.Locale
		s.page.Emulation.AcceptLanguage = o.Locale
	}
	if o.Geolocation != nil {
		s.page.Emulation.Position = (*page.Position)(o.Geolocation)
	}
	return s.prepareFiles()
}

// open makes the browser context and its first tab.
func (s *Session) open(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, max(s.opts.Timeout, defaultTimeout))
	defer cancel()
	root := s.browser.conn.Root()
	params := target.CreateBrowserContextParams{DisposeOnDetach: new(true)}
	if s.browser.proc != nil {
		if err := s.startEgress(); err != nil {
			return err
		}
		// Without its own list a context would reach loopback and link-local addresses directly.
		params.ProxyServer, params.ProxyBypassList = s.egress.Address(), "<-loopback>"
	}
	res, err := cdp.Call(ctx, root, target.CreateBrowserContext, params)
	if err != nil {
		return err
	}
	s.context = res.BrowserContextID
	s.browser.mu.Lock()
	s.browser.sessions[s.context] = s
	s.browser.mu.Unlock()
	behavior := browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllowAndName, BrowserContextID: s.context,
		DownloadPath: s.downloads.stagingDir(), EventsEnabled: new(true),
	}
	cdp.Post(root, browser.SetDownloadBehavior, behavior)
	if s.opts.Geolocation != nil {
		cdp.Post(root, browser.SetPermission, browser.SetPermissionParams{
			Permission: &browser.PermissionDescriptor{Name: "geolocation"}, Setting: browser.PermissionSettingGranted, BrowserContextID: s.context,
		})
	}
	t, err := s.openTab(ctx)
	if err != nil {
		return err
	}
	s.activate(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reported.Tabs == nil { // else it is what the replaced session told
		s.reported = s.inventory()
	}
	return nil
}

// Close ends the session: its tabs, their storage and its private files.
func (s *Session) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()

	s.browser.mu.Lock()
	delete(s.browser.sessions, s.context)
	s.browser.mu.Unlock()
	var errs []error
	if s.context != "" {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_, err := cdp.Call(ctx, s.browser.conn.Root(), target.DisposeBrowserContext, target.DisposeBrowserContextParams{BrowserContextID: s.context})
		if err != nil && !errors.Is(err, cdp.ErrClosed) {
			errs = append(errs, err)
		}
	}
	if s.egress != nil {
		errs = append(errs, s.egress.Close())
	}
	for _, c := range []io.Closer{s.downloads, s.uploads} {
		errs = append(errs, c.Close())
	}
	if s.temporary != "" {
		errs = append(errs, os.RemoveAll(s.temporary))
	}
	return errors.Join(errs...)
}

// adopt takes over a tab that has just been opened, by us or by a page. It runs in the handler of the event, so that the tab
// is known before anything else is heard of it.
func (s *Session) adopt(cs *cdp.Session, info *target.Info) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.tabs) >= s.tabLimit {
		// A tab that waits for us is not closed, and its opener, in the same process, waits with it.
		cdp.Post(cs, runtime.RunIfWaitingForDebugger, proto.Empty{})
		cdp.Post(s.browser.conn.Root(), target.CloseTarget, target.CloseTargetParams{TargetID: info.TargetID})
		if !s.closed {
			s.remark(fmt.Sprintf("A page tried to open another tab; only %d may be open, so it was closed.", s.tabLimit))
		}
		return
	}
	s.count++
	t := &tab{id: fmt.Sprintf("tab-%d", s.count), session: s, cdp: cs, target: info.TargetID}
	// Before the page's own handler, which fails the calls that wait: what they answer must no longer list the tab.
	cdp.On(cs, inspector.TargetCrashed, func(inspector.EventTargetCrashed) { s.crashed(t) })
	t.page = page.Attach(cs, info, &s.page)
	s.tabs = append(s.tabs, t)
	s.fresh = append(s.fresh, t)
	if s.active == nil { // of the tabs in a browser_state exactly one is active (contract §5)
		s.active, s.lastID = t, t.id
	}
	cdp.Then(s.browser.conn.Root(), browser.GetWindowForTarget, browser.GetWindowForTargetParams{TargetID: info.TargetID}, func(res browser.GetWindowForTargetResult, err error) {
		if err == nil {
			s.placed(t, res.WindowID)
		}
	})
	for _, other := range s.tabs {
		other.page.Opened()
	}
	close(s.arrived)
	s.arrived = make(chan struct{})
}

// crashed drops a tab whose renderer died, unless we ended it: what is left of it cannot be used.
func (s *Session) crashed(t *tab) {
	if t.page.Ending() {
		return
	}
	cdp.Post(s.browser.conn.Root(), target.CloseTarget, target.CloseTargetParams{TargetID: t.target})
	s.remove(target.SessionID(t.cdp.ID()), "crashed and was closed")
}

// placed notes which window a tab is in. A tab that a page opened shares its opener's, and which of them is in front is not told.
func (s *Session) placed(t *tab, id browser.WindowID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.window = id
	delete(s.front, id)
}

// bringToFront makes Chromium paint a tab that shares its window with others: only the front tab of a window is painted, and a
// picture of another one never comes.
func (s *Session) bringToFront(ctx context.Context, t *tab) error {
	s.mu.Lock()
	shared := false
	for _, other := range s.tabs {
		shared = shared || other != t && other.window == t.window
	}
	ready := !shared || s.front[t.window] == t
	s.mu.Unlock()
	if ready {
		return nil
	}
	if err := t.page.BringToFront(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.front[t.window] = t
	return nil
}

// lost drops a tab whose CDP session has ended: it was closed, by a call or by its page.
func (s *Session) lost(id target.SessionID) { s.remove(id, "was closed by its page") }

// remove drops a tab that is gone. Why is told unless a call asked for it.
func (s *Session) remove(id target.SessionID, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.tabs, func(t *tab) bool { return t.cdp.ID() == string(id) })
	if i < 0 {
		return
	}
	t := s.tabs[i]
	s.drop(i)
	if !t.asked && !s.closed {
		s.remark(t.id + " " + why + ".")
	}
}

// drop removes a tab from the inventory. When it was active, its neighbour becomes so.
func (s *Session) drop(i int) {
	t := s.tabs[i]
	s.tabs = slices.Delete(s.tabs, i, i+1)
	delete(s.front, t.window)
	if s.active == t {
		s.active = nil
		if len(s.tabs) > 0 {
			s.active = s.tabs[min(i, len(s.tabs)-1)]
			s.lastID = s.active.id
		}
	}
	close(s.arrived)
	s.arrived = make(chan struct{})
}

func (s *Session) retitled(info *target.Info) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tabs {
		if t.target == info.TargetID {
			t.page.Retitled(info)
		}
	}
}

func (s *Session) downloadBegan(ev browser.EventDownloadWillBegin) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tabs {
		if t.page.HasFrame(ev.FrameID) {
			t.page.Downloading(ev.FrameID)
			s.downloads.begin(ev)
			return
		}
	}
}

// remark keeps a line for the next result, bounded.
func (s *Session) remark(line string) {
	if len(s.remarks) < 5 {
		s.remarks = append(s.remarks, line)
	}
}

// openTab opens an empty tab in a window of its own: Chromium paints only the front tab of a window.
func (s *Session) openTab(ctx context.Context) (*tab, error) {
	res, err := cdp.Call(ctx, s.browser.conn.Root(), target.CreateTarget, target.CreateTargetParams{
		URL: "about:blank", BrowserContextID: s.context, NewWindow: new(true),
		Width: int64(s.opts.Viewport.Width), Height: int64(s.opts.Viewport.Height),
	})
	if err != nil {
		return nil, err
	}
	for {
		s.mu.Lock()
		i := slices.IndexFunc(s.tabs, func(t *tab) bool { return t.target == res.TargetID })
		arrived := s.arrived
		if i >= 0 {
			t := s.tabs[i]
			s.mu.Unlock()
			return t, t.page.Running(ctx)
		}
		s.mu.Unlock()
		select {
		case <-arrived:
		case <-s.browser.Done():
			return nil, cdp.ErrClosed
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (s *Session) activate(t *tab) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active, s.lastID = t, t.id
}

// tab finds the tab a call works in: the named one, or the active one.
func (s *Session) tab(id string) (*tab, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id == "" && s.active != nil {
		return s.active, nil
	}
	if id == "" {
		id = s.lastID
	}
	for _, t := range s.tabs {
		if t.id == id {
			return t, nil
		}
	}
	return nil, toolErrorf("%s is not open. Call list_tabs to see the open tabs.", contract.CleanField(shorten(id, 60)))
}

// inventory lists the tabs as the model may read them. Called with mu held.
func (s *Session) inventory() contract.BrowserState {
	state := contract.BrowserState{Tabs: []contract.Tab{}}
	for _, t := range s.tabs {
		state.Tabs = append(state.Tabs, contract.Tab{
			TabID:  t.id,
			Title:  contract.CleanTitle(t.page.Title()),
			URL:    contract.CleanURL(t.page.URL()),
			Active: t == s.active,
		})
	}
	return state
}

// Tabs is the inventory of open tabs.
func (s *Session) Tabs() []contract.Tab {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.inventory().Tabs
}
