package page

import (
	"context"
	"errors"
	"time"

	"github.com/pagehand/pagehand/internal/cdp"
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
	Navigated bool   // another document or address than at the mark
	Loading   bool   // the new document is still loading
	Pending   int    // requests started by the action that are still on their way
	Failure   string // why the document that it led to could not be loaded, as a sentence part: the tab shows Chromium's error page
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
		err := p.pass(ctx, barrier, from)
		if errors.Is(err, errRestless) {
			return p.settled(from), nil
		}
		if err != nil && p.closing(ctx, err) {
			err = cdp.ErrDetached
		}
		if err != nil {
			return Settled{}, err
		}
		p.mu.Lock()
		moving, busy := p.movingSince(from.clock), p.busySince(from.clock)
		p.mu.Unlock()
		switch {
		case moving:
			if err := p.loaded(ctx, from.at); err != nil {
				return Settled{}, err
			}
			if time.Since(from.at) > loadPatience {
				return p.settled(from), nil
			}
		case busy:
			err := p.await(patience, func() bool { return !p.busySince(from.clock) || p.movingSince(from.clock) })
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

// pass puts a question to the page as a barrier. A navigation makes it needless, and Chromium may keep the question back until
// that is over.
func (p *Page) pass(ctx context.Context, barrier string, from Mark) error {
	asking, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() {
		if p.await(asking, func() bool { return p.movingSince(from.clock) }) == nil {
			stop(errNavigated)
		}
	}()
	err := p.observe(asking, barrier)
	if err != nil && ctx.Err() == nil && errors.Is(context.Cause(asking), errNavigated) {
		return nil
	}
	return err
}

// movingSince tells whether a navigation of the tab itself began since the clock stood there, and is not over.
func (p *Page) movingSince(clock int) bool {
	if n, ok := p.pending[p.main]; ok && n.since > clock {
		return true
	}
	l := p.load(p.frames[p.main].loader)
	return l.committed > clock && !l.loaded && p.frames[p.main].unreachable == ""
}

// busySince tells whether something else that began since the clock stood there is not over: requests, navigations of frames, and
// tabs and downloads that are to appear.
func (p *Page) busySince(clock int) bool {
	for _, n := range p.pending {
		if n.since > clock {
			return true
		}
	}
	return p.flyingSince(clock) > 0 || p.expected.after(clock)
}

// expected are a tab and a download that the page has asked for and that have not appeared yet, with the clock at that moment; 0 for none.
// Chromium tells of them on another session, a little later.
type expected struct{ tab, download int }

func (e expected) after(clock int) bool { return e.tab > clock || e.download > clock }

// expectPatience bounds the wait for what is expected: Chromium's popup blocker may have refused the tab.
const expectPatience = time.Second

// expect notes that something is to appear, for expectPatience.
func (p *Page) expect(what *int) {
	p.clock++
	asked := p.clock
	*what = asked
	time.AfterFunc(expectPatience, func() {
		p.update(func() {
			if *what == asked {
				*what = 0
			}
		})
	})
}

// downloadsBegun counts the downloads that have begun in the tab.
func (p *Page) downloadsBegun() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.downloads
}

// expectDownload notes that a download is to begin, unless one has since so many had.
func (p *Page) expectDownload(begun int) {
	p.update(func() {
		if p.downloads == begun {
			p.expect(&p.expected.download)
		}
	})
}

// Opened tells the page that a tab has appeared, which may be the one it asked for.
func (p *Page) Opened() { p.update(func() { p.expected.tab = 0 }) }

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
	f := p.frames[p.main]
	l := p.load(f.loader)
	s := Settled{
		Navigated: l.committed > from.clock,
		Loading:   p.movingSince(from.clock),
		Pending:   p.flyingSince(from.clock),
	}
	if s.Navigated && f.unreachable != "" {
		s.Failure = l.reason()
	}
	return s
}

// observe asks the page for its title. "painted" waits for a frame first.
func (p *Page) observe(ctx context.Context, how string) error {
	var seen struct {
		Title   string `json:"title"`
		Printed bool   `json:"printed"`
	}
	err := p.inMainWorld(ctx, func(w *world) error { return w.call(ctx, how, &seen) })
	if err != nil {
		return err
	}
	p.update(func() {
		p.title = seen.Title
		if seen.Printed {
			p.notes.add("The page asked to print; nothing was printed.")
		}
	})
	return nil
}

// Refresh brings the title up to date.
func (p *Page) Refresh(ctx context.Context) error { return p.observe(ctx, "observe") }

// At is when the mark was taken.
func (m Mark) At() time.Time { return m.at }

// AwaitOpening waits until a tab that has just been opened shows its first document, or its navigation has come to nothing, bounded by
// settlePatience from the given moment. That it does not get that far is no error. (A tab that was opened for a download closes itself.)
func (p *Page) AwaitOpening(ctx context.Context, from time.Time) error {
	patience, cancel := context.WithDeadlineCause(ctx, from.Add(settlePatience), errStillLoading)
	defer cancel()
	err := p.await(patience, func() bool {
		_, moving := p.pending[p.main]
		f := p.frames[p.main]
		return !moving && (f.loader != "" && p.load(f.loader).loaded || p.stayed && p.expected.download == 0)
	})
	if err != nil && !errors.Is(err, errStillLoading) {
		return err
	}
	return p.observe(patience, "observe")
}
