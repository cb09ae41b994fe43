// An image twice: as it is, and under the weights of its patches, of one query or, where none is chosen, of all.
class ImageView {
  constructor(box, say) {
    [this.box, this.say, this.chosen] = [box, say, -1];
    this.canvas = box.querySelector("canvas");
    this.from = box.querySelector("select");
    this.from.addEventListener("change", () => this.choose(Number(this.from.value)));
    this.canvas.addEventListener("mousemove", event => this.choose(this.at(event)));
    this.canvas.addEventListener("mouseleave", () => this.choose(-1));
  }
  async show(shown, text) {
    const picture = Object.assign(new Image(), { src: text.image });
    await picture.decode();
    Object.assign(this, { shown, picture, rows: shown.rowRanks.map(rank => text.boxes[rank]), columns: shown.columnRanks.map(rank => text.boxes[rank]) });
    this.from.replaceChildren(new Option("all, on average", -1), ...shown.rowNames.map((name, rank) => new Option(name, rank)));
    this.choose(-1);
    this.draw();
  }
  choose(row) {
    if (row === this.chosen) return;
    this.chosen = row;
    this.from.value = row;
    this.draw();
    this.say(row < 0 ? "" : this.words());
  }
  at(event) {
    const bounds = this.canvas.getBoundingClientRect();
    const [x, y] = [(event.clientX - bounds.left) / this.scale, (event.clientY - bounds.top) / this.scale];
    return this.rows.findIndex(box => box && box[0] <= x && x < box[2] && box[1] <= y && y < box[3]);
  }
  // What each key has of the chosen query, or of all queries on average.
  weights() {
    const sums = new Float32Array(this.columns.length), one = this.chosen >= 0;
    for (const { row, column, weight } of this.shown.entries)
      if (!one || row === this.chosen) sums[column] += weight / (one ? 1 : this.rows.length);
    return sums;
  }
  words() {
    const best = [...this.weights()].map((weight, column) => ({ weight, column })).filter(each => each.weight);
    best.sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight));
    const list = best.slice(0, 6).map(each => `${this.shown.columnNames[each.column]} ${inWords(each.weight)}`);
    return `${this.shown.rowNames[this.chosen]} looks at: ${list.join(" · ") || "nothing"}`;
  }
  draw() {
    if (!this.shown || !this.box.offsetParent) return;
    const { naturalWidth: width, naturalHeight: height } = this.picture;
    const room = Math.min(300, (this.box.clientWidth - IMAGE_GAP) / 2), scale = this.scale = room / Math.max(width, height);
    const pen = sized(this.canvas, 2 * width * scale + IMAGE_GAP, height * scale), right = width * scale + IMAGE_GAP;
    const fill = (box, left) => pen.fillRect(left + box[0] * scale, box[1] * scale, (box[2] - box[0]) * scale, (box[3] - box[1]) * scale);
    pen.imageSmoothingEnabled = scale < 2;
    pen.drawImage(this.picture, 0, 0, width * scale, height * scale);
    pen.globalAlpha = IMAGE_BELOW;
    pen.drawImage(this.picture, right, 0, width * scale, height * scale);
    const weights = this.weights(), peak = weights.reduce((most, weight) => Math.max(most, Math.abs(weight)), 0) || 1;
    const [above, below] = [1, -1].map(sign => shadeOf(sign, this.shown.signed));
    this.columns.forEach((box, column) => {
      if (!box) return;
      pen.fillStyle = weights[column] < 0 ? below : above;
      pen.globalAlpha = 0.85 * Math.abs(weights[column]) / peak;
      fill(box, right);
    });
    pen.globalAlpha = 1;
    const own = this.rows[this.chosen];
    if (!own) return;
    pen.strokeStyle = colour("--accent");
    pen.lineWidth = 3;
    for (const left of [0, right])
      pen.strokeRect(left + own[0] * scale, own[1] * scale, (own[2] - own[0]) * scale, (own[3] - own[1]) * scale);
  }
}

const IMAGE_GAP = 16, IMAGE_BELOW = 0.45;
