package egress

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// zone is a resolver with fixed answers, which remembers what it was asked.
type zone struct {
	answers map[string][]string
	asked   []string
}

func (z *zone) LookupNetIP(ctx context.Context, _, host string) ([]netip.Addr, error) {
	z.asked = append(z.asked, host)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	texts, ok := z.answers[host]
	if !ok {
		return nil, errors.New("no such host")
	}
	var addrs []netip.Addr
	for _, text := range texts {
		addrs = append(addrs, netip.MustParseAddr(text))
	}
	return addrs, nil
}

func newZone() *zone {
	return &zone{answers: map[string][]string{
		"example.com":        {"93.184.216.34", "2606:4700::1"},
		"www.example.com":    {"::ffff:93.184.216.34"},
		"intranet.example":   {"10.1.2.3"},
		"rebind.example":     {"93.184.216.34", "127.0.0.1"},
		"wire.example":       {"168.63.129.16"},
		"linklocal.example":  {"169.254.1.1"},
		"metadata.example":   {"169.254.169.254"},
		"translated.example": {"64:ff9b::7f00:1"},
		"zoned.example":      {"fe80::1%eth0"},
	}}
}

func mustParse(t *testing.T, opts Options) *Rules {
	t.Helper()
	r, err := Parse(opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// check judges a URL; "" is allowed, else the reason.
func check(t *testing.T, r *Rules, text string) string {
	t.Helper()
	u, err := ParseURL(text)
	if err != nil {
		return err.Error()
	}
	err = r.CheckURL(t.Context(), u)
	if err == nil {
		return ""
	}
	var refusal *Refusal
	if !errors.As(err, &refusal) || refusal.Host != u.Host || refusal.URL != u.String() {
		t.Errorf("%s: got %#v", text, err)
		return ""
	}
	return refusal.Reason
}

func TestRefusalText(t *testing.T) {
	for text, want := range map[string]string{
		"http://127.0.0.1:8080/":       "Navigation to http://127.0.0.1:8080/ refused: 127.0.0.1 is a loopback address and private destinations are not allowed here.",
		"https://u:p@intranet.example": "Navigation to https://intranet.example/ refused: intranet.example resolves to 10.1.2.3, which is a private address and private destinations are not allowed here.",
	} {
		u, err := ParseURL(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := mustParse(t, Options{Resolver: newZone()}).CheckURL(t.Context(), u); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	listed := mustParse(t, Options{Allow: []string{"example.com"}})
	for host, want := range map[string]string{"example.org": "example.org refused: example.org is not on the allowlist.", "example.com": "example.com refused: port 22 of example.com is not on the allowlist."} {
		if err := listed.CheckName(host, 22); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", host, err, want)
		}
	}
}

// TestLiteral_E01 holds every spelling of a forbidden address that a URL can carry.
func TestLiteral_E01(t *testing.T) {
	z := newZone()
	r := mustParse(t, Options{Resolver: z})
	for _, host := range []string{
		"127.0.0.1", "127.1", "127.0.1", "127.255.255.255", "2130706433", "0x7f000001", "0x7f.1", "0x7f.0x0.0x0.0x1", "017700000001", "0177.1",
		"0177.0.0.01", "00000177.1", "127.0.0.1.", "%31%32%37.0.0.1", "127%2e0%2e0%2e1", "１２７.０.０.１", "127。0。0。1", "127．0．0．1", "127｡1", "①②⑦.1",
		"0x7F.1", "0", "0.0.0.0", "0x0", "localhost", "LOCALHOST", "localhost.", "loc%61lhost", "ｌocalhost", "a.b.localhost", "localhost%2e",
		"[::1]", "[0:0:0:0:0:0:0:1]", "[0000::0001]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]", "[::127.0.0.1]",
		"[::7f00:1]", "[2002:7f00:1::]", "[2002:a00:1::1]", "[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[::ffff:0:127.0.0.1]",
		"[2001:0:7f00:1::]", "[::ffff:10.0.0.1]", "[fe80::1]", "[fc00::1]", "[fd12:3456::1]", "[ff02::1]",
	} {
		for _, prefix := range []string{"http://", "https://", "http:", "http:/\\", "http://u:p@", "http://example.com@"} {
			if reason := check(t, r, prefix+host+"/x"); !strings.Contains(reason, " and private destinations are not allowed here") {
				t.Errorf("%s%s: got %q", prefix, host, reason)
			}
		}
	}
	if len(z.asked) > 0 {
		t.Errorf("literal addresses and localhost were looked up: %q", z.asked)
	}
}

// TestMetadata_E02 refuses metadata services by address and by name, also where private destinations are allowed.
func TestMetadata_E02(t *testing.T) {
	for _, opts := range []Options{{}, {AllowPrivate: true}, {Allow: []string{}, AllowPrivate: true}, {Allow: []string{"*.google.internal:*", "169.254.169.254", "metadata.example"}, AllowPrivate: true}} {
		z := newZone()
		opts.Resolver = z
		r := mustParse(t, opts)
		for _, host := range []string{
			"169.254.169.254", "0xa9fea9fe", "2852039166", "169.254.43518", "[::ffff:169.254.169.254]", "[::169.254.169.254]", "[64:ff9b::a9fe:a9fe]",
			"[2002:a9fe:a9fe::]", "[fd00:ec2::254]", "[fd20:ce::254]", "169.254.170.2", "100.100.100.200", "192.0.0.192", "168.63.129.16",
			"metadata.google.internal", "METADATA.google.internal.", "metadata", "metadata.goog", "instance-data", "instance-data.ec2.internal",
		} {
			if reason := check(t, r, "http://"+host+"/latest"); reason == "" {
				t.Errorf("%+v allows %s", opts, host)
			}
		}
		if slices.ContainsFunc(z.asked, func(name string) bool { return metadataNames[name] }) {
			t.Errorf("metadata names were looked up: %q", z.asked)
		}
		if reason := check(t, r, "http://metadata.example/"); reason == "" {
			t.Errorf("%+v allows a name of the metadata address", opts)
		}
	}
	exact := mustParse(t, Options{AllowPrivateAt: []string{"169.254.169.254:80", "metadata.google.internal:80"}, Resolver: newZone()})
	for text, allowed := range map[string]bool{"http://169.254.169.254/": true, "https://169.254.169.254/": false, "http://metadata.google.internal/": true, "http://169.254.170.2/": false} {
		if reason := check(t, exact, text); (reason == "") != allowed {
			t.Errorf("%s: got %q", text, reason)
		}
	}
}

// TestAddressBorders takes the last address before, the first and last in, and the first after each range.
func TestAddressBorders(t *testing.T) {
	r := mustParse(t, Options{})
	for text, allowed := range map[string]bool{
		"0.0.0.0": false, "0.255.255.255": false, "1.0.0.0": true,
		"9.255.255.255": true, "10.0.0.0": false, "10.255.255.255": false, "11.0.0.0": true,
		"100.63.255.255": true, "100.64.0.0": false, "100.127.255.255": false, "100.128.0.0": true,
		"126.255.255.255": true, "127.0.0.0": false, "127.255.255.255": false, "128.0.0.0": true,
		"168.63.129.15": true, "168.63.129.16": false, "168.63.129.17": true,
		"169.253.255.255": true, "169.254.0.0": false, "169.254.255.255": false, "169.255.0.0": true,
		"172.15.255.255": true, "172.16.0.0": false, "172.31.255.255": false, "172.32.0.0": true,
		"191.255.255.255": true, "192.0.0.0": false, "192.0.0.255": false, "192.0.1.0": true, "192.0.2.1": false, "192.0.3.0": true,
		"192.88.98.255": true, "192.88.99.1": false, "192.88.100.0": true,
		"192.167.255.255": true, "192.168.0.0": false, "192.168.255.255": false, "192.169.0.0": true,
		"198.17.255.255": true, "198.18.0.0": false, "198.19.255.255": false, "198.20.0.0": true,
		"198.51.99.255": true, "198.51.100.0": false, "198.51.101.0": true, "203.0.112.255": true, "203.0.113.255": false, "203.0.114.0": true,
		"223.255.255.255": true, "224.0.0.0": false, "239.255.255.255": false, "240.0.0.0": false, "255.255.255.255": false,
		"::": false, "::1": false, "::2": false, "::ffff:8.8.8.8": true, "::ffff:10.0.0.1": false, "::8.8.8.8": false,
		"64:ff9b::8.8.8.8": false, "64:ff9b:1::1": false, "100::1": false, "1fff:ffff::": false, "2000::": true,
		"2001::": false, "2001:1ff:ffff::": false, "2001:200::": true, "2001:db7:ffff::": true, "2001:db8::": false, "2001:db8:ffff:ffff::": false, "2001:db9::": true,
		"2001:ffff::": true, "2002::": false, "2002:ffff::": false, "2003::": true,
		"3ffe:ffff::": true, "3fff::": false, "3fff:fff:ffff::": false, "3fff:1000::": true, "4000::": false,
		"fbff::": false, "fc00::": false, "fdff::": false, "fe80::": false, "fe80::1%eth0": false, "2606:4700::1%eth0": false, "fec0::": false, "ff00::": false, "ffff::": false,
	} {
		addr := netip.MustParseAddr(text)
		if err := r.CheckAddr("host.example", netip.AddrPortFrom(addr, 443)); (err == nil) != allowed {
			t.Errorf("%s: got %v", text, err)
		}
		if err := mustParse(t, Options{AllowPrivate: true}).CheckAddr("host.example", netip.AddrPortFrom(addr, 443)); err != nil && kindOf(addr.Unmap()).general() {
			t.Errorf("%s with all private destinations: got %v", text, err)
		}
	}
}

func TestPublicInternet(t *testing.T) {
	r := mustParse(t, Options{Resolver: newZone()})
	for text, want := range map[string]string{
		"http://example.com":        "",
		"example.com":               "",
		"https://www.example.com.":  "",
		"http://8.8.8.8/":           "",
		"https://[2606:4700::1]/":   "",
		"https://example.com:80":    "",
		"http://unknown.example":    "", // the browser says what is wrong
		"http://example.com:8080":   "port 8080 is not allowed here, only 80 and 443 are",
		"http://8.8.8.8:22":         "port 22 is not allowed here, only 80 and 443 are",
		"http://rebind.example":     "rebind.example resolves to 127.0.0.1, which is a loopback address and",
		"http://wire.example":       "wire.example resolves to 168.63.129.16, which is a cloud metadata address and",
		"http://linklocal.example":  "linklocal.example resolves to 169.254.1.1, which is a link-local address and",
		"http://translated.example": "translated.example resolves to 64:ff9b::7f00:1, which is an IPv6 form of an IPv4 address and",
		"http://zoned.example":      "zoned.example resolves to fe80::1%eth0, which is an address with a zone and",
		"http://localhost:3000":     "localhost is a loopback address and",
		"http://[::ffff:a00:1]":     "::ffff:a00:1 is a private address and",
	} {
		if reason := check(t, r, text); want == "" && reason != "" || !strings.HasPrefix(reason, want) {
			t.Errorf("%s: got %q, want %q", text, reason, want)
		}
	}
}

func TestAllowlist_E09(t *testing.T) {
	type cases map[string]bool
	for _, tt := range []struct {
		allow []string
		cases cases
	}{
		{[]string{}, cases{"http://example.com": false, "http://8.8.8.8": false, "http://127.0.0.1": false}},
		{[]string{""}, cases{"http://example.com": false}},
		{[]string{"example.com"}, cases{
			"http://example.com": true, "https://example.com": true, "https://EXAMPLE.com.": true, "http://example.com:443": true, "http://u@example.com": true,
			"http://example.com:8080": false, "http://www.example.com": false, "http://example.com.evil.example": false, "http://evilexample.com": false,
			"http://example.com@evil.example": false, "http://exаmple.com": false, "http://example.co": false, "http://com": false, "http://93.184.216.34": false,
		}},
		{[]string{"*.example.com"}, cases{
			"http://www.example.com": true, "http://a.b.example.com": true, "http://example.com": false, "http://wwwexample.com": false, "http://www.example.com:8080": false,
		}},
		{[]string{"example.com:8443", "www.example.com:*"}, cases{
			"https://example.com:8443": true, "https://example.com": false, "http://www.example.com:1": true, "http://www.example.com": true,
		}},
		{[]string{"example.com", "example.com:8080"}, cases{"http://example.com": true, "http://example.com:8080": true, "http://example.com:8081": false}},
		{[]string{" EXAMPLE.com. ", "BÜCHER.example"}, cases{"http://example.com": true, "http://xn--bcher-kva.example": true, "http://bücher.example": true}},
		{[]string{"8.8.8.8", "[2606:4700::1]:8443", "2606:4700::2"}, cases{
			"http://8.8.8.8": true, "http://0x08080808": true, "http://[::ffff:8.8.8.8]": true, "http://8.8.4.4": false,
			"http://[2606:4700::1]:8443": true, "http://[2606:4700:0::1]": false, "http://[2606:4700::2]": true,
		}},
		{[]string{"intranet.example", "127.0.0.1", "localhost", "rebind.example"}, cases{
			"http://intranet.example": false, "http://127.0.0.1": false, "http://localhost": false, "http://rebind.example": false,
		}},
	} {
		z := newZone()
		r := mustParse(t, Options{Allow: tt.allow, Resolver: z})
		for text, allowed := range tt.cases {
			z.asked = nil
			reason := check(t, r, text)
			if (reason == "") != allowed {
				t.Errorf("allow %q: %s: got %q", tt.allow, text, reason)
			}
			if strings.Contains(reason, "allowlist") && len(z.asked) > 0 {
				t.Errorf("allow %q: %s is not listed, but was looked up: %q", tt.allow, text, z.asked)
			}
		}
	}
}

func TestAllowPrivate(t *testing.T) {
	type cases map[string]bool
	for name, tt := range map[string]struct {
		opts  Options
		cases cases
	}{
		"all": {Options{AllowPrivate: true}, cases{
			"http://127.0.0.1:8080": true, "http://localhost:3000": true, "http://10.0.0.1:22": true, "http://[fd00::1]": true, "http://169.254.1.1": true,
			"http://intranet.example:8080": true, "http://rebind.example": true, "http://rebind.example:8080": false,
			"http://example.com": true, "http://example.com:8080": false, "http://translated.example": false, "http://[64:ff9b::7f00:1]": false,
		}},
		"all, beside a list": {Options{AllowPrivate: true, Allow: []string{"example.com", "intranet.example"}}, cases{
			"http://127.0.0.1:8080": true, "http://app.localhost:3000": true, "http://10.0.0.1": true, "http://intranet.example": true,
			"http://intranet.example:8080": false, "http://rebind.example": false, "http://8.8.8.8": false, "http://example.com": true,
		}},
		"all, beside an empty list": {Options{AllowPrivate: true, Allow: []string{}}, cases{
			"http://127.0.0.1:8080": true, "http://example.com": false, "http://intranet.example": false,
		}},
		"exactly": {Options{AllowPrivateAt: []string{"127.0.0.1:8080", "intranet.example:443", "app.localhost:3000"}}, cases{
			"http://127.0.0.1:8080": true, "http://localhost:8080": true, "http://127.1:8080": true, "http://[::ffff:127.0.0.1]:8080": true,
			"http://127.0.0.1:8081": false, "http://127.0.0.2:8080": false, "http://[::1]:8080": false, "http://10.0.0.1": false,
			"https://intranet.example": true, "http://intranet.example": false, "https://10.1.2.3": false,
			"http://app.localhost:3000": true, "http://localhost:3000": false, "http://example.com": true, "http://rebind.example:8080": false,
		}},
		"exactly, beside an empty list": {Options{AllowPrivateAt: []string{"127.0.0.1:8080", "example.com:443"}, Allow: []string{}}, cases{
			"http://127.0.0.1:8080": true, "http://10.0.0.1": false, "https://example.com": false, // public, so not added
		}},
	} {
		tt.opts.Resolver = newZone()
		r := mustParse(t, tt.opts)
		for text, allowed := range tt.cases {
			if reason := check(t, r, text); (reason == "") != allowed {
				t.Errorf("%s: %s: got %q", name, text, reason)
			}
		}
	}
}

func TestCheckURLEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	u, err := ParseURL("https://example.com")
	if err != nil {
		t.Fatal(err)
	}
	if err := mustParse(t, Options{Resolver: newZone()}).CheckURL(ctx, u); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestParseErrors(t *testing.T) {
	for _, text := range []string{
		"https://example.com", "example.com/docs", "user@example.com", "*", "*:80", "*.", "a.*.example", "*.*.example", "**.example", ".example.com", "example.com:",
		"example.com:0", "example.com:65536", "example.com:http", "example.com:80:90", "exa mple.com", "exa\tmple.com", "*.127.0.0.1", "256.1.1.1", "[::1", "[1.2.3.4]",
		"fe80::1%eth0", "[fe80::1%eth0]", "a|b", "a..b",
	} {
		if r, err := Parse(Options{Allow: []string{text}}); err == nil || !strings.HasPrefix(err.Error(), "allow: ") {
			t.Errorf("allow %q: got %+v, %v", text, r, err)
		}
	}
	for _, text := range []string{"", "127.0.0.1", "localhost", "127.0.0.1:*", "*.example.com:80", "10.0.0.0/8:80", "[::1]"} {
		if r, err := Parse(Options{AllowPrivateAt: []string{text}}); err == nil || !strings.HasPrefix(err.Error(), "allow-private: ") {
			t.Errorf("allow-private %q: got %+v, %v", text, r, err)
		}
	}
}
