// The grid of all heads, and the head that is opened from it. The address says which, so that a link restores it.
const VIEWS = ["image", "lines", "matrix", "neurons"].filter(view => document.getElementById("tab-" + view));
const grid = document.querySelector(".head-grid"), opened = document.getElementById("head");
const find = selector => opened.querySelector(selector);
const say = words => { find(".said").textContent = words || find(".said").dataset.hint; };
const lines = new LinesView(find(".lines"), say), matrix = new MatrixView(find(".matrix"), say);
const image = VIEWS.includes("image") ? new ImageView(find(".image"), say) : null;
const state = { head: REPORT.first, view: VIEWS[0], text: 0, level: "tokens", pair: "all", special: "shown", query: -1, key: -1 };
const usable = REPORT.texts.length > 0 && "DecompressionStream" in window;
let current = null, asked = 0;

const text = () => REPORT.texts[state.text];
const place = () => state.head.split("-").map(Number);
const buttonOf = head => grid.querySelector(`button[data-head="${head}"]`);

// Small maps: the strongest colour of each is its largest weight.
async function paintThumbnails() {
  const rgb = shade => shade.match(/\w\w/g).map(part => parseInt(part, 16)), of = text();
  for (const [layer, packed] of Object.entries(of.layers)) {
    const { rows, columns, bytes } = packed.thumbnails, levels = await unpack(bytes);
    if (of !== text()) return;
    const values = new Int8Array(levels.buffer), [above, below] = [1, -1].map(sign => rgb(shadeOf(sign, packed.signed)));
    grid.querySelectorAll(`button[data-layer="${layer}"] canvas`).forEach((canvas, head) => {
      [canvas.width, canvas.height] = [columns, rows];
      canvas.classList.toggle("flat", rows < columns / 4);
      const pen = canvas.getContext("2d"), image = pen.createImageData(columns, rows);
      for (let i = 0; i < rows * columns; i++) {
        const level = values[head * rows * columns + i];
        image.data.set(level < 0 ? below : above, 4 * i);
        image.data[4 * i + 3] = Math.abs(level) / SIGNED_STEPS * 255;
      }
      pen.putImageData(image, 0, 0);
    });
  }
}

// The head with its filters; a newer question overtakes an older one.
async function show() {
  const question = ++asked, [layer, head] = place(), of = text(), packed = of.layers[layer];
  grid.querySelectorAll("button[aria-current]").forEach(one => one.removeAttribute("aria-current"));
  buttonOf(state.head).setAttribute("aria-current", "true");
  describe();
  if (!packed) return note(`This ${REPORT.input} has no map of this layer.`);
  const map = await tokenMap(of, layer, head), vectors = await headVectors(of, layer, head);
  if (question !== asked) return;
  let queries = of.axes[packed.queries], keys = of.axes[packed.keys], shown = map;
  if (state.level === "words" && state.view !== "neurons") {
    shown = wordMap(map, queries, keys);
    [queries, keys] = [wordAxis(queries), wordAxis(keys)];
  }
  current = { map, vectors, shown: filteredMap(shown, queries, keys, state.pair, state.special === "hidden") };
  current.shown.absent = of.remark ? "about 0, or left out" : "about 0";
  settings(of, packed);
  if (state.view === "image") await image.show(current.shown, of);
  if (state.view === "lines") lines.show(current.shown);
  if (state.view === "matrix") matrix.show(current.shown);
  if (state.view === "neurons") neurons(of, packed);
  if (find(".as-table").open) fillTable();
}

function describe() {
  const button = buttonOf(state.head), [layer, head] = place();
  find("h2").textContent = `Layer ${layer}, head ${head}`;
  find(".does").textContent = button.dataset.does;
  find(".numbers-of").replaceChildren(...Object.entries(REPORT.numbers[state.head] || {}).map(([name, value]) =>
    element("span", {}, name + " ", element("b", { textContent: value }))));
  VIEWS.forEach(view => {
    const tab = document.getElementById("tab-" + view), chosen = view === state.view;
    tab.setAttribute("aria-selected", chosen);
    tab.tabIndex = chosen ? 0 : -1;
    document.getElementById("view-" + view).hidden = !chosen;
  });
  opened.querySelectorAll(".only-maps").forEach(part => { part.hidden = state.view === "neurons"; });
}

// Which choices make sense of this text and layer.
function settings(of, packed) {
  const axes = [of.axes[packed.queries], of.axes[packed.keys]];
  const several = axes.every(axis => axis.sides.includes(1));
  const divided = axes.some(axis => axis.words.length < axis.tokens.length);
  const special = axes.some(axis => axis.special.includes(1));
  const offer = (name, makesSense) => { find(`[name=${name}]`).closest("label").hidden = !makesSense; };
  offer("pair", several);
  offer("level", divided);
  offer("special", special);
  for (const name of ["text", "level", "pair"]) find(`[name=${name}]`).value = state[name];
  find("[name=special]").checked = state.special === "hidden";
  find(".sides").textContent = packed.queries === packed.keys || state.view !== "lines" ? "" : "Queries are on the left, keys on the right.";
  note(of.remark && `${of.remark} Of this head's: ${Math.round(100 * packed.heads[place()[1]].kept)}\u00a0%.`);
  find(".said").dataset.hint = state.view === "image" ? "On the right, where its patches look on average. Point at one on the left, or choose it, to see where it looks."
    : state.view === "lines" ? `The lines of the queries in sight. Point at a ${REPORT.unit}, or move to it with the arrow keys, to see its lines alone.`
    : state.view === "matrix" ? "A row is a query, a column a key; colour grows with the square root of the weight. Point at a cell, or move with the arrow keys."
    : "Red is above zero, blue below; q and k share a scale.";
  say("");
}

function note(words) {
  find(".kept").textContent = words;
}

function neurons(of, packed) {
  const box = find("#view-neurons"), withheld = find(".withheld"), { vectors, map } = current;
  box.querySelector(".with-vectors").hidden = !vectors;
  withheld.hidden = Boolean(vectors);
  withheld.textContent = `Queries and keys of this ${REPORT.input} and layer are not on this page. ` + of.withheld;
  if (!vectors) return;
  const axes = { query: of.axes[packed.queries].tokens, key: of.axes[packed.keys].tokens };
  const chosen = [state.query, state.key].every((rank, i) => rank >= 0 && rank < Object.values(axes)[i].length);
  const pair = chosen ? state : strongestPair(map, of.axes[packed.queries], of.axes[packed.keys]);
  for (const [name, tokens] of Object.entries(axes)) {
    const select = box.querySelector(`[name=${name}]`);
    if (select.options.length !== tokens.length || select.dataset.text !== String(state.text))
      select.replaceChildren(...tokens.map((token, rank) => new Option(`${rank + 1} ${token}`, rank)));
    select.dataset.text = state.text;
    select.value = pair[name];
  }
  const query = vectors.query(pair.query), key = vectors.key(pair.key);
  const product = query.map((value, i) => value * key[i]), sum = product.reduce((a, b) => a + b, 0);
  const largest = (...all) => Math.max(...all.flat().map(Math.abs)) || 1;
  drawNeurons(box.querySelector("canvas"), [
    { name: "q", values: query, peak: largest(query, key) }, { name: "k", values: key, peak: largest(query, key) },
    { name: "q∘k", values: product, peak: largest(product) },
  ]);
  const at = pair.query * map.columns + pair.key;
  const weight = map.allowed[at] ? inWords(map.weights[at], 4) : "none: it may not look there";
  box.querySelector(".product").textContent = `q·k = ${inWords(sum, 2)}, the sum of ${query.length} products. `
    + `Weight of “${axes.key[pair.key]}” before “${axes.query[pair.query]}”: ${weight}.`;
  box.querySelector("tbody").replaceChildren(...query.map((value, i) => row(i, [value, key[i], product[i]].map(v => inWords(v)))));
}

// The pair with the largest weight, of ordinary tokens where there are some.
function strongestPair(map, queries, keys) {
  const best = { query: 0, key: 0, size: -1 };
  for (let query = 0; query < map.rows; query++)
    for (let key = 0; key < map.columns; key++) {
      const ordinary = !queries.special[query] && !keys.special[key];
      const size = Math.abs(map.weights[query * map.columns + key]) + (ordinary ? 1e6 : 0);
      if (size > best.size) Object.assign(best, { query, key, size });
    }
  return best;
}

function row(name, values) {
  const heading = element("th", { scope: "row", textContent: name });
  return element("tr", {}, heading, ...values.map(value => element("td", { className: "num", textContent: value })));
}

// Every query with the five keys that it looks at most: what the lines say, in letters.
function fillTable() {
  const { entries, rowNames, columnNames } = current.shown, best = rowNames.map(() => []);
  for (let i = entries.length - 1; i >= 0; i--)
    if (best[entries[i].row].length < 5) best[entries[i].row].push(entries[i]);
  find(".as-table tbody").replaceChildren(...rowNames.map((name, rank) => element("tr", {},
    element("th", { scope: "row", textContent: name, dir: "auto" }),
    element("td", {}, best[rank].map(one => `${columnNames[one.column]} ${inWords(one.weight)}`).join(" · ") || "nothing"))));
}

// What is shown is in the address; what is the usual is left out.
const USUAL = { ...state };
function remember() {
  const changed = Object.entries(state).filter(([name, value]) => name === "head" || String(value) !== String(USUAL[name]));
  history.replaceState(null, "", "#" + new URLSearchParams(changed));
}
function restore() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  if (!wanted.has("head")) return false;
  const allowed = {
    head: value => /^\d+-\d+$/.test(value) && buttonOf(value), view: value => VIEWS.includes(value),
    text: value => REPORT.texts[value], level: value => ["tokens", "words"].includes(value),
    pair: value => ["all", "within", "0-1", "1-0"].includes(value), special: value => ["shown", "hidden"].includes(value),
    query: value => /^\d+$/.test(value), key: value => /^\d+$/.test(value),
  };
  for (const name of Object.keys(state)) {
    const value = wanted.get(name);
    if (value === null || !allowed[name](value)) state[name] = USUAL[name];
    else state[name] = typeof USUAL[name] === "number" ? Number(value) : value;
  }
  return true;
}
function change(news) {
  Object.assign(state, news);
  remember();
  return show();
}

async function open(head) {
  if (!usable) return;
  await change({ head });
  arrive();
}
function arrive() {
  opened.scrollIntoView({ block: "start" });
  find("h2").focus({ preventScroll: true });
}

grid.addEventListener("click", event => {
  const button = event.target.closest("button[data-head]");
  if (button) open(button.dataset.head);
});
grid.addEventListener("keydown", event => {
  const all = [...grid.querySelectorAll("button[data-head]")], at = all.indexOf(event.target);
  if (at < 0) return;
  const [layer, head] = event.target.dataset.head.split("-").map(Number);
  const rows = [...new Set(all.map(one => Number(one.dataset.layer)))];
  const beside = step => all.filter(one => Number(one.dataset.layer) === rows[rows.indexOf(layer) + step]);
  const within = row => row[Math.min(head, row.length - 1)];
  const next = {
    ArrowRight: () => all[at + 1], ArrowLeft: () => all[at - 1], ArrowDown: () => within(beside(1)),
    ArrowUp: () => within(beside(-1)), Home: () => beside(0)[0], End: () => beside(0).at(-1),
  }[event.key];
  if (!next) return;
  event.preventDefault();
  focusCell(next() || event.target);
});
function focusCell(button) {
  grid.querySelectorAll("button[tabindex='0']").forEach(one => { one.tabIndex = -1; });
  button.tabIndex = 0;
  button.focus();
}
find("[role=tablist]").addEventListener("keydown", event => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const view = VIEWS[(VIEWS.indexOf(state.view) + step + VIEWS.length) % VIEWS.length];
  change({ view });
  document.getElementById("tab-" + view).focus();
});
find("[role=tablist]").addEventListener("click", event => {
  const tab = event.target.closest("[role=tab]");
  if (tab) change({ view: tab.id.slice(4) });
});
opened.addEventListener("change", event => {
  const { name, value, checked } = event.target;
  if (!(name in state)) return;
  if (name === "special") return change({ special: checked ? "hidden" : "shown" });
  if (name === "text") return change({ text: Number(value), query: -1, key: -1 }).then(paintThumbnails);
  const pair = ["query", "key"].map(one => [one, Number(find(`[name=${one}]`).value)]);
  change(["query", "key"].includes(name) ? Object.fromEntries(pair) : { [name]: value });
});
opened.querySelectorAll("[data-step]").forEach(button => button.addEventListener("click", () => {
  const all = [...grid.querySelectorAll("button[data-head]")], n = all.length;
  const at = all.indexOf(buttonOf(state.head)) + Number(button.dataset.step);
  change({ head: all[(at + n) % n].dataset.head });
}));
find(".as-table").addEventListener("toggle", () => { if (current) fillTable(); });
find(".back").addEventListener("click", event => {
  event.preventDefault();
  grid.closest("section").scrollIntoView();
  focusCell(buttonOf(state.head));
});

function redraw() {
  image?.draw();
  lines.draw();
  matrix.draw();
  if (current && state.view === "neurons") show();
}
new ResizeObserver(redraw).observe(opened);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  if (usable) paintThumbnails();
  redraw();
});
addEventListener("hashchange", () => { if (usable && restore()) { paintThumbnails(); show().then(arrive); } });
document.querySelectorAll('#everything a[href^="#head="]').forEach(link => link.addEventListener("click", event => {
  const head = link.hash.slice("#head=".length);
  if (!buttonOf(head)) return;
  event.preventDefault();
  open(head);
}));

if (usable) {
  const linked = restore();
  opened.hidden = false;
  paintThumbnails();
  show().then(linked ? arrive : null);
} else document.querySelector(".too-old").hidden = REPORT.texts.length === 0;
