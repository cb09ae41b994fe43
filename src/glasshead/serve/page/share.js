// The buttons under what is seen: the link that restores it, the Python that computes it, and files of it.
import { get } from "./api.js";
import { copy, say } from "./dom.js";

// `view` remembers its state in the address, and has `save` where there are buttons for files.
export function offerSharing(section, view) {
  const box = section.querySelector(".share"), status = box.querySelector("[role=status]");
  box.addEventListener("click", async event => {
    const { copy: copied, save } = event.target.closest("button")?.dataset ?? {};
    if (copied === "link") {
      view.remember();
      await copy(location.href, status, "Link");
    } else if (copied === "python") await copy(section.querySelector(".python").textContent, status, "Python");
    else if (save) {
      status.textContent = "Saving…";
      try {
        await view.save(save);
        status.textContent = "Saved.";
      } catch (problem) {
        status.textContent = problem.message;
      }
    }
  });
}

// The lines of Python that compute what is seen, which can be copied, too.
export function drawPython(section, lines) {
  const box = section.querySelector("pre.python");
  say(box.firstElementChild, lines.length ? ["import glasshead\n", ...lines].join("\n") : "");
  box.hidden = !lines.length;
  section.querySelector("[data-copy=python]").hidden = !lines.length;
}

// The line of Python that the server says of a question.
export async function showPython(view, path, query) {
  drawPython(view.section, []);
  await view.overtake(async signal => {
    const { python } = await get(path, Object.fromEntries(query), signal);
    drawPython(view.section, [python]);
  }).catch(() => {});  // what is wrong with the question stands above
}
