// A map drawn in three ways: lines between tokens, a matrix, and the numbers behind one weight.
const ROW = 24, SHADES = 24, FAINTEST = 0.02;

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// Red is above zero, blue below; what has a size and no sign has a colour of its own.
const meaningOf = (value, signed) => !signed ? "size" : value < 0 ? "against" : "for";
const shadeOf = (value, signed) => colour("--" + meaningOf(value, signed));

function sized(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = width + "px";
  canvas.style.height = height + "px";
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return pen;
}

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

// Lines from queries on the left to keys on the right. Only what is in sight is drawn.
class LinesView {
  constructor(box, say) {
    [this.box, this.say, this.chosen] = [box, say, null];
    this.canvas = box.querySelector("canvas");
    this.columns = { row: box.querySelector(".queries"), column: box.querySelector(".keys") };
    box.addEventListener("scroll", () => this.draw(), { passive: true });
    for (const side of ["row", "column"]) {
      const list = this.columns[side];
      list.addEventListener("mouseover", event => this.over(event, side));
      list.addEventListener("focusin", event => this.over(event, side));
      list.addEventListener("mouseleave", () => this.leave());
      list.addEventListener("focusout", () => this.choose(null));
      list.addEventListener("keydown", event => this.key(event, side));
    }
  }
  show(shown) {
    const same = this.shown && JSON.stringify([this.shown.rowNames, this.shown.columnNames])
      === JSON.stringify([shown.rowNames, shown.columnNames]);
    this.shown = shown;
    if (!same) {
      this.fill("row", shown.rowNames);
      this.fill("column", shown.columnNames);
      this.box.scrollTop = 0;
    }
    this.choose(null);
  }
  fill(side, names) {
    this.columns[side].replaceChildren(...names.map((name, rank) =>
      element("button", { type: "button", tabIndex: rank ? -1 : 0, textContent: name, dir: "auto" })));
  }
  over(event, side) {
    const button = event.target.closest("button");
    if (button) this.choose({ side, rank: Array.prototype.indexOf.call(this.columns[side].children, button) });
  }
  leave() {
    const focused = document.activeElement, side = focused.parentElement === this.columns.row ? "row"
      : focused.parentElement === this.columns.column ? "column" : null;
    this.choose(side && { side, rank: Array.prototype.indexOf.call(this.columns[side].children, focused) });
  }
  key(event, side) {
    if (event.key === "Escape") return event.target.blur();
    const all = this.columns[side].children, at = Array.prototype.indexOf.call(all, event.target);
    const other = this.columns[side === "row" ? "column" : "row"].children;
    const next = {
      ArrowDown: all[at + 1], ArrowUp: all[at - 1], Home: all[0], End: all[all.length - 1],
      ArrowRight: side === "row" && other[Math.min(at, other.length - 1)],
      ArrowLeft: side === "column" && other[Math.min(at, other.length - 1)],
    }[event.key];
    if (!(event.key in { ArrowDown: 1, ArrowUp: 1, ArrowLeft: 1, ArrowRight: 1, Home: 1, End: 1 })) return;
    event.preventDefault();
    if (!next) return;
    for (const one of next.parentElement.children) if (one.tabIndex === 0) one.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }
  choose(chosen) {
    const old = this.chosen;
    if (old && chosen && old.side === chosen.side && old.rank === chosen.rank) return;
    this.chosen = chosen;
    for (const side of ["row", "column"])
      this.columns[side].querySelectorAll(".lit").forEach(one => {
        one.className = "";
        one.removeAttribute("style");
      });
    if (chosen) this.light();
    this.draw();
    this.say(chosen ? this.words() : "");
  }
  light() {
    const { side, rank } = this.chosen, other = side === "row" ? "column" : "row";
    const peak = this.touched().reduce((most, one) => Math.max(most, Math.abs(one.weight)), 0) || 1;
    this.columns[side].children[rank].className = "lit own";
    for (const entry of this.touched()) {
      const button = this.columns[other].children[entry[other]], share = Math.abs(entry.weight) / peak;
      if (share < FAINTEST) continue;
      button.className = "lit " + meaningOf(entry.weight, this.shown.signed);
      button.style.setProperty("--a", share.toFixed(3));
    }
  }
  touched() {
    return this.shown.entries.filter(entry => entry[this.chosen.side] === this.chosen.rank);
  }
  words() {
    const { side, rank } = this.chosen, other = side === "row" ? "columnNames" : "rowNames";
    const best = this.touched().slice(-6).reverse();
    const own = this.shown[side === "row" ? "rowNames" : "columnNames"][rank];
    const list = best.map(one => `${this.shown[other][side === "row" ? one.column : one.row]} ${inWords(one.weight)}`);
    return `${own} ${side === "row" ? "looks at" : "is looked at by"}: ${list.join(" · ") || "nothing"}`;
  }
  draw() {
    if (!this.shown || !this.box.offsetParent) return;
    const width = this.canvas.parentElement.clientWidth, height = this.box.clientHeight;
    const pen = sized(this.canvas, width, height), top = this.box.scrollTop, chosen = this.chosen;
    const entries = chosen ? this.touched() : this.shown.entries;
    const peak = chosen ? entries.reduce((most, one) => Math.max(most, Math.abs(one.weight)), 0) : this.shown.peak;
    const paths = new Map();
    for (const { row, column, weight } of entries) {
      const from = (row + 0.5) * ROW - top, to = (column + 0.5) * ROW - top;
      const away = chosen ? Math.max(from, to) < 0 || Math.min(from, to) > height : from < 0 || from > height;
      if (away) continue;
      const share = Math.abs(weight) / peak;
      if (share < FAINTEST) continue;
      const shade = Math.ceil(share * SHADES) * (weight < 0 ? -1 : 1);
      if (!paths.has(shade)) paths.set(shade, new Path2D());
      const path = paths.get(shade);
      path.moveTo(0, from);
      path.bezierCurveTo(width / 2, from, width / 2, to, width, to);
    }
    for (const [shade, path] of [...paths].sort((a, b) => Math.abs(a[0]) - Math.abs(b[0]))) {
      const share = Math.abs(shade) / SHADES;
      pen.strokeStyle = shadeOf(shade, this.shown.signed);
      pen.globalAlpha = 0.08 + 0.87 * share;
      pen.lineWidth = 0.75 + 1.75 * share;
      pen.stroke(path);
    }
  }
}

// One cell for each pair: a row is a query, a column a key. Arrow keys move from cell to cell.
class MatrixView {
  constructor(box, say) {
    [this.box, this.say, this.cell] = [box, say, null];
    this.canvas = box.querySelector("canvas");
    this.room = box.querySelector(".room");
    box.addEventListener("scroll", () => this.draw(), { passive: true });
    this.canvas.addEventListener("mousemove", event => this.move(this.at(event)));
    this.canvas.addEventListener("click", event => this.move(this.at(event)));
    this.canvas.addEventListener("mouseleave", () => this.move(null));
    box.addEventListener("keydown", event => this.key(event));
  }
  show(shown) {
    [this.shown, this.cell, this.weights] = [shown, null, new Map()];
    for (const { row, column, weight } of shown.entries)
      this.weights.set(row * shown.columnNames.length + column, weight);
    this.box.scrollTo(0, 0);
    this.draw();
    this.say("");
  }
  measure() {
    const { rowNames, columnNames } = this.shown, pen = this.canvas.getContext("2d");
    const widest = names => names.reduce((most, name) => Math.max(most, pen.measureText(short(name)).width), 0);
    pen.font = this.font();
    this.left = Math.ceil(widest(rowNames)) + 12;
    this.top = Math.ceil(widest(columnNames)) + 12;
    const fits = Math.floor((this.box.clientWidth - this.left - 2) / columnNames.length);
    this.size = Math.max(14, Math.min(26, fits));
    this.room.style.width = this.left + this.size * columnNames.length + "px";
    this.room.style.height = this.top + this.size * rowNames.length + "px";
  }
  shade(weight) {
    return shadeOf(weight, this.shown.signed);
  }
  font() {
    return "12px " + getComputedStyle(document.body).fontFamily;
  }
  draw() {
    if (!this.shown || !this.box.offsetParent) return;
    this.measure();
    const { rowNames, columnNames, peak, may } = this.shown, size = this.size;
    const width = Math.min(this.box.clientWidth, this.left + size * columnNames.length);
    const height = Math.min(this.box.clientHeight, this.top + size * rowNames.length);
    const pen = sized(this.canvas, width, height), { left, top } = this;
    const over = this.box.scrollLeft, down = this.box.scrollTop;
    const [above, below] = [1, -1].map(sign => this.shade(sign)), raised = colour("--raised"), ink = colour("--ink");
    const first = Math.floor(over / size), last = Math.min(columnNames.length, Math.ceil((over + width - left) / size));
    const begin = Math.floor(down / size), end = Math.min(rowNames.length, Math.ceil((down + height - top) / size));
    pen.save();
    pen.beginPath();
    pen.rect(left, top, width - left, height - top);
    pen.clip();
    for (let i = begin; i < end; i++)
      for (let j = first; j < last; j++) {
        const x = left + j * size - over, y = top + i * size - down;
        const weight = this.weights.get(i * columnNames.length + j) || 0;
        pen.globalAlpha = 1;
        pen.fillStyle = raised;
        if (may(i, j)) pen.fillRect(x, y, size - 1, size - 1);
        pen.fillStyle = weight < 0 ? below : above;
        pen.globalAlpha = Math.sqrt(Math.abs(weight) / peak);
        if (weight) pen.fillRect(x, y, size - 1, size - 1);
      }
    pen.globalAlpha = 1;
    if (this.cell) {
      pen.strokeStyle = ink;
      pen.lineWidth = 1.5;
      pen.strokeRect(left + this.cell[1] * size - over, top + this.cell[0] * size - down, size - 1, size - 1);
    }
    pen.restore();
    pen.font = this.font();
    pen.textBaseline = "middle";
    pen.fillStyle = ink;
    pen.textAlign = "right";
    pen.save();
    pen.beginPath();
    pen.rect(0, top, left, height - top);
    pen.clip();
    for (let i = begin; i < end; i++) pen.fillText(short(rowNames[i]), left - 6, top + (i + 0.5) * size - down);
    pen.restore();
    pen.beginPath();
    pen.rect(left, 0, width - left, top);
    pen.clip();
    pen.textAlign = "left";
    for (let j = first; j < last; j++) {
      pen.save();
      pen.translate(left + (j + 0.5) * size - over, top - 6);
      pen.rotate(-Math.PI / 2);
      pen.fillText(short(columnNames[j]), 0, 0);
      pen.restore();
    }
  }
  at(event) {
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - this.left + this.box.scrollLeft) / this.size);
    const row = Math.floor((event.clientY - box.top - this.top + this.box.scrollTop) / this.size);
    const inside = event.clientX - box.left >= this.left && event.clientY - box.top >= this.top;
    const there = row < this.shown.rowNames.length && column < this.shown.columnNames.length;
    return inside && there ? [row, column] : null;
  }
  move(cell) {
    if (String(cell) === String(this.cell)) return;
    this.cell = cell;
    this.draw();
    this.say(cell ? this.words(...cell) : "");
  }
  words(row, column) {
    const { rowNames, columnNames, may, absent } = this.shown;
    const weight = this.weights.get(row * columnNames.length + column);
    const value = !may(row, column) ? "may not look" : weight ? inWords(weight, 4) : absent;
    return `${rowNames[row]} → ${columnNames[column]}: ${value}`;
  }
  key(event) {
    const step = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[event.key];
    if (event.key === "Escape") return this.move(null);
    if (!step) return;
    event.preventDefault();
    const [row, column] = this.cell || [-step[0], -step[1]];
    const within = (value, names) => Math.max(0, Math.min(names.length - 1, value));
    const cell = [within(row + step[0], this.shown.rowNames), within(column + step[1], this.shown.columnNames)];
    const across = cell[1] * this.size, high = cell[0] * this.size, { box } = this;
    box.scrollLeft = Math.max(across + this.size - box.clientWidth + this.left, Math.min(across, box.scrollLeft));
    box.scrollTop = Math.max(high + this.size - box.clientHeight + this.top, Math.min(high, box.scrollTop));
    this.move(cell);
  }
}

function short(name) {
  return name.length > 14 ? name.slice(0, 13) + "…" : name;
}

// Query, key and their product, number by number.
function drawNeurons(canvas, rows) {
  const size = rows[0].values.length, left = 44, bar = 72, gap = 14;
  const width = canvas.parentElement.clientWidth, height = rows.length * (bar + gap);
  const pen = sized(canvas, width, height), step = (width - left) / size;
  pen.font = "13px " + getComputedStyle(document.body).fontFamily;
  pen.textBaseline = "middle";
  rows.forEach(({ name, values, peak }, rank) => {
    const middle = rank * (bar + gap) + bar / 2 + gap / 2;
    pen.fillStyle = colour("--ink");
    pen.fillText(name, 0, middle);
    pen.fillStyle = colour("--line");
    pen.fillRect(left, middle - 0.5, width - left, 1);
    values.forEach((value, i) => {
      const high = value / peak * bar / 2;
      pen.fillStyle = shadeOf(value, true);
      pen.fillRect(left + i * step, high > 0 ? middle - high : middle, Math.max(1, step - 1), Math.abs(high));
    });
  });
}
