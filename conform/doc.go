// Package conform is a conformance kit for executors of the browser toolset, in any language: it sends calls to one and compares
// its results with the contract.
//
// # What an executor must offer
//
// It takes JSON values and answers each with one: over standard input and output, a value a line ([Command]), or by HTTP, a value
// as the body of a POST ([HTTP]). The values are the same:
//
//	{"role":"assistant","content":[{"type":"tool_use",…},…]}   a turn; the answer is the user message with its results
//	{"configure":{…}}                                          settings; see [Settings]; the answer is {"ok":true}
//	{"reset":true}                                             a fresh session of the same settings; the answer is {"ok":true}
//
// What cannot be done is answered by {"error":{"message":"…"}}. A configure line begins a fresh session too, and comes first.
//
// Both control lines are optional. Without configure, the checks that need settings of their own count as not implemented; the
// executor must then allow the kit's pages, which are served on loopback addresses. Without reset, all checks run in one session, each
// in a new tab that replaces the ones before. The control lines widen what calls may do: an executor must obey them only when its operator
// says so, and never from input that a model wrote.
//
// # Checks
//
// A check is an archive checks/SECTION/NAME.txtar in the notation of package script. Its comment says what is checked, its other files are
// the pages, "session" holds the settings that it needs:
//
//	page.html     is opened first, unless there is none
//	session       {"enable":["zoom"],"configs":{},"viewport":[800,600],"dialogs":"accept","timeout":2,"hosts":["{{host}}"],"uploads":true,"downloads":true}
//	uploads/…     files that may be uploaded; documents/ID: ones staged by id; outside/…: ones that are neither; a name that ends in .link is a
//	              symbolic link to its content
//	calls         the turns
//
// In pages, inputs and expectations these stand for what is known only when the check runs:
//
//	{{origin}} {{port}} {{other}}       the pages' addresses: one, another port of the same host, and another site; {{host}}: without http://
//	{{uploads}} {{outside}} {{downloads}}  folders
//	{{repeat N TEXT}}                   a long text
//	{{ref DESCRIPTION}}                 the ref that the latest reading gave an element
//	{{tab N}} {{active}}                the Nth tab and the active one of the latest browser_state
//	{{opened}} {{download}}             the latest tab_opened, and the latest download's id
//	{{width}} {{height-1}}              the latest screenshot's size; in quotes, alone, they become a number
//
// Besides files, the pages' server knows /redirect?to=URL, /status/CODE, /save/NAME (the file as a download), /held/NAME (a download
// that ends only after a request for /release), /cut/NAME (one that breaks off), /hang (never answers) and /release/hang.
//
// Whatever a check expects, every answer must be one that the API accepts, and halt and order as the contract says.
//
// The executor is not trusted: its answers are bounded, and its processes are ended with the run. A run is one goroutine's; the
// package has no other state.
package conform
