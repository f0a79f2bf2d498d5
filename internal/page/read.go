package page

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"

	"github.com/pagehand/pagehand/internal/cdp"
)

// ReadOptions say what of a page to read.
type ReadOptions struct {
	// Filter is "" for what is visible, "interactive" for what of that can be operated, "all" for the whole page.
	Filter string
	// Depth is how many levels to descend, 1 for the top level only.
	Depth int
	// Ref limits the reading to that element's subtree; empty for the page.
	Ref string
	// Max bounds the text in code points, a note about the cut included; 0 for no bound.
	Max int
}

// frameShownBy finds the frame, out of the reach of scripts, that an element shows; empty when there is none (yet).
func (p *Page) frameShownBy(ctx context.Context, w *world, ref int) (proto.FrameID, error) {
	if err := p.nameFrames(ctx, w); err != nil {
		return "", err
	}
	var key proto.FrameID
	if err := w.call(ctx, "frameKey", &key, map[string]any{"ref": ref}); err != nil {
		return "", err
	}
	if !p.HasFrame(key) {
		return "", nil
	}
	return key, nil
}

// nameFrames tells the library of a document which elements show the frames that its scripts cannot look into.
func (p *Page) nameFrames(ctx context.Context, w *world) error {
	p.mu.Lock()
	var unnamed []proto.FrameID
	for id, f := range p.frames {
		if parent := p.frames[f.parent]; parent != nil && parent.session == w.session && f.closedTo(parent) && !w.owners[id] {
			unnamed = append(unnamed, id)
		}
	}
	slices.SortFunc(unnamed, func(a, b proto.FrameID) int { return p.frames[a].order - p.frames[b].order })
	p.mu.Unlock()
	for _, id := range unnamed {
		owner, err := p.frameOwner(ctx, w, id)
		if err == nil {
			err = w.call(ctx, "nameFrame", nil, owner, id)
		}
		if err != nil {
			if ctx.Err() != nil || navigated(err) {
				return err
			}
			continue // it went away meanwhile
		}
		p.mu.Lock()
		w.owners[id] = true
		p.mu.Unlock()
	}
	return nil
}

// mostShadowHosts bounds how many elements one reading asks Chromium about, at some 0.2 ms each.
const mostShadowHosts = 2000

// adoptShadows gives the library the closed shadow roots of the document: scripts cannot reach them, the protocol can. It asks about
// at most limit elements, and returns about how many it did.
func (p *Page) adoptShadows(ctx context.Context, w *world, limit int) (int, error) {
	list, err := cdp.Call(ctx, w.session, runtime.CallFunctionOn, runtime.CallFunctionOnParams{
		FunctionDeclaration: `function(limit) { return pagehand(0, 'shadowCandidates', [{ limit }]).value; }`,
		ExecutionContextID:  w.context,
		Arguments:           []*runtime.CallArgument{{Value: fmt.Appendf(nil, "%d", limit)}},
		ObjectGroup:         shadowGroup,
	})
	if err != nil {
		return 0, err
	}
	if list.Result == nil || list.Result.ObjectID == "" || list.Result.Description == "Array(0)" {
		return 0, nil
	}
	defer cdp.Post(w.session, runtime.ReleaseObjectGroup, runtime.ReleaseObjectGroupParams{ObjectGroup: shadowGroup})
	items, err := cdp.Call(ctx, w.session, runtime.GetProperties, runtime.GetPropertiesParams{ObjectID: list.Result.ObjectID, OwnProperties: new(true)})
	if err != nil {
		return 0, err
	}
	type asked struct {
		host object
		node cdp.Pending[dom.DescribeNodeResult]
	}
	var hosts []asked
	for _, item := range items.Result {
		if item.Value == nil || item.Value.Subtype != runtime.RemoteObjectSubtypeNode {
			continue
		}
		host := object{item.Value.ObjectID}
		hosts = append(hosts, asked{host, cdp.Start(w.session, dom.DescribeNode, dom.DescribeNodeParams{ObjectID: host.id})})
	}
	for _, h := range hosts {
		res, err := h.node.Wait(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return 0, err
			}
			continue // it went away meanwhile
		}
		for _, root := range res.Node.ShadowRoots {
			if root.ShadowRootType != proto.ShadowRootTypeClosed {
				continue
			}
			node, err := cdp.Call(ctx, w.session, dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: root.BackendNodeID, ExecutionContextID: w.context, ObjectGroup: shadowGroup})
			if err != nil {
				return 0, err
			}
			if err := w.call(ctx, "adopt", nil, h.host, object{node.Object.ObjectID}); err != nil {
				return 0, err
			}
		}
	}
	return len(hosts), nil
}

const shadowGroup = "pagehand-shadow"

// ready prepares a document for a reading: what scripts alone cannot see is shown to the library.
func (p *Page) ready(ctx context.Context, w *world) error {
	if err := p.nameFrames(ctx, w); err != nil {
		return err
	}
	_, err := p.adoptShadows(ctx, w, mostShadowHosts)
	return err
}

// Read gives the accessibility tree as text (contract §4).
func (p *Page) Read(ctx context.Context, o ReadOptions) (string, error) {
	args := map[string]any{"filter": o.Filter, "depth": o.Depth, "max": o.Max}
	if o.Ref == "" {
		return p.readFrame(ctx, p.main, "read", args, o.Max)
	}
	w, n, err := p.refWorld(o.Ref)
	if err != nil {
		return "", err
	}
	ctx, stop := p.unlessHeldBack(ctx)
	defer stop()
	args["ref"] = n
	text, err := p.readWorld(ctx, w, "read", args, o.Max)
	if navigated(err) {
		return "", staleRef(o.Ref)
	}
	return text, err
}

// Text gives the page's text, its main article first.
func (p *Page) Text(ctx context.Context, max int) (string, error) {
	return p.readFrame(ctx, p.main, "pageText", map[string]any{"max": max}, max)
}

// readFrame reads a frame's document, again when it was replaced meanwhile, so that a reading is always of one document.
func (p *Page) readFrame(ctx context.Context, id proto.FrameID, function string, args map[string]any, max int) (string, error) {
	var text string
	err := p.inFrame(ctx, id, func(w *world) error {
		var err error
		text, err = p.readWorld(ctx, w, function, args, max)
		return err
	})
	return text, err
}

// reading is what the library's read and pageText answer. Where a frame of another process shows, the text has a line with a marker.
type reading struct {
	Stale   bool   `json:"stale"`
	Unasked bool   `json:"unasked"` // there are elements that may have closed shadow trees
	Text    string `json:"text"`
	Note    string `json:"note"` // that something was left out
	Frames  []struct {
		Key      proto.FrameID `json:"key"`
		Viewport any           `json:"viewport"` // the part of the frame that shows
	} `json:"frames"`
}

func (p *Page) readWorld(ctx context.Context, w *world, function string, args map[string]any, max int) (string, error) {
	r, err := p.callReading(ctx, w, function, args)
	if err != nil {
		return "", err
	}
	if r.Stale {
		return "", staleRef(refName(args["ref"].(int)))
	}
	for _, f := range r.Frames {
		marker := "\x01frame:" + string(f.Key) + "\x01"
		inner, err := p.readInner(ctx, f.Key, function, args, f.Viewport)
		if err != nil {
			if ctx.Err() != nil {
				return "", err
			}
			inner = "(this frame could not be read)"
		}
		r.Text = splice(r.Text, marker, inner)
	}
	if r.Note != "" {
		r.Text += "\n" + r.Note
	}
	return cut(r.Text, max), nil
}

// callReading has the library read. A reading of the page says by itself when there may be closed shadow trees, which it
// finds out on its way; it is asked again once the library has them, and those inside them.
func (p *Page) callReading(ctx context.Context, w *world, function string, args map[string]any) (reading, error) {
	if function != "read" {
		var r reading
		if err := p.ready(ctx, w); err != nil {
			return r, err
		}
		return r, w.call(ctx, function, &r, args)
	}
	if err := p.nameFrames(ctx, w); err != nil {
		return reading{}, err
	}
	const rounds = 4
	left := mostShadowHosts
	args = maps.Clone(args)
	for round := 1; ; round++ {
		var r reading
		args["asked"] = left <= 0 || round == rounds
		if err := w.call(ctx, function, &r, args); err != nil || !r.Unasked {
			return r, err
		}
		asked, err := p.adoptShadows(ctx, w, left)
		if err != nil {
			return r, err
		}
		left -= asked
	}
}

func (p *Page) readInner(ctx context.Context, id proto.FrameID, function string, args map[string]any, viewport any) (string, error) {
	if reason, failed := p.frameFailure(id); failed {
		return "(this frame could not be loaded" + reason + ")", nil
	}
	inner := map[string]any{"nested": true, "viewport": viewport}
	for k, v := range args {
		if k != "ref" {
			inner[k] = v
		}
	}
	return p.readFrame(ctx, id, function, inner, 0)
}

// frameFailure tells whether a frame shows Chromium's error page, and why if that is known: ": the server refused the connection (…)".
func (p *Page) frameFailure(id proto.FrameID) (string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.frames[id]
	if f == nil || f.unreachable == "" {
		return "", false
	}
	if reason := p.load(f.loader).reason(); reason != "" {
		return ": " + reason, true
	}
	return "", true
}

// splice puts a frame's lines in place of its marker, indented like the marker. Of a frame that shows nothing no line is left.
func splice(text, marker, inner string) string {
	before, after, found := strings.Cut(text, marker)
	if !found {
		return text
	}
	start := strings.LastIndexByte(before, '\n') + 1
	indent := before[start:]
	if inner == "" && strings.TrimSpace(indent) == "" {
		return strings.TrimPrefix(strings.TrimSuffix(before[:start], "\n")+after, "\n")
	}
	return before + strings.ReplaceAll(inner, "\n", "\n"+indent) + after
}

// cut bounds a text at a line's end and says so within the bound. Most readings are cut by the library already; only texts that
// frames were spliced into can still be too long.
func cut(text string, most int) string {
	if most <= 0 || len(text) <= most {
		return text
	}
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	note := fmt.Sprintf("\n[Cut at %d characters. Narrow with ref or depth, or use find.]", most)
	kept := string(runes[:max(0, most-len(note))])
	if i := strings.LastIndexByte(kept, '\n'); i > 0 {
		kept = kept[:i]
	}
	return kept + note
}

// Match is an element that find found.
type Match struct {
	Line  string  `json:"line"`
	Score float64 `json:"score"`
}

// Find ranks the elements of all frames by how well they fit a description, the best first, at most limit.
func (p *Page) Find(ctx context.Context, query string, limit int) ([]Match, error) {
	var all []Match
	for _, id := range p.roots() {
		var found struct {
			Items []Match `json:"items"`
		}
		err := p.inFrame(ctx, id, func(w *world) error {
			if w.root != id {
				return nil // its parent's scripts can look into it, and have
			}
			if err := p.ready(ctx, w); err != nil {
				return err
			}
			return w.call(ctx, "find", &found, map[string]any{"query": query, "limit": limit})
		})
		if err != nil && (id == p.main || ctx.Err() != nil) {
			return nil, err
		}
		all = merge(all, found.Items, limit)
	}
	return all, nil
}

// merge keeps the best of two lists that are in order.
func merge(a, b []Match, limit int) []Match {
	var out []Match
	for len(out) < limit && len(a)+len(b) > 0 {
		if len(b) == 0 || len(a) > 0 && a[0].Score >= b[0].Score {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return out
}

// roots are the frames whose documents no other document's scripts can look into, the tab's own first.
func (p *Page) roots() []proto.FrameID {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := []proto.FrameID{p.main}
	for id, f := range p.frames {
		if parent := p.frames[f.parent]; id != p.main && parent != nil && f.closedTo(parent) {
			list = append(list, id)
		}
	}
	slices.SortFunc(list[1:], func(a, b proto.FrameID) int { return p.frames[a].order - p.frames[b].order })
	return list
}

// closedTo tells whether scripts of the parent's document may be unable to look into a frame: it is rendered by another process,
// or has another origin. (An empty document's origin says nothing; there the library finds out.)
func (f *frame) closedTo(parent *frame) bool {
	return f.session != parent.session || f.origin != parent.origin
}
