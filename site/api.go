package site

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		http.Error(w, "The answer could not be made.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may be gone
}

func writeError(w http.ResponseWriter, status int, code, message string) {
	writeJSON(w, status, map[string]any{"error": map[string]string{"code": code, "message": message}})
}

func apiProducts(w http.ResponseWriter, r *http.Request) {
	items := []item{}
	for _, it := range catalog {
		if c := r.FormValue("category"); c == "" || c == it.Category {
			items = append(items, it)
		}
	}
	writeJSON(w, http.StatusOK, map[string]any{"products": items})
}

func apiProduct(w http.ResponseWriter, r *http.Request) {
	it, ok := findItem(r.PathValue("id"))
	if !ok {
		writeError(w, http.StatusNotFound, "not_found", "There is no such product.")
		return
	}
	writeJSON(w, http.StatusOK, it)
}

// cartState is what the cart counter of every page shows.
type cartState struct {
	Count int    `json:"count"`
	Total string `json:"total"`
}

func apiCart(w http.ResponseWriter, r *http.Request) {
	c := readCart(r)
	writeJSON(w, http.StatusOK, cartState{c.count(), money(c.total())})
}

func apiAddToCart(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Product  string `json:"product"`
		Quantity int    `json:"quantity"`
	}
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxForm)).Decode(&in)
	if err != nil || in.Quantity < 1 || in.Quantity > maxQuantity {
		writeError(w, http.StatusBadRequest, "invalid", fmt.Sprintf("Send a product and a quantity from 1 to %d.", maxQuantity))
		return
	}
	c := readCart(r)
	if !c.set(in.Product, c[in.Product]+in.Quantity) {
		writeError(w, http.StatusNotFound, "not_found", "There is no such product.")
		return
	}
	c.save(w)
	writeJSON(w, http.StatusOK, cartState{c.count(), money(c.total())})
}

// feedEntry is one line of the harbor log.
type feedEntry struct {
	Number  int    `json:"number"`
	Title   string `json:"title"`
	Text    string `json:"text"`
	Picture string `json:"picture"`
}

const (
	feedLength = 400
	feedPage   = 12
)

var (
	ships = []string{"Marigold", "Northern Tern", "Ada", "Little Auk", "Saltwind", "Juniper", "Halcyon"}
	ports = []string{"Bergen", "Leith", "Porto", "Galway", "Tallinn", "Cork", "Visby", "Nantes", "Ostend"}
)

// apiFeed answers the entries after ?after=, the newest being number feedLength.
func apiFeed(w http.ResponseWriter, r *http.Request) {
	after, _ := strconv.Atoi(r.FormValue("after")) // anything else starts at the top
	after = min(max(after, 0), feedLength)
	end := min(after+feedPage, feedLength)
	entries := []feedEntry{}
	for i := after; i < end; i++ {
		it := catalog[i*7%len(catalog)]
		entries = append(entries, feedEntry{
			Number:  feedLength - i,
			Title:   fmt.Sprintf("%s left for %s", ships[i%len(ships)], ports[i*5%len(ports)]),
			Text:    fmt.Sprintf("%d × %s on board, expected in %d days.", 4+i*13%60, it.Name, 2+i*3%9),
			Picture: "/static/pictures/" + it.ID + ".svg",
		})
	}
	writeJSON(w, http.StatusOK, map[string]any{"entries": entries, "more": end < feedLength})
}

type order struct{ Number, Date, Item, State, Total string }

// sampleOrders are the demo account's orders, the newest first.
var sampleOrders = func() []order {
	var orders []order
	for i := range 40 {
		it, state := catalog[i*11%len(catalog)], "Delivered"
		switch {
		case i == 0:
			state = "Packing"
		case i < 3:
			state = "On its way"
		case i%7 == 5:
			state = "Returned"
		}
		orders = append(orders, order{
			Number: fmt.Sprintf("HG-%d", 980-i*3), Date: fmt.Sprintf("2026-%02d-%02d", 7-i/8, 28-i%8*3),
			Item: it.Name, State: state, Total: money(it.Cents),
		})
	}
	return orders
}()

func ordersCSV(w http.ResponseWriter, _ *http.Request) {
	attach(w, "text/csv; charset=utf-8", "orders.csv")
	out := csv.NewWriter(w)
	_ = out.Write([]string{"number", "date", "item", "state", "total"})
	for _, o := range sampleOrders {
		_ = out.Write([]string{o.Number, o.Date, o.Item, o.State, o.Total})
	}
	out.Flush() // an error means that the client is gone
}
