package site

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxDelay bounds ?ms= of the slow pages.
const maxDelay = 30 * time.Second

// delay reads ?ms= as a duration of 0 to maxDelay.
func delay(r *http.Request, def time.Duration) (time.Duration, error) {
	text := r.FormValue("ms")
	if text == "" {
		return def, nil
	}
	ms, err := strconv.Atoi(text)
	if err != nil || ms < 0 || ms > int(maxDelay.Milliseconds()) {
		return 0, fmt.Errorf("ms must be a whole number from 0 to %d", maxDelay.Milliseconds())
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// pause waits, and reports false when the client went away first.
func pause(r *http.Request, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

func (a *app) slow(w http.ResponseWriter, r *http.Request) {
	d, err := delay(r, time.Second)
	if err != nil {
		a.badRequest(w, r, err.Error())
		return
	}
	if r.FormValue("early") == "1" {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<!doctype html><html lang="en"><title>Slow page</title><h1>Slow page</h1><p>The rest is on its way.</p>`)
		_ = http.NewResponseController(w).Flush() // the rest comes anyway
		if pause(r, d) {
			fmt.Fprintf(w, "<p>The rest took %d ms.</p>", d.Milliseconds())
		}
		return
	}
	if !pause(r, d) {
		return
	}
	a.render(w, r, http.StatusOK, "message.html", view{
		Title: "Slow page", Data: fmt.Sprintf("This page took %d ms.", d.Milliseconds()),
	})
}

func (a *app) status(w http.ResponseWriter, r *http.Request) {
	code, err := strconv.Atoi(r.PathValue("code"))
	if err != nil || code < 200 || code > 599 {
		a.badRequest(w, r, "A status is a number from 200 to 599.")
		return
	}
	switch code {
	case http.StatusNoContent, http.StatusResetContent, http.StatusNotModified: // have no body
		w.WriteHeader(code)
		return
	case http.StatusUnauthorized: // makes a browser ask for a name and a password
		w.Header().Set("WWW-Authenticate", `Basic realm="Harbor Goods"`)
	}
	text := http.StatusText(code)
	if text == "" {
		text = "without a name"
	}
	a.render(w, r, code, "message.html", view{
		Title: fmt.Sprintf("Status %d", code), Data: fmt.Sprintf("The server answered %d, %s.", code, text),
	})
}

// redirect goes to ?to=, which must be a path of this site, never another one.
func (a *app) redirect(w http.ResponseWriter, r *http.Request) {
	to := r.FormValue("to")
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.Contains(to, `\`) {
		a.badRequest(w, r, "The redirect must be a path of this site, such as /docs.")
		return
	}
	http.Redirect(w, r, u.String(), http.StatusFound)
}

// attach sets the headers of a file that is saved, not shown.
func attach(w http.ResponseWriter, contentType, name string) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
}

func manual(w http.ResponseWriter, _ *http.Request) {
	attach(w, "text/plain; charset=utf-8", "Handbuch für Enamel mug ☕.txt")
	fmt.Fprintln(w, "Enamel mug\n\nRinse before the first coffee. Do not microwave. Enjoy for decades.")
}

const (
	downloadSize  = 256 << 10
	downloadParts = 8
)

var downloadPart = bytes.Repeat([]byte("harbor \n"), downloadSize/downloadParts/8)

func slowDownload(w http.ResponseWriter, r *http.Request) {
	d, err := delay(r, 2*time.Second)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	attach(w, "application/octet-stream", "slow.bin")
	w.Header().Set("Content-Length", strconv.Itoa(downloadSize))
	for range downloadParts {
		if _, err := w.Write(downloadPart); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush() // a lost client shows in the next Write
		if !pause(r, d/downloadParts) {
			return
		}
	}
}

// brokenDownload names no length: where one is missed, Chromium itself asks again five times, and may cancel a download that begins meanwhile.
func brokenDownload(w http.ResponseWriter, _ *http.Request) {
	attach(w, "application/octet-stream", "broken.bin")
	for range downloadParts / 2 {
		_, _ = w.Write(downloadPart)
	}
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler) // cuts the connection, as a failing server would
}
