// A cell is chosen: what its exchange changes in each pair. Arrow keys go from cell to cell.
const cells = [...document.querySelectorAll(".exchange button")];
const at = (layer, column) => cells.find(one => one.dataset.layer == layer && one.dataset.column == column);
const signed = value => value === null ? "–" : `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;

function choose(cell) {
  for (const one of cells) {
    one.setAttribute("aria-pressed", one === cell);
    one.tabIndex = one === cell ? 0 : -1;
  }
  const { layer, column } = cell.dataset;
  document.querySelector(".of-cell").textContent = cell.title.split(":")[0];
  document.querySelector(".about-cell").textContent = cell.title;
  for (const row of document.querySelectorAll("[data-pair]"))
    row.lastElementChild.textContent = signed(DATA.changes[row.dataset.pair][layer][column]);
}

for (const cell of cells) {
  cell.addEventListener("click", () => choose(cell));
  cell.addEventListener("keydown", event => {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!step) return;
    event.preventDefault();
    const row = cell.closest("tr"), place = cell.closest("td").cellIndex + step[1];
    const next = (step[0] ? (step[0] < 0 ? row.previousElementSibling : row.nextElementSibling) : row)?.cells[place]?.querySelector("button");
    if (next) { next.focus(); choose(next); }
  });
}
if (DATA.first) choose(at(...DATA.first));
