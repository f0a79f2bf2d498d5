package api

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// fault is something that goes wrong on demand. Each is played so many times at its place in a conversation; then what follows it.
type fault struct {
	name       string
	effect     effect
	kind       errorKind // refuse, breakOff with an error event
	stop       string    // the stop reason of halve and pause
	times      int
	retryAfter int           // refuse: seconds; 0 sends no header
	says       string        // conclude
	sequence   string        // conclude: the stop sequence; empty is the request's first
	after      int           // breakOff: blocks that arrive whole; -1 is all but the last
	pings      int           // slow
	every      time.Duration // slow
}

// effect is what a fault does.
type effect int

const (
	refuse   effect = iota // answers with an error
	breakOff               // ends the stream of the next turn early, by an error event or by closing the connection
	halve                  // cuts the next turn in half
	conclude               // says something and stops for an unusual reason
	delay                  // delays the next turn, with pings
)

// errorKind is a type of error of the API and its status.
type errorKind struct {
	name    string // as in "type"
	status  int
	message string
}

// errorKinds are the API's errors.
var errorKinds = []errorKind{
	{"invalid_request_error", http.StatusBadRequest, "The script asks for this error."},
	{"authentication_error", http.StatusUnauthorized, "invalid x-api-key"},
	{"billing_error", http.StatusPaymentRequired, "Your credit balance is too low."},
	{"permission_error", http.StatusForbidden, "Your API key does not have permission to use the specified resource."},
	{"not_found_error", http.StatusNotFound, "Not found"},
	{"request_too_large", http.StatusRequestEntityTooLarge, "Request exceeds the maximum size"},
	{"rate_limit_error", http.StatusTooManyRequests, "This request would exceed your rate limit."},
	{"api_error", http.StatusInternalServerError, "Internal server error"},
	{"timeout_error", http.StatusGatewayTimeout, "Request timed out"},
	{"overloaded_error", 529, "Overloaded"},
}

// errorKindNamed finds an error by its type, which may be without its "_error".
func errorKindNamed(name string) (errorKind, bool) {
	i := slices.IndexFunc(errorKinds, func(k errorKind) bool { return k.name == name || k.name == name+"_error" })
	if i < 0 {
		return errorKind{}, false
	}
	return errorKinds[i], true
}

// otherFaults are those that are no errors.
var otherFaults = []fault{
	{name: "cut_stream", effect: breakOff, after: -1},
	{name: "error_event", effect: breakOff, after: -1, kind: errorKinds[len(errorKinds)-1]},
	{name: "max_tokens", effect: halve, stop: "max_tokens"},
	{name: "context_window", effect: halve, stop: "model_context_window_exceeded"},
	{name: "pause_turn", effect: conclude, stop: "pause_turn", says: "This takes a while; I go on in a moment."},
	{name: "refusal", effect: conclude, stop: "refusal"},
	{name: "stop_sequence", effect: conclude, stop: "stop_sequence", says: "So far so good."},
	{name: "slow", effect: delay, pings: 3, every: 100 * time.Millisecond},
}

func faultNamed(name string) (fault, bool) {
	if kind, ok := errorKindNamed(name); ok {
		return fault{name: name, effect: refuse, kind: kind}, true
	}
	i := slices.IndexFunc(otherFaults, func(f fault) bool { return f.name == name || f.stop == name })
	if i < 0 {
		return fault{}, false
	}
	return otherFaults[i], true
}

func faultNames() []string {
	var names []string
	for _, k := range errorKinds {
		names = append(names, strings.TrimSuffix(k.name, "_error"))
	}
	for _, f := range otherFaults {
		names = append(names, f.name)
	}
	return names
}

// faultSettings are the keys that a fault may have beside its name.
var faultSettings = []string{"times", "retry_after", "says", "sequence", "after", "error", "pings", "every"}

// takes lists the settings of the fault beside times.
func (f fault) takes() []string {
	switch {
	case f.effect == refuse:
		return []string{"retry_after"}
	case f.name == "cut_stream":
		return []string{"after"}
	case f.name == "error_event":
		return []string{"after", "error"}
	case f.name == "stop_sequence":
		return []string{"says", "sequence"}
	case f.effect == conclude:
		return []string{"says"}
	case f.effect == delay:
		return []string{"pings", "every"}
	}
	return nil
}
