// Let a language model write, then choose a token to see what it was written from: the page of `glasshead generate`.
import { later, newest } from "./dom.js";
import { show } from "./frame.js";
import { ModelChoice } from "./models.js";
import { offerSharing, showPython } from "./share.js";
import * as state from "./state.js";

const REST = 250, SEEDS = 1_000_000;
const CERTAIN = /^\s*(greedy|beam\s*=\s*\d+)\s*$/;  // strategies that draw nothing

export class Write {
  constructor(section, models) {
    this.section = section;
    this.models = models;
    this.form = section.querySelector("form");
    this.choice = new ModelChoice(this.form.elements.model, models, one => ["language model", "answerer"].includes(one.kind));
    this.form.elements.model.addEventListener("change", () => this.choice.chosen());
    this.drawn = "";
    this.linked = false;  // whether a link asks for a text that is not written yet
    this.overtake = newest();
    const rest = later(() => this.remember(), REST);
    this.form.addEventListener("submit", event => {
      event.preventDefault();
      this.drawn = "";
      this.ask();
    });
    this.form.addEventListener("input", () => {
      this.drawn = "";
      rest();
    });
    offerSharing(section, this);
  }

  get values() {
    const { model, prompt, strategy, tokens, seed } = this.form.elements;
    return { model: model.value, prompt: prompt.value, strategy: strategy.value, tokens: tokens.value, seed: seed.value || this.drawn };
  }

  restore(values) {
    const { model, ...fields } = values;
    for (const [name, value] of Object.entries(fields)) if (this.form.elements[name]) this.form.elements[name].value = value;
    if (model) this.choice.want(model);
    this.linked = Boolean(model) && fields.prompt !== undefined;
    this.modelsChanged();
  }

  modelsChanged() {
    this.choice.offer();
    const none = this.models.every(one => one.state !== "loading") && !this.choice.ready.length;
    this.form.querySelector("[type=submit]").disabled = !this.choice.model;
    this.remember();
    if (none) this.section.querySelector(".framed").textContent = "None of the models writes: serve a language model (…ForCausalLM), too.";
    if (this.linked) this.ask();
  }

  remember() { if (!this.section.hidden && !this.choice.waiting) state.write("write", this.values); }

  ask() {
    if (!this.choice.model) return;
    this.linked = false;
    // A seed is drawn here, so that the link, the file and the Python line are of the text that is seen.
    if (!CERTAIN.test(this.form.elements.strategy.value)) this.drawn ||= String(Math.floor(Math.random() * SEEDS));
    this.form.elements.seed.placeholder = this.drawn ? `drawn: ${this.drawn}` : "drawn";
    const given = Object.fromEntries(Object.entries(this.values).filter(([name, value]) => value !== "" || name === "prompt"));
    const query = new URLSearchParams(given);
    this.remember();
    show(this.section.querySelector(".framed"), `/view/written?${query}`, `Written by ${given.model}`, "some seconds, longer for a large model; it stops after a minute");
    this.section.querySelector(".share").hidden = false;
    showPython(this, "/api/python/written", query);
  }
}
