// Type a text and see which words mattered; erase a word, edit one, and see what changes.
import { ask, file } from "./api.js";
import { capitalise, element, fill, isolated, keep, later, newest, say } from "./dom.js";
import { drawAligned, drawKey, drawNumbers, drawOthers, drawPredictions, drawText } from "./marks.js";
import { offerPair, pairOf, ReadingFields } from "./reading.js";
import { drawPython, offerSharing } from "./share.js";
import * as state from "./state.js";

const REST = 120, SETTLED = 1200;  // milliseconds after the last key
const EXAMPLE_LETTERS = 70;
const TRY = { classifier: "The acting is superb, but the ending is a mess.", "language model": "The keys to the cabinet", guesser: "The keys to the cabinet are on the table.", answerer: "The keys to the cabinet are on the table." };

export class Explain {
  constructor(section, models) {
    this.section = section;
    this.form = section.querySelector("form");
    this.text = this.form.elements.text;
    this.pair = this.form.elements.pair;
    this.models = models;
    this.reading = new ReadingFields(section.querySelector(".reading"), models, () => this.changed());
    this.overtake = newest(working => this.working(working));
    this.took = new Map();  // milliseconds of the last answer, by model and method
    this.overtakeErased = newest();
    this.left = null;
    this.without = [];
    this.answer = this.earlier = this.rested = null;
    this.settle = later(() => { this.rested = this.answer?.text ?? null; }, SETTLED);
    const rest = later(() => { this.remember(); this.ask(); }, REST);
    this.text.addEventListener("paste", () => { if (this.replacesAll) this.forget(); });
    this.text.addEventListener("input", () => { this.earlier ??= this.rested; });
    for (const typed of [this.text, this.pair]) typed.addEventListener("input", () => { this.without = []; this.offer(); rest(); });
    this.form.addEventListener("submit", event => event.preventDefault());
    this.form.elements.example.addEventListener("change", event => {
      if (event.target.value === "") return;
      this.text.value = this.examples[event.target.value];
      event.target.value = "";
      this.forget();
      this.changed([]);
    });
    this.find("[data-try] button").addEventListener("click", event => {
      this.text.value = event.target.dataset.text;
      this.text.focus();
      this.forget();
      this.changed([]);
    });
    this.find("[name=intervals]").addEventListener("change", () => this.changed());
    this.find(".text").addEventListener("click", event => this.erase(event.target.closest("mark[data-start]")));
    this.find(".text").addEventListener("keydown", event => {
      if (!["Enter", " "].includes(event.key) || !event.target.matches("mark[data-start]")) return;
      event.preventDefault();
      this.erase(event.target);
    });
    this.find("[data-restore]").addEventListener("click", () => { this.without = []; this.remember(); this.draw(); this.text.focus(); });
    this.find("[data-forget]").addEventListener("click", () => this.forget());
    offerSharing(section, this);
  }

  // While a question is under way the old colours fade, and it is said what is worked on and for how long.
  working(working) {
    this.find(".answer").setAttribute("aria-busy", working);
    clearInterval(this.ticking);
    const status = this.find("[data-working]"), begun = Date.now();
    status.hidden = true;
    if (!working) return;
    const { model, method } = this.reading.value, before = this.took.get(`${model} ${method}`);
    const show = () => {
      const seconds = Math.round((Date.now() - begun) / 1000);
      say(status, `Working: ${method} of ${model}${before > 1000 ? `, about ${Math.round(before / 1000)} s the last time` : ""}… ${seconds ? `${seconds} s` : ""}`.trim());
    };
    this.ticking = setInterval(show, 500);
  }

  find(selector) { return this.section.querySelector(selector); }
  get values() { return { ...this.reading.value, text: this.text.value, pair: pairOf(this.form), intervals: this.find("[name=intervals]").checked && this.ranged, without: state.fromStretches(this.without) }; }
  get ranged() { return this.reading.method?.has_intervals ?? false; }
  get question() {
    const { pair, text, intervals, without, ...reading } = this.values;
    return { ...reading, text, intervals: false, ...(pair ? { pair } : {}) };
  }
  // All letters that the model reads, in which stretches are counted.
  get read() {
    const { text, pair } = this.values;
    return pair ? `${text}\n${pair}` : text;
  }
  get replacesAll() { return this.text.selectionEnd - this.text.selectionStart === this.text.value.length; }

  restore(values) {
    this.reading.value = values;
    if (values.text !== undefined) this.text.value = values.text;
    if (values.pair !== undefined) this.pair.value = values.pair;
    this.find("[name=intervals]").checked = values.intervals === "true";
    const all = [this.text.value, this.pair.value].filter(Boolean).join("\n");  // the second is not yet seen while its model loads
    this.changed(state.toStretches(values.without ?? "", Array.from(all).length));
  }

  modelsChanged() {
    this.reading.offer();
    this.offer();
    this.remember();
    if (!this.answer) this.ask();
  }

  offer() {
    const model = this.reading.model;
    offerPair(this.form, model);
    this.examples = model?.examples ?? [];
    this.find("[data-examples]").hidden = !this.examples.length;
    const short = text => text.length > EXAMPLE_LETTERS ? text.slice(0, EXAMPLE_LETTERS) + "…" : text;
    fill(this.form.elements.example, [["", "choose one"], ...this.examples.map((text, at) => [at, short(text)])], "");
    const text = this.examples[0] ?? TRY[model?.kind], hint = this.find("[data-try]"), button = hint.querySelector("button");
    hint.hidden = !text || this.text.value.trim() !== "";
    Object.assign(button, { textContent: short(text ?? "") }).dataset.text = text ?? "";
    const box = this.find("[name=intervals]");
    box.disabled = !this.ranged;
    this.find("[data-unranged]").hidden = this.ranged;
  }

  // Words stay erased where the text is the same.
  changed(without = this.without) {
    this.without = without;
    this.offer();
    this.remember();
    this.ask();
  }

  forget() {
    this.earlier = this.rested = null;
    this.settle();
    this.find(".changed").hidden = true;
  }

  remember() { if (!this.section.hidden && !this.reading.waiting) state.write("explain", this.values); }

  // What must be typed besides the text.
  needs(question) {
    const { model } = this.reading;
    if (model?.pairs === "needed" && !question.pair?.trim()) return `This model also needs the field “${model.second_text}”.`;
    return model?.kind === "answerer" && !question.answer ? "This model answers texts: type an answer that it could give, and see what that rests on." : "";
  }

  async ask() {
    const question = this.question;
    const needs = this.needs(question), lacks = needs !== "";
    if (!this.reading.model || !question.text.trim() || lacks) {
      this.overtake(() => null);
      this.overtakeErased(() => null);
      this.answer = null;
      this.find(".shown").hidden = true;
      return this.fail(lacks && question.text.trim() ? new Error(needs) : null);
    }
    try {
      await this.overtake(async signal => {
        const begun = Date.now(), answer = await ask("/api/explain", question, signal);
        this.took.set(`${question.model} ${question.method}`, Date.now() - begun);
        [this.answer, this.asked] = [answer, question];
        this.fail(null);
        this.draw();
        this.settle();
        this.erased();
        await this.more(question, signal);
      });
    } catch (problem) {
      this.fail(problem);
    }
  }

  // What takes longer than the colours: what changed, and what else the weights could be.
  async more(question, signal) {
    const status = this.find("[data-intervals]");
    status.textContent = "";
    let read = question;
    if (this.values.intervals) {
      status.textContent = "Working out what else each weight could be…";
      try {
        const ranged = { ...question, intervals: true };
        this.answer = await ask("/api/explain", ranged, signal);
        this.draw();
        read = ranged;
        status.textContent = "";
      } catch (problem) {
        if (problem.name === "AbortError") throw problem;
        status.textContent = problem.message;
      }
    }
    this.drawVersions(await this.versions(read, signal));
  }

  // The earlier version beside the present one, read alike; null without an earlier one.
  async versions(question, signal) {
    const { earlier } = this, { text, pair, ...reading } = question;
    if (!earlier?.trim() || earlier === text) return null;
    return ask("/api/compare", { first: reading, second: reading, text: earlier, other_text: text, ...(pair ? { pair } : {}) }, signal);
  }

  drawVersions(both) {
    this.find(".changed").hidden = !both;
    if (!both) return;
    const { first, second, pieces, caution } = both;
    this.find(".changed").dataset.quantity = second.drawing.quantity;
    say(this.find("[data-other-class]"), caution ? `Caution: ${caution}.` : "");
    drawPredictions(this.find(".changed .two-predictions"), [["before", first.drawing.prediction], ["now", second.drawing.prediction]]);
    drawAligned(this.find(".changed .aligned"), pieces, first.drawing, second.drawing);
    this.find("[data-both]").textContent = `Both are coloured by ${second.drawing.quantity}, on one scale.`;
  }

  draw() {
    const { drawing, text } = this.answer, versions = this.find(".changed");
    this.find(".shown").hidden = false;
    if (versions.dataset.quantity !== drawing.quantity) versions.hidden = true;  // a colour means one thing on the page
    this.find(".shown > .predicted").textContent = capitalise(drawing.prediction);
    const gone = span => this.without.some(([start, end]) => span.start >= start && span.end <= end);
    const held = document.activeElement?.closest?.("mark[data-start]")?.dataset.start;
    drawText(this.find(".text"), drawing, gone);
    if (held !== undefined) this.find(`.text mark[data-start="${held}"]`)?.focus();
    this.find("[data-spoken]").textContent = drawing.spoken ? `Strongest words: ${drawing.spoken}.` : "";
    drawKey(this.find(".key"), drawing);
    this.find(".facts-line").replaceChildren(...[...drawing.facts, ...this.answer.remarks].map(fact => element("span", {}, ...isolated(fact))));
    say(this.find("[data-caution]"), drawing.caution ? `Caution: ${drawing.caution}.` : "");
    for (const part of this.section.querySelectorAll("[data-certain]")) part.hidden = !drawing.ranged;
    if (!drawing.ranged) this.find("#only-certain").checked = false;
    drawNumbers(this.find(".all-numbers .scroll"), drawing);
    this.find(".others").hidden = !this.answer.others.length;
    this.find(".others h2").textContent = this.answer.others_title;
    drawOthers(this.find(".others ol"), this.answer.others);
    this.drawPython();
    this.find(".erased").hidden = !this.without.length;
    this.find(".hint").hidden = text.length === 0;
  }

  drawPython() {
    const left = this.without.length && this.left ? [`${this.left.python}  # without the erased words`] : [];
    drawPython(this.section, [this.answer.python, ...left]);
  }

  async erase(mark) {
    if (!mark) return;
    const start = Number(mark.dataset.start), end = Number(mark.dataset.end);
    if (end > Array.from(this.read).length) return;  // of the answer nothing is erased
    const around = ([from, to]) => from <= start && end <= to, inside = ([from, to]) => start <= from && to <= end;
    if (this.without.some(around)) this.without = this.without.filter(each => !around(each));
    else this.without = [...this.without.filter(each => !inside(each)), [start, end]].sort((a, b) => a[0] - b[0]);
    this.remember();
    this.draw();
    await this.erased();
  }

  // The prediction without the erased words, and the line that computes it.
  erased() {
    this.left = null;
    return this.overtakeErased(signal => this.without.length ? this.askErased(signal) : null);
  }

  async askErased(signal) {
    const letters = Array.from(this.answer.text);
    this.find(".erased .struck").textContent = `erased: ${this.without.map(([from, to]) => letters.slice(from, to).join("")).join(" · ")}`;
    const words = this.find(".erased .predicted");
    words.textContent = "…";
    try {
      this.left = await ask("/api/explain", { ...this.asked, without: this.without }, signal);
      words.textContent = `${capitalise(this.left.drawing.prediction)}. With all words: ${this.answer.drawing.prediction}.`;
      this.drawPython();
    } catch (problem) {
      if (problem.name === "AbortError") throw problem;
      words.textContent = problem.message;
    }
  }

  async save(kind) {
    const question = { ...this.asked, intervals: this.values.intervals, without: this.without };
    keep(await file(`/save/explanation.${kind}`, question), `explanation.${kind}`);
  }

  fail(problem) {
    say(this.find(".answer > .problem"), problem ? problem.message : "");
    if (problem) this.find(".shown").hidden = true;
  }
}
