// Custom elements with open and closed shadow roots. What people do inside is
// reported in the page as text.

const result = document.getElementById('result');
const report = (text) => { result.textContent = text; };

const style = `
  :host { display: block; }
  label { display: grid; gap: 4px; margin-bottom: 10px; font-weight: 600; }
  input { font: inherit; padding: 7px 10px; border: 1px solid #cfc8bb; border-radius: 8px; }
  button { font: inherit; padding: 7px 14px; border: 0; border-radius: 8px; background: #0b7a75; color: #fff; cursor: pointer; }
`;

// define makes an element whose root holds the markup, which is part of this
// file and never comes from a person.
function define(name, mode, markup, ready = () => {}) {
  const template = document.createElement('template');
  template.innerHTML = `<style>${style}</style>${markup}`;
  customElements.define(name, class extends HTMLElement {
    constructor() {
      super();
      const root = this.attachShadow({ mode });
      root.append(template.content.cloneNode(true));
      ready(root);
    }
  });
}

define('harbor-newsletter', 'open',
  '<form><label>Email for the newsletter <input type="email" name="email" required></label><button>Subscribe</button></form>',
  (root) => root.querySelector('form').addEventListener('submit', (event) => {
    event.preventDefault();
    report(`Subscribed ${new FormData(event.target).get('email')}.`);
  }));

define('harbor-rating', 'closed',
  '<p>How was your order?</p>' + [1, 2, 3, 4, 5].map((n) => `<button type="button" value="${n}" aria-label="${n} of 5 stars">${n}</button> `).join('')
  + '<label style="margin-top:12px">Reason <input name="reason"></label>',
  (root) => root.addEventListener('click', (event) => {
    if (event.target.value && event.target.localName === 'button') {
      report(`Rated ${event.target.value} of 5: ${root.querySelector('input').value || 'no reason'}.`);
    }
  }));

define('harbor-stepper', 'closed',
  '<button type="button" aria-label="Fewer crates">−</button> <output>1</output> <button type="button" aria-label="More crates">+</button>',
  (root) => {
    const [fewer, more] = root.querySelectorAll('button');
    const count = root.querySelector('output');
    const step = (by) => {
      count.value = Math.max(1, Number(count.value) + by);
      report(`Crates: ${count.value}.`);
    };
    fewer.addEventListener('click', () => step(-1));
    more.addEventListener('click', () => step(1));
  });

define('harbor-order', 'open', '<p>Crates to order</p><harbor-stepper></harbor-stepper>');

define('harbor-note', 'open', '<strong><slot name="title">Note</slot></strong><slot></slot><button type="button">Mark as read</button>',
  (root) => root.querySelector('button').addEventListener('click', () => report('Marked as read.')));
