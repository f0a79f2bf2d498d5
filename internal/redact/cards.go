package redact

import (
	"regexp"
	"strings"
)

// digits finds runs of digits as cards print them. Percent escapes are found only so that their digits count as none.
var digits = regexp.MustCompile(`%[0-9A-Fa-f]{2}|[0-9]+(?:[ -][0-9]+)*`)

const shortestCard = 13 // digits

// cards redacts card numbers.
func cards(s string) string {
	count := 0
	for i := range len(s) {
		if isDigit(s[i]) {
			count++
		}
	}
	if count < shortestCard {
		return s
	}
	var out edit
	escaped := -1
	for _, at := range digits.FindAllStringIndex(s, -1) {
		if s[at[0]] == '%' {
			escaped = at[1]
			continue
		}
		for from := at[0]; from < at[1]; {
			to := from + cardEnd(s[from:at[1]])
			if to > from && apart(s, from, to, from == escaped) {
				out.redact(s, from, to)
			} else {
				to = from + groupEnd(s[from:at[1]])
			}
			from = to + 1 // the space or hyphen between groups
		}
	}
	return out.end(s)
}

// apart tells whether a number stands for itself: not in a word, an identifier or a decimal fraction.
func apart(s string, from, to int, escaped bool) bool {
	if to < len(s) && (isWord(s[to]) || s[to] == '-' && to+1 < len(s) && isWord(s[to+1])) {
		return false
	}
	if from == 0 || escaped {
		return true
	}
	before, sign := s[from-1], from > 1 && isWord(s[from-2])
	return !isWord(before) && !(sign && (before == '-' || before == '.' && isDigit(s[from-2])))
}

// cardLayouts are the group lengths that cards are printed with, besides all digits in one.
var cardLayouts = [][]int{{4, 4, 4, 4, 3}, {4, 4, 4, 4}, {4, 6, 5}, {4, 6, 4}}

// cardEnd is where the card number that s begins with ends, 0 when there is none.
func cardEnd(s string) int {
	if n := groupEnd(s); n >= shortestCard && n <= 19 && isCard(s[:n]) {
		return n
	}
	for _, layout := range cardLayouts {
		if end := layoutEnd(s, layout); end > 0 && isCard(strings.NewReplacer(" ", "", "-", "").Replace(s[:end])) {
			return end
		}
	}
	return 0
}

// layoutEnd is where the groups of a layout that s begins with end, 0 when it begins with others.
func layoutEnd(s string, layout []int) int {
	end := 0
	for i, want := range layout {
		if i > 0 {
			end++
		}
		if end >= len(s) || groupEnd(s[end:]) != want {
			return 0
		}
		end += want
	}
	return end
}

func groupEnd(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

// isCard checks the leading digit of the card networks and the Luhn sum.
func isCard(number string) bool {
	if number[0] < '2' || number[0] > '6' {
		return false
	}
	sum := 0
	for i := range len(number) {
		d := int(number[len(number)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}
