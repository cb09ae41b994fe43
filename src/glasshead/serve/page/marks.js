// A drawing of the server as elements: the coloured text, its key, its numbers, and two texts under each other.
import { capitalise, element, isolated } from "./dom.js";

const STRONGEST = 1;
const CERTAIN = "certain", MEANS = ": no other weight gives the same output";
// Red is for, blue against; numbers without a sign have a colour of their own.
const kindOf = (share, signed) => share === 0 ? "z" : !signed ? "s" : share > 0 ? "p" : "n";

function mark(span, drawing, letters = span.text) {
  return element("mark", {
    className: `${kindOf(span.share, drawing.diverging)} ${span.doubt}`.trim(), textContent: letters,
    style: { "--a": (STRONGEST * Math.abs(span.share)).toFixed(2), "--least": Math.abs(span.least).toFixed(2) },
  });
}

// The text; every token is a button that can be reached by arrow keys and says its numbers.
export function drawText(box, drawing, pressed) {
  let first = true;
  box.replaceChildren(...drawing.spans.map(span => {
    if (span.token === null) return document.createTextNode(span.text);
    const made = mark(span, drawing);
    const gone = pressed(span), certain = span.certain;
    made.tabIndex = first ? 0 : -1;
    made.setAttribute("role", "button");
    made.setAttribute("aria-pressed", gone);
    made.classList.toggle("gone", gone);
    made.setAttribute("aria-label", `${span.text}, ${span.description}${gone ? ", erased" : ""}`);
    Object.assign(made.dataset, { tip: certain ? span.description.replace(`, ${CERTAIN}`, `, ${CERTAIN}${MEANS}`) : span.description, start: span.start, end: span.end });
    first = false;
    return made;
  }));
}

// What else a text was asked about, each with its prediction; words say their numbers where they are pointed at.
export function drawOthers(box, others) {
  box.replaceChildren(...others.map(one => element("li", {},
    element("p", { className: "predicted" }, ...isolated(capitalise(one.prediction))),
    element("p", { className: "text", dir: "auto" }, ...one.spans.map(span => {
      if (span.token === null) return document.createTextNode(span.text);
      const made = mark(span, one);
      made.dataset.tip = span.description;
      return made;
    })),
    element("p", { className: "heard", textContent: one.spoken ? `Strongest words: ${one.spoken}.` : "" }))));
}

export function drawKey(box, drawing) {
  const sample = (kind, amount, letters) => element("mark", { className: kind, textContent: letters, style: { "--a": amount } });
  const below = drawing.diverging, above = below ? "p" : "s";
  const [low, high] = !below ? ["less", "more"] : drawing.ranged ? ["below zero", "above zero"] : ["against", "for"];
  const parts = below ? [element("span", { textContent: low }), sample("n", .8, "−"), sample("n", .3, "\u00a0"), sample("z", 0, "0")] : [element("span", { textContent: low }), sample("z", 0, "0")];
  const scale = element("span", { className: "scale" }, ...parts, sample(above, .3, "\u00a0"), sample(above, .8, "+"), element("span", { textContent: high }));
  box.replaceChildren(scale, element("span", { className: "meaning-of-colour" }, ...isolated(`Coloured by ${drawing.quantity}. ${drawing.meaning}. ${drawing.scale}.`)));
  if (drawing.ranged) box.append(element("i", { className: "hatch", role: "img", "aria-label": "hatched" }), element("span", { textContent: "may weigh nothing" }));
}

export function drawNumbers(box, drawing) {
  const rows = drawing.numbers, has = name => rows.some(row => row[name] !== null);
  const columns = [["score", drawing.score], ["contribution", "contribution"], ["could_be", "could be"]].filter(([name]) => has(name));
  const head = element("tr", {}, element("th", { scope: "col", textContent: "token" }), ...columns.map(([, title]) => element("th", { scope: "col", className: "num", textContent: title })));
  const body = rows.map(row => element("tr", {}, element("th", { scope: "row", dir: "auto", textContent: row.token }),
    ...columns.map(([name]) => element("td", { className: "num", textContent: row[name] ?? "–" }))));
  box.replaceChildren(element("table", { className: "values" }, element("thead", {}, head), element("tbody", {}, ...body)));
}

// Letters [start, end) of a drawing, in the colours of their tokens.
function cut(drawing, start, end) {
  const parts = [];
  for (const span of drawing.spans) {
    const from = Math.max(start, span.start), to = Math.min(end, span.end);
    if (from >= to) continue;
    const letters = Array.from(span.text).slice(from - span.start, to - span.start).join("");
    const made = span.token === null ? document.createTextNode(letters) : mark(span, drawing, letters);
    if (span.token !== null) made.title = span.description;
    parts.push(made);
  }
  return parts;
}

// Two texts under each other, piece by piece: what differs is framed, and read aloud as such.
export function drawAligned(box, pieces, first, second) {
  const columns = [];
  let column = null;
  const blank = (drawing, [start, end]) => cut(drawing, start, end).map(part => part.textContent).join("").trim() === "";
  for (const piece of pieces) {
    if (piece.same && blank(first, piece.before)) {
      column = null;
      continue;
    }
    const joins = column && piece.same && column.dataset.same === "true";
    if (!joins) {
      column = element("span", { className: piece.same ? "pair" : "pair differs", data: { same: piece.same } }, element("span", { className: "upper" }), element("span", { className: "lower" }));
      columns.push(column);
    }
    column.firstChild.append(...cut(first, ...piece.before));
    column.lastChild.append(...cut(second, ...piece.after));
  }
  for (const one of columns.filter(each => each.classList.contains("differs"))) {
    one.firstChild.prepend(element("span", { className: "heard", textContent: " before: " }));
    one.lastChild.prepend(element("span", { className: "heard", textContent: " after: " }));
  }
  box.replaceChildren(...columns.flatMap(each => [each, " "]));
}

export function drawPredictions(box, entries) {
  box.replaceChildren(...entries.map(([name, words]) => element("p", {}, element("b", { textContent: `${name}: ` }), ...isolated(words))));
}

// What the colours of each row stand for, and its largest number, where rows have scales of their own.
export function drawLegends(box, entries) {
  const sample = kind => element("mark", { className: kind, textContent: "\u00a0\u00a0", "aria-hidden": true, style: { "--a": .8 } });
  box.replaceChildren(...entries.map(([name, drawing]) => element("li", {},
    element("b", { textContent: `${name} ` }), sample(drawing.diverging ? "p" : "s"), ...(drawing.diverging ? [sample("n")] : []), ...isolated(` ${[drawing.legend, drawing.largest].filter(Boolean).join("; ")}`))));
}
