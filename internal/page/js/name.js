// Accessible names as Chromium computes them (accname 1.2, html-aam), and how an element is called in one line.
//
//   nameOf(el)                   the name, '' when it has none; not yet cleaned or cut
//   derivedName(el)              { name, from } for a control that has no name: 'search' from 'class'
//   labelOf(el)                  text of the <label>s of a form control, '' without
//   labelsOf(el)                 those <label> elements
//   describe(el)                 button "Pay" [ref_3]
//   quote(string)                "…" with quotes and backslashes escaped, cleaned and cut to 300 code points

const MAX_NAME = 300;
// Text gathered for one name stops here; what is shown is cut to MAX_NAME anyway.
const MAX_GATHERED = 2000;

const quote = (string, max = MAX_NAME) => quoteClean(clean(string, max));

// quoteClean is for text that went through clean already.
function quoteClean(text) {
  return text.includes('"') || text.includes('\\') ? `"${text.replace(/["\\]/g, '\\$&')}"` : `"${text}"`;
}

function describe(el) {
  const role = roleOf(el);
  const name = clean(nameOf(el), MAX_NAME) || derivedName(el)?.name || '';
  return `${role === 'generic' || role === 'none' ? tagOf(el) : role}${name ? ' ' + quote(name) : ''} [${refName(el)}]`;
}

// A walk passes on that el is painted.
const nameOf = (el, role = roleOf(el), painted = false) => trimmed(computeName(el, { depth: 0, visited: new Set(), referenced: false, hidden: false, painted }, role));

// Only ASCII white space folds: a no-break space belongs to the name.
const UNFOLDED = /[\t\n\r\f]| {2}/;
const folded = (text) => (UNFOLDED.test(text) ? text.replace(/[ \t\n\r\f]+/g, ' ') : text);
function trimmed(text) {
  const line = folded(text);
  return line.startsWith(' ') || line.endsWith(' ') ? line.replace(/^ | $/g, '') : line;
}

const NAMED_BY_CONTENT = new Set(('button cell checkbox columnheader comment gridcell heading link menuitem menuitemcheckbox menuitemradio option '
  + 'radio row rowheader switch tab tooltip treeitem').split(' '));

// computeName follows the steps of accname. way says how we got here: depth 0 is the element asked for; referenced inside
// aria-labelledby; hidden when the reference itself pointed at something not shown, whose inside then counts.
function computeName(el, way, role = roleOf(el)) {
  if (way.visited.has(el)) return '';
  way.visited.add(el);
  if (tagOf(el) === 'slot') return contentOf(el, way);
  if (!way.referenced) {
    const named = nameByReference(el, way);
    if (named) return named;
  }
  if (way.depth > 0) {
    const value = embeddedValue(el, role);
    if (value !== null) return value;
  }
  const label = attrOf(el, 'aria-label');
  if (label !== null && trimmed(label)) return label;
  const native = role === 'none' && way.depth === 0 ? '' : nativeName(el, way);
  if (native) return native;
  if (way.depth > 0 || NAMED_BY_CONTENT.has(role) || isNamedByTag(el)) {
    const shown = way.depth > 0 || (way.painted ? attrOf(el, 'aria-hidden') !== 'true' : isShownToNames(el));
    const content = shown ? contentOf(el, way) : '';
    if (way.depth > 0 ? content : trimmed(content)) return content;
  }
  if (way.depth === 0 || !isPhrase(role)) return tooltipOf(el, way);
  return '';
}

const isPhrase = (role) => role === 'generic' || role === 'none';
const isNamedByTag = (el) => tagOf(el) === 'summary' && isHTML(el);

function tooltipOf(el) {
  return attrOf(el, 'title') ?? '';
}

function nameByReference(el, way) {
  const ids = attrOf(el, 'aria-labelledby');
  if (!ids) return '';
  const names = [];
  for (const target of elementsById(el, ids)) {
    const hidden = !isShownToNames(target);
    if (target === el) way.visited.delete(el);
    // An element that names itself by reference is not a control embedded in something else.
    const inner = { depth: target === el ? 0 : way.depth + 1, visited: way.visited, referenced: true, hidden };
    names.push(trimmed(computeName(target, inner)));
  }
  return names.filter(Boolean).join(' ');
}

function elementsById(el, ids) {
  const root = rootOf(el);
  const found = [];
  for (const id of ids.split(/[ \t\n\r\f]+/)) {
    if (!id) continue;
    const target = queryAll(root, '#' + CSS.escape(id))[0];
    if (target) found.push(target);
  }
  return found;
}

// embeddedValue: a control inside the text that names something else counts by its value. Null = not such a control.
function embeddedValue(el, role) {
  switch (role) {
    case 'textbox': case 'searchbox':
      return valueText(el);
    case 'combobox': case 'listbox': {
      if (tagOf(el) === 'select') return Array.from(selectedOptionsOf(el), textContentOf).map(trimmed).join(' ');
      if (tagOf(el) === 'input') return inputValueOf(el);
      const lists = [el, ...elementsById(el, attrOf(el, 'aria-owns') ?? '')];
      const selected = lists.flatMap((list) => [...queryAll(list, '[role=option][aria-selected=true]')]);
      if (selected.length) return Array.from(selected, textContentOf).map(trimmed).join(' ');
      return role === 'combobox' ? valueText(el) : '';
    }
    case 'slider': case 'spinbutton': case 'scrollbar': case 'progressbar': case 'meter':
      return attrOf(el, 'aria-valuetext') || attrOf(el, 'aria-valuenow') || valueText(el);
    case 'menu': return '';
    default: return null;
  }
}

function valueText(el) {
  const tag = tagOf(el);
  if (tag === 'input') return isSecret(el) ? '' : inputValueOf(el);
  if (tag === 'textarea') return isSecret(el) ? '' : textareaValueOf(el);
  return isHTML(el) && tag !== 'progress' && tag !== 'meter' ? textContentOf(el) : attrOf(el, 'value') ?? '';
}

const SECRET_AUTOCOMPLETE = /(^|\s)(one-time-code|cc-\S+|current-password|new-password)(\s|$)/i;

// isSecret: fields whose value is never shown, only its length (FR-094).
function isSecret(el) {
  if (tagOf(el) === 'input' && inputTypeOf(el) === 'password') return true;
  return SECRET_AUTOCOMPLETE.test(attrOf(el, 'autocomplete') ?? '') || looksMasked(el);
}

// looksMasked: a text field that paints its characters as dots.
const looksMasked = (el) => {
  const masking = styleOf(el).webkitTextSecurity;
  return Boolean(masking) && masking !== 'none';
};

const BUTTON_WORDS = { submit: 'Submit', reset: 'Reset', image: 'Submit', file: 'Choose File' };

function nativeName(el, way) {
  if (!isHTML(el)) return svgTitle(el, way);
  const tag = tagOf(el);
  switch (tag) {
    case 'input': {
      const type = inputTypeOf(el);
      if (type === 'hidden') return '';
      const label = labelOf(el, way);
      if (label) return label;
      if (type === 'image') return attrOf(el, 'alt') || inputValueOf(el) || attrOf(el, 'title') || BUTTON_WORDS.image;
      if (type === 'button' || type === 'submit' || type === 'reset') return inputValueOf(el) || attrOf(el, 'title') || BUTTON_WORDS[type] || '';
      return attrOf(el, 'title') || placeholderOf(el) || BUTTON_WORDS[type] || '';
    }
    case 'textarea': return labelOf(el, way) || attrOf(el, 'title') || placeholderOf(el);
    case 'select': case 'button': case 'meter': case 'output': case 'progress':
      return labelOf(el, way);
    case 'img': case 'area': return attrOf(el, 'alt') ?? '';
    case 'fieldset': return firstChildName(el, 'legend', way);
    case 'table': return firstChildName(el, 'caption', way);
    case 'figure': return attrOf(el, 'title') || firstChildName(el, 'figcaption', way);
    case 'optgroup': return attrOf(el, 'label') ?? '';
    case 'option': return attrOf(el, 'label') ?? '';
    default: return way.depth === 0 ? placeholderOf(el) : '';
  }
}

const placeholderOf = (el) => attrOf(el, 'placeholder') || attrOf(el, 'aria-placeholder') || '';

function svgTitle(el, way) {
  for (let child = firstChildOf(el); child; child = nextSiblingOf(child)) {
    if (typeOf(child) === ELEMENT && tagOf(child) === 'title') return textContentOf(child);
  }
  return way.depth === 0 ? attrOf(el, 'xlink:title') ?? '' : '';
}

function firstChildName(el, tag, way) {
  for (let child = firstChildOf(el); child; child = nextSiblingOf(child)) {
    if (typeOf(child) !== ELEMENT || tagOf(child) !== tag) continue;
    return way.hidden || isShownToNames(child) ? trimmed(contentOf(child, { ...way, depth: way.depth + 1 })) : '';
  }
  return '';
}

// One map from control to labels per root and call: element.labels searches the whole document each time.
const labelMaps = perTurn(() => new Map());
const labelControlOf = accessor(HTMLLabelElement.prototype, 'control');

function labelsOf(el) {
  const root = rootOf(el);
  let map = labelMaps().get(root);
  if (!map) {
    map = new Map();
    for (const label of queryAll(root, 'label')) {
      const control = labelControlOf(label);
      if (!control) continue;
      const known = map.get(control);
      if (known) known.push(label);
      else map.set(control, [label]);
    }
    labelMaps().set(root, map);
  }
  return map.get(el) ?? [];
}

function labelOf(el, way = { depth: 0, visited: new Set(), referenced: false, hidden: false }) {
  const names = [];
  for (const label of labelsOf(el)) {
    if (!way.hidden && !isShownToNames(label)) continue;
    names.push(trimmed(computeName(label, { ...way, depth: way.depth + 1, visited: new Set([el]) })));
  }
  return names.filter(Boolean).join(' ');
}

// isShownToNames: hidden things do not name, unless a reference points straight at them.
function isShownToNames(el) {
  if (attrOf(el, 'aria-hidden') === 'true') return false;
  if (checkVisibility.call(el, { visibilityProperty: true })) return true;
  const style = styleOf(el);
  return style.display === 'contents' && style.visibility === 'visible';
}

// contentOf joins the text of el's flat tree. A block stands apart from its neighbours, inline text does not. veiled: el
// itself is visibility:hidden, so only descendants that are visible again count.
function contentOf(el, way, veiled = false) {
  const only = onlyText(el);
  if (only !== null && !hasGeneratedText(el)) return veiled ? '' : folded(only);
  const inner = { ...way, depth: way.depth + 1 };
  let text = veiled ? '' : generatedText(el, '::before');
  const add = (child) => {
    if (text.length > MAX_GATHERED) return true;
    const type = typeOf(child);
    if (type === TEXT) {
      if (!veiled) text += folded(dataOf(child));
      return false;
    }
    if (type !== ELEMENT || isSilent(child)) return false;
    if (!way.hidden && !isShownToNames(child)) {
      if (isVeiled(child)) text += contentOf(child, inner, true);
      return false;
    }
    const part = tagOf(child) === 'br' ? ' ' : computeName(child, inner);
    text += standsApart(child) ? ` ${part} ` : part;
    return false;
  };
  eachFlatChild(el, add);
  const owned = attrOf(el, 'aria-owns');
  if (owned) for (const child of elementsById(el, owned)) if (isShownToNames(child)) text += ' ' + computeName(child, inner) + ' ';
  return veiled ? text : text + generatedText(el, '::after');
}

// isVeiled: visibility:hidden, inside which something may be visible again.
const isVeiled = (el) => attrOf(el, 'aria-hidden') !== 'true' && checkVisibility.call(el);

const SILENT = new Set(['script', 'style', 'template', 'noscript', 'head', 'title']);
const isSilent = (el) => SILENT.has(tagOf(el)) && isHTML(el);

function standsApart(el) {
  const display = styleOf(el).display;
  return !(display === 'inline' || display === 'contents' || display.startsWith('ruby')) && display !== 'none';
}

// onlyText is the element's text when it has nothing but text, else null.
function onlyText(el) {
  if (shadowOf(el) || tagOf(el) === 'slot' || hasAttr(el, 'aria-owns')) return null;
  const first = firstChildOf(el);
  if (!first) return '';
  return typeOf(first) === TEXT && !nextSiblingOf(first) ? dataOf(first) : null;
}

const hasGeneratedText = (el) => mayGenerate(rootOf(el)) && Boolean(generatedText(el, '::before') || generatedText(el, '::after'));

// generatedText is the text of a pseudo-element; after a slash stands what it is called instead.
function generatedText(el, pseudo) {
  if (!mayGenerate(rootOf(el))) return '';
  const style = styleOf(el, pseudo);
  const content = style.content;
  if (content === 'none' || content === 'normal' || style.display === 'none' || style.visibility !== 'visible') return '';
  let text = '';
  for (const [token, string] of content.matchAll(/"((?:[^"\\]|\\.)*)"|\//g)) text = token === '/' ? '' : text + string.replace(/\\(.)/g, '$1');
  return style.display.startsWith('inline') ? text : ` ${text} `;
}

// Asking each element for its pseudo-elements costs more than all else here, and most documents have none with text:
// look once through the style sheets for one. A sheet that may not be read counts as having some.
const generatingSheets = new WeakMap();
const generatingRoots = perTurn(() => new Map());

function mayGenerate(root) {
  let may = generatingRoots().get(root);
  if (may === undefined) {
    may = sheetsOf(root).some(sheetGenerates);
    generatingRoots().set(root, may);
  }
  return may;
}

function sheetsOf(root) {
  if (typeOf(root) === ELEMENT) return [];
  const proto = typeOf(root) === DOCUMENT ? DOCUMENT_SHEETS : ROOT_SHEETS;
  return [...proto.sheets(root), ...proto.adopted(root)];
}
const DOCUMENT_SHEETS = { sheets: accessor(Document.prototype, 'styleSheets'), adopted: accessor(Document.prototype, 'adoptedStyleSheets') };
const ROOT_SHEETS = { sheets: accessor(ShadowRoot.prototype, 'styleSheets'), adopted: accessor(ShadowRoot.prototype, 'adoptedStyleSheets') };

function sheetGenerates(sheet) {
  try {
    const rules = sheet.cssRules;
    const known = generatingSheets.get(sheet);
    if (known && known.length === rules.length) return known.generates;
    const generates = rulesGenerate(rules);
    generatingSheets.set(sheet, { length: rules.length, generates });
    return generates;
  } catch {
    return true;
  }
}

function rulesGenerate(rules) {
  for (const rule of rules) {
    if (rule.selectorText !== undefined && /:(before|after)/.test(rule.selectorText)) return true;
    if (rule.styleSheet ? sheetGenerates(rule.styleSheet) : rule.cssRules?.length && rulesGenerate(rule.cssRules)) return true;
  }
  return false;
}

// derivedName guesses what a control without a name is called from what its author called it. Null = nothing to go by.
const ICON_WORDS = /^(?:btn|button|icon|icons|ico|fa|fas|far|fab|fal|mdi|bi|ri|la|las|glyphicon|material|svg|i|link|is|has|js|ui|el|ant|mat|mui|css|sc|rounded|round|small|large|sm|lg|md|xs|xl|primary|secondary|default|clickable|item|wrapper|container|inner|box|nav)$/i;

function derivedName(el) {
  for (const [from, read] of NAME_SOURCES) {
    const name = clean(read(el) ?? '', 60);
    if (name) return { name, from };
  }
  return null;
}

const NAME_SOURCES = [
  ['title', (el) => firstAttr(el, 'title')],
  ['icon', (el) => iconName(el)],
  ['image', (el) => imageName(el)],
  ['class', (el) => classWords(attrOf(el, 'class')) || firstOf(el, 'svg, i, span, img', (inner) => classWords(attrOf(inner, 'class')))],
  ['id', (el) => classWords(attrOf(el, 'name') || attrOf(el, 'data-testid') || attrOf(el, 'id'))],
];

const firstOf = (el, selector, read) => {
  for (const inner of queryAll(el, selector)) {
    const found = read(inner);
    if (found) return found;
  }
  return '';
};
const firstAttr = (el, name) => attrOf(el, name) || firstOf(el, `[${name}]`, (inner) => attrOf(inner, name)) || firstOf(el, 'svg > title', textContentOf);
const iconName = (el) => classWords(attrOf(el, 'data-icon') || firstOf(el, '[data-icon]', (inner) => attrOf(inner, 'data-icon'))
  || firstOf(el, 'use', (inner) => (attrOf(inner, 'href') ?? attrOf(inner, 'xlink:href') ?? '').split('#')[1]));
const imageName = (el) => classWords(firstOf(el, 'img[src]', (inner) => {
  const src = attrOf(inner, 'src');
  return src.startsWith('data:') ? '' : src.slice(0, 2000).split(/[?#]/)[0].split('/').pop().replace(/\.\w+$/, '');
}));

// classWords turns 'btn btn-close--dark' into 'close dark': words of three letters or more that say what, not how it looks.
function classWords(names) {
  if (!names) return '';
  const words = names.slice(0, 400).replace(/([a-z])([A-Z])/g, '$1 $2').split(/[^\p{L}]+/u);
  const telling = words.filter((word) => word.length > 2 && !ICON_WORDS.test(word) && /[aeiouy\P{ASCII}]/iu.test(word));
  return [...new Set(telling.map((word) => word.toLowerCase()))].slice(0, 3).join(' ');
}
