// Package cdp is the connection to Chromium: the DevTools protocol over a pipe, with flattened sessions.
//
// A [Conn] owns two goroutines, one that reads and one that writes. Commands are typed by cdproto:
//
//	res, err := cdp.Call(ctx, session, page.Navigate, page.NavigateParams{URL: url})
//
// Events are handled synchronously, in order, on the reading goroutine ([On]). That gives the guarantee which the rest of
// Pagehand builds on: when a command's answer arrives, every event that Chromium sent before it has already been handled.
// There is no event queue that could fill up. The price is a rule: a handler must not block and must not call [Call]; it updates
// state under a mutex and may send with [Post], which only appends to the write queue.
//
// Everything here is safe for concurrent use. Chromium is trusted to speak the protocol; what it reports of pages is not.
package cdp
