// Access to the document that a page cannot bend, and the cleaner for every string a page supplies.
//
//   firstChildOf nextSiblingOf parentOf(node)   the plain DOM tree        tagOf(el)   lower-case local name
//   attrOf(el, name) hasAttr(el, name)          attributes                isHTML(el)  is it in the HTML namespace
//   shadowOf(el)        open root, or a closed one handed in through adopt, else null
//   frameDocOf(el)      document of a same-process frame, else null       isFrame(el) iframe or frame
//   flatParentOf(node)  parent as laid out: slots, hosts, frame elements; null outside the flat tree
//   eachFlatChild(node, visit)                  children as laid out, not entering frames; stops when visit returns true
//   viewOf(node) documentOf(node) rootOf(node) isConnected(node) isDisabled(el)
//   clean(string, max)  one line of safe text, at most max code points and then a note of how many were left out
//   perTurn(make)       a cache that lives until the running call returns
//
// A form with <input name=childNodes> shadows form.childNodes even in an isolated world, so nothing here reads a
// property off a node: accessors are taken from the prototypes once.

const getterOf = (prototype, name) => Object.getOwnPropertyDescriptor(prototype, name).get;
const accessor = (prototype, name) => {
  const get = getterOf(prototype, name);
  return (object) => get.call(object);
};
const method = (prototype, name) => {
  const { value } = Object.getOwnPropertyDescriptor(prototype, name);
  return (object, ...args) => value.call(object, ...args);
};

const ELEMENT = 1, TEXT = 3, DOCUMENT = 9, FRAGMENT = 11;
const HTML = 'http://www.w3.org/1999/xhtml';
// What every step of a walk asks is written out: functions made by accessor share their compiled code, which then cannot be
// specialized for one property.
const typeGetter = getterOf(Node.prototype, 'nodeType');
const typeOf = (node) => typeGetter.call(node);
const firstChildGetter = getterOf(Node.prototype, 'firstChild');
const firstChildOf = (node) => firstChildGetter.call(node);
const nextSiblingGetter = getterOf(Node.prototype, 'nextSibling');
const nextSiblingOf = (node) => nextSiblingGetter.call(node);
const parentGetter = getterOf(Node.prototype, 'parentNode');
const parentOf = (node) => parentGetter.call(node);
const dataGetter = getterOf(CharacterData.prototype, 'data');
const dataOf = (node) => dataGetter.call(node);
const localNameGetter = getterOf(Element.prototype, 'localName');
const tagOf = (el) => localNameGetter.call(el);
const namespaceGetter = getterOf(Element.prototype, 'namespaceURI');
const isHTML = (el) => namespaceGetter.call(el) === HTML;
const openRootGetter = getterOf(Element.prototype, 'shadowRoot');
const openRootOf = (el) => openRootGetter.call(el);
const isConnected = accessor(Node.prototype, 'isConnected');
const ownerOf = accessor(Node.prototype, 'ownerDocument');
const textContentOf = accessor(Node.prototype, 'textContent');
const containsNode = method(Node.prototype, 'contains');
const openSlotOf = accessor(Element.prototype, 'assignedSlot');
const openTextSlotOf = accessor(Text.prototype, 'assignedSlot');
const getAttribute = Element.prototype.getAttribute;
const hasAttribute = Element.prototype.hasAttribute;
const matches = Element.prototype.matches;
const matchesSelector = (el, selector) => matches.call(el, selector);
const closestOf = method(Element.prototype, 'closest');
const queryInElement = method(Element.prototype, 'querySelectorAll');
const queryInDocument = method(Document.prototype, 'querySelectorAll');
const queryInFragment = method(DocumentFragment.prototype, 'querySelectorAll');
const findInElement = method(Element.prototype, 'querySelector');
const findInDocument = method(Document.prototype, 'querySelector');
const hostOf = accessor(ShadowRoot.prototype, 'host');
const assignedNodesOf = method(HTMLSlotElement.prototype, 'assignedNodes');
const defaultViewOf = accessor(Document.prototype, 'defaultView');
const bodyOf = accessor(Document.prototype, 'body');
const documentElementOf = accessor(Document.prototype, 'documentElement');
const contentDocumentOf = {
  iframe: accessor(HTMLIFrameElement.prototype, 'contentDocument'),
  frame: accessor(HTMLFrameElement.prototype, 'contentDocument'),
};
// Property values of form controls. The receiver decides: asking another kind of element throws, so callers know the tag.
const inputTypeOf = accessor(HTMLInputElement.prototype, 'type');
const inputValueOf = accessor(HTMLInputElement.prototype, 'value');
const inputCheckedOf = accessor(HTMLInputElement.prototype, 'checked');
const inputIndeterminateOf = accessor(HTMLInputElement.prototype, 'indeterminate');
const textareaValueOf = accessor(HTMLTextAreaElement.prototype, 'value');
const optionsOf = accessor(HTMLSelectElement.prototype, 'options');
const selectedOptionsOf = accessor(HTMLSelectElement.prototype, 'selectedOptions');
const selectSizeOf = accessor(HTMLSelectElement.prototype, 'size');
const selectMultipleOf = accessor(HTMLSelectElement.prototype, 'multiple');
const optionSelectedOf = accessor(HTMLOptionElement.prototype, 'selected');

const attrOf = (el, name) => getAttribute.call(el, name);
const hasAttr = (el, name) => hasAttribute.call(el, name);
const documentOf = (node) => ownerOf(node) ?? node;
const viewOf = (node) => defaultViewOf(documentOf(node));
const getRootNode = Node.prototype.getRootNode;
const rootOf = (node) => getRootNode.call(node);
const isDisabled = (el) => matchesSelector(el, ':disabled');
const isFrame = (el) => {
  const tag = tagOf(el);
  return (tag === 'iframe' || tag === 'frame') && isHTML(el);
};

// queryAll takes an element, a document or a shadow root.
function queryAll(node, selector) {
  const type = typeOf(node);
  return (type === ELEMENT ? queryInElement : type === DOCUMENT ? queryInDocument : queryInFragment)(node, selector);
}

function frameDocOf(el) {
  if (!isFrame(el)) return null;
  try {
    return contentDocumentOf[tagOf(el)](el);
  } catch {
    return null;
  }
}

// Closed shadow roots that Go reached by their protocol ids: host to root.
const adoptedRoots = new WeakMap();
let anyAdopted = false;
exported.adopt = (host, root) => {
  anyAdopted = true;
  adoptedRoots.set(host, root);
  return true;
};
const shadowOf = (el) => openRootOf(el) ?? (anyAdopted ? adoptedRoots.get(el) ?? null : null);

// slotOf finds the slot that shows a light child of host. Slots of closed roots are not told, so those are searched.
function slotOf(node, host) {
  const open = typeOf(node) === ELEMENT ? openSlotOf(node) : openTextSlotOf(node);
  if (open) return open;
  const root = adoptedRoots.get(host);
  if (!root) return null;
  for (const slot of queryInFragment(root, 'slot')) if (assignedNodesOf(slot).includes(node)) return slot;
  return null;
}

function flatParentOf(node) {
  const parent = parentOf(node);
  if (!parent) {
    const type = typeOf(node);
    if (type === FRAGMENT) return hostOrNull(node);
    return type === DOCUMENT ? frameElementOf(node) : null;
  }
  if (typeOf(parent) !== ELEMENT) return parent;
  if (shadowOf(parent)) return slotOf(node, parent);
  // A slot that has assigned nodes does not show its fallback children.
  if (tagOf(parent) === 'slot' && assignedNodesOf(parent).length) return null;
  return parent;
}

function hostOrNull(fragment) {
  try {
    return hostOf(fragment);
  } catch {
    return null; // a template's content
  }
}

// frameElementOf is the element that shows a document in its parent's document, null at the top of a process.
function frameElementOf(doc) {
  try {
    return defaultViewOf(doc)?.frameElement ?? null;
  } catch {
    return null; // the parent lives in another process
  }
}

function eachFlatChild(node, visit) {
  let source = node;
  if (typeOf(node) === ELEMENT) {
    source = shadowOf(node) ?? node;
    if (source === node && tagOf(node) === 'slot' && isHTML(node)) {
      const assigned = assignedNodesOf(node);
      if (assigned.length) {
        for (const child of assigned) if (visit(child)) return;
        return;
      }
    }
  }
  for (let child = firstChildOf(source); child; child = nextSiblingOf(child)) if (visit(child)) return;
}

// perTurn keeps what make returns until the running call ends: no page script runs in between, so it cannot go stale.
function perTurn(make) {
  let value = null;
  return () => {
    if (value === null) {
      value = make();
      queueMicrotask(() => { value = null; });
    }
    return value;
  };
}

const ODD = /[^\x20-\x7e]| {2}|^ | $/;
// Controls, format characters (bidi, zero-width, tags), selectors that can carry hidden data, and blank fillers. The
// first alternative keeps the joiner inside an emoji such as a family.
const UNSEEN = new RegExp('(?<=\\p{Extended_Pictographic}[\\p{Emoji_Modifier}\\ufe0f]?)\\u200d(?=\\p{Extended_Pictographic})'
  + '|([\\p{Cc}\\p{Cf}\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u2028\\u2029\\u2800\\u3164\\uffa0\\u{e0000}-\\u{e0fff}])', 'gu');
const MARKS = /(\p{M}{4})\p{M}+/gu;

// clean makes one line of safe text of whatever a page supplies: lone surrogates become U+FFFD, characters that nobody
// sees go, white space folds to single spaces (contract §5, security.md §6). Joined emoji stay whole.
function clean(string, max = Infinity) {
  let text = String(string);
  let beyond = 0;
  if (text.length > max * 8 + 4096) {
    beyond = text.length - (max * 8 + 4096);
    text = text.slice(0, max * 8 + 4096);
  }
  if (ODD.test(text)) {
    text = text.toWellFormed().replace(/\s+/g, ' ');
    if (/[^\x20-\x7e]/.test(text)) {
      text = text.replace(UNSEEN, (found, unseen) => (unseen ? '' : found)).replace(MARKS, '$1');
    }
    text = text.replace(/ {2,}/g, ' ').trim();
  }
  return cut(text, max, beyond);
}

// cut shortens text to max code points and says how many more there were.
function cut(text, max, beyond = 0) {
  if (text.length <= max && !beyond) return text;
  let end = 0, count = 0;
  for (; end < text.length && count < max; count++) end += text.codePointAt(end) > 0xffff ? 2 : 1;
  const left = countPoints(text.slice(end)) + beyond;
  return left ? `${text.slice(0, end)}… (${left} more characters)` : text;
}

function countPoints(text) {
  let count = text.length;
  for (let i = 0; i < text.length; i++) if ((text.charCodeAt(i) & 0xfc00) === 0xd800) count--;
  return count;
}
