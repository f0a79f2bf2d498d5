// Hosts of closed shadow roots.
//
//   exported.shadowCandidates({limit}) → elements that may have one, for Go to look up and adopt; asked for once each
//   mayHoldUnread(el)                    a custom element that was over the limit and shows nothing we can read

// Closed shadow roots are invisible to any page script; only the protocol sees them, at a price for each host asked. So
// only custom elements and empty elements that take up room are worth asking, once each.
const askedHosts = new WeakSet();
const HOSTS = 'article:empty, aside:empty, blockquote:empty, body:empty, div:empty, footer:empty, header:empty, main:empty, nav:empty, p:empty, section:empty, span:empty, '
  + 'h1:empty, h2:empty, h3:empty, h4:empty, h5:empty, h6:empty';
let unaskedLeft = false;

exported.shadowCandidates = ({ limit = 2000 } = {}) => {
  const found = [];
  unaskedLeft = false;
  const look = (root) => {
    for (const el of queryAll(root, '*')) {
      const tag = tagOf(el);
      const root = openRootOf(el) ?? adoptedRoots.get(el);
      if (root) look(root);
      else if (tag.includes('-') ? matchesSelector(el, ':defined') && !askedHosts.has(el) : matchesSelector(el, HOSTS) && !askedHosts.has(el) && takesRoom(el)) {
        if (found.length < limit) {
          askedHosts.add(el);
          found.push(el);
        } else unaskedLeft = true;
      } else if (isFrame(el)) {
        const doc = frameDocOf(el);
        if (doc) look(doc);
      }
    }
  };
  look(document);
  return found;
};

const takesRoom = (el) => isPainted(el) && boxesOf(el).some((box) => box.width * box.height >= 64);
const mayHoldUnread = (el) => unaskedLeft && tagOf(el).includes('-') && !askedHosts.has(el) && !firstChildOf(el) && shadowOf(el) === null;
