package egress

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	whatwgerrors "github.com/nlnwa/whatwg-url/errors"
	whatwg "github.com/nlnwa/whatwg-url/url"
)

// Limits in bytes: maxURL is Chromium's own. maxHead is for the part before query and fragment, on which the parser takes
// time that grows with the square (measured: seconds at 128 KiB); servers refuse such paths long before.
const (
	maxURL  = 2 << 20
	maxHead = 16 << 10
)

// URLError says in one line for the model why a text is not a URL to navigate to.
type URLError string

func (e URLError) Error() string { return string(e) }

// ErrScheme refuses every scheme but http and https, in the words of contract §4.
const ErrScheme URLError = "Navigation refused. Only http and https URLs are allowed."

// URL is an http or https URL as Chromium reads it.
type URL struct {
	// Href is the parser's serialization: hand this to Chromium and never the text it came from, so that what was judged
	// is what is loaded. It keeps a user name and password, which sites with HTTP authentication need; don't show it.
	Href string
	// Scheme is "http" or "https".
	Scheme string
	// Host is the host Chromium connects to: a name in lower case and ASCII without a trailing dot, or an IP address, IPv6
	// without brackets. User name and password are no part of it.
	Host string
	// Port is the effective port: the scheme's default when the text names none.
	Port uint16

	shown string
}

// String is the URL for messages: without user name, password, query and fragment, on one line, at most 200 bytes.
func (u *URL) String() string { return u.shown }

var parser = whatwg.NewParser()

// ParseURL reads a URL as Chromium's parser would. A text without a scheme gets https://: one that does not parse for want
// of a scheme ("example.com/docs", "//host/path", "user@host"), or whose scheme is a host before a port, because it has
// a dot or is localhost ("localhost:3000"). A path alone names no host and is an error.
//
// The error is [ErrScheme] for any other scheme, else another [URLError].
func ParseURL(text string) (*URL, error) {
	if reason := tooLong(text); reason != "" {
		return nil, invalid(reason)
	}
	text = strings.TrimFunc(text, func(r rune) bool { return r <= ' ' }) // as the parser does, but before a prefix is put on
	u, err := parser.Parse(text)
	switch {
	case lacksScheme(u, err):
		if path := strings.TrimLeft(text, `/\`); len(text)-len(path) == 1 {
			return nil, invalid("It is a path without a host")
		}
		u, err = parser.Parse("https://" + text)
	case err != nil && namesOtherScheme(text):
		return nil, ErrScheme
	}
	if err != nil {
		return nil, invalid(string(whatwgerrors.Type(err))) // not the error's own text, which repeats the URL
	}
	if !isWeb(u) {
		return nil, ErrScheme
	}
	host, err := canonical(u.Hostname())
	if err != nil {
		return nil, err
	}
	href := u.Href(false)
	if tooLong(href) != "" { // percent-encoding makes up to nine bytes of one, and what is accepted must be accepted again
		return nil, invalid(tooLong(href) + " once it is encoded")
	}
	return &URL{Href: href, Scheme: u.Scheme(), Host: host, Port: effectivePort(u), shown: show(u)}, nil
}

// tooLong says in what way a text is too long to be a URL, empty when it is not.
func tooLong(text string) string {
	if len(text) > maxURL {
		return "It is longer than 2 MiB"
	}
	if head := strings.IndexAny(text, "?#"); head > maxHead || head < 0 && len(text) > maxHead {
		return "It has more than 16 KiB before the query"
	}
	return ""
}

func isWeb(u *whatwg.Url) bool { return u.Scheme() == "http" || u.Scheme() == "https" }

// lacksScheme takes what parsing a text gave and reports whether the text has no scheme (security case U-01).
func lacksScheme(u *whatwg.Url, err error) bool {
	if err != nil {
		return whatwgerrors.Type(err) == whatwgerrors.MissingSchemeNonRelativeURL
	}
	if !strings.Contains(u.Scheme(), ".") && u.Scheme() != "localhost" {
		return false
	}
	rest := strings.TrimLeft(u.Pathname(), "0123456789")
	return len(rest) < len(u.Pathname()) && (rest == "" || strings.ContainsAny(rest[:1], `/\`))
}

// namesOtherScheme reports whether a text that does not parse has a scheme that would be refused anyway, as "ftp://" has.
func namesOtherScheme(text string) bool {
	scheme, _, _ := strings.Cut(text, ":")
	u, err := parser.Parse(scheme + "://host")
	return err == nil && !isWeb(u)
}

func effectivePort(u *whatwg.Url) uint16 {
	if port, err := strconv.ParseUint(u.Port(), 10, 16); err == nil {
		return uint16(port)
	}
	return uint16(u.DecodedPort()) // none in the text: the scheme's
}

func show(u *whatwg.Url) string {
	const most = 200
	shown := u.Scheme() + "://" + u.Host() + u.Pathname()
	if len(shown) > most {
		shown = shown[:most-len("…")] + "…" // all ASCII
	}
	return shown
}

func invalid(reason string) URLError {
	return URLError(fmt.Sprintf("url is not valid: %s. Use a full address such as https://example.com/docs.", reason))
}

// canonical takes a host as the URL parser serializes it and gives the form that rules compare: without brackets and
// trailing dot. It accepts what DNS and Chromium agree on, letters, digits, "-", "_" and "." without empty labels, and IP
// addresses; anything else, "*" or "!" for example, is not worth the risk of being read in two ways.
func canonical(host string) (string, error) {
	if inner, ok := strings.CutPrefix(host, "["); ok {
		return strings.TrimSuffix(inner, "]"), nil
	}
	host = strings.TrimSuffix(host, ".")
	if host == "" || len(host) > 253 {
		return "", invalid("The host is empty or longer than 253 characters")
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" {
			return "", invalid("The host has an empty label")
		}
		if i := strings.IndexFunc(label, notHostCharacter); i >= 0 {
			return "", invalid(fmt.Sprintf("The host holds the character %q", label[i:i+1]))
		}
	}
	return host, nil
}

func notHostCharacter(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_')
}

// addrOf is the address that a canonical host spells, a mapped one as IPv4; false for a name.
func addrOf(host string) (netip.Addr, bool) {
	addr, err := netip.ParseAddr(host)
	return addr.Unmap(), err == nil
}

// ruleForm gives one spelling for each address; a canonical name is its own.
func ruleForm(host string) string {
	if addr, ok := addrOf(host); ok {
		return addr.String()
	}
	return host
}
