// Saves the table as a file that exists only in this page (a blob: download).

document.getElementById('save-table').addEventListener('click', () => {
  const rows = [...document.querySelectorAll('#prices tbody tr')];
  const prices = rows.map((row) => {
    const [product, category, price] = [...row.cells].map((cell) => cell.textContent);
    return { product, category, price };
  });
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([JSON.stringify(prices, null, 2)], { type: 'application/json' }));
  link.download = 'prices.json';
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
});
