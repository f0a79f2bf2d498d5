// The in-page library: one function scope over all files of this folder, evaluated once per document in an
// isolated world that the page cannot see. Go calls it through globalThis.pagehand (see epilogue.js).
(() => {
'use strict';
// levelsUp is how many frames up scripts of this document can reach: the value of this expression.
function levelsUp() {
  let levels = 0;
  for (let view = window; frameElementIn(view); view = view.parent) levels++;
  return levels;
}

function frameElementIn(view) {
  try {
    return view.frameElement;
  } catch {
    return null; // of another origin
  }
}

// A document that comes back from the back/forward cache still has the library, and with it its element references.
if (Object.hasOwn(globalThis, 'pagehand')) return levelsUp();
// What Go may call, by name. Each file adds its own entries.
const exported = {};
// The number that the next new element reference gets. Go owns the count, because numbers are unique over all tabs and
// processes of a session: it passes the next free one with each call and takes it back with the answer.
let nextRef = 1;
