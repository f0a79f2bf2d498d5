package site

import (
	"fmt"
	"html"
	"html/template"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// docPage is a page of the documentation; its prose is pages/docs/{ID}.html.
type docPage struct {
	ID, Title, Summary string
	Body               template.HTML
	text               string // the prose without its markup, for the search
}

var docPages = loadDocs([]docPage{
	{ID: "getting-started", Title: "Getting started", Summary: "Install the client, make a key and list your first products."},
	{ID: "authentication", Title: "Authentication", Summary: "How keys work, what they may do and how to replace one."},
	{ID: "products", Title: "Products", Summary: "Read the catalog: fields, filters, stock and pictures."},
	{ID: "cart", Title: "Cart", Summary: "Put things into a cart and read its total."},
	{ID: "orders", Title: "Orders", Summary: "From a paid cart to a parcel, and what each state means."},
	{ID: "webhooks", Title: "Webhooks", Summary: "Hear about orders and stock instead of asking again."},
	{ID: "errors", Title: "Errors", Summary: "Status codes, error bodies and when to try again."},
	{ID: "limits", Title: "Limits", Summary: "Requests per minute, page sizes and how to stay below them."},
})

var tag = regexp.MustCompile(`<[^>]*>`)

func loadDocs(pages []docPage) []docPage {
	for i, p := range pages {
		body, err := files.ReadFile("pages/docs/" + p.ID + ".html")
		if err != nil {
			panic(err) // the files are part of the program
		}
		pages[i].Body = template.HTML(body)
		text := html.UnescapeString(tag.ReplaceAllString(string(body), " "))
		pages[i].text = strings.Join(strings.Fields(p.Summary+" "+text), " ")
	}
	return pages
}

func (a *app) docsHome(w http.ResponseWriter, r *http.Request) {
	a.render(w, r, http.StatusOK, "docs.html", view{Title: "Documentation"})
}

func (a *app) docsPage(w http.ResponseWriter, r *http.Request) {
	i := slices.IndexFunc(docPages, func(p docPage) bool { return p.ID == r.PathValue("page") })
	if i < 0 {
		a.notFound(w, r)
		return
	}
	data := map[string]any{"Page": docPages[i]}
	if i > 0 {
		data["Previous"] = docPages[i-1]
	}
	if i+1 < len(docPages) {
		data["Next"] = docPages[i+1]
	}
	a.render(w, r, http.StatusOK, "doc.html", view{Title: docPages[i].Title, Data: data})
}

// hit is one search result; the words around the match are shown with it.
type hit struct{ Title, URL, Before, Match, After string }

// maxQuery bounds a search, in bytes.
const maxQuery = 200

func (a *app) search(w http.ResponseWriter, r *http.Request) {
	query := strings.TrimSpace(r.FormValue("q"))
	if len(query) > maxQuery {
		a.badRequest(w, r, fmt.Sprintf("A search may be at most %d bytes long.", maxQuery))
		return
	}
	title := "Search"
	var docs, items []hit
	if query != "" {
		title = fmt.Sprintf("Search results for “%s”", query)
		var words []*regexp.Regexp
		for word := range strings.FieldsSeq(query) {
			words = append(words, regexp.MustCompile("(?i)"+regexp.QuoteMeta(word)))
		}
		for _, p := range docPages {
			docs = appendHit(docs, words, p.Title, "/docs/"+p.ID, p.text)
		}
		for _, it := range catalog {
			items = appendHit(items, words, it.Name, "/product/"+it.ID, it.CategoryName()+". "+it.Blurb+" "+it.Details)
		}
	}
	a.render(w, r, http.StatusOK, "search.html", view{Title: title, Query: query, Data: map[string]any{
		"Docs": docs, "Items": items, "Count": len(docs) + len(items),
	}})
}

// appendHit adds a result when every word is in the title or the text. It shows
// the text around the first word.
func appendHit(hits []hit, words []*regexp.Regexp, title, url, text string) []hit {
	for _, word := range words {
		if !word.MatchString(title) && !word.MatchString(text) {
			return hits
		}
	}
	h := hit{Title: title, URL: url}
	if at := words[0].FindStringIndex(text); at != nil {
		h.Before, h.Match, h.After = tailWords(text[:at[0]], 60), text[at[0]:at[1]], headWords(text[at[1]:], 100)
	} else {
		h.After = headWords(text, 160)
	}
	return append(hits, h)
}

// headWords returns about n bytes of the start of s, cut after a word.
func headWords(s string, n int) string {
	if len(s) <= n {
		return s
	}
	if i := strings.LastIndexByte(s[:n], ' '); i >= 0 {
		return s[:i] + " …"
	}
	return "…"
}

// tailWords returns about n bytes of the end of s, cut before a word.
func tailWords(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[len(s)-n:]
	if i := strings.IndexByte(s, ' '); i >= 0 {
		return "… " + s[i+1:]
	}
	return "…"
}
