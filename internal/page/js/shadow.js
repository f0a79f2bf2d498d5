// Hosts of closed shadow roots.
//
//   exported.shadowCandidates({limit}) → elements that may have one, for Go to look up and adopt; asked for once each
//   unaskedIn(root, complete)           those elements
//   eachHost(node, visit)                elements below node with a shadow tree that we know
//   mayHoldUnread(el)                    a custom element that was over the limit and shows nothing we can read

// Closed shadow roots are invisible to any page script; only the protocol sees them, at a price for each host asked. So
// only custom elements and empty elements that take up room are worth asking, once each.
const askedHosts = new WeakSet();
const HOST_TAGS = new Set('article aside blockquote body div footer header main nav p section span h1 h2 h3 h4 h5 h6'.split(' '));
let unaskedLeft = false;

exported.shadowCandidates = ({ limit = 2000 } = {}) => {
  const unasked = unaskedIn(document, true);
  const found = unasked.slice(0, limit);
  unaskedLeft = unasked.length > limit;
  for (const el of found) askedHosts.add(el);
  return found;
};

// unaskedIn lists the elements of a document or shadow tree that are still to be asked about. What is inside shadow trees
// of elements that are not custom ones takes a look at every element: a walk that makes one anyway sees to those itself.
function unaskedIn(root, complete, found = []) {
  for (const el of customIn(root)) {
    const inner = shadowOf(el);
    if (inner) unaskedIn(inner, complete, found);
    else if (!askedHosts.has(el) && matchesSelector(el, ':defined')) found.push(el);
  }
  for (const el of queryAll(root, ':empty, iframe, frame')) {
    if (HOST_TAGS.has(tagOf(el))) {
      if (!askedHosts.has(el) && shadowOf(el) === null && takesRoom(el)) found.push(el);
    } else if (isFrame(el)) {
      const doc = frameDocOf(el);
      if (doc) unaskedIn(doc, complete, found);
    }
  }
  if (complete) eachHost(root, (host, inner) => { if (!isCustom(host)) unaskedIn(inner, true, found); });
  return found;
}

const isCustom = (el) => tagOf(el).includes('-');

// customIn finds the custom elements of a document or shadow tree. The engine looks at their names: to fetch every element
// for that takes several times as long.
function customIn(root) {
  const found = [];
  for (const top of typeOf(root) === DOCUMENT ? [root] : childElementsOf(root)) {
    const result = evaluatePath.call(documentOf(root), CUSTOM, top, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
    for (let i = 0; i < result.snapshotLength; i++) found.push(result.snapshotItem(i));
  }
  return found;
}
const CUSTOM = "descendant-or-self::*[contains(local-name(), '-')]";
const evaluatePath = Document.prototype.evaluate;
const childElementsOf = accessor(DocumentFragment.prototype, 'children');

// eachHost visits the elements below node that have a shadow root we know, in order, until visit returns true; it returns
// whether that was so. An iterator is the fastest way to fetch every element.
function eachHost(node, visit) {
  const elements = iterate.call(documentOf(node), node, NodeFilter.SHOW_ELEMENT);
  for (let el = elements.nextNode(); el; el = elements.nextNode()) {
    const root = shadowOf(el);
    if (root !== null && el !== node && visit(el, root)) return true;
  }
  return false;
}
const iterate = Document.prototype.createNodeIterator;

const hostsIn = perTurn(() => new Map());

// hasHosts: is there any such element in the document.
function hasHosts(doc) {
  let has = hostsIn().get(doc);
  if (has === undefined) hostsIn().set(doc, has = eachHost(doc, () => true));
  return has;
}

const takesRoom = (el) => isPainted(el) && boxesOf(el).some((box) => box.width * box.height >= 64);
const mayHoldUnread = (el) => unaskedLeft && tagOf(el).includes('-') && !askedHosts.has(el) && !firstChildOf(el) && shadowOf(el) === null;
