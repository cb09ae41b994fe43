// Choose an image and see which parts of it mattered: the page of `glasshead explain`.
import { ask } from "/page/api.js";
import { fill, later, newest, say } from "/page/dom.js";
import { show } from "/page/frame.js";
import { ModelChoice } from "/page/models.js";
import { drawPython, offerSharing } from "/page/share.js";
import * as state from "/page/state.js";

const REST = 250, MOST_BYTES = 9_000_000, SHOWN = 256;  // pixels
const FIRST = ["attention", "rollout", "gradient-l2", "grad-cam", "erasure-neutral-colour", "captum:integrated-gradients"];
const TEXT = { "with text": "Question about the image", "with captions": "Caption" };

const read = file => new Promise((done, failed) => {
  const reader = new FileReader();
  reader.addEventListener("load", () => done(reader.result));
  reader.addEventListener("error", () => failed(new Error(`${file.name} cannot be read.`)));
  reader.readAsDataURL(file);
});

// Drawn, since the page may load no images of its own.
async function draw(file, canvas) {
  const bitmap = await createImageBitmap(file), scale = Math.min(1, SHOWN / Math.max(bitmap.width, bitmap.height));
  [canvas.width, canvas.height] = [bitmap.width, bitmap.height].map(side => Math.max(1, Math.round(side * scale)));
  canvas.getContext("2d").drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  canvas.hidden = false;
}

export default class Images {
  constructor(section, models) {
    Object.assign(this, { section, models, form: section.querySelector("form"), image: null });
    this.overtake = newest(working => this.working(working));
    const { model, method, file } = this.form.elements;
    this.choice = new ModelChoice(model, models, one => one.reads_images);
    model.addEventListener("change", () => { this.choice.chosen(); this.offer(); });
    this.form.addEventListener("input", later(() => this.remember(), REST));
    method.addEventListener("change", () => this.image && this.ask());
    file.addEventListener("change", () => this.take(file.files[0]));
    this.form.addEventListener("submit", event => { event.preventDefault(); this.ask(); });
    section.addEventListener("paste", event => this.take([...event.clipboardData.files].find(one => one.type.startsWith("image/"))));
    for (const happens of ["dragover", "dragleave", "drop"]) this.form.addEventListener(happens, event => {
      event.preventDefault();
      this.form.classList.toggle("dropping", happens === "dragover");
      if (happens === "drop") this.take(event.dataTransfer.files[0]);
    });
    offerSharing(section, this);
  }

  find(selector) { return this.section.querySelector(selector); }
  get model() { return this.choice.model; }
  // A link holds no image.
  get values() {
    const given = {};
    for (const name of ["model", "method", "target", "at", "text", "choices", "answer"]) {
      const control = this.form.elements[name];
      if (!control.closest("label").hidden && control.value !== "") given[name] = control.value;
    }
    return given;
  }

  restore(values) {
    if (values.model) this.choice.want(values.model);
    this.wanted = values;
    this.modelsChanged();
  }

  modelsChanged() {
    this.choice.offer();
    this.offer();
  }

  offer() {
    const { model } = this, { method, target, ...others } = this.form.elements, wanted = model ? this.wanted ?? {} : {};
    const none = this.models.every(one => one.state !== "loading") && !this.choice.ready.length;
    say(this.find("[data-none]"), none ? this.find("[data-none]").textContent : "");
    this.find("[data-none]").hidden = !none;
    this.form.hidden = none;
    this.find("[type=submit]").disabled = !model;
    const methods = model?.methods ?? [], first = FIRST.filter(name => methods.some(one => one.name === name));
    const more = methods.filter(one => !first.includes(one.name)).map(one => [one.name, one.name, `more: ${one.family}`]);
    fill(method, [...first.map(name => [name, name]), ...more], wanted.method ?? (method.value || first[0]));
    fill(target, [["", `usual (${model?.usual_class})`], ...(model?.labels ?? []).map(label => [label, label])], wanted.target ?? target.value);
    const reads = model?.reads_images;
    this.find("[data-target]").hidden = !["alone", "by place"].includes(reads) || !model.labels.length;
    this.find("[data-at]").hidden = reads !== "by place";
    this.find("[data-text]").hidden = !(reads in TEXT);
    this.find("[data-text] span").textContent = TEXT[reads] ?? "";
    this.find("[data-choices]").hidden = reads !== "with captions";
    this.find("[data-answer]").hidden = reads !== "with text";
    if (!model) return;
    for (const name of ["at", "text", "choices", "answer"]) if (wanted[name] !== undefined) others[name].value = wanted[name];
    this.wanted = undefined;
    this.remember();
  }

  remember() { if (!this.section.hidden && !this.choice.waiting && !this.wanted) state.write("image", this.values); }

  async take(file) {
    if (!file) return;
    try {
      if (file.size > MOST_BYTES) throw new Error(`${file.name} has ${Math.ceil(file.size / 1e6)} MB: choose an image of at most ${MOST_BYTES / 1e6} MB.`);
      await draw(file, this.find(".chosen-image")).catch(() => { throw new Error(`${file.name} is not an image that this browser reads.`); });
      this.image = { name: file.name || "image.png", data: await read(file) };
    } catch (problem) {
      this.image = null;
      say(this.find(".problem"), problem.message);
      return;
    }
    this.find(".chosen-image").setAttribute("aria-label", this.image.name);
    say(this.find(".problem"), "");
    await this.ask();
  }

  working(working) {
    clearInterval(this.ticking);
    const status = this.find("[data-working]"), begun = Date.now();
    say(status, working ? "Working…" : "");
    if (working) this.ticking = setInterval(() => say(status, `Working… ${Math.round((Date.now() - begun) / 1000)} s`), 1000);
  }

  // What must be there besides the image.
  needs({ text = "", choices = "" }) {
    if (!this.image) return "Choose an image.";
    if (this.model.reads_images === "with text" && !text.trim()) return "Type a question about the image.";
    return this.model.reads_images === "with captions" && !text.trim() && !choices.trim() ? "Type a caption, or captions to choose from." : "";
  }

  async ask() {
    if (!this.model) return;
    const { choices = "", ...given } = this.values, needs = this.needs({ ...given, choices });
    say(this.find(".problem"), needs);
    this.remember();
    if (needs) return;
    const lines = choices.split("\n").map(line => line.trim()).filter(Boolean), { name, data } = this.image;
    if (lines.length) delete given.text;  // the captions are the texts
    try {
      const found = await this.overtake(signal => ask("/api/image", { ...given, choices: lines, name, image: data.slice(data.indexOf(",") + 1) }, signal));
      if (found === undefined) return;
      show(this.find(".framed"), found.page, `Explanation of ${name}`, "");
      drawPython(this.section, [found.python]);
      this.find(".share").hidden = false;
    } catch (problem) {
      say(this.find(".problem"), problem.message);
    }
  }
}
