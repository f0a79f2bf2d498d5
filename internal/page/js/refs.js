// Element references. A number is given once and stays with its element for ever: the same element always gets the same
// number, and no other element ever gets it (contract §3). References die with their document because this whole
// scope does; the checks in elementFor cover frames that share it.
//
//   refFor(el) → number    refName(el) → "ref_7"    elementFor(7 or "ref_7") → element, or null when stale or unknown

const refNumbers = new WeakMap();
// Number to element. Connected elements are held directly, which is cheap; sweepRefs lets go of removed ones.
const refElements = new Map();
let refsAtSweep = 4096;

function refFor(el) {
  let ref = refNumbers.get(el);
  if (ref === undefined) {
    ref = nextRef++;
    refNumbers.set(el, ref);
    refElements.set(ref, el);
    if (refElements.size > 2 * refsAtSweep) sweepRefs();
  }
  return ref;
}

const refName = (el) => 'ref_' + refFor(el);

function elementFor(ref) {
  const number = typeof ref === 'number' ? ref : /^ref_\d+$/.test(ref) ? Number(ref.slice(4)) : 0;
  const held = refElements.get(number);
  const el = held instanceof WeakRef ? held.deref() : held;
  return el && isConnected(el) && viewOf(el) ? el : null;
}

// sweepRefs runs each time the table has doubled. A removed element may come back under its number, so it is held
// weakly, not dropped, until the page has let go of it.
function sweepRefs() {
  for (const [ref, held] of refElements) {
    if (!(held instanceof WeakRef)) {
      if (!isConnected(held) || !viewOf(held)) refElements.set(ref, new WeakRef(held));
    } else if (!held.deref()) refElements.delete(ref);
  }
  refsAtSweep = Math.max(4096, refElements.size);
}
