// A page of the report inside this one, as tall as it is.
import { element } from "./dom.js";

// What a model says of how far it is; nothing where it says none.
async function stageOf(model) {
  try {
    return (await (await fetch(`/api/progress?${new URLSearchParams({ model })}`)).json()).stage || "";
  } catch {
    return "";
  }
}

// `wait` says how long a model may take, and there is no empty box until then; `inner` is its own state, what
// stands behind # there; `remember` is told when that changes. `model` names the model whose progress is shown.
export function show(box, address, title, wait, inner = "", remember = () => {}, model = "") {
  const words = wait ? `Working: ${wait}…` : "Working…", begun = Date.now();
  const said = element("span", { textContent: words }), cancel = element("button", { type: "button", textContent: "Cancel" });
  const status = element("p", { className: "quiet", role: "status" }, said, " ", cancel);
  const ticking = setInterval(async () => {
    const stage = model ? await stageOf(model) : "";
    if (!status.isConnected) clearInterval(ticking);
    else said.textContent = `${words} ${stage ? `${stage}, ` : ""}${Math.round((Date.now() - begun) / 1000)} s`;
  }, 1000);
  const frame = element("iframe", { title, src: address + inner, className: wait ? "empty" : "" });
  cancel.addEventListener("click", () => {  // a server hears that nobody waits any more
    clearInterval(ticking);
    box.replaceChildren(element("p", { className: "quiet", role: "status", textContent: "Cancelled." }));
  });
  frame.addEventListener("load", () => {
    clearInterval(ticking);
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
