// Arrow keys move between the tokens of a text; Escape leaves. Without it, hover and touch still work.
document.addEventListener("keydown", function (event) {
  var token = event.target;
  if (token === document.body && (event.key === "ArrowRight" || event.key === "ArrowLeft")) {
    // Before anything was clicked: the first token of the page.
    token = document.querySelector('mark[data-tip][tabindex="0"]');
    if (!token) return;
    event.preventDefault();
    return token.focus();
  }
  if (!token.matches || !token.matches("mark[data-tip]")) return;
  if (event.key === "Escape") return token.blur();
  var step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  var all = Array.prototype.slice.call(token.parentNode.querySelectorAll("mark[data-tip]"));
  var next = all[all.indexOf(token) + step];
  event.preventDefault();
  if (!next) return;
  token.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
});
