// Setting form elements, and what has the focus.
//
//   setValue({ref, value})     set a form element as a person would have left it
//   readValue({ref, value})    compare a rich text field with a value, after Go has typed it
//   focusState()               what typed text would go into
//
// setValue answers {ok, now, …} with the value read back after the page has reacted (note: what the model should know of it;
// invalid: what the browser's validation says; suggests: the field expects a choice, options are those shown), or what
// kept it from it: {stale}, {notFormElement}, {disabled}, {readonly}, {blocked}, {hidden}, {typeInstead} or {error: {kind,
// message}}, where the message is to be read after the ref and says what is allowed. Secret values are never told.
//
// Values are set through the prototype of this world, past any property that the page put on the element: so a
// framework that tracks values that way sees the change when the input event comes.

const setterOf = (prototype, name) => {
  const { set } = Object.getOwnPropertyDescriptor(prototype, name);
  return (object, value) => set.call(object, value);
};
const setInputValue = setterOf(HTMLInputElement.prototype, 'value');
const setTextareaValue = setterOf(HTMLTextAreaElement.prototype, 'value');
const setOptionSelected = setterOf(HTMLOptionElement.prototype, 'selected');
const setSelectedIndex = setterOf(HTMLSelectElement.prototype, 'selectedIndex');
const optionValueOf = accessor(HTMLOptionElement.prototype, 'value');
const optionLabelOf = accessor(HTMLOptionElement.prototype, 'label');
const inputFormOf = accessor(HTMLInputElement.prototype, 'form');
const inputValidityOf = accessor(HTMLInputElement.prototype, 'validity');
const validityOf = {
  input: inputValidityOf,
  textarea: accessor(HTMLTextAreaElement.prototype, 'validity'),
  select: accessor(HTMLSelectElement.prototype, 'validity'),
};
const validationMessageOf = {
  input: accessor(HTMLInputElement.prototype, 'validationMessage'),
  textarea: accessor(HTMLTextAreaElement.prototype, 'validationMessage'),
  select: accessor(HTMLSelectElement.prototype, 'validationMessage'),
};
const isContentEditableOf = accessor(HTMLElement.prototype, 'isContentEditable');
const focusOn = method(HTMLElement.prototype, 'focus');
const clickOn = method(HTMLElement.prototype, 'click');
const createIn = method(Document.prototype, 'createElement');
const execIn = method(Document.prototype, 'execCommand');
const selectionOf = method(Document.prototype, 'getSelection');
const activeInDocument = accessor(Document.prototype, 'activeElement');
const activeInShadow = accessor(ShadowRoot.prototype, 'activeElement');
const designModeOf = accessor(Document.prototype, 'designMode');

// What the typed inputs take.
const FORMATS = {
  number: 'a number, such as 2.5',
  range: 'a number',
  date: 'a date as YYYY-MM-DD',
  time: 'a time as HH:MM, with 24 hours',
  month: 'a month as YYYY-MM',
  week: 'a week as YYYY-Www, such as 2026-W11',
  'datetime-local': 'a date and time as YYYY-MM-DDTHH:MM',
  color: 'a colour as #rrggbb',
};
const BUTTONS = new Set(['button', 'submit', 'reset', 'image']);
const MAX_OPTIONS = 20;

const problem = (kind, message) => ({ error: { kind, message } });
const sameText = (a, b) => a.replace(/\s+/g, ' ').trim() === b.replace(/\s+/g, ' ').trim();

exported.setValue = async ({ ref, value }) => {
  const el = elementFor(ref);
  if (!el) return { stale: true };
  const control = formControlOf(el);
  if (!control) return notSettable(el, value);
  if (isDisabled(control)) return { disabled: whyDisabled(control) };
  const plan = planFor(control, value);
  if (!plan.act) return plan;
  focusOn(control);
  if (focusedElement() !== control) {
    const barred = barredBy(control, new Set(flatChain(control)));
    if (barred) return barred;
  }
  await reaction(plan.act);
  if (!isConnected(control)) return { ok: true, note: 'The page replaced the field: read it to see its value.' };
  return { ...outcome(control, plan.check), ...(plan.typeInstead && { typeInstead: true }) };
};

// formControlOf finds the native control that an element stands for: itself, the one it labels, or the only one in the shadow
// tree of a custom element. For rich text it is the editing host.
function formControlOf(el) {
  if (isLabel(el) && labelControlOf(el)) return labelControlOf(el);
  if (isControl(el)) return el;
  if (isRichText(el)) return editingHostOf(el);
  if (!tagOf(el).includes('-')) return null;
  const inner = [];
  const search = (node) => eachFlatChild(node, (child) => {
    if (!isElement(child)) return false;
    if (isControl(child) || isRichText(child)) inner.push(child);
    else search(child);
    return inner.length > 1;
  });
  search(el);
  return inner.length === 1 ? inner[0] : null;
}

const isRichText = (el) => isHTML(el) && isContentEditableOf(el);

function isControl(el) {
  if (!isHTML(el)) return false;
  const tag = tagOf(el);
  if (tag !== 'input') return tag === 'select' || tag === 'textarea';
  return !BUTTONS.has(inputTypeOf(el)) && inputTypeOf(el) !== 'hidden';
}

function editingHostOf(el) {
  let host = el;
  for (let at = parentOf(el); at && isElement(at) && isRichText(at); at = parentOf(at)) host = at;
  return host;
}

// notSettable explains what to do with elements that have no value of their own to set.
function notSettable(el, value) {
  const role = roleOf(el);
  const popup = attrOf(el, 'aria-haspopup');
  if (role === 'combobox' || role === 'listbox' || popup === 'listbox') return customChoice(el, role || 'button', String(value));
  const state = attrOf(el, 'aria-checked');
  if (state !== null && (value === true || value === false)) {
    if (state === String(value)) return { ok: true, now: value };
    return problem('custom', `is a custom ${role} that is ${state === 'true' ? 'on' : 'off'}. Click it to change it.`);
  }
  if (role === 'slider' || role === 'spinbutton') {
    return problem('custom', `is a custom ${role} at ${quote(attrOf(el, 'aria-valuetext') ?? attrOf(el, 'aria-valuenow') ?? '')}. Click it, then change it with the arrow keys.`);
  }
  return { notFormElement: describe(el) };
}

// customChoice names the options that a combobox or listbox made of other elements shows.
function customChoice(el, role, value) {
  const options = optionsShownBy(el);
  const what = role === 'listbox' ? 'custom listbox' : 'custom combobox';
  if (!options.length) return problem('custom', `is a ${what}. Click it to open its options, then click the option.`);
  const fit = options.find((option) => nameOf(option) === value) ?? options.find((option) => nameOf(option).toLowerCase() === value.toLowerCase());
  if (fit) return problem('custom', `is a ${what}. Click ${describe(fit)} instead.`);
  return problem('custom', `is a ${what}. Click one of its options: ${listed(options.map(describe))}.`);
}

// optionsShownBy finds the options of the listbox that a combobox controls or has opened anywhere in its document.
function optionsShownBy(el) {
  const root = rootOf(el);
  let lists = (attrOf(el, 'aria-controls') ?? attrOf(el, 'aria-owns') ?? '').split(/\s+/).filter(Boolean)
    .flatMap((id) => [...queryAll(root, '#' + CSS.escape(id))]);
  if (roleOf(el) === 'listbox') lists = [el];
  if (!lists.length && attrOf(el, 'aria-expanded') === 'true') lists = [...queryAll(documentOf(el), '[role=listbox]')];
  return lists.flatMap((list) => [...queryAll(list, '[role=option]')]).filter((option) => piecesOf(option).length).slice(0, 200);
}

function listed(items) {
  const more = items.length - MAX_OPTIONS;
  return items.slice(0, MAX_OPTIONS).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

// planFor decides how to set a control: {act, check}, or a refusal. act changes it and tells the page; check judges what
// is there afterwards.
function planFor(control, value) {
  switch (tagOf(control)) {
    case 'select': return planSelect(control, value);
    case 'textarea': return planText(control, value, setTextareaValue, textareaValueOf);
    case 'input': break;
    default: return planEditor(control, value);
  }
  const type = inputTypeOf(control);
  if (type === 'file') return problem('file', 'takes files. Use file_upload.');
  if (type === 'checkbox') return planCheckbox(control, value);
  if (type === 'radio') return planRadio(control, value);
  if (FORMATS[type]) return planTyped(control, value, type);
  return planText(control, value, setInputValue, inputValueOf);
}

function planText(control, value, set, get) {
  if (typeof value === 'boolean') return problem('type', 'takes text, not true or false.');
  if (matchesSelector(control, ':read-only')) return { readonly: true };
  const text = String(value).replace(/\r\n?/g, '\n');
  if (tagOf(control) === 'input' && text.includes('\n')) return problem('format', 'holds one line; the value has line breaks.');
  const most = Number.parseInt(attrOf(control, 'maxlength') ?? '', 10);
  if (most >= 0 && text.length > most) return problem('length', `takes at most ${most} characters; the value has ${text.length}.`);
  const before = get(control);
  return {
    act: () => {
      const init = { bubbles: true, composed: true, inputType: 'insertReplacementText', data: text };
      if (!dispatchTo(control, new InputEvent('beforeinput', { ...init, cancelable: true }))) return;
      set(control, text);
      dispatchTo(control, new InputEvent('input', init));
      dispatchTo(control, new Event('change', { bubbles: true }));
    },
    check: () => {
      const now = get(control);
      if (now === text) return { now };
      return now === '' || now === before ? { now, rejected: true } : { now, changed: true }; // a mask may have added to it
    },
  };
}

function planTyped(control, value, type) {
  const wanted = problem('format', `takes ${FORMATS[type]}${limitsOf(control)}.`);
  if (typeof value === 'boolean') return wanted;
  if (type !== 'range' && type !== 'color' && hasAttr(control, 'readonly')) return { readonly: true };
  const text = String(value).trim();
  // An unattached input of the same kind tells what the browser makes of the value.
  const probe = createIn(document, 'input');
  probe.type = type;
  for (const name of ['min', 'max', 'step', 'value']) if (hasAttr(control, name)) probe.setAttribute(name, attrOf(control, name));
  probe.value = text;
  if (text !== '' || type === 'range' || type === 'color') {
    if (!probe.value) return wanted;
    if (type === 'range' && (text === '' || Number(probe.value) !== Number(text))) return wanted;
    if (type === 'color' && !/^#[0-9a-f]{6}$/i.test(text)) return wanted;
    const { rangeUnderflow, rangeOverflow, stepMismatch } = probe.validity;
    if (rangeUnderflow || rangeOverflow || stepMismatch) return problem('range', wanted.error.message);
  }
  return {
    act: () => {
      setInputValue(control, text);
      tellChange(control);
    },
    check: () => {
      const now = inputValueOf(control);
      return now === probe.value ? { now } : { now, rejected: true };
    },
  };
}

function limitsOf(control) {
  const [min, max, step] = ['min', 'max', 'step'].map((name) => attrOf(control, name) && clean(attrOf(control, name), 40));
  const range = inputTypeOf(control) === 'range';
  const parts = [];
  if (min || range) parts.push(`at least ${min || 0}`);
  if (max || range) parts.push(`at most ${max || 100}`);
  if (step !== 'any' && (step || inputTypeOf(control) === 'number')) parts.push(`in steps of ${step || 1}`);
  return parts.length ? `, ${parts.join(', ')}` : '';
}

function tellChange(control) {
  dispatchTo(control, new Event('input', { bubbles: true, composed: true }));
  dispatchTo(control, new Event('change', { bubbles: true }));
}

// A checkbox takes true or false, as booleans or as words.
function planCheckbox(control, value) {
  if (!/^(true|false)$/.test(String(value))) return problem('type', 'is a checkbox and takes true or false.');
  const wanted = String(value) === 'true';
  return {
    act: () => {
      if (inputCheckedOf(control) !== wanted || inputIndeterminateOf(control)) clickOn(control);
    },
    check: () => {
      const now = inputCheckedOf(control);
      return now === wanted ? { now } : { now, rejected: true };
    },
  };
}

// A radio button takes true, or the value or label of a button of its group.
function planRadio(control, value) {
  const group = radioGroupOf(control);
  const text = String(value);
  let chosen = text === 'true' ? control : null;
  if (text === 'false') {
    if (!inputCheckedOf(control)) return { ok: true, now: false };
    return problem('type', `cannot be switched off. Choose another of its group: ${listed(group.filter((radio) => radio !== control).map(describe))}.`);
  }
  chosen ??= group.find((radio) => attrOf(radio, 'value') === text) ?? group.find((radio) => sameText(nameOf(radio), text));
  if (!chosen) return problem('option', `takes true, or one of ${listed(group.map((radio) => quote(nameOf(radio) || attrOf(radio, 'value'), 80)))}.`);
  if (isDisabled(chosen)) return problem('option', `has ${describe(chosen)} in its group, but that is disabled.`);
  return {
    act: () => {
      if (!inputCheckedOf(chosen)) clickOn(chosen);
    },
    check: () => (inputCheckedOf(chosen) ? { now: chosen === control || nameOf(chosen) } : { now: false, rejected: true }),
  };
}

function radioGroupOf(control) {
  const name = attrOf(control, 'name');
  if (!name) return [control];
  const form = inputFormOf(control);
  return [...queryAll(rootOf(control), 'input[type=radio]')].filter((radio) => attrOf(radio, 'name') === name && inputFormOf(radio) === form);
}

// A select takes the value or the text of an option; with multiple, several: a JSON array, lines, or a list with commas.
function planSelect(control, value) {
  const options = [...optionsOf(control)];
  const texts = options.map((option) => clean(optionLabelOf(option), 200));
  const find = (text) => {
    const exact = options.findIndex((option) => optionValueOf(option) === text);
    if (exact >= 0) return exact;
    const shown = texts.indexOf(clean(text));
    if (shown >= 0) return shown;
    const like = texts.map((t, i) => (t.toLowerCase() === clean(text).toLowerCase() ? i : -1)).filter((i) => i >= 0);
    return like.length === 1 ? like[0] : -1;
  };
  const offer = () => `Its options: ${listed(texts.filter((_, i) => !isDisabled(options[i])).map((text) => quote(text, 80)))}.`;
  const multiple = selectMultipleOf(control);
  const wanted = multiple ? choicesIn(String(value), find) : [String(value)];
  const chosen = new Set();
  for (const text of wanted) {
    const index = find(text);
    if (index < 0) return problem('option', `has no option ${quote(text, 80)}. ${offer()}`);
    if (isDisabled(options[index])) return problem('option', `has its option ${quote(texts[index], 80)} disabled. ${offer()}`);
    chosen.add(index);
  }
  const selected = () => options.filter(optionSelectedOf);
  const fits = () => selected().length === chosen.size && [...chosen].every((i) => optionSelectedOf(options[i]));
  return {
    act: () => {
      if (fits()) return;
      if (multiple) options.forEach((option, i) => setOptionSelected(option, chosen.has(i)));
      else setSelectedIndex(control, [...chosen][0]);
      tellChange(control);
    },
    check: () => {
      const names = selected().map((option) => clean(optionLabelOf(option), 200));
      const now = multiple ? names : names[0] ?? '';
      return fits() ? { now } : { now, rejected: true };
    },
  };
}

function choicesIn(text, find) {
  if (find(text) >= 0) return [text];
  try {
    const list = JSON.parse(text);
    if (Array.isArray(list)) return list.map(String);
  } catch {
    // not JSON: a list made by hand
  }
  return text.split(text.includes('\n') ? '\n' : ',').map((part) => part.trim()).filter(Boolean);
}

// planEditor selects all of a rich text field. Editors follow trusted input only, so Go types the value over it.
function planEditor(control, value) {
  if (typeof value === 'boolean') return problem('type', 'takes text, not true or false.');
  if (attrOf(control, 'aria-readonly') === 'true') return { readonly: true };
  return {
    typeInstead: true,
    act: () => execIn(documentOf(control), 'selectAll'),
    check: () => ({ now: innerTextOf(control) }),
  };
}

exported.readValue = ({ ref, value }) => {
  const el = elementFor(ref);
  const control = el && formControlOf(el);
  if (!control) return { stale: true };
  const tag = tagOf(control);
  const now = tag === 'input' ? inputValueOf(control) : tag === 'textarea' ? textareaValueOf(control) : innerTextOf(control);
  return { matches: sameText(now, String(value)), ...(!isSecret(control) && { now: bounded(now) }) };
};

// reaction runs act and lets the page react: everything that it queued in microtasks, with their followers, and one turn of tasks.
async function reaction(act) {
  act();
  for (let i = 0; i < 10; i++) await null;
  await nextTurn();
}

// outcome words what check found after the page had reacted.
function outcome(control, check) {
  const { now, rejected, changed } = check();
  const secret = isSecret(control);
  const kept = { ...(secret ? { secret } : { now: bounded(now) }), ...(changed && { note: 'The page changed what was set.' }) };
  if (rejected) return { ...problem('rejected', `did not keep the value: the page changed it${secret ? '' : ` to ${quote(String(now), 80)}`}.`), ...kept };
  const invalid = !secret && validityOf[tagOf(control)]?.(control).valid === false && clean(validationMessageOf[tagOf(control)](control), 200);
  const suggests = offersSuggestions(control);
  return {
    ok: true, ...kept,
    ...(invalid && { invalid }),
    ...(suggests && { suggests, options: optionsShownBy(control).slice(0, MAX_OPTIONS).map(describe) }),
  };
}

// offersSuggestions tells a text field whose page shows a list of suggestions for what is typed.
function offersSuggestions(control) {
  return tagOf(control) === 'input' && (roleOf(control) === 'combobox' || hasAttr(control, 'aria-autocomplete')) && !hasAttr(control, 'list');
}

// bounded cleans a value read back, line by line.
const bounded = (now) => (typeof now === 'string' ? cut(now.slice(0, 20000).split('\n').map((line) => clean(line)).join('\n'), 1000) : now);

// --- Focus ------------------------------------------------------------------------------------------------------------

// focusedElement is the innermost element that has the focus, through shadow roots and frames of this process.
function focusedElement() {
  let el = activeInDocument(document);
  while (el) {
    const shadow = shadowOf(el);
    const doc = frameDocOf(el);
    const inner = shadow ? activeInShadow(shadow) : doc && (activeInDocument(doc) ?? documentElementOf(doc));
    if (!inner) return el;
    el = inner;
  }
  return null;
}

// focusState answers {kind, describe, ref, type?, readonly?, secret?, suggests?}. kind says what typed text does there:
//   single-line  text field, Enter submits          multi-line  textarea: Enter breaks the line
//   editor       rich text: Enter breaks the line   control     other element with the focus, typing is for its keys
//   frame        a frame of another process: ask there          none        nothing has the focus
exported.focusState = () => {
  const el = focusedElement();
  if (!el) return { kind: 'none' };
  const doc = documentOf(el);
  const kind = focusKind(el, doc);
  if (kind === 'none') return { kind };
  const answer = { kind, describe: describe(el), ref: refFor(el) };
  if (tagOf(el) === 'input' && isHTML(el)) answer.type = inputTypeOf(el);
  if (kind === 'single-line' || kind === 'multi-line') answer.readonly = matchesSelector(el, ':read-only');
  if (isControl(el) && isSecret(el)) answer.secret = true;
  if (kind === 'single-line' && offersSuggestions(el)) answer.suggests = true;
  return answer;
};

const KEYED = new Set(['checkbox', 'radio', 'range', 'file', 'color', ...BUTTONS]);

function focusKind(el, doc) {
  if (isFrame(el) && !frameDocOf(el)) return 'frame';
  if (designModeOf(doc) === 'on' || isRichText(el)) return 'editor';
  if (el === bodyOf(doc) || el === documentElementOf(doc)) return 'none';
  if (isHTML(el) && tagOf(el) === 'textarea') return 'multi-line';
  if (isHTML(el) && tagOf(el) === 'input' && !KEYED.has(inputTypeOf(el))) return 'single-line';
  return 'control';
}
