package policy

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// label is a page's text as phrases are looked for in it.
type label struct {
	plain  string // what a person sees, for regular expressions
	spaced string // its words in lower case, a space before and after each
	dense  string // the same without spaces, for scripts that have none
}

func newLabel(s string) label { return labelOf(visible(s)) }

func labelOf(plain string) label {
	words := wordsOf(plain)
	return label{plain, " " + strings.Join(words, " ") + " ", strings.Join(words, "")}
}

// gap stands where a harmless phrase was, so that what is left and right of it does not join. It is a word that no page can write.
const gap = "\x00"

// without takes phrases out of a label.
func (l label) without(phrases []pattern) label {
	for _, p := range phrases {
		if p.regex != nil {
			if p.regex.MatchString(l.plain) {
				l = labelOf(p.regex.ReplaceAllString(l.plain, " "+gap+" "))
			}
			continue
		}
		if !p.matches(l) {
			continue
		}
		if p.isDense {
			l.dense = p.cutFrom(l.dense, p.text, gap)
			continue
		}
		// Twice, because neighbouring occurrences share a space.
		for range 2 {
			l.spaced = p.cutFrom(l.spaced, p.text, " "+gap+" ")
		}
	}
	return l
}

// pattern is a phrase or a regular expression.
type pattern struct {
	source     string // as explanations name it
	regex      *regexp.Regexp
	text       string // normalized as in label, with the spaces around when it is looked for between words
	isDense    bool
	start, end bool // only there
}

// newPhrase reads a phrase. "^" before it means that the label begins with it, "$" after it that the label ends with it.
func newPhrase(source string) (pattern, bool) {
	s, start := strings.CutPrefix(source, "^")
	s, end := strings.CutSuffix(s, "$")
	words := wordsOf(visible(s))
	if len(words) == 0 {
		return pattern{}, false
	}
	p := pattern{source: strconv.Quote(source), start: start, end: end, isDense: strings.ContainsFunc(s, unspaced)}
	if p.isDense {
		p.text = strings.Join(words, "")
	} else {
		p.text = " " + strings.Join(words, " ") + " "
	}
	return p, true
}

func (p pattern) matches(l label) bool {
	if p.regex != nil {
		return p.regex.MatchString(l.plain)
	}
	in := l.spaced
	if p.isDense {
		in = l.dense
	}
	switch {
	case p.start && p.end:
		return in == p.text
	case p.start:
		return strings.HasPrefix(in, p.text)
	case p.end:
		return strings.HasSuffix(in, p.text)
	}
	return strings.Contains(in, p.text)
}

// cutFrom replaces the phrase where it may stand.
func (p pattern) cutFrom(s, phrase, with string) string {
	switch {
	case p.start && p.end:
		if s == phrase {
			return with
		}
	case p.start:
		if rest, ok := strings.CutPrefix(s, phrase); ok {
			return with + rest
		}
	case p.end:
		if rest, ok := strings.CutSuffix(s, phrase); ok {
			return rest + with
		}
	default:
		return strings.ReplaceAll(s, phrase, with)
	}
	return s
}

// named says of the patterns which list they are of.
func named(list string, patterns []pattern) []pattern {
	of := slices.Clone(patterns)
	for i := range of {
		of[i].source += " of $" + list
	}
	return of
}

func firstMatch(patterns []pattern, l label) (pattern, bool) {
	i := slices.IndexFunc(patterns, func(p pattern) bool { return p.matches(l) })
	if i < 0 {
		return pattern{}, false
	}
	return patterns[i], true
}

// inOrder puts harmless phrases in the order to take them out in: regular expressions first, because they look at what a person sees, then
// the longest first, so that a short one does not break up a long one.
func inOrder(phrases []pattern) {
	slices.SortStableFunc(phrases, func(a, b pattern) int {
		switch {
		case a.regex != nil && b.regex != nil:
			return 0
		case a.regex != nil:
			return -1
		case b.regex != nil:
			return 1
		}
		return cmp.Compare(len(b.text), len(a.text))
	})
}

// visible is s in the compatibility form (full-width letters and ligatures become plain ones) without what leaves no mark on the
// screen, which a page could put into words so that they are not recognized.
func visible(s string) string {
	return norm.NFKC.String(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Variation_Selector, r),
			0xE0000 <= r && r <= 0xE0FFF,                                                                           // tags, reserved
			r == 0x034F, r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0, r == 0x17B4, r == 0x17B5, r == 0x2800: // fillers
			return -1
		}
		return r
	}, s))
}

// wordsOf splits a visible text into words in lower case, without accents where they only accentuate.
func wordsOf(s string) []string {
	s = norm.NFD.String(strings.ReplaceAll(strings.ToLower(s), "ß", "ss"))
	s = norm.NFC.String(strings.Map(func(r rune) rune {
		switch {
		case 0x0300 <= r && r <= 0x036F, // accents
			0x064B <= r && r <= 0x0652, r == 0x0640: // Arabic vowel signs and lengthening
			return -1
		case r == 'ı':
			return 'i'
		case r == 'ł':
			return 'l'
		}
		return r
	}, s))
	words := strings.FieldsFunc(s, func(r rune) bool { return string(r) != gap && !unicode.In(r, unicode.L, unicode.M, unicode.N) })
	for i, w := range words {
		words[i] = latin(w)
	}
	return words
}

// lookalikes are letters of other alphabets that look like Latin ones.
var lookalikes = strings.NewReplacer(
	"а", "a", "в", "b", "е", "e", "к", "k", "м", "m", "н", "h", "о", "o", "р", "p", "с", "c", "т", "t", "у", "y", "х", "x", "і", "i", "ј", "j", "ѕ", "s",
	"α", "a", "ο", "o", "ν", "v", "ρ", "p", "υ", "u", "ι", "i", "κ", "k", "τ", "t")

// latin undoes the mixing of alphabets inside a word, which no language does.
func latin(word string) string {
	in := func(t *unicode.RangeTable) bool {
		return strings.ContainsFunc(word, func(r rune) bool { return unicode.Is(t, r) })
	}
	if in(unicode.Latin) && (in(unicode.Cyrillic) || in(unicode.Greek)) {
		return lookalikes.Replace(word)
	}
	return word
}

// unspaced tells scripts that write words without spaces, or, as Korean does, with endings that make one word of many.
func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
