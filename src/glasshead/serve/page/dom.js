// Elements, and what all views do with them. Letters from outside become text, never markup.
export function element(name, properties = {}, ...children) {
  const made = document.createElement(name), { style, data, ...plain } = properties;
  for (const [key, value] of Object.entries(plain)) {
    if (key.startsWith("aria-") || key === "role") made.setAttribute(key, value);
    else made[key] = value;
  }
  for (const [key, value] of Object.entries(style || {})) made.style.setProperty(key, value);
  Object.assign(made.dataset, data || {});
  made.append(...children);
  return made;
}

// A sentence in pieces: words that are written from right to left are isolated, so that they turn round no number.
const RIGHT_TO_LEFT = /([\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc](?:[^\p{L}\p{N}]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]+)*)/u;
export function isolated(words) {
  return words.split(RIGHT_TO_LEFT).map((part, place) => place % 2 ? element("bdi", { textContent: part }) : part);
}

// Choices of a select, [value, name] or [value, name, group]; what was chosen stays if it can.
export function fill(select, choices, chosen = select.value) {
  const groups = new Map();
  select.replaceChildren();
  for (const [value, name, group] of choices) {
    if (group && !groups.has(group)) {
      groups.set(group, element("optgroup", { label: group }));
      select.append(groups.get(group));
    }
    (groups.get(group) ?? select).append(new Option(name, value));
  }
  const values = choices.map(([value]) => String(value));
  select.value = values.includes(String(chosen)) ? chosen : values[0] ?? "";
}

export function later(action, milliseconds) {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...given), milliseconds);
  };
}

// The newest question overtakes those before it: their answers are not waited for. `working` is told when one is
// under way, and when none is.
export function newest(working = () => {}) {
  let running = null;
  return async action => {
    running?.abort();
    const own = running = new AbortController();
    working(true);
    try {
      return await action(own.signal);
    } catch (error) {
      if (own !== running || error.name === "AbortError") return undefined;
      throw error;
    } finally {
      if (own === running) {
        running = null;
        working(false);
      }
    }
  };
}

export const capitalise = words => words.slice(0, 1).toUpperCase() + words.slice(1);

export function say(box, words) {
  box.textContent = words;
  box.hidden = !words;
}

export async function copy(words, status, what) {
  try {
    await navigator.clipboard.writeText(words);
    status.textContent = `${what} copied.`;
  } catch {
    status.textContent = "This browser cannot copy: select the text by hand.";
  }
}

export function keep(blob, name) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
