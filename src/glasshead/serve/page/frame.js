// A page of the report inside this one, as tall as it is.
import { element } from "./dom.js";

// `wait` says how long a model may take, and there is no empty box until then; `inner` is its own state, what
// stands behind # there; `remember` is told when that changes.
export function show(box, address, title, wait, inner = "", remember = () => {}) {
  const status = element("p", { className: "quiet", role: "status", textContent: wait ? `Working: ${wait}…` : "Working…" });
  const frame = element("iframe", { title, src: address + inner, className: wait ? "empty" : "" });
  frame.addEventListener("load", () => {
    const page = frame.contentDocument?.body;
    status.remove();
    frame.classList.remove("empty");
    if (!page) return;
    const fit = () => { frame.style.setProperty("height", page.scrollHeight + 24 + "px"); };
    new ResizeObserver(fit).observe(page);
    fit();
    const { history, location } = frame.contentWindow, replace = history.replaceState.bind(history);
    history.replaceState = (...given) => {
      replace(...given);
      remember(location.hash);
    };
  });
  const open = element("a", { href: address, target: "_blank", rel: "noopener", textContent: "Open by itself" });
  const keep = element("a", { href: address, download: title.replace(/\W+/g, "-").toLowerCase() + ".html", textContent: "Save HTML" });
  box.replaceChildren(status, frame, element("p", { className: "frame-links" }, open, " ", keep));
}
