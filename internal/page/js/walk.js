// The walk over the flat tree that read_page makes: which elements are painted, which touch the viewport, and the runs of
// text between them. Walk decides what is seen; its subclass in read.js decides what is printed for it, in print().
//
// A context says what holds where the walk is: level (of lines), clip, floatClip and fixedClip (the part of the viewport
// in which flowing, absolute and fixed boxes show; null = no viewport), look (product of opacities), pointer (a pointing
// hand is inherited), quiet (only what can be operated is printed), veiled (text here is not painted), inert, inertTold
// (an outer line says so already), crossing (the element sticks out of its clip), astray (it is inside something out of
// view), doubts (what is worth asking about it, see doubtsOf).

const MAX_TEXT = 20000;
// A document nested deeper than this was made to break readers; the parser itself stops at 512.
const MAX_NESTING = 700;
// Never shown, and neither is what is in them.
const UNREAD_TAGS = new Set(['script', 'style', 'template', 'noscript', 'head', 'meta', 'link', 'title', 'source', 'track', 'param', 'datalist', 'col', 'colgroup']);
// Attributes that change what an element is.
const SPECIAL = '[role], [tabindex], [onclick], [contenteditable], [aria-label], [inert]';
// What a reading shows without any text in it.
const WORDLESS = ':empty, input, select, textarea, button, img, picture, svg, video, audio, canvas, iframe, object, progress, meter, '
  + '[role], [tabindex], [onclick], [aria-label]';
// Something other than white space.
const BLACK = /\S/;

const meet = (a, b) => ({ x0: Math.max(a.x0, b.x0), y0: Math.max(a.y0, b.y0), x1: Math.min(a.x1, b.x1), y1: Math.min(a.y1, b.y1) });
const touches = (clip, box) => box.right > clip.x0 && box.left < clip.x1 && box.bottom > clip.y0 && box.top < clip.y1;
// What is cut off by a box out of view: nothing touches this.
const NOWHERE = { x0: Infinity, y0: Infinity, x1: -Infinity, y1: -Infinity };
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
    // There are elements that may have closed shadow trees, and have not been asked about.
    this.unasked = false;
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
    let doubts = context.doubts;
    const html = isHTML(el);
    const root = shadowOf(el);
    if (root !== null) this.noteHost(el, root);
    if (doubts !== ALL_DOUBTS && (root !== null || !html)) doubts = ALL_DOUBTS;
    // An inline box flows with its line and clips nothing; one that floats is not inline any more.
    const inline = display === 'inline';
    const position = inline || !doubts.moved ? 'static' : style.position;
    const overflow = inline || !doubts.clipped ? 'visible' : style.overflow;
    const look = lookUnder(el, context.look, style, display, position, overflow, doubts);
    if (look === 0) {
      this.visitHiddenControl(el, tag, context);
      return;
    }
    // One question to the engine spares most elements a dozen about their attributes.
    const special = hasAttributes.call(el) && matchesSelector(el, SPECIAL);
    const inner = this.enter(el, tag, style, display, position, overflow, look, special, doubts, context);
    if (!inner) return;
    if (this.nesting >= MAX_NESTING) {
      this.tooDeep = true;
      return;
    }
    this.nesting++;
    this.print(el, tag, html, style, display, overflow, special, inner, context);
    this.nesting--;
  }

  // noteHost looks into shadow trees that are not found by the names of their hosts.
  noteHost(host, root) {
    this.unasked ||= !isCustom(host) && unaskedIn(root, false).length > 0;
  }

  // enter works out what holds inside el, null when el is out of view (and then has looked for what escapes from it).
  enter(el, tag, style, display, position, overflow, look, special, doubts, context) {
    const whole = look < 0 ? -look : look;
    let { clip, floatClip } = context;
    let crossing = false;
    if (clip) {
      if (position === 'fixed') clip = context.fixedClip;
      else if (position === 'absolute') clip = floatClip;
      if (display !== 'contents' && tag !== 'html') {
        const box = boxOf(el);
        const outside = !touches(clip, box);
        if (overflow !== 'visible' && tag !== 'body') clip = outside ? NOWHERE : meet(clip, { x0: box.left, y0: box.top, x1: box.right, y1: box.bottom });
        if (position !== 'static' || (doubts.moved && display !== 'inline' && style.transform !== 'none')) floatClip = clip;
        if (outside) {
          this.visitOutside(el, style, display, box, { ...context, clip, floatClip, look: whole, veiled: look < 0, crossing: true, doubts });
          return null;
        }
        crossing = !inside(clip, box);
      }
    }
    const pointer = doubts.pointed || tag === 'a' ? style.cursor === 'pointer' : context.pointer;
    const inert = el === this.top ? false : context.inert || (special && hasAttr(el, 'inert')) || (this.top !== null && tag === 'body');
    const veiled = look < 0;
    if (pointer === context.pointer && whole === context.look && clip === context.clip && floatClip === context.floatClip && veiled === context.veiled
      && inert === context.inert && crossing === context.crossing && doubts === context.doubts) return context;
    return { ...context, clip, floatClip, look: whole, pointer, veiled, inert, crossing, doubts };
  }

  // visitOutside is for an element that the view does not touch. What is in it can still reach the view, by overflowing or
  // by being put elsewhere; then it is walked through like all else, once.
  visitOutside(el, style, display, box, context) {
    const view = context.fixedClip;
    if (!context.astray && !this.reaches(el, view, context.doubts.moved || box.top < view.y1 && box.left < view.x1)) return;
    this.visitChildren(el, { ...context, astray: true, pointer: style.cursor === 'pointer' }, style, display);
  }

  // reaches: does anything in node show inside clip. The engine measures all text at one go, and what has none to show is
  // asked one by one; where nothing is moved, what comes after the view stays there. What is in shadow trees is not counted
  // by either, so those are looked into by themselves.
  reaches(node, clip, moved) {
    const own = typeOf(node) === ELEMENT ? shadowOf(node) : null;
    if (own && this.reaches(own, clip, true)) return true;
    if (!firstChildOf(node)) return false;
    if (moved) {
      this.range ??= new Range();
      this.range.selectNodeContents(node);
      if (touches(clip, this.range.getBoundingClientRect())) return true;
      for (const leaf of queryAll(node, WORDLESS)) if (touches(clip, boxOf(leaf))) return true;
    }
    return hasHosts(documentOf(node)) && eachHost(node, (host, root) => {
      this.noteHost(host, root);
      return this.reaches(root, clip, true) || this.reaches(host, clip, true);
    });
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
    else this.add(this.runLevel, quoteClean(cleaned), null, '');
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
    if (!isTextShown(el, style, display, context.doubts)) return false;
    if (context.clip !== null || display === 'contents' || !context.doubts.moved) return true;
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
