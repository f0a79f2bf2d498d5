package approval

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// View is a request as it is shown to a person. Its texts hold nothing invisible and nothing that moves or reorders what stands around
// them: such characters are written as \uXXXX. They are not escaped for HTML.
type View struct {
	Digest  string `json:"digest"`
	Member  string `json:"member"`
	Tab     string `json:"tab,omitempty"`
	URL     string `json:"url,omitempty"`
	Host    string `json:"host,omitempty"`
	Element string `json:"element,omitempty"` // role and name
	Form    string `json:"form,omitempty"`    // method and address
	// Input is the exact input: JSON that decodes to what the member gets.
	Input string `json:"input"`
	// Characters is the input's length before escaping.
	Characters int    `json:"characters"`
	Reason     string `json:"reason,omitempty"`
	// Picture is a PNG of the element.
	Picture []byte `json:"picture,omitempty"`
}

// View makes the request fit to be shown.
func (r Request) View() View {
	input, _ := canonical(r.Act.Input)
	v := View{
		Digest: r.Digest(), Member: escape(r.Act.Member), Tab: escape(r.Act.Tab), URL: escape(r.Act.URL), Host: escape(r.Act.Host),
		Input: escape(string(input)), Characters: utf8.RuneCount(input), Reason: escape(r.Reason), Picture: r.Picture,
	}
	e := r.Act.Element
	if e == nil {
		return v
	}
	v.Element = escape(e.Role) + " " + quote(e.Name)
	if e.Text != "" && e.Text != e.Name {
		v.Element += " with the text " + quote(e.Text)
	}
	if e.Form != nil {
		v.Form = escape(strings.TrimSpace(strings.ToUpper(e.Form.Method) + " " + e.Form.Action))
	}
	return v
}

// quote is a page's text as a JSON string.
func quote(s string) string {
	q, err := json.Marshal(strings.ToValidUTF8(s, "\uFFFD"))
	if err != nil {
		panic("approval: " + err.Error()) // a string
	}
	return escape(string(q))
}

// maxMarks is how many combining marks may follow one character before they paint over what stands beside it.
const maxMarks = 4

// escape writes everything that cannot be seen, or that changes how the text around it looks, as JSON's \uXXXX. Inside of a JSON text it
// changes nothing of the meaning, since such characters stand in strings only.
func escape(s string) string {
	var b strings.Builder
	marks := 0
	for _, r := range s {
		if ' ' <= r && r <= '~' { // most are
			marks = 0
			b.WriteByte(byte(r))
			continue
		}
		if unicode.In(r, unicode.Mn, unicode.Me) {
			marks++
		} else {
			marks = 0
		}
		switch {
		case unicode.IsPrint(r) && !blank(r) && marks <= maxMarks:
			b.WriteRune(r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// blank tells the printable characters that leave no mark on the screen.
func blank(r rune) bool {
	switch r {
	case 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0: // joiner, Hangul fillers, Khmer vowels, braille blank
		return true
	}
	return unicode.Is(unicode.Variation_Selector, r)
}

// excerpt keeps the beginning and the end of a long text and says how much it left out.
func excerpt(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	head, tail := most*3/4, most/4
	return fmt.Sprintf("%s\n… %d characters are not shown …\n%s", string(runes[:head]), len(runes)-head-tail, string(runes[len(runes)-tail:]))
}
