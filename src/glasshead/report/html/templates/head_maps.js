// Maps as they were packed: bytes that become the weights of a head before a text, between tokens or words.
const REPORT = JSON.parse(document.getElementById("heads-data").textContent);
const PEAK_STEPS = 65535, STEPS = 255, SIGNED_STEPS = 127;

async function unpack(letters) {
  const bytes = Uint8Array.from(atob(letters), letter => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function signedBytes(bytes, start, end) {
  return new Int8Array(bytes.buffer, start, end - start);
}

// Weights [rows × columns] of one head; allowed has 0 where a query may not look.
async function tokenMap(text, layer, head) {
  const packed = text.layers[layer], own = packed.heads[head];
  const queries = text.axes[packed.queries], keys = text.axes[packed.keys];
  const rows = queries.tokens.length, columns = keys.tokens.length;
  const bytes = await unpack(own.map), peaks = new Uint16Array(bytes.buffer, 0, rows);
  const n = (bytes.length - 2 * rows) / 2, steps = own.signed ? SIGNED_STEPS : STEPS;
  const gaps = bytes.subarray(2 * rows, 2 * rows + n);
  const values = own.signed ? signedBytes(bytes, 2 * rows + n, 2 * rows + 2 * n) : bytes.subarray(2 * rows + n);
  const weights = new Float32Array(rows * columns), unit = own.peak / PEAK_STEPS / steps;
  for (let i = 0, at = -1; i < n; i++) {
    at += gaps[i];
    weights[at] = values[i] * peaks[Math.floor(at / columns)] * unit;
  }
  return { rows, columns, weights, allowed: await allowedPairs(packed.mask, rows, columns), signed: own.signed };
}

async function allowedPairs(mask, rows, columns) {
  const allowed = new Uint8Array(rows * columns).fill(1);
  if (!mask) return allowed;
  const bits = await unpack(mask), width = Math.ceil(columns / 8);
  for (let i = 0; i < rows; i++)
    for (let j = 0; j < columns; j++)
      allowed[i * columns + j] = bits[i * width + (j >> 3)] >> (7 - (j & 7)) & 1;
  return allowed;
}

// Attention to a divided word is the sum over its pieces, attention from it their mean (Clark et al., 2019).
function wordMap(map, queries, keys) {
  const rows = queries.words.length, columns = keys.words.length;
  const weights = new Float32Array(rows * columns), allowed = new Uint8Array(rows * columns);
  const pieces = new Float32Array(rows);
  queries.units.forEach(unit => pieces[unit]++);
  for (let i = 0; i < map.rows; i++)
    for (let j = 0; j < map.columns; j++) {
      const at = queries.units[i] * columns + keys.units[j];
      weights[at] += map.weights[i * map.columns + j] / pieces[queries.units[i]];
      allowed[at] |= map.allowed[i * map.columns + j];
    }
  return { rows, columns, weights, allowed, signed: map.signed };
}

// An axis between words: its names, and the side and kind of the first piece of each.
function wordAxis(axis) {
  const first = axis.words.map((_, unit) => axis.units.indexOf(unit));
  return { tokens: axis.words, sides: first.map(i => axis.sides[i]), special: first.map(i => axis.special[i]) };
}

// What is left of a map by the filters: ranks of rows and columns, and the weights between them.
function filteredMap(map, queries, keys, pair, hideSpecial) {
  const [from, to] = pair.includes("-") ? pair.split("-").map(Number) : [null, null];
  const keep = (axis, side) => axis.tokens.map((_, i) => i).filter(i =>
    (side === null || axis.sides[i] === side) && !(hideSpecial && axis.special[i]));
  const rows = keep(queries, from), columns = keep(keys, to);
  const entries = [];
  let peak = 0;
  rows.forEach((i, row) => columns.forEach((j, column) => {
    const weight = map.weights[i * map.columns + j];
    if (!weight || pair === "within" && queries.sides[i] !== keys.sides[j]) return;
    entries.push({ row, column, weight });
    peak = Math.max(peak, Math.abs(weight));
  }));
  entries.sort((a, b) => Math.abs(a.weight) - Math.abs(b.weight));
  const may = (row, column) => map.allowed[rows[row] * map.columns + columns[column]]
    && !(pair === "within" && queries.sides[rows[row]] !== keys.sides[columns[column]]);
  const name = (axis, i) => axis.tokens[i];
  return {
    entries, peak: peak || 1, may, signed: map.signed, rowRanks: rows, columnRanks: columns,
    rowNames: rows.map(i => name(queries, i)), columnNames: columns.map(j => name(keys, j)),
  };
}

// Query and key of every token of a head, where the page has them.
async function headVectors(text, layer, head) {
  const own = text.layers[layer].heads[head];
  if (!own.vectors) return null;
  const bytes = await unpack(own.vectors), size = own.size;
  const queries = text.axes[text.layers[layer].queries].tokens.length;
  const part = (start, rank, scale) => Array.from(
    signedBytes(bytes, start + rank * size, start + (rank + 1) * size), level => level / SIGNED_STEPS * scale);
  return {
    query: rank => part(0, rank, own.scales[0]),
    key: rank => part(queries * size, rank, own.scales[1]),
  };
}

function inWords(weight, digits = 3) {
  const size = Math.abs(weight);
  const text = size && size < 0.5 * 10 ** -digits ? size.toPrecision(1) : size.toFixed(digits);
  return (weight < 0 ? "−" : "") + text;
}
