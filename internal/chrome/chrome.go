// Package chrome finds Chromium on this machine, starts it behind a DevTools pipe, ends it without leaving anything
// behind, and examines whether all of that can work here.
//
// A [Process] is safe for concurrent use. The package trusts the operator (its options and environment) and the
// executable he installed; it does not trust the browser once it runs. Chromium gets its own sandbox, a throw-away
// folder, an environment written out by hand, no DevTools port, and, when we are root, a user of its own.
// The flags and the reasons for them are those of the security notes: nothing here ever turns the sandbox off.
package chrome

import (
	"errors"
	"log/slog"
	"strings"
)

// ErrUnsupported is returned by [Launch] where starting a browser is not supported.
var ErrUnsupported = errors.New("a browser can't be started on this system: remote browsers only")

// discard is the logger of callers that want none.
var discard = slog.New(slog.DiscardHandler)

// Options say how [Launch] starts a browser. The zero value starts what [Find] finds, headless, with Chromium's
// own window size, in English and in the machine's time zone.
type Options struct {
	// Executable is the browser to start. The zero value means the one that Find("") finds.
	Executable Executable

	// Headful shows windows. It needs a display (DISPLAY or WAYLAND_DISPLAY).
	Headful bool

	// UserAgent replaces Chromium's own. Empty keeps it, including the word "Headless".
	UserAgent string

	// Locale is a BCP 47 tag such as "de-CH". Empty means "en-US", so that pages don't depend on the machine.
	Locale string

	// Timezone is an IANA name such as "Europe/Zurich". Empty means the machine's.
	Timezone string

	// WindowWidth and WindowHeight are the outer size of a new window, in pixels. Zero means Chromium's default.
	WindowWidth, WindowHeight int

	// Proxy is the egress proxy as "http://ADDRESS:PORT", with a literal address. Everything goes through it then,
	// loopback included, and Chromium looks no name up itself. Empty means no proxy.
	Proxy string

	// User is whom Chromium runs as when we are root: a user name, "UID" or "UID:GID". Empty means the variable
	// PAGEHAND_USER and, without it, an unused user id of this browser's own. Ignored when we are not root.
	User string

	// ExtraFlags are added to the command line, each as "--name" or "--name=value". Flags that would open a
	// DevTools port, weaken the sandbox or the separation of sites, or undo what Launch relies on are refused.
	ExtraFlags []string

	// Logger receives what Chromium prints, at debug level. Nil discards it.
	Logger *slog.Logger
}

// EndError says how a browser ended that nobody had closed.
type EndError struct {
	// Status is the exit status in words, such as "exit status 1" or "signal: killed".
	Status string
	// Output is the end of what Chromium printed, oldest line first, printable characters only.
	Output []string
}

func (e *EndError) Error() string {
	if len(e.Output) == 0 {
		return "the browser ended by itself (" + e.Status + ")"
	}
	return "the browser ended by itself (" + e.Status + "): " + strings.Join(e.Output, " / ")
}

// SandboxError says that Chromium refused to run because this system doesn't let it build its sandbox.
// The remedy is to change the system; running without the sandbox is not offered.
type SandboxError struct {
	// Cause says what is in the way.
	Cause string
	// Fix is the command that removes it.
	Fix string
}

func (e *SandboxError) Error() string {
	return "Chromium can't build its sandbox: " + e.Cause + "; fix: " + e.Fix
}
