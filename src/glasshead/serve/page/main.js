// The views, one at a time, and the models, which may still be opened.
import { get } from "./api.js";
import { Audits } from "./audits.js";
import { Compare } from "./compare.js";
import { element } from "./dom.js";
import { Explain } from "./explain.js";
import { Heads } from "./heads.js";
import * as state from "./state.js";
import { Write } from "./write.js";

const KINDS = { explain: Explain, compare: Compare, heads: Heads, write: Write, audits: Audits };
const AGAIN = 700;  // milliseconds
const models = [], views = {};
let first = true;
const sections = Object.fromEntries([...document.querySelectorAll("section[data-view]")].map(one => [one.dataset.view, one]));

// An extension's view is the default export of its script.
for (const [name, section] of Object.entries(sections)) if (section.dataset.script) KINDS[name] = (await import(section.dataset.script)).default;

function viewOf(name) {
  views[name] ??= new KINDS[name](sections[name], models);
  return views[name];
}

function present(view) {
  for (const [name, section] of Object.entries(sections)) section.hidden = name !== view;
  for (const link of document.querySelectorAll("nav a[data-view]")) {
    if (link.dataset.view === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${document.querySelector(`nav a[data-view=${view}]`).textContent} – Glasshead`;
}

async function show() {
  const { view: wanted, values } = state.read(), view = sections[wanted] ? wanted : "explain", other = sections[view].hidden;
  present(view);
  if (other) arrive(view);
  await viewOf(view).restore(values);
}

// Who does not see the page is told that it is another one.
function arrive(view) {
  if (first) return;
  const title = sections[view].querySelector("h1");
  title.tabIndex = -1;
  title.focus();
}

document.querySelector(".skip").addEventListener("click", event => {
  event.preventDefault();  // what stands behind # is the view
  document.getElementById("view").focus();
});

// A text that was typed in one view stays when another one is opened.
document.querySelector("nav").addEventListener("click", event => {
  const link = event.target.closest("a[data-view]"), asIs = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
  if (!link || asIs) return;
  Object.entries(views).find(([name]) => !sections[name].hidden)?.[1].remember();
  const { view, values } = state.read();
  const text = values.text ?? values.prompt, target = link.dataset.view;
  const carried = text && ["explain", "compare", "heads"].includes(target) && target !== view ? { text } : {};
  if (carried.text && !views[target]?.form.elements.text.value) {
    event.preventDefault();
    location.hash = state.linkTo(target, carried);
  } else if (views[target]) {  // as it was left
    event.preventDefault();
    history.pushState(null, "", `#${target}`);
    present(target);
    arrive(target);
    views[target].remember();
  }
});
addEventListener("hashchange", show);

function describe(all) {
  const box = document.getElementById("models"), failed = all.filter(one => one.state === "failed");
  const loading = all.filter(one => one.state === "loading").map(one => element("p", { className: "quiet", textContent: `${one.name}: ${one.message}…` }));
  const open = box.querySelector("details")?.open ?? false, names = failed.map(one => one.source).join(", ");
  const why = element("details", { className: "caution", open }, element("summary", { textContent: `${names} cannot be opened` }), ...failed.map(one => element("p", { textContent: one.message })));
  box.replaceChildren(...loading, ...(failed.length ? [why] : []));
}

async function poll() {
  try {
    const states = all => all.map(one => `${one.name} ${one.state}`).join("\n"), before = states(models), now = await get("/api/models");
    models.splice(0, models.length, ...now);
    describe(now);
    if (states(now) !== before) Object.values(views).forEach(view => view.modelsChanged());
    if (now.some(one => one.state === "loading")) setTimeout(poll, AGAIN);
  } catch (problem) {
    document.getElementById("models").replaceChildren(element("p", { className: "caution", textContent: problem.message }));
    setTimeout(poll, 4 * AGAIN);
  }
}

await poll();
const shown = show();
first = false;
await shown;
