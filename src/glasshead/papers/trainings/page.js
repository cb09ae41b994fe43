// Recorded trainings: the ledger of a token or a group, scrubbed over steps, and the page of `glasshead dynamics`.
import { get } from "/page/api.js";
import { element, fill, later, newest, say } from "/page/dom.js";
import { show } from "/page/frame.js";
import { offerSharing } from "/page/share.js";
import * as state from "/page/state.js";

const REST = 250, GROUP = "group:", TOKEN = "token:";
const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

// Nothing is known of a training that diverged: its numbers are null.
function number(value) {
  if (value === null) return "–";
  const size = Math.abs(value), sign = value < 0 ? "−" : "+";
  if (size >= 0.001 || size === 0) return sign + size.toFixed(3);
  const [digits, power] = size.toExponential(1).split("e-");
  return `${sign}${digits}·10⁻${[...power].map(digit => RAISED[digit]).join("")}`;
}

export default class Trainings {
  constructor(section) {
    this.section = section;
    this.form = section.querySelector("form");
    this.overtake = newest();
    this.form.addEventListener("submit", event => event.preventDefault());
    this.form.elements.run.addEventListener("change", () => this.open());
    for (const name of ["of", "quantity"]) this.form.elements[name].addEventListener("change", () => this.ask());
    const rest = later(() => this.remember(), REST);
    this.form.elements.step.addEventListener("input", () => { this.draw(); rest(); });
    offerSharing(section, this);
  }

  // The list, asked for until it has come.
  async load() {
    if (this.all) return;
    const all = this.all = await get("/api/runs");
    this.find("[data-none]").hidden = all.length > 0;
    this.form.hidden = this.find(".share").hidden = !all.length;
    fill(this.form.elements.run, all.map(one => [one.name, one.name]));
  }

  find(selector) { return this.section.querySelector(selector); }
  get run() { return this.all?.find(one => one.name === this.form.elements.run.value); }

  async restore(values) {
    try {
      await this.load();
    } catch (problem) {
      say(this.find(".problem"), problem.message);
      return;
    }
    if (!this.all.length) return;
    const known = this.all.some(one => one.name === values.run);
    if (known) this.form.elements.run.value = values.run;
    await this.open(values);
    if (values.run && !known) say(this.find(".problem"), `The link asks for the training “${values.run}”, which is not served here. This is ${this.run.name}.`);
  }
  modelsChanged() {}

  async open(values = {}) {
    const { of, quantity, step } = this.form.elements, { run } = this;
    say(this.find(".problem"), run.problem ? `No ledger: ${run.problem}.` : "");
    fill(of, [...run.groups.map(name => [GROUP + name, `all ${name} tokens`]), ...run.tokens.map(name => [TOKEN + name, name])], values.of);
    fill(quantity, run.quantities.map(name => [name, name]), values.quantity);
    step.max = Math.max(run.steps.length - 1, 0);
    step.value = values.step ?? step.max;
    for (const control of [of, quantity, step]) control.closest("label").hidden = !run.quantities.length;
    this.find("[data-page]").hidden = false;
    show(this.find(".framed"), `/view/run?${new URLSearchParams({ run: run.name })}`, `Training of ${run.name}`, "");
    if (run.quantities.length) await this.ask();
    else this.find(".ledger-shown").hidden = true;
  }

  async ask() {
    const { of, quantity } = this.form.elements, group = of.value.startsWith(GROUP);
    this.remember();
    try {
      await this.overtake(async signal => {
        this.ledger = await get("/api/runs/ledger", { run: this.run.name, of: of.value.slice(GROUP.length), quantity: quantity.value, group }, signal);
        this.draw();
      });
    } catch (problem) {
      say(this.find(".problem"), problem.message);
    }
  }

  remember() {
    const { of, quantity, step } = this.form.elements;
    if (!this.section.hidden && this.run) state.write("trainings", { run: this.run.name, of: of.value, quantity: quantity.value, step: step.value });
  }

  draw() {
    const { terms, meanings, rest, measured, steps, quantity } = this.ledger;
    const at = Math.min(Number(this.form.elements.step.value), steps.length - 1);
    this.find(".scrub output").textContent = steps[at].toLocaleString("en");
    this.find(".ledger-shown .predicted").textContent = `Up to step ${steps[at].toLocaleString("en")} the ${quantity} has changed by ${number(measured[at])}${measured[at] === null ? ": it is not a number there" : ""}.`;
    const rows = [...Object.entries(terms).map(([name, values]) => [meanings[name] ?? name, values]), ["not explained", rest]];
    const longest = Math.max(...rows.flatMap(([, values]) => values.map(Math.abs)), 1e-12);
    this.find(".ledger-table tbody").replaceChildren(...rows.map(([name, values]) => {
      const bar = element("i", { className: values[at] < 0 ? "below" : "above", style: { "--w": 50 * Math.abs(values[at]) / longest + "%" } });
      return element("tr", {}, element("th", { scope: "row", textContent: name }), element("td", { className: "num", textContent: number(values[at]) }), element("td", { className: "ledger-bar" }, bar));
    }));
    this.find(".ledger-shown").hidden = false;
  }
}
