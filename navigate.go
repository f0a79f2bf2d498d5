package pagehand

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/egress"
	"github.com/pagehand/pagehand/internal/cdp"
	"github.com/pagehand/pagehand/internal/page"
)

var navigationMembers = []Member{
	onTab("navigate", "Go to a web address, or back, forward or reload.", navigate),
	onTab("wait", "Pause for some seconds.", wait),
}

// Open loads an address in the active tab before the first turn, on the operator's behalf: within the session's destinations, whether or not
// the model may navigate. The error is one line.
func (s *Session) Open(ctx context.Context, url string) error {
	s.calls.Lock()
	defer s.calls.Unlock()
	t, err := s.tab("")
	if err != nil {
		return err
	}
	bounded, cancel := context.WithTimeoutCause(ctx, s.opts.Timeout, errDeadline)
	defer cancel()
	if _, err := navigate(bounded, t, navigateInput{URL: url}); err != nil {
		return explain("navigate", t, s.opts.Timeout, err)
	}
	return nil
}

type navigateInput struct {
	URL string `json:"url" need:"true" doc:"An http or https address, or back, forward or reload. Without a scheme, https is meant."`
	tabInput
}

func navigate(ctx context.Context, t *tab, in navigateInput) (output, error) {
	switch in.URL {
	case "back":
		return t.travel(ctx, page.Back)
	case "forward":
		return t.travel(ctx, page.Forward)
	case "reload":
		if err := t.allows(ctx, t.page.URL()); err != nil {
			return output{}, err
		}
		return t.arrive(ctx, t.page.URL(), t.page.Reload)
	}
	url, err := egress.ParseURL(in.URL)
	if err != nil {
		return output{}, &ToolError{err.Error(), err}
	}
	if err := t.session.opts.Destinations.CheckURL(ctx, url); err != nil {
		return output{}, refusal(err)
	}
	return t.arrive(ctx, url.Href, func(ctx context.Context) (page.Arrival, error) { return t.page.Navigate(ctx, url.Href) })
}

// travel moves through the tab's history.
func (t *tab) travel(ctx context.Context, d page.Direction) (output, error) {
	url, entry, err := t.page.HistoryTarget(ctx, d)
	if err != nil {
		return output{}, err
	}
	if err := t.allows(ctx, url); err != nil {
		return output{}, err
	}
	return t.arrive(ctx, url, func(ctx context.Context) (page.Arrival, error) { return t.page.GoTo(ctx, entry) })
}

// allows checks an address that the tab has or had: it may have been reached before the rules, or by a redirect.
func (t *tab) allows(ctx context.Context, address string) error {
	if address == "about:blank" {
		return nil
	}
	url, err := egress.ParseURL(address)
	if err != nil {
		return &ToolError{err.Error(), err}
	}
	if err := t.session.opts.Destinations.CheckURL(ctx, url); err != nil {
		return refusal(err)
	}
	return nil
}

func refusal(err error) error {
	var r *egress.Refusal
	if errors.As(err, &r) {
		return &ToolError{r.Error(), err}
	}
	return err
}

// arrive runs a navigation and words where it ended.
func (t *tab) arrive(ctx context.Context, url string, move func(context.Context) (page.Arrival, error)) (output, error) {
	a, err := move(ctx)
	if errors.Is(err, errDeadline) {
		return output{}, &ToolError{fmt.Sprintf("Navigation to %s timed out after %s. The page may be unavailable.", contract.CleanURL(url), inWords(t.session.opts.Timeout)), err}
	}
	if err != nil {
		return output{}, err
	}
	where := contract.CleanURL(a.URL)
	switch {
	case a.Download:
		return say("The address is a download, not a page; the tab stays where it was.")
	case a.Stayed:
		return say(fmt.Sprintf("The server answered without content (HTTP %d); the page is unchanged.", a.Status))
	case a.Refused:
		return output{}, t.turnBack(ctx, toolErrorf("Navigation to %s refused: %s.", where, a.Failure))
	case a.Failure != "":
		return output{}, toolErrorf("Navigation to %s failed: %s.", where, a.Failure)
	}
	if err := t.allows(ctx, a.URL); err != nil {
		return output{}, t.turnBack(ctx, err)
	}
	text := "Navigated to " + where
	if a.Status >= 400 {
		text += fmt.Sprintf(" (HTTP %d)", a.Status)
	}
	if a.Loading {
		text += "\nStill loading."
	}
	return say(text)
}

// turnBack empties a tab that a redirect led to where the session may not go: nothing of it stays readable. It returns why.
func (t *tab) turnBack(ctx context.Context, why error) error {
	if _, err := t.page.Navigate(ctx, "about:blank"); err != nil {
		return err
	}
	return why
}

type waitInput struct {
	Duration float64 `json:"duration" need:"true" min:"0" max:"30" doc:"How long, in seconds."`
	tabInput
}

func (in waitInput) takes() time.Duration { return seconds(in.Duration) }

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

func wait(ctx context.Context, t *tab, in waitInput) (output, error) {
	timer := time.NewTimer(in.takes())
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.session.browser.Done():
		return output{}, cdp.ErrClosed
	case <-ctx.Done():
		return output{}, context.Cause(ctx)
	}
	// What the page did meanwhile is worth knowing; a page that does not answer is no failure of waiting.
	_ = t.page.Refresh(ctx)
	return say(fmt.Sprintf("Waited %s.", inWords(in.takes())))
}
