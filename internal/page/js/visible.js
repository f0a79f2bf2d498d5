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

// isWithinReach: what el contains takes up room, and not before the beginning of its document, by whatever means it got there.
function isWithinReach(el) {
  const box = boxOf(el);
  if (box.width > 0 && box.height > 0 && box.left >= 0 && box.top >= 0) return true;
  // Its text need not be where the box is: a box without height is overflown, a margin can widen one to the left.
  const range = new Range();
  range.selectNodeContents(el);
  const content = range.getBoundingClientRect();
  return content.width > 0 && content.height > 0 && !isOutOfReach(content, false, el);
}

// isControlWithinReach is the same for what need not have text: only a box that was scaled to nothing is not there.
function isControlWithinReach(el) {
  const box = boxOf(el);
  if (box.width === 0 || box.height === 0) return !isHTML(el) || layoutWidthOf(el) === 0 || layoutHeightOf(el) === 0;
  return (box.left >= 0 && box.top >= 0) || !isOutOfReach(box, false, el);
}
const layoutWidthOf = accessor(HTMLElement.prototype, 'offsetWidth');
const layoutHeightOf = accessor(HTMLElement.prototype, 'offsetHeight');

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
  if (doubts.blended) {
    const fill = style.webkitTextFillColor;
    if (isTransparent(fill)) {
      if (style.webkitTextStrokeWidth === '0px' && style.textShadow === 'none' && !style.backgroundClip.includes('text')) return false;
    } else if (fill === colorUnder(el, style) && style.textShadow === 'none' && isPlainUnder(el) && !standsOnPicture(el)) return false;
  }
  if (doubts.tiny && parseFloat(style.fontSize) < 1) return false;
  return display === 'inline' || !(doubts.moved || doubts.hidden) || (style.contentVisibility !== 'hidden' && parseFloat(style.textIndent) > -500);
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
//   clipped  overflow, or a size of nothing      tiny   font sizes that may be under a pixel
//   blended  text that may be in the colour of what is behind it
//   moved    anything else that could put a box where it would not flow to, or scale it
//
// It is worked out anew for each call, since scripts change rules without a trace. Rules that cannot be read, animations,
// custom elements and the like leave everything in doubt, and so do shadow trees and foreign markup where
// the walk meets them.
const ALL_DOUBTS = { hidden: true, faded: true, shaped: true, pointed: true, clipped: true, tiny: true, blended: true, moved: true };
const RESTLESS = '[hidden], [dir], [popover], [bgcolor], [text], [link]';
const RESTLESS_TAGS = ['dialog', 'details', 'marquee', 'font'];
const MOST_RULES = 1000;
// What the browser itself paints behind text, and text in.
const OWN_BACKS = ['rgb(255, 255, 255)', 'rgb(239, 239, 239)', 'rgb(255, 255, 0)'];
const OWN_INKS = ['rgb(0, 0, 0)', 'rgb(0, 0, 238)', 'rgb(85, 26, 139)', 'rgb(255, 0, 0)', 'rgb(109, 109, 109)'];
// Properties that leave a box where it flows to and to be seen there.
const UNMOVING = new RegExp('^(?:display|gap|row-gap|column-gap|line-height|box-sizing|white-space.*|word-break|overflow-wrap|hyphens|'
  + 'text-(?:align|decoration.*|transform|wrap.*)|content|counter-.*|transition.*|border-.*|background-.*|padding-.*|outline-.*|list-style-.*|'
  + 'font-.*|grid-template-.*|appearance|accent-color|caret-color|user-select|resize)$');
// What else decides about the colour of text.
const COLORING = /fill|stroke|shadow|scheme|adjust|blend|^all$/;
const SIZES = /^(?:min-|max-)?(?:width|height|inline-size|block-size)$/;

const allDoubts = perTurn(() => new Map());

function doubtsOf(doc) {
  let doubts = allDoubts().get(doc);
  if (!doubts) {
    const rules = new RuleReader();
    const restless = animationsOf(doc).length > 0 || RESTLESS_TAGS.some((tag) => elementsNamed(doc, tag).length > 0)
      || findInDocument(doc, RESTLESS) !== null || elementsNamed(doc, 'meta').namedItem('color-scheme') !== null || customIn(doc).length > 0;
    doubts = restless || !rules.readStyled(doc) || !sheetsOf(doc).every((sheet) => rules.readSheet(sheet)) ? ALL_DOUBTS : rules.doubts();
    allDoubts().set(doc, doubts);
  }
  return doubts;
}

const animationsOf = method(Document.prototype, 'getAnimations');
const elementsNamed = method(Document.prototype, 'getElementsByTagName');

const inlineStyleOf = accessor(HTMLElement.prototype, 'style');

class RuleReader {
  constructor() {
    this.found = { hidden: false, faded: false, shaped: false, pointed: false, clipped: false, tiny: false, blended: false, moved: false };
    this.backs = new Set(OWN_BACKS);
    this.inks = OWN_INKS.slice();
    this.count = 0;
  }

  doubts() {
    return { ...this.found, blended: this.found.blended || this.inks.some((ink) => this.backs.has(ink)) };
  }

  // readSheet is false when a sheet cannot be judged.
  readSheet(sheet) {
    try {
      return this.readRules(sheet.cssRules);
    } catch {
      return false; // of another origin
    }
  }

  readRules(rules) {
    for (const rule of rules) {
      if (++this.count > MOST_RULES) return false;
      if (rule.styleSheet && !this.readSheet(rule.styleSheet)) return false;
      if (rule instanceof CSSFontFaceRule || rule instanceof CSSKeyframesRule) continue;
      if (rule.style) this.readStyle(rule.style);
      if (rule.cssRules && !this.readRules(rule.cssRules)) return false;
    }
    return true;
  }

  // readStyled reads the style attributes; those of foreign markup do not matter, since all is in doubt there.
  readStyled(doc) {
    for (const el of queryAll(doc, '[style]')) {
      if (++this.count > MOST_RULES) return false;
      if (isHTML(el)) this.readStyle(inlineStyleOf(el));
    }
    return true;
  }

  readStyle(style) {
    for (const name of style) this.readDeclaration(name, style.getPropertyValue(name));
  }

  readDeclaration(name, value) {
    const { found } = this;
    switch (name) {
      case 'visibility': case 'content-visibility': found.hidden = true; return;
      case 'opacity': found.faded = true; return;
      case 'clip-path': found.shaped = true; return;
      case 'cursor': found.pointed = true; return;
      case 'overflow': case 'overflow-x': case 'overflow-y': found.clipped = true; return;
      case 'font-size': found.tiny ||= !/^[1-9]\d*(?:\.\d+)?px$/.test(value); return;
      case 'color': case 'background-color': this.readColor(name, value); return;
      default:
    }
    if (SIZES.test(name)) found.clipped ||= !/^(?:auto|none|[2-9]|[1-9]\d)/.test(value);
    else if (name.startsWith('margin')) found.moved ||= !/^(?:\d|auto)/.test(value);
    else if (!name.startsWith('--') && !UNMOVING.test(name)) {
      found.moved = true;
      found.blended ||= COLORING.test(name);
    }
  }

  readColor(name, value) {
    if (!/^rgb\(\d+, \d+, \d+\)$/.test(value)) this.found.blended ||= name === 'color' || !/^(?:initial|transparent)$/.test(value);
    else if (name === 'color') this.inks.push(value);
    else this.backs.add(value);
  }
}
