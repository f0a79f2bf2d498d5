// What Go asks after an action, so that it knows where the page is: one cheap call that also serves as a barrier, because its
// answer comes after every event that the page caused before.
const titleOf = Object.getOwnPropertyDescriptor(Document.prototype, 'title').get;

// How often the page has asked to print since the last look. A headless browser prints nothing, and tells nobody.
let prints = 0;
listenTo(window, 'beforeprint', (event) => { if (event.isTrusted) prints++; });

exported.observe = () => {
  const printed = prints > 0;
  prints = 0;
  return { title: String(titleOf.call(document)).slice(0, 4096), printed };
};

// nextTurn resolves in the next turn of the event loop, after what frameworks put off to microtasks and tasks of their own.
function nextTurn() {
  return new Promise((resolve) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = resolve;
    channel.port2.postMessage(null);
  });
}

// nextFrame resolves when the page has painted once more; a page that is not shown paints nothing and gets two turns instead.
async function nextFrame() {
  if (document.visibilityState === 'visible') await new Promise((resolve) => requestAnimationFrame(resolve));
  else await nextTurn();
  await nextTurn();
}

exported.painted = async () => {
  await nextFrame();
  return exported.observe();
};

// turned resolves when timers that were due have had their turn, some times over: only a page that gets on answers.
exported.turned = async () => {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setTimeout(resolve, 20));
  return exported.observe();
};

// frameKey is Go's name of the frame that an element shows, if another process renders it.
exported.frameKey = ({ ref }) => {
  const el = elementFor(ref);
  return (el && frameKeys.get(el)) ?? '';
};
