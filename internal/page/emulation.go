package page

import (
	"github.com/chromedp/cdproto/emulation"

	"github.com/pagehand/pagehand/internal/cdp"
)

// Emulation is what a tab pretends of its user's place and taste. Zero fields leave the browser's own. It holds over
// navigations, and in frames of other processes.
type Emulation struct {
	// UserAgent replaces the browser's, AcceptLanguage its languages ("de-DE,de").
	UserAgent, AcceptLanguage string
	// Metadata are the client hints that go with UserAgent.
	Metadata *emulation.UserAgentMetadata
	// Locale is an ICU locale ("de_DE").
	Locale string
	// Timezone is an IANA zone ("Europe/Berlin").
	Timezone string
	// Position is the place that the geolocation API gives, nil for none.
	Position *Position
	// ColorScheme is "light", "dark" or empty.
	ColorScheme string
}

// Position is a place on earth, in degrees and metres.
type Position struct{ Latitude, Longitude, Accuracy float64 }

// apply sets the emulation on a CDP session, before its first script runs. It only sends.
func (e Emulation) apply(s *cdp.Session) {
	if e.UserAgent != "" || e.AcceptLanguage != "" {
		cdp.Post(s, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{
			UserAgent: e.UserAgent, AcceptLanguage: e.AcceptLanguage, UserAgentMetadata: e.Metadata,
		})
	}
	if e.Locale != "" {
		cdp.Post(s, emulation.SetLocaleOverride, emulation.SetLocaleOverrideParams{Locale: e.Locale})
	}
	if e.Timezone != "" {
		cdp.Post(s, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: e.Timezone})
	}
	if e.Position != nil {
		cdp.Post(s, emulation.SetGeolocationOverride, emulation.SetGeolocationOverrideParams{
			Latitude: &e.Position.Latitude, Longitude: &e.Position.Longitude, Accuracy: &e.Position.Accuracy,
		})
	}
	if e.ColorScheme != "" {
		cdp.Post(s, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: e.ColorScheme}},
		})
	}
}
