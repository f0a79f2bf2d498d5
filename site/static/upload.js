// The drop zone: files that are dropped, or chosen in its hidden field, are
// sent at once.

const zone = document.getElementById('dropzone');
const hidden = document.getElementById('hidden-files');
const table = document.getElementById('uploads');
const uploadStatus = document.getElementById('upload-status');

function row(cells) {
  const made = document.createElement('tr');
  for (const text of cells) made.insertCell().textContent = text;
  return made;
}

async function send(files) {
  if (files.length === 0) return;
  const form = new FormData();
  for (const file of files) form.append('dropped', file);
  const answer = await fetch('/upload', { method: 'POST', headers: { Accept: 'application/json' }, body: form });
  if (!answer.ok) {
    uploadStatus.textContent = 'The files could not be sent.';
    return;
  }
  const uploads = await answer.json();
  table.tBodies[0].replaceChildren(...uploads.map(({ name, size, sha256 }) => row([name, size, sha256])));
  table.hidden = false;
  uploadStatus.textContent = `${uploads.length} ${uploads.length === 1 ? 'file' : 'files'} received.`;
}

zone.addEventListener('dragover', (event) => {
  event.preventDefault();
  zone.classList.add('over');
});
zone.addEventListener('dragleave', () => zone.classList.remove('over'));
zone.addEventListener('drop', (event) => {
  event.preventDefault();
  zone.classList.remove('over');
  send(event.dataTransfer.files);
});
document.getElementById('pick').addEventListener('click', () => hidden.click());
hidden.addEventListener('change', () => send(hidden.files));
