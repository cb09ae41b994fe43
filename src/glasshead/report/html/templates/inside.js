// Two tables of cells: arrow keys move, a head shows its tokens, a cell of the lens is read aloud.
const data = JSON.parse(document.getElementById("inside-data").textContent);
const sources = document.getElementById("sources");

function show(button) {
  const effects = data.effects[button.dataset.head];
  const tokens = data.tokens[Number(button.dataset.head.split("-")[0])];
  for (const other of document.querySelectorAll("[aria-current]")) other.removeAttribute("aria-current");
  button.setAttribute("aria-current", "true");
  sources.hidden = false;
  sources.firstElementChild.textContent = button.getAttribute("aria-label") + ", from these tokens";
  const line = sources.querySelector(".tokens");
  line.replaceChildren();
  tokens.forEach(function (token, place) {
    const effect = effects[place];
    const mark = document.createElement("mark");
    mark.className = effect < 0 ? "n" : "p";
    mark.style.setProperty("--a", (Math.abs(effect) / data.largest).toFixed(3));
    mark.dir = "auto";
    mark.tabIndex = place ? -1 : 0;
    mark.dataset.tip = token + " (" + place + "): " + (effect < 0 ? "−" : "+") + Math.abs(effect).toPrecision(3);
    mark.textContent = token;
    line.append(mark, " ");
  });
}

for (const table of document.querySelectorAll("table.cells")) {
  const rows = [...table.tBodies[0].rows].map((row) => [...row.querySelectorAll("button")]).filter((row) => row.length);
  const said = table.closest("section").querySelector(".said");
  if (!rows.length) continue;
  const first = rows.flat().find((button) => button.dataset.head === data.first) || rows[0][rows[0].length - 1];
  first.tabIndex = 0;
  if (first.dataset.head) show(first);
  const read = (button) => {
    if (said) said.textContent = button ? button.dataset.said : said.dataset.hint;
  };
  table.addEventListener("keydown", function (event) {
    const row = rows.findIndex((cells) => cells.includes(event.target));
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (row < 0 || !step) return;
    event.preventDefault();
    const next = (rows[row + step[0]] || [])[rows[row].indexOf(event.target) + step[1]];
    if (!next) return;
    event.target.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
  table.addEventListener("click", function (event) {
    const button = event.target.closest("button");
    if (button && button.dataset.head) show(button);
  });
  table.addEventListener("focusin", (event) => read(event.target.closest("button")));
  table.addEventListener("pointerover", (event) => read(event.target.closest("button")));
}
