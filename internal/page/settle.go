package page

import (
	"context"
	"errors"
	"time"
)

// settlePatience bounds the wait for requests that an action started.
const settlePatience = 3 * time.Second

// Mark is a moment in the tab's history, from which [Page.Settle] looks.
type Mark struct {
	clock int
	at    time.Time
}

// Mark notes what the tab has done so far. Take it before an action.
func (p *Page) Mark() Mark {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Mark{clock: p.clock, at: time.Now()}
}

// Settled says what an action led to.
type Settled struct {
	Navigated bool // another document or address than at the mark
	Loading   bool // the new document is still loading
	Pending   int  // requests started by the action that are still on their way
}

// Settle waits for what an action has set going: a navigation until its document is loaded, requests until they are
// answered and the page has painted what came of it. It waits for events only, never for time to pass, and is bounded: by loadPatience for
// navigations and by settlePatience for requests. Where nothing is pending it costs one call into the page.
//
// The call into the page comes first: its answer arrives after every event that the action's own scripts caused.
func (p *Page) Settle(ctx context.Context, from Mark) (Settled, error) {
	patience, cancel := context.WithDeadlineCause(ctx, from.at.Add(settlePatience), errStillLoading)
	defer cancel()
	barrier := "observe"
	for {
		if err := p.observe(ctx, barrier); err != nil {
			return Settled{}, err
		}
		p.mu.Lock()
		moving := p.movingSince(from.clock)
		flying := p.flyingSince(from.clock)
		opening := p.opening
		p.mu.Unlock()
		if opening {
			if err := p.awaitTab(ctx); err != nil {
				return Settled{}, err
			}
		}
		switch {
		case moving:
			if err := p.loaded(ctx, from.at); err != nil {
				return Settled{}, err
			}
			if p.stillMoving(from) {
				return p.settled(from), nil // loadPatience has run out
			}
		case flying > 0:
			err := p.await(patience, func() bool { return p.flyingSince(from.clock) == 0 || p.movingSince(from.clock) })
			if errors.Is(err, errStillLoading) {
				return p.settled(from), nil
			}
			if err != nil {
				return Settled{}, err
			}
		default:
			return p.settled(from), nil
		}
		barrier = "painted" // what was waited for shows up on the page a frame later
	}
}

// tabPatience bounds the wait for a tab that the page has asked for: Chromium's popup blocker may have refused it.
const tabPatience = time.Second

// awaitTab waits until a tab that the page has asked for appears.
func (p *Page) awaitTab(ctx context.Context) error {
	patience, cancel := context.WithTimeoutCause(ctx, tabPatience, errStillLoading)
	defer cancel()
	err := p.await(patience, func() bool { return !p.opening })
	if errors.Is(err, errStillLoading) {
		p.Opened()
		return nil
	}
	return err
}

// Opened tells the page that a tab has appeared, which may be the one it asked for.
func (p *Page) Opened() { p.update(func() { p.opening = false }) }

// movingSince tells whether a navigation of the tab began since the clock stood there, and is not over. Frames count until they have their document.
func (p *Page) movingSince(clock int) bool {
	for _, n := range p.pending {
		if n.since > clock {
			return true
		}
	}
	l := p.load(p.frames[p.main].loader)
	return l.committed > clock && !l.loaded && p.frames[p.main].unreachable == ""
}

func (p *Page) stillMoving(from Mark) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.movingSince(from.clock) && time.Since(from.at) > loadPatience
}

func (p *Page) flyingSince(clock int) int {
	n := 0
	for _, f := range p.flights {
		if f.since > clock {
			n++
		}
	}
	return n
}

func (p *Page) settled(from Mark) Settled {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.load(p.frames[p.main].loader)
	return Settled{
		Navigated: l.committed > from.clock,
		Loading:   l.committed > from.clock && !l.loaded,
		Pending:   p.flyingSince(from.clock),
	}
}

// observe asks the page for its title. "painted" waits for a frame first.
func (p *Page) observe(ctx context.Context, how string) error {
	var seen struct {
		Title string `json:"title"`
	}
	err := p.inMainWorld(ctx, func(w *world) error { return w.call(ctx, how, &seen) })
	if err != nil {
		return err
	}
	p.SetTitle(seen.Title)
	return nil
}

// Refresh brings the title up to date.
func (p *Page) Refresh(ctx context.Context) error { return p.observe(ctx, "observe") }

// At is when the mark was taken.
func (m Mark) At() time.Time { return m.at }

// AwaitOpening waits until a tab that has just been opened shows its first document, bounded by settlePatience from the given
// moment. That it does not get that far is no error.
func (p *Page) AwaitOpening(ctx context.Context, from time.Time) error {
	patience, cancel := context.WithDeadlineCause(ctx, from.Add(settlePatience), errStillLoading)
	defer cancel()
	err := p.await(patience, func() bool {
		_, moving := p.pending[p.main]
		f := p.frames[p.main]
		return !moving && f.loader != "" && p.load(f.loader).loaded
	})
	if err != nil && !errors.Is(err, errStillLoading) {
		return err
	}
	return p.observe(patience, "observe")
}
