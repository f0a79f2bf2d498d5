// State of an element as the tokens that follow its reference in a line.
//
//   stateOf(el, role, name)   ' checked', ' value="Canada" (250 options)', … each token with a space before it
//   urlOf(el)                 address of a link: path when same-origin, cut when long

const MAX_VALUE = 200;
const MAX_URL = 120;
const TOGGLES = new Set(['checkbox', 'radio', 'switch', 'menuitemcheckbox', 'menuitemradio', 'option', 'treeitem']);
const RANGES = new Set(['slider', 'spinbutton', 'scrollbar', 'progressbar', 'meter']);
const TYPED_INPUTS = new Set(['date', 'datetime-local', 'time', 'month', 'week', 'email', 'tel', 'url', 'password']);

function stateOf(el, role, name) {
  const tag = isHTML(el) ? tagOf(el) : '';
  if (role === 'link') return urlState(el) + ariaState(el, role) + titleState(el, name);
  if (role === 'heading') return ` level=${headingLevel(el, tag)}` + ariaState(el, role);
  if (tag === 'summary') return ` expanded=${hasAttr(parentElementOf(el), 'open')}` + titleState(el, name);
  return checkedState(el, tag, role) + ariaState(el, role) + fieldState(el, tag, role, name) + limitState(el, tag) + titleState(el, name);
}

function headingLevel(el, tag) {
  const level = Number(attrOf(el, 'aria-level'));
  return level > 0 ? level : /^h[1-6]$/.test(tag) ? tag[1] : 2;
}

function checkedState(el, tag, role) {
  if (!TOGGLES.has(role)) return '';
  if (tag === 'input') return inputIndeterminateOf(el) ? ' checked=mixed' : inputCheckedOf(el) ? ' checked' : '';
  if (tag === 'option') return optionSelectedOf(el) ? ' selected' : '';
  const checked = attrOf(el, 'aria-checked');
  return checked === 'true' ? ' checked' : checked === 'mixed' ? ' checked=mixed' : '';
}

const ARIA_STATES = '[aria-selected], [aria-pressed], [aria-expanded], [aria-current], [aria-haspopup], [aria-busy], [aria-sort]';

// ariaState reads one attribute only when there is any: most elements have none.
function ariaState(el, role) {
  let state = '';
  if (matchesSelector(el, ARIA_STATES)) {
    if (attrOf(el, 'aria-selected') === 'true') state += ' selected';
    state += flag(' pressed', attrOf(el, 'aria-pressed')) + flag(' expanded', attrOf(el, 'aria-expanded'), true);
    const current = attrOf(el, 'aria-current');
    if (current && current !== 'false') state += current === 'true' ? ' current' : ` current=${clean(current, 20)}`;
    const popup = attrOf(el, 'aria-haspopup');
    if (popup && popup !== 'false') state += ' haspopup';
    if (attrOf(el, 'aria-busy') === 'true') state += ' busy';
    const sort = attrOf(el, 'aria-sort');
    if (sort && sort !== 'none') state += ` sort=${clean(sort, 20)}`;
  }
  if (state.includes('selected') || state.includes('pressed') || state.includes('current')) return state;
  return isActive(role) || role === 'clickable' ? state + inferredState(el) : state;
}

const hasAttributes = Element.prototype.hasAttributes;
const flag = (token, value, explicit) => (value === 'true' ? (explicit ? token + '=true' : token) : value === 'mixed' || value === 'false' ? `${token}=${value}` : '');

// inferredState: chips and toggles that tell their state by class or data-state only. Marked by where it was read from.
const STATE_CLASS = /(?:^|\s)((?:is-|--)?(?:active|selected|checked|current|pressed))(?=\s|$)/;
function inferredState(el) {
  const state = attrOf(el, 'data-state') ?? '';
  if (/^(on|active|selected)$/.test(state)) return ` (data-state ${state})`;
  const found = STATE_CLASS.exec(attrOf(el, 'class') ?? '');
  return found ? ` (class ${found[1]})` : '';
}

// fieldState is what a field holds. A secret shows only how long it is (FR-094).
function fieldState(el, tag, role, name) {
  if (tag === 'select') return selectState(el);
  if (RANGES.has(role)) return rangeState(el, tag);
  if (tag === 'input' && inputTypeOf(el) === 'file') return ' type=file' + filesState(el);
  if (role !== 'textbox' && role !== 'searchbox' && role !== 'combobox' && role !== 'colorpicker') return '';
  const type = tag === 'input' ? inputTypeOf(el) : '';
  let state = TYPED_INPUTS.has(type) ? ` type=${type}` : '';
  const value = tag === 'input' ? inputValueOf(el) : tag === 'textarea' ? textareaValueOf(el) : role === 'combobox' || isEditable(el) ? trimmed(contentText(el)) : '';
  if (value) {
    if (isSecret(el)) state += ` value=(${countPoints(value)} characters hidden)`;
    else if (value !== name) state += ` value=${quote(value, MAX_VALUE)}`;
  }
  const placeholder = placeholderOf(el);
  if (placeholder && placeholder !== name && !value) state += ` placeholder=${quote(placeholder, 100)}`;
  return state;
}

const contentText = (el) => textContentOf(el).slice(0, MAX_VALUE * 8);

const MOST_FILES = 3;

// filesState names the files that a file input holds, the first few of many.
function filesState(input) {
  const files = filesOf(input);
  if (!files.length) return '';
  const names = Array.prototype.slice.call(files, 0, MOST_FILES).map((file) => quote(fileNameOf(file), MAX_VALUE));
  return ` value=${names.join(', ')}` + (files.length > MOST_FILES ? ` and ${files.length - MOST_FILES} more` : '');
}

function selectState(el) {
  const chosen = Array.from(selectedOptionsOf(el), optionText).slice(0, 20);
  const count = optionsOf(el).length;
  return (chosen.length ? ` value=${quote(chosen.join(', '), MAX_VALUE)}` : '') + ` (${count} ${count === 1 ? 'option' : 'options'})`;
}

const optionText = (option) => attrOf(option, 'label') || trimmed(textContentOf(option).slice(0, MAX_VALUE * 8));

function rangeState(el, tag) {
  const value = attrOf(el, 'aria-valuetext') ?? (tag === 'input' ? inputValueOf(el) : attrOf(el, 'aria-valuenow') ?? attrOf(el, 'value'));
  const native = tag === 'input' || tag === 'progress' || tag === 'meter';
  const min = attrOf(el, native ? 'min' : 'aria-valuemin'), max = attrOf(el, native ? 'max' : 'aria-valuemax');
  const limits = (min === null ? '' : ` min=${clean(min, 20)}`) + (max === null ? '' : ` max=${clean(max, 20)}`);
  if (value === null || value === '') return limits;
  return ` value=${/^[-+.\d]+$/.test(value) ? value.slice(0, 30) : quote(value, MAX_VALUE)}${limits}`;
}

const FORM_TAGS = new Set(['input', 'select', 'textarea', 'button', 'fieldset', 'option', 'optgroup']);

// Elements of which limitState has something to say.
const LIMITED = ':disabled, :focus, :user-invalid, [required], [readonly], [aria-disabled], [aria-required], [aria-readonly], [aria-invalid]';

// limitState: what keeps a person from using or leaving it so.
function limitState(el, tag) {
  if (!matchesSelector(el, LIMITED)) return '';
  let state = '';
  const field = FORM_TAGS.has(tag);
  if (field && isDisabled(el)) state += ' disabled';
  else if (attrOf(el, 'aria-disabled') === 'true') state += ' aria-disabled';
  if ((field && tag !== 'button' && hasAttr(el, 'required')) || attrOf(el, 'aria-required') === 'true') state += ' required';
  if ((field && hasAttr(el, 'readonly')) || attrOf(el, 'aria-readonly') === 'true') state += ' readonly';
  const invalid = attrOf(el, 'aria-invalid');
  if ((invalid !== null && invalid !== '' && invalid !== 'false') || (field && matchesSelector(el, ':user-invalid'))) state += ' invalid';
  if (field && matchesSelector(el, ':focus')) state += ' focused';
  return state;
}

// titleState shows a tooltip that says more than the name, such as why a button is disabled.
function titleState(el, name) {
  const title = attrOf(el, 'title');
  if (!title) return '';
  const text = clean(title, 100);
  return text && text !== name ? ` title=${quote(text, 100)}` : '';
}

const anchorHrefOf = { a: accessor(HTMLAnchorElement.prototype, 'href'), area: accessor(HTMLAreaElement.prototype, 'href') };

function urlState(el) {
  const url = urlOf(el);
  return url ? ` url=${url}` : '';
}

function urlOf(el) {
  const raw = attrOf(el, 'href') ?? attrOf(el, 'xlink:href');
  if (!raw) return '';
  if (raw.startsWith('#')) return shortURL(raw);
  const resolved = isHTML(el) ? anchorHrefOf[tagOf(el)]?.(el) ?? raw : raw;
  return shortURL(resolved, documentOf(el));
}

// shortURL shows a same-origin address as its path, and says the size of what it cuts. No credentials, no white space.
function shortURL(url, doc) {
  let text = url.length > 2000 ? url.slice(0, 2000) : url;
  if (text.includes('@')) text = text.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#@]*@/i, '$1');
  const scheme = /^(?:javascript|data|blob):/i.exec(text)?.[0].toLowerCase();
  if (scheme === 'javascript:') return scheme;
  if (scheme && url.length > 40) return `${clean(text.slice(0, 40)).split(/[,;]/)[0]}… (${url.length} characters)`;
  const origin = doc ? originsOf().get(doc) ?? rememberOrigin(doc) : '';
  if (origin && text.startsWith(origin)) text = text.slice(origin.length - 1);
  text = clean(text, Infinity);
  if (text.includes(' ')) text = text.replaceAll(' ', '%20');
  return text.length > MAX_URL ? `${text.slice(0, MAX_URL).toWellFormed()}… (${url.length} characters)` : text;
}

const originsOf = perTurn(() => new Map());

// rememberOrigin keeps a document's origin with its slash, '' when it has none of its own.
function rememberOrigin(doc) {
  const origin = viewOf(doc)?.origin ?? '';
  originsOf().set(doc, origin === '' || origin === 'null' ? '' : origin + '/');
  return originsOf().get(doc);
}
