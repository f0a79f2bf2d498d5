// find: the elements of the whole page that fit a description in plain words, best first, without a network.
//
// The query becomes groups: each is one thing to look for, with the words that say the same (find_words.js). One walk over what
// is painted lists the places a person could mean and, as one long row of words, all the text. Each place then gathers
// evidence for each group from its name, its attributes and the text around it. Scores lie between 0 and about 1.5 and do not
// depend on the rest of the page, so those of several frames compare.

// find({query, limit}) → {items: [{ref, line, score}], total}. Items come best first, at most limit; total counts all that fit.
exported.find = ({ query, limit = 20 }) => {
  const wanted = parseQuery(query);
  const places = readPlaces();
  const hits = new Hits(wanted.groups, places.words);
  const found = [];
  for (const place of places.list) {
    const score = scoreOf(place, wanted, hits);
    if (score) found.push({ place, score });
  }
  const best = found.reduce((most, { score }) => Math.max(most, score), 0);
  const least = best < GOOD_SCORE ? LAST_RESORT : Math.max(LEAST_SCORE, best * LEAST_SHARE);
  pickOrdinal(found, wanted.ordinal);
  found.sort((a, b) => b.score - a.score || a.place.at - b.place.at);
  const fitting = found.filter(({ score }) => score >= least);
  const items = fitting.slice(0, limit).map(({ place: { el }, score }) => ({ ref: refName(el), line: lineOf(el), score: Math.round(score * 1000) / 1000 }));
  return { items, total: fitting.length };
};

// What does not reach this score, or this share of the best one, does not fit. Where nothing is good, all of the kind that
// the query names is listed after what there is.
const LEAST_SCORE = 0.2, LEAST_SHARE = 0.5, GOOD_SCORE = 0.75, LAST_RESORT = 0.1;
// A word known by its meaning, by its beginning, by being part of a longer one; one word of a phrase.
const BY_MEANING = 0.85, BY_START = 0.6, BY_PART = 0.5, BY_HALF = 0.35;
const FIELD_ROLES = new Set(FIELDS.split(' '));
const MAX_QUERY_WORDS = 40, MAX_LINE = 4000, MAX_FIELD_CHARS = 300;

// ---- the query

const OR_WORDS = new Set(['/', '(', 'or', 'oder', 'ou', 'oppure']);
const TYPING_WORDS = new Set(['type', 'typing', 'enter', 'entering', 'fill', 'write', 'writing']);
const PLACES = new Set(PLACE_WORDS.split(' '));

// parseQuery → {groups, roles, ordinal, words}. A group has ways (lists of stems with a quality), weight (0 = a match is
// welcome, a miss costs nothing) and place (it says where the element is). Roles is a set or null.
function parseQuery(query) {
  const { meanings, nothing, helpful } = vocabulary();
  const tokens = (clean(query, 1000).toLowerCase().match(/[\p{L}\p{N}\p{M}'’]+|[/(]/gu) ?? []).slice(0, MAX_QUERY_WORDS);
  const steps = tokens.map((token) => (OR_WORDS.has(token) ? { or: true } : { token, words: wordsOf(token) }));
  const wanted = { groups: [], roles: null, ordinal: 0, words: [] };
  const mentions = [];
  const seen = new Set();
  let either = false, place = false, typed = false;
  for (let i = 0; i < steps.length;) {
    const { or, token, words } = steps[i];
    if (or) {
      either = wanted.groups.length > 0;
      i++;
      continue;
    }
    const phrase = longestPhrase(steps, i);
    const next = i + (phrase?.steps ?? 1);
    const bare = phrase === null || phrase.steps === 1;
    if (bare && PLACES.has(token) && wanted.groups.length + mentions.length > 0) place = true;
    if (bare && TYPING_WORDS.has(token)) typed = true;
    if (bare && Object.hasOwn(ORDINALS, token) && next < steps.length) {
      wanted.ordinal = ORDINALS[token];
    } else if (bare && words.every((word) => nothing.has(word))) {
      // says nothing
    } else if (phrase?.roles && !(place && phrase.meanings.length)) {
      if (!place) mentions.push({ ...phrase, at: wanted.groups.length });
    } else {
      const stems = phrase?.words ?? words;
      const ways = waysOf(stems, phrase ? phrase.meanings.map((m) => meanings[m]) : []);
      const keys = phrase?.meanings.length ? phrase.meanings : [stems.join(' ')];
      if (!keys.some((key) => seen.has(key))) {
        if (either) wanted.groups.at(-1).ways.push(...ways);
        else {
          const minor = bare && words.every((word) => helpful.has(word)) && !phrase?.meanings.length;
          wanted.groups.push({ ways, weight: minor ? 0 : place ? 0.7 : 1, place });
        }
        wanted.words.push(...stems);
      }
      for (const key of keys) seen.add(key);
    }
    either = false;
    i = next;
  }
  // Of several words the last before a preposition is the thing itself: in "card expiration date" the date.
  if (!wanted.groups.some((group) => group.weight && !group.place)) for (const group of wanted.groups) group.place = false; // "field for the city"
  const heads = wanted.groups.filter((group) => group.weight && !group.place);
  for (const group of heads.slice(0, -1)) group.weight = 0.7;
  addRoles(wanted, mentions, meanings);
  if (!wanted.roles && typed) wanted.roles = FIELD_ROLES;
  return wanted;
}

// longestPhrase finds the longest known phrase at steps[i], with all its senses.
function longestPhrase(steps, i) {
  const { phrases } = vocabulary();
  const stems = [], ends = [];
  for (let k = i; k < steps.length && stems.length < 6 && !steps[k].or; k++) {
    stems.push(...steps[k].words);
    ends.push(stems.length);
  }
  let best = null;
  for (const { words, meaning, roles } of phrases.get(stems[0]) ?? []) {
    const count = ends.indexOf(words.length) + 1;
    if (!count || (best && words.length < best.words.length) || !words.every((word, k) => word === stems[k])) continue;
    if (!best || words.length > best.words.length) best = { words, steps: count, meanings: [], roles: null };
    if (roles) best.roles = roles;
    else if (!best.meanings.includes(meaning)) best.meanings.push(meaning);
  }
  return best;
}

function waysOf(stems, meanings) {
  const ways = [{ words: stems, quality: 1 }];
  for (const phrases of meanings) {
    for (const words of phrases) {
      ways.push({ words, quality: BY_MEANING });
      if (words.length > 1) ways.push({ words: [cutEnding(words.join(''))], quality: BY_MEANING });
    }
  }
  if (stems.length > 1) {
    ways.push({ words: [cutEnding(stems.join(''))], quality: 0.95 });
    // The word that says what it is: the last one, or the one before a preposition (name on card).
    const { nothing } = vocabulary();
    const small = stems.findIndex((word) => nothing.has(word));
    const head = stems[(small < 0 ? stems.length : small) - 1];
    if (head?.length > 2) ways.push({ words: [head], quality: BY_HALF });
  }
  return ways;
}

// addRoles takes the last kind of element that the query names as the one meant; those before it are words like others.
function addRoles(wanted, mentions, meanings) {
  const last = mentions.pop();
  if (!last) return;
  wanted.roles = last.roles;
  const ways = ({ words, meanings: known }) => waysOf(words, known.map((m) => meanings[m]));
  wanted.groups.push({ ways: ways(last), weight: 0, place: false });
  for (const mention of mentions) {
    const same = [...mention.roles].every((role) => last.roles.has(role));
    wanted.groups.push({ ways: ways(mention), weight: same || !mention.meanings.length ? 0 : 0.7, place: false });
  }
}

// Hits finds the ways of the groups in rows of stems. A single stem is looked up once for its exact, similar and longer forms.
class Hits {
  #byStem = new Map();
  #known = new Map();
  #touched = new Map();

  constructor(groups, words) {
    this.groups = groups;
    this.words = words;
    groups.forEach(({ ways }, group) => {
      for (const { words: [first, ...rest], quality } of ways) {
        const entries = this.#byStem.get(first) ?? [];
        if (!entries.length) this.#byStem.set(first, entries);
        entries.push({ group, rest, quality });
      }
    });
    // Where in the text of the page each group was found, in order.
    this.places = groups.map(() => []);
    this.scan(words, (group, at, length, quality) => { this.places[group].push({ at, quality }); });
  }

  scan(words, found) {
    for (let i = 0; i < words.length; i++) {
      for (const { group, rest, quality } of this.#entries(words[i])) {
        let k = 0;
        while (k < rest.length && words[i + 1 + k] === rest[k]) k++;
        if (k === rest.length) found(group, i, 1 + k, quality);
      }
    }
  }

  #entries(stem) {
    let entries = this.#known.get(stem);
    if (entries) return entries;
    entries = [...(this.#byStem.get(stem) ?? [])];
    if (stem.length > 3 && stem.length < 60) {
      for (const [other, known] of this.#byStem) {
        const quality = likeness(stem, other);
        if (quality) for (const entry of known) if (!entry.rest.length) entries.push({ ...entry, quality: entry.quality * quality });
      }
    }
    this.#known.set(stem, entries);
    return entries;
  }

  // touch tells whether a short text has any of the groups in it. Class names repeat, so answers are kept.
  touch(text) {
    if (!text || text.length > MAX_FIELD_CHARS) return false;
    let touched = this.#touched.get(text);
    if (touched === undefined) {
      touched = false;
      this.scan(wordsOf(text), (group) => { touched ||= this.groups[group].weight > 0; });
      this.#touched.set(text, touched);
    }
    return touched;
  }

  // best is the quality of the best match of group in the page's words from … to.
  best(group, from, to) {
    const places = this.places[group];
    let low = 0, high = places.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (places[middle].at < from) low = middle + 1;
      else high = middle;
    }
    let quality = 0;
    for (let k = low; k < places.length && k < low + 50 && places[k].at < to; k++) quality = Math.max(quality, places[k].quality);
    return quality;
  }
}

function likeness(stem, other) {
  if (stem === other || other.length < 4) return 0;
  if (stem.startsWith(other) || (other.startsWith(stem) && stem.length > other.length * 0.7)) return BY_START;
  return other.length > 4 && stem.includes(other) ? BY_PART : 0;
}

// ---- the page

const ACTIVE_TAGS = new Set(['button', 'input', 'select', 'textarea', 'summary']);
const STRUCTURE_TAGS = new Set('h1 h2 h3 h4 h5 h6 img tr li td th table dialog video canvas form nav iframe'.split(' '));
const HEADING_TAGS = new Set(['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'legend', 'caption']);
// Rows of a list or table: the words in them say which of many equal buttons is meant.
const ROW_TAGS = new Set(['tr', 'li', 'article', 'fieldset', 'dl']);

// readPlaces → {list, words}. Words are the stems of all text that shows. A place has el, tag, its number at, the parent around it, the
// range of words in it, start to end, the heading before it, and a kind: active, structure or text; covered means that something
// active around it says it already, holds that something active is in it.
function readPlaces() {
  const list = [], words = [];
  let heading = null;
  const newPlace = (el, parent, { kind = '', pointer = false, covered = false }) => (
    { el, tag: tagOf(el), parent, at: list.length, start: words.length, end: words.length, heading, kind, holds: false, pointer, covered });
  const enter = (el, parent, look, style) => {
    const tag = tagOf(el);
    if (UNREAD_TAGS.has(tag)) return null;
    const pointer = style.cursor === 'pointer';
    const covered = parent !== null && (parent.covered || parent.kind === 'active');
    const item = newPlace(el, parent, { pointer, covered });
    if (tag === 'label' && labelControlOf(el)) item.covered = true; // the control says it
    else if (look > 0) item.kind = kindOf(item, pointer && !parent?.pointer);
    if (item.kind) list.push(item);
    if (tag !== 'select' && tag !== 'textarea') return item;
    if (parent) parent.holds = true;
    return null; // what is in it is its value
  };
  walkRendered(document, {
    enter,
    text(data, item) {
      if (!/\S/.test(data)) return;
      words.push(...wordsOf(data.length > 5000 ? data.slice(0, 5000) : data));
      if (!item.kind && !item.covered) {
        item.kind = 'text';
        item.at = list.push(item) - 1;
      }
    },
    leave(item) {
      item.end = words.length;
      if (item.parent && (item.holds || item.kind === 'active')) item.parent.holds = true;
      if (HEADING_TAGS.has(item.tag)) heading = item;
    },
    // A native control hidden behind its visible label is operated through that (FR-016).
    hidden(el, parent) {
      if (tagOf(el) !== 'input' || !/^(checkbox|radio|file)$/.test(inputTypeOf(el)) || !labelsOf(el).some(isRendered)) return;
      list.push(newPlace(el, parent, { kind: 'active' }));
    },
  });
  return { list, words };
}

function kindOf({ el, tag }, pointer) {
  if (ACTIVE_TAGS.has(tag)) return tag === 'input' && inputTypeOf(el) === 'hidden' ? '' : 'active';
  if (tag === 'html' || tag === 'body') return '';
  if (tag === 'a' && hasAttr(el, 'href')) return 'active';
  const declared = attrOf(el, 'role');
  if (declared !== null && isActive(roleOf(el))) return 'active';
  if (isEditable(el) || (hasTabindex(el) && Number(attrOf(el, 'tabindex')) >= 0) || hasAttr(el, 'onclick') || listening.has(el)) return 'active';
  if (pointer && !(tag === 'label' && labelControlOf(el))) return 'active';
  return declared !== null || STRUCTURE_TAGS.has(tag) || hasAttr(el, 'aria-label') ? 'structure' : '';
}

// ---- scores

// How much a match in each kind of field proves.
const FIELD_WEIGHTS = {
  name: 1, autocomplete: 0.95, placeholder: 0.9, title: 0.85, ident: 0.8, alt: 0.8, type: 0.7, options: 0.6, href: 0.4, class: 0.35,
};

function scoreOf(place, wanted, hits) {
  const { groups } = wanted;
  if (place.kind !== 'active' && (place.covered || !mayFit(place, wanted, hits))) return 0;
  const role = place.kind === 'text' ? 'generic' : roleOf(place.el);
  const evidence = new Float64Array(groups.length).fill(1); // what still speaks against each group
  const fields = fieldsOf(place, role, hits.words);
  let closeness = 0;
  for (const [field, text] of fields) {
    const words = typeof text === 'string' ? wordsOf(clean(text, MAX_FIELD_CHARS)) : text;
    closeness = Math.max(closeness, weigh(words, field, hits, evidence, wanted));
  }
  addSurroundings(place, role, groups, hits, evidence, fields);
  let sum = 0, weights = 0, extra = 0;
  groups.forEach((group, g) => {
    const proof = 1 - evidence[g];
    if (group.weight) {
      sum += group.weight * proof;
      weights += group.weight;
    } else extra += 0.06 * proof;
  });
  const fits = wanted.roles === null ? 0 : fit(place, role, wanted.roles);
  if (fits <= 0 && isContainer(place, role)) return 0;
  if (weights && !sum) return fits > 0 && place.kind === 'active' ? LAST_RESORT : 0;
  if (!weights && fits <= 0) return 0;
  const covered = weights ? sum / weights : 0.6;
  let score = covered * (1 + closeness) * (fits < 0 ? 0.5 : 1) + Math.min(extra, 0.12) + Math.max(fits, 0);
  if (place.kind === 'active') score += 0.08;
  else if (fits <= 0) score *= wanted.roles === null ? 0.65 : 0.5;
  if (place.end - place.start > 40) score *= place.kind === 'active' ? 0.85 : 0.6;
  return score;
}

const NAMING = ['aria-label', 'alt', 'title'];

// mayFit spares the bulk of a page a closer look.
function mayFit(place, { groups, roles }, hits) {
  if (groups.some(({ weight }, g) => weight && hits.best(g, place.start, place.end))) return true;
  if (place.end - place.start > 20) return false;
  if (hits.touch(attrOf(place.el, 'class')) || hits.touch(attrOf(place.el, 'id'))) return true;
  if (place.kind !== 'structure') return false;
  if (NAMING.some((name) => hits.touch(attrOf(place.el, name)))) return true;
  return roles !== null && !groups.some(({ weight }) => weight) && fit(place, roleOf(place.el), roles) > 0;
}

// fieldsOf lists what can be read about a place by itself.
function fieldsOf({ el, tag, kind, start, end }, role, words) {
  const name = kind === 'text' ? '' : nameOf(el);
  const fields = [['name', name]];
  const add = (field, text) => { if (text) fields.push([field, text]); };
  if (!name && end > start) fields.push(['name', words.slice(start, Math.min(end, start + 60))]);
  else if (!name) add('ident', derivedName(el)?.name);
  if (kind === 'text') {
    if (end - start <= 20) add('class', `${attrOf(el, 'class') ?? ''} ${attrOf(el, 'id') ?? ''}`);
    return fields;
  }
  add('placeholder', placeholderOf(el));
  add('title', attrOf(el, 'title'));
  add('ident', joined(el, ['name', 'id', 'data-testid', 'data-test', 'data-qa', 'data-icon', 'data-action', 'for', 'formcontrolname']));
  add('class', attrOf(el, 'class'));
  add('alt', attrOf(el, 'alt'));
  if (tag === 'a') add('href', attrOf(el, 'href')?.slice(0, 200).replace(/^\w+:\/\/[^/]*/, ''));
  if (isSubmit(el, tag)) {
    add('type', 'submit');
    if (asksPassword(closestOf(el, 'form'))) add('class', 'login');
  } else if (tag === 'input') {
    add('type', TYPE_WORDS[attrOf(el, 'type')?.toLowerCase()]);
  } else if (tag === 'select') {
    add('options', Array.from(optionsOf(el)).slice(0, 2).map(textContentOf).join(' ').slice(0, MAX_FIELD_CHARS));
  }
  const completes = attrOf(el, 'autocomplete');
  if (completes) add('autocomplete', completes.slice(0, 100).toLowerCase().split(/\s+/).map((token) => AUTOCOMPLETE_WORDS[token] ?? '').join(' '));
  const inner = firstElementChildOf(el);
  if (inner && name.length < 3 && (role === 'button' || role === 'link')) add('class', classWords(attrOf(inner, 'class')));
  return fields;
}

const isSubmit = (el, tag) => (tag === 'input' ? /^(submit|image)$/.test(inputTypeOf(el))
  : tag === 'button' && buttonTypeOf(el) === 'submit' && closestOf(el, 'form') !== null);
const buttonTypeOf = accessor(HTMLButtonElement.prototype, 'type');

const passwordForms = perTurn(() => new Map());
function asksPassword(form) {
  if (!form) return false;
  let asks = passwordForms().get(form);
  if (asks === undefined) {
    asks = queryAll(form, 'input[type=password]').length > 0;
    passwordForms().set(form, asks);
  }
  return asks;
}

const joined = (el, names) => names.map((name) => attrOf(el, name) ?? '').join(' ').trim();

// weigh adds the evidence of one field, and returns a bonus for a name that says just what the query says.
function weigh(words, field, hits, evidence, wanted) {
  const best = new Float64Array(evidence.length);
  const used = new Set();
  hits.scan(words, (group, at, length, quality) => {
    best[group] = Math.max(best[group], quality);
    if (quality >= BY_MEANING) for (let k = at; k < at + length; k++) used.add(k);
  });
  for (let g = 0; g < best.length; g++) evidence[g] *= 1 - 0.9 * FIELD_WEIGHTS[field] * best[g];
  if ((field !== 'name' && field !== 'placeholder') || !used.size) return 0;
  const { nothing } = vocabulary();
  const telling = words.filter((word) => !nothing.has(word)).length || words.length;
  const exact = wanted.words.length > 0 && words.join(' ').includes(wanted.words.join(' ')) ? 0.1 : 0;
  return (field === 'name' ? 1 : 0.7) * (0.2 * Math.min(1, used.size / telling) + exact);
}

// addSurroundings adds what the text before a field, the row or group it is in and the heading above it say.
function addSurroundings(place, role, groups, hits, evidence, fields) {
  const field = place.kind === 'active' && role !== 'button' && role !== 'link';
  const unnamed = field && !fields[0][1];
  const after = role === 'checkbox' || role === 'radio';
  groups.forEach((group, g) => {
    if (!hits.places[g].length) return;
    let proof = 0;
    if (field) {
      const near = after ? hits.best(g, place.end, place.end + 6) : hits.best(g, place.start - 4, place.start);
      proof = near * (unnamed ? 0.6 : 0.25);
    }
    let size = place.end - place.start, share = group.place ? 0.95 : 0.25;
    for (let around = place.parent, level = 0; around && level < 12 && around.end - around.start <= 80; around = around.parent, level++) {
      if (around.end - around.start === size && !ROW_TAGS.has(around.tag)) continue;
      size = around.end - around.start;
      proof = Math.max(proof, share * hits.best(g, around.start, around.end));
      share *= 0.9;
    }
    if (place.heading) proof = Math.max(proof, (group.place ? 0.7 : 0.15) * hits.best(g, place.heading.start, place.heading.end));
    evidence[g] *= 1 - 0.9 * proof;
  });
}

// isContainer: what only holds the things a person may mean stands back for them.
const CONTAINERS = new Set('table grid list form navigation row rowgroup tablist toolbar group search main banner contentinfo'.split(' '));
const isContainer = ({ el, kind, holds }, role) => kind !== 'active' && ((CONTAINERS.has(role) && !hasOwnLabel(el)) || holds);

// fit is the bonus for the kind of element that the query names, -1 for another kind, 0 for one that is
// often taken for it.
function fit(place, role, roles) {
  if (roles.has(role)) return role === 'button' && roles.has('listbox') ? 0.05 : 0.2;
  if (roles.has('row') && ROW_TAGS.has(place.tag)) return 0.15;
  if (place.kind === 'active' && (role === 'generic' || role === 'none') && roles.has('button')) return 0.1;
  if (roles.has('textbox') && isEditable(place.el)) return 0.2;
  if (roles.has('image') && queryAll(place.el, 'img, svg').length) return 0.1;
  return roles.has('combobox') && FIELD_ROLES.has(role) ? 0 : -1;
}

// pickOrdinal puts the nth, in the page's order, of those that fit about equally well in front.
function pickOrdinal(found, ordinal) {
  if (!ordinal || !found.length) return;
  const best = Math.max(...found.map(({ score }) => score));
  const equal = found.filter(({ score }) => score > best * 0.9).sort((a, b) => a.place.at - b.place.at);
  const picked = equal.at(ordinal > 0 ? ordinal - 1 : ordinal);
  if (picked) picked.score = best + 0.2;
}

// lineOf is the element's line as read_page prints it, without what is in it. For plain text that has no line of its own there it
// is made here, of nothing but what read_page shows of it.
function lineOf(el) {
  const lines = readPage({ filter: 'all', depth: 2, max: MAX_LINE, ref: refName(el) }).text.split('\n');
  if (lines[0].includes(`[${refName(el)}]`)) return lines[0];
  const shown = lines.map((line) => /^ *"(.*)"$/.exec(line)?.[1].replace(/\\(["\\])/g, '$1')).filter(Boolean).join(' ');
  const role = roleOf(el);
  return `${role === 'generic' || role === 'none' ? 'text' : role}${shown ? ' ' + quote(shown) : ''} [${refName(el)}]`;
}
