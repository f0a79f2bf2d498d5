// The lines of a reading as they come together: parts first, text at the end, so that a container that turns out to hold
// nothing leaves no trace and only lines that are shown take a reference. Counts code points and stops at a limit.

// Room in the limit for the note about the cut.
const NOTE_ROOM = 130;

class Lines {
  // max is the limit in code points, 0 = none.
  constructor(max) {
    this.max = max > 0 ? Math.max(1, max - NOTE_ROOM) : Infinity;
    this.used = 0;
    this.full = false;
    this.levels = [];
    this.heads = [];
    this.elements = [];
    this.tails = [];
    this.refWidth = String(nextRef + 9999).length + 7;
  }

  // add puts down one line; el is the element whose reference it shows, null for text. Returns its place, -1 when full.
  add(level, head, el, tail) {
    if (this.full) return -1;
    if (this.max !== Infinity) {
      const size = this.size(level, head, el, tail);
      if (this.used + size > this.max) {
        this.full = true;
        return -1;
      }
      this.used += size;
    }
    this.levels.push(level);
    this.heads.push(head);
    this.elements.push(el);
    this.tails.push(tail);
    return this.heads.length - 1;
  }

  size(level, head, el, tail) {
    const text = head + tail;
    return level + 1 + (el ? this.refWidth : 0) + (text.length > 0 && /[\ud800-\udbff]/.test(text) ? countPoints(text) : text.length);
  }

  drop(at) {
    this.used -= this.size(this.levels[at], this.heads[at], this.elements[at], this.tails[at]);
    for (const part of [this.levels, this.heads, this.elements, this.tails]) {
      if (at === part.length - 1) part.pop();
      else part.splice(at, 1);
    }
  }

  replaceByChild(at) {
    this.drop(at);
    this.levels[at]--;
    this.used--;
  }

  // absorbText makes the only text in an element its name.
  absorbText(at) {
    const text = this.heads[at + 1];
    this.drop(at + 1);
    this.heads[at] += ' ' + text;
    this.used += text.length + 1;
  }

  // text is all lines, indented, each reference given now.
  text() {
    const indents = [''];
    const text = new Array(this.heads.length);
    for (let i = 0; i < text.length; i++) {
      const el = this.elements[i], level = this.levels[i];
      const indent = indents[level] ??= ' '.repeat(level);
      text[i] = indent + this.heads[i] + (el ? ' [ref_' + refFor(el) + ']' + this.tails[i] : this.tails[i]);
    }
    return text.join('\n');
  }
}
