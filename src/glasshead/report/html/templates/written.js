// A token of an answer is chosen: all before it is coloured by what it was written from. Or a part of an image is:
// the answer is coloured by what was written from that.
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

// The next part of an image in a direction: the nearest one that is more ahead than aside.
function nearest(parts, from, [right, down]) {
  const middle = part => ["x", "y"].map((name, axis) => +part.getAttribute(name) + part.getAttribute(["width", "height"][axis]) / 2);
  const [x, y] = middle(from);
  return parts.map(part => {
    const [dx, dy] = middle(part).map((value, axis) => value - [x, y][axis]), ahead = right * dx + down * dy, aside = Math.abs(right ? dy : dx);
    return [ahead > aside ? ahead + aside : Infinity, part];
  }).reduce((best, one) => one[0] < best[0] ? one : best, [Infinity, undefined])[1];
}

function read(section) {
  const text = TEXTS[section.dataset.text], find = selector => section.querySelector(selector);
  const marks = [...section.querySelectorAll("mark[data-tokens]")], buttons = marks.filter(one => one.classList.contains("written"));
  const tokensOf = mark => mark.dataset.tokens.split(" ").map(Number);
  const selects = { method: find("[name=method]"), layer: find("[name=layer]"), head: find("[name=head]") };
  const parts = [...section.querySelectorAll("rect[data-token]")], inImage = new Map(parts.map(part => [+part.dataset.token, part.dataset.image]));
  const images = [...new Set(inImage.values())];
  let chosen = null, part = null;

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
    const map = fits(3)[0], place = chosen - text.start, at = text.places[place], ofPart = part !== null;
    const values = !map ? [] : ofPart ? [...Array(text.start).fill(0), ...map.rows.map(row => row[part])] : map.rows[place];
    const sink = map && !ofPart ? map.sinks[place] : null;  // it pales no other weight
    const apart = new Set(map && map.weights && !ofPart ? text.imageSinks : []);  // nor do sinks in the image
    const most = seen => Math.max(...values.map((value, token) => inImage.has(token) !== seen || apart.has(token) || sink !== null && token === text.source ? 0 : Math.abs(value || 0)), 0) || 1;
    const full = most(false), fullInImage = most(true);
    const colour = (element, score, largest) => {
      element.classList.toggle("p", score > 0 && map.signed);
      element.classList.toggle("s", score > 0 && !map.signed);
      element.classList.toggle("n", score < 0);
      element.style.setProperty("--a", (STRONGEST * Math.min(Math.abs(score) / largest, 1)).toFixed(3));
    };
    const inWords = token => `${text.tokens[token]}: ${map && map.score} ${format(map ? values[token] ?? null : null)}` + (map && map.intervals && !ofPart ? `, could be ${map.intervals[place][token]}` : "");
    for (const mark of marks) {
      const tokens = tokensOf(mark), own = !ofPart && tokens.includes(chosen);
      const score = tokens.reduce((sum, token) => sum + (values[token] || 0), 0), said = tokens.map(inWords);
      if (map) colour(mark, score, full);
      mark.classList.toggle("own", own);
      mark.classList.toggle("later", !ofPart && tokens[0] > chosen);
      if (tokens.length > 1 && map) said.push(`together: ${map.score} ${format(score)}`);
      mark.title = map && (ofPart ? tokens[0] >= text.start : tokens[0] < chosen) ? said.join("; ") : "";
      if (mark.classList.contains("written")) mark.setAttribute("aria-pressed", own);
    }
    for (const rect of parts) {
      const token = +rect.dataset.token, own = token === part;
      if (map) colour(rect, apart.has(token) ? 0 : values[token] || 0, fullInImage);
      rect.classList.toggle("own", own);
      rect.setAttribute("aria-pressed", own);
      rect.querySelector("title").textContent = (map && !ofPart ? inWords(token) : text.tokens[token]) + (text.imageSinks.includes(token) ? ", attention sink" : "");
    }
    if (parts.length && !map) find(".photo input").checked = false;
    find(".of-token").hidden = false;
    find(".chosen").textContent = ofPart ? text.tokens[part] : `“${text.tokens[chosen]}”`;
    find(".how").textContent = ofPart ? (map ? "The answer is coloured by how much each of its tokens used this part of the image." : "") : at.how;
    find(".other").hidden = ofPart;
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
    find(".about-map span").textContent = [map.reading, map.settings, map.meaning, text.source && `source ${format(total(values.slice(0, text.source)))}, answer ${format(total(values.slice(text.source)))}`,
      parts.length && !ofPart && !map.signed && `${images.map(name => `on ${images.length > 1 ? name : "the image"} ${format(total(values.filter((_, token) => inImage.get(token) === name)))}`).join(", ")} of ${format(total(values))}`,
      apart.size && `of that ${format(total([...apart].map(token => values[token])))} on attention sinks, outside of the colours`,
      map.values && !ofPart && `${map.method.split(", ").slice(1).join(", ")} here ${format(map.values[place])}`,
      !ofPart && map.learnedSinks[place] !== null && `${format(map.learnedSinks[place])} of the attention on sinks that are no tokens`,
      sink !== null && `${format(sink)} of ${text.source ? "the answer's own weights" : "the weights"} on “${text.tokens[text.source]}”, an attention sink`, `full colour: ${format(full)}` + (parts.length && !ofPart ? `, in the image ${format(fullInImage)}` : "")].filter(Boolean).join(" · ");
    find(".sides").textContent = map.signed ? "against" : "";
    find(".most").textContent = map.signed ? "for" : "more";
    find(".key").classList.toggle("one-sided", !map.signed);
    find(".score").textContent = map.score;
    const ranges = !ofPart && map.intervals && map.intervals[place];
    find(".sources-of caption b").textContent = ofPart ? "Used by" : "Written from";
    find(".sources-of caption span").textContent = `the tokens ${ofPart ? "of the answer " : ""}with the largest numbers`;
    find(".could").hidden = !ranges;
    const order = values.map((value, token) => [Math.abs(value || 0), token]).filter(([, token]) => ofPart ? token >= text.start : !apart.has(token)).sort((a, b) => b[0] - a[0] || a[1] - b[1]).slice(0, MOST);
    find(".sources-of tbody").replaceChildren(...order.map(([, token]) => {
      const line = document.createElement("tr");
      line.append(cell("th", text.tokens[token]), cell("td", format(values[token]), true), ...ranges ? [cell("td", ranges[token], true)] : []);
      return line;
    }));
  }

  function choose(mark, focus) {
    if (!mark) return;
    buttons.forEach(one => { one.tabIndex = one === mark ? 0 : -1; });
    chosen = tokensOf(mark).find(token => token >= text.start);
    part = null;
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
  function choosePart(rect) {
    parts.filter(one => one.parentElement === rect.parentElement).forEach(one => { one.tabIndex = one === rect ? 0 : -1; });
    part = +rect.dataset.token;
    show();
  }
  for (const rect of parts) {
    rect.addEventListener("click", () => rect.focus());
    rect.addEventListener("focus", () => choosePart(rect));
    rect.addEventListener("keydown", event => {
      const way = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key];
      if (!way && !["Enter", " "].includes(event.key)) return;
      event.preventDefault();
      if (way) nearest(parts.filter(one => one.parentElement === rect.parentElement), rect, way)?.focus();
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
