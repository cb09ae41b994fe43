// Every two heads: how much closer they are than unrelated maps of the same breadth.
class PairMatrix extends MatrixView {
  shade(weight) {
    return colour(weight < 0 ? "--muted" : "--size");
  }
  words(row, column) {
    const { rowNames: names, columns, at } = this.shown;
    if (row === column) return `${names[row]}: the same head`;
    const [bits, low, high, null_, shown] = columns.map(column_ => column_[at(row, column)]);
    if (bits === 255) return `${names[row]} and ${names[column]}: never before the same tokens`;
    const inBits = level => (level / PAIR_STEPS).toFixed(2);
    const ends = low === 255 ? "" : ` [${inBits(low)}, ${inBits(high)}]`;
    return `${names[row]} and ${names[column]}: ${inBits(bits)} bits apart${ends}, unrelated maps ${inBits(null_)}: `
      + ["undecided", "more alike than these", "less alike than these"][shown];
  }
}

const PAIR_STEPS = 254;

async function showPairs(part) {
  const { heads, bytes } = REPORT.pairs, n = heads.length, half = n * (n - 1) / 2;
  const all = await unpack(bytes);
  const columns = [0, 1, 2, 3, 4].map(rank => all.subarray(rank * half, (rank + 1) * half));
  const at = (row, column) => {
    const [i, j] = row < column ? [row, column] : [column, row];
    return i * n - i * (i + 1) / 2 + j - i - 1;
  };
  const known = (row, column) => row !== column && columns[0][at(row, column)] !== 255;
  const entries = [];
  for (let row = 0; row < n; row++)
    for (let column = 0; column < n; column++)
      if (known(row, column) && columns[4][at(row, column)])
        entries.push({ row, column, weight: (columns[3][at(row, column)] - columns[0][at(row, column)]) / PAIR_STEPS });
  const said = part.querySelector(".said");
  const matrix = new PairMatrix(part.querySelector(".matrix"), words => { said.textContent = words || said.dataset.hint; });
  matrix.show({
    entries, peak: entries.reduce((most, one) => Math.max(most, Math.abs(one.weight)), 0) || 1,
    may: known, rowNames: heads, columnNames: heads, columns, at,
  });
  return matrix;
}

// Drawn when its part is first opened.
const pairs = document.getElementById("alike");
if (pairs && REPORT.pairs && "DecompressionStream" in window) {
  let matrix = null;
  const draw = async () => {
    if (!pairs.open) return;
    if (matrix) return (await matrix).draw();
    matrix = showPairs(pairs);
  };
  pairs.addEventListener("toggle", draw);
  new ResizeObserver(draw).observe(pairs);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}
