// Everything that interrupts a person; each answer is written into the page.

const result = document.getElementById('result');
const modal = document.getElementById('modal');
const report = (text) => { result.textContent = text; };

const dialogs = {
  alert() {
    alert('The ferry leaves at nine.');
    report('The alert was closed.');
  },
  confirm() {
    report(confirm('Reserve a seat?') ? 'Confirmed.' : 'Not confirmed.');
  },
  prompt() {
    const name = prompt('What is your name?', 'Ada');
    report(name === null ? 'The prompt was dismissed.' : `The answer was “${name}”.`);
  },
  alerts() {
    for (const n of [1, 2, 3]) alert(`Notice ${n} of 3.`);
    report('All three alerts were closed.');
  },
  later() {
    report('An alert comes in a moment.');
    setTimeout(() => {
      alert('This one came by itself.');
      report('The late alert was closed.');
    }, 300);
  },
  print() {
    print();
    report('Printing is over.');
  },
  location() {
    report('Asking for the location.');
    navigator.geolocation.getCurrentPosition(
      ({ coords }) => report(`The location is ${coords.latitude.toFixed(3)}, ${coords.longitude.toFixed(3)}.`),
      (problem) => report(`No location: ${problem.code === problem.PERMISSION_DENIED ? 'permission denied' : 'not available'}.`),
    );
  },
  window() {
    report(window.open('/docs/limits', '_blank', 'width=600,height=500') ? 'A window was opened.' : 'The window was blocked.');
  },
  modal() {
    modal.showModal();
  },
};

for (const button of document.querySelectorAll('[data-dialog]')) {
  button.addEventListener('click', () => dialogs[button.dataset.dialog]());
}
modal.addEventListener('close', () => report(`The dialog was closed with “${modal.returnValue || 'nothing'}”.`));

const guard = document.getElementById('guard');
window.addEventListener('beforeunload', (event) => {
  if (guard.checked) event.preventDefault();
});
