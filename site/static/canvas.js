// A paint program. It keeps its strokes, so that undo draws all but the last.

const canvas = document.getElementById('paint');
const pen = canvas.getContext('2d');
const brush = document.getElementById('brush');
const swatches = [...document.querySelectorAll('.swatch')];
let strokes = [];
let current = null;

function pointAt(event) {
  const box = canvas.getBoundingClientRect();
  return [(event.clientX - box.left) * canvas.width / box.width, (event.clientY - box.top) * canvas.height / box.height];
}

function draw() {
  pen.clearRect(0, 0, canvas.width, canvas.height);
  pen.lineCap = pen.lineJoin = 'round';
  for (const { color, width, points } of strokes) {
    pen.strokeStyle = color;
    pen.lineWidth = width;
    pen.beginPath();
    pen.moveTo(...points[0]);
    for (const point of points) pen.lineTo(...point);
    pen.stroke();
  }
  document.getElementById('paint-status').textContent = `Strokes: ${strokes.length}`;
}

canvas.addEventListener('mousedown', (event) => {
  if (event.button !== 0) return;
  const chosen = swatches.find((swatch) => swatch.ariaPressed === 'true');
  current = { color: chosen.dataset.color, width: Number(brush.value), points: [pointAt(event)] };
  strokes.push(current);
  draw();
});
window.addEventListener('mousemove', (event) => {
  if (!current) return;
  current.points.push(pointAt(event));
  draw();
});
window.addEventListener('mouseup', () => { current = null; });

for (const swatch of swatches) {
  swatch.addEventListener('click', () => {
    for (const each of swatches) each.ariaPressed = String(each === swatch);
  });
}
document.getElementById('undo').addEventListener('click', () => {
  strokes.pop();
  draw();
});
document.getElementById('clear').addEventListener('click', () => {
  strokes = [];
  draw();
});
