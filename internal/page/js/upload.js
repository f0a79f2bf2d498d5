// File inputs.
//
//   fileInput({ref})        what file_upload needs to know of the input that a reference means: {multiple, directory, accept, disabled,
//                           stand: how the element stands for it, empty when it is the input}, or {stale}, or {none: description}
//   fileInputElement(ref)   that input, for Go to pass on; asked for as an object, not by value
//   chosenFiles({ref})      the names of the files it holds: {names}, or {stale}

const controlOf = accessor(HTMLLabelElement.prototype, 'control');
const filesOf = accessor(HTMLInputElement.prototype, 'files');
const multipleOf = accessor(HTMLInputElement.prototype, 'multiple');
const fileNameOf = accessor(File.prototype, 'name');
const takesFiles = (el) => tagOf(el) === 'input' && isHTML(el) && inputTypeOf(el) === 'file';
const labelled = (el) => {
  const control = tagOf(el) === 'label' && isHTML(el) ? controlOf(el) : null;
  return control && takesFiles(control) ? control : null;
};

// fileInputFor finds the input that an element stands for. Pages hide the input and show a label or a button for it.
function fileInputFor(el) {
  if (takesFiles(el)) return { input: el, stand: '' };
  const label = closestOf(el, 'label');
  const control = labelled(el) ?? (label && labelled(label));
  if (control) return { input: control, stand: 'its label' };
  const only = (root, stand) => {
    const inputs = [...queryAll(root, 'input')].filter(takesFiles);
    return inputs.length === 1 ? { input: inputs[0], stand } : null;
  };
  return only(el, 'what holds it') ?? only(rootOf(el), 'not it');
}

exported.fileInput = ({ ref }) => {
  const el = elementFor(ref);
  if (!el) return { stale: true };
  const found = fileInputFor(el);
  if (!found) return { none: describe(el) };
  const { input, stand } = found;
  return {
    stand, multiple: multipleOf(input), directory: hasAttr(input, 'webkitdirectory'), disabled: isDisabled(input),
    accept: (attrOf(input, 'accept') ?? '').slice(0, 1000),
  };
};

exported.fileInputElement = (ref) => {
  const el = elementFor(ref);
  return (el && fileInputFor(el)?.input) ?? null;
};

exported.chosenFiles = ({ ref }) => {
  const el = elementFor(ref);
  const input = el && fileInputFor(el)?.input;
  if (!input) return { stale: true };
  return { names: [...filesOf(input)].slice(0, 200).map((file) => fileNameOf(file).slice(0, 300)) };
};
