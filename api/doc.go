// Package api is a local Messages API with a scripted model, to test clients of the browser toolset with, whatever they are written in.
//
// It answers POST /v1/messages (streaming and not), POST /v1/messages/count_tokens, GET /v1/models and /v1/models/{id} as the API does,
// under both brands' headers (contract §9): errors in the API's shape with a request id, any key, any model of package models. Each
// request is checked with package check, and rejected for what the API rejects. GET /transcripts lists the conversations as the model
// reads them, with everything that was not as it must be; GET /transcripts/{id} is the text of one.
//
// # Scripts
//
// A script is YAML: a list of steps, each one of these.
//
//	steps:
//	  - calls: |                         # turns in the notation of package script
//	      # I'll search for it.          # what the model says
//	      find {"query": "search field"} # a call; the calls of a turn follow each other
//	      > textbox "Search docs"        # must be read in its result; "!" expects an error
//
//	      # There it is.                 # a blank line ends a turn
//	      left_click {"target": {"type": "ref", "ref": {"role": "textbox", "name": "Search docs"}}}
//	      /get_weather {"city": "Oslo"}  # another tool of the request; computer/screenshot: one of another toolset
//	  - ask: Did you ask for this?       # says something, ends the turn, goes on when the user answers
//	  - when: {reads: cookies, lacks: accepted}
//	    then: [ …steps… ]                # else: may be left out
//	    else: [ …steps… ]
//	  - repeat:
//	      until: {reads: 24 entries loaded}
//	      most: 5                        # required; without until, exactly so many rounds
//	      steps: [ …steps… ]
//	  - fault: rate_limit                # see below
//	    times: 2
//	  - end: It costs $29.               # says something and ends the script
//
// A ref is named by role and name, as an object (nth tells apart what is called alike) or as "textbox 'Search docs'", and means an element
// of the latest result of read_page or find in the conversation. A condition is about what was read since the model's last turn: the results
// and what the user said. until is looked at before each round; what it waits for must have been read after the last. Comments in a
// block of calls are what the model says; elsewhere they are YAML's.
//
// When an expectation fails, an element is not found or the request doesn't declare the tool that is called, the server notes a [Finding],
// and the model ends its turn with a text that says so.
//
// # Faults
//
// A fault is played so many times (1) at its place in a conversation, then the script goes on.
//
//	overloaded, rate_limit, api, timeout,   the request is answered with this error; retry_after: SECONDS sends that header
//	invalid_request, authentication, billing,
//	permission, not_found, request_too_large
//	cut_stream      the next turn breaks off: the connection is closed. after: N is how many blocks arrive whole (all but one)
//	error_event     the same, by an error event; error: TYPE (overloaded_error)
//	slow            pings: N (3) come before the next turn, every: TIME (100ms)
//	max_tokens      the next turn is cut off in its last call, or in its text; then it is made again from there
//	context_window  the same, with model_context_window_exceeded
//	pause_turn      says: TEXT and stops; the client must send it back as it is
//	refusal         stops, with says: TEXT if given
//	stop_sequence   says: TEXT and stops at sequence: TEXT, which is else the request's first
//
// Names may be the API's, overloaded_error or model_context_window_exceeded. Without streaming a broken reply is half a body, and an error
// event an error.
//
// # What the model is like
//
// Nothing is remembered of where a conversation is: the ids of its calls tell. So a request that comes again gets the same answer, what a
// client does to old results doesn't matter, conversations don't disturb each other, and one can be continued with a new server. What is
// remembered is how often faults were played. Conversations that begin alike at the same time share that, unless metadata.user_id
// tells them apart.
//
// tool_choice.disable_parallel_tool_use makes it one call a turn: the rest of a turn comes in the next ones. An answer that tool_choice
// does not allow is a finding. max_tokens is kept to by the estimate: what is beyond is cut off, a call without input at its end. Other
// parameters are accepted and do nothing.
//
// Usage counts are estimates, and say so by a field "estimated" and the header [UsageHeader]: a token for four bytes of text, an image by
// its size, the toolset by what contract §9 tells. What a request marks to be cached counts as written, and as read in the requests after;
// nothing expires.
//
// # Trust
//
// Requests are not trusted: bodies and what is remembered are bounded, and a Host that is no loopback address is refused, so that no web
// page gets at the transcripts by DNS rebinding. The server belongs on a loopback address. Scripts are ours.
package api

import _ "embed"

// DefaultScript is a small script on the sample site, whose address takes the place of {{origin}}.
//
//go:embed default.yaml
var DefaultScript []byte
