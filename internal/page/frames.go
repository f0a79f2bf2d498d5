package page

import (
	"slices"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"

	"github.com/pagehand/pagehand/internal/cdp"
)

// frame is one frame of the tab, the top one included.
type frame struct {
	id, parent  proto.FrameID
	session     *cdp.Session // of the process that renders it
	loader      proto.LoaderID
	url         string // with fragment
	origin      string
	unreachable string // what could not be loaded, when this is Chromium's error page
	moved       int    // the clock when it last went to another place within its document
	order       int    // of appearance, so that readings are the same every time
}

func (f *frame) address() string {
	if f.unreachable != "" {
		return f.unreachable
	}
	return f.url
}

func (p *Page) watchFrames(s *cdp.Session) {
	cdp.On(s, page.FrameAttached, func(ev page.EventFrameAttached) {
		p.update(func() {
			if p.frames[ev.FrameID] == nil {
				p.addFrame(&frame{id: ev.FrameID, parent: ev.ParentFrameID, session: s})
			}
		})
	})
	cdp.On(s, page.FrameDetached, func(ev page.EventFrameDetached) {
		if ev.Reason == page.FrameDetachedReasonSwap {
			return // it goes on in another process
		}
		p.update(func() { p.removeFrame(ev.FrameID) })
	})
	cdp.On(s, page.FrameNavigated, func(ev page.EventFrameNavigated) {
		p.update(func() {
			p.committed(s, ev.Frame)
			if ev.Type == page.NavigationTypeBackForwardCacheRestore {
				l := p.load(ev.Frame.LoaderID)
				l.ready, l.loaded = true, true
			}
		})
	})
	cdp.On(s, page.NavigatedWithinDocument, func(ev page.EventNavigatedWithinDocument) {
		p.update(func() {
			p.clock++
			if f := p.frames[ev.FrameID]; f != nil {
				f.url, f.moved = ev.URL, p.clock
			}
			delete(p.pending, ev.FrameID)
		})
	})
	p.watchLoads(s)
}

func (p *Page) addFrame(f *frame) {
	p.clock++
	f.order = p.clock
	p.frames[f.id] = f
}

// addTree fills in what existed before we watched.
func (p *Page) addTree(s *cdp.Session, t *page.FrameTree) {
	if t == nil || t.Frame == nil {
		return
	}
	if f := p.frames[t.Frame.ID]; f == nil || f.loader == "" {
		p.committed(s, t.Frame)
	}
	for _, child := range t.ChildFrames {
		p.addTree(s, child)
	}
}

// committed records a frame's new document.
func (p *Page) committed(s *cdp.Session, doc *proto.Frame) {
	f := p.frames[doc.ID]
	if f == nil {
		f = &frame{id: doc.ID, parent: doc.ParentID}
		p.addFrame(f)
	}
	if f.loader != doc.LoaderID {
		if doc.ID == p.main {
			p.title = ""
			p.replaced()
		}
		for id, child := range p.frames {
			if child.parent == doc.ID {
				p.removeFrame(id)
			}
		}
	}
	f.session = s
	f.loader = doc.LoaderID
	f.url = doc.URL + doc.URLFragment
	f.origin = doc.SecurityOrigin
	f.unreachable = doc.UnreachableURL
	p.clock++
	l := p.load(doc.LoaderID)
	l.committed = p.clock
	delete(p.pending, doc.ID)
	if doc.ID == p.main && doc.URL != "about:blank" && p.worlds[doc.LoaderID] == nil {
		p.makeWorld(f) // the first call will want it, and now it is made while the document loads
	}
}

// restlessness is how many documents a tab shows in a row, without a call that asks for one, before the model is told.
const restlessness = 8

// replaced counts the tab's documents, and tells of a page that goes on replacing itself.
func (p *Page) replaced() {
	const note = "The page keeps replacing itself. What is read of it may be gone at once."
	if p.turnover++; p.turnover >= restlessness && !slices.Contains(p.notes.lines, note) {
		p.notes.add(note)
	}
}

func (p *Page) removeFrame(id proto.FrameID) {
	for child, f := range p.frames {
		if f.parent == id {
			p.removeFrame(child)
		}
	}
	if id != p.main {
		delete(p.frames, id)
	}
	delete(p.pending, id)
}
