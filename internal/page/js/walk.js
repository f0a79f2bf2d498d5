// The walk over the flat tree that read_page makes: which elements are painted, which touch the viewport, and the runs of
// text between them. Walk decides what is seen; its subclass in read.js decides what is printed for it, in print().
//
// A context says what holds where the walk is: level (of lines), clip, floatClip and fixedClip (the part of the viewport
// in which flowing, absolute and fixed boxes show; null = no viewport), look (product of opacities), pointer (a pointing
// hand is inherited), quiet (only what can be operated is printed), veiled (text here is not painted), inert, inertTold
// (an outer line says so already), crossing (the element sticks out of its clip).

const MAX_TEXT = 20000;
// A document nested deeper than this was made to break readers; the parser itself stops at 512.
const MAX_NESTING = 700;
// Never shown, and neither is what is in them.
const UNREAD_TAGS = new Set(['script', 'style', 'template', 'noscript', 'head', 'meta', 'link', 'title', 'source', 'track', 'param', 'datalist', 'col', 'colgroup']);
// Attributes that change what an element is.
const SPECIAL = '[role], [tabindex], [onclick], [contenteditable], [aria-label], [inert]';
// Something other than white space.
const BLACK = /\S/;

const meet = (a, b) => ({ x0: Math.max(a.x0, b.x0), y0: Math.max(a.y0, b.y0), x1: Math.min(a.x1, b.x1), y1: Math.min(a.y1, b.y1) });
const touches = (clip, box) => box.right > clip.x0 && box.left < clip.x1 && box.bottom > clip.y0 && box.top < clip.y1;
const inside = (clip, box) => box.left >= clip.x0 && box.right <= clip.x1 && box.top >= clip.y0 && box.bottom <= clip.y1;
const firstElementChildOf = accessor(Element.prototype, 'firstElementChild');

class Walk extends Lines {
  constructor(max, depth) {
    super(max);
    this.depth = depth;
    this.visited = 0;
    this.nesting = 0;
    this.tooDeep = false;
    this.run = '';
    this.runLevel = 0;
    // While the text of an element is being caught, it goes here and not into lines.
    this.caught = null;
    // The modal element of the document being walked: all else is inert.
    this.top = null;
    this.range = null;
    // The last element whose text was found to be within reach.
    this.reached = null;
  }

  visit(el, context) {
    if (this.full) return;
    const tag = tagOf(el);
    if (UNREAD_TAGS.has(tag)) return;
    this.visited++;
    const style = computedStyle(el);
    const display = style.display;
    // An inline box flows with its line and clips nothing; one that floats is not inline any more.
    const inline = display === 'inline';
    const position = inline ? 'static' : style.position, overflow = inline ? 'visible' : style.overflow;
    const look = lookUnder(el, context.look, style, position, overflow);
    if (look === 0) {
      this.visitHiddenControl(el, tag, context);
      return;
    }
    // One question to the engine spares most elements a dozen about their attributes.
    const special = matchesSelector(el, SPECIAL);
    const inner = this.enter(el, tag, style, display, position, overflow, look, special, context);
    if (!inner) return;
    if (this.nesting >= MAX_NESTING) {
      this.tooDeep = true;
      return;
    }
    this.nesting++;
    this.print(el, tag, style, display, overflow, special, inner, context);
    this.nesting--;
  }

  // enter works out what holds inside el, null when el is out of view (and then has looked for what escapes from it).
  enter(el, tag, style, display, position, overflow, look, special, context) {
    let { clip, floatClip } = context;
    let crossing = false;
    if (clip) {
      if (position === 'fixed') clip = context.fixedClip;
      else if (position === 'absolute') clip = floatClip;
      if (display !== 'contents' && tag !== 'html') {
        const box = boxOf(el);
        if (!touches(clip, box)) {
          this.visitOutside(el, style, overflow, box, { ...context, clip, look: Math.abs(look) });
          return null;
        }
        if (overflow !== 'visible' && tag !== 'body') clip = meet(clip, { x0: box.left, y0: box.top, x1: box.right, y1: box.bottom });
        if (position !== 'static' || style.transform !== 'none') floatClip = clip;
        crossing = !inside(clip, box);
      }
    }
    const pointer = style.cursor === 'pointer';
    const inert = el === this.top ? false : context.inert || (special && hasAttr(el, 'inert')) || (this.top !== null && tag === 'body');
    const veiled = look < 0;
    const whole = veiled ? -look : look;
    if (pointer === context.pointer && whole === context.look && clip === context.clip && floatClip === context.floatClip && veiled === context.veiled
      && inert === context.inert && crossing === context.crossing) return context;
    return { ...context, clip, floatClip, look: whole, pointer, veiled, inert, crossing };
  }

  // visitOutside is for an element that the view does not touch. What is in it can still reach the view: by overflowing
  // (looked at when it is near, or when its content is larger than its box) or by being positioned (always looked for).
  visitOutside(el, style, overflow, box, context) {
    const { clip } = context;
    if (!firstElementChildOf(el) && !shadowOf(el)) return;
    const width = clip.x1 - clip.x0, height = clip.y1 - clip.y0;
    const near = box.bottom > clip.y0 - height && box.top < clip.y1 + height && box.right > clip.x0 - width && box.left < clip.x1 + width;
    if (overflow === 'visible' && (near || scrollHeightOf(el) > clientHeightOf(el) + 1 || scrollWidthOf(el) > clientWidthOf(el) + 1)) {
      this.visitChildren(el, { ...context, veiled: true, pointer: style.cursor === 'pointer' }, style);
    } else this.hunt(el, context);
  }

  // hunt looks through everything below node for positioned elements, which may be anywhere.
  hunt(node, context) {
    let done = null;
    for (const el of queryAll(node, '*')) {
      if (this.full) return;
      if (done !== null && containsNode(done, el)) continue;
      const position = computedStyle(el).position;
      if (position === 'absolute' || position === 'fixed') {
        this.visit(el, { ...context, look: Math.abs(lookOf(flatParentOf(el) ?? el)) });
        done = el;
      } else {
        const root = shadowOf(el);
        if (root) this.hunt(root, context);
      }
    }
  }

  // text collects a run of inline text; flush prints it as one line.
  flush() {
    if (!this.run) return;
    const text = this.run;
    this.run = '';
    if (this.runLevel >= this.depth && !this.caught) return;
    const cleaned = withoutIcons(clean(text, MAX_TEXT));
    if (!cleaned) return;
    if (this.caught) this.caught.push(cleaned);
    else this.add(this.runLevel, quote(cleaned, Infinity), null, '');
  }

  // visitChildren asks whether the text of el is painted only once there is some.
  visitChildren(el, context, style = computedStyle(el), display = style.display) {
    const tag = tagOf(el);
    const root = shadowOf(el);
    if (tag === 'slot' && root === null) {
      eachFlatChild(el, (child) => {
        this.visitChild(child, context, el, style, display);
        return this.full;
      });
      return;
    }
    const closed = tag === 'details' && !hasAttr(el, 'open');
    let shown = context.quiet || context.veiled || closed ? false : null;
    for (let child = firstChildOf(root ?? el); child && !this.full; child = nextSiblingOf(child)) {
      const type = typeOf(child);
      if (type === ELEMENT) {
        if (!closed || tagOf(child) === 'summary') this.visit(child, context);
      } else if (type === TEXT && shown !== false) {
        const text = dataOf(child);
        if (shown === null && BLACK.test(text)) shown = this.isTextOf(el, style, display, context);
        if (shown !== false) this.addText(child, text, context);
      }
    }
  }

  visitChild(child, context, parent, style, display) {
    const type = typeOf(child);
    if (type === ELEMENT) this.visit(child, context);
    else if (type === TEXT && !context.quiet && !context.veiled && this.isTextOf(parent, style, display, context)) this.addText(child, dataOf(child), context);
  }

  // paintedText is the text of el as a reader sees it, with the names of pictures in it, on one line.
  paintedText(el, inner, max) {
    const outer = this.caught;
    this.caught = [];
    this.visitChildren(el, { ...inner, quiet: false, level: 0 }, computedStyle(el));
    this.flush();
    const text = this.caught.join(' ');
    this.caught = outer;
    return cut(text, max);
  }

  // isTextOf: is the text of el painted where someone can get to it. In the viewport the place is settled already; inline
  // text that nothing moves is where its siblings are.
  isTextOf(el, style, display, context) {
    if (!isTextShown(el, style, display)) return false;
    if (context.clip !== null || display === 'contents') return true;
    const inline = display === 'inline';
    const parent = parentOf(el);
    if (inline && parent === this.reached && style.marginLeft === '0px' && style.position === 'static') return true;
    if (!isWithinReach(el)) return false;
    this.reached = inline ? parent : el;
    return true;
  }

  addText(node, text, context) {
    if (context.crossing && context.clip && BLACK.test(text) && !this.isTextInView(node, context.clip)) return;
    this.runLevel = context.level;
    this.run += text.length > MAX_TEXT * 2 ? text.slice(0, MAX_TEXT * 2) : text;
  }

  isTextInView(node, clip) {
    this.range ??= new Range();
    this.range.selectNodeContents(node);
    return touches(clip, this.range.getBoundingClientRect());
  }
}
