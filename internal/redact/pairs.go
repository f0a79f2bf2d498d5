package redact

import (
	"regexp"
	"strings"
)

// pairs redacts values that follow a credential-like name: password=…, "token": "…", Cookie: …, in plain text, JSON, JSON within JSON
// and percent-encoding. It looks at every separator, backwards for the name and forwards for the value, because a pattern
// that does both is slow by a factor of a hundred.
func pairs(s string) string {
	var out edit
	for i := 0; i < len(s); {
		n := separator(s[i:])
		if n == 0 {
			i++
			continue
		}
		name := nameBefore(s[max(out.done, i-longestName):i])
		i += n
		if name == "" || !isCredentialWord(name) {
			continue
		}
		from, to := valueAfter(s, i, isHeader(name) && s[i-1] == ':')
		if plain(s[from:to]) {
			continue
		}
		out.redact(s, from, to)
		i = to
	}
	return out.end(s)
}

// longestName is how far back a name is looked for, in bytes.
const longestName = 64

// separator is the length of what separates a name from its value at the start of s, 0 when nothing does.
func separator(s string) int {
	switch {
	case s[0] == ':', strings.HasPrefix(s, "=>"):
		return 1
	case s[0] == '=':
		return 1
	case s[0] == '%':
		return escape(s, "3ad")
	}
	return 0
}

// escape is the length of a percent escape, perhaps escaped again, for a byte whose first hexadecimal digit is codes[0] and whose second
// is one of the others; 0 when s begins with none.
func escape(s, codes string) int {
	i := 1
	for strings.HasPrefix(s[i:], "25") {
		i += 2
	}
	if len(s) < i+2 || s[i] != codes[0] || strings.IndexByte(codes[1:], s[i+1]|0x20) < 0 {
		return 0
	}
	return i + 2
}

// nameBefore is the name that s ends with, without quotation marks and brackets.
func nameBefore(s string) string {
	s = strings.TrimRight(s, " \t")
	for _, closing := range []string{"%22", "%27", "%5D", "%5d"} {
		s = strings.TrimSuffix(s, closing)
	}
	s = strings.TrimRight(s, "\\\"'`]")
	from := len(s)
	for from > 0 && (isWord(s[from-1]) || strings.IndexByte("-. ", s[from-1]) >= 0) {
		from--
	}
	name := s[from:]
	if from > 0 && s[from-1] == '%' { // the escape of what stands before the name
		for strings.HasPrefix(name, "25") {
			name = name[2:]
		}
		name = name[min(2, len(name)):]
	}
	return name
}

// another begins the next name and value after a comma.
var another = regexp.MustCompile(`^,(?:$|["']?[A-Za-z_][\w.-]{0,60}["']?[:=])`)

// valueAfter is where a value begins and ends, from after the separator. The value of a header runs to the end of its line.
func valueAfter(s string, from int, header bool) (int, int) {
	if strings.HasPrefix(s[from:], ">") { // of =>
		from++
	}
	for n := 0; n < 3 && from < len(s) && (s[from] == ' ' || s[from] == '\t'); n++ {
		from++
	}
	slashes := 0
	for from+slashes < len(s) && s[from+slashes] == '\\' {
		slashes++
	}
	if at := from + slashes; at < len(s) && strings.IndexByte("\"'`", s[at]) >= 0 {
		return at + 1, quotedEnd(s, at+1, s[at], slashes)
	}
	if strings.HasPrefix(s[from:], Mark) && !header {
		return from, from + len(Mark)
	}
	if header {
		return from, from + len(strings.TrimRight(until(s[from:], "\r\n\"'`"), "\\"))
	}
	if from == len(s) || strings.IndexByte("(){}[],", s[from]) >= 0 || strings.HasPrefix(s[from:], "//") {
		return from, from
	}
	if n := schemeLength(s[from:]); n > 0 {
		if strings.HasPrefix(s[from+n:], Mark) {
			return from, from + n + len(Mark)
		}
		return from, bareEnd(s, from+n)
	}
	return from, bareEnd(s, from)
}

// quotedEnd finds the mark that ends a quoted value. It stands behind as many backslashes as the opening one.
func quotedEnd(s string, at int, mark byte, slashes int) int {
	run := 0
	for ; at < len(s); at++ {
		switch {
		case s[at] == '\\':
			run++
			continue
		case s[at] == mark && (slashes == 0 && run%2 == 0 || slashes > 0 && run <= slashes):
			return at - run
		}
		run = 0
	}
	return at
}

// schemeLength is the length of an authorization scheme and the space behind it.
func schemeLength(s string) int {
	word, _, ok := strings.Cut(s[:min(len(s), 12)], " ")
	if !ok {
		return 0
	}
	switch strings.ToLower(word) {
	case "bearer", "basic", "digest", "token", "negotiate":
		return len(word) + 1
	}
	return 0
}

// bareEnd finds the end of a value without quotation marks. A comma may belong to it; brackets that close around it don't.
func bareEnd(s string, from int) int {
	value := until(s[from:], " \t\r\n&;\"'<>`")
	for i := range len(value) {
		if value[i] == ',' && another.MatchString(s[from+i:min(len(s), from+i+70)]) {
			value = value[:i]
			break
		}
	}
	return from + len(strings.TrimRight(value, ")]},"))
}

func until(s, stops string) string {
	if n := strings.IndexAny(s, stops); n >= 0 {
		return s[:n]
	}
	return s
}
