package pagehand

import (
	"context"
	"strings"

	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/internal/page"
)

var readMembers = []Member{
	onTab("read_page", "Read the page's accessibility tree, with a reference for each element.", readPage),
	onTab("find", "Find elements by a description in natural language.", find),
	onTab("get_page_text", "Get the page's text, its main article first.", getPageText),
}

type readPageInput struct {
	Filter string `json:"filter" enum:"interactive,all" doc:"interactive: only what can be operated. all: also what is outside the viewport. Left out: everything visible."`
	Depth  int    `json:"depth" min:"1" default:"15" doc:"How many levels to descend."`
	Ref    string `json:"ref" doc:"Read only this element's subtree."`
	tabInput
}

// most is the bound of a reading in code points, 0 for none.
func (s *Session) most() int { return max(0, s.opts.MaxChars) }

func readPage(ctx context.Context, t *tab, in readPageInput) (output, error) {
	text, err := t.page.Read(ctx, page.ReadOptions{Filter: in.Filter, Depth: in.Depth, Ref: in.Ref, Max: t.session.most()})
	if err != nil {
		return output{}, err
	}
	if strings.TrimSpace(text) == "" {
		text = nothingVisible(in)
	}
	return say(text)
}

func nothingVisible(in readPageInput) string {
	switch in.Filter {
	case "all":
		return "(the page shows nothing that can be read)"
	case "interactive":
		return "(nothing in view can be operated; filter \"all\" reads the whole page)"
	}
	return "(nothing that can be read is in view; filter \"all\" reads the whole page)"
}

// mostFound is the contract's bound for find (§4).
const mostFound = 20

type findInput struct {
	Query string `json:"query" need:"true" doc:"What to look for, such as \"search field\" or \"add to cart button\"."`
	tabInput
}

func find(ctx context.Context, t *tab, in findInput) (output, error) {
	found, err := t.page.Find(ctx, in.Query, mostFound)
	if err != nil {
		return output{}, err
	}
	if len(found) == 0 {
		return say("No elements match " + quote(shorten(contract.CleanTitle(in.Query), 200)) + ". Try other words, or read the page.")
	}
	lines := make([]string, len(found))
	for i, m := range found {
		lines[i] = m.Line
	}
	return say(strings.Join(lines, "\n"))
}

func quote(s string) string { return `"` + strings.ReplaceAll(s, `"`, `'`) + `"` }

func getPageText(ctx context.Context, t *tab, _ tabInput) (output, error) {
	text, err := t.page.Text(ctx, t.session.most())
	if err != nil {
		return output{}, err
	}
	if strings.TrimSpace(text) == "" {
		text = "(the page shows no text)"
	}
	return say(text)
}
