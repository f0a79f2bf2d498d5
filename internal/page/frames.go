package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

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
	order       int    // of appearance, so that readings are the same every time
}

func (f *frame) address() string {
	if f.unreachable != "" {
		return f.unreachable
	}
	return f.url
}

// world is our isolated world in one document. Element references live in it, so it outlives a navigation that puts the
// document into the back/forward cache.
type world struct {
	page    *Page
	session *cdp.Session
	frame   proto.FrameID
	root    proto.FrameID // the topmost frame that its scripts can reach: coordinates are in that one's viewport
	loader  proto.LoaderID
	context runtime.ExecutionContextID
	owners  map[proto.FrameID]bool // frames below it, out of its scripts' reach, whose elements the library knows
}

// worldName is what debuggers show; pages cannot see it.
const worldName = "pagehand"

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
			if f := p.frames[ev.FrameID]; f != nil {
				f.url = ev.URL
			}
			delete(p.pending, ev.FrameID)
			p.clock++
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

// worldOf gives our world in the document that the frame shows, and makes it on first use.
func (p *Page) worldOf(ctx context.Context, id proto.FrameID) (*world, error) {
	p.mu.Lock()
	f := p.frames[id]
	if f == nil {
		p.mu.Unlock()
		return nil, fmt.Errorf("frame %s: %w", id, cdp.ErrDetached)
	}
	loader, s := f.loader, f.session
	w := p.worlds[loader]
	p.mu.Unlock()
	if w != nil && loader != "" {
		return w, nil
	}
	yes := true
	res, err := cdp.Call(ctx, s, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: id, WorldName: worldName, GrantUniveralAccess: &yes})
	if err != nil {
		return nil, err
	}
	install, err := cdp.Call(ctx, s, runtime.Evaluate, runtime.EvaluateParams{Expression: librarySource, ContextID: res.ExecutionContextID, ReturnByValue: &yes})
	if err != nil {
		return nil, err
	}
	if install.ExceptionDetails != nil {
		return nil, fmt.Errorf("install the in-page library: %s", exceptionText(install.ExceptionDetails))
	}
	var levels int
	if err := json.Unmarshal(install.Result.Value, &levels); err != nil {
		return nil, fmt.Errorf("install the in-page library: %w", err)
	}
	w = &world{page: p, session: s, frame: id, root: id, loader: loader, context: res.ExecutionContextID, owners: map[proto.FrameID]bool{}}
	p.mu.Lock()
	defer p.mu.Unlock()
	for range levels {
		if f := p.frames[w.root]; f != nil && f.parent != "" {
			w.root = f.parent
		}
	}
	if f := p.frames[id]; f == nil || f.loader != loader {
		return nil, errNavigated
	}
	p.worlds[loader] = w
	return w, nil
}

// errNavigated means that a document went away while it was being asked.
var errNavigated = errors.New("the page navigated meanwhile")

// mainWorld runs fn with our world in the tab's document, again when the document was replaced meanwhile.
func (p *Page) inMainWorld(ctx context.Context, fn func(*world) error) error {
	return p.inFrame(ctx, p.main, fn)
}

// inFrame runs fn with our world in the frame's document, again when the document was replaced meanwhile.
func (p *Page) inFrame(ctx context.Context, id proto.FrameID, fn func(*world) error) error {
	const tries = 20 // a page that reloads itself is followed for as long as the context allows, but not for ever
	var err error
	for range tries {
		var w *world
		if w, err = p.worldOf(ctx, id); err == nil {
			if err = fn(w); err == nil {
				return nil
			}
		}
		if !navigated(err) {
			return err
		}
		if w != nil {
			p.dropWorld(w)
		}
		if err := p.await(ctx, func() bool { return len(p.pending) == 0 }); err != nil {
			return err
		}
	}
	return err
}

func (p *Page) dropWorld(w *world) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.worlds[w.loader] == w {
		delete(p.worlds, w.loader)
	}
}

// navigated tells whether a call failed because its document went away.
func navigated(err error) bool {
	if errors.Is(err, errNavigated) {
		return true
	}
	var refused *cdp.Error
	if !errors.As(err, &refused) {
		return false
	}
	// Chromium has no codes for these.
	for _, text := range []string{"Cannot find context", "Execution context was destroyed", "Inspected target navigated", "No frame for given id", "uniqueContextId not found"} {
		if strings.Contains(refused.Message, text) {
			return true
		}
	}
	return false
}

// object is a JavaScript value in a world that cannot travel by value, such as an element.
type object struct{ id runtime.RemoteObjectID }

const libraryCall = `function(next, name, ...args) { return pagehand(next, name, args); }`

// call runs a function of the in-page library and decodes what it returned into out. args are JSON values or objects.
// References that the function gave out belong to the world afterwards.
func (w *world) call(ctx context.Context, name string, out any, args ...any) error {
	refs := w.page.opts.Refs
	next := refs.begin()
	params := runtime.CallFunctionOnParams{
		FunctionDeclaration: libraryCall,
		ExecutionContextID:  w.context,
		ReturnByValue:       new(true),
		AwaitPromise:        new(true),
		Silent:              new(true),
	}
	for _, arg := range append([]any{next, name}, args...) {
		a, err := argument(arg)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		params.Arguments = append(params.Arguments, a)
	}
	res, err := cdp.Call(ctx, w.session, runtime.CallFunctionOn, params)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if res.ExceptionDetails != nil {
		return fmt.Errorf("in-page %s: %s", name, exceptionText(res.ExceptionDetails))
	}
	var answer struct {
		Next  int          `json:"next"`
		Value jsonv2.Value `json:"value"`
	}
	if err := jsonv2.Unmarshal(res.Result.Value, &answer, jsonv2.AllowInvalidUTF8(true)); err != nil {
		return fmt.Errorf("in-page %s: %w", name, err)
	}
	refs.end(w, answer.Next)
	if out == nil || len(answer.Value) == 0 {
		return nil
	}
	if err := json.Unmarshal(answer.Value, out); err != nil {
		return fmt.Errorf("in-page %s: %w", name, err)
	}
	return nil
}

func argument(arg any) (*runtime.CallArgument, error) {
	if o, ok := arg.(object); ok {
		return &runtime.CallArgument{ObjectID: o.id}, nil
	}
	raw, err := json.Marshal(arg)
	return &runtime.CallArgument{Value: raw}, err
}

func exceptionText(d *runtime.ExceptionDetails) string {
	if d.Exception != nil && d.Exception.Description != "" {
		return d.Exception.Description
	}
	return d.Text
}
