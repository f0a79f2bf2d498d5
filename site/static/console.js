// Makes entries, exceptions and requests of every kind.

const result = document.getElementById('result');
const report = (text) => { result.textContent = text; };

async function request(address) {
  try {
    const answer = await fetch(address);
    report(`${address} answered ${answer.status}.`);
  } catch {
    report(`${address} did not answer.`);
  }
}

const actions = {
  log: () => console.log('Ferry %s is boarding', 'Marigold', { seats: 12, gates: ['A', 'B'] }),
  warn: () => console.warn('The tide is higher than usual.'),
  error: () => console.error('The crane does not answer.', new Error('crane is offline')),
  throw: () => { throw new TypeError('The cargo list is empty.'); },
  reject: () => { Promise.reject(new Error('The pilot did not come.')); },
  ok: () => request('/api/products/enamel-mug'),
  missing: () => request('/api/products/unicorn'),
  failing: () => request('/status/500'),
  // Nothing listens on port 2, and browsers do not block it as they block port 1.
  refused: () => request(`${location.protocol}//${location.hostname}:2/`),
  slow: () => request('/slow?ms=2000'),
  image: () => { new Image().src = '/static/pictures/unicorn.svg'; },
};

for (const button of document.querySelectorAll('[data-do]')) {
  button.addEventListener('click', () => {
    report(`Done: ${button.textContent}.`);
    actions[button.dataset.do]();
  });
}
