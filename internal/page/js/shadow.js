// Hosts of closed shadow roots.
//
//   exported.shadowCandidates({limit}) → elements that may have one, for Go to look up and adopt; asked for once each
//   shadowScan()                         { unasked: those elements, hosts: is there any shadow tree that we know }
//   eachHost(node, visit)                elements below node with a shadow tree that we know
//   mayHoldUnread(el)                    a custom element that was over the limit and shows nothing we can read

// Closed shadow roots are invisible to any page script; only the protocol sees them, at a price for each host asked. So
// only custom elements and empty elements that take up room are worth asking, once each.
const askedHosts = new WeakSet();
const HOST_TAGS = new Set('article aside blockquote body div footer header main nav p section span h1 h2 h3 h4 h5 h6'.split(' '));
let unaskedLeft = false;

exported.shadowCandidates = ({ limit = 2000 } = {}) => {
  const { unasked } = shadowScan();
  const found = unasked.slice(0, limit);
  unaskedLeft = unasked.length > limit;
  for (const el of found) askedHosts.add(el);
  return found;
};

// shadowScan tells which elements are still to be asked about, and whether any has a shadow tree that we know.
const shadowScan = perTurn(() => {
  const scan = { unasked: [], hosts: false };
  scanShadows(document, scan);
  return scan;
});

function scanShadows(root, scan) {
  for (const el of customIn(root)) {
    if (!askedHosts.has(el) && shadowOf(el) === null && matchesSelector(el, ':defined')) scan.unasked.push(el);
  }
  for (const el of queryAll(root, ':empty, iframe, frame')) {
    if (HOST_TAGS.has(tagOf(el))) {
      if (!askedHosts.has(el) && shadowOf(el) === null && takesRoom(el)) scan.unasked.push(el);
    } else if (isFrame(el)) {
      const doc = frameDocOf(el);
      if (doc) scanShadows(doc, scan);
    }
  }
  eachHost(root, (_, inner) => {
    scan.hosts = true;
    scanShadows(inner, scan);
    return false;
  });
}

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

const takesRoom = (el) => isPainted(el) && boxesOf(el).some((box) => box.width * box.height >= 64);
const mayHoldUnread = (el) => unaskedLeft && tagOf(el).includes('-') && !askedHosts.has(el) && !firstChildOf(el) && shadowOf(el) === null;
