// Says which scripts this browser has glyphs for, and whether it has emoji in colour. A missing glyph is drawn like
// that of a code point nobody has.
(() => {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 64;
  const pen = canvas.getContext('2d', { willReadFrequently: true });
  pen.font = '32px sans-serif';
  const drawn = (text) => {
    pen.clearRect(0, 0, 64, 64);
    pen.fillText(text, 8, 48);
    return pen.getImageData(0, 0, 64, 64).data;
  };
  const missing = drawn('\u{10fffd}').join();
  const blank = drawn(' ').join();
  const has = (text) => ![missing, blank].includes(drawn(text).join());
  const inColour = (text) => drawn(text).some((value, i) => i % 4 < 3 && value !== 0); // the pen is black
  return { latin: has('A'), chinese: has('漢'), japanese: has('あ'), korean: has('한'), emoji: inColour('😀') };
})()
