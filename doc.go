// Package pagehand executes the calls of the browser toolset browser_toolset_20260801 in a real Chromium.
//
// A model emits calls such as navigate, read_page and left_click, and leaves the running of them to the application. This
// package is that part: [Launch] a browser, open a [Session], hand it the calls of a turn, send the results back.
//
//	browser, err := pagehand.Launch(ctx, nil)
//	session, err := browser.NewSession(ctx, nil)
//	results := session.RunTurn(ctx, calls)
//
// Calls and results are the wire's own blocks (package contract); package anthropic takes and gives the Anthropic SDK's types
// instead. [Members] lists the toolset's members with their input schemas.
//
// A session is one caller's use of the browser: its tabs, cookies, references and downloads are its own. It runs one call at a
// time, each within a deadline, and whatever goes wrong in a call is a result that tells the model so. Sessions of one browser run
// side by side. Everything exported is safe for concurrent use.
//
// Trusted are the caller and its options. Not trusted are the model's inputs, which are checked, and pages, whose content is bounded and cleaned
// before it becomes part of a result.
package pagehand
