// read_page: one walk over the flat tree that prints what is painted, one line per element or run of text.
//
//   exported.read({filter, depth, ref, max, viewport, asked}) → {text, cut, note, frames, page}, {stale: true} or {unasked: true}
//     filter    '' touching the viewport, 'interactive' the same without text, 'all' the whole page
//     depth     levels of lines, default 15        ref  only this element and what is in it
//     max       code points, 0 = no limit; text and note together stay under it, cut between two lines
//     viewport  {x0, y0, x1, y1} of this document that the parent shows, for a frame in a process of its own
//     asked     read although there are elements that may have closed shadow trees; otherwise unasked tells that there are
//     text      lines, one space of indentation per level; a line of only \u0001frame:KEY\u0001 stands for the lines of a
//               frame in another process, told in frames: [{key, indent, depth, viewport}]
//     cut, note the limit was met; the sentence that says so, '' when nothing was left out (Go puts it on a line of its own)
//     page      {x, y, width, height, viewWidth, viewHeight}: how far the document is scrolled, its size and the view's
//   exported.nameFrame(el, key)        el shows the out-of-process frame that Go calls key
//   exported.markListeners(...els)     these have click listeners, as the protocol tells
//
// A line is   role "name" [ref_7] state …   or   "text".   Page text is always inside quotes, with quotes, backslashes
// and line ends taken care of, so it cannot pass for a line of ours.

const frameKeys = new WeakMap();
exported.nameFrame = (el, key) => {
  frameKeys.set(el, key);
  return true;
};

const listening = new WeakSet();
let anyListening = false;
exported.markListeners = (...elements) => {
  anyListening = true;
  for (const el of elements) listening.add(el);
  return elements.length;
};

exported.read = readPage;

const MAX_CELL = 2000;
// Their children are fallbacks, or are told by their own line.
const LEAF_TAGS = new Set(['canvas', 'video', 'audio', 'img', 'picture', 'textarea', 'input', 'object', 'embed', 'progress', 'meter', 'iframe', 'frame']);
// Roles that say nothing to a reader: the element folds away and its content takes its place.
const FOLDED_ROLES = new Set(('generic none paragraph strong emphasis code deletion insertion subscript superscript time mark term definition caption figcaption '
  + 'legend document rowgroup blockquote sectionheader sectionfooter').split(' '));
// Roles whose text is their name: printed once, as the name, unless something to operate is inside.
const TEXT_ROLES = new Set('heading listitem cell gridcell columnheader rowheader status alert note tooltip'.split(' '));
const CAPTIONED = { legend: 'fieldset', caption: 'table', figcaption: 'figure' };
const CELL_ROLES = new Set('cell gridcell columnheader rowheader'.split(' '));
// What can be operated; what is worth lines of its own inside something that can; what keeps a text from being plain.
const ACTIVE_SELECTOR = 'a[href], button, input, select, textarea, summary, iframe, [role], [tabindex], [onclick], [contenteditable], slot';
const STRUCTURE_SELECTOR = ACTIVE_SELECTOR + ', table, ul, ol, h1, h2, h3, h4, h5, h6';
const RICH_SELECTOR = STRUCTURE_SELECTOR + ', [aria-label], img, svg, video, canvas';

function readPage({ filter = '', depth = 15, ref = '', max = 0, viewport = null, asked = false }) {
  if (!asked && unaskedIn(document, false).length) return { unasked: true };
  const scope = ref ? elementFor(ref) : null;
  if (ref && !scope) return { stale: true };
  const reader = new Reader(max, depth);
  const view = viewOf(scope ?? document);
  let clip = null;
  if (filter !== 'all') {
    clip = { x0: 0, y0: 0, x1: view.innerWidth, y1: view.innerHeight };
    if (viewport) clip = meet(clip, viewport);
    if (scope) clip = null; // a named element is read whole, wherever it is
  }
  const context = { level: 0, clip, floatClip: clip, fixedClip: clip, look: 1, pointer: false, quiet: filter === 'interactive', veiled: false, inert: false, inertTold: false, crossing: false, astray: false,
    doubts: doubtsOf(documentOf(scope ?? document)) };
  reader.top = topLayerOf(documentOf(scope ?? document));
  if (scope) {
    const parent = flatParentOf(scope);
    reader.visit(scope, { ...context, look: parent && typeOf(parent) === ELEMENT ? Math.abs(lookOf(parent)) : 1 });
  } else {
    const root = documentElementOf(document);
    if (root) reader.visit(root, context);
  }
  reader.flush();
  return reader.unasked && !asked ? { unasked: true } : reader.result(view);
}

const topLayerOf = (doc) => [...queryAll(doc, ':modal')].pop() ?? null;

class Reader extends Walk {
  constructor(max, depth) {
    super(max, depth);
    this.frames = [];
    // The inline element that was walked through last.
    this.passed = null;
  }

  // visitHiddenControl keeps a native control that is hidden behind its visible label (FR-016), and one that lies
  // unseen over the picture that stands for it.
  visitHiddenControl(el, tag, context) {
    if (tag !== 'input' && tag !== 'select') return;
    const type = tag === 'input' ? inputTypeOf(el) : 'select';
    if (type !== 'checkbox' && type !== 'radio' && type !== 'file' && type !== 'select') return;
    const shown = labelsOf(el).find((label) => isRendered(label) && (!context.clip || touches(context.clip, boxOf(label))));
    const overlay = !shown && context.look > 0 && styleOf(el).opacity === '0' && boxesOf(el).some((box) => !context.clip || touches(context.clip, box));
    if (shown || overlay) this.printActive(el, tag, roleOf(el), context, context);
  }

  print(el, tag, html, style, display, overflow, special, inner, context) {
    if (inner.veiled) {
      this.visitChildren(el, inner, style, display);
      return;
    }
    const role = special || !html ? roleOf(el) : htmlRole(el, tag);
    const editable = special && isEditable(el);
    if (role === 'option' && closestOf(el, 'select')) this.printOption(el, inner);
    else if (isActive(role) || editable) {
      if (isPutAway(el, inner)) this.visitHiddenControl(el, tag, context);
      else this.printActive(el, tag, isActive(role) ? role : 'textbox', inner, context);
    }
    else if (isFrame(el)) this.printFrame(el, inner, context);
    else if (this.isClickable(el, tag, role, special, inner, context) && !isPutAway(el, inner)) this.printClickable(el, role, inner, context);
    else if (context.quiet) this.visitChildren(el, inner, style, display);
    else if (role === 'row') this.printRow(el, inner, context);
    else if (role === 'image' || LEAF_TAGS.has(tag)) this.printPicture(el, tag, role, inner, context);
    else if (TEXT_ROLES.has(role)) this.printTextual(el, role, inner, context);
    else if (FOLDED_ROLES.has(role) || (role === 'group' && !shownName(el))) this.printFolded(el, tag, role, style, display, overflow, special, inner, context);
    else this.printContainer(el, role, overflow, inner, context);
  }

  // printActive: what a person operates. Its text is its name, so of its children only what can be operated itself.
  printActive(el, tag, role, inner, context) {
    this.flush();
    let name = shownName(el, role, true);
    let from = '';
    if (!name) {
      const derived = derivedName(el);
      if (derived) {
        name = derived.name;
        from = ` (from ${derived.from})`;
      }
    }
    const tail = from + stateOf(el, role, name) + inertState(inner);
    if (!this.open(el, role, name, tail, context)) return;
    const hollow = LEAF_TAGS.has(tag) || tag === 'select';
    if (tag === 'select' && role === 'listbox') this.visitChildren(el, deeper(inner));
    else if (!hollow && (role === 'listbox' || role === 'combobox' || role === 'radio' || role === 'treeitem' || role === 'tab' || holdsActive(el))) {
      this.visitChildren(el, { ...deeper(inner), quiet: role !== 'treeitem' && (role !== 'listbox' || inner.quiet), inertTold: true });
    }
    this.run = '';
  }

  // open prints the line of an element, and tells whether there is room and depth for what is in it.
  open(el, role, name, tail, context) {
    if (this.caught) {
      if (name) this.caught.push(name);
      return false;
    }
    if (context.level >= this.depth) return false;
    this.add(context.level, name ? role + ' ' + quoteClean(name) : role, el, tail);
    return context.level + 1 < this.depth && !this.full;
  }

  printOption(el, inner) {
    if (this.caught) return;
    const name = optionText(el);
    this.add(inner.level, `option ${quote(name)}`, el, optionSelectedOf(el) ? ' selected' : '');
  }

  isClickable(el, tag, role, special, inner, context) {
    if (tag === 'html' || tag === 'body') return false;
    if (inner.pointer && !context.pointer) return !(tag === 'label' && labelControlOf(el));
    if (!special) return anyListening && listening.has(el) && !holdsActive(el);
    if (hasTabindex(el) && Number(attrOf(el, 'tabindex')) >= 0) return role !== 'row' || !context.quiet;
    if (hasAttr(el, 'onclick')) return true;
    // A listener on something that holds controls mostly serves those.
    return listening.has(el) && !holdsActive(el);
  }

  printClickable(el, role, inner, context) {
    this.flush();
    const nested = !context.quiet && holdsStructure(el);
    const word = FOLDED_ROLES.has(role) || TEXT_ROLES.has(role) ? 'clickable' : role;
    let name = shownLabel(el) || (nested ? '' : this.paintedText(el, inner, MAX_NAME));
    let from = '';
    if (!name && !nested) {
      const derived = derivedName(el);
      if (derived) {
        name = derived.name;
        from = ` (from ${derived.from})`;
      }
    }
    const tail = from + stateOf(el, role === 'heading' ? role : 'clickable', name) + inertState(inner);
    if (!this.open(el, word, name, tail, context)) return;
    if (nested || holdsActive(el)) this.visitChildren(el, { ...deeper(inner), pointer: true, inertTold: true });
    this.flush();
  }

  // printTextual: heading, listitem, status …: its text becomes its name when it holds nothing else.
  printTextual(el, role, inner, context) {
    this.flush();
    const label = shownLabel(el);
    const state = stateOf(el, role, label);
    if (context.level + 1 >= this.depth && !this.caught && !holdsMore(el)) {
      const text = label || this.paintedText(el, inner, MAX_TEXT);
      if (text) this.open(el, role, text, state + inertState(inner), context);
      return;
    }
    this.nest(el, role, label, state, inner, context, role === 'listitem');
  }

  printContainer(el, role, overflow, inner, context) {
    this.flush();
    const name = shownName(el, role, true);
    this.nest(el, role, name, containerState(el, role, overflow), inner, context, false);
  }

  // nest prints el and, one level deeper, what is in it. An unnamed element that turns out to hold nothing in view leaves
  // no line; when single is set, one that holds a single line gives way to it.
  nest(el, role, name, tail, inner, context, single) {
    if (this.caught) {
      if (name) this.caught.push(name);
      this.visitChildren(el, inner);
      this.flush();
      return;
    }
    if (context.level >= this.depth) return;
    const at = this.add(context.level, name ? role + ' ' + quoteClean(name) : role, el, tail + inertState(inner));
    if (at < 0) return;
    const below = { ...deeper(inner), inertTold: inner.inert };
    if (below.level < this.depth) {
      this.visitChildren(el, below);
      this.flush();
    } else if (holdsAnything(el)) {
      this.tails[at] += ' …';
      return;
    }
    const lines = this.heads.length - at - 1;
    if (this.full) {
      if (lines === 0) this.drop(at);
    } else if (lines === 0 && !name && (!tail || TEXT_ROLES.has(role))) this.drop(at);
    else if (lines === 1 && !name && TEXT_ROLES.has(role) && this.elements[at + 1] === null) this.absorbText(at);
    else if (lines === 1 && single && !name && !tail.includes('expanded')) this.replaceByChild(at);
  }

  printFolded(el, tag, role, style, display, overflow, special, inner, context) {
    if (tag === 'br') {
      this.run += ' ';
      return;
    }
    const label = special ? attrOf(el, 'aria-label') : null;
    if (label && clean(label, MAX_NAME) && clean(label) !== clean(textContentOf(el).slice(0, 4000))) {
      this.flush();
      this.nest(el, role === 'none' ? 'generic' : role, clean(label, MAX_NAME), '', inner, context, false);
      return;
    }
    if (overflow !== 'visible') {
      const scrolls = scrollState(el, overflow, tag);
      if (scrolls) {
        this.flush();
        this.nest(el, 'scrollable', '', scrolls, inner, context, false);
        return;
      }
    }
    if ((tag === 'label' && this.isToldByControl(el)) || this.isToldByParent(el, tag)) {
      this.flush();
      if (holdsActive(el)) this.visitChildren(el, { ...inner, quiet: true }, style, display);
      return;
    }
    if (mayHoldUnread(el)) {
      this.flush();
      this.open(el, tag, '', ' (may hold unread content)', context);
      return;
    }
    if (display === 'inline') {
      this.passInline(el, tag, style, display, inner);
    } else if (isBlock(display)) {
      this.flush();
      this.visitChildren(el, inner, style, display);
      this.flush();
    } else {
      this.run += ' ';
      this.visitChildren(el, inner, style, display);
      this.run += ' ';
    }
  }

  // passInline walks through an inline element. Two of them without white space in between still read as two words when they
  // are set apart; in a row of the same, each stands apart from the one before as the first two did.
  passInline(el, tag, style, display, inner) {
    let gap = null;
    const before = this.run && !/\s$/.test(this.run) ? previousSiblingOf(el) : null;
    if (before && typeOf(before) === ELEMENT) {
      const known = this.passed?.el === before ? this.passed : null;
      const alike = known !== null && known.tag === tag && attrOf(before, 'class') === attrOf(el, 'class');
      gap = (alike ? known.gap : null) ?? isSetApart(known?.style ?? computedStyle(before), style);
      if (gap) this.run += ' ';
      if (!alike) gap = null;
    }
    this.visitChildren(el, inner, style, display);
    this.passed = { el, tag, style, gap };
  }

  // isToldByParent: a legend or caption that names what it stands in.
  isToldByParent(el, tag) {
    const parent = CAPTIONED[tag] && parentElementOf(el);
    return Boolean(parent) && tagOf(parent) === CAPTIONED[tag] && shownName(parent) === clean(trimmed(contentOf(el, freshWay())), MAX_NAME);
  }

  // isToldByControl: a label whose text is the name of a control that has its own line.
  isToldByControl(label) {
    const control = labelControlOf(label);
    return control !== null && labelsOf(control)[0] === label && !attrOf(control, 'aria-label') && !attrOf(control, 'aria-labelledby');
  }

  printPicture(el, tag, role, inner, context) {
    if (tag === 'svg' && role === 'image' && !shownName(el)) {
      if (holdsText(el)) this.visitChildren(el, inner);
      return;
    }
    if (tag === 'picture' || role === 'none') {
      if (tag === 'picture') this.visitChildren(el, inner);
      return;
    }
    const name = shownName(el);
    if (!name && tag === 'img') {
      const box = boxOf(el);
      if (box.width < 48 || box.height < 48) return;
    }
    this.flush();
    const word = role === 'generic' || role === 'none' ? tag : role;
    if (tag === 'progress' || tag === 'meter') this.open(el, word, name, stateOf(el, role, name), context);
    else this.open(el, word, name, sizeState(el, tag) + inertState(inner), context);
  }

  // printRow puts the texts of a row into one line, empty cells too, so that columns stay columns. A cell that holds more
  // than text shows as … and what is in it follows, under its own line when there are several such cells.
  printRow(el, inner, context) {
    this.flush();
    if (this.caught) {
      this.visitChildren(el, inner);
      return;
    }
    if (context.level >= this.depth) return;
    const cells = [];
    this.collectCells(el, inner, cells);
    const rich = cells.filter((cell) => cell.rich).length;
    const parts = cells.map((cell) => (cell.rich ? '…' : quote(cell.text)));
    const at = this.add(context.level, cells.length > rich ? `row ${parts.join(' | ')}` : 'row', el, ariaState(el, 'row') + inertState(inner));
    if (at < 0 || context.level + 1 >= this.depth) return;
    const below = { ...deeper(inner), inertTold: inner.inert };
    cells.forEach((cell, index) => {
      if (!cell.rich || this.full) return;
      if (rich > 1) this.nest(cell.el, `cell ${index + 1}`, shownLabel(cell.el), '', { ...inner, level: below.level }, below, false);
      else {
        this.visitChildren(cell.el, below);
        this.flush();
      }
    });
  }

  collectCells(el, inner, cells) {
    eachFlatChild(el, (child) => {
      if (typeOf(child) !== ELEMENT) return false;
      const role = roleOf(child);
      if (!CELL_ROLES.has(role)) {
        if (!UNREAD_TAGS.has(tagOf(child))) this.collectCells(child, inner, cells);
        return false;
      }
      const look = lookUnder(child, inner.look);
      if (look === 0) {
        // A cell that is there but not painted still holds its column.
        if (computedStyle(child).display !== 'none') cells.push({ el: child, rich: false, text: '' });
        return false;
      }
      const rich = holdsMore(child) || isClickableCell(child);
      const text = rich || look < 0 ? '' : shownLabel(child) || this.paintedText(child, { ...inner, look }, MAX_CELL);
      cells.push({ el: child, rich, text });
      return false;
    });
  }

  printFrame(el, inner, context) {
    this.flush();
    if (this.caught) return;
    if (context.level >= this.depth) return;
    const name = shownName(el) || clean(attrOf(el, 'name') ?? '', 80);
    const doc = frameDocOf(el);
    const box = boxOf(el);
    const key = frameKeys.get(el);
    const src = attrOf(el, 'src') ?? '';
    if (!doc && !key) {
      if (box.width < 2 || box.height < 2) return;
      const origin = originOf(el, src);
      this.open(el, 'iframe', name, ` (not readable: ${origin}, ${Math.round(box.width)}x${Math.round(box.height)})`, context);
      return;
    }
    const clip = inner.clip && frameClip(el, box, inner.clip);
    const at = this.add(context.level, name ? `iframe ${quote(name)}` : 'iframe', el, (src ? ` url=${shortURL(src, documentOf(el))}` : '') + inertState(inner));
    const level = context.level + 1;
    if (at < 0) return;
    if (level >= this.depth) {
      this.tails[at] += ' …';
      return;
    }
    if (!doc) {
      this.add(level, `\u0001frame:${key}\u0001`, null, '');
      this.frames.push({ key, indent: level, depth: this.depth - level, viewport: clip });
      return;
    }
    const root = documentElementOf(doc);
    const top = this.top;
    this.top = topLayerOf(doc);
    if (root) this.visit(root, { ...inner, level, clip, floatClip: clip, fixedClip: clip, pointer: false, crossing: false, astray: false, doubts: doubtsOf(doc) });
    this.flush();
    this.top = top;
    if (context.quiet && this.heads.length === at + 1 && !this.full) this.drop(at);
  }

  result(view) {
    const root = documentElementOf(view.document);
    return {
      text: this.text(),
      cut: this.full,
      note: this.full ? this.cutNote(view) : this.tooDeep ? `[Nested deeper than ${MAX_NESTING} levels: what is below is left out.]` : '',
      frames: this.frames,
      page: { x: Math.round(view.scrollX), y: Math.round(view.scrollY), width: root ? scrollWidthOf(root) : 0, height: root ? scrollHeightOf(root) : 0,
        viewWidth: view.innerWidth, viewHeight: view.innerHeight },
    };
  }

  cutNote(view) {
    const left = Math.max(1, queryAll(view.document, '*').length - this.visited);
    return `[Cut at ${grouped(this.max + NOTE_ROOM)} characters: about ${grouped(left)} more elements. Narrow with depth, ref or filter.]`;
  }
}

const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ',');
const deeper = (context) => ({ ...context, level: context.level + 1 });
const freshWay = () => ({ depth: 1, visited: new Set(), referenced: false, hidden: false });
const inertState = (context) => (context.inert && !context.inertTold ? ' inert' : '');
const isBlock = (display) => !display.startsWith('inline') && display !== 'contents' && !display.startsWith('ruby');
const isSetApart = (before, after) => after.paddingLeft !== '0px' || after.marginLeft !== '0px' || before.paddingRight !== '0px' || before.marginRight !== '0px';
const previousSiblingOf = accessor(Node.prototype, 'previousSibling');

const holds = (el, selector) => shadowOf(el) !== null || (firstElementChildOf(el) !== null && findInElement(el, selector) !== null);
const holdsActive = (el) => holds(el, ACTIVE_SELECTOR);
const holdsStructure = (el) => holds(el, STRUCTURE_SELECTOR);
const holdsMore = (el) => holds(el, RICH_SELECTOR);
const holdsText = (el) => findInElement(el, 'text, a, foreignObject') !== null;
const holdsAnything = (el) => firstElementChildOf(el) !== null || shadowOf(el) !== null || textContentOf(el).trim() !== '';
// isPutAway: moved off the page or scaled to nothing.
const isPutAway = (el, context) => context.doubts.moved && !isControlWithinReach(el);
const isClickableCell = (el) => hasTabindex(el) || hasAttr(el, 'onclick') || listening.has(el);
// shownName drops private-use characters: icon fonts put pictures there that mean nothing as text.
const withoutIcons = (text) => (/[\ue000-\uf8ff]/.test(text) ? text.replace(/[\ue000-\uf8ff]/g, '').trim() : text);
const shownName = (el, role = roleOf(el), painted = false) => withoutIcons(clean(nameOf(el, role, painted), MAX_NAME));
const shownLabel = (el) => {
  if (!hasAttr(el, 'aria-label') && !hasAttr(el, 'aria-labelledby')) return '';
  return shownName(el);
};

function containerState(el, role, overflow) {
  let state = ariaState(el, role);
  if (role === 'dialog' || role === 'alertdialog') state += matchesSelector(el, ':modal') || attrOf(el, 'aria-modal') === 'true' ? ' modal' : '';
  if (tagOf(el) === 'fieldset' && isDisabled(el)) state += ' disabled';
  return overflow === 'visible' ? state : state + scrollState(el, overflow, tagOf(el));
}

// scrollState says how much of a scroll container's content shows: its list may be longer than what is rendered.
function scrollState(el, overflow, tag) {
  if (!/auto|scroll/.test(overflow) || tag === 'html' || tag === 'body') return '';
  const height = scrollHeightOf(el), shown = clientHeightOf(el);
  if (height <= shown + 1 || shown === 0) return '';
  const top = Math.round(scrollTopOf(el));
  return ` (shows ${top}-${top + shown} of ${height} px)`;
}

function sizeState(el, tag) {
  if (tag !== 'canvas' && tag !== 'video' && tag !== 'object' && tag !== 'embed') return '';
  const box = boxOf(el);
  const state = ` ${Math.round(box.width)}x${Math.round(box.height)}`;
  return tag === 'video' ? state + (pausedOf(el) ? ' paused' : ' playing') : state;
}
const pausedOf = accessor(HTMLMediaElement.prototype, 'paused');

function originOf(el, src) {
  try {
    return new URL(src, documentOf(el).baseURI).origin.slice(0, 100);
  } catch {
    return 'unknown origin';
  }
}

// frameClip is the part of a frame's own viewport that shows, in the frame's coordinates.
function frameClip(el, box, clip) {
  const scaleX = box.width / layoutWidthOf(el) || 1, scaleY = box.height / layoutHeightOf(el) || 1;
  const style = computedStyle(el);
  const left = box.left + (clientLeftOf(el) + parseFloat(style.paddingLeft)) * scaleX;
  const top = box.top + (clientTopOf(el) + parseFloat(style.paddingTop)) * scaleY;
  const width = clientWidthOf(el), height = clientHeightOf(el);
  return meet({ x0: 0, y0: 0, x1: width, y1: height },
    { x0: (clip.x0 - left) / scaleX, y0: (clip.y0 - top) / scaleY, x1: (clip.x1 - left) / scaleX, y1: (clip.y1 - top) / scaleY });
}
const clientLeftOf = accessor(Element.prototype, 'clientLeft');
const clientTopOf = accessor(Element.prototype, 'clientTop');
