// An endless list: more entries are fetched when its end comes near the viewport.

const feed = document.getElementById('feed');
const end = document.getElementById('feed-end');
let loading = false;

function element(tag, text) {
  const made = document.createElement(tag);
  made.textContent = text;
  return made;
}

function entry({ number, title, text, picture }) {
  const image = document.createElement('img');
  image.src = picture;
  image.alt = '';
  const words = document.createElement('div');
  words.append(element('h3', `${number}. ${title}`), element('p', text));
  const item = document.createElement('li');
  item.append(image, words);
  return item;
}

async function loadMore() {
  if (loading) return;
  loading = true;
  const answer = await fetch(`/api/feed?after=${feed.children.length}`);
  const { entries, more } = await answer.json();
  feed.append(...entries.map(entry));
  document.getElementById('feed-status').textContent = `${feed.children.length} entries loaded`;
  loading = false;
  watcher.unobserve(end);
  if (more) watcher.observe(end); // observing again reports at once if the end is still near
  else end.textContent = 'That was the first entry of the log.';
}

const watcher = new IntersectionObserver(([seen]) => {
  if (seen.isIntersecting) loadMore();
}, { rootMargin: '200px' });
watcher.observe(end);

// The stock room scrolls inside the page.
const stock = document.getElementById('stock');
stock.append(...Array.from({ length: 100 }, (_, i) => element('li', `Shelf ${i + 1}: ${(i * 37) % 90 + 3} boxes`)));
stock.addEventListener('scroll', () => {
  const left = stock.scrollHeight - stock.clientHeight - stock.scrollTop;
  const where = stock.scrollTop < 1 ? 'At the top' : left < 2 ? 'At the end' : `${Math.round(stock.scrollTop)} pixels down`;
  document.getElementById('stock-status').textContent = where;
});
