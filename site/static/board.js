// Three ways to drag: native drag and drop between columns, a list that follows
// the pointer after a few pixels, and a slider.

// Columns: HTML5 drag and drop, or the arrow keys.
const columns = [...document.querySelectorAll('.column')];
const boardStatus = document.getElementById('board-status');
let dragged = null;

const nameOf = (ticket) => ticket.firstChild.textContent;
const titleOf = (column) => column.querySelector('h2').firstChild.textContent.trim();

function move(ticket, column) {
  column.append(ticket);
  for (const each of columns) each.querySelector('.count').textContent = each.querySelectorAll('.ticket').length;
  boardStatus.textContent = `Moved ${nameOf(ticket)} to ${titleOf(column)}.`;
}

for (const ticket of document.querySelectorAll('.ticket')) {
  ticket.addEventListener('dragstart', (event) => {
    dragged = ticket;
    ticket.classList.add('dragging');
    event.dataTransfer.effectAllowed = 'move';
    event.dataTransfer.setData('text/plain', nameOf(ticket));
  });
  ticket.addEventListener('dragend', () => {
    dragged = null;
    ticket.classList.remove('dragging');
  });
  ticket.addEventListener('keydown', (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const column = columns[columns.indexOf(ticket.parentElement) + step];
    if (!column) return;
    move(ticket, column);
    ticket.focus();
  });
}

for (const column of columns) {
  column.addEventListener('dragover', (event) => {
    if (!dragged) return;
    event.preventDefault(); // says that a drop is welcome
    column.classList.add('over');
  });
  column.addEventListener('dragleave', () => column.classList.remove('over'));
  column.addEventListener('drop', (event) => {
    event.preventDefault();
    column.classList.remove('over');
    if (dragged) move(dragged, column);
  });
}

// Sortable list: pointer events, with a threshold so that a click is no drag.
const sortable = document.getElementById('sortable');
const threshold = 5; // pixels

sortable.addEventListener('pointerdown', (down) => {
  const lifted = down.target.closest('li');
  if (!lifted) return;
  sortable.setPointerCapture(down.pointerId);

  const follow = (event) => {
    if (!lifted.classList.contains('lifted') && Math.abs(event.clientY - down.clientY) < threshold) return;
    lifted.classList.add('lifted');
    for (const other of sortable.children) {
      const box = other.getBoundingClientRect();
      if (other === lifted || event.clientY < box.top || event.clientY > box.bottom) continue;
      if (event.clientY > box.top + box.height / 2) other.after(lifted);
      else other.before(lifted);
      break;
    }
  };
  const drop = () => {
    sortable.removeEventListener('pointermove', follow);
    lifted.classList.remove('lifted');
    document.getElementById('sort-status').textContent = [...sortable.children].map((li) => li.textContent).join(', ');
  };
  sortable.addEventListener('pointermove', follow);
  sortable.addEventListener('lostpointercapture', drop, { once: true });
});

// Slider: pointer or arrow keys.
const tide = document.getElementById('tide');

function setTide(value) {
  const rounded = Math.round(Math.min(100, Math.max(0, value)));
  tide.setAttribute('aria-valuenow', rounded);
  tide.querySelector('.knob').style.left = `${rounded}%`;
  document.getElementById('tide-status').textContent = `Tide at ${rounded} cm`;
}

function setTideAt(event) {
  const box = tide.getBoundingClientRect();
  setTide(100 * (event.clientX - box.left) / box.width);
}

tide.addEventListener('pointerdown', (event) => {
  tide.setPointerCapture(event.pointerId);
  setTideAt(event);
});
tide.addEventListener('pointermove', (event) => {
  if (tide.hasPointerCapture(event.pointerId)) setTideAt(event);
});
tide.addEventListener('keydown', (event) => {
  const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
  if (!step) return;
  event.preventDefault();
  setTide(Number(tide.getAttribute('aria-valuenow')) + step);
});
