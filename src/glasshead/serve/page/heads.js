// All heads before a text: the page of `glasshead heads`.
import { later, newest } from "./dom.js";
import { show } from "./frame.js";
import { ModelChoice } from "./models.js";
import { offerPair, pairOf } from "./reading.js";
import { offerSharing, showPython } from "./share.js";
import * as state from "./state.js";

const REST = 250, OVER = 20, MANY = 10, LARGE = "longer for a large model; it stops after a minute";

export class Heads {
  constructor(section, models) {
    this.section = section;
    this.models = models;
    this.form = section.querySelector("form");
    this.form.addEventListener("submit", event => { event.preventDefault(); this.ask(); });
    this.choice = new ModelChoice(this.form.elements.model, models, one => !["answerer", "image classifier"].includes(one.kind));
    this.form.elements.model.addEventListener("change", () => this.choice.chosen());
    this.form.addEventListener("change", () => this.offer());
    this.form.elements.text.addEventListener("input", later(() => this.remember(), REST));
    this.inner = "";
    this.overtake = newest();
    this.linked = false;  // whether a link asks for heads that are not shown yet
    offerSharing(section, this);
  }

  get model() { return this.choice.model; }
  get values() {
    const { model, text, examples, lines, effects } = this.form.elements, on = box => box.checked && !box.disabled;
    return { model: model.value, text: text.value, pair: pairOf(this.form), examples: on(examples) ? OVER : "", lines: on(lines), effects: on(effects) };
  }

  restore(values) {
    const { text, pair, examples, lines, effects } = this.form.elements;
    if (values.model) this.choice.want(values.model);
    if (values.text !== undefined) text.value = values.text;
    if (values.pair !== undefined) pair.value = values.pair;
    examples.checked = Number(values.examples) > 0;
    lines.checked = values.lines === "true";
    effects.checked = values.effects === "true";
    this.inner = values.inner ?? "";
    this.linked = Boolean(values.text);
    this.modelsChanged();
  }

  modelsChanged() {
    this.choice.offer();
    this.offer();
    if (this.linked) this.ask();
  }

  offer() {
    offerPair(this.form, this.model);
    const { examples, lines } = this.form.elements;
    lines.disabled = this.model?.pairs === "needed";
    lines.closest("label").hidden = lines.disabled;
    examples.disabled = (this.model?.examples.length ?? 0) < OVER || this.model.pairs === "needed";
    examples.closest("label").hidden = examples.disabled;
    this.remember();
  }

  remember() { if (!this.section.hidden && !this.choice.waiting) state.write("heads", { ...this.values, inner: this.inner }); }

  ask() {
    const { pair, examples, lines, effects, ...given } = this.values;
    if (!given.text.trim() || !this.model) return;
    this.linked = false;
    this.remember();
    const query = new URLSearchParams({ ...given, ...(pair ? { pair } : {}), ...(examples ? { examples } : {}), ...(lines ? { lines } : {}), ...(effects ? { effects } : {}) });
    const rows = lines ? given.text.split("\n").filter(line => line.trim()).length : 1, count = rows + Number(examples || 0);
    const wait = count < MANY ? "a few seconds" : `about half a minute for ${count} texts`, heads = (this.model.layers || 1) * (this.model.heads || 1);
    const passes = effects ? `, with the prediction without each of ${heads} heads` : "";
    show(this.section.querySelector(".framed"), `/view/heads?${query}`, `Heads of ${given.model}`, `${wait}${passes}, ${LARGE}`, this.inner, inner => {
      this.inner = inner;
      this.remember();
    }, given.model);
    this.section.querySelector(".share").hidden = false;
    showPython(this, "/api/python/heads", query);
  }
}
