// Where an element can be pointed at, also through frames and shadow roots, and what keeps it from that.
//
//   locate({ref, forClick, scroll, watch})   a point of the element that takes the pointer, or why there is none
//   at({x, y, watch})                        what is at a point
//   throughFrame(frame, x, y, scroll)        a point of a frame of another process in this process's viewport
//   reveal({ref})                            scroll an element into view
//
// A point is in the viewport of the local root: the topmost frame of this process. Frames of the same process in
// between are crossed here, with their borders, scrolling, CSS zoom and transforms; those of other processes by
// throughFrame, called with the frame element in each parent in turn.

const hitInDocument = method(Document.prototype, 'elementFromPoint');
const hitInShadow = method(ShadowRoot.prototype, 'elementFromPoint');
const scrollIntoView = method(Element.prototype, 'scrollIntoView');
const scrollElement = method(Element.prototype, 'scrollBy');
const scrollingElementOf = accessor(Document.prototype, 'scrollingElement');
const zoomOf = accessor(Element.prototype, 'currentCSSZoom');
const innerTextOf = accessor(HTMLElement.prototype, 'innerText');
const isBoxShown = method(Element.prototype, 'checkVisibility');
const dispatchTo = method(EventTarget.prototype, 'dispatchEvent');
const animationsIn = { [DOCUMENT]: method(Document.prototype, 'getAnimations'), [FRAGMENT]: method(ShadowRoot.prototype, 'getAnimations') };

const isElement = (node) => typeOf(node) === ELEMENT;
const isLabel = (el) => tagOf(el) === 'label' && isHTML(el);

// PATIENCE bounds the wait for animations that move a target, in milliseconds.
const PATIENCE = 2000;

// flatChain yields an element and its ancestors as laid out, across slots, shadow hosts and frames of this process.
function* flatChain(node) {
  for (let at = node; at; at = flatParentOf(at)) if (isElement(at)) yield at;
}

// drawn resolves with the next frame that is drawn, or after 100 ms: a frame of another process draws nothing while its
// parent has it scrolled out of view.
const drawn = () => Promise.race([nextFrame(), new Promise((resolve) => setTimeout(resolve, 100))]);

// --- Frames -----------------------------------------------------------------------------------------------------------

// intoFrame maps a point of the viewport that shows a frame to the frame's own viewport. No DOM interface inverts all
// transforms above an element, but the engine does it for the offset of a pointer event. Its name is drawn by lot for each
// document, so that no page can listen for it.
const PROBE = crypto.getRandomValues(new Uint32Array(4)).join('-');

function intoFrame(el, x, y) {
  const event = new PointerEvent(PROBE, { view: viewOf(el), clientX: x, clientY: y });
  dispatchTo(el, event);
  const { paddingLeft, paddingTop } = styleOf(el);
  const zoom = zoomOf(el); // CSS zoom reaches into frames, yet the offset leaves it to us
  return [event.offsetX / zoom - parseFloat(paddingLeft), event.offsetY / zoom - parseFloat(paddingTop)];
}

// outOfFrame is its inverse, by Newton's method: one step for any affine transform, some more for a perspective.
// It returns null where the frame has no area.
function outOfFrame(el, x, y) {
  const box = boxOf(el);
  let px = box.x + box.width / 2;
  let py = box.y + box.height / 2;
  const step = 8;
  for (let i = 0; i < 12; i++) {
    const [ox, oy] = intoFrame(el, px, py);
    if (Math.hypot(ox - x, oy - y) < 0.02) return [px, py];
    const [ax, ay] = intoFrame(el, px + step, py);
    const [bx, by] = intoFrame(el, px, py + step);
    const det = (ax - ox) * (by - oy) - (bx - ox) * (ay - oy);
    if (!det) return null;
    px += step * ((x - ox) * (by - oy) - (y - oy) * (bx - ox)) / det;
    py += step * ((y - oy) * (ax - ox) - (x - ox) * (ay - oy)) / det;
  }
  return null;
}

// toRoot maps a point of a document's viewport to the local root's: [x, y], or null when it has no place there.
function toRoot(doc, x, y) {
  let point = [x, y];
  for (let el = frameElementOf(doc); el && point; el = frameElementOf(documentOf(el))) point = outOfFrame(el, ...point);
  return point;
}

function localRootOf(node) {
  let doc = documentOf(node);
  for (let el = frameElementOf(doc); el; el = frameElementOf(doc)) doc = documentOf(el);
  return doc;
}

// hitAt finds the innermost element at a point of root's viewport, through shadow roots and frames: {el, x, y}, where x
// and y are in the viewport of the element's own document. A frame of another process is an end.
function hitAt(root, x, y) {
  let el = hitInDocument(root, x, y);
  while (el) {
    const shadow = shadowOf(el);
    const inShadow = shadow && hitInShadow(shadow, x, y);
    if (inShadow && inShadow !== el && rootOf(inShadow) === shadow) {
      el = inShadow;
      continue;
    }
    const doc = frameDocOf(el);
    if (!doc) break;
    const [innerX, innerY] = intoFrame(el, x, y);
    const inFrame = hitInDocument(doc, innerX, innerY);
    if (!inFrame) break; // the frame's border or padding, or an empty document
    [el, x, y] = [inFrame, innerX, innerY];
  }
  return el ? { el, x, y } : null;
}

// --- Finding a point --------------------------------------------------------------------------------------------------

const CONTROLS = 'a[href],button,input,select,textarea,summary,[contenteditable=""],[contenteditable=true],' +
  '[role=button],[role=link],[role=checkbox],[role=switch],[role=menuitem],[role=tab]';

// hitCounts tells whether a click on hit is a click on el: hit lies in it, or in a label of it. The answer is 'own', or
// 'nested' when a control inside of el would take the click first, or null.
function hitCounts(hit, el) {
  let nested = false;
  for (const node of flatChain(hit)) {
    if (node === el) return nested ? 'nested' : 'own';
    if (!nested && isLabel(node) && labelControlOf(node) === el) return 'own';
    nested ||= matchesSelector(node, CONTROLS);
  }
  return null;
}

const overlap = (a, b) => {
  const [left, top] = [Math.max(a.left, b.left), Math.max(a.top, b.top)];
  const [right, bottom] = [Math.min(a.right, b.right), Math.min(a.bottom, b.bottom)];
  return { left, top, right, bottom };
};
const hasArea = (r) => r.right > r.left && r.bottom > r.top;

// piecesOf returns the boxes an element is painted in, one per line for a wrapped link. An element without a box of its
// own (display: contents, a link around a float) has those of its content.
function piecesOf(el) {
  if (tagOf(el) === 'area') return areaPieces(el);
  const own = boxesOf(el);
  if (own.length) return own;
  const inner = [];
  eachFlatChild(el, (child) => {
    if (isElement(child)) inner.push(...piecesOf(child));
    else if (typeOf(child) === TEXT) {
      const range = documentOf(el).createRange();
      range.selectNode(child);
      inner.push(...[...range.getClientRects()].filter(hasArea));
    }
    return inner.length > 16;
  });
  return inner;
}

// areaPieces is the bounding box of an image map's area, which has no layout of its own.
function areaPieces(area) {
  const map = closestOf(area, 'map');
  const name = map && attrOf(map, 'name');
  const image = name && [...queryAll(rootOf(area), 'img[usemap]')].find((img) => attrOf(img, 'usemap') === '#' + name);
  if (!image) return [];
  const box = boxOf(image);
  const shape = (attrOf(area, 'shape') ?? 'rect').toLowerCase();
  const at = (attrOf(area, 'coords') ?? '').split(',').map(Number);
  if (shape === 'default') return [box];
  if (at.length < 3 || at.some(Number.isNaN)) return [];
  let [xs, ys] = [at.filter((_, i) => i % 2 === 0), at.filter((_, i) => i % 2 === 1)];
  if (shape.startsWith('circ')) [xs, ys] = [[at[0] - at[2], at[0] + at[2]], [at[1] - at[2], at[1] + at[2]]];
  return [{
    left: box.left + Math.min(...xs), right: box.left + Math.max(...xs),
    top: box.top + Math.min(...ys), bottom: box.top + Math.max(...ys),
  }].filter(hasArea);
}

// shownPart is the part of a document's viewport that the scroll containers around el leave to it.
function shownPart(el) {
  const root = documentElementOf(documentOf(el));
  let part = { left: 0, top: 0, right: viewOf(el).innerWidth, bottom: viewOf(el).innerHeight };
  for (let at = flatParentOf(el); at && at !== root && typeOf(at) !== DOCUMENT; at = flatParentOf(at)) {
    if (!isElement(at) || at === bodyOf(documentOf(el))) continue;
    const { overflowX, overflowY, display } = styleOf(at);
    if (display === 'contents' || display === 'inline' || (overflowX === 'visible' && overflowY === 'visible')) continue;
    const clipped = overlap(part, boxOf(at));
    if (hasArea(clipped)) part = clipped; // else el escapes it, as an absolute or fixed box does
  }
  return part;
}

const GRID = [0.5, 0.25, 0.75, 0.1, 0.9, 0.03, 0.97];
const MAX_PIECES = 6;

// spotsOf yields points to try in the coordinates of el's document: the middle of each piece, then a grid on each.
function* spotsOf(el, pieces) {
  const part = shownPart(el);
  const shown = pieces.map((piece) => overlap(piece, part)).filter(hasArea).slice(0, MAX_PIECES);
  const spot = (r, fx, fy) => [r.left + (r.right - r.left) * fx, r.top + (r.bottom - r.top) * fy];
  for (const piece of shown) yield spot(piece, 0.5, 0.5);
  for (const piece of shown) for (const fy of GRID) for (const fx of GRID) yield spot(piece, fx, fy);
}

// pickPoint returns {point}, or {hidden}, {blocked} or {covered} with the reason. Where a field itself takes no click, as a
// checkbox that a page has hidden behind a drawing of its own, its label does.
function pickPoint(el) {
  const place = pickIn(el, piecesOf(el));
  if (place.point || place.blocked) return place;
  for (const label of labelsOf(el)) {
    const { point } = pickIn(el, piecesOf(label));
    if (point) return { point };
  }
  return place;
}

function pickIn(el, pieces) {
  if (!pieces.length) return { hidden: whyNotShown(el), placeless: true };
  const root = localRootOf(el);
  const doc = documentOf(el);
  let second = null, cover = null, outside = true;
  for (const [x, y] of spotsOf(el, pieces)) {
    const at = toRoot(doc, x, y);
    const hit = at && hitAt(root, ...at);
    if (!hit) continue;
    outside = false;
    const point = { x: at[0], y: at[1] };
    const counts = hitCounts(hit.el, el);
    if (counts === 'own') return { point };
    if (counts === 'nested') second ??= { point };
    else cover ??= hit.el;
  }
  if (second) return second;
  return { ...obstacle(el, cover), outside };
}

// hasBox tells whether an element is laid out. An image map's area and display: contents are so without a box of their own.
const hasBox = (el) => isBoxShown(el) || tagOf(el) === 'area' || styleOf(el).display === 'contents';

function whyNotShown(el) {
  if (tagOf(el) === 'option') return 'it is an option of a closed list, which form_input sets';
  for (const at of flatChain(el)) {
    const { display, visibility } = styleOf(at);
    if (display === 'none') return 'it is not displayed';
    if (at !== el && tagOf(at) === 'details' && !hasAttr(at, 'open')) return 'it is in a closed details element';
    if (at === el && visibility !== 'visible') return 'it is invisible';
  }
  return hasBox(el) ? 'it has no size' : 'it is in a part of the page that is not displayed';
}

// obstacle says why no point of el takes the pointer. cover is what is there instead, or null outside of the viewport.
function obstacle(el, cover) {
  const { visibility, pointerEvents } = styleOf(el);
  if (visibility !== 'visible') return { hidden: 'it is invisible' };
  if (!hasBox(el)) return { hidden: whyNotShown(el) };
  const ancestors = new Set(flatChain(el));
  const barred = barredBy(el, ancestors, cover);
  if (barred) return barred;
  if (!cover) return { hidden: 'it is outside of the viewport and cannot be scrolled into view' };
  if (pointerEvents === 'none') return { hidden: 'it ignores the pointer (pointer-events: none)' };
  if (ancestors.has(cover)) return { hidden: 'no part of it takes the pointer' };
  return { covered: { by: describeCover(coverOf(cover, ancestors)) } };
}

// barredBy says what makes el inert: {blocked} by a modal dialog, or {hidden}. With dialogs over dialogs, cover (what is
// painted at el) tells which one is on top; no interface tells their order.
function barredBy(el, ancestors, cover = null) {
  const covering = cover && new Set(flatChain(cover));
  for (const at of ancestors) {
    if (hasAttr(at, 'inert')) return { hidden: 'it is inert' };
  }
  for (let doc = documentOf(el); doc; doc = frameElementOf(doc) && documentOf(frameElementOf(doc))) {
    const modals = [...queryAll(doc, ':modal')];
    const inOne = modals.some((dialog) => ancestors.has(dialog));
    const above = modals.findLast((dialog) => !ancestors.has(dialog) && (!inOne || covering?.has(dialog)));
    if (above) return { blocked: describe(above) };
  }
  return null;
}

const LAYERS = new Set(['dialog', 'alertdialog', 'alert', 'status', 'menu', 'listbox', 'tooltip', 'banner', 'navigation']);

// coverOf chooses what to call a covering element: the layer it belongs to, else the nearest element with a name, else
// the outermost element that does not hold the target.
function coverOf(hit, ancestors) {
  let named = null, outer = hit;
  for (const at of flatChain(hit)) {
    if (ancestors.has(at)) break;
    if (LAYERS.has(roleOf(at))) return at;
    if (roleOf(at) && nameOf(at)) named ??= at;
    outer = at;
  }
  return named ?? outer;
}

// describeCover adds what tells nameless boxes apart: their id and, unless there is a lot in them, what they show.
function describeCover(el) {
  const plain = describe(el);
  if (plain.includes('"') || !isHTML(el) || el === bodyOf(documentOf(el)) || el === documentElementOf(documentOf(el)) || queryAll(el, '*').length > 100) return plain;
  const id = /^[\w-]{1,40}$/.exec(attrOf(el, 'id') ?? '');
  const text = clean(innerTextOf(el).slice(0, 200));
  const shown = text.length > 60 ? text.slice(0, 60).toWellFormed() + '…' : text;
  return `${clean(tagOf(el), 40)}${id ? '#' + id[0] : ''}${shown ? ' ' + quote(shown) : ''} [${refName(el)}]`;
}

// --- Animation --------------------------------------------------------------------------------------------------------

// What an animation may change without moving its element, beside the properties of a computed keyframe itself.
const STILL = new Set(['offset', 'computedOffset', 'easing', 'composite', 'opacity', 'color', 'backgroundColor', 'boxShadow',
  'textShadow', 'fill', 'stroke', 'outlineColor', 'textDecorationColor', 'caretColor', 'borderTopColor', 'borderRightColor',
  'borderBottomColor', 'borderLeftColor', 'filter', 'backdropFilter', 'backgroundPosition', 'backgroundPositionX', 'backgroundPositionY']);

// movingAnimations returns the animations that will end and until then move el. Endless ones are not worth a wait.
function movingAnimations(el) {
  const roots = new Set();
  for (let at = el; at; at = flatParentOf(at)) roots.add(rootOf(at));
  const animations = [...roots].flatMap((root) => animationsIn[typeOf(root)]?.(root) ?? []);
  if (!animations.length) return animations;
  const ancestors = new Set(flatChain(el));
  return animations.filter(({ playState, effect }) => {
    if (playState !== 'running' || !ancestors.has(effect?.target)) return false;
    if (effect.pseudoElement && !effect.pseudoElement.startsWith('::view-transition')) return false;
    if (!Number.isFinite(effect.getComputedTiming().endTime)) return false;
    return effect.getKeyframes().some((keyframe) => Object.keys(keyframe).some((property) => !STILL.has(property)));
  });
}

// atRest waits, within bounds, until the animations have ended and el has had the same box for two frames.
async function atRest(el, animations) {
  const until = performance.now() + PATIENCE;
  if (animations.length) {
    const bound = new Promise((resolve) => setTimeout(resolve, PATIENCE));
    await Promise.race([Promise.allSettled(animations.map((animation) => animation.finished)), bound]);
  }
  const box = () => {
    const { x, y, width, height } = boxOf(el);
    return [x, y, width, height].join();
  };
  for (let last = box(), now; isConnected(el) && performance.now() < until; last = now) {
    await drawn();
    if ((now = box()) === last) return;
  }
}

// --- Locating ---------------------------------------------------------------------------------------------------------

// locate answers {point, scrolled?, ariaDisabled?}, or one of {stale}, {detached}, {disabled}, {hidden}, {blocked},
// {covered: {by}}, whose strings say why. It waits only for animations of the element and after scrolling.
exported.locate = ({ ref, forClick = true, scroll = true, watch = false }) => {
  const el = elementFor(ref);
  if (!el) return { stale: true };
  const disabled = forClick && disabledBy(el);
  if (disabled) return { disabled };
  const animations = movingAnimations(el);
  if (animations.length) return atRest(el, animations).then(() => locateNow(el, scroll, watch));
  return locateNow(el, scroll, watch);
};

function locateNow(el, scroll, watch) {
  if (!isConnected(el)) return { detached: true };
  const place = pickPoint(el);
  if (place.point) return foundAt(el, place, watch);
  if (!scroll || place.placeless) return notFound(place);
  return scrollAndLocate(el, watch);
}

// scrollAndLocate tries the middle first: the edges may be under fixed bars. Handlers of the scroll may move things, so
// each try waits until the element rests.
async function scrollAndLocate(el, watch) {
  let first = null;
  for (const block of ['center', 'end', 'start']) {
    scrollIntoView(el, { block, inline: 'center', behavior: 'instant' });
    await atRest(el, []);
    if (!isConnected(el)) return { detached: true };
    const place = pickPoint(el);
    if (place.point) return foundAt(el, { ...place, scrolled: true }, watch);
    if (place.blocked || !first || first.outside) first = place;
    if (place.blocked) break;
  }
  return notFound(first);
}

function foundAt(el, place, watch) {
  if (watch) arm(el);
  for (const at of flatChain(el)) if (attrOf(at, 'aria-disabled') === 'true') return { ...place, ariaDisabled: true };
  return place;
}

const notFound = ({ outside, placeless, ...place }) => place;

// disabledBy says why an element does not react to clicks natively. aria-disabled is only reported: a person could click.
function disabledBy(el) {
  for (const at of flatChain(el)) {
    const control = isLabel(at) ? labelControlOf(at) : at;
    if (control && isDisabled(control) && tagOf(control) !== 'fieldset') { // a disabled group still takes clicks beside its fields
      if (control !== el) return control === at ? `it is part of a disabled ${roleOf(at) || tagOf(at)}` : 'the field it labels is disabled';
      return whyDisabled(el);
    }
    if (matchesSelector(at, CONTROLS)) return null;
  }
  return null;
}

// whyDisabled words why a disabled control is so.
const whyDisabled = (control) => (hasAttr(control, 'disabled') ? 'it has the disabled attribute' : 'its group is disabled');

// reveal answers {ok, moved, inView} or {stale}, {hidden}.
exported.reveal = async ({ ref }) => {
  const el = elementFor(ref);
  if (!el) return { stale: true };
  if (!piecesOf(el).length) return { hidden: whyNotShown(el) };
  const before = boxOf(el);
  scrollIntoView(el, { block: 'center', inline: 'nearest', behavior: 'instant' });
  await atRest(el, []);
  if (!isConnected(el)) return { detached: true };
  const after = boxOf(el);
  return { ok: true, moved: before.x !== after.x || before.y !== after.y, inView: hasArea(overlap(after, shownPart(el))) };
};

// throughFrame maps a point of the viewport of a frame of another process to the local root of the process that shows
// the frame: {point}, {covered: {by}}, {blocked} or {hidden}. With scroll it brings the point into view first.
exported.throughFrame = (el, x, y, scroll = true) => {
  const place = frameSpot(el, x, y);
  if (place.point || !scroll || place.blocked) return place;
  return revealInside(el, x, y).then(() => frameSpot(el, x, y));
};

function frameSpot(el, x, y) {
  const inParent = outOfFrame(el, x, y);
  const at = inParent && toRoot(documentOf(el), ...inParent);
  if (!at) return { hidden: 'its frame is not displayed' };
  const hit = hitAt(localRootOf(el), ...at);
  return hit?.el === el ? { point: { x: at[0], y: at[1] } } : obstacle(el, hit?.el ?? null);
}

// revealInside scrolls what is around a frame so that one point of it, which may be larger than the window, is in view.
// It ends two frames later, when the browser process has learned where the frame now is.
async function revealInside(el, x, y) {
  let point = outOfFrame(el, x, y);
  for (let at = flatParentOf(el), doc = documentOf(el); at && point; at = flatParentOf(at)) {
    if (!isElement(at)) continue;
    if (documentOf(at) !== doc) {
      point = outOfFrame(frameElementOf(doc), ...point);
      doc = documentOf(at);
    }
    if (!point || !scrollsAt(at)) continue;
    const { left, top, right, bottom } = portOf(at);
    const [dx, dy] = [point[0] - (left + right) / 2, point[1] - (top + bottom) / 2];
    if (point[0] >= left && point[0] < right && point[1] >= top && point[1] < bottom) continue;
    const [oldX, oldY] = [scrollLeftOf(at), scrollTopOf(at)];
    scrollElement(at, { left: dx, top: dy, behavior: 'instant' });
    point = [point[0] - (scrollLeftOf(at) - oldX), point[1] - (scrollTopOf(at) - oldY)];
  }
  await drawn();
  await drawn();
}

// at answers {describe, ref, frame?} for what is at a point, or null outside of the page. frame is the point
// in the viewport of a frame of another process, where the question goes on.
exported.at = ({ x, y, watch = false }) => {
  const hit = hitAt(document, x, y);
  const el = hit?.el ?? documentElementOf(document);
  if (watch && el) arm(el);
  if (!hit) return null;
  const active = [...flatChain(el)].find((at) => isActive(roleOf(at)));
  const empty = el === documentElementOf(documentOf(el)) || el === bodyOf(documentOf(el));
  const answer = empty ? {} : { describe: active ? describe(active) : describeCover(el), ref: refFor(active ?? el) };
  const frame = remoteFrameAt(hit);
  if (frame) answer.frame = frame;
  return answer;
};

// remoteFrameAt is the point of a hit in the viewport of a frame of another process, with a ref to the frame, or null.
function remoteFrameAt(hit) {
  if (!hit || !isFrame(hit.el) || frameDocOf(hit.el)) return null;
  const [x, y] = intoFrame(hit.el, hit.x, hit.y);
  return { ref: refFor(hit.el), x, y };
}
