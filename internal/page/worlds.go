package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/internal/cdp"
)

// world is our isolated world in one document. Element references live in it, so it outlives a navigation that puts the
// document into the back/forward cache.
type world struct {
	page    *Page
	session *cdp.Session
	frame   proto.FrameID
	root    proto.FrameID // the topmost frame that its scripts can reach: coordinates are in that one's viewport
	loader  proto.LoaderID
	context runtime.ExecutionContextID
	made    bool // it can be used, unless err says why it could not be made
	err     error
	owners  map[proto.FrameID]bool // frames below it, out of its scripts' reach, whose elements the library knows
}

// worldName is what debuggers show; pages cannot see it.
const worldName = "pagehand"

// worldOf gives our world in the document that the frame shows, and makes it on first use.
func (p *Page) worldOf(ctx context.Context, id proto.FrameID) (*world, error) {
	p.mu.Lock()
	f := p.frames[id]
	if f == nil {
		p.mu.Unlock()
		return nil, fmt.Errorf("frame %s: %w", id, cdp.ErrDetached)
	}
	w := p.worlds[f.loader]
	if w == nil || f.loader == "" {
		w = p.makeWorld(f)
	}
	p.mu.Unlock()
	if err := p.await(ctx, func() bool { return w.made }); err != nil {
		return nil, err
	}
	if w.err != nil {
		p.dropWorld(w)
		return nil, w.err
	}
	return w, nil
}

// makeWorld starts to make our world in a frame's document and to install the library there. It only sends; the world says when
// it is made. Called with mu held.
func (p *Page) makeWorld(f *frame) *world {
	w := &world{page: p, session: f.session, frame: f.id, root: f.id, loader: f.loader, owners: map[proto.FrameID]bool{}}
	p.worlds[f.loader] = w
	params := page.CreateIsolatedWorldParams{FrameID: f.id, WorldName: worldName, GrantUniveralAccess: new(true)}
	// Sent outside of the lock: where the session has ended already, the answer comes at once.
	go cdp.Then(w.session, page.CreateIsolatedWorld, params, func(res page.CreateIsolatedWorldResult, err error) {
		if err != nil {
			p.update(func() { w.made, w.err = true, err })
			return
		}
		if w.frame == p.main {
			w.install(res.ExecutionContextID, libraryProbe)
			return
		}
		w.install(res.ExecutionContextID, librarySource)
	})
	return w
}

// install evaluates the library, or asks first whether it is there: their value is how many frames up its scripts can reach.
func (w *world) install(id runtime.ExecutionContextID, source string) {
	params := runtime.EvaluateParams{Expression: source, ContextID: id, ReturnByValue: new(true)}
	cdp.Then(w.session, runtime.Evaluate, params, func(res runtime.EvaluateResult, err error) {
		var levels *int
		switch {
		case err != nil:
		case res.ExceptionDetails != nil:
			err = fmt.Errorf("install the in-page library: %s", exceptionText(res.ExceptionDetails))
		default:
			err = json.Unmarshal(res.Result.Value, &levels)
		}
		if err == nil && levels == nil {
			w.install(id, librarySource) // a document that was there before we were
			return
		}
		w.page.update(func() {
			w.made, w.err, w.context = true, err, id
			if err != nil {
				return
			}
			for range *levels {
				if f := w.page.frames[w.root]; f != nil && f.parent != "" {
					w.root = f.parent
				}
			}
		})
	})
}

// errNavigated means that a document went away while it was being asked.
var errNavigated = errors.New("the page navigated meanwhile")

// inMainWorld runs fn with our world in the tab's document, again when the document was replaced meanwhile.
func (p *Page) inMainWorld(ctx context.Context, fn func(*world) error) error {
	return p.inFrame(ctx, p.main, fn)
}

// inFrame runs fn with our world in the frame's document, again when the document was replaced meanwhile.
func (p *Page) inFrame(ctx context.Context, id proto.FrameID, fn func(*world) error) error {
	ctx, stop := p.unlessHeldBack(ctx)
	defer stop()
	const tries = 20 // a page that reloads itself is followed for as long as the context allows, but not for ever
	for range tries {
		w, err := p.worldOf(ctx, id)
		if err == nil {
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
		settled := func() bool {
			_, frame := p.pending[id]
			_, tab := p.pending[p.main]
			return !frame && !tab
		}
		if err := p.await(ctx, settled); err != nil {
			return err
		}
	}
	return errRestless
}

// errRestless is the failure to ask anything of a page that replaces itself faster than it can answer.
var errRestless = problemf("The page replaces itself so often that it cannot be used. Wait and retry, or navigate elsewhere.")

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
	for _, text := range []string{"Cannot find context", "Execution context was destroyed", "Inspected target navigated", "No frame for given id", "uniqueContextId not found", "Not attached to an active page"} {
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
	ctx, stop := w.page.unlessHeldBack(ctx)
	defer stop()
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

// unlessHeldBack ends a context, with a [Problem] as its cause, when a navigation keeps the page from answering for loadPatience.
func (p *Page) unlessHeldBack(ctx context.Context) (context.Context, func()) {
	asking, end := context.WithCancelCause(ctx)
	patience := time.AfterFunc(loadPatience, func() {
		if held := p.heldBack(); held != nil {
			end(held)
		}
	})
	return asking, func() {
		patience.Stop()
		end(nil)
	}
}

// heldBack tells of a navigation whose server has not answered: until it does, Chromium keeps back what is asked of the tab. Nil when there is none.
func (p *Page) heldBack() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	n, ok := p.pending[p.main]
	if !ok || n.loader == "" {
		return nil
	}
	return problemf("The tab is waiting for %s to answer and cannot be used meanwhile. Wait, or navigate elsewhere.", contract.CleanURL(n.url))
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
