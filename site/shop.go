package site

import (
	"cmp"
	"fmt"
	"net/http"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

const (
	cartCookie  = "cart"
	maxQuantity = 20
	maxForm     = 64 << 10 // bytes of a form without files
)

// cart maps product IDs to quantities of 1 to maxQuantity. It travels in a
// cookie, so the server keeps nothing for a visitor.
type cart map[string]int

// readCart reads the cart cookie, "enamel-mug:2.oak-stool:1". What is no
// product or quantity is dropped.
func readCart(r *http.Request) cart {
	c := cart{}
	cookie, err := r.Cookie(cartCookie)
	if err != nil {
		return c
	}
	for entry := range strings.SplitSeq(cookie.Value, ".") {
		id, quantity, _ := strings.Cut(entry, ":")
		n, err := strconv.Atoi(quantity)
		if err == nil {
			c.set(id, n)
		}
	}
	return c
}

// set changes a quantity and reports whether the product exists. Zero or less
// removes it; more than maxQuantity counts as that.
func (c cart) set(id string, quantity int) bool {
	if _, ok := findItem(id); !ok {
		return false
	}
	if quantity <= 0 {
		delete(c, id)
		return true
	}
	c[id] = min(quantity, maxQuantity)
	return true
}

func (c cart) save(w http.ResponseWriter) {
	var entries []string
	for _, l := range c.lines() {
		entries = append(entries, fmt.Sprintf("%s:%d", l.Item.ID, l.Quantity))
	}
	http.SetCookie(w, &http.Cookie{
		Name: cartCookie, Value: strings.Join(entries, "."),
		Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

func (c cart) count() int {
	n := 0
	for _, quantity := range c {
		n += quantity
	}
	return n
}

func (c cart) total() int {
	cents := 0
	for _, l := range c.lines() {
		cents += l.Total()
	}
	return cents
}

type cartLine struct {
	Item     item
	Quantity int
}

// Total is the line's price in cents.
func (l cartLine) Total() int { return l.Item.Cents * l.Quantity }

// lines lists the cart in the catalog's order.
func (c cart) lines() []cartLine {
	var lines []cartLine
	for _, it := range catalog {
		if n := c[it.ID]; n > 0 {
			lines = append(lines, cartLine{it, n})
		}
	}
	return lines
}

type sortOrder struct{ ID, Name string }

var sortOrders = []sortOrder{{"featured", "Featured"}, {"price", "Price, low to high"}, {"price-desc", "Price, high to low"}, {"name", "Name"}}

func (a *app) home(w http.ResponseWriter, r *http.Request) {
	chosen, order := r.FormValue("category"), r.FormValue("sort")
	items := slices.DeleteFunc(slices.Clone(catalog), func(it item) bool {
		return chosen != "" && it.Category != chosen
	})
	switch order {
	case "price":
		slices.SortStableFunc(items, func(x, y item) int { return cmp.Compare(x.Cents, y.Cents) })
	case "price-desc":
		slices.SortStableFunc(items, func(x, y item) int { return cmp.Compare(y.Cents, x.Cents) })
	case "name":
		slices.SortStableFunc(items, func(x, y item) int { return cmp.Compare(x.Name, y.Name) })
	}
	a.render(w, r, http.StatusOK, "home.html", view{Title: "Harbor Goods", Data: map[string]any{
		"Items": items, "Category": chosen, "Sort": order, "Orders": sortOrders,
	}})
}

func (a *app) product(w http.ResponseWriter, r *http.Request) {
	it, ok := findItem(r.PathValue("id"))
	if !ok {
		a.notFound(w, r)
		return
	}
	related := slices.DeleteFunc(slices.Clone(catalog), func(other item) bool {
		return other.ID == it.ID || other.Category != it.Category
	})
	a.render(w, r, http.StatusOK, "product.html", view{Title: it.Name, Data: map[string]any{
		"Item": it, "Related": related[:4], "Max": maxQuantity,
	}})
}

func (a *app) cart(w http.ResponseWriter, r *http.Request) {
	c := readCart(r)
	a.render(w, r, http.StatusOK, "cart.html", view{Title: "Your cart", Data: map[string]any{
		"Lines": c.lines(), "Total": c.total(), "Max": maxQuantity,
	}})
}

// changeCart adds a quantity (action=add), sets it (set) or removes the product
// (remove), then shows the cart.
func (a *app) changeCart(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	c, id := readCart(r), r.PostFormValue("product")
	quantity, err := strconv.Atoi(cmp.Or(r.PostFormValue("quantity"), "1"))
	if err != nil {
		a.badRequest(w, r, "The quantity is not a whole number.")
		return
	}
	switch r.PostFormValue("action") {
	case "add":
		quantity = min(quantity, maxQuantity) + c[id]
	case "remove":
		quantity = 0
	}
	if !c.set(id, quantity) {
		a.badRequest(w, r, "There is no such product.")
		return
	}
	c.save(w)
	http.Redirect(w, r, "/cart", http.StatusSeeOther)
}

func (a *app) checkout(w http.ResponseWriter, r *http.Request) {
	a.showCheckout(w, r, http.StatusOK, nil, nil)
}

// showCheckout shows the form again with what was typed and what is wrong,
// keyed by field.
func (a *app) showCheckout(w http.ResponseWriter, r *http.Request, status int, typed url.Values, wrong map[string]string) {
	c := readCart(r)
	if c.count() == 0 {
		http.Redirect(w, r, "/cart", http.StatusSeeOther)
		return
	}
	a.render(w, r, status, "checkout.html", view{Title: "Checkout", Data: map[string]any{
		"Lines": c.lines(), "Total": c.total(), "Typed": typed, "Wrong": wrong,
	}})
}

var (
	orders      atomic.Int64
	orderNumber = regexp.MustCompile(`^HG-[0-9]{4,12}$`)
	postcode    = regexp.MustCompile(`^[0-9A-Za-z -]{3,10}$`)
)

func (a *app) placeOrder(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		a.badRequest(w, r, "The form could not be read.")
		return
	}
	wrong := map[string]string{}
	for _, field := range []string{"name", "street", "city"} {
		if strings.TrimSpace(r.PostForm.Get(field)) == "" {
			wrong[field] = "Please fill in this field."
		}
	}
	if _, err := mail.ParseAddress(r.PostForm.Get("email")); err != nil {
		wrong["email"] = "Please enter an email address, such as ada@harbor.example."
	}
	if !postcode.MatchString(r.PostForm.Get("postcode")) {
		wrong["postcode"] = "Please enter 3 to 10 letters or digits."
	}
	if r.PostForm.Get("terms") != "yes" {
		wrong["terms"] = "Please accept the terms of this sample shop."
	}
	if len(wrong) > 0 {
		a.showCheckout(w, r, http.StatusUnprocessableEntity, r.PostForm, wrong)
		return
	}
	cart{}.save(w)
	http.Redirect(w, r, fmt.Sprintf("/order/HG-%d", 1000+orders.Add(1)), http.StatusSeeOther)
}

func (a *app) orderPlaced(w http.ResponseWriter, r *http.Request) {
	number := r.PathValue("number")
	if !orderNumber.MatchString(number) {
		a.notFound(w, r)
		return
	}
	a.render(w, r, http.StatusOK, "order.html", view{Title: "Thank you", Data: number})
}

type plan struct {
	Name, Price, For string
	Points           []string
}

var plans = []plan{
	{"Dinghy", "$0", "For trying things out", []string{"1,000 requests a day", "Catalog and cart", "Community answers"}},
	{"Schooner", "$29", "For a growing shop", []string{"100,000 requests a day", "Orders and webhooks", "Answers within a day"}},
	{"Clipper", "$119", "For a busy harbor", []string{"Requests without a daily limit", "Wholesale prices", "A person on the phone"}},
}

func (a *app) pricing(w http.ResponseWriter, r *http.Request) {
	a.render(w, r, http.StatusOK, "pricing.html", view{Title: "Pricing", Data: map[string]any{"Plans": plans, "Items": catalog[:6]}})
}
