// Roles as Chromium's accessibility engine computes them: WAI-ARIA over HTML-AAM.
//
//   roleOf(el)        'button', 'textbox', 'generic', …; 'none' when presentational
//   isActive(role)    does a person operate elements of this role
//   isFocusable(el)   can it take the focus, by itself or by tabindex
//   isEditable(el)    is it the root of a contenteditable region

const ARIA_ROLES = new Set(('alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox comment '
  + 'complementary contentinfo definition deletion dialog directory document emphasis feed figure form generic grid gridcell group heading '
  + 'image img insertion link list listbox listitem log main mark marquee math menu menubar menuitem menuitemcheckbox menuitemradio meter '
  + 'navigation none note option paragraph presentation progressbar radio radiogroup region row rowgroup rowheader scrollbar search searchbox '
  + 'sectionfooter sectionheader separator slider spinbutton status strong subscript suggestion superscript switch tab table tablist tabpanel '
  + 'term textbox time timer toolbar tooltip tree treegrid treeitem').split(' '));
const SAME_ROLE = { img: 'image', presentation: 'none', directory: 'list' };

const ACTIVE_ROLES = new Set(('button checkbox colorpicker combobox link listbox menuitem menuitemcheckbox menuitemradio option radio scrollbar searchbox '
  + 'slider spinbutton switch tab textbox treeitem').split(' '));
const isActive = (role) => ACTIVE_ROLES.has(role);

const HTML_ROLES = {
  address: 'group', article: 'article', audio: 'audio', blockquote: 'blockquote', button: 'button', canvas: 'canvas', caption: 'caption', code: 'code',
  datalist: 'listbox', dd: 'definition', del: 'deletion', details: 'group', dfn: 'term', dialog: 'dialog', dt: 'term', em: 'emphasis',
  embed: 'embed', fieldset: 'group', figcaption: 'figcaption', figure: 'figure', frame: 'iframe', h1: 'heading', h2: 'heading', h3: 'heading',
  h4: 'heading', h5: 'heading', h6: 'heading', hgroup: 'group', hr: 'separator', html: 'document', iframe: 'iframe', ins: 'insertion',
  legend: 'legend', main: 'main', mark: 'mark', math: 'math', menu: 'list', meter: 'meter', nav: 'navigation', object: 'object', ol: 'list',
  optgroup: 'group', option: 'option', output: 'status', p: 'paragraph', progress: 'progressbar', s: 'deletion', search: 'search',
  b: 'generic', div: 'generic', i: 'generic', label: 'generic', small: 'generic', span: 'generic', strong: 'strong', sub: 'subscript', sup: 'superscript', textarea: 'textbox', time: 'time', ul: 'list', video: 'video',
};
const INPUT_ROLES = {
  button: 'button', checkbox: 'checkbox', color: 'colorpicker', file: 'button', image: 'button', number: 'spinbutton', radio: 'radio',
  range: 'slider', reset: 'button', submit: 'button',
};
const SECTIONING = 'article, aside, main, nav, section, [role=article], [role=complementary], [role=main], [role=navigation], [role=region]';

// Attributes that make an element count although it was declared presentational.
const GLOBAL_ARIA = ['aria-label', 'aria-labelledby', 'aria-describedby', 'aria-live', 'aria-atomic', 'aria-busy', 'aria-controls', 'aria-current',
  'aria-details', 'aria-dropeffect', 'aria-flowto', 'aria-grabbed', 'aria-keyshortcuts', 'aria-owns', 'aria-relevant', 'aria-roledescription'];

function roleOf(el) {
  const declared = attrOf(el, 'role');
  if (declared !== null) {
    const role = declaredRole(el, declared);
    if (role) return role;
  }
  return isHTML(el) ? htmlRole(el, tagOf(el)) : foreignRole(el, tagOf(el));
}

// declaredRole is the first token of a role attribute that counts here, '' when none does.
function declaredRole(el, declared) {
  for (const token of declared.toLowerCase().split(/[ \t\n\r\f]+/)) {
    if (!ARIA_ROLES.has(token)) continue;
    const role = SAME_ROLE[token] ?? token;
    if (role === 'none') return isFocusable(el) || hasGlobalAria(el) ? '' : 'none';
    if ((role === 'region' || role === 'form') && !hasOwnLabel(el)) continue;
    if (role === 'treeitem' && !closestOf(el, '[role=tree], [role=treegrid]')) continue;
    return role;
  }
  return '';
}

const hasGlobalAria = (el) => GLOBAL_ARIA.some((name) => attrOf(el, name));

// hasOwnLabel: named by its author, which is what makes a landmark of a section or a form.
const hasOwnLabel = (el) => Boolean(attrOf(el, 'aria-label')?.trim() || attrOf(el, 'aria-labelledby') || attrOf(el, 'title')?.trim());

function htmlRole(el, tag) {
  const role = HTML_ROLES[tag];
  if (role !== undefined) return role;
  switch (tag) {
    case 'a': case 'area':
      return hasAttr(el, 'href') ? 'link' : 'generic';
    case 'input': return inputRole(el);
    case 'select':
      return selectMultipleOf(el) || selectSizeOf(el) > 1 ? 'listbox' : 'combobox';
    case 'img':
      return attrOf(el, 'alt') === '' && !attrOf(el, 'aria-label') && !attrOf(el, 'aria-labelledby') && !attrOf(el, 'title') && !isFocusable(el) ? 'none' : 'image';
    case 'li': return isPresentational(parentElementOf(el)) ? 'none' : 'listitem';
    case 'section': return hasOwnLabel(el) ? 'region' : 'generic';
    case 'form': return hasOwnLabel(el) ? 'form' : 'generic';
    case 'aside':
      return hasOwnLabel(el) || !closestOf(parentElementOf(el) ?? el, 'article, aside, nav, section') || !parentElementOf(el) ? 'complementary' : 'generic';
    case 'header': return isScoped(el) ? 'sectionheader' : 'banner';
    case 'footer': return isScoped(el) ? 'sectionfooter' : 'contentinfo';
    case 'summary': return isDetailsSummary(el) ? 'button' : 'generic';
    case 'table': case 'tbody': case 'thead': case 'tfoot': case 'tr': case 'td': case 'th':
      return tableRole(el, tag);
    default: return 'generic';
  }
}

const parentElementOf = accessor(Node.prototype, 'parentElement');
// isPresentational: a list or table declared to be none takes its items with it.
const isPresentational = (el) => el !== null && /^\s*(none|presentation)\b/i.test(attrOf(el, 'role') ?? '') && roleOf(el) === 'none';
const isScoped = (el) => Boolean(parentElementOf(el) && closestOf(parentElementOf(el), SECTIONING));

function inputRole(el) {
  const type = inputTypeOf(el);
  const role = INPUT_ROLES[type];
  if (role) return role;
  if (attrOf(el, 'list') && type !== 'password') return 'combobox';
  return type === 'search' ? 'searchbox' : 'textbox';
}

function isDetailsSummary(el) {
  const parent = parentElementOf(el);
  if (!parent || tagOf(parent) !== 'details') return false;
  for (let child = firstChildOf(parent); child; child = nextSiblingOf(child)) {
    if (typeOf(child) === ELEMENT && tagOf(child) === 'summary') return child === el;
  }
  return false;
}

function tableRole(el, tag) {
  if (tag === 'table') return isLayoutTable(el) ? 'none' : 'table';
  const table = closestOf(el, 'table');
  if (!table) return 'generic';
  const role = attrOf(table, 'role');
  if (isPresentational(table) || (!role && isLayoutTable(table))) return 'none';
  if (tag === 'tr') return 'row';
  if (tag === 'td') return role === 'grid' || role === 'treegrid' ? 'gridcell' : 'cell';
  if (tag !== 'th') return 'rowgroup';
  const scope = attrOf(el, 'scope')?.toLowerCase();
  if (scope === 'row' || scope === 'rowgroup') return 'rowheader';
  if (scope === 'col' || scope === 'colgroup') return 'columnheader';
  return heads(el);
}

// heads decides a th without scope: beside data cells it heads its row, otherwise its column.
function heads(th) {
  const row = parentElementOf(th);
  const group = row && parentElementOf(row);
  if (group && tagOf(group) === 'thead') return 'columnheader';
  for (let cell = row && firstChildOf(row); cell; cell = nextSiblingOf(cell)) {
    if (typeOf(cell) === ELEMENT && tagOf(cell) === 'td') return 'rowheader';
  }
  return 'columnheader';
}

const layoutTables = perTurn(() => new Map());

// isLayoutTable: a table without any mark of data that holds another table, or only one row or column, just places things.
function isLayoutTable(table) {
  const known = layoutTables().get(table);
  if (known !== undefined) return known;
  let layout = false;
  if (!attrOf(table, 'role') && !hasAttr(table, 'summary') && !(Number(attrOf(table, 'border')) > 0) && !hasGlobalAria(table)
    && queryAll(table, 'th, caption, thead, tfoot, colgroup, col, [headers], [scope]').length === 0) {
    const rows = queryAll(table, 'tr');
    const cells = queryAll(table, 'td').length;
    layout = queryAll(table, 'table').length > 0 || rows.length <= 1 || cells <= rows.length;
  }
  layoutTables().set(table, layout);
  return layout;
}

function foreignRole(el, tag) {
  switch (tag) {
    case 'svg': return 'image';
    case 'a': return hasAttr(el, 'href') || el.hasAttributeNS('http://www.w3.org/1999/xlink', 'href') ? 'link' : 'generic';
    case 'image': return 'image';
    case 'math': return 'math';
    default: return 'generic';
  }
}

const FOCUSABLE = 'a[href], area[href], button:enabled, input:enabled:not([type=hidden]), select:enabled, textarea:enabled, iframe, audio[controls], '
  + 'video[controls], details > summary:first-of-type, [contenteditable]:not([contenteditable=false])';
const isFocusable = (el) => hasTabindex(el) || matchesSelector(el, FOCUSABLE);
const hasTabindex = (el) => /^\s*[+-]?\d/.test(attrOf(el, 'tabindex') ?? '');

function isEditable(el) {
  const value = attrOf(el, 'contenteditable');
  return value !== null && value.toLowerCase() !== 'false';
}
