// Package egress decides which destinations a browser may reach: by URL as Chromium reads it, by host name before any
// lookup, and by address. It guards navigation; the same rules serve a proxy that judges each connection by the address
// it really dials.
//
// A [Rules] never changes and is safe for concurrent use. URLs, host names and what DNS answers are not trusted; the
// options are the operator's and are.
package egress

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// lookupTimeout bounds one lookup, which is only a preview of what the browser does.
const lookupTimeout = 3 * time.Second

// Options say what may be reached. The zero value is the public internet on ports 80 and 443.
type Options struct {
	// Allow is the allowlist. Nil means no list: every public host. A list without entries, or of blank ones, allows
	// nothing. An entry is HOST (ports 80 and 443), HOST:PORT or HOST:* (any port); HOST is a name, an IP address or
	// *.example.com, which means the subdomains and not example.com itself. An entry allows a host, not its being
	// private: that takes AllowPrivate or AllowPrivateAt as well.
	Allow []string
	// AllowPrivate adds all private destinations on any port: loopback, private, link-local and other addresses that are
	// not of the public internet. With a list in Allow that means addresses and localhost; a name must be listed, because
	// finding out what it resolves to would already tell its DNS zone something. Metadata services of clouds and IPv6
	// forms of IPv4 addresses stay refused unless AllowPrivateAt names them.
	AllowPrivate bool
	// AllowPrivateAt adds exactly these private destinations, each HOST:PORT; HOST is a name or an IP address. A name
	// covers all addresses that it resolves to; an address covers itself and localhost, no other name.
	AllowPrivateAt []string
	// Resolver looks up names. Nil means net.DefaultResolver.
	Resolver Resolver
}

// Resolver is the part of [net.Resolver] that is needed here.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Rules are parsed [Options].
type Rules struct {
	listed       bool // allow is a list, though it may be empty
	allow        []entry
	allowPrivate bool
	private      map[endpoint]bool
	resolver     Resolver
}

// entry is one line of the allowlist.
type entry struct {
	Pattern
	port    uint16 // 0: ports 80 and 443
	anyPort bool
}

// Pattern is what rules of any kind name hosts by: a name, an IP address, or *.example.com, the subdomains of a name without the name.
type Pattern struct {
	host       string // as ruleForm gives it
	subdomains bool
}

type endpoint struct {
	host string // as ruleForm gives it
	port uint16
}

// Parse checks the options. Its errors name the entry and what is allowed there; they are for the operator.
func Parse(opts Options) (*Rules, error) {
	r := &Rules{listed: opts.Allow != nil, allowPrivate: opts.AllowPrivate, private: map[endpoint]bool{}, resolver: opts.Resolver}
	if r.resolver == nil {
		r.resolver = net.DefaultResolver
	}
	for _, text := range opts.Allow {
		if strings.TrimSpace(text) == "" {
			continue
		}
		e, err := parseEntry(text)
		if err != nil {
			return nil, fmt.Errorf("allow: %q: %w", text, err)
		}
		r.allow = append(r.allow, e)
	}
	for _, text := range opts.AllowPrivateAt {
		e, err := parseEntry(text)
		if err == nil && (e.port == 0 || e.subdomains) {
			err = fmt.Errorf("want HOST:PORT with one host and one port")
		}
		if err != nil {
			return nil, fmt.Errorf("allow-private: %q: %w", text, err)
		}
		r.private[endpoint{e.host, e.port}] = true
	}
	return r, nil
}

// parseEntry reads HOST, HOST:PORT or HOST:*, an IPv6 address in brackets or bare.
func parseEntry(text string) (entry, error) {
	text = strings.TrimSpace(text)
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
		return entry{Pattern: Pattern{host: addr.Unmap().String()}}, nil
	}
	if strings.ContainsAny(text, "/\\@?#% \t\r\n") {
		return entry{}, fmt.Errorf("want HOST, HOST:PORT or HOST:*, without scheme and path")
	}
	var e entry
	host, port := text, ""
	if i := strings.LastIndexByte(text, ':'); i > strings.LastIndexByte(text, ']') {
		host, port = text[:i], text[i+1:]
		n, err := strconv.ParseUint(port, 10, 16)
		switch {
		case port == "*":
			e.anyPort = true
		case err != nil || n == 0:
			return entry{}, fmt.Errorf("the port must be 1 to 65535 or *")
		default:
			e.port = uint16(n)
		}
	}
	var err error
	e.Pattern, err = ParsePattern(host)
	return e, err
}

// ParsePattern reads a pattern, an IPv6 address in brackets or bare, without scheme, port and path. Names are read as browsers read them.
func ParsePattern(text string) (Pattern, error) {
	var p Pattern
	text = strings.TrimSpace(text)
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
		return Pattern{host: addr.Unmap().String()}, nil
	}
	name, subdomains := strings.CutPrefix(text, "*.")
	p.subdomains = subdomains
	u, err := ParseURL("http://" + name)
	colons := strings.Contains(name, ":")
	if err != nil || strings.ContainsAny(name, "/\\@?#% \t\r\n") || colons != strings.HasPrefix(name, "[") || colons && !strings.HasSuffix(name, "]") {
		return p, fmt.Errorf("%q is no host name and no IP address; a wildcard is *.example.com", name)
	}
	if _, isAddr := addrOf(u.Host); isAddr && p.subdomains {
		return p, fmt.Errorf("an IP address has no subdomains")
	}
	p.host = ruleForm(u.Host)
	return p, nil
}

// String is the pattern with its host in canonical form.
func (p Pattern) String() string {
	if p.subdomains {
		return "*." + p.host
	}
	return p.host
}

// Covers reports whether a canonical host, as in [URL], is one of the pattern's.
func (p Pattern) Covers(host string) bool {
	if p.subdomains {
		return strings.HasSuffix(host, "."+p.host)
	}
	return ruleForm(host) == p.host
}

// Refusal says in one line for the model what may not be reached and why.
type Refusal struct {
	// URL is the URL that was to be loaded, as [URL.String] shows it; empty when only a host or an address was judged.
	URL string
	// Host is the host that was judged, canonical as in [URL].
	Host string
	// Reason is a clause without a full stop.
	Reason string
}

func (e *Refusal) Error() string {
	if e.URL == "" {
		return fmt.Sprintf("%s refused: %s.", e.Host, e.Reason)
	}
	return fmt.Sprintf("Navigation to %s refused: %s.", e.URL, e.Reason)
}

// CheckURL judges a URL before it is loaded, and the one where a load ended after redirects: the name first, then
// the addresses it resolves to, each of which must be allowed. A name that is refused is never looked up.
//
// A lookup that fails or takes more than 3 seconds refuses nothing, because the browser reports such errors better. And
// what a name resolves to now may differ from what the browser dials: only the network layer can close that gap, with
// [Rules.CheckAddr].
//
// The error is a [*Refusal], or the context's.
func (r *Rules) CheckURL(ctx context.Context, u *URL) error {
	err := r.checkHost(ctx, u.Host, u.Port)
	if refusal, ok := err.(*Refusal); ok {
		refusal.URL = u.String()
	}
	return err
}

func (r *Rules) checkHost(ctx context.Context, host string, port uint16) error {
	if err := r.CheckName(host, port); err != nil {
		return err
	}
	if _, isAddr := addrOf(host); isAddr || isLocalhost(host) {
		return nil // CheckName has judged the addresses
	}
	lookup, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	addrs, err := r.resolver.LookupNetIP(lookup, "ip", host)
	if err != nil {
		return ctx.Err()
	}
	for _, addr := range addrs {
		if err := r.CheckAddr(host, netip.AddrPortFrom(addr, port)); err != nil {
			return err
		}
	}
	return nil
}

// CheckName judges a canonical host, as in [URL], and a port without any lookup. A host that is an address, or localhost,
// which is always this machine, is judged for good; for another name nil means that its addresses decide. The error is
// a [*Refusal].
func (r *Rules) CheckName(host string, port uint16) error {
	if r.private[endpoint{ruleForm(host), port}] {
		return nil
	}
	if metadataNames[host] {
		return &Refusal{Host: host, Reason: host + " is a cloud metadata service"}
	}
	if addr, ok := addrOf(host); ok {
		return r.CheckAddr(host, netip.AddrPortFrom(addr, port))
	}
	if isLocalhost(host) {
		err := r.CheckAddr(host, netip.AddrPortFrom(netip.IPv6Loopback(), port))
		if err != nil { // the browser tries both, and one is enough
			err = r.CheckAddr(host, netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port))
		}
		return err
	}
	if r.allowPrivate && !r.listed {
		return nil // the port is free if the address is private
	}
	return r.checkPublic(host, port)
}

// CheckAddr judges the address and port that a connection for a canonical host dials, or would dial. It does not judge
// the name: call [Rules.CheckName] first. The error is a [*Refusal].
func (r *Rules) CheckAddr(host string, dialed netip.AddrPort) error {
	addr, port := dialed.Addr().Unmap(), dialed.Port()
	kind := kindOf(addr)
	if kind == public {
		return r.checkPublic(host, port)
	}
	if r.private[endpoint{ruleForm(host), port}] || r.allowPrivate && kind.general() {
		return nil
	}
	if isLocalhost(host) && r.private[endpoint{addr.String(), port}] {
		return nil
	}
	subject := fmt.Sprintf("%s is %s", host, kind)
	if !isLocalhost(host) && ruleForm(host) != addr.String() {
		subject = fmt.Sprintf("%s resolves to %s, which is %s", host, addr, kind)
	}
	if r.allowPrivate { // so it is of the kinds that need an entry of their own
		return &Refusal{Host: host, Reason: subject + " and not allowed here"}
	}
	return &Refusal{Host: host, Reason: subject + " and private destinations are not allowed here"}
}

// checkPublic judges host and port as a public destination.
func (r *Rules) checkPublic(host string, port uint16) error {
	web := port == 80 || port == 443
	if !r.listed {
		if web {
			return nil
		}
		return &Refusal{Host: host, Reason: fmt.Sprintf("port %d is not allowed here, only 80 and 443 are", port)}
	}
	reason := host + " is not on the allowlist"
	for _, e := range r.allow {
		if !e.Covers(host) {
			continue
		}
		if e.anyPort || e.port == port || e.port == 0 && web {
			return nil
		}
		reason = fmt.Sprintf("port %d of %s is not on the allowlist", port, host)
	}
	return &Refusal{Host: host, Reason: reason}
}
