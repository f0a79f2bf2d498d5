package page

import (
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/page"

	"github.com/pagehand/pagehand/internal/cdp"
)

// notes are one-line remarks for the model about what happened beside a call: dialogs, tabs that closed themselves. They are
// collected between calls and handed over with the next result, bounded in number and length.
type notes struct {
	lines   []string
	dropped int
}

const (
	mostNotes     = 5
	longestDialog = 200 // of a dialog's text, in characters
	mostDialogs   = 100 // in one call: whoever opens more never stops
)

func (n *notes) add(line string) {
	if len(n.lines) >= mostNotes {
		n.dropped++
		return
	}
	n.lines = append(n.lines, line)
}

// Note adds a remark for the model to the next result.
func (p *Page) Note(line string) { p.update(func() { p.notes.add(line) }) }

// TakeNotes hands over the remarks since the last time.
func (p *Page) TakeNotes() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	lines := p.notes.lines
	if p.notes.dropped > 0 {
		lines = append(lines, fmt.Sprintf("And %d more remarks of that kind.", p.notes.dropped))
	}
	p.notes = notes{}
	return lines
}

// BeginCall tells the page that a call begins: dialogs and documents are counted by call.
func (p *Page) BeginCall() { p.update(func() { p.dialogs, p.turnover, p.stuck = 0, 0, false }) }

// storming tells whether the running call is to be given up because of dialogs. Called with the state locked.
func (p *Page) storming() bool { return p.dialogs > mostDialogs && !p.recovering }

// watchDialogs answers dialogs at once, since nothing else of the page goes on while one is open. When there is no end of them, it fails the
// running call, which would only wait for its deadline.
func (p *Page) watchDialogs(s *cdp.Session) {
	cdp.On(s, page.JavascriptDialogOpening, func(ev page.EventJavascriptDialogOpening) {
		leaving := ev.Type == page.DialogTypeBeforeunload
		accept := leaving || p.opts.AcceptDialogs
		answer := page.HandleJavaScriptDialogParams{Accept: accept}
		if accept && ev.Type == page.DialogTypePrompt {
			answer.PromptText = ev.DefaultPrompt
		}
		cdp.Post(s, page.HandleJavaScriptDialog, answer)
		storm := false
		p.update(func() {
			p.dialogs++
			storm = p.storming()
		})
		if storm {
			p.failPending(ErrDialogs)
		}
		if leaving {
			return
		}
		verb := "dismissed"
		if accept {
			verb = "accepted"
		}
		p.Note(fmt.Sprintf("The page opened a dialog (%s): %q. It was %s.", ev.Type, shorten(oneLine(ev.Message), longestDialog), verb))
	})
	cdp.Post(s, page.SetInterceptFileChooserDialog, page.SetInterceptFileChooserDialogParams{Enabled: true})
	cdp.On(s, page.FileChooserOpened, func(page.EventFileChooserOpened) {
		p.Note("The page opened a file chooser. It was closed; use file_upload on the file input instead.")
	})
}

// oneLine folds white space, so that page text cannot forge lines of ours.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// shorten cuts a text to so many characters and says so.
func shorten(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return string(r[:most]) + "…"
}
