// The fields that say which model explains, by which method, and what is read of it.
import { element, fill, say } from "./dom.js";
import { ModelChoice } from "./models.js";

const USUAL_HEADS = [["", "mean of all (usual)"], ["max", "largest"], ["min", "smallest"]];
const FIRST = ["attention", "contribution", "gradient", "rollout", "erasure", "captum:integrated-gradients"];
const TOKENS = { "language model": "Next token ", "guesser": "Token there " };  // of what is asked for by a token
const EXPLAINED = ["classifier", ...Object.keys(TOKENS), "answerer"];
export const WRITERS = ["language model", "answerer"];  // of which a given answer is explained
const ANSWER = { "language model": "as it would go on, blank first", "answerer": "a whole answer" };
let number = 0;

function field(name, title, control) {
  return element("label", { data: { field: name } }, title + " ", Object.assign(control, { name }));
}

// Fields in a box; `changed` is called when one of them is.
export class ReadingFields {
  constructor(box, models, changed) {
    this.models = models;
    this.fields = {};
    this.box = box;
    const select = () => element("select"), letters = (size = 12) => element("input", { size });
    const all = [["model", "Model", select()], ["method", "Method", select()], ["at", "Word", letters()], ["target", "Class", select()],
      ["next", "Next token", letters()], ["answer", "Answer", letters(24)], ["against", "and not", letters()],
      ["layer", "Layer", select()], ["head", "Head", select()], ["unit", "By", select()]];
    for (const [name, title, control] of all) {
      this.fields[name] = control;
      box.append(field(name, title, control));
    }
    fill(this.fields.unit, [["word", "word"], ["token", "token"]]);
    this.choice = new ModelChoice(this.fields.model, models, one => EXPLAINED.includes(one.kind));
    this.wanted = {};
    this.about = element("p", { className: "quiet about-method", id: `about-method-${number++}` });
    this.fields.method.setAttribute("aria-describedby", this.about.id);
    this.notice = element("p", { className: "caution notice", role: "status", hidden: true });
    box.append(this.about, this.notice);
    for (const happened of ["change", "input"]) box.addEventListener(happened, event => {
      if (event.target.matches("input") !== (happened === "input")) return;  // a select changes, letters are put in
      say(this.notice, "");
      if (event.target === this.fields.model) {
        this.choice.chosen();
        this.wanted = {};
      }
      this.offer();
      changed();
    });
    this.offer();
  }

  get model() { return this.choice.model; }
  // Whether the model of a link is still being opened: what the link says of its reading is kept until then.
  get waiting() { return this.choice.waiting; }
  get method() { return this.model?.methods.find(one => one.name === this.fields.method.value); }

  // What may be chosen, as the model and the method allow.
  offer() {
    this.choice.offer();
    this.offerOf(this.model);
    if (!this.model) return;
    const { wanted } = this, { model, method, at, target, next, answer, against, ...others } = this.fields;
    this.wanted = {};
    this.missing = [];
    const want = (control, name, value) => {
      if ([...control.options].some(one => one.value === value)) control.value = value;
      else this.missing.push(`${name} “${value}”`);
    };
    if (wanted.method) want(method, "method", wanted.method);
    this.offerOf(this.model);
    for (const [name, control] of Object.entries(others)) if (wanted[name] !== undefined) want(control, name, wanted[name]);
    if (wanted.target !== undefined) {
      if (this.model.kind in TOKENS) next.value = wanted.target;
      else want(target, "class", wanted.target);
    }
    if (wanted.answer !== undefined) answer.value = wanted.answer;
    this.offerOf(this.model);
    if (this.missing.length) say(this.notice, `The link asks for the ${this.missing.join(", the ")}, which ${this.model.name} does not have here. What is chosen now is shown.`);
    else if (Object.keys(wanted).length) say(this.notice, "");
    if (wanted.at !== undefined) at.value = wanted.at;
    if (wanted.against !== undefined) against.value = wanted.against;
  }

  offerOf(chosen) {
    const { method, at, target, next, answer, against, layer, head } = this.fields;
    const methods = chosen?.methods ?? [], first = FIRST.filter(name => methods.some(one => one.name === name));
    const more = methods.filter(one => !first.includes(one.name)).map(one => [one.name, one.name, `more: ${one.family}`]);
    fill(method, [...first.map(name => [name, name]), ...more], method.value || "attention");
    fill(target, [["", `usual (${chosen?.usual_class})`], ...(chosen?.labels ?? []).map(label => [label, label])]);
    fill(layer, [["", "last (usual)"], ...Array.from({ length: chosen?.layers ?? 0 }, (_, place) => [place, place])]);
    fill(head, [...USUAL_HEADS, ...Array.from({ length: chosen?.heads ?? 0 }, (_, place) => [place, place])]);
    const token = TOKENS[chosen?.kind], reads = this.method?.reads_attention ?? false;
    const show = (control, makesSense) => {
      control.closest("label").hidden = !makesSense;
      control.disabled = !makesSense;
    };
    show(target, !token && (chosen?.labels.length ?? 0) > 0);
    show(at, chosen?.asks_words ?? false);
    if (token) next.closest("label").firstChild.textContent = token;
    const writes = WRITERS.includes(chosen?.kind), answered = writes && answer.value !== "";
    show(answer, writes);
    answer.placeholder = ANSWER[chosen?.kind] ?? "";
    show(next, token !== undefined && !answered);
    show(against, answered || token && next.value !== "");
    show(layer, reads && (chosen?.layers ?? 0) > 1);
    show(head, reads && (chosen?.heads ?? 0) > 1);
    this.about.textContent = this.method?.description ?? "";
  }

  // The reading as the server takes it; what is not offered, or empty, is left out.
  get value() {
    const given = {};
    for (const [name, control] of Object.entries(this.fields))
      if (!control.disabled && control.value !== "") given[name === "next" ? "target" : name] = control.value;
    if (given.unit === "word") delete given.unit;
    return given;
  }

  set value(values) {
    if (values.model) this.choice.want(values.model);
    this.wanted = { ...this.wanted, ...values };
    this.offer();
  }
}

// The field of a second text, where the model reads one; open where it must be there, or is.
export function offerPair(form, model) {
  const part = form.querySelector("[data-pair]");
  part.hidden = !model || model.pairs === "none";
  part.querySelector("summary").textContent = model?.second_text ?? "";
  form.elements.pair.setAttribute("aria-label", model?.second_text ?? "");
  if (model?.pairs === "needed" || form.elements.pair.value) part.open = true;
}

// The second text, if it is read.
export const pairOf = form => form.querySelector("[data-pair]").hidden ? "" : form.elements.pair.value;
