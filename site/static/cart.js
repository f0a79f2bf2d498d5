// On every page: adds to the cart without leaving the page, and sends forms
// marked data-autosubmit as soon as a value changes.

const counter = document.getElementById('cart-count');

async function addToCart(form) {
  const fields = new FormData(form);
  const answer = await fetch('/api/cart', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ product: form.dataset.product, quantity: Number(fields.get('quantity') ?? 1) }),
  });
  const cart = await answer.json();
  if (!answer.ok) throw new Error(cart.error.message);
  counter.textContent = cart.count;
  const added = document.getElementById('added');
  if (added && fields.has('quantity')) added.textContent = `Added to your cart: ${cart.count} in total, ${cart.total}.`;
}

document.addEventListener('submit', (event) => {
  const form = event.target;
  if (!form.dataset.product || !counter) return;
  event.preventDefault();
  addToCart(form).catch(() => form.submit()); // the plain form works without scripts too
});

document.addEventListener('change', (event) => {
  const form = event.target.form;
  if (form && 'autosubmit' in form.dataset) form.requestSubmit();
});
