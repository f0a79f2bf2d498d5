package contract

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMarks is how many combining marks may follow one character: more than any script stacks, far fewer than it takes to
// paint over the neighbouring lines.
const maxMarks = 8

// CleanTitle returns a page's title as one clean line for [Tab]: valid UTF-8 (each invalid byte becomes U+FFFD), runs of
// white space folded to one space and trimmed, no control character, nothing invisible (formatting characters with the
// bidirectional ones, zero-width characters, tags, variation selector supplements, fillers), at most eight combining
// marks in a row, at most [MaxField] code points. A title that was cut ends in "…". Quotes stay: the API escapes them.
func CleanTitle(s string) string { return clean(s, true) }

// CleanField is [CleanTitle] for the other strings of a browser_state, such as a download's path or error: white space
// keeps its width, only line breaks, tabs and the like become a space each.
func CleanField(s string) string { return clean(s, false) }

func clean(s string, fold bool) string {
	var b strings.Builder
	marks, pending := 0, false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r) && fold:
			pending = true
			continue
		case unicode.IsSpace(r) && breaksLine(r):
			r, marks = ' ', 0
		case unicode.IsControl(r), invisible(r):
			continue
		case unicode.In(r, unicode.Mn, unicode.Me):
			if marks++; marks > maxMarks {
				continue
			}
		default:
			marks = 0
		}
		if pending && b.Len() > 0 {
			b.WriteByte(' ')
		}
		pending = false
		b.WriteRune(r)
		if b.Len() > MaxField*utf8.UTFMax {
			break // more than MaxField code points already
		}
	}
	return cut(b.String())
}

// CleanURL returns an address as the browser serializes it in a form fit for [Tab]: without user name and password, with
// everything that [CleanTitle] would drop or fold percent-encoded (tabs and line breaks dropped, as URL parsers do), the
// content of a data: URL replaced by "…", at most [MaxField] code points. An address that was cut ends in "…".
func CleanURL(s string) string {
	s = withoutUserinfo(escapeHidden(s))
	if head, _, ok := strings.Cut(s, ","); ok && hasScheme(s, "data") {
		s = head + ",…"
	}
	return cut(s)
}

// CleanDownloadURL is [CleanURL] for a download's address, without the parameters that look like credentials. It looks
// for them in the query, in the fragment, after semicolons in the path, and in addresses nested in other parts
// (percent-encoded up to three times; a nested address with a user name or a credential goes whole). A parameter goes
// when its name
//
//   - starts with x-amz-, x-goog-, x-oss-, x-ms- or q-sign- (presigned URLs of object stores);
//   - contains token, password, passwd, passphrase, secret, signature, credential, session, sessid, authorization,
//     oauth, bearer, apikey, accesskey, accessid, authkey or privatekey, punctuation aside;
//   - has one of the words key, sig, sign, auth, pwd, pass, sid, jwt, hmac, otp, creds, hdnts, hdnea (so keyword and
//     author stay);
//   - or is a field of an Azure shared access signature (sv, ss, srt, sr, sp, st, se, spr, sip, si, sdd, scid, skoid,
//     sktid, skt, ske, sks, skv, saoid, suoid) and the address has a sig parameter as well.
//
// Case does not matter.
func CleanDownloadURL(s string) string {
	s = withoutUserinfo(escapeHidden(s))
	if hasScheme(s, "data") {
		return CleanURL(s) // has no parameters, and its content goes anyway
	}
	if len(s) > maxParsed {
		s = s[:maxParsed]
		s = s[:strings.LastIndexAny(s, "/;?#&")+1] + "…" // no half parameter, which might not be recognized
	}
	return CleanURL(withoutCredentials(s, 3))
}

// maxParsed is how many bytes of an address are searched for parameters; the rest would be cut anyway.
const maxParsed = 4 * utf8.UTFMax * MaxField

// invisible reports code points that leave no mark on the screen, in which a page can hide text from people.
func invisible(r rune) bool {
	switch r {
	case 0x034F, // combining grapheme joiner
		0x115F, 0x1160, 0x3164, 0xFFA0, // Hangul fillers
		0x17B4, 0x17B5, // Khmer inherent vowels
		0x2800: // braille blank
		return true
	}
	return unicode.Is(unicode.Cf, r) || 0xE0000 <= r && r <= 0xE0FFF // tags, variation selector supplements, reserved
}

func hidden(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || invisible(r) }

// escapeHidden percent-encodes what cannot be seen in s, so that the address stays the same one and is one visible word.
func escapeHidden(s string) string {
	s = strings.TrimSpace(s)
	if utf8.ValidString(s) && strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
		case hidden(r):
			for _, c := range []byte(string(r)) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// withoutUserinfo drops "user:password@". It reads the authority as browsers do: http and the like need no slash and
// take backslashes for slashes.
func withoutUserinfo(s string) string {
	scheme, rest, ok := strings.Cut(s, ":")
	if !ok {
		return s
	}
	host, slashes, ends := strings.TrimPrefix(rest, "//"), "", "/?#"
	switch strings.ToLower(scheme) {
	case "http", "https", "ws", "wss", "ftp":
		host, slashes, ends = rest, `/\`, `/\?#`
	default:
		if len(host) == len(rest) {
			return s // no authority
		}
	}
	host = strings.TrimLeft(host, slashes)
	start := s[:len(s)-len(host)]
	for { // again, because what follows an empty host would be read as the authority
		end := strings.IndexAny(host, ends)
		if end < 0 {
			end = len(host)
		}
		at := strings.LastIndexByte(host[:end], '@')
		if at < 0 {
			return start + host
		}
		host = strings.TrimLeft(host[at+1:], slashes)
	}
}

func hasScheme(s, scheme string) bool {
	before, _, ok := strings.Cut(s, ":")
	return ok && strings.EqualFold(before, scheme)
}

// withoutCredentials drops credential-like parameters together with the separator before them. depth bounds how many
// levels of percent-encoding are looked through for nested addresses.
func withoutCredentials(s string, depth int) string {
	pieces := splitParameters(s)
	signed := slices.ContainsFunc(pieces, func(p parameter) bool { return strings.EqualFold(p.name, "sig") })
	var b strings.Builder
	var owed byte // "?" or "#" of a dropped parameter, which the next one of its list inherits
	for _, p := range pieces {
		if p.separator == '?' || p.separator == '#' {
			owed = 0
		}
		if p.holdsCredential(signed, depth) {
			if p.separator == '?' || p.separator == '#' {
				owed = p.separator
			}
			continue
		}
		if owed != 0 {
			p.separator, owed = owed, 0
		}
		if p.separator != 0 {
			b.WriteByte(p.separator)
		}
		b.WriteString(p.text)
	}
	return b.String()
}

// parameter is a piece of an address: what follows a separator, up to the next one.
type parameter struct {
	separator byte // 0 for the first piece
	text      string
	name      string // percent-decoded; empty for a piece of the path and for one without "="
	value     string // as written; the whole text when there is no name
}

// splitParameters cuts an address into pieces that, written one after the other, give the address again. The path is cut
// at "/" and ";" (;jsessionid=…), the rest at "?", "#", "&" and ";", so an address nested without encoding is cut too.
func splitParameters(s string) []parameter {
	var pieces []parameter
	separators := "/;?#"
	for separator := byte(0); ; {
		end := strings.IndexAny(s, separators)
		text := s
		if end >= 0 {
			text = s[:end]
		}
		p := parameter{separator: separator, text: text, value: text}
		if name, value, ok := strings.Cut(text, "="); ok && separator != 0 && separator != '/' {
			p.name, p.value = unescape(name), value
		}
		pieces = append(pieces, p)
		if end < 0 {
			return pieces
		}
		separator = s[end]
		if separator == '?' || separator == '#' {
			separators = "?#&;"
		}
		s = s[end+1:]
	}
}

func (p parameter) holdsCredential(signed bool, depth int) bool {
	if credentialName(p.name) || signed && slices.Contains(azureFields, strings.ToLower(p.name)) {
		return true
	}
	nested := unescape(p.value)
	if withoutUserinfo(nested) != nested {
		return true
	}
	return depth > 0 && nested != p.value && withoutCredentials(nested, depth-1) != nested
}

var (
	credentialPrefixes = []string{"x-amz-", "x-goog-", "x-oss-", "x-ms-", "q-sign-"}
	credentialParts    = []string{
		"token", "password", "passwd", "passphrase", "secret", "signature", "credential", "session", "sessid",
		"authorization", "oauth", "bearer", "apikey", "accesskey", "accessid", "authkey", "privatekey",
	}
	credentialWords = []string{
		"key", "sig", "sign", "auth", "pwd", "pass", "sid", "jwt", "hmac", "otp", "creds", "hdnts", "hdnea",
	}
	azureFields = []string{
		"sv", "ss", "srt", "sr", "sp", "st", "se", "spr", "sip", "si", "sdd", "scid",
		"skoid", "sktid", "skt", "ske", "sks", "skv", "saoid", "suoid",
	}
)

// credentialName applies the list in [CleanDownloadURL].
func credentialName(name string) bool {
	lower := strings.ToLower(name)
	if slices.ContainsFunc(credentialPrefixes, func(p string) bool { return strings.HasPrefix(lower, p) }) {
		return true
	}
	words := wordsOf(name)
	joined := strings.Join(words, "")
	return slices.ContainsFunc(credentialParts, func(p string) bool { return strings.Contains(joined, p) }) ||
		slices.ContainsFunc(words, func(w string) bool { return slices.Contains(credentialWords, w) })
}

// wordsOf splits a name at punctuation and where a capital follows a small letter ("apiKey"), in lower case.
func wordsOf(name string) []string {
	var spaced strings.Builder
	var before rune
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			spaced.WriteByte(' ')
		}
		spaced.WriteRune(r)
		before = r
	}
	return strings.FieldsFunc(strings.ToLower(spaced.String()), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// unescape percent-decodes s and leaves a malformed escape as it is.
func unescape(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// cut bounds s to MaxField code points, the last one "…" when something is missing.
func cut(s string) string {
	if len(s) <= MaxField {
		return s
	}
	n, last := 0, 0
	for at := range s {
		if n++; n == MaxField {
			last = at
		}
		if n > MaxField {
			return s[:last] + "…"
		}
	}
	return s
}
