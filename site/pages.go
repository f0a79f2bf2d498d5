package site

import (
	"bytes"
	"crypto/rand"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"
)

// Pages are html/template files, so every value that came with a request is
// escaped where it is printed.
//
//go:embed pages static
var files embed.FS

// view is what every page's template receives.
type view struct {
	Title     string // of the document, as tabs show it
	Query     string // what the search field of the header shows
	CartCount int
	SignedIn  bool
	Section   string // first path segment, marks the current navigation link
	Data      any
}

// app answers the site's requests.
type app struct {
	origins
	templates map[string]*template.Template
	session   string // the one valid session cookie of this run
}

func newHandler(o origins) http.Handler {
	a := &app{origins: o, templates: parsePages(), session: rand.Text()}
	mux := http.NewServeMux()

	// The shop.
	mux.HandleFunc("GET /{$}", a.home)                   // product grid with categories, sorting, cart counter
	mux.HandleFunc("GET /product/{id}", a.product)       // one product, add to cart
	mux.HandleFunc("GET /cart", a.cart)                  // quantities, remove, on to the checkout
	mux.HandleFunc("POST /cart", a.changeCart)           // add, set or remove without JavaScript
	mux.HandleFunc("GET /checkout", a.checkout)          // the form an order needs
	mux.HandleFunc("POST /checkout", a.placeOrder)       // validates, empties the cart
	mux.HandleFunc("GET /order/{number}", a.orderPlaced) // thank-you page
	mux.HandleFunc("GET /pricing", a.pricing)            // plans, price list and other downloads
	mux.HandleFunc("GET /pricing/price-list.csv", priceList)
	mux.HandleFunc("GET /login", a.login)   // demo/demo, shows an error for anything else
	mux.HandleFunc("POST /login", a.signIn) // sets the session cookie
	mux.HandleFunc("POST /logout", a.signOut)
	mux.HandleFunc("GET /account", a.account) // redirects to the login without a session

	// The documentation.
	mux.HandleFunc("GET /docs", a.docsHome)        // the page of the contract's quick start
	mux.HandleFunc("GET /docs/{page}", a.docsPage) // eight pages of prose
	mux.HandleFunc("GET /search", a.search)        // results of docs and products for ?q=

	// The workbench: one page for every kind of interaction.
	mux.HandleFunc("GET /workbench", a.page("Workbench", "workbench.html")) // index of the pages below
	mux.HandleFunc("GET /forms", a.page("Forms", "forms.html"))             // every input type, values mirrored as JSON
	mux.HandleFunc("POST /forms/submit", a.submitForm)                      // shows what was received
	mux.HandleFunc("GET /frames", a.frames)                                 // nested, second port, other host
	mux.HandleFunc("GET /frames/inner", a.innerFrame)                       // what those frames load
	mux.HandleFunc("GET /shadow", a.page("Shadow DOM", "shadow.html"))      // open and closed roots, slots
	mux.HandleFunc("GET /board", a.page("Board", "board.html"))             // HTML5 and pointer drags, slider
	mux.HandleFunc("GET /canvas", a.page("Canvas", "canvas.html"))          // paint by mouse events, counts strokes
	mux.HandleFunc("GET /feed", a.page("Feed", "feed.html"))                // infinite list, inner scroller
	mux.HandleFunc("GET /dialogs", a.page("Dialogs", "dialogs.html"))       // alert, confirm, prompt, beforeunload, print
	mux.HandleFunc("GET /console", a.page("Console", "console.html"))       // logs, exceptions, failing requests
	mux.HandleFunc("GET /upload", a.page("Upload", "upload.html"))          // single, multiple, drop zone
	mux.HandleFunc("POST /upload", a.receiveUpload)                         // answers names, sizes, SHA-256
	mux.HandleFunc("GET /download", a.page("Downloads", "download.html"))   // the downloads below

	// Answers with a particular behaviour.
	mux.HandleFunc("GET /download/orders.csv", ordersCSV)      // attachment with a plain name
	mux.HandleFunc("GET /download/manual.txt", manual)         // attachment with a name in UTF-8
	mux.HandleFunc("GET /download/slow.bin", slowDownload)     // 256 KiB over ?ms=
	mux.HandleFunc("GET /download/broken.bin", brokenDownload) // breaks off half way
	mux.HandleFunc("GET /slow", a.slow)                        // answers after ?ms=, or sends its head at once with &early=1
	mux.HandleFunc("/status/{code}", a.status)                 // answers with that status
	mux.HandleFunc("GET /redirect", a.redirect)                // to ?to=, a path of this site

	// The shop's API, which the documentation describes.
	mux.HandleFunc("GET /api/products", apiProducts)
	mux.HandleFunc("GET /api/products/{id}", apiProduct)
	mux.HandleFunc("GET /api/cart", apiCart)
	mux.HandleFunc("POST /api/cart", apiAddToCart)
	mux.HandleFunc("GET /api/feed", apiFeed)

	mux.Handle("GET /static/", http.FileServerFS(files))
	mux.HandleFunc("/", a.notFound)
	return plainTypes(mux)
}

// page serves a page that needs nothing from the request.
func (a *app) page(title, file string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a.render(w, r, http.StatusOK, file, view{Title: title})
	}
}

func (a *app) notFound(w http.ResponseWriter, r *http.Request) {
	a.render(w, r, http.StatusNotFound, "message.html", view{
		Title: "Page not found",
		Data:  "There is nothing at this address. The link may be old, or a letter may be missing.",
	})
}

func (a *app) badRequest(w http.ResponseWriter, r *http.Request, why string) {
	a.render(w, r, http.StatusBadRequest, "message.html", view{Title: "That did not work", Data: why})
}

// render fills the parts of v that are the same for every page and writes the
// page in one go, so that a template error never leaves half a page.
func (a *app) render(w http.ResponseWriter, r *http.Request, status int, file string, v view) {
	v.CartCount = readCart(r).count()
	v.SignedIn = a.signedIn(r)
	v.Section, _, _ = strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	var page bytes.Buffer
	if err := a.templates[file].Execute(&page, v); err != nil {
		http.Error(w, "The page could not be made.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = page.WriteTo(w) // the client may be gone
}

// parsePages makes one template per file of pages/, each with the layout it
// belongs to. The files are part of the program, so an error is a bug in it.
func parsePages() map[string]*template.Template {
	base := template.New("layout.html").Funcs(template.FuncMap{
		"picture":    picture,
		"money":      money,
		"categories": func() []category { return categories },
		"docs":       func() []docPage { return docPages },
		"query":      url.QueryEscape,
	})
	names, err := fs.Glob(files, "pages/*.html")
	if err != nil {
		panic(err)
	}
	templates := make(map[string]*template.Template, len(names))
	for _, name := range names {
		t := template.Must(template.Must(base.Clone()).ParseFS(files, "pages/layout.html", name))
		templates[path.Base(name)] = t
	}
	return templates
}

// picture returns a product's drawing for use inside a page. Only names of the
// catalog reach it.
func picture(name string) (template.HTML, error) {
	svg, err := files.ReadFile("static/pictures/" + name + ".svg")
	if err != nil {
		return "", fmt.Errorf("picture %q: %w", name, err)
	}
	return template.HTML(svg), nil
}

// plainTypes tells browsers to believe the content type, so that an echoed
// upload or download never turns into a page.
func plainTypes(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		h.ServeHTTP(w, r)
	})
}
