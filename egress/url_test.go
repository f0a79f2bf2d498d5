package egress

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
)

// TestParseURL_U01 holds the spellings whose host is easily misread; Chromium's own reading is the expectation.
func TestParseURL_U01(t *testing.T) {
	for text, want := range map[string]struct {
		href, host string
		port       uint16
	}{
		"https://example.com/docs":          {"https://example.com/docs", "example.com", 443},
		"HTTP://EXAMPLE.com":                {"http://example.com/", "example.com", 80},
		"http://example.com:443/":           {"http://example.com:443/", "example.com", 443},
		"http://example.com:80/":            {"http://example.com/", "example.com", 80},
		"http://example.com:0/":             {"http://example.com:0/", "example.com", 0},
		"http://example.com./":              {"http://example.com./", "example.com", 80},
		"http://a\\@b/":                     {"http://a/@b/", "a", 80},
		"http://a@b@c/":                     {"http://a%40b@c/", "c", 80},
		"http://u:p@h:1/":                   {"http://u:p@h:1/", "h", 1},
		"http://good.example#@evil.example": {"http://good.example/#@evil.example", "good.example", 80},
		"http://good.example?@evil.example": {"http://good.example/?@evil.example", "good.example", 80},
		"ht\ttp://ex\nample.com/":           {"http://example.com/", "example.com", 80},
		"\x01 http://example.com \x1f":      {"http://example.com/", "example.com", 80},
		"http:example.com":                  {"http://example.com/", "example.com", 80},
		"http:/\\/example.com":              {"http://example.com/", "example.com", 80},
		"http://example。com":                {"http://example.com/", "example.com", 80},
		"http://ｅxample.com":                {"http://example.com/", "example.com", 80},
		"http://ex%61mple.com":              {"http://example.com/", "example.com", 80},
		"http://exam\u00adple.com":          {"http://example.com/", "example.com", 80},
		"http://bücher.example":             {"http://xn--bcher-kva.example/", "xn--bcher-kva.example", 80},
		"http://a_b.example":                {"http://a_b.example/", "a_b.example", 80},
		"http://[2606:4700::1]:8080":        {"http://[2606:4700::1]:8080/", "2606:4700::1", 8080},

		// No scheme (contract §4, navigate).
		"localhost":            {"https://localhost/", "localhost", 443},
		"localhost:3000":       {"https://localhost:3000/", "localhost", 3000},
		"LOCALHOST:3000/x?y#z": {"https://localhost:3000/x?y#z", "localhost", 3000},
		"app.localhost:3000":   {"https://app.localhost:3000/", "app.localhost", 3000},
		"example.com":          {"https://example.com/", "example.com", 443},
		"example.com/docs":     {"https://example.com/docs", "example.com", 443},
		"example.com:8080/x":   {"https://example.com:8080/x", "example.com", 8080},
		"example.com:8080\\x":  {"https://example.com:8080/x", "example.com", 8080},
		" example.com ":        {"https://example.com/", "example.com", 443},
		"//host/path":          {"https://host/path", "host", 443},
		"user@host":            {"https://user@host/", "host", 443},
		"127.0.0.1:8080":       {"https://127.0.0.1:8080/", "127.0.0.1", 8080},
		"[::1]:8080":           {"https://[::1]:8080/", "::1", 8080},
		"http://h/?" + strings.Repeat("a/@", maxHead): {"http://h/?" + strings.Repeat("a/@", maxHead), "h", 80},
		"example.com/?u=http://":                      {"https://example.com/?u=http://", "example.com", 443},
	} {
		u, err := ParseURL(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if u.Href != want.href || u.Host != want.host || u.Port != want.port || !strings.HasPrefix(u.Href, u.Scheme+"://") {
			t.Errorf("%q: got %+v, want %+v", text, u, want)
		}
	}
}

func TestParseURLInvalid(t *testing.T) {
	for _, text := range []string{
		"", " ", ".", "a b", "/docs", "\\docs", "?q", "#f", "http:", "http://", "https:///", "http://:80", "http://exa mple.com", "http://h@/",
		"http://a%00b/", "http://a%2fb/", "http://a|b/", "http://*.example.com", "http://a!b/", "http://a..b/", "http://example.com../",
		"http://1.2.3.4.5/", "http://256.1.1.1/", "http://foo.0x4/", "http://[::1", "http://[fe80::1%25eth0]/", "http://example.com:65536",
		"example.com:65536", "http://" + strings.Repeat("a", 254), "http://h/?" + strings.Repeat("a", maxURL), "http://h/" + strings.Repeat("a/", maxHead/2), strings.Repeat("a", maxHead+1),
	} {
		u, err := ParseURL(text)
		if err == nil || errors.Is(err, ErrScheme) || !strings.HasPrefix(err.Error(), "url is not valid: ") || strings.Contains(err.Error(), ": .") {
			t.Errorf("%.40q: got %+v, %v", text, u, err)
		}
	}
}

func TestParseURLScheme_U02(t *testing.T) {
	const want = "Navigation refused. Only http and https URLs are allowed."
	for _, text := range []string{
		"file:///etc/passwd", "FiLe:/etc/passwd", "file:", "view-source:http://example.com", "view-source:https:example.com", "javascript:alert(1)",
		"JaVaScRiPt:alert(1)", "\x01javascript:alert(1)", "java\tscript:alert(1)", "data:text/html,x", "blob:http://example.com/1",
		"filesystem:http://example.com/temporary/x", "chrome://settings", "chrome-extension://x/y.html", "devtools://devtools/x",
		"about:blank", "ABOUT:blank", "about:srcdoc", "ftp://example.com/", "ftp://", "ws://example.com/", "wss://", "mailto:a@example.com",
		"tel:123", "com.example.app://open", "com.example.app:open", "localhost:", "localhost:x", "user:pass@example.com", "c:\\windows", "intent://x#Intent;end",
	} {
		if u, err := ParseURL(text); !errors.Is(err, ErrScheme) || err.Error() != want {
			t.Errorf("%q: got %+v, %v", text, u, err)
		}
	}
}

func TestURLString(t *testing.T) {
	for text, want := range map[string]string{
		"http://user:secret@127.0.0.1:8080/a?token=secret#secret": "http://127.0.0.1:8080/a",
		"https://example.com":                              "https://example.com/",
		"https://example.com/\u202e":                       "https://example.com/%E2%80%AE",
		"https://example.com/" + strings.Repeat("a", 1000): "https://example.com/" + strings.Repeat("a", 177) + "…",
	} {
		u, err := ParseURL(text)
		if err != nil || u.String() != want {
			t.Errorf("%.40q: got %q, %v, want %q", text, u, err, want)
		}
	}
}

// TestParseURLPlatformTests runs web-platform-tests' URL data, as far as it concerns absolute http and https URLs.
func TestParseURLPlatformTests(t *testing.T) {
	raw, err := os.ReadFile("../../shared/data/urltestdata.json")
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("SKIPPED: urltestdata.json of web-platform-tests is not at ../shared/data beside this repository")
	}
	if err != nil {
		t.Fatal(err)
	}
	var rows []json.RawMessage
	if err := json.Unmarshal(raw, &rows); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, row := range rows {
		var c struct {
			Input, Href, Protocol, Hostname string
			Base                            *string
			Failure                         bool
		}
		if row[0] != '{' {
			continue // a comment
		}
		if err := json.Unmarshal(row, &c); err != nil {
			t.Fatal(err)
		}
		if c.Base != nil || strings.ContainsRune(c.Input, '\uFFFD') { // relative, or a lone surrogate that Go cannot hold
			continue
		}
		u, err := ParseURL(c.Input)
		switch {
		case c.Failure && !strings.Contains(strings.ToLower(c.Input), "http"):
			continue // without a scheme we mend it
		case c.Failure:
			if err == nil {
				t.Errorf("%q: got %q, want an error", c.Input, u.Href)
			}
		case c.Protocol != "http:" && c.Protocol != "https:":
			if !errors.Is(err, ErrScheme) {
				t.Errorf("%q: got %+v, %v, want the scheme refused", c.Input, u, err)
			}
		case err != nil: // stricter than the standard is safe; each row of that kind is listed
			if !stricter[c.Hostname] {
				t.Errorf("%q: %v, want %q", c.Input, err, c.Href)
			}
		case u.Href != c.Href || u.Host != strings.TrimSuffix(strings.Trim(c.Hostname, "[]"), "."):
			t.Errorf("%q: got %q, host %q, want %q", c.Input, u.Href, u.Host, c.Href)
		}
		ran++
	}
	t.Logf("%d of %d rows concern absolute URLs", ran, len(rows))
	if ran < 300 {
		t.Errorf("only %d rows ran", ran)
	}
}

// stricter are the hosts of the platform tests that the standard accepts and ParseURL does not.
var stricter = map[string]bool{
	"a.b.c.xn--pokxncvks": true, "10.0.0.xn--pokxncvks": true, "xn--": true, // no valid Punycode
	".": true, "..": true, "foo.09..": true, // empty labels
	"!\"$&'()*+,-.;=_`{}~": true,
}

func FuzzParseURL(f *testing.F) {
	for _, text := range []string{
		"https://example.com/docs", "localhost:3000", "//host/path", "user@host", "http:127.1", "http://a\\@b", "javascript:alert(1)",
		"http://[::ffff:127.0.0.1]/", "http://127。0。0。1", "http://u:p@h:1/?q#f", "example.com:8080", "\x00", "http://a..b", "ftp://",
		"0/" + strings.Repeat("\xf3", 2000), // short, but not once it is encoded
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := ParseURL(text)
		if err != nil {
			if msg := err.Error(); len(msg) > 400 || strings.ContainsAny(msg, "\r\n") || strings.Contains(msg, ": .") {
				t.Fatalf("%q: bad error %q", text, msg)
			}
			return
		}
		if u.Scheme != "http" && u.Scheme != "https" || !strings.HasPrefix(u.Href, u.Scheme+"://") {
			t.Fatalf("%q: %+v", text, u)
		}
		if len(u.String()) > 200 || strings.ContainsFunc(u.String(), func(r rune) bool { return r <= ' ' || r == 0x7f || r > '~' && r != '…' }) {
			t.Fatalf("%q shows as %q", text, u)
		}
		again, err := ParseURL(u.Href)
		if err != nil || *again != *u {
			t.Fatalf("%q: serialized %+v, read back %+v, %v", text, u, again, err)
		}
	})
}
