package pagehand

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/browser"
	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/target"

	"github.com/pagehand/pagehand/internal/cdp"
	"github.com/pagehand/pagehand/internal/chrome"
)

// LaunchOptions say which browser to start, and how. The zero value starts the one that is found, headless.
type LaunchOptions struct {
	// Executable is a path or name. Empty: PAGEHAND_BROWSER, then PATH, then the usual places.
	Executable string
	// Headful shows windows; it needs a display.
	Headful bool
	// Locale is a BCP 47 tag such as "de-CH", for the browser's own surface and the sessions that name none. Empty means "en-US".
	Locale string
	// Timezone is an IANA name such as "Europe/Zurich". Empty means the machine's.
	Timezone string
	// User is whom Chromium runs as when we are root: a user name, "UID" or "UID:GID". Empty means an unused user id.
	User string
	// ExtraFlags are added to Chromium's command line. Those that weaken its safety are refused.
	ExtraFlags []string
	// Logger receives what no caller is told. Nil discards it.
	Logger *slog.Logger
}

// Browser is a Chromium that sessions run in. It is safe for concurrent use.
type Browser struct {
	conn *cdp.Conn
	proc *chrome.Process // nil when we only connected
	log  *slog.Logger

	version  *browser.GetVersionResult
	versions chan struct{} // closed when version is known

	mu       sync.Mutex
	sessions map[proto.BrowserContextID]*Session
}

// nowhere is the proxy of what belongs to no session: nothing listens there, so it reaches nothing.
const nowhere = "http://127.0.0.1:9"

// Launch starts a browser of our own: behind a pipe, with no DevTools port, a fresh profile that is removed afterwards, and Chromium's sandbox on.
// Close it. Should this program be killed, the browser and its profile go all the same.
//
// It returns at once; whether the browser really runs shows in the first session.
func Launch(ctx context.Context, opts *LaunchOptions) (*Browser, error) {
	if opts == nil {
		opts = &LaunchOptions{}
	}
	exe, err := chrome.Find(opts.Executable)
	if err != nil {
		return nil, err
	}
	proc, err := chrome.Launch(ctx, chrome.Options{
		Executable: exe,
		Headful:    opts.Headful,
		Proxy:      nowhere,
		Locale:     opts.Locale,
		Timezone:   opts.Timezone,
		User:       opts.User,
		ExtraFlags: opts.ExtraFlags,
		Logger:     opts.Logger,
	})
	if err != nil {
		return nil, err
	}
	return newBrowser(cdp.NewConn(proc.Pipe()), proc, opts.Logger), nil
}

// Connect uses a browser that somebody else runs, by its DevTools endpoint (ws:// or wss://). Sessions get browser contexts of their own in it,
// and Close leaves it running. Its sandbox, profile and network are its owner's matter, and files are exchanged only when it runs on this
// machine. log receives what no caller is told; nil discards it.
func Connect(ctx context.Context, endpoint string, log *slog.Logger) (*Browser, error) {
	conn, err := cdp.DialWebSocket(ctx, endpoint, nil)
	if err != nil {
		return nil, err
	}
	return newBrowser(conn, nil, log), nil
}

// newBrowser takes over a connection. Everything it needs is asked for at once, and nothing is waited for.
func newBrowser(conn *cdp.Conn, proc *chrome.Process, log *slog.Logger) *Browser {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	b := &Browser{conn: conn, proc: proc, log: log, versions: make(chan struct{}), sessions: map[proto.BrowserContextID]*Session{}}
	root := conn.Root()
	cdp.On(root, target.AttachedToTarget, b.attached)
	cdp.On(root, target.DetachedFromTarget, b.detached)
	cdp.On(root, target.TargetInfoChanged, b.retitled)
	cdp.On(root, browser.DownloadWillBegin, func(ev browser.EventDownloadWillBegin) {
		b.each(func(s *Session) { s.downloadBegan(ev) })
	})
	cdp.On(root, browser.DownloadProgress, func(ev browser.EventDownloadProgress) {
		b.each(func(s *Session) { s.downloads.progress(ev) })
	})
	cdp.Then(root, browser.GetVersion, proto.Empty{}, func(res browser.GetVersionResult, err error) {
		if err == nil {
			b.version = &res
		}
		close(b.versions)
	})
	pages := target.Filter{{Type: "page"}}
	cdp.Post(root, target.SetDiscoverTargets, target.SetDiscoverTargetsParams{Discover: true, Filter: pages})
	cdp.Post(root, target.SetAutoAttach, target.SetAutoAttachParams{AutoAttach: true, WaitForDebuggerOnStart: true, Flatten: new(true), Filter: pages})
	return b
}

func (b *Browser) each(fn func(*Session)) {
	b.mu.Lock()
	sessions := make([]*Session, 0, len(b.sessions))
	for _, s := range b.sessions {
		sessions = append(sessions, s)
	}
	b.mu.Unlock()
	for _, s := range sessions {
		fn(s)
	}
}

func (b *Browser) sessionOf(id proto.BrowserContextID) *Session {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sessions[id]
}

func (b *Browser) attached(ev target.EventAttachedToTarget) {
	s := b.sessionOf(ev.TargetInfo.BrowserContextID)
	cs := b.conn.Root().Child(string(ev.SessionID))
	if cs == nil {
		return
	}
	if s == nil || ev.TargetInfo.Type != "page" {
		// Nobody's: a page outside our browser contexts is left as it is.
		cdp.Post(b.conn.Root(), target.DetachFromTarget, target.DetachFromTargetParams{SessionID: ev.SessionID})
		return
	}
	s.adopt(cs, ev.TargetInfo)
}

func (b *Browser) detached(ev target.EventDetachedFromTarget) {
	b.each(func(s *Session) { s.lost(ev.SessionID) })
}

func (b *Browser) retitled(ev target.EventTargetInfoChanged) {
	if s := b.sessionOf(ev.TargetInfo.BrowserContextID); s != nil {
		s.retitled(ev.TargetInfo)
	}
}

// userAgent is the browser's own without the word that gives headless browsers away.
func (b *Browser) userAgent(ctx context.Context) (string, error) {
	select {
	case <-b.versions:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	if b.version == nil {
		return "", b.cause(cdp.ErrClosed)
	}
	return strings.Replace(b.version.UserAgent, "HeadlessChrome", "Chrome", 1), nil
}

// Version names the browser and its version, such as "Chromium 156.0.8078.114".
func (b *Browser) Version(ctx context.Context) (string, error) {
	if _, err := b.userAgent(ctx); err != nil {
		return "", err
	}
	name, version, _ := strings.Cut(b.version.Product, "/")
	return strings.Replace(strings.Replace(name, "Headless", "", 1), "Chrome", "Chromium", 1) + " " + version, nil
}

// clientHints are those that go with a user agent string, nil for one that is not the browser's own.
func (b *Browser) clientHints(agent string) *emulation.UserAgentMetadata {
	_, version, ok := strings.Cut(b.version.Product, "/")
	if major, _, _ := strings.Cut(version, "."); !ok || !strings.Contains(agent, "Chrome/"+major+".") {
		return nil
	}
	major, _, _ := strings.Cut(version, ".")
	// The second brand is Chromium's own way of keeping sites from relying on a fixed list.
	return &emulation.UserAgentMetadata{
		Brands:          []*emulation.UserAgentBrandVersion{{Brand: "Chromium", Version: major}, {Brand: "Not)A;Brand", Version: "24"}},
		FullVersionList: []*emulation.UserAgentBrandVersion{{Brand: "Chromium", Version: version}, {Brand: "Not)A;Brand", Version: "24.0.0.0"}},
		Platform:        platformNames[runtime.GOOS],
		Architecture:    map[string]string{"amd64": "x86", "arm64": "arm"}[runtime.GOARCH],
		Bitness:         "64",
	}
}

var platformNames = map[string]string{"linux": "Linux", "darwin": "macOS", "windows": "Windows"}

// cause says why the browser ended, where the process knows better than the connection.
func (b *Browser) cause(err error) error {
	if b.proc == nil || !errors.Is(err, cdp.ErrClosed) {
		return err
	}
	<-b.proc.Done()
	if why := b.proc.Err(); why != nil {
		return why
	}
	return err
}

// Done is closed when the browser is gone.
func (b *Browser) Done() <-chan struct{} { return b.conn.Done() }

// Close ends all sessions, the browser if we started it, and everything that belongs to it.
func (b *Browser) Close() error {
	ctx := context.Background()
	b.each(func(s *Session) { s.Close() })
	b.conn.Close()
	if b.proc == nil {
		return nil
	}
	if err := b.proc.Close(ctx); err != nil {
		return fmt.Errorf("close the browser: %w", err)
	}
	return nil
}
