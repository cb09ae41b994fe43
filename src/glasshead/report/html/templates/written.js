// A token of an answer is chosen: all before it is coloured by what it was written from.
const STRONGEST = 0.85, MOST = 8;
const format = value => value === null ? "–"
  : (value !== 0 && Math.abs(value) < 5e-4 ? value.toExponential(1) : value.toFixed(3)).replace("-", "−");
const total = row => row.reduce((sum, value) => sum + (value || 0), 0);
const cell = (kind, text, numeric) => {
  const made = document.createElement(kind);
  made.textContent = text;
  if (kind === "th") made.scope = "row";
  if (numeric) made.className = "num";
  return made;
};

function read(section) {
  const text = TEXTS[section.dataset.text], find = selector => section.querySelector(selector);
  const marks = [...section.querySelectorAll("mark[data-tokens]")], buttons = marks.filter(one => one.classList.contains("written"));
  const tokensOf = mark => mark.dataset.tokens.split(" ").map(Number);
  const selects = { method: find("[name=method]"), layer: find("[name=layer]"), head: find("[name=head]") };
  let chosen = null;

  // The explanations that agree with what is chosen so far; a choice that is none is not offered.
  const fits = upTo => text.maps.filter(map => ["method", "layer", "head"].slice(0, upTo)
    .every(name => String(map[name]) === selects[name].value));
  function offer(name, upTo) {
    const values = [...new Set(fits(upTo).map(map => String(map[name])))], before = selects[name].value;
    selects[name].replaceChildren(...values.map(value => new Option(value, value)));
    if (values.includes(before)) selects[name].value = before;
    else if (name === "layer") selects[name].value = values[values.length - 1];
    selects[name].closest("label").hidden = name !== "method" && (values.length < 2 && values[0] === "null" || !values.length);
    if (name === "method") selects[name].closest("label").hidden = !values.length;
  }
  function offers() {
    offer("method", 0);
    offer("layer", 1);
    offer("head", 2);
  }

  function show() {
    if (chosen === null) return;
    offers();
    const map = fits(3)[0], place = chosen - text.start, at = text.places[place], row = map ? map.rows[place] : [];
    const sink = map ? map.sinks[place] : null;  // it pales no other weight
    const full = Math.max(...row.map((value, token) => sink !== null && token === text.source ? 0 : Math.abs(value || 0)), 0) || 1;
    for (const mark of marks) {
      const tokens = tokensOf(mark), own = tokens.includes(chosen);
      const score = tokens.reduce((sum, token) => sum + (token < row.length ? row[token] || 0 : 0), 0);
      mark.classList.toggle("p", score > 0 && map.signed);
      mark.classList.toggle("s", score > 0 && !map.signed);
      mark.classList.toggle("n", score < 0);
      mark.classList.toggle("own", own);
      mark.classList.toggle("later", tokens[0] > chosen);
      mark.style.setProperty("--a", (STRONGEST * Math.min(Math.abs(score) / full, 1)).toFixed(3));
      const said = tokens.map(token => `${text.tokens[token]}: ${map && map.score} ${format(map ? row[token] ?? null : null)}` + (map && map.intervals ? `, could be ${map.intervals[place][token]}` : ""));
      if (tokens.length > 1 && map) said.push(`together: ${map.score} ${format(score)}`);
      mark.title = tokens[0] < chosen && map ? said.join("; ") : "";
      if (mark.classList.contains("written")) mark.setAttribute("aria-pressed", own);
    }
    find(".of-token").hidden = false;
    find(".chosen").textContent = `“${text.tokens[chosen]}”`;
    find(".how").textContent = at.how;
    find(".key").hidden = !map;
    find(".sources-of").hidden = !map;
    const largest = Math.max(...at.alternatives.map(other => other[2]), 1e-12);
    find(".alternatives tbody").replaceChildren(...at.alternatives.map(([token, id, probability, chance]) => {
      const line = document.createElement("tr"), bar = document.createElement("td"), inner = document.createElement("i");
      line.className = (id === at.chosen ? "chosen-one" : "") + (chance === 0 ? " left-out" : "");
      inner.style.setProperty("--w", 100 * probability / largest + "%");
      bar.className = "bar";
      bar.append(inner);
      line.append(cell("th", token + (id === at.chosen ? " ✓" : "")), cell("td", format(probability), true), cell("td", format(chance), true), bar);
      return line;
    }));
    if (!map) return;
    find(".about-map span").textContent = [map.reading, map.settings, map.meaning, text.source && `source ${format(total(row.slice(0, text.source)))}, answer ${format(total(row.slice(text.source)))}`, map.values && `${map.method.split(", ").slice(1).join(", ")} here ${format(map.values[place])}`,
      sink !== null && `${format(sink)} of ${text.source ? "the answer's own weights" : "the weights"} on “${text.tokens[text.source]}”, an attention sink`, `full colour: ${format(full)}`].filter(Boolean).join(" · ");
    find(".sides").textContent = map.signed ? "against" : "";
    find(".most").textContent = map.signed ? "for" : "more";
    find(".key").classList.toggle("one-sided", !map.signed);
    find(".score").textContent = map.score;
    const ranges = map.intervals && map.intervals[place];
    find(".could").hidden = !ranges;
    const order = row.map((value, token) => [Math.abs(value || 0), token]).sort((a, b) => b[0] - a[0] || a[1] - b[1]).slice(0, MOST);
    find(".sources-of tbody").replaceChildren(...order.map(([, token]) => {
      const line = document.createElement("tr");
      line.append(cell("th", text.tokens[token]), cell("td", format(row[token]), true), ...ranges ? [cell("td", ranges[token], true)] : []);
      return line;
    }));
  }

  function choose(mark, focus) {
    if (!mark) return;
    buttons.forEach(one => { one.tabIndex = one === mark ? 0 : -1; });
    chosen = tokensOf(mark).find(token => token >= text.start);
    show();
    if (focus) mark.focus();
  }
  for (const button of buttons) {
    button.addEventListener("click", () => choose(button, true));
    button.addEventListener("focus", () => choose(button, false));
    button.addEventListener("keydown", event => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      const ends = { Home: buttons[0], End: buttons[buttons.length - 1] };
      if (!step && !ends[event.key] && !["Enter", " "].includes(event.key)) return;
      event.preventDefault();
      choose(step ? buttons[buttons.indexOf(button) + step] : ends[event.key] || button, true);
    });
  }
  Object.values(selects).forEach(select => select.addEventListener("change", show));
  choose(buttons[buttons.length - 1], false);
}
document.querySelectorAll(".one-text").forEach(read);
// Before anything was clicked the arrow keys begin at the token that is chosen in the first text.
document.addEventListener("keydown", event => {
  if (document.activeElement !== document.body || !["ArrowRight", "ArrowLeft"].includes(event.key)) return;
  const chosen = document.querySelector('.one-text mark.written[tabindex="0"]');
  if (!chosen) return;
  event.preventDefault();
  chosen.focus();
  chosen.dispatchEvent(new KeyboardEvent("keydown", { key: event.key }));
});
