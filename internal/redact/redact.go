// Package redact takes credential-like values out of text. It is the one redactor of Pagehand: everything that leaves it except page
// readings and screenshots passes here (console and network lines, logs, recordings, errors; security model, promise P7).
//
// It works by the list below, nothing is guessed from entropy. What is replaced becomes [redacted]:
//
//   - userinfo of URLs of any scheme, connection strings included: postgres://[redacted]@db/shop
//   - values of credential-like names (names.go) in queries, fragments, forms, JSON, objects, headers and command lines, also
//     escaped for JSON within JSON or for a URL: access_token=…, "password": "…", X-Api-Key: …, AccountKey=…;, --secret …, token%3D…
//   - in URLs also values of names that are credentials only there, such as code and key
//   - values of Authorization, Proxy-Authorization, Cookie and Set-Cookie, to the end of the line
//   - Bearer tokens anywhere, Basic credentials that decode to user:password
//   - JSON web tokens and encrypted ones
//   - private keys in PEM form, to their end or the text's
//   - key formats of well-known services (formats.go): sk-…, AKIA…, ghp_…, AIza…, xox…
//   - card numbers (cards.go): 13 to 19 digits, alone or grouped as on a card, with a known leading digit and a valid Luhn sum
//
// Kept on purpose: UUIDs, hashes, build numbers, times, public keys and certificates, numbers that fail the Luhn sum, and values
// that hold no secret, such as "token: null". Every function takes time linear in its input, keeps valid UTF-8 valid,
// and leaves text alone where nothing matches. All are safe for concurrent use.
package redact

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"strings"
)

// Mark stands where a value was.
const Mark = "[redacted]"

// Text redacts text of any kind: a console line, an error, a log message, JSON, a header dump. URLs inside are treated as [URL] does.
func Text(s string) string {
	s = pem.ReplaceAllLiteralString(s, Mark)
	return words(addresses(s))
}

// URL redacts one URL, which need not be well-formed. The names of query and fragment parameters stay.
func URL(s string) string { return words(address(s)) }

// Header redacts the value of an HTTP header. A scheme such as Bearer stays in front of what it introduced.
func Header(name, value string) string {
	switch strings.ToLower(name) {
	case "authorization", "proxy-authorization":
		if scheme, _, ok := strings.Cut(value, " "); ok && len(scheme) <= 20 {
			return scheme + " " + Mark
		}
		return Mark
	case "cookie", "set-cookie":
		return Mark
	}
	if isCredential(name) && !plain(value) {
		return Mark
	}
	return Text(value)
}

// words applies the rules that need no structure.
func words(s string) string {
	s = schemes(s)
	s = pairs(s)
	s = options(s)
	s = jwt.ReplaceAllLiteralString(s, Mark)
	s = keys(s)
	return cards(s)
}

var (
	pem = regexp.MustCompile(`(?s)-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\z)`)
	// A JSON object in base64 begins with eyJ. Two parts are enough, so that a token that was cut is found too.
	jwt = regexp.MustCompile(`eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]*){0,3}`)

	bearer = regexp.MustCompile(`(?i)\bbearer(?:\s|%(?:25)*20|\+){1,3}([A-Za-z0-9._~+/=-]{8,})`)
	basic  = regexp.MustCompile(`(?i)\bbasic(?:\s|%(?:25)*20|\+){1,3}([A-Za-z0-9+/_-]{6,}={0,2})`)
	option = regexp.MustCompile("--([A-Za-z0-9-]{2,40})[ \\t]{1,3}([^\\s\"'`-][^\\s\"'`]*|\"[^\"]*|'[^']*)")
)

// schemes redacts what follows the name of an authorization scheme.
func schemes(s string) string {
	lower := strings.ToLower(s)
	if strings.Contains(lower, "bearer") {
		s = replaceGroup(bearer, s, isBearer)
	}
	if strings.Contains(lower, "basic") {
		s = replaceGroup(basic, s, isBasic)
	}
	return s
}

// replaceGroup redacts the last group of every match that is secret.
func replaceGroup(re *regexp.Regexp, s string, secret func(string) bool) string {
	var out edit
	for _, at := range re.FindAllStringSubmatchIndex(s, -1) {
		from, to := at[len(at)-2], at[len(at)-1]
		if secret(s[from:to]) {
			out.redact(s, from, to)
		}
	}
	return out.end(s)
}

// isBearer tells a token from prose ("bearer authentication") and challenges (Bearer realm="shop").
func isBearer(token string) bool {
	token = strings.ToLower(token)
	switch strings.TrimRight(token, ".") {
	case "authentication", "authorization", "credentials":
		return false
	}
	return !strings.HasPrefix(token, "realm=")
}

func isBasic(token string) bool {
	token = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(token, "="))
	raw, err := base64.RawStdEncoding.DecodeString(token[:len(token)-len(token)%4])
	return err == nil && strings.Contains(string(raw), ":")
}

// options redacts values of command line options that follow after a space.
func options(s string) string {
	var out edit
	for _, at := range option.FindAllStringSubmatchIndex(s, -1) {
		from, to := at[4], at[5]
		if s[from] == '"' || s[from] == '\'' {
			from++
		}
		if isCredentialWord(s[at[2]:at[3]]) && from < to {
			out.redact(s, from, to)
		}
	}
	return out.end(s)
}

// edit builds a text in which some ranges, in ascending order, are redacted.
type edit struct {
	b    strings.Builder
	done int
}

func (e *edit) redact(s string, from, to int) {
	e.b.WriteString(s[e.done:from])
	e.b.WriteString(Mark)
	e.done = to
}

func (e *edit) end(s string) string {
	if e.done == 0 {
		return s
	}
	return e.b.String() + s[e.done:]
}

// addresses redacts the URLs in a text.
func addresses(s string) string {
	var b strings.Builder
	for {
		at := strings.Index(s, "://")
		if at < 0 {
			return b.String() + s
		}
		from := at
		for from > 0 && at-from < 40 && (isWord(s[from-1]) || strings.IndexByte("+.-", s[from-1]) >= 0) {
			from--
		}
		to := len(s)
		if n := strings.IndexAny(s[at:], " \t\r\n\"'<>`"); n >= 0 {
			to = at + n
		}
		b.WriteString(s[:from])
		b.WriteString(address(s[from:to]))
		s = s[to:]
	}
}

// address redacts the parts of a URL that have a place: userinfo, query and fragment. It splits the text itself, because parsers
// reject some of what browsers accept.
func address(s string) string {
	scheme, rest, absolute := strings.Cut(s, "://")
	if !absolute {
		scheme, rest = "", s
	} else {
		scheme += "://"
	}
	end := strings.IndexAny(rest, "/?#\\")
	if end < 0 {
		end = len(rest)
	}
	authority, rest := rest[:end], rest[end:]
	if at := strings.LastIndexByte(authority, '@'); at >= 0 && absolute {
		authority = Mark + authority[at:]
	}
	rest, fragment, hasFragment := strings.Cut(rest, "#")
	path, query, hasQuery := strings.Cut(rest, "?")
	s = scheme + authority + parameters(path)
	if hasQuery {
		s += "?" + parameters(query)
	}
	if hasFragment {
		route, query, ok := strings.Cut(fragment, "?") // #/signed-in?token=…
		s += "#" + parameters(route)
		if ok {
			s += "?" + parameters(query)
		}
	}
	return s
}

// parameters redacts the values of credential-like names in name=value pairs. Paths may hold some too, after a semicolon.
func parameters(s string) string {
	if !strings.Contains(s, "=") {
		return s
	}
	var out edit
	for from := 0; from < len(s); {
		end := len(s)
		if n := strings.IndexAny(s[from:], "&;"); n >= 0 {
			end = from + n
		}
		name, value, ok := strings.Cut(s[from:end], "=")
		if decoded, err := url.QueryUnescape(name); err == nil {
			name = decoded
		}
		if ok && !plain(value) && isCredential(name) {
			out.redact(s, end-len(value), end)
		}
		from = end + 1
	}
	return out.end(s)
}
