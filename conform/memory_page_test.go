package conform_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
}

func text(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

func words(s string) string { return strings.Join(strings.Fields(s), " ") }

var notRendered = []string{"head", "script", "style", "template", "noscript", "title", "dialog"}

func (m *memory) hidden(n *html.Node, reader string) bool {
	if slices.Contains(notRendered, n.Data) || attribute(n, "type") == "hidden" {
		return true
	}
	if m.is("hidden text is read") || m.is("hidden text in "+reader) {
		return false
	}
	return has(n, "hidden") || strings.Contains(attribute(n, "style"), "display:none")
}

var roles = map[string]string{
	"button": "button", "textarea": "textbox", "select": "combobox", "nav": "navigation", "main": "main", "section": "region",
	"h1": "heading", "h2": "heading", "li": "listitem",
}

func role(n *html.Node) string {
	if n.Data == "a" && has(n, "href") {
		return "link"
	}
	if n.Data != "input" {
		return roles[n.Data]
	}
	switch kind := attribute(n, "type"); kind {
	case "checkbox", "radio":
		return kind
	case "search":
		return "searchbox"
	case "number":
		return "spinbutton"
	}
	return "textbox"
}

func nameOf(n *html.Node) string {
	for _, name := range []string{"aria-label", "placeholder"} {
		if v := attribute(n, name); v != "" {
			return v
		}
	}
	if n.Data == "input" && n.Parent.Data == "label" {
		n = n.Parent
	}
	if slices.Contains([]string{"nav", "main", "section", "li"}, n.Data) {
		return ""
	}
	return words(text(n))
}

var interactive = []string{"link", "button", "textbox", "searchbox", "combobox", "checkbox", "radio", "spinbutton"}

// reading is a walk over a page.
type reading struct {
	*memory
	page   *page
	reader string
	filter string
	depth  int
	below  bool // what follows is below the fold
	lines  []string
}

func (r *reading) walk(n *html.Node, level int) {
	for c := range n.ChildNodes() {
		r.node(c, level)
	}
}

func (r *reading) node(c *html.Node, level int) {
	if c.Type == html.TextNode {
		if s := words(c.Data); s != "" && r.shows() && (r.filter != "interactive" || r.is("the interactive filter is ignored")) && c.Parent.Data != "label" {
			r.add(level, strconv.Quote(s))
		}
		return
	}
	if c.Type != html.ElementNode || r.hidden(c, r.reader) {
		return
	}
	role, next := role(c), level
	if role != "" && (r.filter != "interactive" || slices.Contains(interactive, role) || r.is("the interactive filter is ignored")) && r.shows() {
		r.add(level, r.line(c, role))
		next++
	}
	if next < r.depth && !slices.Contains([]string{"button", "a", "h1", "h2", "textarea", "select"}, c.Data) {
		r.walk(c, next)
	}
	if strings.Contains(attribute(c, "style"), "height:5000px") || strings.Contains(attribute(c, "style"), "height:4000px") {
		r.below = true
	}
}

func (r *reading) shows() bool {
	return !r.below || r.filter == "all" || r.is("readings ignore the viewport")
}

func (r *reading) add(level int, line string) {
	r.lines = append(r.lines, strings.Repeat(" ", level)+line)
}

func (r *reading) line(n *html.Node, role string) string {
	s, known := r.session, false
	if _, known = r.page.refs[n]; !known || r.is("refs are renumbered") {
		s.refs++
		r.page.refs[n] = s.refs
	}
	line := role
	if name := nameOf(n); name != "" {
		line += " " + strconv.Quote(name)
	}
	line += fmt.Sprintf(" [ref_%d]", r.page.refs[n])
	if v := r.page.value(n); v != "" && n.Data != "option" {
		if attribute(n, "type") == "password" && !r.is("passwords are read") {
			v = "(hidden)"
		}
		line += " value=" + strconv.Quote(v)
	}
	return line
}

func (m *memory) read(t *tab, in map[string]any) ([]any, error) {
	p := t.page()
	if (m.is("ref numbers begin again") || m.is("ref numbers are per tab")) && len(p.refs) == 0 {
		m.session.refs = 0
	}
	r := &reading{memory: m, page: p, reader: "read_page", depth: 15}
	r.filter, _ = in["filter"].(string)
	if depth, ok := in["depth"].(float64); ok && !m.is("depth is ignored") {
		r.depth = int(depth)
	}
	root := p.body
	if ref, ok := in["ref"].(string); ok {
		n, err := m.element(t, ref)
		if err != nil {
			return nil, err
		}
		root = &html.Node{Type: html.DocumentNode}
		r.node(n, 0)
		if m.is("a reading's ref is ignored") {
			r.walk(p.body, 0)
		}
	}
	r.walk(root, 0)
	text := strings.Join(r.lines, "\n")
	if text == "" {
		text = "(nothing)"
	}
	if m.is("readings have no bound") {
		return say("%s", text)
	}
	return say("%s", m.bounded(text))
}

func (m *memory) bounded(text string) string {
	const most, note = 50_000, "\n[Cut at 50,000 characters. Narrow with depth or ref.]"
	if m.is("the cap counts bytes") && len(text) > most {
		return text[:most-len(note)-3] + note
	}
	runes := []rune(text)
	switch {
	case len(runes) <= most:
		return text
	case m.is("the cut is silent"):
		return string(runes[:most])
	case m.is("the note is not counted"):
		return string(runes[:most]) + note
	}
	return string(runes[:most-len(note)]) + note
}

func (m *memory) find(t *tab, query string) ([]any, error) {
	r := &reading{memory: m, page: t.page(), reader: "find", filter: "all", depth: 99}
	r.walk(r.page.body, 0)
	var found []string
	wanted := strings.Fields(strings.ToLower(query))
	for _, line := range r.lines {
		lower := strings.ToLower(line)
		if strings.Contains(line, "[ref_") && slices.ContainsFunc(wanted, func(w string) bool { return !slices.Contains(interactive, w) && strings.Contains(lower, w) }) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	if most := 20; len(found) > most && !m.is("find has no bound") {
		found = found[:most]
	}
	if len(found) == 0 {
		if m.is("finding nothing fails") {
			return nil, failure("Nothing matches.")
		}
		return say("No elements match.")
	}
	return say("%s", strings.Join(found, "\n"))
}

func (m *memory) pageText(t *tab) ([]any, error) {
	r := &reading{memory: m, page: t.page(), reader: "get_page_text"}
	var lines []string
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		for c := range n.ChildNodes() {
			switch {
			case c.Type == html.TextNode:
				lines = append(lines, c.Data)
			case c.Type == html.ElementNode && !r.hidden(c, r.reader):
				walk(c)
				if slices.Contains([]string{"p", "h1", "div"}, c.Data) {
					lines = append(lines, "\n")
				}
			}
		}
	}
	walk(r.page.body)
	text := strings.TrimSpace(strings.Join(lines, ""))
	if text == "" {
		if m.is("empty text") {
			return say("")
		}
		text = "(no text)"
	}
	return say("%s", text)
}
