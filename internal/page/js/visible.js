// What a person could see, judged at the time of reading (security.md §6: not painted is not read).
//
//   isRendered(el)         painted, now or after scrolling      isTextShown(el)   are the text nodes of el painted
//   lookUnder(el, above)   the same for a walk that comes from the root: 0 = nothing of this subtree can be seen,
//                          > 0 = painted, the product of opacities down to here, < 0 = itself not painted, but a
//                          descendant may be (visibility:visible inside hidden)
//   styleOf(el)            computed style                       boxOf(el)         border box, in its viewport
//   boxesOf(el)            non-empty fragments, in its viewport

const computedStyle = globalThis.getComputedStyle;
const styleOf = (el, pseudo) => computedStyle(el, pseudo);
const boundingBox = Element.prototype.getBoundingClientRect;
const boxOf = (el) => boundingBox.call(el);
const clientRectsOf = method(Element.prototype, 'getClientRects');
const checkVisibility = Element.prototype.checkVisibility;
const PAINTED = { visibilityProperty: true };
// Below this product of opacities text cannot be read.
const FAINT = 0.05;

const boxesOf = (el) => Array.from(clientRectsOf(el)).filter((box) => box.width > 0 && box.height > 0);
const isPainted = (el) => checkVisibility.call(el, PAINTED);

const looks = perTurn(() => new Map());

function lookOf(el) {
  const known = looks().get(el);
  if (known !== undefined) return known;
  const parent = flatParentOf(el);
  let look = 0;
  if (parent) {
    const type = typeOf(parent);
    if (type === ELEMENT) look = lookUnder(el, Math.abs(lookOf(parent)));
    else if (type === DOCUMENT) {
      const frame = frameElementOf(parent);
      const above = frame ? lookOf(frame) : 1;
      look = above > 0 ? lookUnder(el, above) : 0;
    }
  }
  looks().set(el, look);
  return look;
}

const isRendered = (el) => lookOf(el) > 0;

// A walk passes on what it has read of the style already, and what the document makes worth asking (see doubtsOf): each
// property asked for costs as much as a step in the tree.
function lookUnder(el, above, style = computedStyle(el), display = style.display, position = style.position, overflow = style.overflow, doubts = ALL_DOUBTS) {
  if (!above) return 0;
  if (display === 'none') return 0;
  if ((doubts.hidden || display === 'contents') && !isPainted(el)) return lookOfUnpainted(el, above, style, display);
  let look = above;
  if (doubts.faded) {
    const opacity = style.opacity;
    if (opacity !== '1') {
      look *= Number(opacity);
      if (look < FAINT) return 0;
    }
  }
  if (doubts.shaped) {
    const shape = style.clipPath;
    if (shape !== 'none' && isEmptyShape(shape)) return 0;
  }
  const afloat = position === 'absolute' || position === 'fixed';
  if (!afloat && overflow === 'visible') return look;
  if (afloat && style.clip !== 'auto' && isEmptyClip(style.clip)) return 0;
  const box = boxOf(el);
  // A root element's overflow belongs to the viewport, whatever the size of its own box.
  if (overflow !== 'visible' && (box.width <= 1 || box.height <= 1) && !isRootBox(el)) return 0;
  if (afloat && box.width && box.height && isOutOfReach(box, position === 'fixed', el)) return 0;
  return look;
}

function lookOfUnpainted(el, above, style, display) {
  if (display === 'contents') {
    const parent = flatParentOf(el);
    if (parent && typeOf(parent) === ELEMENT && computedStyle(parent).contentVisibility === 'hidden') return 0;
    return style.visibility === 'visible' ? above : -above;
  }
  if (style.visibility === 'visible' || style.opacity === '0') return 0;
  // Not visible itself, but not taken out either: a descendant can turn visibility back on.
  return checkVisibility.call(el) ? -above * Number(style.opacity) : 0;
}

function isRootBox(el) {
  const tag = tagOf(el);
  return tag === 'html' || tag === 'body';
}

// isOutOfReach: scrolling starts at the beginning of a document and does not move fixed boxes. Inside a scroller the
// question is the scroller's, so it is asked only of boxes that lie off the start of the document.
function isOutOfReach(box, fixed, el) {
  const view = viewOf(el);
  if (fixed) return box.right <= 0 || box.bottom <= 0 || box.left >= view.innerWidth || box.top >= view.innerHeight;
  const right = box.right + view.scrollX, bottom = box.bottom + view.scrollY;
  if (right > 0 && bottom > 0) return false;
  const root = documentElementOf(documentOf(el));
  // A right-to-left document scrolls to the left of its origin.
  if (bottom > 0 && computedStyle(root).direction === 'rtl' && right > clientWidthOf(root) - scrollWidthOf(root)) return false;
  return !isScrolledAway(el, right <= 0, bottom <= 0);
}

// isWithinReach: el takes up room, and not before the beginning of its document, by whatever means it got there.
function isWithinReach(el) {
  const box = boxOf(el);
  if (box.width === 0 || box.height === 0) return !isCollapsed(el);
  return box.left >= 0 && box.top >= 0 ? true : !isOutOfReach(box, false, el);
}

// isCollapsed tells text scaled to nothing from a box without height that its text overflows.
function isCollapsed(el) {
  const range = new Range();
  range.selectNodeContents(el);
  const box = range.getBoundingClientRect();
  return box.width === 0 || box.height === 0;
}

function isScrolledAway(el, left, up) {
  for (let at = flatParentOf(el); at && typeOf(at) !== DOCUMENT; at = flatParentOf(at)) {
    if (typeOf(at) === ELEMENT && ((left && scrollLeftOf(at) !== 0) || (up && scrollTopOf(at) !== 0)) && !isRootBox(at)) return true;
  }
  return false;
}

// isEmptyClip reads rect(top, right, bottom, left) with lengths in px or auto.
function isEmptyClip(clip) {
  const sides = clip.match(/-?[\d.]+px|auto/g);
  if (!sides || sides.length < 4 || sides.includes('auto')) return false;
  const [top, right, bottom, left] = sides.map(parseFloat);
  return bottom - top <= 1 || right - left <= 1;
}

// isEmptyShape knows the shapes that pages hide with: inset from both sides, a circle or ellipse without radius, a
// polygon without area.
function isEmptyShape(shape) {
  const body = shape.slice(shape.indexOf('(') + 1);
  if (shape.startsWith('inset(')) {
    const sides = body.split(/ round |\)/)[0].trim().split(/\s+/).map((side) => (side.endsWith('%') ? parseFloat(side) : 0));
    const [top, right = top, bottom = top, left = right] = sides;
    return top + bottom >= 100 || left + right >= 100;
  }
  if (shape.startsWith('circle(') || shape.startsWith('ellipse(')) return /^0(px|%)?[\s)]/.test(body);
  if (!shape.startsWith('polygon(')) return false;
  const points = body.replace(/^(nonzero|evenodd),/, '').split(',').map((point) => point.match(/-?[\d.]+/g)?.map(Number) ?? [0, 0]);
  const [x0, y0] = points[0];
  return points.every(([x]) => x === x0) || points.every(([, y]) => y === y0);
}

const clientWidthOf = accessor(Element.prototype, 'clientWidth');
const clientHeightOf = accessor(Element.prototype, 'clientHeight');
const scrollWidthOf = accessor(Element.prototype, 'scrollWidth');
const scrollHeightOf = accessor(Element.prototype, 'scrollHeight');
const scrollTopOf = accessor(Element.prototype, 'scrollTop');
const scrollLeftOf = accessor(Element.prototype, 'scrollLeft');

// isTextShown tells whether text directly inside el is painted. The element itself is already known to be.
function isTextShown(el, style = computedStyle(el), display = style.display, doubts = ALL_DOUBTS) {
  const fill = style.webkitTextFillColor;
  if (isTransparent(fill)) {
    if (style.webkitTextStrokeWidth === '0px' && style.textShadow === 'none' && !style.backgroundClip.includes('text')) return false;
  } else if ((doubts.backs === null || doubts.backs.has(fill)) && fill === colorUnder(el, style) && style.textShadow === 'none' && isPlainUnder(el) && !standsOnPicture(el)) return false;
  if (doubts.tiny && parseFloat(style.fontSize) < 1) return false;
  return display === 'inline' || !doubts.moved || (style.contentVisibility !== 'hidden' && parseFloat(style.textIndent) > -500);
}

const isTransparent = (color) => color.endsWith(' 0)') && (color.startsWith('rgba(') || color.endsWith('/ 0)'));

const colorsUnder = perTurn(() => new Map());

// colorUnder is the background colour that el's text stands on: its own, or that of the nearest ancestor that has one.
function colorUnder(el, style = computedStyle(el)) {
  const own = style.backgroundColor;
  if (!isTransparent(own)) return own;
  const parent = flatParentOf(el);
  if (!parent || typeOf(parent) !== ELEMENT) return style.colorScheme.startsWith('dark') ? '' : 'rgb(255, 255, 255)';
  let color = colorsUnder().get(parent);
  if (color === undefined) {
    color = colorUnder(parent);
    colorsUnder().set(parent, color);
  }
  return color;
}

// isPlainUnder: no picture and no half-transparent layer between el and that colour.
function isPlainUnder(el) {
  for (let at = el; at && typeOf(at) === ELEMENT; at = flatParentOf(at)) {
    const style = computedStyle(at);
    if (style.backgroundImage !== 'none') return false;
    if (!isTransparent(style.backgroundColor)) return style.backgroundColor.startsWith('rgb(');
  }
  return true;
}

// standsOnPicture is asked only about text in the colour of its background: such text is readable when something that
// is not an ancestor is painted behind it.
function standsOnPicture(el) {
  const box = boxOf(el);
  const overlaps = (other) => {
    const b = boxOf(other);
    return b.left < box.right && b.right > box.left && b.top < box.bottom && b.bottom > box.top;
  };
  const x = box.left + box.width / 2, y = box.top + box.height / 2;
  for (const under of elementsAt(documentOf(el), x, y)) {
    if (under === el || containsNode(under, el) || containsNode(el, under)) continue;
    const style = computedStyle(under);
    if (style.backgroundImage !== 'none' || !isTransparent(style.backgroundColor)) return true;
  }
  for (const picture of queryAll(rootOf(el), 'img, video, canvas, svg, picture')) if (overlaps(picture)) return true;
  return false;
}

const elementsAt = method(Document.prototype, 'elementsFromPoint');

// What a document makes worth asking of its elements. Most of them hide nothing by most means, and the style rules say so
// at once, where asking each element takes a microsecond for each property:
//
//   hidden   visibility, content-visibility      faded  opacity      shaped  clip-path      pointed  cursor
//   clipped  overflow                            tiny   font sizes that may be under a pixel
//   moved    anything else that could put a box where it would not flow to, or scale it
//   backs    colours of backgrounds, null when not all are known: text of another colour can be seen
//
// It is worked out anew for each call, since scripts change rules without a trace. Rules that cannot be read, animations,
// and shadow trees and foreign markup (by the walk) leave everything in doubt.
const ALL_DOUBTS = { hidden: true, faded: true, shaped: true, pointed: true, clipped: true, tiny: true, moved: true, backs: null };
const DOUBT_OF = {
  visibility: 'hidden', 'content-visibility': 'hidden', opacity: 'faded', 'clip-path': 'shaped', cursor: 'pointed', overflow: 'clipped',
  'overflow-x': 'clipped', 'overflow-y': 'clipped', 'font-size': 'tiny',
};
// Properties that leave a box in its place. Their values are free; margins and font sizes are looked at.
const UNMOVING = /^(?:display|color|gap|row-gap|column-gap|(?:min-|max-)?(?:width|height)|line-height|box-sizing|white-space.*|text-(?:align|decoration.*|transform|wrap.*)|border-.*|background-.*|padding-.*|outline-.*|list-style-.*|font-.*|grid-template-.*|border|appearance|accent-color|user-select|resize)$/;
// Elements whose own style, not the document's, does one of these.
const RESTLESS = 'dialog, [popover], [hidden], [dir], [style], [bgcolor], [text], marquee, details, meta[name=color-scheme]';
const MOST_RULES = 1000;
// What the browser itself paints behind text: the page, buttons, marks.
const BACKS = ['rgb(255, 255, 255)', 'rgb(239, 239, 239)', 'rgb(255, 255, 0)'];

const allDoubts = perTurn(() => new Map());

function doubtsOf(doc) {
  let doubts = allDoubts().get(doc);
  if (!doubts) {
    doubts = { hidden: false, faded: false, shaped: false, pointed: false, clipped: false, tiny: false, moved: false, backs: new Set(BACKS), rules: 0 };
    if (animationsOf(doc).length || queryAll(doc, RESTLESS).length || !sheetsOf(doc).every((sheet) => doubtSheet(doubts, sheet))) doubts = ALL_DOUBTS;
    allDoubts().set(doc, doubts);
  }
  return doubts;
}

const animationsOf = method(Document.prototype, 'getAnimations');

// doubtSheet notes what the rules of a sheet make worth asking, false when that cannot be told.
function doubtSheet(doubts, sheet) {
  try {
    return doubtRules(doubts, sheet.cssRules);
  } catch {
    return false; // of another origin
  }
}

function doubtRules(doubts, rules) {
  for (const rule of rules) {
    if (++doubts.rules > MOST_RULES) return false;
    if (rule.styleSheet && !doubtSheet(doubts, rule.styleSheet)) return false;
    if (rule.style && !(rule instanceof CSSFontFaceRule)) for (const name of rule.style) doubt(doubts, name, rule.style);
    if (rule.cssRules && !(rule instanceof CSSKeyframesRule) && !doubtRules(doubts, rule.cssRules)) return false;
  }
  return true;
}

function doubt(doubts, name, style) {
  if (name === 'font-size') doubts.tiny ||= !/^[1-9]\d*(?:\.\d+)?px$/.test(style.fontSize);
  else if (name === 'background-color') noteBack(doubts, style.backgroundColor);
  else if (name === 'color-scheme') doubts.backs = null;
  else if (DOUBT_OF[name]) doubts[DOUBT_OF[name]] = true;
  else if (name.startsWith('margin')) doubts.moved ||= !/^(?:\d|auto)/.test(style.getPropertyValue(name));
  else if (!UNMOVING.test(name)) doubts.moved = true;
}

function noteBack(doubts, color) {
  if (/^rgba?\(\d+, \d+, \d+/.test(color)) doubts.backs?.add(color);
  else if (color !== 'transparent' && color !== 'initial') doubts.backs = null;
}
