// Mirrors the form's values as JSON, and names the last event it saw.

const form = document.getElementById('form');
const about = document.getElementById('about');
const mirror = document.getElementById('mirror');
const lastEvent = document.getElementById('last-event');

function valueOf(control) {
  switch (control.type) {
    case 'checkbox': return control.checked;
    case 'select-multiple': return [...control.selectedOptions].map((option) => option.value);
    case 'file': return [...control.files].map((file) => `${file.name} (${file.size} bytes)`);
    case 'password': return `${[...control.value].length} characters`;
    default: return control.value;
  }
}

function values() {
  const all = {};
  for (const control of form.elements) {
    if (!control.name || (control.type === 'radio' && !control.checked)) continue;
    all[control.name] = valueOf(control);
  }
  all.about = about.innerText.trim();
  return all;
}

function show(event) {
  mirror.value = JSON.stringify(values(), null, 2);
  if (event) lastEvent.textContent = `Last event: ${event.type} on ${event.target.name || event.target.id}`;
}

form.addEventListener('input', show);
form.addEventListener('change', show);
form.addEventListener('reset', () => {
  about.textContent = '';
  queueMicrotask(() => show()); // the fields change after this event
});
form.addEventListener('formdata', (event) => event.formData.set('about', about.innerText.trim()));
show();
