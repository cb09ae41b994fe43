// The field that says which model is asked. One that a link names is waited for while it is opened; where it cannot
// be asked, that is said, and another one is.
import { element, fill, say } from "./dom.js";

// Why a model cannot be asked what others of its page can.
const OTHERWISE = {
  "classifier": "predicts classes and writes no text",
  "language model": "predicts the next token",
  "guesser": "guesses hidden words and writes no text",
  "answerer": "answers one text with another",
  "encoder": "predicts no class: only its heads can be shown",
  "image classifier": "reads images: see Images",
};

export class ModelChoice {
  // `fits` says which models can be asked here.
  constructor(select, models, fits) {
    this.notice = element("p", { className: "caution notice", role: "status", hidden: true });
    select.closest("fieldset").append(this.notice);
    Object.assign(this, { select, models, fits, wanted: "" });
  }

  get ready() { return this.models.filter(one => one.state === "ready" && this.fits(one)); }
  get model() { return this.ready.find(one => one.name === this.select.value); }
  get waiting() { return this.wanted !== "" && this.models.some(one => one.name === this.wanted && one.state === "loading"); }

  want(name) {
    this.wanted = name;
    say(this.notice, "");
  }

  // What was chosen by hand is wanted by no link any more.
  chosen() { this.want(""); }

  offer() {
    const { ready, wanted } = this;
    if (this.waiting) {
      fill(this.select, [[wanted, `${wanted} (being opened)`], ...ready.map(one => [one.name, one.name])], wanted);
      return;
    }
    fill(this.select, ready.map(one => [one.name, one.name]), ready.some(one => one.name === wanted) ? wanted : this.select.value);
    if (!wanted || !ready.length && this.models.some(one => one.state === "loading")) return;
    this.want("");
    if (this.select.value !== wanted) say(this.notice, `The link asks for the model “${wanted}”, which ${this.why(wanted)}. ${this.model ? `This is ${this.model.name}.` : ""}`.trim());
  }

  why(name) {
    const known = this.models.find(one => one.name === name);
    return !known ? "is not served here" : known.state === "failed" ? "cannot be opened" : OTHERWISE[known.kind];
  }
}
