// Two models, or two methods, before one text.
import { ask, file } from "./api.js";
import { element, keep, later, newest, say } from "./dom.js";
import { drawAligned, drawLegends, drawPredictions } from "./marks.js";
import { offerPair, pairOf, ReadingFields } from "./reading.js";
import { drawPython, offerSharing } from "./share.js";
import * as state from "./state.js";

const REST = 250, SIDES = ["first", "second"], MOST_WORDS = 20;

export class Compare {
  constructor(section, models) {
    this.section = section;
    this.form = section.querySelector("form");
    this.overtake = newest(working => this.find(".answer").setAttribute("aria-busy", working));
    const changed = () => this.changed();
    this.different = false;  // whether somebody has said what stands below
    this.sides = SIDES.map(side => new ReadingFields(section.querySelector(`[data-side=${side}]`), models, changed));
    this.find("[data-side=second]").addEventListener("change", () => { this.different = true; });
    const rest = later(changed, REST);
    this.form.addEventListener("input", event => { if (event.target.matches("textarea")) rest(); });
    this.form.addEventListener("submit", event => event.preventDefault());
    offerSharing(section, this);
  }

  find(selector) { return this.section.querySelector(selector); }

  get values() {
    const given = { text: this.form.elements.text.value, pair: pairOf(this.form) };
    this.sides.forEach((side, at) => {
      for (const [name, value] of Object.entries(side.value)) given[`${at + 1}-${name}`] = value;
    });
    return given;
  }

  restore(values) {
    const { text, pair } = this.form.elements;
    if (values.text !== undefined) text.value = values.text;
    if (values.pair !== undefined) pair.value = values.pair;
    this.sides.forEach((side, at) => {
      const own = Object.entries(values).filter(([name]) => name.startsWith(`${at + 1}-`));
      side.value = Object.fromEntries(own.map(([name, value]) => [name.slice(2), value]));
    });
    this.different = Object.keys(values).some(name => name.startsWith("2-"));
    this.differ();
    this.changed();
  }

  // Two readings that are not the same: another model, else another method.
  differ() {
    const [first, second] = this.sides, others = second.choice.ready.filter(one => one.name !== first.model?.name);
    if (this.different || !first.model) return;
    second.value = others.length ? { model: others[0].name, method: "attention" } : { method: "gradient" };
  }

  modelsChanged() {
    this.sides.forEach(side => side.offer());
    if (this.find(".shown").hidden) this.differ();
    else this.different = true;
    this.changed();
  }

  remember() { if (!this.section.hidden && !this.sides.some(side => side.waiting)) state.write("compare", this.values); }

  async changed() {
    offerPair(this.form, this.sides[0].model);
    this.remember();
    const { text, pair } = this.values, [first, second] = this.sides.map(side => side.value);
    if (this.section.hidden) return;
    if (!text.trim() || this.sides.some(side => !side.model)) {
      this.overtake(() => null);
      say(this.find(".problem"), "");
      this.find(".shown").hidden = true;
      return;
    }
    try {
      await this.overtake(async signal => {
        this.asked = { text, ...(pair ? { pair } : {}), first, second };
        this.answer = await ask("/api/compare", this.asked, signal);
        say(this.find(".problem"), "");
        this.draw();
      });
    } catch (problem) {
      say(this.find(".problem"), problem.message);
      this.find(".shown").hidden = true;
    }
  }

  draw() {
    const { first, second, pieces, words } = this.answer, names = this.sides.map(side => `${side.value.model}, ${side.value.method}`);
    this.find(".shown").hidden = false;
    drawPython(this.section, [first.python, second.python]);
    this.find("[data-scales]").textContent = this.answer.one_scale ? "One scale holds for both." : "Each row has its own scale: its largest number has full colour.";
    drawLegends(this.find(".legends"), [["above", first.drawing], ["below", second.drawing]]);
    say(this.find("[data-caution]"), this.answer.caution ? `Caution: ${this.answer.caution}.` : "");
    drawPredictions(this.find(".two-predictions"), [[`above: ${names[0]}`, first.drawing.prediction], [`below: ${names[1]}`, second.drawing.prediction]]);
    drawAligned(this.find(".aligned"), pieces, first.drawing, second.drawing);
    const number = value => {
      const size = Math.abs(value).toFixed(2);
      return Number(size) === 0 ? size : (value < 0 ? "−" : "+") + size;
    };
    this.find(".differences tbody").replaceChildren(...words.slice(0, MOST_WORDS).map(word => element("tr", {},
      element("th", { scope: "row", dir: "auto", textContent: word.word }),
      ...[word.first, word.second, number(word.difference)].map(value => element("td", { className: "num", textContent: value })))));
  }

  async save(kind) {
    const made = kind === "json" ? new Blob([JSON.stringify(this.answer, null, 1)], { type: "application/json" })
      : await file(`/save/comparison.${kind}`, this.asked);
    keep(made, `comparison.${kind}`);
  }
}
