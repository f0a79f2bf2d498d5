// pagehand(next, name, args) runs exported[name](...args), which may be asynchronous, and returns {next, value}: the first
// reference number still free, and what the function returned (a JSON value).
globalThis.pagehand = (next, name, args) => {
  nextRef = Math.max(nextRef, next);
  const value = exported[name](...args);
  return value instanceof Promise ? value.then((v) => ({ next: nextRef, value: v })) : { next: nextRef, value };
};
exported.levels = levelsUp;
return levelsUp();
})();
