// What trusted input reached, and what a wheel moved.
//
//   landed({until, count, frame})         what the input since locate or at with watch: true reached
//   scrollState({x, y}), scrolled({dx, dy})   what a wheel at a point moved

const WATCHED = ['pointerdown', 'pointerup', 'pointermove', 'mousedown', 'mousemove', 'click', 'auxclick', 'dblclick',
  'contextmenu', 'dragstart', 'drop', 'keydown', 'keyup', 'input', 'wheel'];
const attributeNamesOf = method(Element.prototype, 'getAttributeNames');
const listenTo = method(EventTarget.prototype, 'addEventListener');
// The element that the next input is meant for, and what has been seen since: null until armed.
let watched = null;

// arm starts to note what trusted input reaches. Listeners of an isolated world are invisible to the page. They stay until the page
// writes its document anew, and are added each time: the same listener is there once only. Only an earlier listener of the page on the
// window itself can keep an event from them.
function arm(el) {
  watched?.observer.disconnect();
  const now = { el, counts: {}, last: {}, saves: [], refused: [], mutated: false, observer: null };
  now.observer = new MutationObserver(() => {
    now.mutated = true;
    now.observer.disconnect();
  });
  watched = now;
  for (let at = el; at; at = frameElementOf(documentOf(at))) {
    const view = viewOf(at);
    for (const type of WATCHED) listenTo(view, type, noteEvent, { capture: true, passive: true });
    for (let root = rootOf(at); root; root = typeOf(root) === FRAGMENT ? rootOf(hostOf(root)) : null) {
      now.observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
    }
  }
}

function noteEvent(event) {
  if (!watched) return;
  if (event.type === 'click' && watched.saves.length + watched.refused.length < 20) { // also one that a script made
    const path = event.composedPath().slice(0, -1); // the last is the window, which is no node
    if (path.some(isDownloadLink)) watched.saves.push(event);
    else if (path.some(isDataLink)) watched.refused.push(event);
  }
  if (!event.isTrusted) return;
  const { counts, last, el } = watched;
  const target = event.composedPath()[0];
  // Whether the target is in el is settled now: the page may remove it before anyone asks. A click on a label is followed
  // by one on its field, so one of them suffices.
  const inside = isElement(target) && reaches(target, el);
  last[event.type] = { event, target, in: inside || (event.type === 'click' && Boolean(last.click?.in)) };
  counts[event.type] = (counts[event.type] ?? 0) + 1;
}

// isDownloadLink tells a link whose click starts a download and no navigation. Of that, Chromium tells nothing until it has begun.
function isDownloadLink(node) {
  if (!isElement(node) || !matchesSelector(node, 'a[download][href], area[download][href]') || !isHTML(node)) return false;
  const href = anchorHrefOf[tagOf(node)](node);
  return /^(?:blob|data):/.test(href) || href.startsWith(viewOf(node).origin + '/');
}

// isDataLink tells a link that asks for a data: address in the tab's own document, which Chromium refuses without a word.
function isDataLink(node) {
  if (!isElement(node) || !matchesSelector(node, 'a[href]:not([download]), area[href]:not([download])') || !isHTML(node)) return false;
  const view = viewOf(node);
  return view.parent === view && /^(?:_self)?$/i.test(attrOf(node, 'target') ?? '') && anchorHrefOf[tagOf(node)](node).startsWith('data:');
}

// reaches also holds when el is in a closed shadow root of target, whose events are told as the host's.
function reaches(target, el) {
  if (hitCounts(target, el)) return true;
  for (let root = rootOf(el); typeOf(root) === FRAGMENT; root = rootOf(hostOf(root))) if (hostOf(root) === target) return true;
  return false;
}

// landed reports on the input since the last arm: {armed: false} in a document that replaced it, else
//   reached    true or false: the pointer was pressed (or only moved) on the element; null when no such event came
//   unseen     no event of the pointer has come, yet, and none can have gone to a frame in the element
//   on         what it reached instead
//   clicked    whether a click, auxclick, contextmenu or dblclick reached the element
//   prevented  the page cancelled the default action of one of these, or of the press, wheel or key
//   download   a click on a link that starts a download was let through
//   refused    a click on a link to a data: address, which does not open, was let through
//   mutated    the document changed
//   gone       the element is no longer in the document
// until names the last event of the input; landed waits for it, some frames at most, so that Go may send it together
// with the input. If the document has changed, the page listens on the way to the element as far as is known, or frame is
// set, it waits for one frame more: what the page draws then is what it did because of the input.
exported.landed = async ({ until = 'pointerup', count = 1, frame: settle = false } = {}) => {
  const now = watched;
  if (!now) return { armed: false };
  for (let i = 0; i < 3 && (now.counts[until] ?? 0) < count; i++) await drawn();
  now.mutated ||= now.observer.takeRecords().length > 0;
  const prevented = ['pointerdown', 'mousedown', 'click', 'auxclick', 'contextmenu', 'dragstart', 'keydown', 'wheel']
    .some((type) => now.last[type]?.event.defaultPrevented);
  if (now.mutated || settle || prevented || isListenedTo(now.el)) await drawn();
  now.observer.disconnect();
  const report = reportOn(now, prevented);
  if (watched === now && !report.unseen) watched = null; // else Go asks again
  return report;
};

// isListenedTo tells whether an element or one around it has handlers: by attribute, or as the last reading found them.
function isListenedTo(el) {
  for (let at = el; at; at = flatParentOf(at)) {
    if (listening.has(at) || (isElement(at) && attributeNamesOf(at).some((name) => name.startsWith('on')))) return true;
  }
  return false;
}

function reportOn({ el, last, saves, refused, mutated }, prevented) {
  const press = last.pointerdown ?? last.mousedown ?? last.pointermove ?? last.mousemove ?? null;
  const clicks = [last.click, last.auxclick, last.contextmenu, last.dblclick].filter(Boolean);
  const answer = { armed: true, reached: press && press.in, clicked: clicks.some((click) => click.in), prevented, mutated };
  answer.download = saves.some((event) => !event.defaultPrevented);
  answer.refused = refused.some((event) => !event.defaultPrevented);
  if (press && !press.in) answer.on = isElement(press.target) ? describeCover(coverOf(press.target, new Set(flatChain(el)))) : 'the document';
  if (!press && !isFrame(el) && !queryAll(el, 'iframe, frame, object, embed').length) answer.unseen = true;
  if (!isConnected(el)) answer.gone = true;
  return answer;
}

// --- Scrolling --------------------------------------------------------------------------------------------------------

// scrollsAt tells whether an element is a scroll container with something to scroll, or its document's scroller.
function scrollsAt(el) {
  if (scrollHeightOf(el) <= clientHeightOf(el) && scrollWidthOf(el) <= clientWidthOf(el)) return false;
  if (el === scrollingElementOf(documentOf(el))) return !/hidden|clip/.test(styleOf(el).overflow);
  const { overflowX, overflowY } = styleOf(el);
  return /auto|scroll|hidden/.test(overflowX + overflowY);
}

// portOf is the part of its document's viewport in which a scroll container shows its content.
function portOf(el) {
  const doc = documentOf(el);
  if (el !== scrollingElementOf(doc)) return boxOf(el);
  return { left: 0, top: 0, right: viewOf(el).innerWidth, bottom: viewOf(el).innerHeight };
}

const offsetsOf = (el) => ({
  left: scrollLeftOf(el), top: scrollTopOf(el),
  maxLeft: scrollWidthOf(el) - clientWidthOf(el), maxTop: scrollHeightOf(el) - clientHeightOf(el),
});
let scrollers = [];

// scrollState remembers the offsets of everything that a wheel at a point may scroll. It answers how many there are and,
// when a frame of another process is there, the point in that frame's viewport, where the wheel will go.
exported.scrollState = ({ x, y }) => {
  const hit = hitAt(document, x, y);
  scrollers = hit ? [...flatChain(hit.el)].filter(scrollsAt).map((el) => ({ el, before: offsetsOf(el) })) : [];
  if (hit) arm(hit.el);
  return { scrollers: scrollers.length, frame: remoteFrameAt(hit) };
};

// scrolled waits until a wheel by so many CSS pixels has come and its movement has ended, then answers {moved: [{describe, page, dx,
// dy, left, top, maxLeft, maxTop}], scrollers: […], prevented}: what moved, by how many CSS pixels and to where; and where those
// under the point stand that did not move.
exported.scrolled = async ({ dx, dy }) => {
  const { prevented } = await exported.landed({ until: 'wheel', frame: true });
  // The movement is over when something has gone as far as it can. Where nothing does (a page that snaps, or that moves something
  // else itself) it is over after a while without any: a busy machine may pause in between.
  const whole = scrollers.some(({ before }) => wayTo(before, dx, dy) > 0);
  const position = () => scrollers.map(({ el }) => `${scrollLeftOf(el)},${scrollTopOf(el)}`).join();
  const until = performance.now() + PATIENCE;
  for (let last = position(), since = performance.now(); whole && !prevented && !scrollers.some((one) => arrived(one, dx, dy));) {
    await drawn();
    const now = position();
    if (now !== last) since = performance.now();
    else if (performance.now() - since > SCROLL_REST || performance.now() > until) break;
    last = now;
  }
  const all = scrollers.filter(({ el }) => isConnected(el)).map(({ el, before }) => {
    const after = offsetsOf(el);
    const page = el === scrollingElementOf(documentOf(el)) && !frameElementOf(documentOf(el));
    return { describe: page ? 'the page' : describeCover(el), page, dx: after.left - before.left, dy: after.top - before.top, ...after };
  });
  const moves = ({ dx, dy }) => dx !== 0 || dy !== 0;
  scrollers = [];
  return { moved: all.filter(moves), scrollers: all.filter((one) => !moves(one)), prevented: Boolean(prevented) };
};

// SCROLL_REST is how long nothing moves after a scroll that is over, in milliseconds.
const SCROLL_REST = 300;

// wayTo is how far a scroller at an offset can follow a wheel.
function wayTo({ left, top, maxLeft, maxTop }, dx, dy) {
  const room = (at, max, by) => (by < 0 ? Math.min(at, -by) : Math.min(max - at, by));
  return Math.max(room(left, maxLeft, dx), room(top, maxTop, dy));
}

function arrived({ el, before }, dx, dy) {
  const gone = Math.max(Math.abs(scrollLeftOf(el) - before.left), Math.abs(scrollTopOf(el) - before.top));
  const way = wayTo(before, dx, dy);
  return way > 0 && gone >= way - 1;
}
