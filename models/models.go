// Package models holds what is known of the models: which of them have the browser toolset, their limits and their prices.
//
// It is one dated table without any network access, see [Dated]. Limits change and models come, so callers can add and replace
// entries: in code by [Table.With], from a file by [Table.Override].
//
// Zero means unknown, for a limit as for a price: nothing may be concluded from it, and a cost that would need it is not computed.
//
// Concurrency: a [Table] never changes, so everything here is safe for concurrent use.
package models

import (
	"slices"
	"strings"

	"github.com/pagehand/pagehand/contract"
)

// Dated is the day of which the table tells. Its sources: the model constants of the Anthropic Go SDK v1.84.0 (ids), the public
// pages on models, pricing, vision, context editing and the browser use tool (everything else), contract §9 (the Haijun brand,
// whose limits and prices no source tells).
const Dated = "2026-11-15"

// Brand is one of the two names under which the API is offered (contract §9).
type Brand string

// The brands.
const (
	Claude Brand = "claude"
	Haijun Brand = "haijun"
)

// Model is what is known of one model.
type Model struct {
	ID    string `yaml:"id" json:"id"`
	Name  string `yaml:"name" json:"name"`
	Brand Brand  `yaml:"brand" json:"brand"`
	// Aliases are other ids of the same model. Dated forms of an id need none: see [Table.Lookup].
	Aliases []string `yaml:"aliases" json:"aliases,omitempty"`
	// Toolset tells that the model accepts browser_toolset_20260801.
	Toolset bool `yaml:"toolset" json:"toolset"`
	// ContextWindow and MaxOutput are in tokens.
	ContextWindow int         `yaml:"context_window" json:"context_window,omitempty"`
	MaxOutput     int         `yaml:"max_output" json:"max_output,omitempty"`
	Image         ImageLimits `yaml:"image" json:"image"`
	// ContextEditing tells that the API can clear old tool results itself, under the beta header context-management-2025-06-27.
	ContextEditing bool  `yaml:"context_editing" json:"context_editing"`
	Price          Price `yaml:"price" json:"price"`
}

// ImageLimits is what the API accepts of images (contract §3).
type ImageLimits struct {
	// LongEdge is the most pixels on the longer side, VisualTokens the most squares of 28 pixels, of an image in a toolset's result.
	LongEdge     int `yaml:"long_edge" json:"long_edge,omitempty"`
	VisualTokens int `yaml:"visual_tokens" json:"visual_tokens,omitempty"`
	// Many is the number of images of a request above which no side of any of them may have more than ManyEdge pixels.
	Many     int `yaml:"many" json:"many,omitempty"`
	ManyEdge int `yaml:"many_edge" json:"many_edge,omitempty"`
	// Count is the most images of a request.
	Count int `yaml:"count" json:"count,omitempty"`
}

// Table is a set of models, without two of the same id.
type Table struct{ models []Model }

// Known returns the table that this package holds.
func Known() Table { return Table{known} }

// All lists the models of the table that this package holds.
func All() []Model { return Known().All() }

// Lookup finds a model in the table that this package holds; see [Table.Lookup].
func Lookup(id string) (Model, bool) { return Known().Lookup(id) }

// All lists the models.
func (t Table) All() []Model { return slices.Clone(t.models) }

// With returns the table with these models added. One whose id is there already takes its place.
func (t Table) With(models ...Model) Table {
	next := slices.Clone(t.models)
	for _, m := range models {
		if i := slices.IndexFunc(next, func(old Model) bool { return old.ID == m.ID }); i >= 0 {
			next[i] = m
			continue
		}
		next = append(next, m)
	}
	return Table{next}
}

// Lookup finds a model by its id or an alias. An id may end in a date or "latest", as in claude-sonnet-5-20260801,
// claude-sonnet-5@20260801 and claude-sonnet-5-latest.
func (t Table) Lookup(id string) (Model, bool) {
	if m, ok := t.exact(id); ok {
		return m, true
	}
	base := undated(id)
	if base == id {
		return Model{}, false
	}
	return t.exact(base)
}

func (t Table) exact(id string) (Model, bool) {
	for _, m := range t.models {
		if m.ID == id || slices.Contains(m.Aliases, id) {
			return m, true
		}
	}
	return Model{}, false
}

// undated cuts off the date that an id ends in.
func undated(id string) string {
	at := strings.LastIndexAny(id, "-@")
	if at < 0 {
		return id
	}
	end := id[at+1:]
	if end == "latest" || id[at] == '@' && end == "default" {
		return id[:at]
	}
	isDigit := func(r rune) bool { return '0' <= r && r <= '9' }
	if len(end) == len("20260801") && strings.TrimFunc(end, isDigit) == "" {
		return id[:at]
	}
	return id
}

// fine are the limits of all models that have the toolset; coarse those of the generations before.
var (
	fine   = ImageLimits{LongEdge: contract.ImageLongEdge, VisualTokens: contract.ImageVisualTokens, Many: contract.ManyImages, ManyEdge: contract.ManyImagesEdge, Count: 600}
	coarse = ImageLimits{LongEdge: 1568, VisualTokens: 1568, Many: contract.ManyImages, ManyEdge: contract.ManyImagesEdge, Count: 100}
)

// ToolsetImages are the image limits of all models that have the toolset.
func ToolsetImages() ImageLimits { return fine }

// price is a price by the rule that most models follow: 1.25 times the input price for a cache entry of five minutes, twice for one
// of an hour, and a share of it for reading one.
func price(input, output, readShare float64) Price {
	return Price{Rates: Rates{Input: input, Output: output, CacheWrite: 1.25 * input, CacheWriteHour: 2 * input, CacheRead: readShare * input}}
}

const (
	million   = 1_000_000
	maxOutput = 128_000
)

// large makes the entry of a model with the toolset, whose specifications are all the same.
func large(id, name string, p Price) Model {
	return Model{ID: id, Name: name, Brand: Claude, Toolset: true, ContextWindow: million, MaxOutput: maxOutput, Image: fine, ContextEditing: true, Price: p}
}

// haijun makes the entry of a model of the other brand.
func haijun(id, name string) Model {
	return Model{ID: id, Name: name, Brand: Haijun, Toolset: true, Image: fine}
}

var known = []Model{
	large("claude-fable-5-2", "Claude Fable 5.2", price(8, 40, 0.025)),
	large("claude-mythos-5-2", "Claude Mythos 5.2", price(8, 40, 0.025)),
	large("claude-fable-5-1", "Claude Fable 5.1", price(10, 50, 0.025)),
	large("claude-mythos-5-1", "Claude Mythos 5.1", price(10, 50, 0.025)),
	large("claude-fable-5", "Claude Fable 5", price(10, 50, 0.1)),
	large("claude-mythos-5", "Claude Mythos 5", price(10, 50, 0.1)),
	large("claude-opus-5-5", "Claude Opus 5.5", price(4, 20, 0.05)),
	large("claude-opus-5", "Claude Opus 5", price(5, 25, 0.1)),
	large("claude-opus-4-8", "Claude Opus 4.8", price(5, 25, 0.1)),
	large("claude-sonnet-5-5", "Claude Sonnet 5.5", price(2, 10, 0.05)),
	large("claude-sonnet-5", "Claude Sonnet 5", price(2, 10, 0.1)),
	large("claude-haiku-5-5", "Claude Haiku 5.5", Price{Rates: price(0.10, 0.50, 0.1).Rates, LongFrom: 100_000, Long: price(0.50, 2.50, 0.1).Rates}),

	{ID: "claude-opus-4-7", Name: "Claude Opus 4.7", Brand: Claude, ContextWindow: million, MaxOutput: maxOutput, Image: fine, ContextEditing: true, Price: price(5, 25, 0.1)},
	{ID: "claude-opus-4-6", Name: "Claude Opus 4.6", Brand: Claude, ContextWindow: million, MaxOutput: maxOutput, Image: coarse, ContextEditing: true, Price: price(5, 25, 0.1)},
	{ID: "claude-opus-4-5", Name: "Claude Opus 4.5", Brand: Claude, ContextWindow: 200_000, MaxOutput: 64_000, Image: coarse, ContextEditing: true, Price: price(5, 25, 0.1)},
	{ID: "claude-sonnet-4-6", Name: "Claude Sonnet 4.6", Brand: Claude, ContextWindow: million, MaxOutput: 64_000, Image: coarse, ContextEditing: true, Price: price(3, 15, 0.1)},
	{ID: "claude-sonnet-4-5", Name: "Claude Sonnet 4.5", Brand: Claude, ContextWindow: 200_000, MaxOutput: 64_000, Image: coarse, ContextEditing: true, Price: price(3, 15, 0.1)},
	{ID: "claude-haiku-4-5", Name: "Claude Haiku 4.5", Brand: Claude, ContextWindow: 200_000, MaxOutput: 64_000, Image: coarse, ContextEditing: true, Price: price(1, 5, 0.1)},

	haijun("haijun-opus-5-5", "Haijun Opus 5.5"),
	haijun("haijun-fable-5", "Haijun Fable 5"),
	haijun("haijun-mythos-5", "Haijun Mythos 5"),
	haijun("haijun-opus-5", "Haijun Opus 5"),
	haijun("haijun-opus-4-8", "Haijun Opus 4.8"),
	haijun("haijun-sonnet-5", "Haijun Sonnet 5"),
}
