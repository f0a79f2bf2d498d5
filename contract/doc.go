// Package contract holds the wire side of the browser toolset: what the API sends an executor and what it takes back,
// without a browser and without a network.
//
// It has five parts. The wire types ([ToolUse], [ToolResult], [Block], [BrowserState], [Message]) read and write the
// API's JSON exactly. [DecodeTurn] finds the member calls in whatever form a turn arrives. The cleaners ([CleanTitle],
// [CleanURL], [CleanDownloadURL], [CleanField]) bring page-controlled strings within the API's limits, and
// [BrowserState.Validate] says whether a block keeps them. [View] renders a result as the text that the model reads. The
// image limits ([FitsImage], [FitSize]) say which pictures the API accepts.
//
// "Contract §n" in the comments is the toolset's contract: what an executor owes the API (§1 loop, §3 targets and
// images, §5 browser_state, §6 what the model reads, §7 what the API rejects).
//
// Concurrency: functions and value types are safe for concurrent use; a [View] belongs to one conversation and one
// goroutine at a time.
//
// Trust: nothing. Turns come from a model, titles, addresses and download fields from pages. Decoding is linear in its
// input, whose size the caller bounds. Rendering quotes what the API quotes and expects strings that passed the
// cleaners.
package contract

// Names and texts that the API fixes (contract §1).
const (
	// ToolsetType is the type of the toolset's entry in a request's tools.
	ToolsetType = "browser_toolset_20260801"
	// ToolsetName is the toolset_name of every member call and of every result that answers one.
	ToolsetName = "browser"
	// HaltText answers every member call after the first failed one of its turn. It is the one error text that does not
	// start with "Error: ".
	HaltText = "Not executed: an earlier action in this turn failed."
)
