// Audit folders: what each comes to, its texts to be filtered and opened, its report.
import { get } from "./api.js";
import { element, fill, later, newest, say } from "./dom.js";
import { show } from "./frame.js";
import { offerSharing } from "./share.js";
import * as state from "./state.js";

const HOLDS = { yes: "supported", "in part": "supported in part", no: "not supported", undecided: "not settled" };

export class Audits {
  constructor(section, models) {
    this.section = section;
    this.models = models;
    this.form = section.querySelector("form");
    this.overtake = newest();
    this.chosen = null;
    this.form.addEventListener("submit", event => event.preventDefault());
    this.form.addEventListener("change", () => this.texts());
    this.form.elements.words.addEventListener("input", later(() => this.texts(), 200));
    this.find(".report").addEventListener("toggle", event => { if (event.target.open) this.report(); });
    this.find("[data-more]").addEventListener("click", () => this.texts(true));
    offerSharing(section, this);
  }

  // The list, asked for until it has come.
  async load() {
    if (this.all) return;
    this.all = await get("/api/audits");
    this.list();
  }

  fail(problem) { say(this.find(".problem"), problem.message); }

  find(selector) { return this.section.querySelector(selector); }

  list() {
    this.find("[data-none]").hidden = this.all.length > 0;
    this.find(".audit-list").replaceChildren(...this.all.map(one => {
      const about = [one.model, one.data, one.texts ? `${one.texts} texts` : "", one.date].filter(Boolean).join(" · ");
      const open = element("button", { type: "button", className: "link", textContent: one.name, data: { audit: one.name } });
      open.addEventListener("click", () => this.open(one.name, true));
      open.disabled = Boolean(one.problem);
      return element("li", {}, element("p", { className: "about" }, open, " ", about),
        element("p", { className: one.problem ? "caution" : "", textContent: one.problem || one.conclusion }));
    }));
  }

  async restore(values) {
    say(this.find(".problem"), "");
    try {
      await this.load();
      if (values.audit) await this.open(values.audit, false, values);
    } catch (problem) {
      this.fail(problem);
    }
  }

  modelsChanged() { if (this.shown) this.draw(); }

  remember() {
    const { label, predicted, words } = this.form.elements;
    const given = this.chosen ? { audit: this.chosen.name, label: label.value, predicted: predicted.value, words: words.value } : {};
    if (!this.section.hidden) state.write("audits", given);
  }

  async open(name, focus, values = {}) {
    const one = this.all.find(each => each.name === name);
    if (!one) throw new Error(`The link asks for the audit “${name}”, which is not served here.`);
    if (one.problem) return;  // it stands in the list
    this.chosen = one;
    this.shown = null;
    const box = this.find(".one-audit"), title = this.find(".one-audit h2");
    box.hidden = false;
    title.textContent = one.name;
    this.find(".claims").replaceChildren(...one.claims.map(claim => element("li", {}, element("b", { textContent: `${claim.says}: ${HOLDS[claim.holds]}. ` }), claim.because)));
    this.find(".report").open = false;
    this.find(".audited").replaceChildren();
    this.find(".framed").replaceChildren();
    this.form.reset();
    await this.texts();
    for (const field of ["label", "predicted", "words"]) if (values[field]) this.form.elements[field].value = values[field];
    if (values.label || values.predicted || values.words) await this.texts();
    if (focus) title.focus();
  }

  report() {
    const { name } = this.chosen;
    show(this.find(".framed"), `/view/audit?${new URLSearchParams({ audit: name })}`, `Report of ${name}`, "");
  }

  async texts(more = false) {
    if (!this.chosen) return;
    const { label, predicted, words } = this.form.elements, given = { label: label.value, predicted: predicted.value, words: words.value };
    this.remember();
    await this.overtake(async signal => {
      const before = more ? this.shown ?? [] : [];
      const found = await get("/api/audits/texts", { audit: this.chosen.name, ...given, first: before.length }, signal);
      this.shown = [...before, ...found.texts];
      const classes = [["", "any"], ...found.labels.map(name => [name, name])];
      fill(label, classes);
      fill(predicted, classes);
      this.found = found.found;
      say(this.find(".problem"), "");
      this.draw();
    }).catch(problem => this.fail(problem));
  }

  // The model that was audited, if it is served too: its texts can be explained.
  get model() {
    const names = [this.chosen.model, this.chosen.model.split("/").pop()];
    return this.models.find(one => names.includes(one.name))?.name ?? this.models.find(one => one.state === "ready")?.name;
  }

  draw() {
    this.find(".filters output").textContent = `${this.found} texts`;
    this.find("[data-more]").hidden = this.shown.length >= this.found;
    this.find(".audited").replaceChildren(...this.shown.map(one => {
      const right = one.label === one.predicted, about = element("p", { className: "about" });
      about.append(one.label ? `class ${one.label}, predicted ${one.predicted}` : "", right ? "" : " (wrong)", one.agreement === null ? "" : ` · agreement with weight removal τ = ${one.agreement.toFixed(2)}`, " ");
      if (this.model) about.append(element("a", { href: state.linkTo("explain", { model: this.model, text: one.text }), textContent: "Explain" }));
      return element("li", {}, about, element("p", { className: "text", dir: "auto", textContent: one.text }));
    }));
  }
}
