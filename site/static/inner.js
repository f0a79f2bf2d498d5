// Greets whoever typed a name in this frame.

document.getElementById('greet').addEventListener('submit', (event) => {
  event.preventDefault();
  const name = new FormData(event.target).get('name');
  document.getElementById('greeting').textContent = `Hello ${name}, from ${document.title}.`;
});
