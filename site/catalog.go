package site

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"slices"
	"strconv"
)

// item is one product. Its ID is also its path and the name of its picture.
type item struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Category string `json:"category"` // a category's ID
	Cents    int    `json:"price_cents"`
	Stock    int    `json:"stock"`
	Badge    string `json:"badge,omitempty"`
	Blurb    string `json:"blurb"`
	Details  string `json:"details"`
}

type category struct{ ID, Name string }

var categories = []category{
	{"kitchen", "Kitchen"},
	{"desk", "Desk"},
	{"outdoors", "Outdoors"},
	{"home", "Home"},
}

// catalog mixes the categories, so that the first rows of the home page do.
var catalog = []item{
	{"enamel-mug", "Enamel mug", "kitchen", 1400, 120, "Bestseller", "Holds 350 ml and a grudge against dishwashers.", "Two coats of enamel over steel, fired at 820 °C. Light enough for a pack, tough enough for a galley. The rim is rolled, so it never chips where you drink."},
	{"brass-lamp", "Brass desk lamp", "desk", 8900, 18, "", "A warm cone of light that stays where you point it.", "Solid brass arm with two friction joints and a linen-covered cord. Takes a standard bulb of up to 40 watts. The finish darkens with the years; leave it or polish it."},
	{"canvas-backpack", "Canvas backpack", "outdoors", 11900, 32, "New", "Twenty-two litres of waxed canvas and one honest buckle.", "Waxed cotton canvas, a padded back and a sleeve for a 14-inch laptop. The front pocket closes with a brass buckle that opens with one gloved hand."},
	{"wool-blanket", "Wool blanket", "home", 7900, 41, "", "Woven from undyed and indigo wool in one mill.", "Pure new wool, 130 by 180 cm, with hand-tied fringes. Warm when damp, quiet on the sofa, easy to air instead of wash."},
	{"pour-over-kettle", "Pour-over kettle", "kitchen", 6400, 27, "", "A gooseneck that pours as thin as a pencil line.", "Brushed steel, one litre, for gas and induction. The handle stays cool, and the lid holds when you tip the last cup out."},
	{"desk-clock", "Desk clock", "desk", 4200, 36, "", "Two bells, one second hand, no snooze.", "A wind-up movement that runs for thirty hours and a dial you can read from across the room. The alarm is cheerful rather than cruel."},
	{"rain-jacket", "Rain jacket", "outdoors", 13900, 22, "Bestseller", "Cut for sailors, worn by everyone at the bus stop.", "Recycled shell with welded seams, a brim that takes a cap, and snaps that work with cold fingers. Folds into its own pocket."},
	{"ceramic-vase", "Ceramic vase", "home", 3800, 29, "", "Thrown by hand, with a white band that is never quite level.", "Stoneware with a matt glaze, 21 cm tall, watertight. The narrow neck keeps three stems upright and five in a friendly argument."},
	{"bread-knife", "Bread knife", "kitchen", 5200, 44, "", "Deep serrations that start a crust without a fight.", "A 24 cm blade of stain-resistant steel in a handle of smoked oak. Comes sharp; we sharpen it again for free once a year."},
	{"dot-notebook", "Dot notebook", "desk", 1800, 200, "Bestseller", "160 numbered pages that lie flat from the first one.", "Thread-bound, A5, 100 g paper with a 5 mm dot grid. Numbered pages, two ribbons, an elastic band and a pocket for receipts."},
	{"camp-lantern", "Camp lantern", "outdoors", 4900, 25, "", "Candlelight without the candle, for sixty hours.", "A flicker-free warm LED behind frosted glass, recharged by USB-C. Dims down to a night light and hangs from its bail."},
	{"oak-stool", "Oak stool", "home", 9600, 14, "", "Four legs, one seat, no screws.", "Wedged joints in solid oak, finished with oil and wax. Carries 150 kg, weighs three and a half, and doubles as a bedside table."},
	{"cast-iron-pan", "Cast iron pan", "kitchen", 5900, 38, "", "Seasoned three times before it leaves the harbor.", "A 26 cm pan with a smooth milled surface. Works on every hob, in the oven and over a fire. It will outlive the stove."},
	{"fountain-pen", "Fountain pen", "desk", 6800, 31, "New", "A steel nib that forgives left-handers.", "Piston filled, with a window that shows the ink. Nibs in extra fine, fine, medium and broad; exchange yours within sixty days."},
	{"wool-beanie", "Wool beanie", "outdoors", 2900, 90, "", "Knitted thick, rolled once, warm to minus ten.", "Merino and lambswool in a tight rib that keeps the wind out. One size, and the bobble can be snipped off without a tear."},
	{"beeswax-candle", "Beeswax candle", "home", 1600, 75, "", "Smells faintly of honey and burns for forty hours.", "Pure beeswax from hives along the estuary, poured around a cotton wick. Comes on a small oak tray."},
	{"tea-tin", "Tea tin", "kitchen", 1900, 66, "", "Keeps 250 g of leaves dry through a wet winter.", "Double lid, food-safe lacquer and a label you can write on with a pencil. Filled with a first-flush blend on request."},
	{"pencil-case", "Pencil case", "desk", 2400, 58, "", "Opens flat and stands up on its own.", "Organic cotton canvas with a brass zip. Room for twenty pencils, a ruler of 15 cm and one secret compartment."},
	{"thermos-flask", "Thermos flask", "outdoors", 3600, 47, "", "Hot for twelve hours, cold for twenty-four.", "Three quarters of a litre in double-walled steel. The cup is the lid, and the thread is coarse enough for mittens."},
	{"rope-basket", "Rope basket", "home", 3400, 33, "", "Coiled from retired mooring lines.", "Washed, cut and sewn by hand, so no two have the same stripe. Holds firewood, toys or one large cat."},
	{"linen-apron", "Linen apron", "kitchen", 4500, 40, "", "Crossed straps, so nothing pulls at the neck.", "Washed linen with a wide front pocket and a loop for a towel. Gets softer each time and hides flour well."},
	{"letter-tray", "Letter tray", "desk", 5400, 21, "", "For everything you mean to answer.", "Steam-bent ash with a drawer for stamps. Stacks two high, takes A4 and letter, and has felt feet."},
	{"pocket-compass", "Pocket compass", "outdoors", 5700, 19, "", "Points north, ticks quietly, needs no battery.", "A damped needle in a brass case with a sighting notch. Declination is set with a coin. Comes with a short lesson on paper."},
	{"tide-poster", "Tide poster", "home", 3200, 54, "New", "Screen print in five colours, signed.", "Printed on 250 g cotton paper, 50 by 70 cm, shipped in a tube. Each sheet gets its own edition number."},
}

func findItem(id string) (item, bool) {
	i := slices.IndexFunc(catalog, func(it item) bool { return it.ID == id })
	if i < 0 {
		return item{}, false
	}
	return catalog[i], true
}

// CategoryName is the category's name for people.
func (it item) CategoryName() string {
	i := slices.IndexFunc(categories, func(c category) bool { return c.ID == it.Category })
	return categories[i].Name
}

// money formats cents as "$14.00".
func money(cents int) string { return fmt.Sprintf("$%d.%02d", cents/100, cents%100) }

// priceList answers the catalog's wholesale prices as a CSV file, one row for
// each product, wrapping and quantity.
func priceList(w http.ResponseWriter, _ *http.Request) {
	attach(w, "text/csv; charset=utf-8", "price-list.csv")
	out := csv.NewWriter(w)
	_ = out.Write([]string{"sku", "product", "category", "wrapping", "quantity", "unit_price_usd", "total_usd"})
	for n, it := range catalog {
		for _, wrapping := range []string{"paper", "recycled box", "gift box", "cotton bag"} {
			for step, quantity := range []int{1, 6, 12, 24, 48, 96, 144, 288} {
				unit := it.Cents * (100 - 3*step) / 100
				_ = out.Write([]string{
					fmt.Sprintf("HG-%03d-%03d", n+1, quantity), it.Name, it.CategoryName(), wrapping,
					strconv.Itoa(quantity), dollars(unit), dollars(unit * quantity),
				})
			}
		}
	}
	out.Flush() // an error means that the client is gone
}

func dollars(cents int) string { return fmt.Sprintf("%d.%02d", cents/100, cents%100) }
