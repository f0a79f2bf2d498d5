// What Go asks after an action, so that it knows where the page is: one cheap call that also serves as a barrier, because its
// answer comes after every event that the page caused before.
const titleOf = Object.getOwnPropertyDescriptor(Document.prototype, 'title').get;

exported.observe = () => ({ title: String(titleOf.call(document)).slice(0, 4096) });

// nextFrame resolves when the page has painted once more, at the latest after two turns of the event loop where a page that is not
// shown paints nothing.
function nextFrame() {
  return new Promise((resolve) => {
    if (document.visibilityState !== 'visible') {
      const turn = new MessageChannel();
      turn.port1.onmessage = resolve;
      turn.port2.postMessage(null);
      return;
    }
    requestAnimationFrame(() => {
      const turn = new MessageChannel();
      turn.port1.onmessage = resolve;
      turn.port2.postMessage(null);
    });
  });
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
