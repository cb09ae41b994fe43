// A statement is chosen: what it comes to, and its passages, the strongest first, with bars and coloured words.
const items = [...document.querySelectorAll("[data-passage]")];
const letters = items.map(item => [...item.querySelector(".text").textContent]);
const choices = [...document.querySelectorAll("[data-statement]")].sort((a, b) => a.dataset.statement - b.dataset.statement);
const make = (name, text, kind) => Object.assign(document.createElement(name), { textContent: text, className: kind || "" });
const part = selector => document.querySelector(selector);

function colour(item, segments) {
  const text = item.querySelector(".text"), all = letters[item.dataset.passage];
  const cut = (start, stop) => all.slice(start, stop).join("");
  let here = 0;
  text.textContent = "";
  for (const [start, stop, kind, strength, said] of segments) {
    text.append(cut(here, start));
    const mark = make("mark", cut(start, stop), kind);
    mark.style.setProperty("--a", strength);
    mark.dataset.tip = said;
    mark.tabIndex = here ? -1 : 0;
    text.append(mark);
    here = stop;
  }
  text.append(cut(here));
}

function measure(item, row, zero) {
  const across = (element, ends) => Object.assign(element.style, { left: `${ends[0]}%`, width: `${ends[1] - ends[0]}%` });
  const box = item.querySelector(".effect"), whisker = box.querySelector(".whisker");
  box.hidden = false;
  across(box.querySelector(".bar"), row.bar);
  box.querySelector(".bar").classList.toggle("against", row.bar[0] < zero);
  box.querySelector(".zero").style.left = `${zero}%`;
  whisker.hidden = !row.whisker;
  if (row.whisker) across(whisker, row.whisker);
  box.querySelector("b").textContent = row.effect;
  box.querySelector(".pale").textContent = row.doubt;
  item.querySelector(".meta").replaceChildren(...row.more.map(words => make("span", words)));
}

function choose(number) {
  const chosen = STATEMENTS[number], shown = part(".shown"), folded = part(".folded");
  for (const one of choices) {
    const own = one.dataset.statement == number;
    one.setAttribute("aria-pressed", own);
    one.tabIndex = own ? 0 : -1;
    one.classList.toggle("own", own);
  }
  for (const row of chosen.rows) {
    const item = items[row.passage];
    (row.source ? shown : folded).append(item);
    item.classList.toggle("source", row.source);
    measure(item, row, chosen.zero);
    colour(item, row.segments);
  }
  const said = number ? [make("h3", chosen.says[0]), make("p", chosen.says.slice(1).join(" "))] : [];
  part(".comes-to").replaceChildren(...said, ...chosen.remarks.map(words => make("p", words, "remark")));
  const sources = shown.children.length, others = folded.children.length;
  part(".of-sources").textContent = sources ? `${sources === 1 ? "The passage" : `The ${sources} passages`} ${number ? "this sentence" : "the answer"} comes from` : "No passage is shown to be a source";
  part(".key").hidden = !chosen.rows.some(row => row.segments.length);
  for (const scale of document.querySelectorAll(".key .scale")) scale.textContent = chosen.scale;
  part(".others").hidden = !others;
  part(".others summary").textContent = sources ? `${others} other passage${others === 1 ? "" : "s"}` : `Show ${others === 1 ? "the passage" : `the ${others} passages`}`;
}

for (const one of choices) one.addEventListener("click", () => choose(Number(one.dataset.statement)));
// Before keys.js: on the page itself arrows go from sentence to sentence, not to the first coloured word.
document.addEventListener("keydown", event => {
  const { target, key } = event;
  if (choices.length < 2 || event.ctrlKey || event.metaKey || event.altKey) return;
  if (target !== document.body && !choices.includes(target)) return;
  if (target.matches(".sentence") && [" ", "Enter"].includes(key)) { event.preventDefault(); return target.click(); }
  const sideways = { ArrowRight: 1, ArrowLeft: -1 }[key], along = target === document.body ? sideways : sideways || { ArrowDown: 1, ArrowUp: -1 }[key];
  const now = choices.findIndex(one => one.classList.contains("own"));
  const next = key === "Home" && target !== document.body ? 0 : key === "End" && target !== document.body ? choices.length - 1 : along ? now + along : -1;
  if (!choices[next]) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  choices[next].focus();
  choose(next);
}, true);
choose(0);
