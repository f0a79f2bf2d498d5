package report

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"image"
	_ "image/jpeg" // for the size of a JPEG
	_ "image/png"  // for the size of a PNG
	"regexp"
	"strings"

	"github.com/pagehand/pagehand/contract"
)

// call is an event of a call as the template shows it.
type call struct {
	Event
	Kind   string // "ok", "error", "skipped" (halted), "unanswered"
	Input  []span
	Head   []span // what the model reads, up to foldedLines
	Rest   []span // the lines after, folded away
	Lines  int    // of Rest
	Footer string // what the API adds below: downloads and the tab context
	Images []picture
	State  *contract.BrowserState
}

// picture is an image of a result, embedded.
type picture struct {
	Source        template.URL
	Width, Height int // 0 when unknown
	Bytes         int
}

// span is a piece of text of one look. Kind is a CSS class; plain text has none.
type span struct{ Kind, Text string }

const (
	foldedLines = 14 // a reading that is longer is folded
	keptLines   = 10 // to so many
)

func newCall(e Event, view *contract.View) call {
	c := call{Event: e, Kind: "ok", Input: inputSpans(e.Call.Input)}
	if e.Result == nil {
		c.Kind = "unanswered"
		return c
	}
	// Images are shown as such; for the tab context they make no difference.
	words := *e.Result
	words.Content = nil
	body := words
	for _, block := range e.Result.Content {
		switch block := block.(type) {
		case contract.Image:
			if p, ok := newPicture(block); ok {
				c.Images = append(c.Images, p)
			}
		case *contract.BrowserState:
			c.State = block
			words.Content = append(words.Content, block)
		default:
			words.Content = append(words.Content, block)
			body.Content = append(body.Content, block)
		}
	}
	reads := view.Render(e.Call, words)
	said := new(contract.View).Render(e.Call, body)
	if rest, ok := strings.CutPrefix(reads, said); ok && said != "" {
		reads, c.Footer = said, strings.TrimLeft(rest, "\n")
	}
	if e.Result.IsError {
		c.Kind = "error"
		if reads == contract.HaltText {
			c.Kind = "skipped"
		}
	}
	c.fold(reads)
	return c
}

func (c *call) fold(text string) {
	lines := strings.SplitAfter(text, "\n")
	if len(lines) <= foldedLines {
		c.Head = refSpans(text)
		return
	}
	c.Head = refSpans(strings.TrimSuffix(strings.Join(lines[:keptLines], ""), "\n"))
	c.Rest = refSpans(strings.Join(lines[keptLines:], ""))
	c.Lines = len(lines) - keptLines
}

// mediaTypes are the image formats that a report shows; another media type could be a document.
var mediaTypes = map[string]bool{"image/png": true, "image/jpeg": true, "image/webp": true, "image/gif": true}

func newPicture(i contract.Image) (picture, bool) {
	if !mediaTypes[i.MediaType] {
		return picture{}, false
	}
	// The media type is one of ours and base64 has no character that means anything to HTML.
	p := picture{Source: template.URL("data:" + i.MediaType + ";base64," + base64.StdEncoding.EncodeToString(i.Data)), Bytes: len(i.Data)}
	if config, _, err := image.DecodeConfig(bytes.NewReader(i.Data)); err == nil {
		p.Width, p.Height = config.Width, config.Height
	}
	return p, true
}

// Size is the picture's size for people.
func (p picture) Size() string {
	if p.Width == 0 {
		return fmt.Sprintf("%d KB", (p.Bytes+500)/1000)
	}
	return fmt.Sprintf("%d × %d px, %d KB", p.Width, p.Height, (p.Bytes+500)/1000)
}

var (
	refTag     = regexp.MustCompile(`\[ref_\d+\]`)
	jsonString = regexp.MustCompile(`"(?:[^"\\]|\\.)*"(?:\s*:)?`)
)

func refSpans(text string) []span {
	return spans(text, refTag, func(string) string { return "ref" })
}

// shortInput is how many characters an input may have to stay on one line.
const shortInput = 140

// inputSpans pretty-prints an input; what is no JSON is shown as it came.
func inputSpans(input json.RawMessage) []span {
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, input, "", "  "); err != nil {
		return []span{{Text: string(input)}}
	}
	text := pretty.String()
	if oneLine := unindented(text); len(oneLine) <= shortInput {
		text = oneLine
	}
	return spans(text, jsonString, func(s string) string {
		if strings.HasSuffix(s, ":") {
			return "key"
		}
		return "string"
	})
}

// unindented puts indented JSON on one line. Its strings hold no line breaks, so each line begins and ends between tokens.
func unindented(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, " ")
}

// spans cuts text into what a pattern matches and what is between.
func spans(text string, pattern *regexp.Regexp, kind func(string) string) []span {
	var list []span
	end := 0
	for _, m := range pattern.FindAllStringIndex(text, -1) {
		if end < m[0] {
			list = append(list, span{Text: text[end:m[0]]})
		}
		match := text[m[0]:m[1]]
		list = append(list, span{kind(match), match})
		end = m[1]
	}
	if end < len(text) {
		list = append(list, span{Text: text[end:]})
	}
	return list
}
