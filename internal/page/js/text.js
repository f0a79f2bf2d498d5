// get_page_text: the rendered text of the whole page as plain text, the article first.
//
// One walk of the flat tree makes a list of items in reading order: an item is an element or a piece of text. article.js
// marks the items that belong to the article; writeItems writes the marked ones, then, after a dividing line, the others.
// Nothing recurses over the page, so none can exhaust the stack, and each step visits each item a bounded number of times.

const REST_LINE = '--- Rest of the page ---';
// Elements whose content is never text of the page, even where a style shows it.
const NOT_TEXT = new Set(['script', 'style', 'noscript', 'template', 'head', 'title', 'desc', 'metadata', 'defs', 'textarea', 'select',
  'datalist', 'audio', 'video', 'canvas', 'meter', 'progress']);
// Blocks that an empty line sets apart from their neighbours.
const APART = new Set(['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'dl', 'table', 'pre', 'blockquote', 'figure']);
const BUTTON_TYPES = new Set(['submit', 'button', 'reset']);
// What is kept of white space, by the computed white-space-collapse: all of pre, pre-wrap and break-spaces, the line breaks of pre-line.
const KEEPS = { preserve: 'all', 'break-spaces': 'all', 'preserve-breaks': 'breaks' };
// A table row is one line when none of its cells has more text than this.
const CELL_CHARS = 240;
// Characters that say about as much as two of an alphabet.
const IDEOGRAPH = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/g;
const COMMA = /[,،、，﹐]/g;

// pageText({max, nested}) → {text, frames, cut}. Max is the most code points of text, a note about the cut included; 0 is no
// bound. Nested is for the document of a frame, whose text goes into its parent's: it has no dividing line of its own. Frames
// lists the frames in other processes as {key}; in text a line made by frameMark stands for each.
exported.pageText = ({ max = 0, nested = false }) => {
  const { items, frames } = readItems(document, max);
  const article = nested ? null : findArticle(items);
  const rest = writeItems(items, 0, items.length, (i) => !article?.[i]);
  const text = article ? [writeItems(items, 0, items.length, (i) => article[i]), rest].filter(Boolean).join(`\n${REST_LINE}\n`) : rest;
  return { ...cutText(text, max), frames };
};

// frameMark is the line that stands for the text of a frame in another process.
const MARK = '\u0001';
const frameMark = (key) => `${MARK}frame:${key}${MARK}`;

// cutText shortens text to max code points, at the end of a line where one is near.
function cutText(text, max) {
  if (!max || text.length <= max || countPoints(text) <= max) return { text, cut: false };
  const note = `\n[Cut at ${max.toLocaleString('en-US')} characters; find and read_page with a ref reach the rest.]`;
  let end = 0;
  for (let left = max - note.length; left > 0; left--) end += text.codePointAt(end) > 0xffff ? 2 : 1;
  const line = text.lastIndexOf('\n', end);
  return { text: text.slice(0, line > end - 200 ? line : end) + note, cut: true };
}

// readItems lists what is rendered under root. Of an element: el, tag, layout (inline, block, row or cell), the item that is its
// parent, its block (itself or the nearest block around it), link (is it inside a link), end (the index after its last
// descendant), chars and linkChars (length of all its text, and of that in links); a block has in own, ownLinks and commas the
// same of the text that no block inside it holds. Of a piece of text: text, whose outer spaces count, keeps
// (what of its white space is kept), parent and end.
function readItems(root, max) {
  const items = [], frames = [];
  walkRendered(root, {
    enter(el, parent, look, style) {
      const item = newItem(el, parent, look, style);
      if (!item) return null;
      items.push(item);
      if (item.tag === 'input' && BUTTON_TYPES.has(inputTypeOf(el)) && look > 0) addText(items, item, ` ${inputValueOf(el)} `, max);
      if (frameKeys.has(el) && look > 0 && !frameDocOf(el)) {
        const key = frameKeys.get(el);
        frames.push({ key });
        items.push({ text: frameMark(key), parent: item, end: items.length + 1 });
        item.chars = 1;
      }
      return item;
    },
    text(data, parent) {
      addText(items, parent, data, max);
    },
    leave(item) {
      closeItem(item, items.length);
    },
  });
  return { items, frames };
}

// walkRendered goes over what is painted under root in reading order, into shadow roots and the documents of frames. It calls
// enter(el, parent, look, style) for each element, text(data, parent) for each piece of text that shows, and leave(item)
// at an element's end; hidden(el, parent), if given, for each that is not painted at all. An item is what enter returns, null to
// leave the element out; parent is the item around.
function walkRendered(root, { enter, text, leave, hidden = null }) {
  const stack = [];
  const push = (node, parent) => {
    const children = [];
    const closed = parent !== null && parent.tag === 'details' && !hasAttr(node, 'open');
    eachFlatChild(node, (child) => {
      if (!closed || (typeOf(child) === ELEMENT && tagOf(child) === 'summary')) children.push(child);
    });
    for (let i = children.length - 1; i >= 0; i--) stack.push({ node: children[i], parent });
  };
  push(root, null);
  while (stack.length) {
    const { node, parent } = stack.pop();
    if (!node) {
      leave(parent.item);
      continue;
    }
    const type = typeOf(node);
    if (type === TEXT && parent?.look > 0) {
      const data = dataOf(node);
      // Judging an element's text is dear, and white space needs no judging.
      if (/\S/.test(data)) parent.shown ??= isTextShown(parent.el, parent.style);
      if (parent.shown !== false) text(data, parent.item);
    }
    if (type !== ELEMENT) continue;
    const style = styleOf(node);
    const look = lookUnder(node, parent ? Math.abs(parent.look) : 1, style);
    if (!look) {
      hidden?.(node, parent && parent.item);
      continue;
    }
    const item = enter(node, parent && parent.item, look, style);
    if (!item) continue;
    const here = { el: node, tag: tagOf(node), item, look, style, shown: undefined };
    stack.push({ node: null, parent: here });
    if (!isFrame(node)) push(node, here);
    else if (look > 0) {
      const doc = frameDocOf(node);
      if (doc) push(doc, here);
    }
  }
}

function newItem(el, parent, look, style) {
  const tag = tagOf(el);
  if (NOT_TEXT.has(tag)) return null;
  const { display } = style;
  const item = {
    el, tag, parent, layout: layoutOf(display), block: null,
    floats: style.float !== 'none', keeps: (tag !== 'input' && KEEPS[style.whiteSpaceCollapse]) || '', bullet: display === 'list-item' && tag === 'li',
    link: tag === 'a' || (parent !== null && parent.link),  end: 0, chars: 0, linkChars: 0, own: 0, ownLinks: 0, commas: 0, rows: 0,
  };
  if (isFrame(el)) item.layout = 'block';
  item.block = item.layout === 'inline' && parent ? parent.block : item;
  return item;
}

function layoutOf(display) {
  if (display.startsWith('inline') || display === 'contents' || display.startsWith('ruby')) return 'inline';
  if (display === 'table-row') return 'row';
  return display === 'table-cell' ? 'cell' : 'block';
}

function closeItem(item, end) {
  item.end = end;
  const { parent } = item;
  if (!parent) return;
  parent.chars += item.chars;
  parent.linkChars += item.linkChars;
  parent.rows += item.rows + (item.layout === 'row');
}

function addText(items, parent, data, max) {
  if (max && data.length > 2 * max) data = data.slice(0, 2 * max);
  const { keeps } = parent;
  const text = keeps ? cleanLines(data, keeps) : cleanRun(data);
  items.push({ text, keeps, parent, end: items.length + 1 });
  const length = text.trim().length + (text.match(IDEOGRAPH)?.length ?? 0);
  if (!length) return;
  const { block } = parent;
  parent.chars += length;
  block.own += length;
  if (parent.link) {
    parent.linkChars += length;
    block.ownLinks += length;
  } else block.commas += text.match(COMMA)?.length ?? 0;
}

// cleanRun cleans a piece of running text and keeps one space at an end that had white space.
function cleanRun(data) {
  const text = clean(data);
  if (!text) return ' ';
  return (/^\s/.test(data) ? ' ' : '') + text + (/\s$/.test(data) ? ' ' : '');
}

// cleanSpaced cleans a piece of a line whose spaces and tabs all count.
function cleanSpaced(data) {
  return data.replace(/[^\S\t]/g, ' ').replace(/[^ \t]+/g, (word) => clean(word));
}

// cleanLines cleans preformatted text: all its white space, or only its line breaks, means something.
function cleanLines(data, keeps) {
  const lines = data.split(/\r\n?|\n/);
  if (keeps === 'all') return lines.map(cleanSpaced).join('\n').replace(/[ \t]+(?=\n)/g, '');
  return lines.map(cleanRun).join('\n').replace(/ ?\n ?/g, '\n');
}

// writeItems writes the text of items[from:to) for whose index want holds.
function writeItems(items, from, to, want) {
  const writer = new TextWriter();
  const open = [];
  for (let i = from; i < to; i++) {
    while (open.length && open.at(-1).end <= i) writer.close(open.pop());
    const item = items[i];
    if (item.text !== undefined) {
      if (want(i)) writer.text(item.text, item.keeps);
      continue;
    }
    if (item.tag === 'br') {
      if (item.parent?.keeps) writer.text('\n', 'all');
      else writer.newline();
    } else if (item.tag === 'hr') writer.line(1);
    const row = item.layout === 'row' ? rowLine(items, i, want) : null;
    if (row !== null) {
      writer.line(1);
      writer.text(row, 'all');
      writer.line(1);
    }
    // Nothing is in it; but white space in an inline element is between its neighbours.
    if (row !== null || (!item.chars && item.layout !== 'inline')) {
      i = item.end - 1;
      continue;
    }
    writer.open(item);
    open.push(item);
  }
  return writer.out;
}

// rowLine is the row at index i as one line, or null when it is better written as blocks: a layout table, long cells.
function rowLine(items, i, want) {
  const row = items[i];
  if (row.rows) return null;
  const cells = [];
  for (let k = i + 1; k < row.end; k = items[k].end) {
    const cell = items[k];
    if (cell.layout !== 'cell') continue;
    if (cell.chars > CELL_CHARS) return null;
    cells.push(writeItems(items, k, cell.end, want).replace(/\s*\n\s*/g, ' '));
  }
  return cells.some(Boolean) ? cells.join(' | ') : '';
}

class TextWriter {
  out = '';
  #breaks = 0; // line ends that are due before the next text
  #gap = ''; // white space that is due before the next text of the same line, or of the same preformatted lines
  #lists = 0; // list items around
  #bullet = false; // the next text is the first of a list item

  line(breaks) {
    this.#breaks = Math.max(this.#breaks, breaks);
    this.#gap = '';
  }

  // newline is a line break that counts each time, up to an empty line.
  newline() {
    this.line(Math.min(this.#breaks + 1, 2));
  }

  open(item) {
    if (item.tag === 'button') this.#space();
    if (isRun(item)) return;
    this.line(APART.has(item.tag) && !this.#lists ? 2 : 1);
    if (item.bullet) {
      this.#lists++;
      this.#bullet = true;
    }
  }

  close(item) {
    if (item.tag === 'button') this.#space();
    if (isRun(item)) return;
    this.line(APART.has(item.tag) && !this.#lists ? 2 : 1);
    if (item.bullet) {
      this.#lists--;
      this.#bullet = false;
    }
  }

  // text writes a piece of text. White space at its ends is written when more follows: as far as keeps says, else as one
  // space.
  text(text, keeps = '') {
    const body = text.trim();
    const start = body ? text.indexOf(body) : text.length;
    this.#white(text.slice(0, start), keeps);
    if (!body) return;
    if (text.startsWith(MARK)) this.#bullet = false; // what takes its place has lines of its own
    if (!this.#starts()) this.out += this.#gap.replace(/[ \t]+(?=\n)/g, '');
    else this.out += (this.out ? '\n'.repeat(this.#breaks) : '') + this.#lead() + this.#gap.slice(this.#gap.lastIndexOf('\n') + 1);
    this.out += body;
    this.#breaks = 0;
    this.#gap = '';
    this.#white(text.slice(start + body.length), keeps);
  }

  // starts tells that the next text begins a line of its own.
  #starts() {
    return !this.out || this.#breaks > 0;
  }

  #white(white, keeps) {
    if (keeps === 'all' || (keeps === 'breaks' && white.includes('\n'))) this.#gap += white;
    else if (white) this.#space();
  }

  // space is due once, and not where a line begins.
  #space() {
    if (!this.#gap && !this.#starts()) this.#gap = ' ';
  }

  #lead() {
    if (!this.#bullet) return '';
    this.#bullet = false;
    return '  '.repeat(Math.min(this.#lists, 5) - 1) + '- ';
  }
}

// isRun tells that an item does not interrupt the line: inline elements, and a floated initial letter.
function isRun(item) {
  return item.layout === 'inline' || (item.floats && item.chars <= 2);
}
