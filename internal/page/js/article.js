// Finds the article among the items of a page (see readItems in text.js), in three steps: paragraphs of prose give points to
// the blocks around them; the block with the most points, corrected for links, holds the article; what is in it but
// not of it (navigation, sharing, related links, forms) is taken out again.

// anyOf makes one pattern of patterns that white space separates.
const anyOf = (patterns) => new RegExp(patterns.split(/\s+/).join('|'), 'i');

// Words in class names and ids: of parts that surround an article, of parts that do so unless another word speaks for them, and
// of parts that hold one.
const SIDE = anyOf(String.raw`comment disqus related recommend promo(?:tion|s|\b|[-_]) sponsor advert \bads?[-_\s] \bads?$ breadcrumb cookie
  consent newsletter subscri sign-?up \bshar(?:e|ing) social outbrain taboola \breply replies user-post sidebar
  pagination \bpager trending most-?read read-?next author-?bio`);
const MAYBE_SIDE = anyOf(String.raw`footer masthead menu \bnav banner follow rss popup modal overlay toolbar widget popular skyscraper login extra
  tag-?(?:list|cloud) supplement gallery carousel slideshow legends`);
const MAIN = anyOf(String.raw`article body content column entry main shadow post story text page blog`);
const SURELY_MAIN = anyOf(String.raw`(?:article|entry|post|story|main|page)[-_]?(?:body|content|text)\b`);
const SIDE_TAGS = new Set(['nav', 'aside', 'footer', 'button', 'form', 'dialog', 'menu', 'fieldset', 'input', 'iframe', 'frame', 'object', 'embed']);
const SIDE_ROLES = new Set('navigation complementary contentinfo banner search menu menubar dialog alertdialog alert toolbar tablist'.split(' '));
const PARTS_OF_BLOCKS = new Set(['tr', 'tbody', 'thead', 'tfoot', 'table', 'ul', 'ol', 'dl', 'li', 'dd', 'p', 'blockquote', 'pre']);
// The least prose, in characters, that makes an article, and the shortest paragraph that counts for it.
const LEAST_PROSE = 400, LEAST_PARAGRAPH = 60;

// findArticle returns a mark per item, 1 for those of the article, or null where the page has none.
function findArticle(items) {
  judge(items);
  const top = bestBlock(items, true) ?? bestBlock(items, false);
  if (!top) return null;
  const block = widen(items, top);
  let prose = 0;
  for (let i = block.at; i < block.end; i++) if (items[i].own >= LEAST_PARAGRAPH && isProse(items[i]) && !items[i].out) prose += items[i].own;
  if (prose < LEAST_PROSE || isListing(items, block)) return null;
  const marks = new Uint8Array(items.length);
  marks.fill(1, block.at, block.end);
  dropSides(items, marks);
  const headline = items.findLast((item) => item.tag === 'h1' && item.at < block.end && !item.out);
  if (headline) marks.fill(1, headline.at, headline.end);
  return marks;
}

// judge notes what names and roles say: side is set for what surrounds an article, out for that and all inside it.
function judge(items) {
  for (let i = items.length - 1; i >= 0; i--) {
    const item = items[i];
    if (!item.el) continue;
    item.at = i;
    item.points = item.blocks = item.prose = item.sideChars = 0;
    item.holdsMain ||= item.tag === 'h1' || item.tag === 'main' || item.tag === 'article';
    if (item.holdsMain && item.parent) item.parent.holdsMain = true;
  }
  for (const item of items) {
    if (!item.el) continue;
    const { el, tag, parent } = item;
    const words = `${attrOf(el, 'class') ?? ''} ${attrOf(el, 'id') ?? ''}`.slice(0, 400);
    const { main, side } = judgeWords(words);
    item.weight = (main ? 25 : 0) - (side ? 25 : 0);
    item.side = !item.holdsMain && tag !== 'a' && tag !== 'body' && (side || SIDE_TAGS.has(tag) || SIDE_ROLES.has(attrOf(el, 'role')));
    item.out = item.side || (parent?.out ?? false);
    if (item.block === item && parent) parent.block.blocks++;
  }
}

const wordVerdicts = perTurn(() => new Map());

function judgeWords(words) {
  let verdict = wordVerdicts().get(words);
  if (!verdict) {
    const main = MAIN.test(words);
    verdict = { main, side: (SIDE.test(words) && !SURELY_MAIN.test(words)) || (!main && MAYBE_SIDE.test(words)) };
    wordVerdicts().set(words, verdict);
  }
  return verdict;
}

const isProse = (item) => item.own >= 25 && item.ownLinks < item.own * 0.5;

const linkShare = (item) => (item.chars ? item.linkChars / item.chars : 0);

// bestBlock has the paragraphs give their points and returns the block with the most.
function bestBlock(items, strict) {
  const candidates = new Set();
  for (const item of items) {
    if (!item.el || item.block !== item || !isProse(item) || (strict && item.out)) continue;
    const points = 1 + item.commas + Math.min(3, Math.floor(item.own / 100));
    let block = item.blocks ? item : item.parent?.block;
    for (let level = 0; block && level < 5; level++, block = block.parent?.block) {
      block.points += points / (level < 2 ? level + 1 : level * 3);
      candidates.add(block);
    }
  }
  let best = null;
  for (const block of candidates) {
    block.score = (block.points + block.weight) * (1 - linkShare(block));
    if (!best || block.score > best.score) best = block;
  }
  return best;
}

// widen returns the block around top that still is mostly prose: sections of one article share a parent. Side text does not count.
function widen(items, top) {
  for (let i = items.length - 1; i >= 0; i--) {
    const item = items[i];
    if (!item.el) continue;
    if (item.out) item.sideChars = item.chars;
    else if (item.block === item && isProse(item)) item.prose += item.own;
    if (!item.parent) continue;
    item.parent.prose += item.prose;
    item.parent.sideChars += item.sideChars;
  }
  let block = top;
  while (PARTS_OF_BLOCKS.has(block.tag) && block.parent) block = block.parent.block;
  for (let up = block.parent, inside = block.tag === 'article'; up && !inside; up = up.parent) {
    inside = up.tag === 'article';
    const prose = up.prose - block.prose;
    const text = up.chars - up.sideChars - (block.chars - block.sideChars);
    if (prose > 0.05 * block.prose && prose > 0.8 * text) block = up;
  }
  return block;
}

// isListing tells results, posts of a forum or goods in a shop from an article: the prose is spread evenly over items that look alike and each
// have a link outside their prose.
function isListing(items, block) {
  let list = block;
  for (let next = block; next; ) {
    list = next;
    next = null;
    for (const child of childBlocks(items, list)) if (child.prose > 0.8 * list.prose) next = child;
  }
  const kinds = new Map();
  for (const child of childBlocks(items, list)) {
    if (child.out || !child.prose || !child.blocks || child.prose > 0.5 * list.prose || !hasOwnLink(items, child)) continue;
    const kind = `${child.tag}.${attrOf(child.el, 'class')?.split(' ')[0] ?? ''}`;
    const seen = kinds.get(kind) ?? { count: 0, prose: 0 };
    kinds.set(kind, { count: seen.count + 1, prose: seen.prose + child.prose });
  }
  return [...kinds.values()].some(({ count, prose }) => count >= 3 && prose > 0.7 * list.prose);
}

function* childBlocks(items, block) {
  for (let i = block.at + 1; i < block.end; i = items[i].block === items[i] ? items[i].end : i + 1) {
    if (items[i].block === items[i]) yield items[i];
  }
}

const hasOwnLink = (items, block) => {
  for (let i = block.at; i < block.end; i++) if (items[i].tag === 'a' && items[i].chars && !isProse(items[i].block)) return true;
  return false;
};

function dropSides(items, marks) {
  items.forEach((item, i) => {
    if (item.side && marks[i]) marks.fill(0, i, item.end);
  });
}
