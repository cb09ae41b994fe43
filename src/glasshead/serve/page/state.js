// What is seen is in the address, so that a link restores it: #view?name=value&…; the text stays in the browser.
export function read() {
  const [view, query = ""] = location.hash.slice(1).split("?");
  return { view, values: Object.fromEntries(new URLSearchParams(query)) };
}

export function write(view, values) {
  const kept = Object.entries(values).filter(([, value]) => value !== "" && value !== null && value !== undefined && value !== false);
  const query = new URLSearchParams(kept).toString();
  try {
    history.replaceState(null, "", "#" + view + (query ? "?" + query : ""));
  } catch { /* a browser that has had too many changes in a short time takes the next one */ }
}

export const linkTo = (view, values) => "#" + view + "?" + new URLSearchParams(values);

// Stretches [start, end) of a text in one word, 4-7.12-15, and back; what lies in no text of that length is left.
export const fromStretches = all => all.map(each => each.join("-")).join(".");
export const toStretches = (word, length) => word.split(".").map(each => each.split("-").map(Number))
  .filter(each => each.length === 2 && each.every(Number.isInteger) && 0 <= each[0] && each[0] < each[1] && each[1] <= length);
