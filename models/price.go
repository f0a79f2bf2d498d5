package models

// Price is what a model's tokens cost. Zero means unknown.
type Price struct {
	Rates `yaml:",inline"`
	// LongFrom is the number of input tokens, cached ones included, above which a request is billed by Long instead. Zero means that
	// the price doesn't depend on it.
	LongFrom int64 `yaml:"long_from" json:"long_from,omitempty"`
	Long     Rates `yaml:"long" json:"long,omitzero"`
}

// Rates are prices in US dollars for a million tokens.
type Rates struct {
	Input  float64 `yaml:"input" json:"input,omitempty"`
	Output float64 `yaml:"output" json:"output,omitempty"`
	// CacheWrite is for entries that live five minutes, CacheWriteHour for those that live an hour.
	CacheWrite     float64 `yaml:"cache_write" json:"cache_write,omitempty"`
	CacheWriteHour float64 `yaml:"cache_write_hour" json:"cache_write_hour,omitempty"`
	CacheRead      float64 `yaml:"cache_read" json:"cache_read,omitempty"`
}

// Usage counts the tokens of one request, as the API's usage does: Input without what went through the cache.
type Usage struct {
	Input, Output, CacheWrite, CacheWriteHour, CacheRead int64
}

// Known reports whether there is a price.
func (p Price) Known() bool { return p.Input > 0 && p.Output > 0 }

// Cost is what a request costs in US dollars. It is an estimate: discounts, taxes and server tools aren't in it. False means that the
// price isn't known.
func (p Price) Cost(u Usage) (dollars float64, known bool) {
	if !p.Known() {
		return 0, false
	}
	r := p.Rates
	if p.LongFrom > 0 && u.Input+u.CacheWrite+u.CacheWriteHour+u.CacheRead > p.LongFrom {
		r = p.Long
	}
	const perToken = 1.0 / million
	return perToken * (float64(u.Input)*r.Input + float64(u.Output)*r.Output +
		float64(u.CacheWrite)*r.CacheWrite + float64(u.CacheWriteHour)*r.CacheWriteHour + float64(u.CacheRead)*r.CacheRead), true
}
